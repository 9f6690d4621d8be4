package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
)

// fixEnd is how a run of apply, resume or undo ended, as -o json prints it.
type fixEnd struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Plan       string            `json:"plan"`
	Command    string            `json:"command"` // apply, resume or undo
	ExitCode   cmdutil.ExitCode  `json:"exitCode"`
	Error      string            `json:"error,omitempty"`
	Undone     []string          `json:"undone,omitempty"`     // steps that this run undid after a failure
	Stays      []string          `json:"stays,omitempty"`      // steps that were done and stay, with the reason
	Outcome    *repair.Outcome   `json:"outcome"`              // null: refused before anything was begun
	Indicators []after.Indicator `json:"indicators,omitempty"` // what holds of the whole cluster after steps were done
	Next       []string          `json:"next"`                 // commands: what to do now
}

// fixRun is a run that has ended.
type fixRun struct {
	verb, id string
	stateDir string // as it was typed
	until    string // what has to hold for exit code 0: untilPlan or after.Stable
	wait     time.Duration
	more     bool // another plan follows: what holds of the whole cluster is looked at after the last one
}

// runOf is the run of a plan with these flags.
func (f fixFlags) runOf(verb, id string) fixRun {
	return fixRun{verb: verb, id: id, stateDir: f.stateDir, until: f.until, wait: f.wait}
}

// ended prints how a run ended: what the whole diagnosis shows now on stdout, and a
// failure on stderr. An error carries the exit code.
func (a *app) ended(ctx context.Context, format string, run fixRun, o *repair.Outcome, err error) error {
	end := fixEnd{APIVersion: repair.APIVersion, Kind: "RepairEnd", Plan: run.id, Command: run.verb, Outcome: o,
		ExitCode: cmdutil.CodeOf(err, repair.ExitCode), Next: []string{}}
	if err == nil {
		end.ExitCode = cmdutil.ExitCode(o.ExitCode())
	}
	failure := a.failure(ctx, run.id, &end, err)
	if checksAfter(run, o, err) {
		a.lookAfter(ctx, run, &end)
	}
	next := a.nextAfter(run, end, err)
	for _, n := range next {
		end.Next = append(end.Next, n.Text)
	}
	if format != "text" {
		if failure != nil {
			end.Error = failure.Error()
		}
		if err := a.PrintData(format, end); err != nil {
			return err
		}
	} else if o != nil {
		sections := append(a.endSections(run, o), answer.Section{Heading: "What to do now", Entries: next})
		last := len(sections) - 1
		if err := answer.Sections(a.IO.Out, a.Style(), sections[:last]); err != nil {
			return err
		}
		if err := a.printAfter(end.Indicators); err != nil {
			return err
		}
		if err := answer.Sections(a.IO.Out, a.Style(), sections[last:]); err != nil {
			return err
		}
	}
	if failure == nil && end.ExitCode != cmdutil.ExitOK {
		return &cmdutil.ExitError{Code: end.ExitCode}
	}
	if failure == nil {
		return nil
	}
	return &cmdutil.ExitError{Code: end.ExitCode, Err: failure}
}

// lookAfter makes the after check. Where the steps ended well it decides about the exit code.
func (a *app) lookAfter(ctx context.Context, run fixRun, end *fixEnd) {
	list, err := a.afterWait(run, end.Outcome).run(ctx)
	if err != nil {
		a.Log.Warn("after check", "error", err)
	}
	end.Indicators = list
	if end.ExitCode == cmdutil.ExitOK && run.until == string(after.Stable) {
		end.ExitCode = codeAfter(list, err)
	}
}

// failure says what a run's error means for who is in the middle of a repair.
func (a *app) failure(ctx context.Context, id string, end *fixEnd, err error) error {
	var back *repair.RolledBack
	var person *repair.NeedPerson
	clean := a.CleanText // each line: what comes from the cluster makes no line of its own
	var lines []string
	switch {
	case err == nil:
		return nil
	case errors.As(err, &back):
		end.Undone = back.Steps
		lines = append(lines, fmt.Sprintf("the repair failed and was rolled back: %s", clean(back.Cause.Error())),
			"  undone:       "+strings.Join(back.Steps, ", "))
	case errors.As(err, &person):
		end.Undone, end.Stays = person.Back, person.Left
		lines = append(lines, fmt.Sprintf("stopped, a person is needed: %s", clean(person.Cause.Error())))
		if len(person.Back) > 0 {
			lines = append(lines, "  undone:       "+strings.Join(person.Back, ", "))
		}
		for i, left := range person.Left {
			step, _, _ := strings.Cut(left, ": `") // the commands are below, once
			name := "done, stays:"
			if i > 0 {
				name = ""
			}
			lines = append(lines, fmt.Sprintf("  %-13s %s", name, clean(step)))
		}
		lines = append(lines, fmt.Sprintf("  %-13s %s fix plan ...   (where the plan itself was wrong: a host, an address)", "new plan:", a.Name))
	case ctx.Err() != nil:
		lines = append(lines, "interrupted; what was done is in the journal", fmt.Sprintf("  %-13s %s fix history %s", "the record:", a.Name, id))
	default:
		return err
	}
	return errors.New(strings.Join(lines, "\n"))
}

// endSections say what the diagnosis shows after a run.
func (a *app) endSections(run fixRun, o *repair.Outcome) []answer.Section {
	heading := fmt.Sprintf("Plan %s: %s", run.id, o.Headline())
	now := answer.Section{Heading: heading}
	add := func(name, text string) { now.Entries = append(now.Entries, answer.Entry{Name: name, Text: text}) }
	switch {
	case o.State == repair.Repaired:
		add("checked", "the whole diagnosis ran again: nothing that the plan is for is present, and no error is new")
	case o.State == repair.NotChecked && len(o.Unknown)+len(o.Unread) == 0, o.State == repair.PartlyDone && len(o.Still)+len(o.New) == 0:
		add("why", o.Reason)
	case o.State == repair.Undone:
		add("checked", "the whole diagnosis ran again: no error is new")
	}
	list := func(name string, seen []repair.Seen) { now.Entries = append(now.Entries, seenEntries(name, seen)...) }
	still := "still present"
	if o.State == repair.Undone || o.State == repair.NothingDone {
		still = "present as before"
	}
	list(still, o.Still)
	list("new", o.New)
	list("in progress", o.Waiting)
	list("could not check", o.Unknown)
	for _, u := range o.Unread {
		add("could not check", u)
	}
	add("diagnosis now", o.Verdict)
	sections := []answer.Section{now}
	if len(o.Others) > 0 {
		sections = append(sections, answer.Section{Heading: "Not part of this plan, still present", Entries: seenEntries("cause", o.Others)})
	}
	return sections
}

// nextAfter are the commands that lead on after a run, and show whether it worked.
func (a *app) nextAfter(run fixRun, end fixEnd, err error) []answer.Entry {
	var list []answer.Entry
	id, o := run.id, end.Outcome
	add := func(name string, words ...string) {
		line := append([]string{a.Name}, words...)
		if words[0] == "fix" && run.stateDir != "" {
			line = append(line, "--state-dir", shellcommand.Quote(run.stateDir))
		}
		if name != theRecord {
			line = append(line, a.source.Connection()...)
		}
		list = append(list, answer.Entry{Name: name, Text: cmdutil.JoinWords(line), Command: true})
	}
	if o == nil {
		return nil
	}
	undoing := run.verb == "undo" || o.State == repair.Undone
	begun := a.planOf(run)
	changed := wantsNewPlan(err)
	if changed && !undoing {
		add("new plan", append([]string{"fix", "plan"}, begun.again...)...)
	}
	if err != nil && o.State != repair.Undone {
		if !undoing && !changed {
			add("continue", "fix", "resume", id)
		}
		if o.State != repair.NothingDone && begun.undoable && !refusedUndo(run, err) {
			add("undo it", "fix", "undo", id)
		}
	}
	if checksAfter(run, o, err) && !after.AllHold(end.Indicators) {
		add("wait for the rest", "watch")
		if end.ExitCode == cmdutil.ExitUndecided && o.ExitCode() == int(cmdutil.ExitOK) {
			add("if it stays so", "collect", "--to", id+".tar.gz")
		}
	}
	switch {
	case o.State == repair.Undone:
		add("new plan", append([]string{"fix", "plan"}, begun.again...)...)
	case o.State == repair.PartlyDone && err == nil:
		add("plan the rest", "fix", "plan")
	case o.State == repair.InProgress && !o.Until.IsZero():
		list = append(list, answer.Entry{Name: "wait", Text: "until " + o.Until.UTC().Format(time.RFC3339) + ", then check again"})
	case o.State == repair.NotChecked:
		list = append(list, answer.Entry{Name: "first", Text: "make readable what could not be checked; nothing is known to be repaired before that"})
	}
	if err == nil && !undoing && o.State != repair.Repaired {
		add("check again", "fix", "resume", id)
	}
	if o.State == repair.PartlyDone {
		add("see the cause", "diagnose")
	} else {
		add("see the cluster", "diagnose")
	}
	add(theRecord, "fix", "history", id)
	return list
}

// refusedUndo reports whether an undo ended because what is left cannot be undone: asked again it
// would be refused again.
func refusedUndo(run fixRun, err error) bool {
	var person *repair.NeedPerson
	return run.verb == "undo" && errors.As(err, &person) && len(person.Left) > 0
}

// wantsNewPlan reports whether a run was refused because the plan no longer fits what is there: to
// continue it is refused for as long as that stands.
func wantsNewPlan(err error) bool {
	var refused *repair.Refused
	return errors.As(err, &refused) && strings.HasPrefix(refused.WayOut, "make a new plan")
}

// begunPlan is what the journal has of a plan.
type begunPlan struct {
	undoable bool     // a step that was done, or may have been, can be undone
	again    []string // the flags of fix plan with which it was made
}

// planOf reads the journal of a run's plan. Where that cannot be read, undo is offered: it reports why.
func (a *app) planOf(run fixRun) begunPlan {
	state, err := statedir.Path(run.stateDir, a.IO.Getenv)
	if err != nil {
		return begunPlan{undoable: true}
	}
	h, err := repair.HistoryOf(state, run.id)
	if err != nil || h.Plan == nil {
		return begunPlan{undoable: true}
	}
	b := begunPlan{undoable: slices.ContainsFunc(h.Acted(), func(s repair.Step) bool { return !strings.HasPrefix(s.Inverse, "none") })}
	if len(h.Plan.Before.Others) > 0 {
		b.again = append(b.again, "--root", shellcommand.Quote(h.Plan.Root.Fault+"@"+h.Plan.Root.Subject.String()))
	}
	for _, e := range h.Plan.Before.Expected {
		b.again = append(b.again, "--expect", shellcommand.Quote(e))
	}
	if h.Plan.Cluster.Hosted != "" {
		b.again = append(b.again, "--hosted", shellcommand.Quote(h.Plan.Cluster.Hosted))
	}
	return b
}

const theRecord = "the record"

// mostListed bounds how many findings of one kind a person is shown.
const mostListed = 20

func seenEntries(name string, seen []repair.Seen) []answer.Entry {
	var list []answer.Entry
	for i, s := range seen {
		if i == mostListed {
			return append(list, answer.Entry{Name: name, Text: fmt.Sprintf("and %d more; -o json lists all", len(seen)-mostListed)})
		}
		list = append(list, answer.Entry{Name: name, Text: s.String()})
	}
	return list
}
