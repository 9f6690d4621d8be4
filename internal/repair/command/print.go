package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// grades says what a proof grade means, for a person.
var grades = map[repair.Grade]string{
	repair.ProvedInLab: "proved on the real servers in the lab",
	repair.Simulated:   "proved in the lab, with a part of the product simulated",
	repair.Advice:      "from reading the sources; not proved by a run",
}

// printPlan prints a plan as a person reads it before applying it: what is done,
// with which risk, whether it can be undone, and how far it was proved.
func (a *app) printPlan(p *repair.Plan, path, stateDir string) error {
	apply := []string{a.Name, "fix apply", shellcommand.Quote(path)}
	if stateDir != "" {
		apply = append(apply, "--state-dir", shellcommand.Quote(stateDir))
	}
	if p.From != "" {
		saved := answer.Entry{Name: "not saved", Text: "--to FILE saves it"}
		if path != "" {
			saved = answer.Entry{Name: "saved as", Text: path, Command: true}
		}
		list := append(a.planSections(p, p.Steps), answer.Section{Heading: "Not applicable: made from an archive", Entries: []answer.Entry{
			saved, {Name: "next", Text: "this shows what would be done; make the plan from the cluster itself to apply it"},
		}})
		return answer.Sections(a.IO.Out, a.Style(), list)
	}
	list := append(a.planSections(p, p.Steps), answer.Section{Heading: "Nothing was changed in the cluster", Entries: []answer.Entry{
		{Name: "saved as", Text: path, Command: true},
		{Name: "apply it", Text: cmdutil.JoinWords(append(apply, a.source.Connection()...)), Command: true},
	}})
	return answer.Sections(a.IO.Out, a.Style(), list)
}

// planSections describe a plan and some of its steps.
func (a *app) planSections(p *repair.Plan, steps []repair.Step) []answer.Section {
	about := answer.Section{Heading: "Plan " + p.ID, Entries: []answer.Entry{
		{Name: "for", Text: fmt.Sprintf("%s at %s: %s", p.Root.Fault, p.Root.Subject, p.Title)},
		{Name: "effects", Text: keyList(slices.DeleteFunc(slices.Clone(p.Before.For), func(k fault.Key) bool { return k == p.Root }))},
		{Name: "not part of it", Text: keyList(p.Before.Others)},
		{Name: "cluster", Text: clusterText(p)},
		{Name: "steps", Text: planSummary(steps)},
	}}
	if len(steps) < len(p.Steps) {
		about.Entries = append(about.Entries, answer.Entry{Name: "done", Text: fmt.Sprintf("%d of %d steps", len(p.Steps)-len(steps), len(p.Steps))})
	}
	list := []answer.Section{about}
	for _, s := range steps {
		list = append(list, stepSection(s))
	}
	var notes []answer.Entry
	for _, n := range p.Notes {
		notes = append(notes, answer.Entry{Name: "note", Text: n})
	}
	for _, o := range p.Open {
		notes = append(notes, answer.Entry{Name: "not in it", Text: o})
	}
	for _, o := range p.Outside {
		notes = append(notes, answer.Entry{Name: "a person", Text: o})
	}
	if len(notes) > 0 {
		list = append(list, answer.Section{Heading: "Also", Entries: notes})
	}
	return list
}

// clusterText names the cluster of a plan, or the archive that stands for it.
func clusterText(p *repair.Plan) string {
	if p.From != "" {
		return fmt.Sprintf("%s, read from %s", p.Cluster.ID, p.From)
	}
	return fmt.Sprintf("%s, context %s, %s", p.Cluster.ID, p.Context, p.Cluster.Server)
}

// keyList names faults with their subjects, "" for none.
func keyList(list []fault.Key) string {
	names := make([]string, 0, len(list))
	for _, k := range list {
		names = append(names, fmt.Sprintf("%s at %s", k.Fault, k.Subject))
	}
	return strings.Join(names, ", ")
}

// planSummary says at a glance how much some steps do.
func planSummary(steps []repair.Step) string {
	acting, worst := 0, fault.RiskNone
	for _, s := range steps {
		if s.Writes() {
			acting++
		}
		if riskRank(s.Risk) > riskRank(worst) {
			worst = s.Risk
		}
	}
	return fmt.Sprintf("%d: %d to change something, %d only to wait and look; highest risk: %s", len(steps), acting, len(steps)-acting, worst)
}

// riskRank orders classes of risk, the worst last. A plan with another class is not loaded.
func riskRank(r fault.Risk) int {
	return slices.Index(fault.Risks(), r)
}

func stepSection(s repair.Step) answer.Section {
	risk := string(s.Risk)
	if s.RiskText != "" {
		risk += ": " + s.RiskText
	}
	until := answer.Entry{Name: "until", Text: fmt.Sprintf("%s (at most %s)", s.Expect.Text, span(s.Deadline.Duration))}
	byHand := answer.Entry{Name: "by hand", Text: s.OC, Command: true}
	section := answer.Section{Heading: s.ID + ": " + s.Title}
	if !s.Writes() {
		section.Entries = []answer.Entry{{Name: "risk", Text: risk + "; only waits and looks"}, until, byHand}
		return section
	}
	section.Entries = []answer.Entry{{Name: "risk", Text: risk}}
	add := func(name string, lines []string, command bool) {
		for _, line := range lines {
			section.Entries = append(section.Entries, answer.Entry{Name: name, Text: line, Command: command})
			name = ""
		}
	}
	if len(s.Now) == 0 {
		add("only if", []string{guardList(s.Preconditions)}, false)
	}
	add("seen now", s.Now, false)
	add("change", strings.Split(strings.TrimSuffix(s.Diff, "\n"), "\n"), true)
	if !strings.HasPrefix(s.PreImage, "none") {
		add("kept", []string{s.PreImage + " (in pre-images/ of the state directory, mode 0600)"}, false)
	}
	section.Entries = append(section.Entries, answer.Entry{Name: "undo", Text: s.Inverse}, answer.Entry{Name: "proof", Text: grades[s.Proof]}, until, byHand)
	return section
}

// span renders a deadline without its zeros: 30m, 2h.
func span(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if s == "" || strings.HasSuffix(s, "m") || strings.HasSuffix(s, "h") {
		return s
	}
	return d.String()
}

func guardList(list []repair.Guard) string {
	var names []string
	for _, g := range list {
		name := string(g.Guard)
		if g.Count > 0 {
			name += fmt.Sprintf(" (%d)", g.Count)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// sayStep prints progress on stderr, with a heading where a step begins.
func (a *app) sayStep() func(step, text string) {
	if a.Quiet {
		return nil
	}
	last, clean := "", a.CleanText
	return func(step, text string) {
		if step != last {
			last = step
			fmt.Fprintf(a.IO.Err, "%s  %s\n", clean(step), clean(text))
			return
		}
		fmt.Fprintf(a.IO.Err, "   %s  %s\n", a.IO.Clock().UTC().Format(time.TimeOnly), clean(text))
	}
}
