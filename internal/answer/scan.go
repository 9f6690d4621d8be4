package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/lookup"
	"github.com/rollcall-project/rollcall/internal/kernel/message"
)

// Scan writes what a text shows, for a person.
func Scan(w io.Writer, r *message.Report, c *fault.Catalog, o Options) error {
	t := &text{page: page{Style: o.Style}, o: o, d: &diagnosis.Diagnosis{}}
	t.scanResult(r, c)
	t.parts(0, dim, []string{count(r.Lines, "line", "lines") + " read", "no cluster was asked"})
	if r.Damaged != "" && (r.Result == message.Present || len(r.Symptoms) > 0) {
		t.para(0, span{}, dim, "Not read whole: "+r.Damaged)
	}
	for i, m := range r.Matches {
		if i == maxScanned {
			t.para(0, span{}, dim, fmt.Sprintf("%d less likely causes are left out; -o json has them all.", len(r.Matches)-i))
			break
		}
		t.scanMatch(i, m, c)
	}
	if len(r.Symptoms) > 0 {
		t.blank()
		t.head(0, "Also wrong, as an effect or without a cause that the text shows")
		for i, m := range r.Symptoms {
			if i == maxScanned {
				t.line(2, span{dim, fmt.Sprintf("and %d more; -o json has them", len(r.Symptoms)-i)})
				break
			}
			t.scanLines(m, matchTitle(m, c))
			t.nextOf(m, c)
		}
	}
	t.unknownErrors(r)
	t.nearPages()
	for _, m := range r.Over {
		why := "Resolved later in this text: "
		if m.Quiet {
			why = "Not seen in the last 500 lines: "
		}
		t.blank()
		t.para(0, span{dim, why}, dim, matchTitle(m, c))
	}
	t.scanNormal(r)
	t.scanNext(r)
	return t.flush(w)
}

// maxScanned is how many matches a person gets to see.
const maxScanned = 5

func (t *text) scanResult(r *message.Report, c *fault.Catalog) {
	switch r.Result {
	case message.Present:
		t.lead(0, span{red, t.sign(signBad) + " CAUSE FOUND: "}, "  ", plain, matchTitle(r.Matches[0], c)+sureWords[r.Matches[0].Confidence], 0)
	case message.Unknown:
		if r.Damaged != "" && len(r.Symptoms) == 0 {
			t.lead(0, span{yellow, t.sign(signOpen) + " UNKNOWN: "}, "  ", plain, r.Damaged+". The rest of it was not checked: correct it, or copy it again", 0)
			return
		}
		var says string
		switch {
		case len(r.Matches) > 0:
			says = matchTitle(r.Matches[0], c) + sureWords[r.Matches[0].Confidence] + "; this text does not show whether it is the cause"
		case len(r.Symptoms) > 0:
			says = matchTitle(r.Symptoms[0], c) + "; this text does not show why"
		default:
			says = "errors that Rollcall does not know: " + count(r.ErrorLines, "line", "lines")
		}
		t.lead(0, span{yellow, t.sign(signOpen) + " UNKNOWN: "}, "  ", plain, says, 0)
	default:
		t.lead(0, span{bold, "NO KNOWN SIGN OF TROUBLE "}, "  ", plain, "in this text. That is not the same as healthy: a text shows only what was pasted", 0)
	}
}

// sureWords say how surely a text shows a cause.
var sureWords = map[fault.Grade]string{
	fault.ShowsProven:   " (the text shows it)",
	fault.ShowsLikely:   " (likely)",
	fault.ShowsPossible: " (possible)",
}

// scanMatch writes one cause: its lines, and what to do about it.
func (t *text) scanMatch(i int, m message.Match, c *fault.Catalog) {
	t.blank()
	t.scanLines(m, fmt.Sprintf("%d. %s%s", i+1, matchTitle(m, c), sureWords[m.Confidence]))
	if len(m.Explains) > 0 {
		t.lead(2, span{bold, "It explains: "}, "  ", plain, strings.Join(m.Explains, ", "), 0)
	}
	f, ok := c.Fault(m.Fault)
	if !ok {
		return
	}
	if i > 0 {
		t.line(2, span{plain, "More: "}, span{cyan, t.o.know("explain " + m.Fault)})
		return
	}
	t.para(2, span{}, plain, f.Means)
	var list []fault.Advice
	for _, id := range f.Remedies {
		if known, ok := c.Remedy(id); ok {
			list = append(list, plainAdvice(known, m.Names))
		}
	}
	if m.Confidence != fault.ShowsProven {
		t.toDecide(list)
	} else {
		t.remedies(list, "")
	}
	t.refused(f.Refused)
	t.line(2, span{plain, "More: "}, span{cyan, t.o.know("explain " + m.Fault)})
}

// toDecide writes what shows whether a cause is the right one: the steps of its remedies that
// only read. A step that changes something needs a proven cause.
func (t *text) toDecide(list []fault.Advice) {
	for i, a := range list {
		first := slices.IndexFunc(a.Steps, func(s fault.Step) bool { return s.Changes })
		if a.Risk == fault.RiskNone {
			t.remedies(list[i:i+1], "")
			return
		}
		if first <= 0 {
			continue
		}
		whole := a
		a.Steps = a.Steps[:first]
		t.lead(2, span{bold, "To decide whether it is this cause: "}, "  ", plain, "these steps only read", 0)
		t.steps(a)
		t.lead(2, span{bold, "Once it is proven: "}, "  ", plain, t.about(whole, "")+": "+t.o.know("explain "+a.ID), 0)
		return
	}
	if len(list) > 0 {
		t.lead(2, span{bold, "Once it is proven: "}, "  ", plain, t.about(list[0], "")+": "+t.o.know("explain "+list[0].ID), 0)
	}
}

// scanLines writes a title with the lines that show it.
func (t *text) scanLines(m message.Match, title string) {
	id := m.Fault
	if id != "" {
		id = "  [" + id + "]"
	}
	t.lead(0, span{}, "   ", bold, title+id, 0)
	for _, l := range m.Lines {
		t.lead(2, span{dim, atLine(l.Number)}, "    ", plain, l.Text, 3)
	}
	if n := m.Count - len(m.Lines); n > 0 {
		t.line(2, span{dim, fmt.Sprintf("and %s more", count(n, "line", "lines"))})
	}
}

// unknownErrors writes the lines that their programs call errors and that nobody knows.
func (t *text) unknownErrors(r *message.Report) {
	if len(r.Errors) > 0 {
		t.blank()
		head := "Errors that Rollcall does not know: " + count(r.ErrorLines, "line", "lines")
		if n := len(r.Errors); n < r.ErrorLines {
			head += ", " + count(n, "kind", "kinds")
		}
		t.head(0, head)
	}
	for i, e := range r.Errors {
		if i == maxScanned {
			t.line(2, span{dim, fmt.Sprintf("and %s more; -o json has them", count(len(r.Errors)-i, "kind", "kinds"))})
			break
		}
		l := e.Lines[0]
		t.lead(2, span{dim, atLine(l.Number)}, "    ", plain, l.Text, 2)
		if e.Count > 1 {
			t.line(4, span{dim, fmt.Sprintf("%d times, the last one in line %d", e.Count, e.Lines[len(e.Lines)-1].Number)})
		}
	}
	if r.PastErrors > 0 {
		t.blank()
		t.para(0, span{}, dim, count(r.PastErrors, "line reports an error", "lines report errors")+" that Rollcall does not know. Past: resolved "+
			"later in this text, or not seen in its last 500 lines.")
	}
}

// nearPages names the pages that have the words of those lines. They are no answer: no line
// shows one of them.
func (t *text) nearPages() {
	if len(t.o.Near) == 0 {
		return
	}
	t.blank()
	t.head(0, "Pages that have its words")
	for _, h := range t.o.Near {
		t.lead(2, span{cyan, t.o.know("explain " + h.ID)}, "    ", plain, ": "+h.Title, 0)
	}
}

// scanNormal names lines that are known as no sign of trouble, where nothing better was found.
func (t *text) scanNormal(r *message.Report) {
	if len(r.Matches) > 0 || len(r.Normal) == 0 {
		return
	}
	t.blank()
	t.head(0, "Known as normal")
	for i, n := range r.Normal {
		if i == maxScanned {
			break
		}
		t.lead(2, span{dim, atLine(n.Line.Number)}, "    ", plain, n.Words, 0)
	}
}

// scanNext says how to continue.
func (t *text) scanNext(r *message.Report) {
	t.blank()
	if r.Result == message.Present {
		t.lead(0, span{bold, "Next: "}, "  ", plain, "check it against the cluster, or against an archive:", 0)
	} else {
		t.lead(0, span{bold, "Next: "}, "  ", plain, "ask the cluster, or give more: an archive, the whole console, the journal of the host.", 0)
	}
	t.line(2, span{cyan, t.o.know("diagnose")})
	t.line(2, span{cyan, t.o.know("diagnose --from must-gather.tar.gz")})
	if r.Result != message.Present {
		t.line(2, span{cyan, t.o.know("diagnose --console HOST=FILE")})
	}
}

// matchTitle is the title of a match. What a text does not give stays out of it.
func matchTitle(m message.Match, c *fault.Catalog) string {
	f, ok := c.Fault(m.Fault)
	if !ok {
		return m.Failure
	}
	return fault.TitleOf(f, m.Names)
}

// plainAdvice is a remedy outside a diagnosis: the names that a text gives are filled in, its
// other placeholders are shown as words.
func plainAdvice(r *fault.Remedy, names map[string]string) fault.Advice {
	return r.Fill(&fault.Fault{}, fault.Subject{}, func(expr string) []string {
		if name := names[expr]; name != "" {
			return []string{name}
		}
		return nil
	})
}

// ScanDoc is what `scan` gives to programs.
type ScanDoc struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Result     message.Result `json:"result"`
	Matches    []ScannedMatch `json:"matches"`
	Symptoms   []ScannedMatch `json:"symptoms"`
	Over       []ScannedMatch `json:"over"`
	Damaged    string         `json:"damaged,omitempty"`

	UnknownErrors     []message.UnknownError `json:"unknownErrors"`     // what programs call errors and no message knows
	UnknownErrorLines int                    `json:"unknownErrorLines"` // how many lines they are
	PastErrorLines    int                    `json:"pastErrorLines"`    // and how many are over by the end of the text
	Near              []lookup.Hit           `json:"near"`              // pages with the words of unknownErrors, where the text shows nothing else

	Lines int   `json:"lines"`
	Bytes int64 `json:"bytes"`
}

// ScannedMatch is a match with what the catalog says of it.
type ScannedMatch struct {
	message.Match
	Title    string   `json:"title"`
	Remedies []string `json:"remedies,omitempty"`
	Refused  []string `json:"refused,omitempty"`
}

// ScanDocument is a report for programs.
func ScanDocument(r *message.Report, c *fault.Catalog) ScanDoc {
	all := func(list []message.Match) []ScannedMatch {
		out := []ScannedMatch{}
		for _, m := range list {
			s := ScannedMatch{Match: m, Title: matchTitle(m, c)}
			if f, ok := c.Fault(m.Fault); ok {
				s.Remedies, s.Refused = f.Remedies, f.Refused
			}
			out = append(out, s)
		}
		return out
	}
	return ScanDoc{APIVersion: "rollcall.dev/v1alpha1", Kind: "Scan", Result: r.Result, Matches: all(r.Matches), Symptoms: all(r.Symptoms),
		Over: all(r.Over), Damaged: r.Damaged, UnknownErrors: append([]message.UnknownError{}, r.Errors...), UnknownErrorLines: r.ErrorLines,
		PastErrorLines: r.PastErrors, Near: []lookup.Hit{}, Lines: r.Lines, Bytes: r.Bytes}
}

// atLine is the place of what a line shows. What was read from an object has none.
func atLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", n)
}
