package repair

import (
	"context"
	"errors"
	"fmt"
)

// action is what a step does. Waits have no prepare and no dependants.
type action struct {
	// check judges the static form of a step's arguments.
	check func(Step) error
	// ready reports whether the act can be made now, and what is waited for.
	// nil: at once.
	ready func(context.Context, *run, Step) (bool, string, error)
	// prepare reads what it changes and returns the act; nil with a nil error
	// says that what it would do is so already, and why.
	prepare func(context.Context, *run, Step) (*act, string, error)
	// seen reports whether the step's effect is there, and else what is waited for.
	seen func(context.Context, *run, Step) (bool, string, error)
	// dependants says why the act cannot be undone any more, "" if it can.
	dependants func(context.Context, *run, Step, Write) (string, error)
	// rollback: a failure to see the effect takes the plan back. Else it stops,
	// because waiting longer is better than undoing.
	rollback bool
}

// act is one write that is ready to be made.
type act struct {
	Write
	preImage []byte
	do       func(ctx context.Context, dryRun bool) (Object, error)
}

// actionOf is the visible list of the actions.
func actionOf(name ActionName) (action, bool) {
	switch name {
	case AdoptSpecConfig:
		return adoptSpecConfig(), true
	case ApproveCSR:
		return approveCSR(), true
	case WaitNode:
		return waitNode(), true
	case WaitEtcd:
		return waitEtcd(), true
	case RecreateRender:
		return recreateRender(), true
	case AlignAnnotations:
		return alignAnnotations(), true
	case WaitPool:
		return waitPool(), true
	case Verify:
		return verify(), true
	}
	return action{}, false
}

// Remedies lists the remedy ids that the catalogue may name, and what each is.
func Remedies() []Remedy {
	return []Remedy{
		{"adopt-spec-config", "fill the pool's status.configuration from its spec, so that the machine config server has a config to serve",
			"reversible: the next host that asks is given this config; no machine that runs is touched"},
		{"approve-expected-csrs", "approve exactly the requests of the hosts that are expected, after proof",
			"identity: nothing that runs is touched; a stranger who asks in the host's place, alone and before it, cannot be told apart, and a certificate that was issued cannot be revoked"},
		{"recreate-missing-render", "re-create the missing rendered MachineConfig under its exact name, from what a host holds",
			"reboot: the nodes that waited for it drain and reboot, one at a time"},
		{"align-annotations", "name the in-cluster render on a node whose held config differs in nothing that is applied",
			"reboot: without drain where the booted system is another than the config's; one node at a time, and refused where anything differs that is applied"},
		{"wait", "nothing is to be done: it settles by itself; wait and look again", "none"},
	}
}

// Remedy is one entry of the list of remedies. Risk begins with the worst Risk of its
// steps and says it in words.
type Remedy struct{ ID, Title, Risk string }

// RemedyIDs returns the ids for fault.Catalog.CheckRemedies.
func RemedyIDs() []string {
	var ids []string
	for _, r := range Remedies() {
		ids = append(ids, r.ID)
	}
	return ids
}

func need(fields map[string]string) error {
	var wrong []error
	for name, v := range fields {
		if v == "" {
			wrong = append(wrong, fmt.Errorf("args.%s is empty", name))
		}
	}
	return errors.Join(wrong...)
}

func writes(a action) bool { return a.prepare != nil }
