package repair

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
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
	rd, err := reading(poolRef(b.poolName), pool, poolFields()...)
	if err != nil {
		return err
	}
	b.adopted = b.add(Step{Action: AdoptSpecConfig, Args: Args{Pool: b.poolName, Config: config}, Reads: []Reading{rd}, While: while, Deadline: minutes(2)})
	return nil
}

// join plans the approval and the wait for every host of the pool that is not a
// Node yet and that a person named.
func (b *building) join(ctx context.Context) error {
	if b.poolName == "" && len(b.ask.Expect) == 0 || b.changesFields() && len(b.ask.Expect)+len(b.remedies["adopt-spec-config"])+len(b.remedies["approve-expected-csrs"]) == 0 {
		return nil // a host that is switched on again, say, has its certificate or asks for it later
	}
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
		if !slices.ContainsFunc(waiting, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) }) {
			b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("%s was named with --expect and is not one of the hosts of pool %s that are still to join", e.Name, b.poolName))
		}
	}
	return nil
}

func (b *building) expectation(name string) (csr.Expectation, bool) {
	i := slices.IndexFunc(b.ask.Expect, func(e csr.Expectation) bool { return inventory.SameName(e.Name, name) })
	if i < 0 {
		return csr.Expectation{}, false
	}
	return b.ask.Expect[i], true
}

func (b *building) joinOne(ctx context.Context, h diagnosis.HostState, e csr.Expectation) error {
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
			b.open("the requests of %s are not in this plan: it is not known when it booted; approve them by their names with `rollcall csr approve CSR_NAME --expect %s=IP --booted-after TIME --yes`", h.Name, h.Name)
			return nil
		}
	}
	if len(e.IPs) == 0 {
		b.open("the serving request of %s is not in this plan: its addresses are not declared (--expect %s=IP)", h.Name, h.Name)
	}
	b.add(approval("client", args, []Reading{absent}))
	b.add(Step{Action: WaitNode, Args: Args{Host: h.Name}, Deadline: minutes(30)})
	if len(e.IPs) > 0 {
		b.add(approval("serving", args, nil))
	}
	return nil
}

// bootEvidence takes the time at which the host fetched its config, where the
// diagnosis knows it.
func (b *building) bootEvidence(h diagnosis.HostState, args *Args) bool {
	at, ok := h.Fetched()
	if ok {
		args.NotBefore, args.Boot = at, "it fetched its config at "+at.UTC().Format("2006-01-02T15:04:05Z")
	}
	return ok
}

func approval(kind string, args Args, reads []Reading) Step {
	args.Signer = kind
	return Step{Action: ApproveCSR, Args: args, Reads: reads, Deadline: minutes(30)}
}

// quorum stands before everything that may take a control-plane node down.
func (b *building) quorum(context.Context) error {
	if b.members == 0 || !b.restarts() {
		return nil
	}
	b.add(Step{Action: WaitEtcd, Args: Args{Members: b.members}, Deadline: minutes(45)})
	return nil
}

// pool waits for the end state, where the plan is whole.
func (b *building) pool(context.Context) error {
	if !b.changes || len(b.plan.Open) > 0 || !b.restarts() && len(b.remedies["unpause-pool"]) == 0 {
		return nil
	}
	b.add(Step{Action: WaitPool, Args: Args{Pool: b.poolName, Members: b.members}, Deadline: minutes(120)})
	return nil
}

// verify evaluates the root and what was repaired again. A plan with something
// open cannot promise that they are gone.
func (b *building) verify(context.Context) error {
	if !b.changes || len(b.plan.Open) > 0 {
		return nil
	}
	absent := []fault.Key{b.root.Key}
	for _, id := range RemedyIDs() {
		if id == "approve-expected-csrs" {
			continue
		}
		for _, k := range b.remedies[id] {
			if !slices.Contains(absent, k) {
				absent = append(absent, k)
			}
		}
	}
	if b.plan.onlyRemoves() { // the host of the member stays away, and with it the root
		absent = b.remedies[removeMember]
	}
	b.add(Step{Action: Verify, Expect: Expect{Absent: absent}, Deadline: minutes(max(10, b.settles))})
	return nil
}
