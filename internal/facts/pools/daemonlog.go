package pools

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// daemonPrefix begins the ids of the daemon's messages in the catalog that this fact reads
// (openshift/machine-config-operator: pkg/daemon/{daemon,writer,update,drain}.go).
const daemonPrefix = "mcd."

// daemonRule is what a line does apart from being in Lines until it is over.
type daemonRule struct {
	sets  func(*Daemon) *facts.Field[bool] // the field that is true while the line counts
	reads func(*daemon, daemonLine)        // what else is kept of it
	quiet bool                             // no sign of trouble: Since leaves it out
	ends  []string                         // what is over by mcd.X-ok besides mcd.X
	good  bool                             // all but those that it keeps are over by it
	keeps []string
}

// Messages of which other facts ask, too.
const (
	inBootstrap = daemonPrefix + "bootstrap"
	retryOS     = daemonPrefix + "retry-os" // a try to update the OS that failed
)

// daemonRules are the lines with a rule of their own. A message of the catalog needs none: it
// is in Lines until the daemon is content or, of mcd.X, until mcd.X-ok.
var daemonRules = map[string]daemonRule{
	inBootstrap:          {sets: func(f *Daemon) *facts.Field[bool] { return &f.BootstrapMode }, quiet: true},
	"mcd.bootstrap-ok":   {ends: []string{"mcd.no-diff"}},
	"mcd.no-diff":        {sets: func(f *Daemon) *facts.Field[bool] { return &f.NoDiff }},
	"mcd.override":       {sets: func(f *Daemon) *facts.Field[bool] { return &f.Override }},
	"mcd.firstboot":      {sets: func(f *Daemon) *facts.Field[bool] { return &f.Firstboot }},
	"mcd.drain-wait":     {sets: func(f *Daemon) *facts.Field[bool] { return &f.DrainWaiting }},
	"mcd.kubelet":        {sets: func(f *Daemon) *facts.Field[bool] { return &f.KubeletDown }},
	"mcd.listers":        {sets: func(f *Daemon) *facts.Field[bool] { return &f.NoListers }},
	"mcd.degraded":       {reads: (*daemon).complain},
	"mcd.unreconcilable": {reads: (*daemon).complain},
	retryOS:              {reads: (*daemon).retried},
	"mcd.validated-ok":   {good: true, keeps: []string{inBootstrap, "mcd.firstboot", "mcd.drain-wait"}},
	"mcd.updated-ok":     {good: true, keeps: []string{inBootstrap}},
	"mcd.desired-ok":     {good: true, keeps: []string{inBootstrap}},
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
	Lines         facts.Field[[]string]  `cel:"lines"` // ids of the lines that count, as in catalog/messages/machine-config-daemon.yaml
	Since         facts.Field[time.Time] `cel:"since"` // the first of these lines
}

// daemon is a Daemon while its lines are followed.
type daemon struct {
	complaints, retries int64
	class, complaint    string
	complained          evidence.Item // the last complaint
	retry               string        // the last line of a try to update the OS
	since               time.Time
	proof               map[string]evidence.Item // of each line that counts, the last one
}

var daemonFact = facts.Define("mcd-log", fault.Host, "what the node's machine-config-daemon says",
	[]evidence.Need{evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace)}, readDaemon)

func readDaemon(ctx context.Context, w *facts.World, s fault.Subject) (Daemon, error) {
	var d daemon
	logs, err := daemonLines(ctx, w)
	if err != nil {
		return Daemon{}, err
	}
	w.ConcernsOf(logs.nodes, s.Name)
	// The last line decides.
	if err := logs.gap(ctx, w, s.Name); err != nil {
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
	nodes *facts.Owners // on which node a log was written
}

// gap returns why the newest log of a node's daemon was not read whole.
func (l daemonLogs) gap(ctx context.Context, w *facts.World, name string) error {
	return w.GapOf(ctx, DaemonLogs, l.nodes, name, func(t evidence.Text) bool { return !t.Previous })
}

// fields returns what the lines show.
func (d *daemon) fields() Daemon {
	var f Daemon
	if ids := slices.Sorted(maps.Keys(d.proof)); len(ids) > 0 {
		f.Lines.Set(ids)
		for _, id := range ids {
			f.Lines.Prove(d.proof[id])
			if sets := daemonRules[id].sets; sets != nil {
				sets(&f).Set(true, d.proof[id])
			}
		}
	}
	if d.complaints > 0 {
		f.Complaints.Set(d.complaints, d.complained)
		f.Class.Set(d.class, d.complained)
	}
	if last, ok := d.proof[retryOS]; ok {
		f.OSRetries.Set(d.retries, last)
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
		for _, id := range w.Signatures(daemonPrefix) {
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
		return daemonLogs{byNode, facts.NewOwners(func(t evidence.Text) string { return cmp.Or(node[t.Pod], t.Host) })}, nil
	})
}

// follow plays the lines; the last state counts.
func (d *daemon) follow(lines []daemonLine) {
	d.proof = map[string]evidence.Item{}
	for _, l := range lines {
		rule := daemonRules[l.id]
		before, isEnd := strings.CutSuffix(l.id, "-ok")
		switch {
		case rule.good:
			proof := d.proof
			maps.DeleteFunc(proof, func(id string, _ evidence.Item) bool { return !slices.Contains(rule.keeps, id) })
			*d = daemon{proof: proof}
		case isEnd:
			delete(d.proof, before)
			for _, id := range rule.ends {
				delete(d.proof, id)
			}
		default:
			d.note(l, rule)
		}
	}
}

func (d *daemon) note(l daemonLine, rule daemonRule) {
	if d.since.IsZero() && !rule.quiet {
		d.since = l.Line.Time
	}
	d.proof[l.id] = item(l)
	if rule.reads != nil {
		rule.reads(d, l)
	}
}

func (d *daemon) complain(l daemonLine) {
	d.complaints++
	d.complained = item(l)
	d.complaint = quote(l.Groups[1])
	d.class = string(classOf(l.Groups[1]))
}

func (d *daemon) retried(l daemonLine) {
	d.retries++
	d.retry = l.Line.Text
}

func item(l daemonLine) evidence.Item {
	return evidence.Item{Locator: l.Line.Loc, Excerpt: quote(l.Line.Text), Time: l.Line.Time}
}
