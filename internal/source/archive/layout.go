package archive

import (
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// class is what a file of the layout holds.
type class int

const (
	other    class = iota
	object         // one object or a List
	text           // lines
	stamp          // start and end of the collection
	version        // what wrote the archive
	manifest       // header of Rollcall's own collection
	seal           // the digest of that header
	detail         // says what other files are
	loose          // may hold objects or lines where nothing else does
)

// entry is one file of the archive that is worth keeping in the index.
type entry struct {
	class     class
	root      string // directory above cluster-scoped-resources/ or namespaces/, "" or ending in "/"
	file      file
	resource  evidence.Resource
	namespace string
	list      bool          // instead of a List
	text      evidence.Text // without Open

	of     of     // the other layout that the file belongs to
	mixed  bool   // objects of any kind
	part   string // why its objects are not all that there are
	whole  bool   // a journal of all units
	export bool   // a journal in export format
	free   bool   // in no layout
	flat   string // the name of a log that begins with its pod's: see nameFlat

	machine *machineFile // the file tells of one machine

	answer string    // the name of a document that is no object: see etcdInfo
	timed  bool      // newest is known
	newest time.Time // that objects carry
	skim   *skimmed  // the lines that were kept, nil where the text itself is read
}

// file is a member of the archive.
type file struct {
	path  string // as the archive spells it
	size  int64
	at    int64 // of a tar: offset at its place
	place place
	lost  string // why its bytes cannot be read, "" where they can
}

// classify finds out from its path what a file is. Names of directories above the
// root mean nothing.
func classify(path string) entry {
	e := entry{file: file{path: path}}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		rest := parts[i+1:]
		e.namespace = ""
		switch {
		case p == "cluster-scoped-resources" && clusterScoped(&e, rest),
			p == "namespaces" && namespaced(&e, rest),
			p == "host_service_logs" && hostServiceLog(&e, rest),
			p == "nodes" && nodeLog(&e, rest),
			p == "etcd_info" && etcdInfo(&e, rest),
			p == "consoles" && consoleText(&e, rest):
			e.root = strings.Join(parts[:i], "/")
			if e.root != "" {
				e.root += "/"
			}
			return e
		}
	}
	e.namespace = ""
	if otherLayout(&e, parts) {
		return e
	}
	e.namespace = ""
	switch parts[len(parts)-1] {
	case "timestamp":
		e.class = stamp
	case "version":
		e.class = version
	case ManifestName:
		e.class = manifest
	case SealName:
		e.class = seal
	default:
		switch {
		case strings.HasSuffix(path, installerLog):
			e.class, e.free, e.text = text, true, evidence.Text{Kind: evidence.Installer, Path: path}
		case looseFile(path):
			e.class = loose
		}
	}
	e.root = strings.TrimSuffix(path, parts[len(parts)-1])
	return e
}

// installerLog is how openshift-install names its log, in the directory that it ran
// in (openshift/installer:cmd/openshift-install/log.go setupFileHook). People lay it
// in addition to other archives.
const installerLog = ".openshift_install.log"

// objectFile returns the name before the suffix of files that hold objects.
func objectFile(name string) (string, bool) {
	for _, suffix := range []string{".yaml", ".yml", ".json"} {
		if stem, ok := strings.CutSuffix(name, suffix); ok && stem != "" {
			return stem, true
		}
	}
	return "", false
}

func group(dir string) string {
	if dir == "core" {
		return ""
	}
	return dir
}

// clusterScoped reads <group>/<resource>.yaml and <group>/<resource>/<name>.yaml.
func clusterScoped(e *entry, rest []string) bool {
	switch len(rest) {
	case 2:
		stem, ok := objectFile(rest[1])
		if !ok {
			return false
		}
		e.class, e.list, e.resource = object, true, evidence.Resource{Group: group(rest[0]), Name: stem}
		return true
	case 3:
		if _, ok := objectFile(rest[2]); !ok {
			return false
		}
		e.class, e.resource = object, evidence.Resource{Group: group(rest[0]), Name: rest[1]}
		return true
	}
	return false
}

// namespaced reads what is below namespaces/.
func namespaced(e *entry, rest []string) bool {
	if len(rest) < 2 || rest[0] == "" {
		return false
	}
	ns := rest[0]
	e.namespace = ns
	if rest[1] == "pods" && len(rest) > 3 {
		return podFile(e, ns, rest[2:])
	}
	if len(rest) == 5 && rest[1] == "core" && rest[2] == "pods" && rest[3] == "logs" {
		return flatLog(e, ns, rest[4])
	}
	stem, ok := objectFile(rest[len(rest)-1])
	if !ok {
		return false
	}
	switch len(rest) {
	case 2: // namespaces/<ns>/<ns>.yaml is the Namespace, a cluster-scoped object
		if stem != ns {
			return false
		}
		e.class, e.namespace, e.resource = object, "", evidence.Namespaces
	case 3:
		e.class, e.list, e.resource = object, true, evidence.Resource{Group: group(rest[1]), Name: stem}
	case 4:
		e.class, e.resource = object, evidence.Resource{Group: group(rest[1]), Name: rest[2]}
	default:
		return false
	}
	return true
}

// podFile reads <pod>/<pod>.yaml and <pod>/<container>/<container>/logs/....
func podFile(e *entry, ns string, rest []string) bool {
	pod := rest[0]
	if len(rest) == 2 {
		if stem, ok := objectFile(rest[1]); !ok || stem != pod {
			return false
		}
		e.class, e.resource = object, evidence.Pods
		return true
	}
	at := len(rest) - 2
	if rest[at] == "rotated" {
		at--
	}
	if at < 2 || rest[at] != "logs" {
		return false
	}
	name := rest[len(rest)-1]
	if rest[len(rest)-2] != "rotated" && !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".log") {
		return false
	}
	e.class = text
	e.text = evidence.Text{
		Kind: evidence.ContainerLog, Namespace: ns, Pod: pod, Container: rest[at-1],
		Previous: strings.HasPrefix(name, "previous"), Path: e.file.path,
	}
	return true
}

// flatLog reads core/pods/logs/<pod>-<container>[-previous].log of a HyperShift
// dump (openshift/hypershift:cmd/cluster/core/dump.go OutputAll). Where the pod's
// name ends only the pods themselves tell.
func flatLog(e *entry, ns, name string) bool {
	stem, ok := strings.CutSuffix(name, ".log")
	if !ok || stem == "" {
		return false
	}
	e.class = text
	e.text = evidence.Text{Kind: evidence.ContainerLog, Namespace: ns, Path: e.file.path}
	e.flat, e.text.Previous = strings.CutSuffix(stem, "-previous")
	return true
}

// hostServiceLog reads masters/<unit>_service.log: all masters in one file, the
// host is in the line (openshift/must-gather:collection-scripts/gather_service_logs).
func hostServiceLog(e *entry, rest []string) bool {
	if len(rest) != 2 {
		return false
	}
	unit, ok := strings.CutSuffix(strings.TrimSuffix(rest[1], ".gz"), "_service.log")
	if !ok {
		return false
	}
	e.class = text
	e.text = evidence.Text{Kind: evidence.Journal, Unit: unit, Path: e.file.path}
	return true
}

// etcdInfo reads what etcdctl printed as JSON: member_list, endpoint_health,
// endpoint_status, alarm_list (openshift/must-gather:collection-scripts/gather_etcd).
// Each document is the field answer of an object with its name.
func etcdInfo(e *entry, rest []string) bool {
	if len(rest) != 1 {
		return false
	}
	name, ok := strings.CutSuffix(rest[0], ".json")
	if !ok || name == "" {
		return false
	}
	e.class, e.resource, e.answer = object, evidence.EtcdAnswers, name
	return true
}

// nodeLog reads <node>/<node>_logs_<unit>[.gz], which the collection of
// PerformanceProfiles writes (openshift/must-gather:collection-scripts/gather_ppc).
func nodeLog(e *entry, rest []string) bool {
	if len(rest) != 2 {
		return false
	}
	unit, ok := strings.CutPrefix(strings.TrimSuffix(rest[1], ".gz"), rest[0]+"_logs_")
	if !ok || unit == "" {
		return false
	}
	e.class = text
	e.text = evidence.Text{Kind: evidence.Journal, Host: rest[0], Unit: unit, Path: e.file.path}
	return true
}

// consoleText reads consoles/<host>.log of Rollcall's own collection.
func consoleText(e *entry, rest []string) bool {
	if len(rest) != 1 {
		return false
	}
	host, ok := strings.CutSuffix(rest[0], ".log")
	if !ok || host == "" {
		return false
	}
	e.class = text
	e.text = evidence.Text{Kind: evidence.Console, Host: host, Path: e.file.path}
	return true
}
