package check

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// machines judge what is done to Machines and MachineSets.
var machines = []Judgment{{
	ID: "remove-finalizer", Commands: "oc patch machine|bmh with finalizers null", Matches: func(c *shellcommand.Call) bool {
		return (is("machine", "patch", "edit")(c) || is("bmh", "patch", "edit")(c)) && has(c, `finalizers`)
	},
	Final:   "without its finalizer the object goes at once, and drain and deprovisioning do not happen",
	Decide:  decideFinalizer,
	Sources: []fault.Ref{{Repo: "openshift/machine-api-operator", Path: "pkg/controller/machine/controller.go"}},
}, {
	ID: "delete-machine", Commands: "oc delete machine", Matches: is("machine", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.Machines, ""), evidence.Objects(evidence.MachineSets, "")},
	Final: "a Machine that is deleted takes its host with it: drained, deprovisioned, its disks are wiped",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.Machines, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		worst := &decision{verdict: Reads}
		for _, m := range list {
			d, err := l.deleteMachine(ctx, m)
			if err != nil {
				return d, err
			}
			if d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		worst.objects = refs(list)
		return worst, nil
	},
	Sources: []fault.Ref{
		{Repo: "openshift/machine-api-operator", Path: "pkg/controller/machine/drain_controller.go"},
		{Repo: "openshift/cluster-api-provider-baremetal", Path: "pkg/cloud/baremetal/actuators/machine/actuator.go", Symbol: "Delete"},
		{Repo: "openshift/cluster-etcd-operator", Path: "pkg/operator/clustermemberremovalcontroller/clustermemberremovalcontroller.go",
			Symbol: "attemptToScaleDown"},
	},
}, {
	ID: "scale-machineset", Commands: "oc scale machineset", Matches: is("machineset", "scale"),
	Reads:   []evidence.Need{evidence.Objects(evidence.MachineSets, ""), evidence.Objects(evidence.BareMetalHosts, "")},
	Decide:  decideScale,
	Sources: []fault.Ref{{Repo: "openshift/machine-api-operator", Path: "pkg/controller/machineset/delete_policy.go"}},
}}

func decideFinalizer(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	r, host := evidence.Machines, ""
	if is("bmh", "patch", "edit")(c) {
		r = evidence.BareMetalHosts
	}
	list, err := l.picked(ctx, r, c, c.Args[1:])
	if err != nil {
		return nil, err
	}
	o := list[0]
	if host = o.Name; r == evidence.Machines {
		host = nodeOfMachine(o)
		if host == "" {
			return nil, undecidedf("no host of %s is known", o.Name)
		}
	}
	on, item, err := l.poweredOn(ctx, host)
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: Unsafe, objects: refs(list), undo: "none: the object is gone",
		lost: "drain and deprovisioning; the host keeps its disks and its identity",
		instead: []string{"find why the deletion waits: a drain that is held, or a BMC that does not answer", "oc get machine,bmh -n " +
			openshift.MachineAPINamespace}}
	switch {
	case item.Locator.Path == "":
		return nil, undecidedf("whether host %s is off is not known", host)
	case on:
		d.why, d.evidence = "host "+host+" is switched on: it runs on with the identity of a node, and nothing manages it", []evidence.Item{item}
	default:
		d.verdict, d.why, d.evidence = Person, "host "+host+" is off: right only if it stays away, and its node is removed", []evidence.Item{item}
	}
	return d, nil
}

func nodeOfMachine(m *evidence.Object) string {
	return evidence.String(m.Content, "status", "nodeRef", "name")
}

// deleteMachine judges one Machine.
func (l *look) deleteMachine(ctx context.Context, m *evidence.Object) (*decision, error) {
	role, _ := m.Label(openshift.MachineRoleLabel)
	if role == "master" {
		return l.deleteMaster(ctx, m)
	}
	d := &decision{verdict: Unsafe, undo: "none: the host is installed again as a new node", lost: "what is on the disks of its host",
		instead: []string{"oc annotate machine " + m.Name + " -n " + m.Namespace + " machine.openshift.io/delete-machine=true, then scale its MachineSet down"},
		verify:  []string{"oc get machine,bmh -n " + m.Namespace}}
	if why, proof, err := l.updating(ctx); err != nil {
		return nil, err
	} else if why != "" {
		others, err := l.schedulable(ctx, nodeOfMachine(m))
		if err != nil {
			return nil, err
		}
		if d.evidence, d.why = proof, why; others == 0 {
			d.why += "; and no other worker is Ready and takes pods"
		}
		return d, nil
	}
	if why, proof := l.noBoot(ctx); why != "" {
		d.why, d.evidence = "its MachineSet makes a new Machine, and no new host can boot: "+why, proof
		d.instead = []string{"repair the machine config server first"}
		return d, nil
	}
	d.verdict = Person
	d.why = "its host is drained, then deprovisioned and switched off: its disks are wiped, where automatedCleaningMode is not disabled. Its MachineSet " +
		"takes any " +
		"available host for a new one"
	return d, nil
}

// noBoot is why no new host can fetch its config, "" where nothing shows that.
func (l *look) noBoot(ctx context.Context) (string, []evidence.Item) {
	if _, err := l.one(ctx, evidence.Secrets, openshift.MachineConfigNamespace, openshift.MCSCertificate); err != nil {
		if gone := (*notThere)(nil); asNotThere(err, &gone) && l.listed(ctx, evidence.Secrets, openshift.MachineConfigNamespace) {
			return "the Secret " + openshift.MCSCertificate + " is missing", []evidence.Item{evidence.Listed(evidence.Secrets, openshift.MachineConfigNamespace,
				"no Secret "+openshift.MCSCertificate)}
		}
	}
	return "", nil
}

// deleteMaster: the Machine waits until the operator of etcd has removed the member.
func (l *look) deleteMaster(ctx context.Context, m *evidence.Object) (*decision, error) {
	node := nodeOfMachine(m)
	s, hosted, err := l.etcd(ctx)
	if err != nil || hosted {
		return nil, err
	}
	d := &decision{verdict: Unsafe, evidence: s.evidence, undo: "none while it is being deleted",
		lost:    "the control-plane node; on bare metal nothing makes another one",
		instead: []string{"rollcall explain replace-control-plane-node"}, verify: []string{"oc get etcd cluster -o " +
			"jsonpath='{.status.conditions[?(@.type==\"EtcdMembersAvailable\")].message}'"}}
	if node == "" {
		d.verdict = Person
		d.why = m.Name + " has no node: its host has not joined and is no etcd member. It is deprovisioned, and on bare metal nothing makes another one"
		return d, nil
	}
	why, bad := s.without(node)
	if up, proof, err := l.updating(ctx); err != nil {
		return nil, err
	} else if up != "" && len(s.unhealthy) == 0 && !bad {
		d.why, d.evidence = up, proof
		return d, nil
	}
	unhealthy := false
	for _, u := range s.unhealthy {
		unhealthy = unhealthy || u == node
	}
	switch {
	case bad:
		d.why = why
	case unhealthy:
		d.verdict = Person
		d.why = fmt.Sprintf("%s is unhealthy and %d of %d members are healthy: its operator removes the member, then the Machine goes. Make a backup of "+
			"etcd first",
			node, s.healthy, s.members)
	default:
		d.why = fmt.Sprintf("all %d members are healthy: the operator of etcd keeps the member of %s, so the deletion waits without an end, and cannot "+
			"be taken back", s.members, node)
	}
	return d, nil
}

func decideScale(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	want, err := strconv.Atoi(c.Value("--replicas"))
	if err != nil {
		return nil, errOpen
	}
	list, err := l.picked(ctx, evidence.MachineSets, c, c.Args[1:])
	if err != nil {
		return nil, err
	}
	set := list[0]
	have := int(evidence.Int(set.Content, "spec", "replicas"))
	d := &decision{objects: refs(list), undo: fmt.Sprintf("oc scale machineset %s -n %s --replicas=%d", set.Name, set.Namespace, have),
		verify: []string{"oc get machineset,machine,bmh -n " + set.Namespace}}
	up, proof, err := l.updating(ctx)
	switch {
	case err != nil:
		return nil, err
	case set.Annotation("metal3.io/autoscale-to-hosts") != "":
		d.verdict, d.why = Safe, "metal3.io/autoscale-to-hosts sets the replicas of this MachineSet itself: the number is overwritten"
	case want == have:
		d.verdict, d.why = Safe, fmt.Sprintf("it has %d replicas already: nothing changes", have)
	case up != "":
		d.verdict, d.why, d.evidence = Unsafe, up, proof
	case want < have:
		d.verdict, d.why = Person, fmt.Sprintf("from %d to %d: %d hosts are drained and deprovisioned, and which ones is not chosen by you", have, want,
			have-want)
		d.lost, d.undo = "what is on their disks", "scaling up again installs hosts anew"
		d.instead = []string{"annotate the Machine that goes: oc annotate machine MACHINE -n " + set.Namespace + " machine.openshift.io/delete-machine=true"}
	default:
		return l.scaleUp(ctx, d, want-have)
	}
	return d, nil
}

// scaleUp looks whether there are hosts, and whether they can boot.
func (l *look) scaleUp(ctx context.Context, d *decision, more int) (*decision, error) {
	if why, proof := l.noBoot(ctx); why != "" {
		d.verdict, d.why, d.evidence = Unsafe, "no new host can boot: "+why, proof
		return d, nil
	}
	list, err := l.some(ctx, evidence.BareMetalHosts, "")
	if err != nil {
		return nil, err
	}
	free := 0
	for _, o := range list {
		state := evidence.String(o.Content, "status", "provisioning", "state")
		if (state == "available" || state == "ready") && evidence.Field(o.Content, "spec", "consumerRef") == nil && evidence.String(o.Content, "status",
			"errorMessage") == "" {
			free++
		}
	}
	if len(list) == 0 {
		return nil, undecidedf("%d more machines are wanted: whether their provider has them is not known", more)
	}
	d.verdict, d.why = Safe, fmt.Sprintf("%d hosts are wanted in addition, %d are available", more, free)
	if free < more {
		d.why += ": the other Machines wait with \"No available BareMetalHost found\" until there are some"
	}
	return d, nil
}
