// Package logbundle is the layout of what `openshift-install gather bootstrap` keeps when an
// installation fails:
//
//	resources/<resource>.json                                  Lists, empty when the API did not answer
//	bootstrap/journals/<unit>.log                              journals
//	bootstrap/services/<unit>.json                             records of a service and its stages
//	{bootstrap,control-plane/<address>}/containers/<name>-<id>.{log,inspect}
//	control-plane/<address>/journals/<unit>.log
//	control-plane/<address>/network/hostname.txt
//	serial/<host>-serial.log                                   consoles
//
// Only masters that the bootstrap host reached over SSH are in it.
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/installer-gather.sh,
// installer-masters-gather.sh)
package logbundle

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Kind is what such an archive is called.
const Kind = "installer log bundle"

// Layout is that of a log bundle.
var Layout = layout.Layout{
	Kind: Kind, DatedName: "log-bundle",
	Lacks:    "an installer log bundle has the API's objects only when the API answered, and only hosts that the bootstrap reached over SSH",
	Proof:    proof,
	File:     file,
	Complete: complete,
	Absent:   absent,
	Derive:   bootkubeService,
	Hosts:    hosts,
	Journal: func(host string) evidence.Supply {
		return evidence.Supply{Kind: evidence.SupplyGatherBootstrap, Host: cmp.Or(host, "ADDRESS")}
	},
}

const (
	bootstrapDir    = "bootstrap"
	controlPlaneDir = "control-plane"
	journalDir      = "journals"
)

func proof(dir string, below []string) bool {
	return dir == bootstrapDir && len(below) > 1 && below[0] == journalDir ||
		dir == controlPlaneDir && len(below) > 2 && below[1] == journalDir
}

// file reads what is below the root. The lines of journals have the name of their host.
func file(e *layout.Entry, dir string, below []string) bool {
	switch {
	case dir == "resources" && len(below) == 1 && strings.HasSuffix(below[0], ".json"):
		e.Class, e.Mixed = layout.Object, true
		return true
	case dir == "serial" && len(below) == 1 && strings.HasSuffix(below[0], "-serial.log"):
		e.Class, e.Text = layout.Text, evidence.Text{Kind: evidence.Console, Host: strings.TrimSuffix(below[0], "-serial.log")}
		return true
	case dir == bootstrapDir && len(below) == 2 && below[0] == "services":
		return serviceFile(e, below[1])
	case dir == bootstrapDir && len(below) == 2:
		return text(e, below[0], below[1])
	case dir == controlPlaneDir && len(below) == 3 && below[1] == "network" && below[2] == "hostname.txt":
		e.Class, e.Resource = layout.Object, evidence.HostIdentities
		e.Make = func(ctx context.Context, c *member.Container, e layout.Entry) (map[string]any, error) {
			raw, err := c.Read(ctx, e.File, layout.MaxSmall)
			if err != nil {
				return nil, err
			}
			name, err := layout.Hostname(raw)
			if err != nil {
				return nil, err
			}
			return machine(e, name, "hostname")
		}
		return true
	case dir == controlPlaneDir && len(below) == 3:
		return text(e, below[1], below[2])
	}
	return false
}

var containerFile = regexp.MustCompile(`^(.+)-[0-9a-f]{12,64}\.(log|inspect)$`)

// text reads a file of journals/ or containers/.
func text(e *layout.Entry, dir, name string) bool {
	switch dir {
	case "journals":
		unit, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".log")
		if !ok || unit == "" {
			return false
		}
		e.Whole = unit == "journal"
		if e.Whole {
			unit = ""
		}
		e.Text = evidence.Text{Kind: evidence.Journal, Unit: unit}
	case "containers":
		m := containerFile.FindStringSubmatch(name)
		if m == nil {
			return false
		}
		if m[2] == "inspect" {
			e.Class = layout.Detail
			return true
		}
		e.Text = evidence.Text{Kind: evidence.ContainerLog, Container: m[1]}
	default:
		return false
	}
	e.Class = layout.Text
	return true
}

// addressOf returns the address of the machine of control-plane/<address>/....
func addressOf(e layout.Entry) (address string, below []string, ok bool) {
	parts := strings.Split(e.Below, "/")
	if e.Of.Kind != Kind || len(parts) != 4 || parts[0] != controlPlaneDir {
		return "", nil, false
	}
	return parts[1], parts[2:], true
}

// onBootstrap reports whether a text of a bundle is of the bootstrap host.
func onBootstrap(e layout.Entry) bool { return strings.HasPrefix(e.Below, bootstrapDir+"/") }

// hosts is the bootstrap host, which no object is about. The masters are those that the
// cluster's objects, or the directories, name.
func hosts(_ context.Context, _ *member.Container, e layout.Entry) ([]namedhost.Host, error) {
	if e.Of.Kind != Kind || !onBootstrap(e) {
		return nil, nil
	}
	return []namedhost.Host{{Name: namedhost.Bootstrap, Role: namedhost.Bootstrap, By: namedhost.Bundle}}, nil
}

func complete(ctx context.Context, c *member.Container, ix *layout.Index) {
	nameMachines(ix)
	nameContainers(ctx, c, ix)
}

// nameMachines adds the machines of bundles of older releases, in which no file has a
// machine's name, and its journals do.
func nameMachines(ix *layout.Index) {
	type machineOf struct{ root, address string }
	named := map[machineOf]bool{}
	for _, e := range ix.Objects[evidence.HostIdentities] {
		if address, _, ok := addressOf(e); ok {
			named[machineOf{e.Of.Root, address}] = true
		}
	}
	for _, e := range ix.Texts {
		address, below, ok := addressOf(e)
		if !ok || below[0] != journalDir || e.Text.Unit != "kubelet" || named[machineOf{e.Of.Root, address}] {
			continue
		}
		named[machineOf{e.Of.Root, address}] = true
		e.Class, e.Resource = layout.Object, evidence.HostIdentities
		e.Make = func(ctx context.Context, c *member.Container, e layout.Entry) (map[string]any, error) {
			name, err := journalName(ctx, c, e)
			if err != nil {
				return nil, err
			}
			return machine(e, name, "journal")
		}
		ix.Objects[e.Resource] = append(ix.Objects[e.Resource], e)
	}
}

// journalName returns the last name that is not localhost in a journal, "" where it has
// none: a machine is called localhost until it gets its name.
func journalName(ctx context.Context, c *member.Container, e layout.Entry) (string, error) {
	r, err := c.Open(ctx, e.File)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	name := ""
	_ = journal.EachLine(r, func(line []byte) bool { // where it breaks off the text itself says so
		if host, _, ok := journal.Head(line); ok && layout.OwnName(host) {
			name = string(host)
		}
		return true
	})
	return name, nil
}

// machine makes the object of a machine, which has its address for a name where none is
// known.
func machine(e layout.Entry, hostname, from string) (map[string]any, error) {
	address, _, _ := addressOf(e)
	name := strings.ToLower(hostname)
	if name == "" || strings.HasPrefix(name, "localhost") {
		name = address
	}
	return layout.MachineObject(evidence.HostIdentities, name, e.File.Path, layout.Identity(hostname, from, address, layout.NotInReports))
}

// nameContainers gives container logs the namespace and pod that `crictl inspect` printed. A
// log without it has none, and no question finds it.
func nameContainers(ctx context.Context, c *member.Container, ix *layout.Index) {
	pods := map[string]evidence.Text{}
	for _, e := range ix.Details {
		if e.Class != layout.Detail || e.Of.Kind != Kind {
			continue
		}
		raw, err := c.Read(ctx, e.File, layout.MaxSmall)
		if err != nil || len(raw) == 0 {
			continue
		}
		var answer struct {
			Status struct {
				Labels map[string]string `json:"labels"`
			} `json:"status"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			ix.Damage(e.File.Path, err)
			continue
		}
		l := answer.Status.Labels
		pods[strings.TrimSuffix(e.File.Path, ".inspect")] = evidence.Text{
			Namespace: l["io.kubernetes.pod.namespace"], Pod: l["io.kubernetes.pod.name"], Container: l["io.kubernetes.container.name"],
		}
	}
	for i := range ix.Texts {
		t := &ix.Texts[i].Text
		if p, ok := pods[strings.TrimSuffix(t.Path, ".log")]; ok && ix.Texts[i].Of.Kind == Kind {
			t.Namespace, t.Pod, t.Container = p.Namespace, p.Pod, cmp.Or(p.Container, t.Container)
		}
	}
}

// absent says why a bundle has no records of the bootstrap's services: it is of an older
// release, or of a host on which nothing that writes records had begun. Since releases that
// pull the node image first, nothing does before that is done.
func absent(_ *layout.Index, n evidence.Need, u *evidence.Unavailable) *evidence.Unavailable {
	if n.Resource == evidence.BootstrapServices {
		u.Detail = "the log bundle has no bootstrap/services/*.json: it is of an older release, or no service that writes them had begun"
		u.Supply = evidence.Supply{Kind: evidence.SupplyBootstrapJournal}
	}
	return u
}
