// Package loose is for files that are in no layout: objects or lines that somebody copied
// together, and the log of openshift-install, which users put next to other archives.
//
// Such files are known by their content. They are looked into only where the archive has
// nothing else, and they are never all that there is: a file of single objects does not say
// whether there are others.
package loose

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Kind is what an archive of nothing but such files is called.
const Kind = "files"

// Layout is for files that are in no layout.
var Layout = layout.Layout{
	Kind:   Kind,
	Lacks:  "only the files that were named are read",
	File:   file,
	Derive: loggedOperators,
	Hosts:  hosts,
}

// installerLog is how openshift-install names its log, in the directory that it ran in
// (openshift/installer:cmd/openshift-install/log.go setupFileHook).
const installerLog = ".openshift_install.log"

func file(e *layout.Entry, dir string, below []string) bool {
	switch {
	case len(below) > 0:
		return false
	case strings.HasSuffix(dir, installerLog):
		e.Class, e.Free, e.Text = layout.Text, true, evidence.Text{Kind: evidence.Installer}
	case Possible(dir):
		e.Class = layout.Loose
	default:
		return false
	}
	return true
}

// Possible reports whether a file with such a name may hold objects or lines.
func Possible(name string) bool {
	_, ok := layout.ObjectFile(name)
	return ok || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".txt")
}

// Lines makes a file with these first bytes an entry of a text, where it is one that is read:
// the installer's log or a journal.
func Lines(e *layout.Entry, head []byte) bool {
	kind := evidence.Journal
	switch {
	case journal.IsInstallerLog(head):
		kind = evidence.Installer
	case !journal.IsExport(head) && !journal.IsPrinted(head):
		return false
	}
	e.Class, e.Text = layout.Text, evidence.Text{Kind: kind, Path: e.File.Path}
	e.Whole, e.Export = kind == evidence.Journal, journal.IsExport(head)
	return true
}

// Objects returns an entry for each resource of which a file holds objects.
func Objects(e layout.Entry, raw []byte) ([]layout.Entry, error) {
	kinds, err := objectfile.Kinds(raw)
	if err != nil {
		return nil, err
	}
	var list []layout.Entry
	e.Class, e.Mixed = layout.Object, true
	for r, held := range kinds {
		e.Resource, e.List, e.Part = r, held.List, ""
		if !held.List {
			e.Part = e.File.Path + " holds single objects: whether there are others is not known"
		}
		of := e
		if e.Free && held.List && !held.Single {
			limit(&of, held)
		}
		list = append(list, of)
	}
	return list, nil
}

// limit notes of which namespace a List is that somebody saved. A List with objects of several is one of all (-A). Pods and
// the like are in several namespaces of each cluster: a List of one namespace says nothing of the others. Without objects
// a List does not even show of which namespace it is.
func limit(e *layout.Entry, held objectfile.Held) {
	switch {
	case len(held.Namespaces) == 1 && !held.Bare && slices.Contains(inSeveral, e.Resource):
		e.Namespace = held.Namespaces[0]
		e.Others = e.File.Path + " lists namespace " + e.Namespace + " only: what is in others is not known"
	case held.Empty && len(held.Namespaces) == 0 && !held.Bare:
		e.Nowhere = !slices.Contains(withoutNamespace, e.Resource)
	}
}

// inSeveral are the kinds of which each cluster has objects in several namespaces.
var inSeveral = []evidence.Resource{
	evidence.Pods, evidence.Events, objectfile.EventsV1, evidence.ConfigMaps, evidence.Secrets, evidence.Leases, evidence.PodDisruptionBudgets,
	evidence.DaemonSets, evidence.Deployments, evidence.ReplicaSets,
}

// withoutNamespace are the kinds whose objects are in no namespace, of those that are read: an empty List of one is whole.
var withoutNamespace = []evidence.Resource{
	evidence.Nodes, evidence.Namespaces, evidence.CSRs, evidence.MachineConfigs, evidence.MachineConfigPools, evidence.ControllerConfigs,
	evidence.ClusterOperators, evidence.ClusterVersions, evidence.Infrastructures, evidence.NetworkConfigs, evidence.Provisionings,
	evidence.EtcdOperators, evidence.APIServerOperators, evidence.ManagerOperators, evidence.SchedulerOperators,
}

var (
	configKind = regexp.MustCompile(`(?m)^\s*"?kind"?:\s*"?Config"?,?\s*$`)
	contexts   = regexp.MustCompile(`(?m)^\s*"?(?:contexts|current-context)"?:`)
)

// IsKubeconfig reports whether the first bytes are those of a file with which a cluster is
// asked (k8s.io/client-go:tools/clientcmd/api/v1/types.go Config).
func IsKubeconfig(head []byte) bool { return configKind.Match(head) && contexts.Match(head) }

// onlyLogged is why the operators of a log are not all of them.
const onlyLogged = "the log of openshift-install has only the conditions of operators that it waited for"

// loggedOperators are the ClusterOperators in logs of openshift-install, where no file has
// any.
func loggedOperators(ctx context.Context, a layout.Deriving, r evidence.Resource) (layout.Derived, error) {
	var d layout.Derived
	if r != evidence.ClusterOperators || len(a.Objects[r]) > 0 {
		return d, nil
	}
	for _, e := range a.Texts {
		if e.Text.Kind != evidence.Installer {
			continue
		}
		in, err := layout.OpenLines(ctx, a.Container, e, "")
		if err != nil {
			continue // reading the text says why
		}
		var log OperatorLog
		lines := bufio.NewScanner(member.WithContext(ctx, io.LimitReader(in, layout.MaxLines)))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			log.Take(n, lines.Text())
		}
		if err := errors.Join(ctx.Err(), in.Close()); err != nil {
			return d, err
		}
		if list := log.Objects(evidence.Locator{Path: e.File.Path}); len(list) > 0 {
			d.Objects, d.Part = append(d.Objects, list...), append(d.Part, onlyLogged)
		}
	}
	return d, nil
}

// maxHosts bounds the hosts that one journal has lines of.
const maxHosts = 1000

// bootstrapPrograms run on the bootstrap host only
// (openshift/installer:data/data/bootstrap/files/usr/local/bin).
var bootstrapPrograms = []string{"bootkube.sh", "kubelet.sh", "release-image-download.sh", "approve-csr.sh", "crio-configure.sh"}

// hosts are the hosts whose lines a journal has. The bootstrap host changes its name while
// it runs: what is logged there is of one host. A journal in which a host has no name but
// localhost shows none.
func hosts(ctx context.Context, c *member.Container, e layout.Entry) ([]namedhost.Host, error) {
	if !e.Free || e.Text.Kind != evidence.Journal {
		return nil, nil
	}
	in, err := layout.OpenLines(ctx, c, e, "")
	if err != nil {
		return nil, ctx.Err() // reading the text says why
	}
	defer func() { _ = in.Close() }()
	var list []namedhost.Host
	bootstrap, number := false, 0
	var systems otherSystems
	_ = journal.EachLine(member.WithContext(ctx, io.LimitReader(in, layout.MaxLines)), func(line []byte) bool { // where it breaks off the text itself says so
		number++
		host, id, ok := journal.Head(line)
		if !ok {
			return true
		}
		if bootstrap = slices.Contains(bootstrapPrograms, string(id)); bootstrap {
			return false
		}
		if layout.OwnName(host) {
			name := string(bytes.ToLower(host))
			list = seen(list, name, string(id), namedhost.Line{Number: number, Head: header(line)})
			systems.line(name, string(id), evidence.Locator{Path: e.File.Path, Line: number}, line)
		}
		return len(list) < maxHosts
	})
	if bootstrap {
		return []namedhost.Host{{Name: namedhost.Bootstrap, Role: namedhost.Bootstrap, By: namedhost.Journal}}, ctx.Err()
	}
	systems.mark(list)
	return list, ctx.Err()
}

// seen notes a line of a host: that the machine runs, and that its kubelet does.
func seen(list []namedhost.Host, name, id string, line namedhost.Line) []namedhost.Host {
	i := slices.IndexFunc(list, func(h namedhost.Host) bool { return h.Name == name })
	if i < 0 {
		i = len(list)
		list = append(list, namedhost.Host{Name: name, By: namedhost.Journal, Seen: &line})
	}
	if list[i].Kubelet == nil && journal.UnitOf(id) == "kubelet" {
		list[i].Kubelet = &line
	}
	return list
}

// longestHead bounds the header of a line.
const longestHead = 200

// header is a line without its message.
func header(line []byte) string {
	head, _, ok := bytes.Cut(line, []byte("]: "))
	if ok {
		head = append(bytes.Clone(head), ']')
	} else {
		head, _, _ = bytes.Cut(line, []byte(": "))
	}
	return string(head[:min(len(head), longestHead)])
}
