package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

const fewAccepted = 5

// acceptedGroup is what one entry accepts of one fault.
type acceptedGroup struct {
	diagnosis.AcceptedFinding // the first; it has the effects of all
	keys                      []fault.Key
}

// acceptedGroups are the groups of what is accepted, those about data or the others.
func (t *text) acceptedGroups(dataRisk bool) []acceptedGroup {
	list := each(t.d.Groups.Accepted, func(g diagnosis.AcceptedGroup) acceptedGroup {
		a := acceptedGroup{t.d.Accepted[g.First], g.Keys()}
		a.Effects = g.Effects
		return a
	})
	return slices.DeleteFunc(list, func(a acceptedGroup) bool { return a.DataRisk != dataRisk })
}

// accepted lists what is accepted: what is about data on the first screen, the rest after
// what is wrong.
func (t *text) accepted(dataRisk bool) {
	list := t.acceptedGroups(dataRisk)
	if len(list) == 0 {
		return
	}
	t.Blank()
	for i, a := range list {
		if i == fewAccepted && !t.o.Wide && !dataRisk {
			t.Line(0, page.Dim.Span(moreHint(len(list)-i)))
			return
		}
		t.acceptedLine(a)
		if e := effectWords(a.Effects, t.names()); e != "" {
			t.Lead(2, page.Dim.Span("through it: "), "  ", page.Dim, e, t.limit(2))
		}
	}
}

// acceptedBriefly is a line for each group.
func (t *text) acceptedBriefly() {
	list := append(t.acceptedGroups(true), t.acceptedGroups(false)...)
	for i, a := range list {
		if i >= fewAccepted && !a.DataRisk {
			t.Line(0, page.Dim.Span(fmt.Sprintf("and %d more accepted", len(list)-i)))
			return
		}
		t.acceptedLine(a)
	}
}

func (t *text) acceptedLine(a acceptedGroup) {
	mark, style := "", page.Bold
	words := a.Fault + " " + some(subjects(a.keys), t.names())
	if a.DataRisk {
		mark, style = t.Sign(page.Warn)+" ", page.Red
		words = t.o.Brief(a.Title) + " (" + words + ")"
	}
	t.Lead(0, style.Span(mark+"Accepted: "), "  ", page.Plain, words+", "+a.String(), 0)
}

// effectWords lists what is accepted through others by fault, at most limit subjects of each.
func effectWords(effects []fault.Key, limit int) string {
	var ids []string
	at := map[string][]string{}
	for _, k := range effects {
		if at[k.Fault] == nil {
			ids = append(ids, k.Fault)
		}
		at[k.Fault] = append(at[k.Fault], k.Subject.String())
	}
	return strings.Join(each(ids, func(id string) string { return id + " " + some(at[id], limit) }), "; ")
}

func acceptedKeys(d *diagnosis.Diagnosis) map[fault.Key]bool {
	keys := map[fault.Key]bool{}
	for _, a := range d.Accepted {
		keys[a.Key] = true
	}
	return keys
}

// acceptedWords says of a finding that it is accepted, and by whom.
func acceptedWords(f diagnosis.Finding) string {
	words := "accepted "
	if list := f.Accepted.Through; len(list) > 0 {
		words += "through " + some(each(list, func(k fault.Key) string { return k.Fault + " " + k.Subject.String() }), fewNames) + ", "
	}
	return words + f.Accepted.String()
}

func (s *sarif) accepted(a diagnosis.AcceptedFinding) sarifResult {
	var out sarifResult
	switch {
	case a.Root != nil:
		out = s.root(*a.Root)
	case a.Open != nil:
		out = s.unexplained(*a.Open)
	default:
		out = s.result(a.Key, a.Severity, s.title(a.Key)+".", s.finding[a.Key].Evidence)
		out.Properties = map[string]any{"role": a.Role}
	}
	out.Properties["acceptedThrough"] = append([]fault.Key{}, a.Effects...)
	out.Suppressions = []sarifSuppression{{
		Kind: "external", Status: "accepted", Justification: s.messageText(a.Reason),
		Props: map[string]any{"owner": a.Owner, "until": a.Until, "entry": a.Entry},
	}}
	return out
}

func (m *markdown) accepted(dataRisk bool) {
	list := m.acceptedGroups(dataRisk)
	if len(list) == 0 {
		return
	}
	head := "Accepted"
	if dataRisk {
		head = "Accepted, about etcd or the loss of data"
	}
	m.printf("\n## %s\n\n", head)
	for _, a := range list {
		m.printf("- %s: %s, %s (%s)\n", m.md(m.linkTitle(&link{keys: a.keys})), m.id(a.Fault), m.md(a.String()), m.md(a.Entry))
		if e := effectWords(a.Effects, m.names()); e != "" {
			m.printf("  - Accepted through it: %s\n", m.md(e))
		}
	}
}

type htmlAccepted struct {
	diagnosis.AcceptedFinding
	Title   string
	Where   []string
	Effects string
}

func (t *text) htmlAccepted() []htmlAccepted {
	return each(append(t.acceptedGroups(true), t.acceptedGroups(false)...), func(a acceptedGroup) htmlAccepted {
		h := htmlAccepted{AcceptedFinding: a.AcceptedFinding, Title: t.linkTitle(&link{keys: a.keys}), Effects: effectWords(a.Effects, len(a.Effects))}
		if len(a.keys) > fewNames {
			h.Where = subjects(a.keys)
		}
		return h
	})
}
