// Package mustgather is the layout of a must-gather, of the `oc adm inspect` that it is made
// of, and of anything else that writes the same tree:
//
//	cluster-scoped-resources/<group|core>/<resource>.yaml         a List
//	cluster-scoped-resources/<group|core>/<resource>/<name>.yaml  one object
//	namespaces/<namespace>/<namespace>.yaml                       the Namespace
//	namespaces/<namespace>/<group|core>/<resource>.yaml           a List
//	namespaces/<namespace>/<group|core>/<resource>/<name>.yaml    one object
//	namespaces/<namespace>/pods/<pod>/<pod>.yaml
//	namespaces/<namespace>/pods/<pod>/<container>/<container>/logs/{current,previous}.log
//	host_service_logs/{masters,workers}/<unit>_service.log        journals
//	nodes/<node>/<node>_logs_<unit>[.gz]                          journals
//	etcd_info/<name>.json                                         answers of etcdctl
//	timestamp, version
//
// The tree needs no proof: nothing else has directories of these names with such files in
// them. A List is written also when it is empty and so proves that the collector looked; a
// directory of single objects is not, and proves nothing.
package mustgather

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// The kinds of archive with the tree.
const (
	MustGather = "must-gather"
	Inspect    = "inspect"
	Tree       = "tree" // written by something else
)

// Layout is the tree.
var Layout = layout.Layout{Kind: Tree, File: treeFile, Unseen: withoutMasters}

// Shell are the files around the tree, whose names other layouts have, too.
var Shell = layout.Layout{Kind: Tree, File: shellFile}

// The directories of the tree.
const (
	clusterDir   = "cluster-scoped-resources"
	namespaceDir = "namespaces"
)

func treeFile(e *layout.Entry, dir string, below []string) bool {
	switch dir {
	case clusterDir:
		return clusterScoped(e, below)
	case namespaceDir:
		return namespaced(e, below)
	case "host_service_logs":
		return hostServiceLog(e, below)
	case "nodes":
		return nodeLog(e, below)
	case "etcd_info":
		return etcdInfo(e, below)
	}
	return false
}

func shellFile(e *layout.Entry, dir string, below []string) bool {
	switch {
	case len(below) > 0:
		return false
	case dir == "timestamp":
		e.Class, e.Times = layout.Stamp, stampTimes
	case dir == "version":
		e.Class = layout.Version
	default:
		return false
	}
	return true
}

// group returns the API group of a directory.
func group(dir string) string {
	if dir == "core" {
		return ""
	}
	return dir
}

// clusterScoped reads <group>/<resource>.yaml and <group>/<resource>/<name>.yaml.
func clusterScoped(e *layout.Entry, below []string) bool {
	if len(below) != 2 && len(below) != 3 {
		return false
	}
	name, ok := layout.ObjectFile(below[len(below)-1])
	if !ok {
		return false
	}
	e.Class, e.List, e.Resource = layout.Object, true, evidence.Resource{Group: group(below[0]), Name: name}
	if len(below) == 3 {
		e.List, e.Resource.Name = false, below[1]
	}
	return true
}

// namespaced reads what is below namespaces/.
func namespaced(e *layout.Entry, below []string) bool {
	if len(below) < 2 || below[0] == "" {
		return false
	}
	ns := below[0]
	if below[1] == "pods" && len(below) > 3 {
		return podFile(e, ns, below[2:])
	}
	name, ok := layout.ObjectFile(below[len(below)-1])
	switch {
	case !ok:
		return false
	case len(below) == 2 && name == ns: // the Namespace is a cluster-scoped object
		e.Class, e.Resource = layout.Object, evidence.Namespaces
	case len(below) == 3:
		e.Class, e.Namespace, e.List, e.Resource = layout.Object, ns, true, evidence.Resource{Group: group(below[1]), Name: name}
	case len(below) == 4:
		e.Class, e.Namespace, e.Resource = layout.Object, ns, evidence.Resource{Group: group(below[1]), Name: below[2]}
	default:
		return false
	}
	return true
}

// podFile reads <pod>/<pod>.yaml and <pod>/<container>/<container>/logs/....
func podFile(e *layout.Entry, ns string, below []string) bool {
	pod := below[0]
	if len(below) == 2 {
		if name, ok := layout.ObjectFile(below[1]); !ok || name != pod {
			return false
		}
		e.Class, e.Namespace, e.Resource = layout.Object, ns, evidence.Pods
		return true
	}
	at := len(below) - 2
	rotated := below[at] == "rotated"
	if rotated {
		at--
	}
	if at < 2 || below[at] != "logs" {
		return false
	}
	name := below[len(below)-1]
	if !rotated && !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".log") {
		return false
	}
	e.Class, e.Namespace = layout.Text, ns
	e.Text = evidence.Text{Kind: evidence.ContainerLog, Namespace: ns, Pod: pod, Container: below[at-1], Previous: strings.HasPrefix(name, "previous")}
	return true
}

// LogsOnly reports whether a directory is that of a container, below that of its pod: it holds logs.
func LogsOnly(dir string) bool {
	parts := strings.Split(dir, "/")
	n := len(parts)
	return n >= 5 && parts[n-5] == namespaceDir && parts[n-3] == "pods"
}

// hostServiceLog reads masters/<unit>_service.log: all masters in one file, the
// host is in the line (openshift/must-gather:collection-scripts/gather_service_logs).
func hostServiceLog(e *layout.Entry, below []string) bool {
	if len(below) != 2 {
		return false
	}
	unit, ok := strings.CutSuffix(strings.TrimSuffix(below[1], ".gz"), "_service.log")
	if ok {
		e.Class, e.Text = layout.Text, evidence.Text{Kind: evidence.Journal, Unit: unit}
	}
	return ok
}

// withoutMasters says that a must-gather has the workers' journal of a unit and not the
// masters'. The collector writes that of the masters first
// (openshift/must-gather:collection-scripts/gather_service_logs); a hosted cluster has none.
func withoutMasters(q evidence.TextQuery, found []evidence.Text) string {
	const workers, masters = "host_service_logs/workers/", "host_service_logs/masters/"
	if q.Kind != evidence.Journal || q.Host != "" {
		return ""
	}
	missing := ""
	for _, t := range found {
		switch {
		case strings.Contains(t.Path, masters):
			return ""
		case strings.Contains(t.Path, workers) && !strings.Contains(t.Path, "hostedcluster-"):
			missing = strings.Replace(t.Path, workers, masters, 1)
		}
	}
	if missing == "" {
		return ""
	}
	return missing + " is missing; the workers' journal is there"
}

// nodeLog reads <node>/<node>_logs_<unit>[.gz], which the collection of
// PerformanceProfiles writes (openshift/must-gather:collection-scripts/gather_ppc).
func nodeLog(e *layout.Entry, below []string) bool {
	if len(below) != 2 {
		return false
	}
	unit, ok := strings.CutPrefix(strings.TrimSuffix(below[1], ".gz"), below[0]+"_logs_")
	if !ok || unit == "" {
		return false
	}
	e.Class, e.Text = layout.Text, evidence.Text{Kind: evidence.Journal, Host: below[0], Unit: unit}
	return true
}

// etcdInfo reads what etcdctl printed as JSON: member_list, endpoint_health,
// endpoint_status, alarm_list (openshift/must-gather:collection-scripts/gather_etcd).
// Each document is the field answer of an object with its name. One that cannot be read is
// an object without an answer, which says why: the others are there all the same.
func etcdInfo(e *layout.Entry, below []string) bool {
	if len(below) != 1 {
		return false
	}
	name, ok := strings.CutSuffix(below[0], ".json")
	if !ok || name == "" {
		return false
	}
	e.Class, e.Resource = layout.Object, evidence.EtcdAnswers
	e.Make = func(ctx context.Context, c *member.Container, e layout.Entry) (map[string]any, error) {
		raw, err := c.Read(ctx, e.File, maxEtcdInfo)
		if err != nil {
			return nil, err
		}
		object := map[string]any{
			"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "EtcdAnswer", "metadata": map[string]any{"name": name},
		}
		if answer, err := objectfile.Answer(raw); err != nil {
			object["error"] = err.Error()
		} else {
			object["answer"] = answer
		}
		return object, nil
	}
	return true
}

// maxEtcdInfo bounds a file of etcd_info. Beyond objectfile.MaxObject it is an answer that
// cannot be read, beyond this it is damage.
const maxEtcdInfo = 256 << 20

// maxStamps bounds the lines of a timestamp file; inspect appends a pair a run.
const maxStamps = 10000

// stampTimes reads a collector's `timestamp` file: Go times with a monotonic
// clock, one or more pairs of start and end
// (openshift/oc:pkg/cli/admin/inspect, must-gather: time.Now().String()).
func stampTimes(raw []byte) []time.Time {
	var times []time.Time
	for line := range bytes.Lines(raw) {
		f := strings.Fields(string(line))
		if len(f) < 3 || len(times) >= maxStamps {
			continue
		}
		t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", strings.Join(f[:3], " "))
		if err == nil {
			times = append(times, t.UTC())
		}
	}
	return times
}

// Signs are names that tell a must-gather from an inspect tree.
type Signs struct{ MustGather, Inspect bool }

// See takes note of a path. read says that its file has a place in a layout: only then is a
// directory that begins with must-gather, or is named like an inspect tree, what it is called.
// A directory of notes may be called so, too.
func (s *Signs) See(path string, read bool) {
	for {
		part, rest, isDir := strings.Cut(path, "/")
		switch {
		case part == "host_service_logs", part == "etcd_info", part == "sysinfo.tgz", isDir && read && strings.HasPrefix(part, "must-gather"):
			s.MustGather = true
		case isDir && read && strings.HasPrefix(part, "inspect.local."), strings.HasPrefix(part, "aggregated-discovery-api"):
			s.Inspect = true
		}
		if !isDir {
			return
		}
		path = rest
	}
}

// IsVersion reports whether a version file is that of a must-gather.
func IsVersion(raw []byte) bool { return bytes.Contains(raw, []byte("must-gather")) }
