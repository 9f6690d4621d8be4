package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// pools judge what is done to MachineConfigPools and MachineConfigs.
var pools = []Judgment{{
	ID: "delete-pool", Commands: "oc delete mcp", Matches: is("mcp", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.MachineConfigPools, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.MachineConfigPools, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		p := list[0]
		d := &decision{verdict: Unsafe, objects: refs(list), undo: "the operator creates master and worker again, with an empty status; a custom pool " +
			"only you do",
			lost: "its status, and what somebody has set in its spec", instead: []string{"rollcall diagnose"}}
		n := evidence.Int(p.Content, "status", "machineCount")
		if p.Name == "master" || p.Name == "worker" {
			d.why = fmt.Sprintf("pool %s has %d nodes. It is created again with an empty status: until it is filled the machine config server answers "+
				"HTTP 500 to new hosts", p.Name, n)
			return d, nil
		}
		d.why = fmt.Sprintf("its %d nodes fall back to pool worker, take its config and reboot", n)
		d.instead = []string{"take the label of the pool off its nodes first, one after the other"}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/server/cluster_server.go", Symbol: "GetConfig"}},
}, {
	ID: "delete-machineconfig", Commands: "oc delete mc", Matches: is("mc", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.MachineConfigPools, ""),
		evidence.Objects(evidence.Nodes, "")},
	Decide:  decideDeleteMC,
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/render/render_controller.go"}},
}, {
	ID: "pause-pool", Commands: "oc patch mcp with paused", Matches: func(c *shellcommand.Call) bool { return is("mcp", "patch")(c) && has(c, `paused`) },
	Reads:   []evidence.Need{evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.Nodes, "")},
	Decide:  decidePause,
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go", Symbol: "getAllCandidateMachines"}},
}, {
	ID: "max-unavailable", Commands: "oc patch mcp with maxUnavailable", Matches: func(c *shellcommand.Call) bool {
		return is("mcp", "patch")(c) &&
			has(c, `maxUnavailable`)
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.MachineConfigPools, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		d := &decision{verdict: Unsafe, objects: refs(list), undo: "set it back to 1"}
		one := has(c, `maxUnavailable"?\s*:\s*"?1"?\s*[,}]`)
		switch {
		case one:
			d.verdict, d.why = Safe, "one node at a time is the default"
		case list[0].Name == "master":
			d.why = "several control-plane nodes at once take down several etcd members"
		default:
			d.why = "several nodes are drained and rebooted at once: whether what runs there has room elsewhere is not known"
			d.verdict = Unknown
		}
		return d, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go", Symbol: "maxUnavailable"}},
}, {
	ID: "force-validation", Commands: "touch /run/machine-config-daemon-force", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "touch" && slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasSuffix(a, "machine-config-daemon-force") })
	},
	Reads: []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigs, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		n, err := l.hostNode(ctx, c)
		if err != nil {
			return nil, err
		}
		return l.force(ctx, n)
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/constants/constants.go", Symbol: "MachineConfigDaemonForceFile"}},
}}

func decideDeleteMC(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	list, err := l.picked(ctx, evidence.MachineConfigs, c, c.Args[1:])
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: Unsafe, objects: refs(list), undo: "apply it again from a copy",
		instead: []string{"oc adm prune renderedmachineconfigs (4.16 and later) deletes only what nothing uses"}}
	for _, o := range list {
		if !strings.HasPrefix(o.Name, "rendered-") {
			if slices.ContainsFunc([]string{"00-", "01-"}, func(p string) bool { return strings.HasPrefix(o.Name, p) }) ||
				o.Annotation(openshift.GeneratedByControllerAnnotation) != "" {
				d.verdict, d.why = Safe, o.Name+" is generated: its controller creates it again"
				continue
			}
			role, _ := o.Label(openshift.ConfigRoleLabel)
			d.verdict, d.why = Unsafe, o.Name+" is somebody's own: without it pool "+role+" gets a new config, and each of its nodes is drained and rebooted"
			return d, nil
		}
		by, item, err := l.usedBy(ctx, o.Name)
		if err != nil {
			return nil, err
		}
		if by != "" {
			d.verdict, d.why, d.evidence = Unsafe, o.Name+" is in use by "+by+": without it its nodes become Degraded", []evidence.Item{item}
			return d, nil
		}
		d.verdict, d.why = Safe, "no pool and no node refers to "+o.Name
	}
	return d, nil
}

// usedBy is a pool or node that refers to a rendered config, "" where none does.
func (l *look) usedBy(ctx context.Context, name string) (string, evidence.Item, error) {
	for _, r := range []evidence.Resource{evidence.MachineConfigPools, evidence.Nodes} {
		list, err := l.all(ctx, r, "")
		if err != nil {
			return "", evidence.Item{}, err
		}
		for _, o := range list {
			for _, f := range []struct{ field, value string }{
				{"spec.configuration.name", evidence.String(o.Content, "spec", "configuration", "name")},
				{"status.configuration.name", evidence.String(o.Content, "status", "configuration", "name")},
				{"metadata.annotations", o.Annotation(openshift.CurrentConfigAnnotation)},
				{"metadata.annotations", o.Annotation(openshift.DesiredConfigAnnotation)},
			} {
				if f.value == name {
					return refOf(o), o.Shows(f.field, name, l.d.Now), nil
				}
			}
		}
	}
	return "", evidence.Item{}, nil
}

func decidePause(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	list, err := l.picked(ctx, evidence.MachineConfigPools, c, c.Args[1:])
	if err != nil {
		return nil, err
	}
	p := list[0]
	paused := evidence.Field(p.Content, "spec", "paused") == true
	d := &decision{objects: refs(list), verify: []string{"oc get mcp " + p.Name}, evidence: []evidence.Item{p.Shows("spec.paused",
		fmt.Sprintf("paused: %t", paused), l.d.Now)}}
	if has(c, `paused"?\s*:\s*"?true`) {
		d.verdict, d.undo = Safe, "paused: false"
		d.why = "no further node begins; one that is in work goes on. An update of the cluster waits for this pool: take it back"
		return d, nil
	}
	d.undo = "paused: true stops the nodes that have not begun"
	if !paused {
		d.verdict, d.why = Safe, "pool "+p.Name+" is not paused: nothing changes"
		return d, nil
	}
	if status, message := condition(p, "NodeDegraded"); status == "True" {
		d.verdict, d.why = Unsafe, "pool "+p.Name+" is degraded, and all that has waited would start: "+evidence.Shorten(message, 150)
		d.instead = []string{"repair the node that is degraded first: rollcall diagnose mcp/" + p.Name}
		return d, nil
	}
	return l.unpause(ctx, p, d)
}

// unpause says what starts when a pool is not paused any more.
func (l *look) unpause(ctx context.Context, p *evidence.Object, d *decision) (*decision, error) {
	want := evidence.String(p.Content, "spec", "configuration", "name")
	have := evidence.String(p.Content, "status", "configuration", "name")
	if want == have && want != "" {
		d.verdict, d.why = Safe, "no new config waits: nothing is rebooted"
		return d, nil
	}
	nodes := evidence.Int(p.Content, "status", "machineCount") - evidence.Int(p.Content, "status", "updatedMachineCount")
	d.why = fmt.Sprintf("%d nodes of pool %s wait for %s: each is drained and mostly rebooted, one after the other", nodes, p.Name, want)
	if p.Name == "master" {
		s, hosted, err := l.etcd(ctx)
		if err != nil {
			return nil, err
		}
		if !hosted && s.healthy <= s.quorum {
			d.verdict, d.why, d.evidence = Unsafe, fmt.Sprintf("etcd has no member to spare (%d of %d healthy), and %s", s.healthy, s.members, d.why),
				s.evidence
			return d, nil
		}
	}
	d.verdict = Safe
	return d, nil
}

// force: the file makes the daemon skip its validation once.
func (l *look) force(ctx context.Context, n *evidence.Object) (*decision, error) {
	want, have := n.Annotation(openshift.DesiredConfigAnnotation), n.Annotation(openshift.CurrentConfigAnnotation)
	state, reason := n.Annotation(openshift.ConfigStateAnnotation), n.Annotation(openshift.ConfigReasonAnnotation)
	d := &decision{verdict: Unsafe, objects: []string{refOf(n)}, undo: "delete the file before the daemon reads it",
		lost:     "the one look at the disk before the next update; the node may reboot",
		evidence: []evidence.Item{n.Shows("metadata.annotations", "state "+state+": "+evidence.Shorten(reason, 120), l.d.Now)}}
	if state != "Degraded" {
		d.why = "there is nothing to force: the config of " + n.Name + " is " + state + ". The file stays, and the next update skips its look at the disk"
		return d, nil
	}
	for _, name := range []string{want, have} {
		_, err := l.one(ctx, evidence.MachineConfigs, "", name)
		if gone := (*notThere)(nil); asNotThere(err, &gone) {
			d.why = fmt.Sprintf("%s wants %s, which does not exist in the cluster: the file does not bring it", n.Name, name)
			d.instead = []string{"rollcall diagnose node/" + n.Name}
			return d, nil
		}
		if err != nil {
			return nil, err
		}
	}
	d.verdict, d.why = Person, n.Name+" is Degraded: the daemon writes the whole config over what is on the disk, and reboots. First find who changed "+
		"the file: "+evidence.Shorten(reason, 120)
	return d, nil
}
