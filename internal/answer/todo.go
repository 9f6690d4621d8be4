package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// actors say who carries a remedy out.
var actors = map[fault.Actor]string{
	fault.ByRollcall: "Rollcall can do it",
	fault.ByPlan:     "in the plan",
	fault.ByCluster:  "in the cluster",
	fault.ByHost:     "on the host",
	fault.ByOutside:  "outside the cluster",
	fault.ByDecision: "needs a decision",
}

// actorSentences say in the verdict who can fix it.
var actorSentences = map[fault.Actor]string{
	fault.ByRollcall: "Rollcall can repair it",
	fault.ByPlan:     "correct the plan",
	fault.ByCluster:  "fix it by hand in the cluster",
	fault.ByHost:     "fix it on the host",
	fault.ByOutside:  "fix it outside the cluster",
	fault.ByDecision: "a person has to decide",
}

// actorWords says who carries a remedy out, and where.
func actorWords(by fault.Actor, where string) string {
	if where != "" {
		return actors[by] + ": " + where
	}
	return actors[by]
}

// todo writes what to do about a cause: the first remedy in full, the others by name. Of a cause
// that is not proven it is what decides.
func (t *text) todo(r diagnosis.Root) {
	if m, ok := t.matchOf(r); ok {
		t.lineTodo(r, m)
		return
	}
	command := t.planCommand(r.Cases[0])
	t.cause, t.planned = r.Cases[0], command
	advice := t.fitting(r.Cases[0].Remedies)
	switch {
	case r.Cases[0].Confidence != diagnosis.Proven && len(advice) > 0:
		t.toDecide(r.Fault, advice, t.proves(r.Cases[0]))
	case command != "":
		t.plan(r, command)
	default:
		t.remedies(advice, t.deadlockRemedy(r))
	}
	t.refused(r.Refused)
	t.more(2, r.Fault)
}

// proves is the command that reads what would prove a cause, "" where none is known.
func (t *text) proves(c diagnosis.Case) string {
	if c.Decides.IsZero() {
		return ""
	}
	return t.o.fetch(c.Decides)
}

// Proves is the command that reads what would prove a cause, or the page that says what does.
func (o Options) Proves(c diagnosis.Case) string {
	if command := o.fetch(c.Decides); command != "" {
		return command
	}
	for _, a := range c.Remedies {
		for _, s := range a.Steps {
			if s.Run != "" && a.Applies != fault.Absent {
				return s.Run
			}
		}
	}
	return o.know("explain " + c.Fault)
}

// toDecide writes what shows whether a cause is the right one: the command that would prove it,
// and the steps of a remedy that only read. A step that changes something needs a proven cause.
func (t *text) toDecide(id string, list []fault.Advice, command string) {
	const decide = "To decide whether it is this cause: "
	if _, runs := shellcommand.Parse(command); command != "" && !runs {
		t.Lead(2, page.Bold.Span(decide), "  ", page.Plain, "it takes "+command, 0)
	} else if command != "" {
		t.Lead(2, page.Bold.Span(decide), "  ", page.Plain, "this only reads", 0)
		t.Line(4, page.Cyan.Span(command))
	}
	list = usable(list)
	i := slices.IndexFunc(list, func(a fault.Advice) bool { return !a.NeedsProof || len(a.Steps) > 0 })
	switch {
	case i >= 0 && !list[i].NeedsProof:
		t.remedies(list[i:i+1], "")
		list = slices.Delete(slices.Clone(list), i, i+1)
	case i >= 0:
		if command == "" {
			t.Lead(2, page.Bold.Span(decide), "  ", page.Plain, "these steps only read", 0)
		} else {
			t.Lead(2, page.Bold.Span("And: "), "  ", page.Plain, "these steps only read", 0)
		}
		t.steps(list[i])
	case i < 0 && len(list) > 0 && t.leftOut[list[0].ID] > 0:
		t.missingSteps(list[0])
	case i < 0 && command == "" && len(list) > 0:
		t.Lead(2, page.Bold.Span(decide), "  ", page.Plain, "what shows it is on its page: "+t.o.know("explain "+id), 0)
	}
	t.onceProven(list)
}

// needsProof is said of a remedy for a cause that is not proven.
const needsProof = "The cause is not proven. These steps only read; those that change something follow when it is proven."

// onceProven names what changes something: those steps follow when the cause is proven.
func (t *text) onceProven(list []fault.Advice) {
	for _, a := range list {
		if !a.NeedsProof || t.cannot[a.ID] {
			continue
		}
		t.Lead(2, page.Bold.Span("Once it is proven: "), "  ", page.Plain, t.about(a, "")+": "+t.o.know("explain "+a.ID), 0)
	}
}

// planCommand is the command that plans the repair of a cause, empty if there is none.
func (t *text) planCommand(c diagnosis.Case) string {
	if len(c.Remedies) == 0 {
		return ""
	}
	return t.planOf(c, c.Remedies[0])
}

// planOf is the command that plans one remedy of a cause, empty if there is none.
func (t *text) planOf(c diagnosis.Case, a fault.Advice) string {
	if !a.Fix || a.Applies == fault.Absent || c.Confidence != diagnosis.Proven || t.o.Plan == nil {
		return ""
	}
	return t.o.Plan(c, a.ID, t.d.OneCase())
}

// plan writes the command that plans the repair of a cause, and what it can do.
func (t *text) plan(r diagnosis.Root, command string) {
	about := "plan the repair (it changes nothing)"
	if t.d.Source.Kind != "live" {
		about = "plan the repair on the live cluster (it changes nothing)"
	}
	t.Lead(2, page.Bold.Span("What to do: "), "  ", page.Plain, about, 0)
	t.Line(4, page.Cyan.Span(command))
	opens := t.deadlockRemedy(r)
	var steps []string
	remedies := r.Cases[0].Remedies
	rest := slices.Clone(remedies)
	for len(rest) > 0 && rest[0].Fix {
		words := rest[0].ID + " (risk: " + string(rest[0].Risk)
		if rest[0].ID == opens {
			words += "; breaks the deadlock"
		}
		steps, rest = append(steps, words+")"), rest[1:]
	}
	t.Lead(2, page.Bold.Span("It can use: "), "  ", page.Plain, strings.Join(steps, ", "), 0)
	if t.o.Wide {
		for _, a := range remedies[:len(steps)] {
			t.Lead(2, page.Bold.Span("By hand: "), "  ", page.Plain, t.about(a, opens), 0)
			t.requires(a)
			t.steps(a)
			t.verify(a.Verify)
			t.costs(a)
		}
	} else {
		t.verify(remedies[0].Verify)
	}
	t.others(rest, opens)
}

// deadlockRemedy is the remedy that breaks the deadlock of a root, "" if there is none.
func (t *text) deadlockRemedy(r diagnosis.Root) string {
	if i := r.Deadlock - 1; i >= 0 && i < len(t.d.Deadlocks) {
		return t.d.Deadlocks[i].Remedy
	}
	return ""
}

// remedies writes the first remedy in full and names the others.
func (t *text) remedies(list []fault.Advice, opens string) {
	if len(list) == 0 {
		t.Lead(2, page.Bold.Span("What to do: "), "  ", page.Plain, "nothing needs a repair here alone. Find its cause: `"+t.o.know("diagnose")+
			"`; keep the evidence with `"+t.o.know("collect")+"`.", 0)
		return
	}
	t.Lead(2, page.Bold.Span("What to do: "), "  ", page.Plain, t.about(list[0], opens), 0)
	t.requires(list[0])
	t.steps(list[0])
	t.verify(list[0].Verify)
	if t.o.Wide {
		t.costs(list[0])
	}
	t.others(list[1:], opens)
}

// others names the remedies after the first.
func (t *text) others(list []fault.Advice, opens string) {
	for _, a := range list {
		if t.cannot[a.ID] {
			continue
		}
		mark := "Or: "
		if a.Applies == fault.Absent {
			mark = "Not now: "
		}
		t.Lead(2, page.Bold.Span(mark), "  ", page.Plain, t.about(a, opens)+": "+t.o.know("explain "+a.ID), 0)
		decided := a.By != fault.ByDecision || len(a.Requires) > 0 // else it is not known that it can be planned
		if command := t.planOf(t.cause, a); command != "" && decided {
			t.Line(4, page.Cyan.Span(command))
		}
		if t.o.Wide {
			t.requires(a)
		}
	}
}

// about is a remedy in one sentence.
func (t *text) about(a fault.Advice, opens string) string {
	line := t.o.Brief(a.Title) + " (" + actorWords(a.Actor(), a.Where) + "; risk: " + string(a.Risk)
	if a.ID == opens {
		line += "; breaks the deadlock"
	}
	return line + ")"
}

func (t *text) requires(a fault.Advice) {
	for _, q := range a.Requires {
		if !t.o.Wide && strings.HasSuffix(q, ": yes") {
			continue
		}
		t.Lead(4, page.Yellow.Span("Only if "), "  ", page.Plain, q, 0)
	}
}

// steps writes the steps with their numbers; commands are never broken.
func (t *text) steps(a fault.Advice) {
	for i, s := range a.Steps {
		do := s.Do
		if s.On == "host" {
			do += " (on the host)"
		}
		t.Para(2, page.Bold.Span(fmt.Sprintf("%d. ", i+1)), page.Plain, do)
		for l := range strings.Lines(s.Run) {
			t.Line(5, page.Cyan.Span(t.command(strings.TrimRight(l, "\n"))))
		}
		if s.Expect != "" {
			t.Para(5, page.Dim.Span(t.Sign(page.Pointer)+" "), page.Dim, s.Expect)
		}
	}
	t.missingSteps(a)
}

// command writes a command of ours as the user calls it.
func (t *text) command(line string) string {
	rest, ours := strings.CutPrefix(line, "rollcall ")
	switch {
	case !ours:
		return line
	case rest == "fix plan" && t.planned != "":
		return t.planned
	case t.d.Source.Kind == planSource && t.o.Call != "" && strings.HasPrefix(rest, "preflight"):
		return t.preflight(line)
	case strings.HasPrefix(rest, "diagnose") && t.d.Source.Kind == "live": // an archive does not change
		return t.o.Again(rest)
	}
	return t.o.know(rest)
}

func (t *text) verify(v fault.Proof) {
	expect := v.Expect
	if v.Takes != "" {
		expect += " (usually within " + v.Takes + ")"
	}
	t.Lead(2, page.Bold.Span("It worked when: "), "  ", page.Plain, expect, 0)
	if v.Run != "" {
		t.Line(5, page.Cyan.Span(t.command(v.Run)))
	}
}

func (t *text) costs(a fault.Advice) {
	for _, line := range []struct{ head, text string }{{"Risk: ", a.RiskText}, {"Undo: ", a.Undo}, {"If the diagnosis is wrong: ", a.IfWrong}} {
		if line.text != "" {
			t.Lead(2, page.Bold.Span(line.head), "  ", page.Plain, line.text, 0)
		}
	}
}

// refused names common unsafe advice.
func (t *text) refused(ids []string) {
	if len(ids) == 0 {
		return
	}
	if !t.o.Wide {
		t.Lead(2, page.Red.Span("Do not "), "  ", page.Plain, "(why: "+t.o.know("explain ID")+"): "+strings.Join(ids, ", "), 0)
		return
	}
	t.Line(2, page.Red.Span("Do not"), page.Plain.Span(" (why: "), page.Cyan.Span(t.o.know("explain ID")), page.Plain.Span(")"))
	for _, id := range ids {
		line := id
		if known, ok := t.o.Refused[id]; ok {
			line += ": " + known.Title
		}
		t.Para(2, page.Plain.Span("- "), page.Plain, line)
	}
}

// unexplainedTodo writes what to do about a symptom whose cause is not known: the remedies
// of the symptom itself, where it has some.
func (t *text) unexplainedTodo(u diagnosis.Unexplained) {
	if len(usable(u.Remedies)) > 0 {
		t.toDecide(u.Fault, t.fitting(u.Remedies), "")
	}
}

// usable are the remedies that can be used now, or may be.
func usable(list []fault.Advice) []fault.Advice {
	return slices.DeleteFunc(slices.Clone(list), func(a fault.Advice) bool { return a.Applies == fault.Absent })
}
