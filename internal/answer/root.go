package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	fewLinks = 12 // lines of a chain
	fewRuled = 2
	fewNames = 4
	fewMeans = 2 // lines
)

// root writes one root: what, how sure, what to do; of several cases the first.
func (t *text) root(i, of int, r diagnosis.Root) {
	first := r.Cases[0]
	t.Blank()
	g, style := page.Bad, page.Red
	if r.Severity != fault.Error {
		g, style = page.Warn, page.Yellow
	}
	mark := t.Sign(g) + " "
	if of > 1 {
		mark = fmt.Sprintf("%s%d of %d: ", mark, i+1, of)
	}
	title, sure, lowered := t.linkTitle(&link{keys: r.Keys()}), confidences[r.LeastSure().Confidence], r.LeastSure().Lowered
	if m, ok := t.matchOf(r); ok {
		title, sure = matchTitle(m, t.o.Catalog), strings.Trim(sureWords[m.Confidence], " ()")
		if m.Confidence == fault.ShowsProven {
			lowered = ""
		}
	}
	t.Lead(0, style.Span(mark), "  ", page.Bold, title, 0)
	about := []string{r.Fault, sure, string(r.Severity)}
	if first.Subject.Name != fault.Unnamed {
		about = append(about, first.Subject.String())
	}
	if s := t.begin(first.Since); s != "" {
		about = append(about, s)
	}
	t.Parts(2, page.Dim, about)
	if lowered != "" {
		t.Lead(2, page.Yellow.Span("Not proven: "), "            ", page.Plain, t.o.Brief(lowered), 0)
	}
	t.means(r.Means)
	t.todo(r)
}

// causeDetails writes the proof of a root, what it leads to, and which other causes are not there.
func (t *text) causeDetails(i, of int, r diagnosis.Root) {
	t.Blank()
	head := "Why"
	if of > 1 {
		head = fmt.Sprintf("Why (%d of %d): %s", i+1, of, r.Fault)
	}
	t.Head(0, head)
	t.proof(r.Cases[0].Evidence)
	t.ring(r)
	t.effects(r)
	t.ruledOut(r.Cases[0])
}

// clauseEnd is where a text may end early.
var clauseEnd = regexp.MustCompile(`[.;]( |$)`)

// means writes what a fault means: the first clauses that have room, whole.
func (t *text) means(text string) {
	text = t.o.Brief(text)
	if !t.o.Wide {
		const room = page.LineRoom
		whole := ""
		for _, end := range clauseEnd.FindAllStringIndex(text, -1) {
			if len(page.Break(t.Clean(text[:end[0]]+"."), room, room)) <= fewMeans {
				whole = text[:end[0]] + "."
			}
		}
		if whole != "" {
			text = whole
		}
	}
	t.Lead(2, page.Span{}, "", page.Plain, text, t.limit(fewMeans))
}

// limit is n lines, or all of them in wide output.
func (t *text) limit(n int) int {
	if t.o.Wide {
		return 0
	}
	return n
}

// effects draws the chain from the root to the symptoms.
func (t *text) effects(r diagnosis.Root) {
	top := chain(t.d, r)
	if len(top) == 0 {
		return
	}
	t.Head(2, "Effects")
	left := fewLinks
	if t.o.Wide {
		left = 1 << 20
	}
	t.branches(top, "", &left)
	if left < 0 {
		t.Para(2, page.Span{}, page.Dim, moreHint(-left))
	}
}

func (t *text) branches(list []*link, before string, left *int) {
	for i, l := range list {
		glyph, below := page.Branch, t.Sign(page.Trunk)
		if i == len(list)-1 {
			glyph, below = page.LastBranch, "   "
		}
		if *left--; *left >= 0 {
			inner := below
			if len(l.children) > 0 {
				inner += t.Sign(page.Trunk)[:len(t.Sign(page.Trunk))-2]
			}
			t.Lead(2, page.Plain.Span(before+t.Sign(glyph)), before+below, page.Plain, t.effectTitle(l), 0)
		}
		t.branches(l.children, before+below, left)
	}
}

// effectTitle is the title of a link of a chain, with what weakens it.
func (t *text) effectTitle(l *link) string {
	title := t.linkTitle(l) + uncertainEdge(l.strength)
	if !slices.ContainsFunc(l.keys, func(k fault.Key) bool { return t.finding[k].Accepted == nil }) {
		title += " (accepted)"
	}
	return title
}

// uncertainEdge marks edges that are not certain.
func uncertainEdge(s fault.Strength) string {
	switch s {
	case fault.LikelyEdge:
		return " (likely because of it)"
	case fault.PossibleEdge:
		return " (possibly because of it)"
	}
	return ""
}

// linkTitle is the title of the first of the same findings, and where it is the same.
func (t *text) linkTitle(l *link) string {
	title := t.title(l.keys[0])
	if len(l.keys) == 1 {
		return title
	}
	var names []string
	same := "the same"
	first := l.keys[0].Subject.Name
	for _, k := range l.keys[1:] {
		names = append(names, k.Subject.Name)
		if strings.ReplaceAll(title, first, "") != strings.ReplaceAll(t.title(k), k.Subject.Name, "") {
			same = "alike"
		}
	}
	title = fmt.Sprintf("%s; %s: %s", title, same, some(names, t.names()))
	if len(names) > t.names() {
		title += fmt.Sprintf(" (%d %s)", len(l.keys), plurals[l.keys[0].Subject.Kind])
	}
	return title
}

func (t *text) names() int {
	if t.o.Wide {
		return 1 << 20
	}
	return fewNames
}

// title is a finding's title; the subject is added where it does not name it.
func (t *text) title(k fault.Key) string {
	title := t.finding[k].Title
	if title == "" {
		title = k.Fault
	}
	if k.Subject.Name != "" && k.Subject.Name != fault.Unnamed && !strings.Contains(title, k.Subject.Name) {
		title += " (" + k.Subject.String() + ")"
	}
	return t.o.Brief(title)
}

// ring draws a deadlock: each line blocks the next, the last the first.
func (t *text) ring(r diagnosis.Root) {
	i := r.Deadlock - 1
	if i < 0 || i >= len(t.d.Deadlocks) {
		return
	}
	dead := t.d.Deadlocks[i]
	s := t.Style
	t.Head(2, "Deadlock: these block one another; waiting does not help")
	links := loop(t.d, dead)
	for i, l := range links {
		first, further := s.Sign(page.RingSide), s.Sign(page.RingSide)
		switch i {
		case 0:
			first = s.Sign(page.RingTop)
		case len(links) - 1:
			first, further = s.Sign(page.RingEnd), "    "
		}
		title := t.linkTitle(l)
		if l.fault == r.Fault && len(l.keys) == 1 {
			title = "the fault above"
		}
		t.Lead(2, page.Plain.Span(first), further, page.Plain, title, 0)
	}
	if dead.Remedy != "" {
		t.Lead(2, page.Bold.Span("What breaks it: "), "  ", page.Plain, t.remedyTitle(dead.Remedy), 0)
	}
}

// remedyTitle is the title of a remedy that some root has.
func (t *text) remedyTitle(id string) string {
	for _, r := range t.d.Roots {
		for _, a := range r.Cases[0].Remedies {
			if a.ID == id {
				return a.Title
			}
		}
	}
	return id
}

func ruledWords(ids []string) string {
	words := some(ids, fewRuled)
	if len(ids) > fewRuled {
		words = fmt.Sprintf("%d other causes, e.g. %s", len(ids), strings.Join(ids[:fewRuled], ", "))
	}
	return words + " (why: -o wide)"
}

// ruledOut names the other causes of the same symptoms that are not there.
func (t *text) ruledOut(r diagnosis.Case) {
	if len(r.RuledOut) == 0 {
		return
	}
	if !t.o.Wide {
		var ids []string
		for _, o := range r.RuledOut {
			if !slices.Contains(ids, o.Fault) {
				ids = append(ids, o.Fault)
			}
		}
		t.Lead(2, page.Bold.Span("Ruled out: "), "  ", page.Plain, ruledWords(ids), 0)
		return
	}
	t.Head(2, "Ruled out")
	for _, o := range r.RuledOut {
		line := o.Fault + ": " + o.Title
		if o.Reason != "" {
			line += " (" + o.Reason + ")"
		}
		t.Para(2, page.Plain.Span("- "), page.Plain, line)
	}
}
