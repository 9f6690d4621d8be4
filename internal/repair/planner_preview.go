package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// readOnly is an API that a plan is made with: a write is a defect of this program.
type readOnly struct{ Reader }

var errReadOnly = errors.New("a plan that is being made writes nothing")

// Patch implements writer.
func (readOnly) Patch(context.Context, Ref, string, []byte, bool) (Object, error) {
	return nil, errReadOnly
}

// Create implements writer.
func (readOnly) Create(context.Context, Ref, Object, bool) (Object, error) { return nil, errReadOnly }

// Delete implements writer.
func (readOnly) Delete(context.Context, Ref, string, string, bool) error { return errReadOnly }

// preview fills what a reader of the plan wants to see of each step that writes: what the
// guards see now, and the change as a diff. Both are for reading: when the step acts, the
// guards look again, and another change than the one shown is refused.
func (d *draft) preview(ctx context.Context) error {
	e := env{
		api: readOnly{d.API}, store: d.Store, clock: d.Clock, ca: d.ask.Cluster.CA, plan: d.plan,
		say:     func(string, string, ...any) {},
		actedAt: func(context.Context, string) time.Time { return time.Time{} },
	}
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		a, _ := actionOf(s.Action)
		if !a.writes() {
			continue
		}
		for _, g := range s.Preconditions {
			saw, err := g.look(ctx, e, *s)
			if err != nil {
				saw = "not now: " + reasonOf(err)
			}
			s.Now = append(s.Now, fmt.Sprintf("%s: %s", g.Guard, saw))
		}
		if a.ready != nil {
			continue // what it writes is not there yet
		}
		w, _, err := a.prepare(ctx, e, *s)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.Now = append(s.Now, "the change: not now: "+reasonOf(err))
		case w != nil:
			s.Diff = w.diff
		}
	}
	return nil
}

// reasonOf is why something is refused, without what to do instead.
func reasonOf(err error) string {
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return err.Error()
}

// asShown refuses a write that is not the one that the plan shows.
func asShown(s Step, w *act) error {
	if s.Diff == "" || s.Diff == w.diff {
		return nil
	}
	return refuse("the plan shows another change of %s than the one that would be written", w.Target).instead("make a new plan")
}

// outside lists what a person has to do where this program cannot: the advice for the root
// that is for somebody on the host, outside the cluster, or who decides.
func (d *draft) outside() {
	for _, a := range d.root.Remedies {
		if a.Fix || a.By == fault.ByCluster || a.Applies == fault.Absent {
			continue
		}
		who := map[fault.Actor]string{fault.ByHost: "on the host", fault.ByOutside: a.Where, fault.ByDecision: "somebody decides"}[a.By]
		d.plan.Outside = append(d.plan.Outside, fmt.Sprintf("%s: %s (`rollcall explain %s`)", who, a.Title, a.ID))
	}
}

// usual is how long the effect of a step usually takes, by the catalog; zero where it
// has no figure.
func (r *run) usual(s Step) time.Duration {
	if r.Catalog == nil {
		return 0
	}
	if rem, ok := r.Catalog.Remedy(remedyOf(s)); ok {
		return rem.Verify.Takes.Duration
	}
	return 0
}
