package pools

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// The lines of the daemon that matter (openshift/machine-config-operator:
// pkg/daemon/{daemon,writer,update,drain}.go). An ID that ends in -ok says that
// what stood before is over.
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

func daemonSignatures() []scan.Signature {
	return []scan.Signature{
		{ID: sigBootstrap, Literal: "in bootstrap mode"},
		{ID: sigBootstrapOK, Literal: "unlinking bootstrap node annotations"},
		{ID: sigPivot, Literal: "bootstrap pivot required to:"},
		{ID: sigDegraded, Literal: "marking degraded due to", Pattern: regexp.MustCompile(`(?i)marking degraded due to: (.*\S)`)},
		{ID: sigUnreconcile, Literal: "marking unreconcilable due to", Pattern: regexp.MustCompile(`(?i)marking unreconcilable due to: (.*\S)`)},
		{ID: sigNoDiff, Literal: "no diff found between bootstrap mc"},
		{ID: sigOverride, Literal: "overrides node's currentconfig annotation"},
		{ID: sigFirstboot, Literal: "failed to complete machine-config-daemon-firstboot before joining cluster"},
		{ID: sigDrainWait, Literal: "previously requested drain has not yet completed"},
		{ID: sigKubelet, Literal: "kubelet health check has failed"},
		{ID: sigListers, Literal: "failed to sync initial listers cache"},
		{ID: sigRetryOS, Literal: "failed to update os to"},
		{ID: sigValidatedOK, Literal: "validated on-disk state"},
		{ID: sigUpdatedOK, Literal: "update completed for config"},
		{ID: sigDesiredOK, Literal: "in desired config"},
	}
}

// Daemon is what the machine-config-daemon of a node says. Counts are of lines
// since the daemon last was content; what is over is not counted.
type Daemon struct {
	BootstrapMode bool      `cel:"bootstrapMode"` // its first run is not finished: the host still has node-annotations.json
	Complaints    int64     `cel:"complaints"`    // times that it marked the node degraded
	Class         string    `cel:"class"`         // of the last complaint
	Complaint     string    `cel:"complaint"`     // the last one
	NoDiff        bool      `cel:"noDiff"`        // bootstrap's and the cluster's config differ in name only
	Override      bool      `cel:"override"`      // disk and annotation name two configs, disk counts
	Firstboot     bool      `cel:"firstbootFailed"`
	DrainWaiting  bool      `cel:"drainWaiting"` // it waits for the controller to drain the node
	KubeletDown   bool      `cel:"kubeletDown"`
	NoListers     bool      `cel:"noListers"` // the API cannot be reached from the node
	OSRetries     int64     `cel:"osRetries"`
	Since         time.Time `cel:"since"` // the first of these lines
	Last          time.Time `cel:"last"`
}

var daemonFact = facts.DefinePlain("mcd-log", fault.Host, "what the node's machine-config-daemon says",
	[]evidence.Need{evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, mcs.Namespace)}, readDaemon)

func readDaemon(ctx context.Context, w *facts.World, s fault.Subject) (Daemon, facts.Proof, error) {
	var d Daemon
	var p facts.Proof
	byNode, err := daemonLines(ctx, w)
	if err != nil {
		return d, p, err
	}
	lines, ok := byNode[s.Name]
	if !ok {
		return d, p, &evidence.Unavailable{Need: evidence.Texts(DaemonLogs), Why: evidence.NotCollected,
			Detail: "no line of the daemon on " + s.Name, Supply: fmt.Sprintf("oc logs -n %s -c machine-config-daemon POD of %s", mcs.Namespace, s.Name)}
	}
	unread, err := w.Unread(ctx, DaemonLogs)
	if err != nil {
		return d, p, err
	}
	for _, l := range lines { // what it said last decides
		if why, ok := unread[[2]string{l.Text.Namespace, l.Text.Pod}]; ok && !l.Text.Previous {
			return d, p, &evidence.Unavailable{Need: evidence.Texts(DaemonLogs), Why: evidence.Damaged, Detail: "the daemon's log was not read to its end: " + why,
				Supply: fmt.Sprintf("oc logs -n %s -c machine-config-daemon %s", mcs.Namespace, l.Text.Pod)}
		}
	}
	d.follow(lines, &p)
	return d, p, nil
}

type daemonLine struct {
	evidence.Match
	id string
}

// daemonLines returns the daemons' lines by node, oldest first. Which node a pod
// is on stands in the Pod.
func daemonLines(ctx context.Context, w *facts.World) (map[string][]daemonLine, error) {
	return facts.Memo(ctx, w, "pools.daemon-lines", func(ctx context.Context, w *facts.World) (map[string][]daemonLine, error) {
		pods, podsErr := w.List(ctx, evidence.Pods, mcs.Namespace)
		node := map[string]string{}
		for _, o := range pods {
			node[o.Name] = evidence.String(o.Content, "spec", "nodeName")
		}
		byNode := map[string][]daemonLine{}
		for _, s := range daemonSignatures() {
			list, err := w.Matches(ctx, DaemonLogs, s.ID)
			if err != nil {
				return nil, err
			}
			for _, m := range list {
				name := cmp.Or(node[m.Text.Pod], m.Text.Host)
				if name != "" {
					byNode[name] = append(byNode[name], daemonLine{m, s.ID})
				}
			}
		}
		if len(byNode) == 0 && podsErr != nil {
			return nil, podsErr
		}
		for _, lines := range byNode {
			slices.SortStableFunc(lines, func(a, b daemonLine) int {
				if a.Text.Path == b.Text.Path {
					return a.Line.Loc.Line - b.Line.Loc.Line
				}
				return cmp.Or(a.Line.Time.Compare(b.Line.Time), strings.Compare(a.Text.Path, b.Text.Path))
			})
		}
		return byNode, nil
	})
}

// follow plays the lines; what stands at the end counts.
func (d *Daemon) follow(lines []daemonLine, p *facts.Proof) {
	proof := map[string]evidence.Item{} // field -> last line that shows it
	clear := func(fields ...string) {
		for _, f := range fields {
			delete(proof, f)
		}
	}
	for _, l := range lines {
		item := evidence.Item{Locator: l.Line.Loc, Excerpt: firstLine(l.Line.Text), Time: l.Line.Time}
		switch l.id {
		case sigBootstrap:
			d.BootstrapMode, proof["bootstrapMode"] = true, item
		case sigBootstrapOK:
			d.BootstrapMode, d.NoDiff = false, false
			clear("bootstrapMode", "noDiff")
		case sigValidatedOK, sigDesiredOK, sigUpdatedOK:
			*d = Daemon{BootstrapMode: d.BootstrapMode, Firstboot: d.Firstboot && l.id == sigValidatedOK, DrainWaiting: d.DrainWaiting && l.id == sigValidatedOK}
			clear("complaints", "noDiff", "override", "kubeletDown", "noListers", "osRetries")
			if l.id != sigValidatedOK {
				clear("firstbootFailed", "drainWaiting")
			}
		default:
			d.note(l, proof, item)
		}
	}
	fields := make([]string, 0, len(proof))
	for f := range proof {
		fields = append(fields, f)
	}
	slices.Sort(fields)
	for _, f := range fields {
		item := proof[f]
		item.Fields = []string{f}
		if f == "complaints" {
			item.Fields = []string{"complaints", "class", "complaint"}
		}
		p.Items = append(p.Items, item)
	}
}

func (d *Daemon) note(l daemonLine, proof map[string]evidence.Item, item evidence.Item) {
	if t := l.Line.Time; !t.IsZero() {
		if d.Since.IsZero() {
			d.Since = t
		}
		d.Last = t
	}
	set := func(flag *bool, field string) { *flag, proof[field] = true, item }
	switch l.id {
	case sigDegraded, sigUnreconcile:
		d.Complaints++
		d.Complaint = firstLine(l.Groups[1])
		d.Class = string(ClassOf(l.Groups[1]))
		proof["complaints"] = item
	case sigNoDiff:
		set(&d.NoDiff, "noDiff")
	case sigOverride:
		set(&d.Override, "override")
	case sigFirstboot:
		set(&d.Firstboot, "firstbootFailed")
	case sigDrainWait:
		set(&d.DrainWaiting, "drainWaiting")
	case sigKubelet:
		set(&d.KubeletDown, "kubeletDown")
	case sigListers:
		set(&d.NoListers, "noListers")
	case sigRetryOS:
		d.OSRetries++
		proof["osRetries"] = item
	}
}
