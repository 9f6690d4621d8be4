package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// action is all there is to know about one kind of step: how it is planned, what a plan must
// contain for it, what it writes, and what is seen afterwards. Each action is one value in a
// file of its own; actions lists them. Fields that say nothing else are needed.
type action struct {
	name ActionName
	// remedies are those of the catalog that its steps carry out; none: it only accompanies
	// the steps of other actions.
	remedies []remedy

	// plan adds the steps that the root's remedies require; nil: another action plans them.
	plan func(ctx context.Context, d *draft) error
	// check judges the form of the step's arguments.
	check func(s Step) error
	// fits judges the step among the others of its plan; nil: it does not depend on them.
	fits func(p *Plan, s Step) error
	// remedyOf returns the remedy that a fault must have for the step to act while the fault
	// is present; nil: the action proves its case itself, or only waits.
	remedyOf func(a Args) string
	// guards are what protects the cluster in addition to the guards of every write; nil: nothing.
	guards func(a Args) []Guard
	// reads are exactly what the step reads again before it acts; nil: nothing.
	reads func(a Args) []readRule
	// describe fills what people read of the step, from its arguments alone.
	describe func(s *Step)

	// ready reports whether the write can be prepared now, and else what it waits for; nil:
	// at once.
	ready func(ctx context.Context, e env, s Step) (ok bool, waiting string, err error)
	// prepare reads what the step changes and returns the write. A nil write with a nil error:
	// it is so already, and why. A prepare that is nil: the action only waits.
	prepare func(ctx context.Context, e env, s Step) (w *act, why string, err error)
	// seen reports whether the step's effect is there, and else what it waits for.
	seen func(ctx context.Context, e env, s Step) (ok bool, waiting string, err error)
	// dependants returns why the write cannot be undone any more, "" if it can. Waits have none.
	dependants func(ctx context.Context, e env, s Step, w Write) (string, error)

	// rollback: an effect that is not seen in time undoes the plan. Otherwise the plan stops,
	// because waiting longer is better than undoing.
	rollback bool
	// waitsForEtcd: the machines of the step's pool restart for it, so that on a control-plane
	// pool a wait for etcd comes before it.
	waitsForEtcd bool
	// leavesRoot: what the step does does not end the root, which is why it is done.
	leavesRoot bool
	// joins: a host has joined when the effect of the step is seen.
	joins bool
	// anyCluster: it is for hosted and for other clusters alike.
	anyCluster bool
	// hosted reports whether the step is for a hosted cluster; nil: it never is.
	hosted func(a Args) bool
	// mayCostMember reports whether etcd may lose a member by the step; nil: it cannot.
	mayCostMember func(a Args) bool
}

// remedy is a remedy of the catalog that `fix plan` carries out.
type remedy struct {
	id string
	// rights are what the user must be allowed for it in addition to commonRights.
	rights []Access
	// asks is the flags with which a plan takes what only a person knows; "" for nothing.
	asks string
	// asksBefore: only clusters before this version need the flags; "" for all.
	asksBefore string
	// hosted: it is for hosted clusters.
	hosted bool
	// needsPool reports whether its steps depend on the pool of the root; nil: they do not.
	needsPool func(a Ask) bool
	// rollsOut: the machines of the pool get another config for it, for which the plan waits.
	rollsOut bool
	// transient: its faults are of objects that go away by themselves, so that no plan has to
	// verify that they are absent.
	transient bool
}

// act is one write that is ready to be made.
type act struct {
	Write
	preImage []byte
	diff     string // as the plan shows it; empty where nothing of it may be shown
	do       func(ctx context.Context, dryRun bool) (Object, error)
}

// env is what an action and a guard see of the cluster and of the plan, while the step is
// carried out or previewed.
type env struct {
	api    API
	store  *Store
	clock  Clock
	served Served // nil: only objects show whether a host has fetched its config
	ca     string // digest of the CA that the API server is verified with
	plan   *Plan
	// say reports progress of a step to a person.
	say func(step, format string, args ...any)
	// actedAt is when the write of a step was made, the zero time where it was not.
	actedAt func(ctx context.Context, step string) time.Time
}

// read gets an object for a guard or a write; what cannot be read refuses.
func (e env) read(ctx context.Context, ref Ref) (Object, error) {
	o, err := e.api.Get(ctx, ref)
	if err != nil {
		return nil, refuse("%s could not be read, so it is not known whether it is safe: %v", ref, err)
	}
	return o, nil
}

func actionOf(name ActionName) (action, bool) {
	list := actions()
	i := slices.IndexFunc(list, func(a action) bool { return a.name == name })
	if i < 0 {
		return action{}, false
	}
	return list[i], true
}

// writes reports whether the action changes something; the others wait and look.
func (a action) writes() bool { return a.prepare != nil }

// remedies are those of all actions, sorted by their ids.
func remedies() []remedy {
	var list []remedy
	for _, a := range actions() {
		list = append(list, a.remedies...)
	}
	slices.SortFunc(list, func(a, b remedy) int { return strings.Compare(a.id, b.id) })
	return list
}

// RemedyIDs lists the remedies that can be carried out here, for
// session.CheckActions. What each is and costs is in the catalog.
func RemedyIDs() []string {
	var list []string
	for _, r := range remedies() {
		list = append(list, r.id)
	}
	return list
}

// Asks returns the flags with which a plan takes what only a person knows for a remedy, ""
// where it needs nothing in a cluster of this version.
func Asks(id, version string) string {
	list := remedies()
	i := slices.IndexFunc(list, func(r remedy) bool { return r.id == id })
	if i < 0 {
		return ""
	}
	if have, known := minorOf(version); list[i].asksBefore != "" {
		if before, _ := minorOf(list[i].asksBefore); !known || have >= before {
			return ""
		}
	}
	return list[i].asks
}

// Approves reports whether a remedy approves requests of hosts.
func Approves(id string) bool { return id == approveRemedy }

// described returns the step with everything that is written for people (title,
// risk, the same by hand, how it is undone), derived from its action and arguments. The
// planner uses it, and a plan with other words is refused: what a person reads is what is done.
func described(s Step, root fault.Key) Step {
	s.Title, s.Risk, s.RiskText, s.Proof, s.OC, s.PreImage, s.Inverse, s.Expect.Text = "", "", "", "", "", "", "", ""
	s.Subject = root.Subject.String()
	if a, ok := actionOf(s.Action); ok {
		a.describe(&s)
	}
	return s
}

// describeWait fills what is the same for all steps that only wait.
func describeWait(s *Step) {
	s.Risk, s.Proof, s.Inverse = fault.RiskNone, ProvedInLab, "nothing is changed"
}

// need returns an error for each argument that is empty.
func need(fields map[string]string) error {
	var wrong []error
	for name, v := range fields {
		if v == "" {
			wrong = append(wrong, fmt.Errorf("args.%s is empty", name))
		}
	}
	return errors.Join(wrong...)
}
