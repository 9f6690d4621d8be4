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

// labels judge changes of labels and annotations that decide where something runs.
var labels = []Judgment{{
	ID: "node-role", Commands: "oc label node with node-role.kubernetes.io/…", Matches: func(c *shellcommand.Call) bool {
		return is("node", "label")(c) && strings.Contains(c.Text, openshift.NodeRolePrefix)
	},
	Reads:  []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigPools, "")},
	Decide: decideRole,
	Sources: []fault.Ref{
		{Repo: "openshift/library-go", Path: "pkg/operator/staticpod/controller/node/node_controller.go", Symbol: "NodeController"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go"},
	},
}, {
	ID: "label-node", Commands: "oc label node", Matches: is("node", "label"),
	Reads:  []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigPools, "")},
	Decide: decideLabel,
	Sources: []fault.Ref{
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go"},
		{Repo: "kubernetes/website", Path: "content/en/docs/concepts/scheduling-eviction/assign-pod-node.md"},
	},
}, {
	ID: "annotate-machineconfig", Commands: "oc annotate mc", Matches: is("mc", "annotate"),
	Reads: []evidence.Need{evidence.Objects(evidence.MachineConfigs, "")},
	Decide: func(_ context.Context, _ *look, c *shellcommand.Call) (*decision, error) {
		if has(c, `machineconfiguration\.openshift\.io/`) {
			return &decision{verdict: Unsafe, why: "the controllers decide by these annotations who made a config and for which version: with another value " +
				"a pool stops rendering, or renders a config that it should not", undo: "set the old value again: oc get mc NAME -o yaml shows it now",
				instead: []string{"rollcall explain annotate-machineconfig"}}, nil
		}
		return &decision{verdict: Safe, why: "it is pointless: the name of a rendered config is a hash of its spec, and an annotation is not in it. " +
			"Nothing is rendered, served or rolled out, and the cause stays", lost: "nothing", undo: "the same with a - behind the key",
			instead: []string{"rollcall explain annotate-machineconfig"}}, nil
	},
	Sources: []fault.Ref{{Repo: "openshift/machine-config-operator", Path: "pkg/controller/render/hash.go", Symbol: "getMachineConfigHashedName"}},
}}

// roleChange is one role that a command gives to a node or takes away.
type roleChange struct {
	role string
	off  bool
}

func roleChanges(c *shellcommand.Call) (list []roleChange) {
	for _, a := range c.Args {
		if rest, ok := strings.CutPrefix(a, openshift.NodeRolePrefix); ok {
			name, off := strings.CutSuffix(rest, "-")
			name, _, _ = strings.Cut(name, "=")
			list = append(list, roleChange{name, off})
		}
	}
	return list
}

func decideRole(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	changes := roleChanges(c)
	if len(changes) == 0 {
		return nil, errOpen
	}
	bare := &shellcommand.Call{Program: c.Program, Args: taintNodes(c), Flags: c.Flags, Open: c.Open, Of: c.Of}
	return eachNode(ctx, l, bare, func(ctx context.Context, n *evidence.Object) (*decision, error) {
		worst := &decision{verdict: Reads}
		for _, change := range changes {
			d, err := l.changeRole(ctx, n, change)
			if err != nil {
				return nil, err
			}
			if d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		return worst, nil
	})
}

// changeRole judges one role of one node: operators and pools pick their nodes by it.
func (l *look) changeRole(ctx context.Context, n *evidence.Object, change roleChange) (*decision, error) {
	key := openshift.NodeRolePrefix + change.role
	_, has := n.Label(key)
	d := &decision{verdict: Unsafe, objects: []string{refOf(n)}, undo: "oc label node " + n.Name + " " + key + "=",
		verify: []string{"oc get node " + n.Name + " --show-labels", "oc get mcp"}}
	if !change.off {
		d.undo = "oc label node " + n.Name + " " + key + "-"
	}
	plane := slices.Contains([]string{"master", "control-plane"}, change.role)
	switch {
	case has != change.off:
		d.verdict, d.why, d.undo = Safe, "the label is as the command wants it: nothing changes", "none needed"
		return d, nil
	case plane && change.off:
		return l.leavePlane(ctx, n, d)
	case plane:
		d.why = n.Name + " becomes a control-plane node: the operators start etcd, the API server and their guards on it, and it moves to pool master, " +
			"which drains and reboots it"
		d.lost = "its place in its present pool"
		return d, nil
	}
	pool, err := l.poolBy(ctx, key)
	if err != nil {
		return nil, err
	}
	if pool == "" {
		return nil, undecidedf("no pool picks its nodes by %s; which pods do is not known", key)
	}
	if change.role == "worker" && change.off && !control(n) {
		d.why = fmt.Sprintf("%s leaves pool worker: it gets no config and no update any more, and pods that need a worker, such as routers, do not come to it",
			n.Name)
		return d, nil
	}
	d.why = fmt.Sprintf("%s changes its pool: the machine-config-operator drains it, writes the other config and mostly reboots it", n.Name)
	d.instead = []string{"oc get mcp: the pools and their nodes; do one node at a time"}
	return d, nil
}

// poolBy is a pool that picks its nodes by a label, "" where none does.
func (l *look) poolBy(ctx context.Context, key string) (string, error) {
	list, err := l.all(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return "", err
	}
	for _, p := range list {
		equal, _ := evidence.Field(p.Content, "spec", "nodeSelector", "matchLabels").(map[string]any)
		if _, ok := equal[key]; ok {
			return p.Name, nil
		}
		terms, _ := evidence.Field(p.Content, "spec", "nodeSelector", "matchExpressions").([]any)
		for _, t := range terms {
			if m, _ := t.(map[string]any); m["key"] == key {
				return p.Name, nil
			}
		}
	}
	return "", nil
}

// decideLabel judges labels that are no roles. A pod that runs stays when a label of its node changes; pods
// of a DaemonSet that asks for the label do not.
func decideLabel(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	var keys []string
	removed := false
	var words []string
	for _, a := range c.Args[1:] {
		key, off := strings.CutSuffix(a, "-")
		if name, _, set := strings.Cut(a, "="); set {
			key, off = name, false
		} else if !off || len(words) == 0 || singular(key) == "node" {
			words = append(words, a)
			continue
		}
		keys, removed = append(keys, key), removed || off
	}
	list, err := l.picked(ctx, evidence.Nodes, c, words)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errOpen
	}
	d := &decision{verdict: Safe, objects: refs(list), lost: "nothing", verify: []string{"oc get node " + list[0].Name + " --show-labels"},
		undo: "oc label node " + list[0].Name + " " + strings.Join(keys, "- ") + "-"}
	changed := removed
	for _, key := range keys {
		pool, err := l.poolBy(ctx, key)
		if err != nil {
			return nil, err
		}
		if pool != "" {
			d.verdict = Unsafe
			d.why = "pool " + pool + " picks its nodes by " + key + ": a node that changes its pool is drained, gets another config and mostly reboots"
			d.instead = []string{"oc get mcp: the pools and their nodes; do one node at a time"}
			return d, nil
		}
		changed = changed || slices.ContainsFunc(list, func(n *evidence.Object) bool { _, has := n.Label(key); return has })
	}
	if changed {
		return nil, undecidedf("no pool picks its nodes by %s; which DaemonSets and volumes ask for its old value is not known", strings.Join(keys, ", "))
	}
	d.why = "no pool picks its nodes by " + strings.Join(keys, ", ") + ", and pods that run stay. Pods that ask for the label can come"
	return d, nil
}

// leavePlane: the static pods run on without an operator that counts them.
func (l *look) leavePlane(ctx context.Context, n *evidence.Object, d *decision) (*decision, error) {
	d.why = fmt.Sprintf("%s is no control-plane node any more for the operators: they take it out of etcd's and the API server's nodes, its static pods "+
		"run on without updates or new certificates, and it leaves pool master", n.Name)
	d.lost = "the record of the node in the operators of the static pods"
	d.instead = []string{"rollcall explain replace-control-plane-node"}
	s, hosted, err := l.etcd(ctx)
	if err != nil {
		return nil, err
	}
	if !hosted {
		d.evidence = s.evidence
		if spare := s.spare(); spare != "" && s.members > 1 {
			d.why += ". And " + spare
		}
	}
	return d, nil
}

// setConfig judges an annotation of the machine-config-daemon that somebody sets.
func (l *look) setConfig(ctx context.Context, c *shellcommand.Call) (*decision, error) {
	d := &decision{verdict: Unsafe, instead: []string{"rollcall explain patch-annotations-blindly"}, lost: "the daemon's knowledge of what is on the disk",
		undo: "set the old value again, before the daemon acts on it: oc get node NODE -o yaml shows it now",
		why:  "it tells the machine-config-daemon something that may not be so: it then trusts a config that is not on the disk"}
	name := configName.FindString(c.Text)
	if name == "" {
		return d, nil
	}
	_, err := l.one(ctx, evidence.MachineConfigs, "", name)
	switch gone := (*notThere)(nil); {
	case asNotThere(err, &gone) && l.listed(ctx, evidence.MachineConfigs, ""):
		d.why = name + " does not exist in the cluster: the daemon cannot read it, and the node becomes or stays Degraded"
		d.evidence = []evidence.Item{evidence.Listed(evidence.MachineConfigs, "", "no MachineConfig "+name)}
	case err == nil && strings.Contains(c.Text, openshift.DesiredConfigAnnotation):
		d.why = "the daemon then moves the node to " + name + " past its pool: it is drained and mostly rebooted, without maxUnavailable and without a look " +
			"at the other nodes"
	}
	return d, nil
}
