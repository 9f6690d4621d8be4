package catalogpages

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// plainAdvice is a remedy outside a diagnosis: its placeholders are shown as words.
func plainAdvice(r *fault.Remedy) fault.Advice {
	return r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil })
}

// remedy is the page of one remedy.
func (b *book) remedy(r *fault.Remedy) string {
	a := plainAdvice(r)
	d := newDoc(upper(prose(a.Title)))
	d.table([]string{"id", "who", "risk"}, [][]string{{code(r.ID), prose(answer.ActorWords(r.By, r.Where)), string(r.Risk)}})
	var about []string
	if a.RiskText != "" {
		about = append(about, "Risk: "+prose(a.RiskText))
	}
	if r.Fix {
		about = append(about, "Rollcall can do it: `rollcall fix plan`")
	}
	if r.Versions != "" {
		about = append(about, "Versions: "+code(r.Versions))
	}
	if len(r.Platforms) > 0 {
		about = append(about, "Platforms: "+strings.Join(r.Platforms, ", "))
	}
	if r.Recovery != "" {
		about = append(about, "The cluster is not repaired in place: "+strings.ReplaceAll(string(r.Recovery), "-", " "))
	}
	about = append(about, "Tried: "+prose(answer.TriedWords(r.Tried)))
	d.list(about)
	var only []string
	for _, q := range r.Requires {
		only = append(only, prose(answer.Plain(q.Says))+": "+code(q.That))
	}
	d.section("Only if", only)
	d.head(2, "Steps")
	for i, s := range a.Steps {
		d.step(i+1, s)
	}
	d.head(2, "It worked when")
	if a.Verify.Run != "" {
		d.block(0, "sh", a.Verify.Run)
	}
	d.para("Expect: " + prose(a.Verify.Expect))
	if a.Verify.Takes != "" {
		d.para("This usually takes " + a.Verify.Takes + ".")
	}
	if a.Undo != "" {
		d.head(2, "Undo")
		d.para(prose(a.Undo))
	}
	if a.IfWrong != "" {
		d.head(2, "If the diagnosis is wrong")
		d.para(prose(a.IfWrong))
	}
	var faults []string
	for _, f := range byID(b.uses[r.ID]) {
		faults = append(faults, b.faultLink("../", f)+": "+title(f))
	}
	d.section("Faults", faults)
	d.section("Sources", sources(r.Refs))
	return d.String()
}

// step writes one step as an item of a numbered list.
func (d *doc) step(n int, s fault.Step) {
	number := strconv.Itoa(n) + ". "
	indent := len(number)
	var where []string
	if s.On == "host" {
		where = append(where, "on the host")
	}
	if s.Changes {
		where = append(where, "changes something")
	}
	text := prose(s.Do)
	if len(where) > 0 {
		text += " **(" + strings.Join(where, "; ") + ")**"
	}
	fmt.Fprintf(&d.b, "\n%s%s\n", number, text)
	if s.Run != "" {
		d.block(indent, "sh", s.Run)
	}
	if s.Expect != "" {
		fmt.Fprintf(&d.b, "\n%sExpect: %s\n", strings.Repeat(" ", indent), prose(s.Expect))
	}
}

// refused is the page of all advice that is refused.
func (b *book) refused() string {
	d := newDoc("Unsafe advice")
	d.para("Common advice that Rollcall refuses, why it is unsafe, and what to do instead.")
	var list []string
	for _, r := range b.Refused {
		list = append(list, refusedLink("", r)+": "+prose(r.Title))
	}
	d.list(list)
	for _, r := range b.Refused {
		d.head(2, r.ID)
		d.para("**The advice:** " + prose(r.Title))
		d.para("**What really happens:** " + prose(r.Happens))
		d.para("**When it is safe:** " + prose(r.When))
		d.para("**Instead:** " + prose(r.Instead))
		var advice []string
		for _, text := range r.Advice {
			advice = append(advice, prose(text))
		}
		d.para("Also worded as:")
		d.list(advice)
		if len(r.Commands) > 0 {
			d.para("Commands that match all of these expressions (any case, quotes removed) are refused:")
			d.list(patterns(r))
		}
		var faults []string
		for _, f := range byID(b.refusals[r.ID]) {
			faults = append(faults, b.faultLink("", f)+": "+title(f))
		}
		if len(faults) > 0 {
			d.para("Applies to:")
			d.list(faults)
		}
		d.para("Sources:")
		d.list(sources(r.Refs))
	}
	return d.String()
}

// patterns lists how refused advice looks as a command.
func patterns(r *fault.RefusedRemedy) []string {
	var list []string
	for _, p := range r.Commands {
		line := codesWith(" and ", p.Has)
		if len(p.Not) > 0 {
			line += ", but not " + codesWith(" or ", p.Not)
		}
		list = append(list, line)
	}
	return list
}
