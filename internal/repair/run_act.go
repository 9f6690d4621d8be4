package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// maxTries bounds how often a write is prepared again because the object's version
// changed while its fields did not: busy objects change every few seconds.
const maxTries = 5

// act waits until the act can be made, and makes it. pending is the write of an
// intent that the journal holds already.
func (r *run) act(ctx context.Context, s Step, a action, pending *Write, deadline time.Time) error {
	if a.ready != nil {
		if err := r.until(ctx, s, deadline, func(ctx context.Context) (bool, string, error) { return a.ready(ctx, r.env(), s) }); err != nil {
			return err
		}
	}
	if err := r.admit(ctx, s); err != nil {
		return err
	}
	var conflict error
	for try := range maxTries {
		if try > 0 { // time has passed
			if err := r.admit(ctx, s); err != nil {
				return err
			}
		}
		if err := r.unchanged(ctx, s); err != nil {
			return err
		}
		w, why, err := a.prepare(ctx, r.env(), s)
		if err != nil {
			return err
		}
		if w == nil {
			r.say(s.ID, "nothing to write: %s", why)
			return nil
		}
		if err := asShown(s, w); err != nil {
			return err
		}
		switch err := r.write(ctx, s, w, pending); {
		case err == nil:
			return nil
		case !isConflict(err):
			return err
		default:
			conflict, pending = err, nil
		}
	}
	return refuse("%s is being written so often that the write never fits: %v", s.Subject, conflict)
}

// admit evaluates the guards, whether the plan's fields are as they were, and
// whether the fault is still there.
func (r *run) admit(ctx context.Context, s Step) error {
	for _, g := range s.Preconditions {
		saw, err := g.look(ctx, r.env(), s)
		if err != nil {
			return err
		}
		r.say(s.ID, "%s: %s", g.Guard, saw)
	}
	if err := r.unchanged(ctx, s); err != nil {
		return err
	}
	return r.present(ctx, s)
}

// present refuses a step whose faults are all gone, or cannot be judged.
func (r *run) present(ctx context.Context, s Step) error {
	if len(s.While) == 0 {
		return nil
	}
	var seen, unknown []string
	for _, k := range s.While {
		f, err := r.evaluate(ctx, k)
		if err != nil {
			return fmt.Errorf("evaluate %s at %s: %w", k.Fault, k.Subject, err)
		}
		if f.Outcome == fault.Present || f.Waiting() { // its condition holds; a step before this one may have made it recent
			return nil
		}
		text := fmt.Sprintf("%s at %s is %s%s", k.Fault, k.Subject, f.Outcome, because(f.Reason))
		if seen = append(seen, text); f.Outcome == fault.Unknown {
			unknown = append(unknown, text)
		}
	}
	if len(unknown) > 0 {
		return refuse("could not check whether what the step is for is still there: %s", strings.Join(unknown, "; ")).
			instead("make it readable, then continue with `rollcall fix resume %s`", r.plan.ID)
	}
	return refuse("what the step is for is no longer present: %s", strings.Join(seen, "; ")).
		instead("look again with `rollcall diagnose`")
}

// evaluate evaluates one fault. It returns when ctx ends, even if the evaluator does not:
// the evaluator only reads, so that it may be left running until the process ends.
func (r *run) evaluate(ctx context.Context, k fault.Key) (diagnosis.Finding, error) {
	return readOrCancel(ctx, func(ctx context.Context) (diagnosis.Finding, error) { return r.Eval.Evaluate(ctx, k) })
}

// readOrCancel calls read and returns its result, or the error of ctx as soon as ctx ends.
func readOrCancel[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	go crash.Func(func() {
		v, err := read(ctx)
		answers <- answer{v, err}
	})()
	select {
	case a := <-answers:
		return a.v, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// unchanged compares the fields that the plan was made from with those of now.
func (r *run) unchanged(ctx context.Context, s Step) error {
	for _, rd := range s.Reads {
		content, err := r.API.Get(ctx, rd.Object)
		if apierrors.IsNotFound(err) {
			content, err = nil, nil
		}
		if err != nil {
			return refuse("%s could not be read again: %v", rd.Object, err)
		}
		have, err := digestFields(content, rd.Fields)
		if err != nil {
			return err
		}
		if have == rd.Digest && !showsReadValues(rd, content) {
			return refuse("of %s the plan shows other values than those that it was made from", rd.Object).instead("make a new plan")
		}
		if have != rd.Digest {
			return refuse("%s is not as it was when the plan was made: %s; last "+
				"written by %s", rd.Object, changed(rd, content), lastManager(content, rd.Fields)).
				instead("make a new plan")
		}
	}
	return nil
}

// showsReadValues reports whether the values that a plan shows are those of its digest.
func showsReadValues(rd Reading, content Object) bool {
	now, err := reading(rd.Object, content, rd.Fields...)
	return err == nil && maps.Equal(now.Seen, rd.Seen)
}

// changed describes what differs from a reading, as far as the plan shows values.
func changed(rd Reading, content Object) string {
	if content == nil {
		return "it is gone"
	}
	if rd.Seen[""] != "" {
		return "it " + rd.Seen[""] + " no longer: it exists"
	}
	now := shown(content, rd.Fields)
	var out []string
	for _, f := range rd.Fields {
		was, tell := rd.Seen[f]
		if is := now[f]; tell && showable(rd.Object) && was != is {
			out = append(out, fmt.Sprintf("%s was %s, is %s", f, orNone(was), orNone(is)))
		}
	}
	if len(out) == 0 {
		return "a field that is not shown differs"
	}
	return strings.Join(out, ", ")
}

// showable reports whether values of the object may be shown: Secrets and MachineConfigs hold secrets.
func showable(r Ref) bool { return r.Resource != "secrets" && r.Resource != "machineconfigs" }

// write makes one write: tried on the server without keeping it, then the
// intent, the write, the result. An intent that is in the journal already is not
// written again, so that a process that is killed at every write still advances.
func (r *run) write(ctx context.Context, s Step, w *act, pending *Write) error {
	if _, err := w.do(ctx, true); err != nil {
		return rejected(w.Target, "the server refuses the write (tried without keeping it)", err)
	}
	pre, err := r.Store.Put(w.preImage)
	if err != nil {
		return err
	}
	w.PreImage = pre
	if pending == nil || !reflect.DeepEqual(*pending, w.Write) {
		if err := r.record(ctx, Record{Kind: Intent, Step: s.ID, Write: &w.Write}); err != nil {
			return err
		}
	}
	r.at(s.ID, "before write")
	made, err := w.do(ctx, false)
	r.at(s.ID, "after write")
	if err != nil {
		return r.afterFailedWrite(ctx, s, w, err)
	}
	r.say(s.ID, "written: %s", w.Target)
	return r.record(ctx, Record{Kind: Result, Step: s.ID, Write: withUID(w.Write, made)})
}

// afterFailedWrite handles a write that returned an error. A refusal of the server is
// recorded as not made; after a lost connection the content of the object decides.
func (r *run) afterFailedWrite(ctx context.Context, s Step, w *act, cause error) error {
	if refusedByServer(cause) {
		if err := r.record(ctx, Record{Kind: Abandoned, Step: s.ID, Note: "the server refused it"}); err != nil {
			return errors.Join(cause, err)
		}
		return rejected(w.Target, "the server refused the write", cause)
	}
	happened, err := r.settle(ctx, s, w.Write)
	if err != nil || happened {
		return err
	}
	return fmt.Errorf("write %s: %w", w.Target, cause)
}

// refusedByServer reports whether the API server itself refused, and did not fail while it answered.
func refusedByServer(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500
}

// conflictError is the error of a write to an object that is no longer the version that was read.
type conflictError struct{ error }

func (m conflictError) Unwrap() error { return m.error }

func isConflict(err error) bool {
	var m conflictError
	return errors.As(err, &m)
}

// rejected distinguishes a conflict (409, or 422 of a failed `test`) from a refusal.
func rejected(target Ref, what string, err error) error {
	switch {
	case apierrors.IsConflict(err), apierrors.IsInvalid(err) && failedTest(err):
		return conflictError{fmt.Errorf("write %s: %w", target, err)}
	case apierrors.IsForbidden(err):
		return refuse("%s: %v", what, err).instead("the user of this kubeconfig lacks the right; `oc auth can-i` shows which")
	case refusedByServer(err):
		return refuse("%s: %v", what, err)
	}
	return fmt.Errorf("write %s: %w", target, err)
}

// failedTest: the API server answers 422 with no field causes when a `test`
// operation does not hold (k8s.io/apiserver:pkg/endpoints/handlers/patch.go
// jsonPatcher.applyJSPatch), and with causes when the result is not valid.
func failedTest(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d == nil || len(d.Causes) == 0
}

// reportEvery is how often a wait is reported of which nothing has changed.
const reportEvery = 30 * time.Second

// until polls until look reports true, or the deadline has passed.
func (r *run) until(ctx context.Context, s Step, deadline time.Time, look func(context.Context) (bool, string, error)) error {
	last, began := "", r.Clock.Now()
	reported := began
	for {
		ok, waiting, err := r.lookOnce(ctx, deadline, look)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return &late{step: s.ID, after: s.Deadline.Duration, waiting: "a look did not end in time: " + err.Error()}
		}
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		switch now := r.Clock.Now(); {
		case waiting != last:
			r.say(s.ID, "waiting%s: %s", usually(r.usual(s)), waiting)
			last, reported = waiting, now
		case now.Sub(reported) >= reportEvery:
			r.say(s.ID, "still waiting, %s of at most %s%s: %s", now.Sub(began).Round(time.Second), s.Deadline.Duration, usually(r.usual(s)), waiting)
			reported = now
		}
		if !r.Clock.Now().Before(deadline) {
			return &late{step: s.ID, after: s.Deadline.Duration, waiting: waiting}
		}
		if err := r.Clock.Sleep(ctx, r.poll()); err != nil {
			return err
		}
	}
}

func usually(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " (usually " + fault.Span(d) + ")"
}

// lookOnce looks within the step's time: a cluster that does not answer must not
// hold a step longer than its deadline. The last look has at least leastLook.
func (r *run) lookOnce(ctx context.Context, deadline time.Time, look func(context.Context) (bool, string, error)) (bool, string, error) {
	ctx, cancel := context.WithTimeout(ctx, max(deadline.Sub(r.Clock.Now()), leastLook))
	defer cancel()
	return look(ctx)
}

const leastLook = 30 * time.Second

// late is the error of an effect that was not seen in time.
type late struct {
	step    string
	after   time.Duration
	waiting string
}

func (l *late) Error() string {
	return fmt.Sprintf("step %s did not come to its effect within %s: %s", l.step, l.after, l.waiting)
}

// await waits for the action's effect and for the faults that it must end.
func (r *run) await(ctx context.Context, s Step, a action, deadline time.Time) error {
	return r.until(ctx, s, deadline, func(ctx context.Context) (bool, string, error) {
		ok, waiting, err := a.seen(ctx, r.env(), s)
		if err != nil || !ok {
			return false, waiting, err
		}
		for _, k := range s.Expect.Absent {
			f, err := r.evaluate(ctx, k)
			if err != nil {
				return false, "", fmt.Errorf("evaluate %s at %s: %w", k.Fault, k.Subject, err)
			}
			if f.Waiting() || f.Outcome != fault.Absent && f.Outcome != fault.NotApplicable {
				return false, fmt.Sprintf("%s at %s is %s%s", k.Fault, k.Subject, f.Outcome, because(f.Reason)), nil
			}
		}
		return true, "", nil
	})
}
