package catalogpages

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// fault is the page of one fault.
func (b *book) fault(f *fault.Fault) string {
	d := newDoc(title(f))
	d.table([]string{"id", "layer", "subject", "severity"}, [][]string{{code(f.ID), link(f.Layer, "../by-layer.md#"+f.Layer), string(f.For),
		string(f.Severity)}})
	var about []string
	if len(f.Aliases) > 0 {
		about = append(about, "Also known as: "+codes(f.Aliases))
	}
	if f.Blocks != "" {
		about = append(about, "Stage that it blocks: "+link(code(string(f.Blocks)),
			"../join-path.md#"+string(f.Blocks))+", "+prose(answer.StageMeans(f.Blocks)))
	}
	if words := controlPlanes[fault.ControlPlaneOf(f)]; words != "" {
		about = append(about, words)
	}
	if f.Versions != "" {
		about = append(about, "Versions: "+code(f.Versions))
	}
	d.list(about)
	d.head(2, "What it means")
	d.para(prose(f.Means))
	b.whatToDo(d, f)
	b.recognized(d, f)
	b.howDecided(d, f)
	b.neighbors(d, f)
	d.section("Sources", sources(f.Refs))
	return d.String()
}

// controlPlanes say where a fault is looked for, if not everywhere.
var controlPlanes = map[fault.ControlPlane]string{
	fault.OwnControlPlane:    "Only where the cluster runs its own control plane",
	fault.HostedControlPlane: "Only for hosted clusters",
}

func (b *book) whatToDo(d *doc, f *fault.Fault) {
	d.head(2, "What to do")
	if f.NoRemedy != "" {
		d.para("There is no remedy. " + f.NoRemedy)
	} else if len(f.Remedies) == 0 {
		d.para("The catalog has no remedy of its own for this fault. " + b.noRemedy(f))
	}
	for i, id := range f.Remedies {
		r, _ := b.Remedy(id) // Load has checked that it is there
		lead := ""
		if i == 0 {
			lead = "\n"
		}
		fmt.Fprintf(&d.b, "%s%d. %s: %s (%s; risk: %s)\n", lead, i+1, upper(remedyTitle(r)), b.remedyLink("../", r),
			prose(answer.ActorWords(r.By, r.Where)), r.Risk)
	}
	var not []string
	for _, r := range b.Refused {
		if slices.Contains(f.Refused, r.ID) {
			not = append(not, upper(prose(r.Title))+": "+refusedLink("../", r))
		}
	}
	d.section("What not to do", not)
}

// noRemedy says what helps where the fault itself has no remedy.
func (b *book) noRemedy(f *fault.Fault) string {
	if !f.StandsAlone && len(b.causes[f.ID]) > 0 {
		return "It is a symptom: repair its [cause](#causes-and-effects)."
	}
	return "`rollcall diagnose` shows the proof."
}

// recognized says what shows the fault.
func (b *book) recognized(d *doc, f *fault.Fault) {
	d.head(2, "How it is recognized")
	switch {
	case f.TextOnly():
		d.para("Only where a text shows it, for example with `rollcall scan FILE`: no object of a cluster decides it.")
	case fault.Preflight(f):
		d.para("A check of `rollcall preflight` finds it; its proof shows the place and what to write there.")
	default:
		d.para("It is present when this expression is true:")
		d.block(0, "text", f.When)
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(f.Given)) {
			fact := b.facts[f.Given[name].Fact]
			rows = append(rows, []string{code(name), code(f.Given[name].Fact), prose(fact.Doc), reads(fact)})
		}
		if len(rows) > 0 {
			d.table([]string{"name", "fact", "what it is", "what it reads"}, rows)
		}
	}
	if s := f.Settles; s != nil {
		line := "It is normal for the first " + fault.Span(s.Within.Duration)
		if s.Unless != "" {
			line += ", unless " + code(s.Unless)
		}
		d.para(line + ".")
	}
	if len(b.messages[f.ID]) == 0 {
		return
	}
	d.para("These messages show it:")
	var rows [][]string
	for _, m := range b.messages[f.ID] {
		rows = append(rows, []string{prose(m.program), messageText(m.Message), grade(m.Shows)})
	}
	d.table([]string{"program", "message contains", "how sure"}, rows)
}

// reads lists what a fact reads, shortened: many facts read whatever names hosts.
// `rollcall explain FACT` has all.
func reads(f facts.Fact) string {
	const most = 4
	var needs []string
	for _, n := range f.Needs {
		needs = append(needs, n.String())
	}
	if more := len(needs) - most; more > 1 {
		return codes(needs[:most]) + fmt.Sprintf(" and %d more", more)
	}
	return codes(needs)
}

func grade(g fault.Grade) string {
	if g == "" {
		return string(fault.ShowsLikely)
	}
	return string(g)
}

// messageText is what a line must contain, and what it must not.
func messageText(m fault.Message) string {
	text := code(m.Text)
	for _, also := range m.Also {
		text += " and " + code(also)
	}
	if m.Match != "" {
		text += ", matching " + code(m.Match)
	}
	if m.Unless != "" {
		text += ", not matching " + code(m.Unless)
	}
	if len(m.With) > 0 {
		text += "; elsewhere in the text: " + codesWith(" or ", m.With)
	}
	return text
}

// howDecided writes what proves the fault and what rules it out.
func (b *book) howDecided(d *doc, f *fault.Fault) {
	var list []string
	if f.Refute != "" {
		list = append(list, "Ruled out when "+code(f.Refute))
	}
	for _, s := range f.Support {
		list = append(list, "Its mechanism was seen when "+code(s))
	}
	if f.Next != "" {
		list = append(list, "When it is unknown, the fact "+code(f.Next)+" decides: "+code("rollcall explain "+f.Next))
	}
	if len(list) > 0 {
		d.section("How it is distinguished", list)
	}
}

// neighbors lists causes and effects.
func (b *book) neighbors(d *doc, f *fault.Fault) {
	causes, effects := b.causes[f.ID], b.effects[f.ID]
	if len(causes)+len(effects) == 0 {
		return
	}
	d.head(2, "Causes and effects")
	if len(causes) > 0 {
		d.para("Possible causes, the surest first:")
		d.list(edgeItems(causes))
	}
	if len(effects) > 0 {
		d.para("Effects:")
		d.list(edgeItems(effects))
	}
}

// edgeItems lists neighbors with how sure each edge is and when it holds.
func edgeItems(list []neighbor) []string {
	var items []string
	for _, n := range list {
		item := link(code(n.fault.ID), n.fault.ID+".md") + ": " + title(n.fault) + " (" + string(n.edge.Strength) + "; effect at " +
			answer.RelationWords(n.edge.On)
		if n.edge.When != "" {
			item += "; when " + code(n.edge.When)
		}
		items = append(items, item+")")
	}
	return items
}
