package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// htmlRoot is one cause.
type htmlRoot struct {
	ID          string
	Class, Sign string
	Number      string
	Title       string
	Tags        []string
	Where       []string
	Lowered     string
	Means       string
	Proof       []htmlProof
	MoreProof   []htmlProof
	HasChain    bool
	Charts      []drawing
	Tree        []htmlTree
	Ring        []string
	RuledOut    []pair
	Do          htmlDo
	Refused     []htmlRefused
	Refs        []string
}

// htmlProof is an excerpt with every place that has it.
type htmlProof struct {
	Text   string
	Places []htmlPlace // the first of them

	MorePlaces []htmlPlace
}

type htmlPlace struct{ Where, Source, From string }

type htmlTree struct {
	Title    string
	Children []htmlTree
}

// htmlDo is what to do about a cause: the first remedy in full.
type htmlDo struct {
	Command, About string // of `fix plan`, where Rollcall can do it
	Decides        string // reads what would prove the cause
	First          *htmlRemedy
	Others         []htmlRemedy
	More, URL      string // the command and, where the pages are published, the address of the page of the fault
}

type htmlRemedy struct {
	ID, Title, Who, Risk, RiskText string
	Opens, NotNow, NeedsProof      bool
	Requires                       []string
	Steps                          []htmlDoStep
	Worked, Check, Undo, IfWrong   string
}

type htmlDoStep struct {
	Do, Run, Expect string
	OnHost          bool
}

type htmlRefused struct{ ID, Title, Happens, When, Instead string }

const (
	shownProofs = 5
	shownPlaces = 3
)

func (t *text) htmlRoot(i, of int, r diagnosis.Root) htmlRoot {
	first := r.Cases[0]
	h := htmlRoot{
		ID: fmt.Sprintf("cause-%d", i+1), Class: "bad", Sign: page.Style{}.Sign(page.Bad), Number: "Cause",
		Title: t.linkTitle(&link{keys: r.Keys()}), Lowered: r.LeastSure().Lowered, Means: r.Means,
		Do: t.htmlDo(r), Refused: t.htmlRefused(r.Refused),
	}
	switch plan := t.d.Source.Kind == planSource; {
	case plan && of > 1:
		h.Number = fmt.Sprintf("%d of %d: %s", i+1, of, strings.ToLower(planKinds[r.Severity]))
	case plan:
		h.Number = planKinds[r.Severity]
	case of > 1:
		h.Number = fmt.Sprintf("Cause %d of %d", i+1, of)
	}
	if r.Severity != fault.Error {
		h.Class, h.Sign = "warn", page.Style{}.Sign(page.Warn)
	}
	h.Tags = []string{confidences[r.LeastSure().Confidence], string(r.Severity)}
	if t.d.Source.Kind != planSource { // a plan has no other subject
		h.Tags = append(h.Tags, first.Subject.String())
	}
	if s := since(first.Since, t.d.Now); s != "" {
		h.Tags = append(h.Tags, s)
	}
	h.Tags = append(h.Tags, r.Fault)
	if len(r.Cases) > fewNames {
		h.Where = subjects(r.Keys())
	}
	h.Proof, h.MoreProof = t.htmlProof(first.Evidence)
	p := graphOf(t.d, r)
	if h.HasChain = len(p.boxes) > 1 || p.ring != nil; h.HasChain {
		h.Charts = []drawing{t.draw(p, 3), t.draw(p, 1)}
		h.Charts[0].Class, h.Charts[1].Class = "broad", "narrow"
	}
	for _, l := range p.ring {
		h.Ring = append(h.Ring, t.linkTitle(l))
	}
	h.Tree = t.htmlTree(chain(t.d, r))
	for _, o := range first.RuledOut {
		h.RuledOut = append(h.RuledOut, pair{o.Fault + " (" + o.Subject.String() + ")", ruledOutWords(o)})
	}
	if f, ok := t.entry(r.Fault); ok {
		h.Refs = refWords(f.Refs)
	}
	return h
}

func ruledOutWords(o diagnosis.RuledOut) string {
	line := o.Title
	if o.Reason != "" {
		line += ": " + o.Reason
	}
	return line
}

func subjects(keys []fault.Key) []string {
	var list []string
	for _, k := range keys {
		list = append(list, k.Subject.String())
	}
	return list
}

// htmlProof is the proof in full, best first; what is more than fits a glance comes
// second.
func (t *text) htmlProof(items []evidence.Item) (first, rest []htmlProof) {
	var list []htmlProof
	for _, i := range bestFirst(distinct(items, true)) {
		place := htmlPlace{Where: i.Locator.String(), From: i.From}
		if s := i.Locator.Source; s != "" && s != "live" && s != t.d.Source.Name {
			place.Source = s
		}
		text := excerpt(i.Item)
		have := slices.IndexFunc(list, func(p htmlProof) bool { return p.Text == text })
		if have < 0 {
			have, list = len(list), append(list, htmlProof{Text: text})
		}
		list[have].Places = append(list[have].Places, place)
	}
	for i, p := range list {
		n := min(shownPlaces, len(p.Places))
		list[i].Places, list[i].MorePlaces = p.Places[:n], p.Places[n:]
	}
	n := min(shownProofs, len(list))
	return list[:n], list[n:]
}

func (t *text) htmlTree(list []*link) []htmlTree {
	var tree []htmlTree
	for _, l := range list {
		tree = append(tree, htmlTree{t.effectTitle(l), t.htmlTree(l.children)})
	}
	return tree
}

func (t *text) htmlDo(r diagnosis.Root) htmlDo {
	t.planned = t.planCommand(r.Cases[0])
	do := t.htmlAdvice(r.Fault, r.Cases[0].Remedies, t.deadlockRemedy(r))
	do.Decides = t.proves(r.Cases[0])
	if do.First != nil && t.planned != "" {
		do.Command, do.About = t.planned, "It changes nothing and writes the plan to a file to read first."
		if t.d.Source.Kind != "live" {
			do.About = "It needs the live cluster. " + do.About
		}
	}
	return do
}

// htmlAdvice writes the remedies of a fault, the first apart from the others.
func (t *text) htmlAdvice(id string, list []fault.Advice, opens string) htmlDo {
	do := htmlDo{More: t.o.know("explain " + id), URL: t.o.url("faults", id)}
	for i, a := range list {
		h := t.htmlRemedy(a)
		h.Opens = a.ID == opens
		if i == 0 {
			do.First = &h
		} else {
			do.Others = append(do.Others, h)
		}
	}
	return do
}

func (t *text) htmlRemedy(a fault.Advice) htmlRemedy {
	h := htmlRemedy{
		ID: a.ID, Title: a.Title, Who: actorWords(a.Actor(), a.Where), Risk: string(a.Risk), RiskText: a.RiskText,
		NotNow: a.Applies == fault.Absent, NeedsProof: a.NeedsProof,
		Requires: a.Requires, Worked: a.Verify.Expect, Check: t.commands(a.Verify.Run), Undo: a.Undo, IfWrong: a.IfWrong,
	}
	if takes := a.Verify.Takes; takes != "" {
		h.Worked += " (usually within " + takes + ")"
	}
	for _, s := range a.Steps {
		h.Steps = append(h.Steps, htmlDoStep{s.Do, t.commands(s.Run), s.Expect, s.On == "host"})
	}
	return h
}

// commands writes the commands of a step as the user calls them.
func (t *text) commands(run string) string {
	var list []string
	for l := range strings.Lines(run) {
		list = append(list, t.command(strings.TrimRight(l, "\n")))
	}
	return strings.Join(list, "\n")
}

func (t *text) htmlRefused(ids []string) []htmlRefused {
	var list []htmlRefused
	for _, id := range ids {
		known, ok := t.o.Refused[id]
		if !ok {
			known.Title = id
		}
		when := known.When
		if strings.EqualFold(strings.TrimSuffix(when, "."), "never") {
			when = ""
		}
		list = append(list, htmlRefused{id, known.Title, known.Happens, when, known.Instead})
	}
	return list
}

// htmlOpen is something present whose cause is not known.
type htmlOpen struct {
	Title            string
	Tags             []string
	Where            []string
	Proof, MoreProof []htmlProof
	Suspects         []htmlSuspect
	Do               *htmlDo // what helps against the symptom itself; nil: nothing is known
}

// htmlSuspect is a fault that could be the cause, with the other subjects where the same
// would decide.
type htmlSuspect struct {
	Title, Fault, Supply string
	Others               []string
}

func (t *text) htmlSuspects(list []diagnosis.Suspect) []htmlSuspect {
	return each(list, func(s diagnosis.Suspect) htmlSuspect {
		return htmlSuspect{Title: s.Title, Fault: s.Fault, Supply: t.decides(s), Others: each(s.Others, fault.Subject.String)}
	})
}

func (t *text) htmlOpen() []htmlOpen {
	var list []htmlOpen
	for _, u := range t.withoutCause() {
		h := htmlOpen{Title: t.linkTitle(u.link), Tags: []string{"cause unknown", string(u.Severity), u.Fault}}
		if len(u.link.keys) > fewNames {
			h.Where = subjects(u.link.keys)
		}
		h.Proof, h.MoreProof = t.htmlProof(u.Evidence)
		h.Suspects = t.htmlSuspects(u.Suspects)
		if rest := usable(u.Remedies); len(rest) > 0 {
			do := t.htmlAdvice(u.Fault, rest, "")
			h.Do = &do
		}
		list = append(list, h)
	}
	return list
}
