package check

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func ago(d time.Duration) string { return d.Round(time.Minute).String() }

var nodeReads = []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.Machines, ""), evidence.Objects(evidence.BareMetalHosts, ""),
	evidence.Objects(evidence.MachineHealthChecks, "")}

// nodes judge what is done to Node objects.
var nodes = []Judgment{{
	ID: "delete-node", Commands: "oc delete node", Matches: is("node", "delete"), Reads: nodeReads,
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		return eachNode(ctx, l, c, l.deleteNode)
	},
	Sources: []fault.Ref{
		{Repo: "kubernetes/kubernetes", Path: "pkg/kubelet/kubelet_node_status.go", Symbol: "registerWithAPIServer"},
		{Repo: "openshift/machine-api-operator", Path: "pkg/controller/machinehealthcheck/machinehealthcheck_controller.go", Symbol: "needsRemediation"},
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/clustermemberremovalcontroller/clustermemberremovalcontroller.go"},
	},
}, {
	ID: "cordon", Commands: "oc adm cordon", Matches: func(c *shellcommand.Call) bool { return nodeVerb(c, "cordon") },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		return eachNode(ctx, l, c, func(ctx context.Context, n *evidence.Object) (*decision, error) {
			others, err := l.schedulable(ctx, n.Name)
			if err != nil {
				return nil, err
			}
			d := &decision{verdict: Safe, why: "no pod is stopped, and oc adm uncordon takes it back", undo: "oc adm uncordon " + n.Name, lost: "nothing",
				verify: []string{"oc get node " + n.Name}}
			if others == 0 {
				d.verdict, d.why = Unsafe, "no other node of its role is Ready and takes pods: new pods wait from now on"
			}
			return d, nil
		})
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/drain/drain_controller.go"}},
}, {
	ID: "uncordon", Commands: "oc adm uncordon", Matches: func(c *shellcommand.Call) bool { return nodeVerb(c, "uncordon") },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		return eachNode(ctx, l, c, func(_ context.Context, n *evidence.Object) (*decision, error) {
			state := n.Annotation(openshift.ConfigStateAnnotation)
			if state == "Working" || state == "Rebooting" {
				return &decision{verdict: Unsafe, why: n.Name + " is being updated: its controller cordons it again, and from 4.18 on its update waits",
					instead: []string{"wait until the update of the node ends: oc get node " + n.Name + " -w"}}, nil
			}
			return &decision{verdict: Safe, why: "pods may be scheduled to " + n.Name + " again", undo: "oc adm cordon " + n.Name}, nil
		})
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/drain/drain_controller.go"}},
}, {
	ID: "taint-node", Commands: "oc adm taint node", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "oc" && (c.Is("oc", "adm", "taint") || c.Is("oc", "taint"))
	},
	Decide:  decideTaint,
	Sources: []fault.Ref{{Repo: "kubernetes/website", Path: "content/en/docs/concepts/scheduling-eviction/taint-and-toleration.md"}},
}, {
	ID: "machine-config-annotations", Commands: "oc annotate|patch node with currentConfig or desiredConfig", Matches: func(c *shellcommand.Call) bool {
		return is("node", "annotate", "patch")(c) && has(c, `machineconfiguration\.openshift\.io/|currentConfig|desiredConfig`)
	},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		return l.setConfig(ctx, c)
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/daemon.go"}},
}}

// nodeVerb reports whether a call is of oc adm VERB, or of kubectl VERB.
func nodeVerb(c *shellcommand.Call, verb string) bool {
	return c.Is("oc", "adm", verb) || c.Is("oc", verb)
}

// nodeArgs are the names of nodes of oc adm cordon and its kind.
func nodeArgs(c *shellcommand.Call) []string {
	args := c.Args[1:]
	if c.Args[0] == "adm" {
		args = c.Args[2:]
	}
	if len(args) > 0 && singular(args[0]) == "node" {
		args = args[1:]
	}
	return append([]string{"node"}, args...)
}

// eachNode judges a call for each node that it is about; the worst counts.
func eachNode(ctx context.Context, l *look, c *shellcommand.Call, judge func(context.Context, *evidence.Object) (*decision, error)) (*decision, error) {
	args := nodeArgs(c)
	if c.Args[0] == "delete" {
		args = c.Args[1:]
	}
	list, err := l.picked(ctx, evidence.Nodes, c, args)
	if err != nil {
		return nil, err
	}
	worst := &decision{verdict: Reads}
	for _, n := range list {
		d, err := judge(ctx, n)
		if err != nil {
			return d, err
		}
		if d.verdict.rank() > worst.verdict.rank() {
			worst = d
		}
	}
	worst.objects = refs(list)
	return worst, nil
}

// schedulable counts other nodes that take the pods of one: Ready, not cordoned, of the control plane
// or not as it is, and none of those that take no pods any more either.
func (l *look) schedulable(ctx context.Context, but string, away ...*evidence.Object) (int, error) {
	list, err := l.all(ctx, evidence.Nodes, "")
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(list, func(n *evidence.Object) bool { return n.Name == but })
	n := 0
	for _, o := range list {
		gone := slices.ContainsFunc(away, func(a *evidence.Object) bool { return a.Name == o.Name })
		if o.Name != but && !gone && ready(o) && !cordoned(o) && (i < 0 || control(o) == control(list[i])) {
			n++
		}
	}
	return n, nil
}

// deleteNode judges the deletion of one Node.
func (l *look) deleteNode(ctx context.Context, n *evidence.Object) (*decision, error) {
	lost := "labels, taints and the annotations of the machine-config-daemon; its pods are deleted without a drain"
	silent, item, err := l.silence(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: Unsafe, lost: lost, evidence: []evidence.Item{item}, undo: "restart the kubelet on the host: it writes the Node again, " +
		"without what is lost",
		verify: []string{"oc get nodes"}}
	if l.watched(ctx, n) {
		d.lost += "; a MachineHealthCheck takes the missing Node as unhealthy at once, and restarts or deletes its Machine"
	}
	if silent == 0 {
		d.why = "its kubelet runs (lease renewed): the Node comes back only when that is restarted"
		d.instead = []string{"oc adm cordon " + n.Name, "oc adm drain " + n.Name + " --ignore-daemonsets, then delete its Machine"}
		if control(n) { // a drain stops its etcd member, too
			d.instead = []string{"rollcall diagnose node/" + n.Name, "rollcall explain replace-control-plane-node"}
			if why, bad, proof, err := l.oneAway(ctx, n.Name); err == nil && bad {
				d.why, d.evidence = why+". And "+d.why, append(d.evidence, proof...)
			}
		}
		return d, nil
	}
	if control(n) {
		s, hosted, err := l.etcd(ctx)
		if err != nil {
			return nil, err
		}
		if !hosted {
			d.evidence = append(d.evidence, s.evidence...)
			d.why = fmt.Sprintf("the etcd member of %s stays and counts for the quorum (%d of %d healthy); remove the member first, the Node last",
				n.Name, s.healthy, s.members)
			d.instead = []string{"rollcall explain replace-control-plane-node"}
			return d, nil
		}
	}
	on, bmh, err := l.poweredOn(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	if on {
		d.why = fmt.Sprintf("%s has not reported for %s, but its host is switched on: find why its kubelet is silent", n.Name, ago(silent))
		d.evidence = append(d.evidence, bmh)
		d.instead = []string{"rollcall diagnose node/" + n.Name, "rollcall csr list --node " + n.Name}
		return d, nil
	}
	if bmh.Locator.Path == "" {
		return nil, undecidedf("%s has not reported for %s; whether its host is off is not known", n.Name, ago(silent))
	}
	d.verdict, d.why = Person, fmt.Sprintf("%s is off and has not reported for %s: right only if it stays away", n.Name, ago(silent))
	return d, nil
}

// watched reports whether a MachineHealthCheck may look at the Machine of a node.
func (l *look) watched(ctx context.Context, n *evidence.Object) bool {
	list, err := l.read(ctx, evidence.MachineHealthChecks, "")
	return err == nil && len(list) > 0 && n.Annotation(openshift.MachineOnNodeAnnotation) != ""
}

func decideTaint(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	return eachNode(ctx, l, &shellcommand.Call{Program: c.Program, Args: taintNodes(c), Flags: c.Flags, Open: c.Open, Of: c.Of},
		func(ctx context.Context, n *evidence.Object) (*decision, error) {
			undo := "the same with a - behind the taint takes it away"
			switch {
			case has(c, `out-of-service`):
				on, item, err := l.poweredOn(ctx, n.Name)
				switch {
				case err != nil:
					return nil, err
				case on:
					return &decision{verdict: Unsafe, why: n.Name + " is switched on: its volumes are released while its containers may still write to them",
						lost: "data, if two write to the same volume", evidence: []evidence.Item{item}, undo: undo}, nil
				case item.Locator.Path == "":
					return nil, undecidedf("whether the host of %s is off is not known", n.Name)
				}
				return &decision{verdict: Safe, why: n.Name + " is off: its pods and volumes are released", undo: undo, evidence: []evidence.Item{item}}, nil
			case has(c, `:NoExecute(\s|$)`):
				return &decision{
					verdict: Unsafe, why: "NoExecute evicts every pod that does not tolerate it, without a look at PodDisruptionBudgets", undo: undo,
					instead: []string{"oc adm drain " + n.Name + " --ignore-daemonsets asks the PodDisruptionBudgets"}}, nil
			}
			others, err := l.schedulable(ctx, n.Name)
			if err != nil {
				return nil, err
			}
			if others == 0 && !has(c, `-(\s|$)`) {
				return &decision{verdict: Unsafe, why: "no other node of its role is Ready and takes pods: new pods wait from now on", undo: undo}, nil
			}
			return &decision{verdict: Safe, why: "no pod is stopped, and the taint can be taken away", undo: undo}, nil
		})
}

// taintNodes are the words of a taint command up to the taints.
func taintNodes(c *shellcommand.Call) []string {
	var out []string
	for _, a := range c.Args {
		if !matches(a, `[:=]|-$`) {
			out = append(out, a)
		}
	}
	return out
}
