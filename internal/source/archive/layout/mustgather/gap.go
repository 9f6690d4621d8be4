package mustgather

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// Place is a place in the tree: one of its two directories of objects, and the path below
// it. The zero value is outside of the tree.
type Place struct {
	Dir   string
	below []string
}

// PlaceOf returns the place in the tree that a path leads to.
func PlaceOf(path string) Place {
	parts := strings.Split(path, "/")
	i := slices.IndexFunc(parts, func(p string) bool { return p == clusterDir || p == namespaceDir })
	if i < 0 {
		return Place{}
	}
	return Place{parts[i], parts[i+1:]}
}

// Top is the place of the whole directory of the tree.
func (p Place) Top() Place { return Place{Dir: p.Dir} }

// Read reports whether a directory next to those of the objects is read.
func Read(dir string) bool {
	return slices.Contains([]string{"host_service_logs", "nodes", "etcd_info", "consoles"}, dir)
}

// HidesTexts reports whether a text that is asked for may be below a place that cannot be
// read.
func (p Place) HidesTexts(q evidence.TextQuery) bool {
	if p.Dir != namespaceDir || q.Kind != "" && q.Kind != evidence.ContainerLog {
		return false
	}
	at := p.below
	return (len(at) < 1 || q.Namespace == "" || at[0] == q.Namespace) &&
		(len(at) < 2 || at[1] == "pods" || at[1] == "core" && (len(at) < 3 || at[2] == "pods"))
}

// HidesObjects reports whether objects that are needed may be below a place that cannot be
// read; files are those that hold objects of the resource. Whether a resource has a
// namespace only its files show: without any, both is possible.
func (p Place) HidesObjects(n evidence.Need, files []layout.Entry) bool {
	r, at := n.Resource, p.below
	has := func(namespaced bool) bool {
		return slices.ContainsFunc(files, func(e layout.Entry) bool { return e.File.Lost == "" && (e.Namespace != "") == namespaced })
	}
	switch p.Dir {
	case clusterDir:
		return n.Namespace == "" && (has(false) || !has(true)) && len(at) < 3 &&
			(len(at) < 1 || group(at[0]) == r.Group) && (len(at) < 2 || at[1] == r.Name)
	case namespaceDir:
		switch {
		case r == evidence.Namespaces:
			return len(at) < 2
		case n.Namespace == "" && has(false) && !has(true), len(at) > 0 && n.Namespace != "" && at[0] != n.Namespace, len(at) > 3:
			return false
		case len(at) > 1 && at[1] == "pods":
			return r == evidence.Pods
		}
		return (len(at) < 2 || group(at[1]) == r.Group || r == evidence.Events && at[1] == objectfile.EventsV1.Group) && (len(at) < 3 || at[2] == r.Name)
	}
	return false
}
