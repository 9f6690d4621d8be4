package repair

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/statedir"
)

// Evaluator evaluates on evidence that is read again each time: one fault at one
// subject, or the whole catalog.
type Evaluator interface {
	Evaluate(ctx context.Context, k fault.Key) (diagnosis.Finding, error)
	Diagnose(ctx context.Context) (*diagnosis.Diagnosis, error)
}

// Served reports when a host was last given a config of a pool.
type Served interface {
	// LastServed returns the zero time when no host was; an error says that it
	// cannot be determined.
	LastServed(ctx context.Context, pool string) (at time.Time, what string, err error)
}

// Mirror keeps a copy of the journal where others see it. A failure is reported and
// stops nothing.
type Mirror interface {
	// Keep gets the plan also as it is encoded: a run encodes it once, and calls Keep often.
	Keep(ctx context.Context, p *Plan, encoded []byte, records []Record) error
}

// Point is a place at which a test may end the process.
type Point struct{ Step, At string }

// Executor applies plans. All fields but Served, Mirror, Say, At and
// Poll are needed.
type Executor struct {
	API      API
	Eval     Evaluator
	Clock    Clock
	StateDir string
	Store    *Store
	Catalog  *fault.Catalog          // which remedies a fault has; a step is only done while a fault is there that it remedies
	CA       string                  // digest of the CA that the API server is verified with, see CADigest
	Served   Served                  // nil: only objects show whether a host has fetched its config
	Mirror   Mirror                  // nil: none
	Say      func(step, text string) // progress, for a person; nil: silent
	At       func(Point)             // called before and after each write; nil outside tests
	Reviewed string                  // digest that a person names, see Apply and Resume
	Poll     time.Duration           // between looks; zero is 5 s
	Settle   time.Duration           // how long the diagnosis is repeated after a repair while a finding is present
}

// run is one plan under way.
type run struct {
	*Executor
	plan        *Plan
	encoded     []byte // the plan, which does not change during a run
	journal     *journal
	mirrored    bool // the mirror's failure was reported
	sameCluster bool // this run has seen that it is the plan's cluster
}

func (r *run) say(step, format string, args ...any) {
	if r.Executor.Say != nil {
		r.Executor.Say(step, fmt.Sprintf(format, args...))
	}
}

func (r *run) at(step, where string) {
	if r.Executor.At != nil {
		r.Executor.At(Point{step, where})
	}
}

func (r *run) poll() time.Duration {
	if r.Poll > 0 {
		return r.Poll
	}
	return 5 * time.Second
}

// env is what the actions and guards of the plan see.
func (r *run) env() env {
	return env{api: r.API, store: r.Store, clock: r.Clock, served: r.Served, ca: r.CA, plan: r.plan, say: r.say, actedAt: r.actTime}
}

// actTime is when a step's write was made, by the API server's clock where
// managedFields have it, else by ours.
func (r *run) actTime(ctx context.Context, step string) time.Time {
	st := r.journal.step(step)
	if st.result == nil {
		return time.Time{}
	}
	at := st.result.Time
	content, err := r.API.Get(ctx, st.result.Write.Target)
	if err != nil {
		return at
	}
	entries, _ := fieldAt(content, "/metadata/managedFields")
	list, _ := entries.([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		if t, err := time.Parse(time.RFC3339, stringAt(m, "time")); err == nil && m["manager"] == kube.FieldManager {
			return t
		}
	}
	return at.Truncate(time.Second) // the API's times have whole seconds
}

// record appends to the journal and then to its mirror.
func (r *run) record(ctx context.Context, rec Record) error {
	at := string(rec.Kind)
	r.at(rec.Step, "before "+at)
	if err := r.journal.Append(rec); err != nil {
		return err
	}
	r.at(rec.Step, "after "+at)
	if r.Mirror == nil {
		return nil
	}
	if err := r.Mirror.Keep(ctx, r.plan, r.encoded, r.journal.records()); err != nil && !r.mirrored {
		r.mirrored = true
		r.say(rec.Step, "the journal could not be copied to the cluster (it is on disk all the same): %v", err)
	}
	return nil
}

// Apply begins a plan. A plan that was begun already is continued with Resume. The
// outcome is what the whole diagnosis shows afterwards, whatever the error is; it is
// nil where the plan was refused before anything was begun. Without a digest in
// Reviewed, which is that of the plan's file, only what was issued here is applied.
func (e *Executor) Apply(ctx context.Context, p *Plan) (o *Outcome, err error) {
	j, err := openJournal(e.StateDir, p.ID, e.Clock.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = closed(err, j) }()
	r := &run{Executor: e, plan: p, journal: j}
	if begun := j.began(); begun != "" {
		return nil, r.begin(ctx)
	}
	return r.recheck(ctx, r.begin(ctx))
}

// closed releases the journal and keeps the type of err.
func closed(err error, j *journal) error {
	if e := j.Close(); e != nil {
		return errors.Join(err, fmt.Errorf("close journal: %w", e))
	}
	return err
}

func (r *run) begin(ctx context.Context) error {
	if err := r.plan.check(); err != nil {
		return fmt.Errorf("check plan: %w", err)
	}
	if r.journal.began() != "" {
		return refuse("plan %s was begun already", r.plan.ID).instead("continue with `rollcall fix resume %s`, or undo it with `rollcall fix undo %s`",
			r.plan.ID, r.plan.ID)
	}
	if err := r.checkWhile(); err != nil {
		return err
	}
	if err := r.ofThisCluster(ctx); err != nil {
		return err
	}
	if err := r.reviewed(); err != nil {
		return err
	}
	if err := r.storePlan(); err != nil {
		return err
	}
	if err := r.record(ctx, Record{Kind: Began, Plan: digestBytes(r.encoded)}); err != nil {
		return err
	}
	return r.steps(ctx)
}

// ofThisCluster refuses to continue with another cluster's plan.
func (r *run) ofThisCluster(ctx context.Context) error {
	if _, err := guardSameCluster(ctx, r.env(), Step{}, Guard{}); err != nil {
		return err
	}
	r.sameCluster = true
	return nil
}

// storePlan saves the plan as it is applied, next to its journal.
func (r *run) storePlan() error {
	raw, err := r.plan.Encode()
	if err != nil {
		return err
	}
	if err := statedir.Replace(r.journal.dir, planFile, raw); err != nil {
		return fmt.Errorf("keep plan: %w", err)
	}
	r.encoded = raw
	return nil
}

// open opens a plan that was begun.
func (e *Executor) open(id string) (*run, error) {
	j, err := openJournal(e.StateDir, id, e.Clock.Now)
	if err != nil {
		return nil, err
	}
	r := &run{Executor: e, journal: j}
	if err := r.loadStored(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return r, nil
}

func (r *run) loadStored() error {
	if r.journal.began() == "" {
		return refuse("no plan of that name was begun here").instead("`rollcall fix history` lists those that were")
	}
	p, err := storedPlan(r.journal.dir)
	if err != nil {
		return err
	}
	raw, err := p.Encode()
	if err != nil {
		return err
	}
	digest := digestBytes(raw)
	if digest != r.journal.began() {
		return refuse("the kept plan was changed after it was begun (%s, was %s)", shortDigest(digest), shortDigest(r.journal.began()))
	}
	if r.Reviewed != "" && r.Reviewed != digest {
		return refuse("the file is not the plan %s that was begun", p.ID).instead("name the plan's id; `rollcall fix history` lists those that were begun")
	}
	r.plan, r.encoded = p, raw
	return nil
}

// allDone is the note of a plan that came to its end.
const allDone = "all steps are done"

// Resume continues with a plan that was begun and did not finish; one that did is only
// checked again. Where Reviewed is set, it is the digest of the plan that was begun.
func (e *Executor) Resume(ctx context.Context, id string) (o *Outcome, err error) {
	r, err := e.open(id)
	if err != nil {
		return nil, err
	}
	defer func() { err = closed(err, r.journal) }()
	return r.recheck(ctx, r.resume(ctx))
}

func (r *run) resume(ctx context.Context) error {
	for _, rec := range r.journal.records() {
		switch rec.Kind {
		case UndoIntent, UndoResult:
			return refuse("plan %s is being undone", r.plan.ID).instead("finish that with `rollcall fix undo %s`, then make a new plan", r.plan.ID)
		case Finished:
			if rec.Note != allDone {
				return refuse("plan %s is finished: %s", r.plan.ID, rec.Note).instead("make a new plan")
			}
			r.say("", "plan %s was finished before: %s", r.plan.ID, rec.Note)
			return r.ofThisCluster(ctx)
		}
	}
	if err := r.plan.eachStep(r.plan.checkRequired); err != nil {
		return refuse("the plan does not have what protects the cluster: %v", err).instead("undo it with `rollcall fix undo %s`, then "+
			"make a new plan", r.plan.ID)
	}
	if err := r.checkWhile(); err != nil {
		return err
	}
	if err := r.ofThisCluster(ctx); err != nil {
		return err
	}
	return r.steps(ctx)
}

func (r *run) steps(ctx context.Context) error {
	for _, s := range r.plan.Steps {
		if r.journal.step(s.ID).done {
			continue
		}
		if err := r.step(ctx, s); err != nil {
			return r.failed(ctx, s, err)
		}
	}
	return r.record(ctx, Record{Kind: Finished, Note: allDone})
}

// step does one step: settles what a kill left open, acts if the step acts, and
// waits until its effect is seen.
func (r *run) step(ctx context.Context, s Step) error {
	a, ok := actionOf(s.Action)
	if !ok {
		return fmt.Errorf("step %s: there is no action %q", s.ID, s.Action)
	}
	r.say(s.ID, "%s", s.Title)
	deadline := r.Clock.Now().Add(s.Deadline.Duration)
	st := r.journal.step(s.ID)
	var pending *Write // an intent whose write was not made
	if st.intent != nil && st.result == nil {
		happened, err := r.settle(ctx, s, *st.intent.Write)
		if err != nil {
			return err
		}
		if !happened {
			pending = st.intent.Write
		}
	}
	if a.writes() && (st.intent == nil || pending != nil) {
		if err := r.act(ctx, s, a, pending, deadline); err != nil {
			return err
		}
	}
	if err := r.await(ctx, s, a, deadline); err != nil {
		return err
	}
	return r.record(ctx, Record{Kind: Done, Step: s.ID, Note: s.Expect.Text})
}

// settle finds out whether the write of an intent was made, by its content.
func (r *run) settle(ctx context.Context, s Step, w Write) (happened bool, err error) {
	have, content, err := r.digestOf(ctx, w)
	if err != nil {
		return false, err
	}
	switch have {
	case w.After:
		r.say(s.ID, "the write that was begun before is found made")
		return true, r.record(ctx, Record{Kind: Result, Step: s.ID, Write: withUID(w, content), Note: "found made"})
	case w.Before:
		r.say(s.ID, "the write that was begun before was not made")
		return false, nil
	}
	return false, refuse("%s was changed by %s after the plan had begun to write it", w.Target, lastManager(content, w.Fields)).
		instead("look at it, then undo this plan and make a new one")
}

func withUID(w Write, content Object) *Write {
	if w.UID == "" {
		w.UID = stringAt(content, "metadata", "uid")
	}
	return &w
}

// digestOf digests the fields of a write as they are now.
func (r *run) digestOf(ctx context.Context, w Write) (string, Object, error) {
	content, err := r.API.Get(ctx, w.Target)
	if apierrors.IsNotFound(err) {
		content, err = nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", w.Target, err)
	}
	if absent, err := digestFields(nil, nil); err != nil || w.After == absent && (content == nil || stringAt(content, "metadata", "uid") != w.UID) {
		return absent, nil, err // it was to be deleted; one of its name is another one
	}
	if content != nil && w.UID != "" && stringAt(content, "metadata", "uid") != w.UID {
		return "another object", content, nil
	}
	have, err := digestFields(content, w.recognized())
	return have, content, err
}
