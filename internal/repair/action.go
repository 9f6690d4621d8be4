package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	// rollback: a failure to see the effect undoes the plan. Else it stops,
	// because waiting longer is better than undoing.
	rollback bool
}

// act is one write that is ready to be made.
type act struct {
	Write
	preImage []byte
	diff     string // as the plan shows it; empty where nothing of it may be shown
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
	case ChangeFields:
		return changeFields(), true
	case PutContent:
		return putContentAction(), true
	case RestartServer:
		return restartServer(), true
	case TouchSecret:
		return touchSecret(), true
	case ReplacePod:
		return replacePod(), true
	case RemoveMember:
		return removeMemberAction(), true
	case Verify:
		return verify(), true
	}
	return action{}, false
}

// RemedyIDs lists the remedies that can be carried out here, for
// fault.Catalog.CheckActions. What each is and costs stands in the catalog.
func RemedyIDs() []string {
	list := []string{"adopt-spec-config", "align-annotations", "approve-expected-csrs", "recreate-missing-render", bmcCredentials, mcsCertificate, replaceInstaller, removeMember}
	for _, c := range changes() {
		list = append(list, c.remedy)
	}
	slices.Sort(list)
	return list
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
