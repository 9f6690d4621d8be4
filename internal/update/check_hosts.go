package update

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
)

// poolsCheck reads the MachineConfigPools.
//
// Sources: openshift/machine-config-operator pkg/controller/node/node_controller.go syncMachineConfigPool (a paused pool gets
// no config), getAllCandidateMachines (unavailable nodes count against maxUnavailable first), pkg/operator/status.go
// (a degraded pool is Upgradeable=False, 4.16 on).
var poolsCheck = Check{
	ID: "pools", Title: "MachineConfigPools that are degraded, paused or still rolling out", Holds: true, Look: lookPools,
	Faults: []string{"pool-in-bad-condition", "pool-paused", "pool-render-degraded", "pool-rollout", "pool-source-missing", "pool-stalled", "mcc-not-running",
		"mcc-stale", "mcs-pool-config-empty"},
	Hold: []string{"pool-rollout", "pool-in-bad-condition", "mcc-stale"},
	Sources: []fault.Ref{
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go", Symbol: "syncMachineConfigPool"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/operator/status.go"},
	},
}

func lookPools(ctx context.Context, l *look, r *Result) error {
	if l.external() {
		return excluded("a hosted cluster has none; its NodePools are in the management cluster: oc get nodepools -A")
	}
	list, err := l.some(ctx, r, evidence.MachineConfigPools, "")
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return excluded("this cluster has no MachineConfigPool")
	}
	if err != nil {
		return err
	}
	for i := range list {
		o := &list[i]
		if evidence.Int(o.Content, "status", "machineCount") == 0 {
			continue
		}
		updated := conditionOf(o, "Updated")
		if updated.status == "" {
			r.miss("", o.NotShown("status.conditions"))
			continue
		}
		if l.explained(fault.Pool, o.Name) {
			continue
		}
		f := Finding{Severity: fault.Error, Hosts: l.pool[o.Name], See: "oc get mcp " + o.Name}
		degraded := conditionOf(o, "Degraded")
		switch {
		case degraded.status == "True":
			f.Says, f.Do = "pool "+o.Name+" is "+said("Degraded", degraded), []string{l.diagnose(fault.Subject{Kind: fault.Pool, Name: o.Name})}
			f.Evidence = []evidence.Item{degraded.shows(o, "Degraded")}
		case evidence.Field(o.Content, "spec", "paused") == true:
			f.Severity, f.Says = fault.Warning, fmt.Sprintf("pool %s is paused: its %s keep the release that they have", o.Name,
				page.Count(int(evidence.Int(o.Content, "status", "machineCount")), "host", "hosts"))
			f.Do = []string{"ask who paused it; after the update of the control plane: " + l.Name + " explain unpause-pool"}
			f.Evidence = []evidence.Item{o.Shows("spec.paused", "paused: true", o.ReadAt)}
		case updated.status != "True":
			f.Says, f.Do = "pool "+o.Name+" is still rolling out a config", []string{"wait until it is updated: oc get mcp " + o.Name + " -w"}
			f.Evidence = []evidence.Item{updated.shows(o, "Updated")}
		default:
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	return nil
}

// nodesCheck: a node that is cordoned or not Ready counts as unavailable. A pool with as many of them as its
// maxUnavailable updates no other one.
//
// Sources: openshift/machine-config-operator pkg/controller/node/status.go checkNodeReady, getUnavailableMachines,
// node_controller.go getAllCandidateMachines; pkg/controller/drain/drain_controller.go (4.12 to 4.20).
var nodesCheck = Check{
	ID: "nodes", Title: "nodes that are cordoned or not Ready, or whose last drain or reboot failed", Holds: true, Look: lookNodes,
	Faults: []string{"drain-blocked", "drain-held", "host-in-bad-condition", "node-deleted", "node-lease-stale", "node-not-ready", "node-object-missing",
		"node-ready-stale", "node-reported-not-ready", "kubelets-silent-at-once", "network-plugin-not-ready", "ovnkube-node-not-running"},
	Hold: []string{"drain-held", "host-in-bad-condition", "node-ready-stale"},
	Sources: []fault.Ref{
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/status.go", Symbol: "checkNodeReady"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/node/node_controller.go", Symbol: "getAllCandidateMachines"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/controller/drain/drain_controller.go", Symbol: "drainNode"},
	},
}

func lookNodes(ctx context.Context, l *look, r *Result) error {
	list, err := l.some(ctx, r, evidence.Nodes, "")
	if err != nil {
		return err
	}
	for i := range list {
		n := &list[i]
		ready := conditionOf(n, "Ready")
		if ready.status == "" {
			r.miss("", n.NotShown("status.conditions"))
			continue
		}
		f := Finding{Severity: fault.Error, Hosts: []string{n.Name}, See: "oc get node " + n.Name}
		switch {
		case l.explained(fault.Host, n.Name), l.held[n.Name]:
			continue
		case ready.status != "True":
			f.Says, f.Do = "node "+n.Name+" is "+said("Ready", ready), []string{l.diagnose(fault.Subject{Kind: fault.Host, Name: n.Name})}
			f.Evidence = []evidence.Item{ready.shows(n, "Ready")}
		case evidence.Field(n.Content, "spec", "unschedulable") == true && rollingOut(n):
			continue // the pool says so
		case evidence.Field(n.Content, "spec", "unschedulable") == true:
			if err := l.cordoned(ctx, n, &f); err != nil {
				return err
			}
		default:
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	l.notDone(r)
	return nil
}

// rollingOut reports a Node that the machine-config-operator is bringing to another config: it cordons it
// before, and uncordons it at the end.
func rollingOut(n *evidence.Object) bool {
	return n.Annotation(openshift.CurrentConfigAnnotation) != n.Annotation(openshift.DesiredConfigAnnotation) ||
		n.Annotation(openshift.DesiredDrainAnnotation) != n.Annotation(openshift.LastDrainAnnotation)
}

// cordoned says what a cordoned node does to its pool.
func (l *look) cordoned(ctx context.Context, n *evidence.Object, f *Finding) error {
	f.Do = []string{"ask who cordoned it, then: oc adm uncordon " + n.Name}
	f.Evidence = []evidence.Item{n.Shows("spec.unschedulable", "unschedulable: true", n.ReadAt)}
	pool := l.poolOf[n.Name]
	f.Says = "node " + n.Name + " is cordoned, and counts as unavailable"
	served, err := factOf(pools.Facts(), "pool-served-config")
	if err != nil {
		return err
	}
	s := fault.Subject{Kind: fault.Pool, Name: pool}
	most, _, err := field[int64](ctx, l, served, s, "maxUnavailable")
	away, _, err2 := field[int64](ctx, l, served, s, "unavailableMachines")
	switch {
	case err != nil || err2 != nil: // what is not known is not taken for harmless
		return ctx.Err()
	case away < most:
		f.Severity = fault.Warning
		f.Says += fmt.Sprintf(": pool %s updates %d at a time, and has %d of these", pool, most, away)
	default:
		f.Says += fmt.Sprintf(": pool %s updates no other node (maxUnavailable %d)", pool, most)
	}
	return nil
}

// notDone names expected hosts that have not passed every stage and that nothing else is about.
func (l *look) notDone(r *Result) {
	told := func(host string) bool {
		return l.held[host] || l.explained(fault.Host, host) ||
			slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Contains(f.Hosts, host) })
	}
	open := map[fault.Stage][]string{}
	for i := range l.d.Hosts {
		h := &l.d.Hosts[i]
		if !h.Expected || !h.Named() || h.Done() || told(h.Name) || h.State == diagnosis.StageUnknown && h.Ready() {
			continue
		}
		if h.State == diagnosis.StageUnknown {
			open[h.Stage] = append(open[h.Stage], h.Name)
			continue
		}
		diagnose := l.diagnose(fault.Subject{Kind: fault.Host, Name: h.Name})
		r.Findings = append(r.Findings, Finding{Severity: fault.Error, Hosts: []string{h.Name}, Do: []string{diagnose}, See: diagnose,
			Says: fmt.Sprintf("host %s is not done: %s is %s", h.Name, h.Stage, h.State)})
	}
	for _, stage := range fault.Stages() {
		if names := open[stage]; len(names) > 0 {
			r.Missing = append(r.Missing, Missing{What: fmt.Sprintf("whether %s is passed is not known of %s", stage, few(names)),
				Supply: l.diagnose(fault.Subject{Kind: fault.Host, Name: names[0]}), Open: true, short: fmt.Sprintf("%s of %s", stage, few(names))})
		}
	}
}

func lookEtcd(ctx context.Context, l *look, r *Result) error {
	if l.external() {
		return excluded("etcd of a hosted cluster runs in the management cluster")
	}
	fact, cluster := etcd.Fact(), fault.Subject{Kind: fault.Cluster}
	ha, proof, err := field[bool](ctx, l, fact, cluster, "ha")
	switch {
	case errors.Is(err, facts.ErrNotApplicable):
		return excluded("etcd of this cluster runs elsewhere")
	case err != nil:
		return err
	case !ha:
		return excluded("the only member is on the only node: the API is away while it reboots")
	}
	fenced, _, err := field[bool](ctx, l, fact, cluster, "fenced")
	if err != nil {
		return err
	}
	var count [3]int
	for i, name := range []string{"available", "members", "quorum"} {
		if count[i], proof, err = field[int](ctx, l, fact, cluster, name); err != nil {
			return err
		}
	}
	if fenced || len(r.Findings) > 0 || count[0]-1 >= count[2] {
		return nil
	}
	r.Findings = append(r.Findings, Finding{Severity: fault.Error, Evidence: proof, Do: []string{l.diagnose(cluster)}, See: "oc get clusteroperator etcd",
		Says: fmt.Sprintf("etcd has no member to spare: %d of %d are healthy, and %d are needed", count[0], count[1], count[2])})
	return nil
}

func lookDisk(ctx context.Context, l *look, r *Result) error {
	list, err := l.some(ctx, r, evidence.Nodes, "")
	if err != nil {
		return err
	}
	for i := range list {
		n := &list[i]
		switch c := conditionOf(n, "DiskPressure"); {
		case c.status == "":
			r.miss("", n.NotShown("the condition DiskPressure"))
		case c.status != "False" && conditionOf(n, "Ready").status == "True":
			r.Findings = append(r.Findings, Finding{Severity: fault.Error, Hosts: []string{n.Name}, Says: "node " + n.Name + " is " + said("DiskPressure", c),
				Do: []string{"oc debug node/" + n.Name + " -- chroot /host df -h /var /sysroot /boot"}, See: "oc describe node " + n.Name,
				Evidence: []evidence.Item{c.shows(n, "DiskPressure")}})
		}
	}
	return nil
}

// bmcCheck: without its BMC a host that hangs while it reboots is not brought back by anybody. What metal3
// last saw is in the BareMetalHost; nothing is asked.
//
// Sources: metal3-io/baremetal-operator apis/metal3.io/v1alpha1/baremetalhost_types.go OperationalStatus, ErrorType;
// internal/controller/metal3.io/host_state_machine.go (detached hosts are not managed).
var bmcCheck = Check{
	ID: "bmc", Title: "hosts whose BMC does not answer metal3", Holds: true, Look: lookBMC,
	Faults: []string{"baremetal-hosts-frozen", "baremetal-operator-not-running", "bmc-address-wrong", "bmc-certificate-untrusted", "bmc-credentials-missing",
		"bmc-credentials-refused", "bmc-shared", "bmc-unreachable", "bmh-consumer-missing", "bmh-detached", "bmh-paused", "bmh-power-error",
		"bmh-power-mismatch", "bmh-readoption-failed", "bmh-registration-error", "bmh-switched-off"},
	Sources: []fault.Ref{
		{Repo: "metal3-io/baremetal-operator", Path: "apis/metal3.io/v1alpha1/baremetalhost_types.go", Symbol: "OperationalStatus"},
		{Repo: "openshift/baremetal-operator", Path: "controllers/metal3.io/host_state_machine.go"},
	},
}

func lookBMC(ctx context.Context, l *look, r *Result) error {
	if l.external() {
		return excluded("a hosted cluster has no BareMetalHosts")
	}
	list, err := l.some(ctx, r, evidence.BareMetalHosts, machineAPI)
	if u, ok := evidence.AsUnavailable(err); ok && (u.Why == evidence.NotServed || u.Why == evidence.NotCollected && l.d.Cluster.Platform != "" &&
		l.d.Cluster.Platform != "BareMetal") {
		return excluded("there are no BareMetalHosts")
	}
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return excluded("there are no BareMetalHosts")
	}
	for i := range list {
		o := &list[i]
		status, kind := evidence.String(o.Content, "status", "operationalStatus"), evidence.String(o.Content, "status", "errorType")
		name := hostOf(l, o)
		if l.explained(fault.Host, name) || evidence.String(o.Content, "spec", "bmc", "address") == "" {
			continue
		}
		f := Finding{Severity: fault.Warning, Hosts: []string{name}, Do: []string{l.diagnose(fault.Subject{Kind: fault.Host, Name: name})},
			See: "oc -n " + machineAPI + " get bmh " + o.Name}
		switch {
		case status == "":
			r.miss("", o.NotShown("status.operationalStatus"))
			continue
		case status == "error" || kind != "":
			f.Says = fmt.Sprintf("BareMetalHost %s reports %s: if the host hangs, nobody can switch it", o.Name, strings.TrimSpace(kind+" "+
				evidence.Shorten(evidence.String(o.Content, "status", "errorMessage"), 120)))
		case status == "detached":
			f.Says = "BareMetalHost " + o.Name + " is detached: metal3 does not switch the host if it hangs"
		default:
			continue
		}
		f.Evidence = []evidence.Item{o.Shows("status.operationalStatus", "operationalStatus: "+status, o.ReadAt)}
		r.Findings = append(r.Findings, f)
	}
	return nil
}

// hostOf is the host that a BareMetalHost is: the one of its name, else of its consumer's Node.
func hostOf(l *look, o *evidence.Object) string {
	for i := range l.d.Hosts {
		if h := l.d.Hosts[i].Name; h == o.Name || strings.HasPrefix(h, o.Name+".") {
			return h
		}
	}
	return o.Name
}

// lookUserData says where user-data was not read: it is in Secrets, and they are read on request.
func lookUserData(ctx context.Context, l *look, r *Result) error {
	if l.external() {
		return excluded("a hosted cluster has no MachineSets")
	}
	sets, err := l.some(ctx, r, evidence.MachineSets, openshift.MachineAPINamespace)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed || err == nil && len(sets) == 0 {
		return excluded("no MachineSet makes new hosts")
	}
	if err != nil {
		return err
	}
	_, err = l.some(ctx, r, evidence.Secrets, openshift.MachineAPINamespace)
	return err
}

// lookRest adds what the diagnosis itself leaves open.
func lookRest(_ context.Context, l *look, r *Result) error {
	v := l.d.Verdict
	switch v.Class {
	case diagnosis.Settling:
		if l.holds {
			return nil // what settles is named
		}
		r.Findings = append(r.Findings, Finding{Severity: fault.Error, Says: "the cluster is still settling: " + v.Reason, See: l.diagnose(fault.Subject{}),
			Do: []string{"wait until " + page.Clock(v.Until)}})
	case diagnosis.Undetermined, diagnosis.CannotCheck:
		if v.Reason != "" {
			r.Missing = append(r.Missing, Missing{What: "the diagnosis leaves open: " + v.Reason, Supply: l.diagnose(fault.Subject{}), Open: true})
		}
	}
	return nil
}
