package pools

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The lines of the daemon that matter (openshift/machine-config-operator:
// pkg/daemon/{daemon,writer,update,drain}.go). An ID that ends in -ok says that
// what was before is over.
const (
	sigBootstrap   = "mcd.bootstrap"
	sigBootstrapOK = "mcd.bootstrap-ok"
	sigPivot       = "mcd.pivot"
	sigDegraded    = "mcd.degraded"
	sigUnreconcile = "mcd.unreconcilable"
	sigNoDiff      = "mcd.no-diff"
	sigOverride    = "mcd.override"
	sigFirstboot   = "mcd.firstboot"
	sigDrainWait   = "mcd.drain-wait"
	sigKubelet     = "mcd.kubelet"
	sigListers     = "mcd.listers"
	sigRetryOS     = "mcd.retry-os"
	sigValidatedOK = "mcd.validated-ok"
	sigUpdatedOK   = "mcd.updated-ok"
	sigDesiredOK   = "mcd.desired-ok"
)

var daemonMessages = []string{
	sigBootstrap, sigBootstrapOK, sigPivot, sigDegraded, sigUnreconcile,
	sigNoDiff, sigOverride, sigFirstboot, sigDrainWait, sigKubelet,
	sigListers, sigRetryOS, sigValidatedOK, sigUpdatedOK, sigDesiredOK,
}

// Daemon is what the machine-config-daemon of a node says. Counts are of lines
// since the daemon last was content; what is over is not counted.
type Daemon struct {
	BootstrapMode facts.Field[bool]      `cel:"bootstrapMode"` // its first run is not finished: the host still has node-annotations.json
	Complaints    facts.Field[int64]     `cel:"complaints"`    // times that it marked the node degraded
	Class         facts.Field[string]    `cel:"class"`         // of the last complaint
	NoDiff        facts.Field[bool]      `cel:"noDiff"`        // bootstrap's and the cluster's config differ in name only
	Override      facts.Field[bool]      `cel:"override"`      // disk and annotation name two configs, disk counts
	Firstboot     facts.Field[bool]      `cel:"firstbootFailed"`
	DrainWaiting  facts.Field[bool]      `cel:"drainWaiting"` // it waits for the controller to drain the node
	KubeletDown   facts.Field[bool]      `cel:"kubeletDown"`
	NoListers     facts.Field[bool]      `cel:"noListers"` // the API cannot be reached from the node
	OSRetries     facts.Field[int64]     `cel:"osRetries"`
	Since         facts.Field[time.Time] `cel:"since"` // the first of these lines
}

// daemon is a Daemon while its lines are followed.
type daemon struct {
	complaints, retries int64
	class, complaint    string
	retry               string // the last line of a try to update the OS
	since               time.Time
	proof               map[string]evidence.Item // what is true now, and the last line that shows it
}

var daemonFact = facts.Define("mcd-log", fault.Host, "what the node's machine-config-daemon says",
	[]evidence.Need{evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace)}, readDaemon)

func readDaemon(ctx context.Context, w *facts.World, s fault.Subject) (Daemon, error) {
	var d daemon
	logs, err := daemonLines(ctx, w)
	if err != nil {
		return Daemon{}, err
	}
	w.Concerns(func(t evidence.Text) bool { return logs.isOn(t, s.Name) })
	// The last line decides.
	if err := w.Gap(ctx, DaemonLogs, logs.newest(s.Name)); err != nil {
		return Daemon{}, err
	}
	lines, ok := logs.lines[s.Name]
	if !ok {
		return Daemon{}, &evidence.Unavailable{Need: evidence.Texts(DaemonLogs), Why: evidence.NotCollected,
			Detail: "no line of the daemon on " + s.Name, Supply: evidence.Supply{
				Kind:      evidence.SupplyPodLog,
				Namespace: openshift.MachineConfigNamespace,
				Container: openshift.MachineConfigDaemon,
				Host:      s.Name,
			}}
	}
	d.follow(lines)
	return d.fields(), nil
}

// daemonLogs are the daemons' lines by node, oldest first.
type daemonLogs struct {
	lines map[string][]daemonLine
	node  map[string]string // of a pod
}

// isOn reports whether a log is, or may be, of a node's daemon.
func (l daemonLogs) isOn(t evidence.Text, name string) bool {
	host := cmp.Or(l.node[t.Pod], t.Host)
	return host == name || host == ""
}

// newest selects the newest log of a node's daemon.
func (l daemonLogs) newest(name string) func(evidence.Text) bool {
	return func(t evidence.Text) bool { return !t.Previous && l.isOn(t, name) }
}

// fields returns what the lines show.
func (d *daemon) fields() Daemon {
	var f Daemon
	for _, x := range []struct {
		name  string
		field *facts.Field[bool]
	}{
		{"bootstrapMode", &f.BootstrapMode}, {"noDiff", &f.NoDiff}, {"override", &f.Override}, {"firstbootFailed", &f.Firstboot},
		{"drainWaiting", &f.DrainWaiting}, {"kubeletDown", &f.KubeletDown}, {"noListers", &f.NoListers},
	} {
		if item, ok := d.proof[x.name]; ok {
			x.field.Set(true, item)
		}
	}
	if item, ok := d.proof["complaints"]; ok {
		f.Complaints.Set(d.complaints, item)
		f.Class.Set(d.class, item)
	}
	if item, ok := d.proof["osRetries"]; ok {
		f.OSRetries.Set(d.retries, item)
	}
	f.Since.Set(d.since)
	facts.Complete(&f)
	return f
}

type daemonLine struct {
	evidence.Match
	id string
}

// daemonLines returns the daemons' lines. The Pod names its node.
func daemonLines(ctx context.Context, w *facts.World) (daemonLogs, error) {
	return facts.Memo(ctx, w, "pools.daemon-lines", func(ctx context.Context, w *facts.World) (daemonLogs, error) {
		pods, podsErr := w.List(ctx, evidence.Pods, openshift.MachineConfigNamespace)
		node := map[string]string{}
		for _, o := range pods {
			node[o.Name] = evidence.String(o.Content, "spec", "nodeName")
		}
		byNode := map[string][]daemonLine{}
		for _, id := range daemonMessages {
			list, err := w.Matches(ctx, DaemonLogs, id)
			if err != nil {
				return daemonLogs{}, err
			}
			for _, m := range list {
				name := cmp.Or(node[m.Text.Pod], m.Text.Host)
				if name != "" {
					byNode[name] = append(byNode[name], daemonLine{m, id})
				}
			}
		}
		if len(byNode) == 0 && podsErr != nil {
			return daemonLogs{}, podsErr
		}
		for _, lines := range byNode {
			slices.SortStableFunc(lines, func(a, b daemonLine) int {
				if a.Text.Path == b.Text.Path {
					return a.Line.Loc.Line - b.Line.Loc.Line
				}
				return cmp.Or(a.Line.Time.Compare(b.Line.Time), strings.Compare(a.Text.Path, b.Text.Path))
			})
		}
		return daemonLogs{byNode, node}, nil
	})
}

// follow plays the lines; the last state counts.
func (d *daemon) follow(lines []daemonLine) {
	d.proof = map[string]evidence.Item{}
	for _, l := range lines {
		switch l.id {
		case sigBootstrap:
			d.proof["bootstrapMode"] = item(l)
		case sigBootstrapOK:
			delete(d.proof, "bootstrapMode")
			delete(d.proof, "noDiff")
		case sigValidatedOK, sigDesiredOK, sigUpdatedOK:
			kept := []string{"bootstrapMode"}
			if l.id == sigValidatedOK {
				kept = append(kept, "firstbootFailed", "drainWaiting")
			}
			proof := d.proof
			maps.DeleteFunc(proof, func(name string, _ evidence.Item) bool { return !slices.Contains(kept, name) })
			*d = daemon{proof: proof}
		default:
			d.note(l)
		}
	}
}

func item(l daemonLine) evidence.Item {
	return evidence.Item{Locator: l.Line.Loc, Excerpt: excerpt.OneLine(l.Line.Text), Time: l.Line.Time}
}

// flags are the fields that one line sets.
var flags = map[string]string{
	sigNoDiff: "noDiff", sigOverride: "override", sigFirstboot: "firstbootFailed", sigDrainWait: "drainWaiting", sigKubelet: "kubeletDown",
	sigListers: "noListers", sigRetryOS: "osRetries", sigDegraded: "complaints", sigUnreconcile: "complaints",
}

func (d *daemon) note(l daemonLine) {
	if d.since.IsZero() {
		d.since = l.Line.Time
	}
	if name := flags[l.id]; name != "" {
		d.proof[name] = item(l)
	}
	switch l.id {
	case sigDegraded, sigUnreconcile:
		d.complaints++
		d.complaint = excerpt.OneLine(l.Groups[1])
		d.class = string(classOf(l.Groups[1]))
	case sigRetryOS:
		d.retries++
		d.retry = l.Line.Text
	}
}
