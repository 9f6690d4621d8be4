package archive

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

var (
	errLink   = errors.New("a link, which is not followed")
	errNoFile = errors.New("no regular file")
	errSparse = errors.New("a sparse file, which no collector writes")
)

// lose keeps a member whose bytes cannot be read in the index, so that a question
// for what its name says is there is not answered with silence.
func (b *builder) lose(p string, why error) error {
	e, err := b.classify(p, 0)
	if err != nil {
		return err
	}
	b.loseEntry(e, p, why)
	return nil
}

// loseOutside is lose for a name that leads out of the archive. It keeps the spelling
// of the name, so that it does not hide the file that it would lead to.
func (b *builder) loseOutside(name string) error {
	e, err := b.classify(path.Clean("/" + name)[1:], 0)
	if err != nil {
		return err
	}
	e.file.path = name[:min(len(name), 80)]
	b.loseEntry(e, e.file.path, errors.New("a name that leads out of the archive"))
	return nil
}

func (b *builder) loseEntry(e entry, p string, why error) {
	b.damage(p, why)
	e.file.lost = why.Error()
	if e.class != other {
		b.keep(e)
		return
	}
	if at, rest := layoutDir(p); at != "" {
		b.gap(gap{path: p, why: e.file.lost, in: at, rest: rest})
	}
}

// loseDir notes a directory that cannot be listed.
func (b *builder) loseDir(p string, why error) {
	b.damage(p, why)
	at, rest := layoutDir(p)
	if at == "" {
		at = anywhere
	}
	b.gap(gap{path: p, why: why.Error(), in: at, rest: rest})
}

func tooLong(p string) bool { return len(p) > maxPath || strings.Count(p, "/") >= maxParts }

// loseName notes a name that is too long to be looked at. Little of it is kept.
func (b *builder) loseName(p string) {
	why := errors.New("the name is too long")
	short := strings.Clone(p[:min(len(p), 80)]) + "..."
	b.damage(short, why)
	at, _ := layoutDir(p)
	if at == "" {
		at = anywhere
	}
	b.gap(gap{path: short, why: why.Error(), in: at})
}

// loseLoose notes a file whose content alone would tell what it is.
func (b *builder) loseLoose(e entry, why error) {
	b.damage(e.file.path, why)
	at := anyObjects
	if e.class == loose {
		at = anywhere
	}
	b.gap(gap{path: e.file.path, why: why.Error(), in: at})
}

// gap is a part of the archive, more than one file, of which nothing is known.
type gap struct {
	path, why string
	in        string   // what of the layout it lies in
	rest      []string // the path below that directory
}

// Where a gap lies, if not in a directory of the layout.
const (
	anywhere   = "*"
	anyObjects = "objects" // a file of objects of any kind
)

const (
	clusterDir   = "cluster-scoped-resources"
	namespaceDir = "namespaces"
)

// maxGaps bounds what is kept of them; beyond, anything may be missing.
const maxGaps = 1000

func (b *builder) gap(g gap) {
	switch n := len(b.s.gaps); {
	case n < maxGaps:
		b.s.gaps = append(b.s.gaps, g)
	case n == maxGaps:
		b.s.gaps = append(b.s.gaps, gap{path: g.path, why: "and more that could not be read", in: anywhere})
	}
}

// layoutDir returns the directory of the layout that a path lies in, and the path
// below it.
func layoutDir(p string) (string, []string) {
	parts := strings.Split(p, "/")
	i := slices.IndexFunc(parts, func(p string) bool { return p == clusterDir || p == namespaceDir })
	if i < 0 {
		return "", nil
	}
	return parts[i], parts[i+1:]
}

// dropBeside drops gaps in addition to the layout: audit logs and the like are never asked for.
func (b *builder) dropBeside() {
	if len(b.found) > 0 { // layouts with directories of other names
		return
	}
	roots := map[string]bool{}
	for _, list := range b.s.objects {
		for _, e := range list {
			roots[e.root] = roots[e.root] || !e.free
		}
	}
	b.s.gaps = slices.DeleteFunc(b.s.gaps, func(g gap) bool {
		if g.in != anywhere {
			return false
		}
		for root, ok := range roots {
			below, beneath := strings.CutPrefix(g.path, root)
			if dir, _, _ := strings.Cut(below, "/"); ok && beneath && !slices.Contains(asked, dir) {
				return true
			}
		}
		return false
	})
}

// asked are the directories next to the layout that are read.
var asked = []string{"host_service_logs", "nodes", "etcd_info", "consoles"}

// hidden says which gaps may hide what is needed.
func (s *Source) hidden(n evidence.Need) []gap {
	var list []gap
	for _, g := range s.gaps {
		if g.in == anywhere || n.Resource.Name == "" && g.hidesTexts(n.Text) || n.Resource.Name != "" && s.hides(g, n) {
			list = append(list, g)
		}
	}
	return list
}

func (g gap) hidesTexts(q evidence.TextQuery) bool {
	if g.in != namespaceDir || q.Kind != "" && q.Kind != evidence.ContainerLog {
		return false
	}
	return (len(g.rest) < 1 || q.Namespace == "" || g.rest[0] == q.Namespace) &&
		(len(g.rest) < 2 || g.rest[1] == "pods" || g.rest[1] == "core" && (len(g.rest) < 3 || g.rest[2] == "pods"))
}

// hides reports whether objects of a need may lie in a gap. Whether a resource has a
// namespace only its files tell: without any both is possible.
func (s *Source) hides(g gap, n evidence.Need) bool {
	r, at := n.Resource, g.rest
	has := func(namespaced bool) bool {
		return slices.ContainsFunc(s.objects[r], func(e entry) bool { return e.file.lost == "" && (e.namespace != "") == namespaced })
	}
	switch g.in {
	case anyObjects:
		return true
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
		return (len(at) < 2 || group(at[1]) == r.Group || r == evidence.Events && at[1] == eventsV1.Group) && (len(at) < 3 || at[2] == r.Name)
	}
	return false
}

// partGaps hands what is not known of nested trees to them.
func (b *builder) partGaps() {
	for _, n := range b.s.nested {
		for _, g := range b.s.gaps {
			if _, below := strings.CutPrefix(g.path, n.dir+"/"); below || g.in == anywhere {
				n.gaps = append(n.gaps, g)
			}
		}
	}
	b.s.gaps = slices.DeleteFunc(b.s.gaps, func(g gap) bool {
		return slices.ContainsFunc(b.s.nested, func(n *Source) bool { return strings.HasPrefix(g.path, n.dir+"/") })
	})
}

// whole reports whether anything that counts can be read.
func (b *builder) whole() bool {
	readable := func(e entry) bool { return e.file.lost == "" }
	for _, list := range b.s.objects {
		if slices.ContainsFunc(list, readable) {
			return true
		}
	}
	return slices.ContainsFunc(b.s.texts, readable) || b.s.manifest != nil
}
