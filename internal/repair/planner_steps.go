package repair

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// adopt plans the step that gives the machine config server something to serve.
func (b *building) adopt(ctx context.Context) error {
	while := b.remedies["adopt-spec-config"]
	if len(while) == 0 {
		return nil
	}
	pool, err := b.API.Get(ctx, poolRef(b.poolName))
	if err != nil {
		return fmt.Errorf("read pool %s: %w", b.poolName, err)
	}
	config := stringAt(pool, "spec", "configuration", "name")
	if config == "" {
		return fmt.Errorf("pool %s has no spec.configuration: it was never rendered, and there is nothing to adopt", b.poolName)
	}
	status, _ := fieldAt(pool, statusSource)
	if spec, _ := fieldAt(pool, specSource); stringAt(pool, "status", "configuration", "name") == config && reflect.DeepEqual(spec, status) {
		b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("pool %s serves %s already", b.poolName, config))
		return nil
	}
	rd, err := reading(poolRef(b.poolName), pool, specName, specSource, statusName, statusSource, "/status/updatedMachineCount")
	if err != nil {
		return err
	}
	s := Step{
		Action: AdoptSpecConfig, Subject: "pool/" + b.poolName, Args: Args{Pool: b.poolName, Config: config},
		Title:    fmt.Sprintf("fill status.configuration of pool %s from its spec (%s), name and source", b.poolName, config),
		Risk:     RiskReversible,
		RiskText: "the next host that asks is given this config; no machine that runs is touched",
		Proof:    ProvedInLab,
		OC: fmt.Sprintf(`oc patch mcp %[1]s --subresource=status --type=merge -p "{\"status\":{\"configuration\":$(oc get mcp %[1]s -o jsonpath='{.spec.configuration}')}}"`,
			b.poolName),
		Preconditions: []Guard{{Guard: PoolNotPaused, Subject: b.poolName}, {Guard: RenderExists, Subject: config}},
		Reads:         []Reading{rd}, PreImage: "status.configuration of the pool",
		Inverse: "write status.configuration back as it was, until a host has fetched the config or a machine is updated",
		While:   while, Deadline: minutes(2),
		Expect: Expect{Text: "status.configuration.name stays " + config},
	}
	if b.members > 0 {
		s.Preconditions = append(s.Preconditions, Guard{Guard: EtcdQuorum})
	}
	b.adopted = b.add(s)
	return nil
}

// join plans the approval and the wait for every host of the pool that is not a
// Node yet and that a person named.
func (b *building) join(ctx context.Context) error {
	waiting := b.toJoin()
	for _, h := range waiting {
		e, named := b.expectation(h.Name)
		if !named {
			b.open("the certificate requests of %s are not in this plan: name it with --expect %s=IP (a name in a request is only a claim)", h.Name, h.Name)
			continue
		}
		if err := b.joinOne(ctx, h, e); err != nil {
			return err
		}
	}
	for _, e := range b.ask.Expect {
		if !slices.ContainsFunc(waiting, func(h fault.HostState) bool { return hosts.SameName(h.Name, e.Name) }) {
			b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("%s was named with --expect and is not one of the hosts of pool %s that are still to join", e.Name, b.poolName))
		}
	}
	return nil
}

func (b *building) expectation(name string) (csr.Expectation, bool) {
	i := slices.IndexFunc(b.ask.Expect, func(e csr.Expectation) bool { return hosts.SameName(e.Name, name) })
	if i < 0 {
		return csr.Expectation{}, false
	}
	return b.ask.Expect[i], true
}

func (b *building) joinOne(ctx context.Context, h fault.HostState, e csr.Expectation) error {
	h.Name = e.Name // the Node's name, as the person spells it: a BareMetalHost's may be shorter
	_, err := b.API.Get(ctx, nodeRef(h.Name))
	if err == nil {
		b.plan.Notes = append(b.plan.Notes, "Node "+h.Name+" is registered already")
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("read Node %s: %w", h.Name, err)
	}
	absent, err := reading(nodeRef(h.Name), nil)
	if err != nil {
		return err
	}
	args := Args{Host: h.Name, Role: h.Role, IPs: e.IPs, After: b.adopted}
	if args.After == "" {
		if !b.bootEvidence(h, &args) {
			b.open("the requests of %s are not in this plan: it is not known when it booted; approve them with `rollcall csr approve %s --booted-after TIME`", h.Name, h.Name)
			return nil
		}
	}
	if len(e.IPs) == 0 {
		b.open("the serving request of %s is not in this plan: its addresses are not declared (--expect %s=IP)", h.Name, h.Name)
	}
	b.add(b.approval(h.Name, "client", args, []Reading{absent}))
	b.add(Step{Action: WaitNode, Subject: "host/" + h.Name, Args: Args{Host: h.Name}, Title: "wait until Node " + h.Name + " is registered and Ready",
		Risk: RiskNone, Proof: ProvedInLab, OC: fmt.Sprintf("oc wait --for=condition=Ready node/%s --timeout=30m", h.Name),
		Inverse: "nothing is changed", Expect: Expect{Text: "Node " + h.Name + " is Ready"}, Deadline: minutes(30)})
	if len(e.IPs) > 0 {
		b.add(b.approval(h.Name, "serving", args, nil))
	}
	return nil
}

// bootEvidence takes the time at which the host fetched its config, where the
// diagnosis knows it.
func (b *building) bootEvidence(h fault.HostState, args *Args) bool {
	for _, st := range h.Stages {
		if st.Stage == fault.IgnitionFetched && st.State == fault.StagePassed && !st.At.IsZero() {
			args.NotBefore, args.Boot = st.At, "it fetched its config at "+st.At.UTC().Format("2006-01-02T15:04:05Z")
			return true
		}
	}
	return false
}

func (b *building) approval(host, kind string, args Args, reads []Reading) Step {
	args.Signer = kind
	s := Step{
		Action: ApproveCSR, Subject: "host/" + host, Args: args, Reads: reads,
		Title:    fmt.Sprintf("approve exactly the %s request of %s, by its UID, when it has come", kind, host),
		Risk:     RiskNone,
		RiskText: "the host gets the identity of a node; " + csr.NotProvenYet,
		Proof:    ProvedInLab,
		OC:       fmt.Sprintf("oc get csr; oc describe csr NAME; oc adm certificate approve NAME   # the newest pending %s request of %s, after you have checked it", kind, host),
		Inverse:  "none: an approval cannot be withdrawn; the certificate ends by itself (30 days at most)",
		PreImage: "none: the request was pending",
		Expect:   Expect{Text: "the certificate is issued"}, Deadline: minutes(30),
	}
	if b.members > 0 {
		s.Preconditions = []Guard{{Guard: EtcdQuorum}}
	}
	return s
}

// quorum stands before everything that may take a control-plane node down.
func (b *building) quorum(context.Context) error {
	if b.members == 0 || !b.restarts() {
		return nil
	}
	b.add(Step{Action: WaitEtcd, Subject: "operator/etcd", Args: Args{Members: b.members},
		Title: fmt.Sprintf("wait until etcd has %d members, all healthy; before that no other master is touched", b.members),
		Risk:  RiskNone, Proof: ProvedInLab,
		OC:      `oc get etcd cluster -o jsonpath='{.status.conditions[?(@.type=="EtcdMembersAvailable")].message}'`,
		Inverse: "nothing is changed", Expect: Expect{Text: fmt.Sprintf("%d members are available", b.members)}, Deadline: minutes(45)})
	return nil
}

// pool waits for the end state, where the plan is whole.
func (b *building) pool(context.Context) error {
	if !b.changes || len(b.plan.Open) > 0 || !b.restarts() {
		return nil
	}
	b.add(Step{Action: WaitPool, Subject: "pool/" + b.poolName, Args: Args{Pool: b.poolName, Members: b.members},
		Title: "wait until every machine of pool " + b.poolName + " runs its target; the controller takes one at a time",
		Risk:  RiskNone, RiskText: "the reboots are those of the step before", Proof: ProvedInLab,
		OC:      fmt.Sprintf("oc wait --for=condition=Updated mcp/%s --timeout=120m", b.poolName),
		Inverse: "nothing is changed", Expect: Expect{Text: "updated machines are all machines"}, Deadline: minutes(120)})
	return nil
}

// verify evaluates the root and what was repaired again. A plan with something
// open cannot promise that they are gone.
func (b *building) verify(context.Context) error {
	if !b.changes || len(b.plan.Open) > 0 {
		return nil
	}
	absent := []fault.Key{b.root.Key}
	for _, id := range []string{"adopt-spec-config", "recreate-missing-render", "align-annotations"} {
		for _, k := range b.remedies[id] {
			if !slices.Contains(absent, k) {
				absent = append(absent, k)
			}
		}
	}
	b.add(Step{Action: Verify, Subject: b.root.Subject.String(), Title: "evaluate the faults again: they must be absent",
		Risk: RiskNone, Proof: ProvedInLab, OC: "rollcall diagnose", Inverse: "nothing is changed",
		Expect: Expect{Absent: absent, Text: "the faults are absent"}, Deadline: minutes(10)})
	return nil
}
