package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// Scan writes what a text shows, for a person.
func Scan(w io.Writer, r *message.Report, c *fault.Catalog, o Options) error {
	o.setting = r.Setting
	t := &text{Page: page.Page{Style: o.Style}, o: o, d: &diagnosis.Diagnosis{}}
	t.scanResult(r, c)
	t.Parts(0, page.Dim, []string{page.Count(r.Lines, "line", "lines") + " read", "no cluster was asked"})
	if r.Release3 {
		t.Para(0, page.Span{}, page.Plain, release3)
	}
	t.otherSystem(r)
	if r.Damaged != "" && (r.Result == message.Present || len(r.Symptoms) > 0) {
		t.Para(0, page.Span{}, page.Dim, "Not read whole: "+r.Damaged)
	}
	causes := slices.DeleteFunc(slices.Clone(r.Matches), func(m message.Match) bool {
		return slices.ContainsFunc(r.Matches, func(of message.Match) bool { return of.Tells(m) && !m.Tells(of) })
	})
	for i, m := range causes {
		if i == maxScanned {
			t.Para(0, page.Span{}, page.Dim, fmt.Sprintf("%d less likely causes are left out; -o json has them all.", len(causes)-i))
			break
		}
		t.scanMatch(i, m, c, r.Release3)
	}
	if len(r.Symptoms) > 0 {
		t.Blank()
		if len(r.Matches) > 0 {
			t.Head(0, "Also wrong, as an effect or without a cause that the text shows")
		} else {
			t.Head(0, "What the text shows")
		}
		for i, m := range r.Symptoms {
			if i >= maxScanned {
				t.scanBriefly(r.Symptoms[i:], c)
				break
			}
			t.scanLines(m, matchTitle(m, c))
			if f, ok := c.Fault(m.Fault); ok && f.ReasonElsewhere && i == 0 {
				t.Para(2, page.Span{}, page.Plain, f.Means)
				t.toDecide(m.Fault, t.fitting(untilProven(t.advices(f, m, c))), "")
				continue
			}
			t.nextOf(m, c)
		}
	}
	t.unknownErrors(r)
	t.nearPages()
	t.scanOver(r, c)
	t.scanNormal(r)
	t.scanNext(r)
	return t.Flush(w)
}

// scanBriefly names further matches in a line each: what is wrong is not only in -o json.
func (t *text) scanBriefly(list []message.Match, c *fault.Catalog) {
	const most = 20
	for i, m := range list {
		if i == most {
			t.Line(0, page.Dim.Span(fmt.Sprintf("and %d more; -o json has them", len(list)-i)))
			return
		}
		id := ""
		if m.Fault != "" {
			id = "  [" + m.Fault + "]"
		}
		t.Para(0, page.Plain.Span("- "), page.Plain, matchTitle(m, c)+id)
	}
}

// release3 is said of a text of OpenShift 3.
const release3 = "A node of OpenShift 3 writes this. What Rollcall explains and advises is for OpenShift 4, and its steps are left out."

// otherSystem says that a text is of another distribution of Kubernetes.
func (t *text) otherSystem(r *message.Report) {
	switch {
	case r.Setting.WithoutKubernetes():
		t.Para(0, page.Span{}, page.Plain, "This is "+r.System+" on a host, and not a cluster: oc, crictl and the services of an OpenShift host "+
			"do not exist there.")
	case r.System != "":
		t.Para(0, page.Span{}, page.Plain, "This is "+r.System+" and not OpenShift: oc, MachineConfigs, ClusterOperators and the namespaces "+
			"openshift-* do not exist there. Use kubectl; what follows is what any Kubernetes shows.")
	}
}

// maxScanned is how many matches a person gets to see.
const maxScanned = 5

func (t *text) scanResult(r *message.Report, c *fault.Catalog) {
	switch r.Result {
	case message.Present:
		says := matchTitle(r.Matches[0], c) + sureWords[r.Matches[0].Confidence]
		if len(r.Symptoms) > 0 && r.Symptoms[0].Beside {
			says += ". In the same text: " + r.Symptoms[0].Failure
		}
		t.Lead(0, page.Red.Span(t.Sign(page.Bad)+" CAUSE FOUND: "), "  ", page.Plain, says, 0)
	case message.Unknown:
		if r.Damaged != "" && len(r.Symptoms) == 0 {
			t.Lead(0, page.Yellow.Span(t.Sign(page.Open)+" UNKNOWN: "), "  ", page.Plain,
				r.Damaged+". The rest of it was not checked: correct it, or copy it again", 0)
			return
		}
		label, says := page.Yellow.Span(t.Sign(page.Open)+" UNKNOWN: "), t.unknownSays(r, c)
		if len(r.Matches) == 0 && len(r.Symptoms) > 0 && !reasonBeside(r) && r.Symptoms[0].Reason {
			label = page.Red.Span(t.Sign(page.Bad) + " REASON FOUND: ")
		}
		t.Lead(0, label, "  ", page.Plain, says, 0)
	default:
		i := slices.IndexFunc(r.Normal, func(n message.Note) bool { return n.Words == installDone })
		if i >= 0 {
			says := fmt.Sprintf("(line %d of %d), and no known sign of trouble is in this text. Only the cluster shows whether all workers "+
				"have joined", r.Normal[i].Line.Number, r.Lines)
			t.Lead(0, page.Bold.Span("THE INSTALLATION IS DONE "), "  ", page.Plain, says, 0)
			return
		}
		t.Lead(0, page.Bold.Span("NO KNOWN SIGN OF TROUBLE "), "  ", page.Plain,
			"in this text. That is not the same as healthy: a text shows only what was pasted", 0)
	}
}

// installDone is what the catalog says of the last line of a finished installation.
const installDone = "the installation is done"

// unknownSays is the headline of a text that shows that something failed and not its cause: the first
// cause that is possible, else the first failure, else the worst error.
func (t *text) unknownSays(r *message.Report, c *fault.Catalog) string {
	if len(r.Matches) > 0 {
		return matchTitle(r.Matches[0], c) + sureWords[r.Matches[0].Confidence] + "; this text does not show whether it is the cause"
	}
	if len(r.Symptoms) == 0 || reasonBeside(r) {
		return t.unknownWords(r)
	}
	first := r.Symptoms[0]
	says := matchTitle(first, c)
	switch {
	case first.Reason && first.Own != "":
		says += `: "` + t.headline(first.Own) + `"`
	case first.Reason:
	case first.Beside && len(r.Symptoms) > 1:
		says += "; that would explain: " + matchTitle(r.Symptoms[1], c)
		if r.Symptoms[1].Fault != "" {
			says += sureWords[r.Symptoms[1].Confidence]
		}
	case first.Step && first.Own != "":
		says += `: "` + t.headline(first.Own) + `". Rollcall does not know this reason`
	default:
		says += "; this text does not show why"
	}
	return says
}

// unknownWords are the headline of a text with errors that nobody knows: the worst one in its
// own words.
func (t *text) unknownWords(r *message.Report) string {
	if len(r.Errors) == 0 {
		return "errors that Rollcall does not know: " + page.Count(r.ErrorLines, "line", "lines")
	}
	worst := worstError(r)
	if worst.Hint {
		return `Rollcall does not know whether this is trouble: "` + t.headline(strings.TrimRight(worst.Says, ". ")) + `"`
	}
	words := t.headline(strings.TrimRight(worst.Says, ". ")) + ". Rollcall does not know this error"
	if more := r.ErrorLines - worst.Count; more > 0 {
		words += ", nor " + page.Count(more, "other line with one", "other lines with one")
	}
	return words
}

// reasonBeside reports whether the worst error that nobody knows stands next to the first
// failure, which only says which step failed, or is in the text at all where that is no error itself.
func reasonBeside(r *message.Report) bool {
	first := r.Symptoms[0]
	if first.Aside && len(r.Errors) > 0 {
		return true
	}
	if !first.Step || len(r.Errors) == 0 || len(first.Lines) == 0 {
		return false
	}
	if first.Own != "" && worstError(r).Lines[0].Number >= first.Lines[0].Number {
		return false // it has words of its own, and nothing before it has better ones
	}
	const near = 20 // lines
	at := worstError(r).Lines[0].Number
	return slices.ContainsFunc(first.Lines, func(l message.Line) bool { return l.Number > 0 && max(l.Number-at, at-l.Number) <= near })
}

// worstError is the first error that its program calls fatal, else the first one. What comes
// right before a fatal error is its reason: the fatal one is only where the program ended.
func worstError(r *message.Report) message.UnknownError {
	fatal := slices.IndexFunc(r.Errors, func(e message.UnknownError) bool { return e.Fatal })
	if fatal < 0 {
		return r.Errors[0]
	}
	const near = 20 // lines
	for _, e := range r.Errors[:fatal] {
		if r.Errors[fatal].Lines[0].Number-e.Lines[len(e.Lines)-1].Number <= near && len(e.Says) >= shortestReason {
			return e
		}
	}
	return r.Errors[fatal]
}

// shortestReason is how long an error has to be that gives a reason, in bytes.
const shortestReason = 20

// headline are the words of a program in a headline.
func (t *text) headline(words string) string { return t.marked(bothEnds(words)) }

// bothEnds is a text that fits a headline: where it is too long, its beginning, and more of its
// end, where a chain of errors has the reason.
func bothEnds(text string) string {
	runes := []rune(text)
	if len(runes) <= longestHeadline {
		return text
	}
	const before = longestHeadline / 3
	return strings.TrimRight(string(runes[:before]), " :") + " … " + strings.TrimLeft(string(runes[len(runes)-longestHeadline+before:]), " :")
}

// longestHeadline bounds the words of a program in a headline, in characters.
const longestHeadline = 240

// sureWords say how surely a text shows a cause.
var sureWords = map[fault.Grade]string{
	fault.ShowsProven:   " (the text shows it)",
	fault.ShowsLikely:   " (likely)",
	fault.ShowsPossible: " (possible)",
}

// unknownErrors writes the lines that their programs call errors and that nobody knows.
func (t *text) unknownErrors(r *message.Report) {
	if len(r.Errors) > 0 {
		t.Blank()
		head := "Errors that Rollcall does not know: " + page.Count(r.ErrorLines, "line", "lines")
		if n := len(r.Errors); n < r.ErrorLines {
			head += ", " + page.Count(n, "kind", "kinds")
		}
		t.Head(0, head)
	}
	for i, e := range r.Errors {
		if i == maxScanned {
			t.Line(2, page.Dim.Span(fmt.Sprintf("and %s more; -o json has them", page.Count(len(r.Errors)-i, "kind", "kinds"))))
			break
		}
		l := e.Lines[0]
		t.logged(2, page.Dim.Span(atLine(l.Number)), "    ", l.Text, 2)
		if e.Count > 1 {
			t.Line(4, page.Dim.Span(fmt.Sprintf("%d times, the last one in line %d", e.Count, e.Lines[len(e.Lines)-1].Number)))
		}
		if e.Next != "" && !slices.ContainsFunc(r.Errors[:i], func(before message.UnknownError) bool { return before.Next == e.Next }) {
			t.Lead(2, page.Bold.Span("Next: "), "  ", page.Plain, e.Next, 0)
		}
	}
	if r.PastErrors > 0 {
		t.Blank()
		t.Para(0, page.Span{}, page.Dim,
			page.Count(r.PastErrors, "line reports an error", "lines report errors")+" that Rollcall does not know. Past: resolved "+
				"later in this text, or not seen in its last 500 lines.")
	}
}

// nearPages names the pages that have the words of those lines. They are no answer: no line
// shows one of them.
func (t *text) nearPages() {
	if len(t.o.Near) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "Pages that have its words")
	for _, h := range t.o.Near {
		t.Lead(2, page.Cyan.Span(t.o.know("explain "+h.ID)), "    ", page.Plain, ": "+h.Title, 0)
	}
}

// scanNormal names lines that are known as no sign of trouble, where nothing better was found.
// scanOver lists what was wrong and is over by the end of the text.
func (t *text) scanOver(r *message.Report, c *fault.Catalog) {
	t.overFor("Resolved later in this text", r, c, false)
	t.overFor("Not seen in the last 500 lines", r, c, true)
}

func (t *text) overFor(head string, r *message.Report, c *fault.Catalog, quiet bool) {
	list := slices.DeleteFunc(slices.Clone(r.Over), func(m message.Match) bool { return m.Quiet != quiet })
	switch len(list) {
	case 0:
		return
	case 1:
		t.Blank()
		t.Lead(0, page.Dim.Span(head+": "), "  ", page.Dim, matchTitle(list[0], c), 0)
		return
	}
	t.Blank()
	t.Line(0, page.Dim.Span(head))
	for _, m := range list {
		t.Para(0, page.Dim.Span("- "), page.Dim, matchTitle(m, c))
	}
}

func (t *text) scanNormal(r *message.Report) {
	if len(r.Matches) > 0 || len(r.Normal) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "Known as normal")
	for i, n := range r.Normal {
		if i == maxScanned {
			break
		}
		t.Lead(2, page.Dim.Span(atLine(n.Line.Number)), "    ", page.Plain, n.Words, 0)
	}
}

// scanNext says how to continue.
func (t *text) scanNext(r *message.Report) {
	t.Blank()
	if list := t.o.gathered(); len(list) > 0 && r.System == "" {
		t.Lead(0, page.Bold.Span("Next: "), "  ", page.Plain, gatheredWords(r.Setting), 0)
		for _, command := range list {
			t.Line(2, page.Cyan.Span(command))
		}
		return
	}
	if t.o.Diagnosing {
		t.nextEvidence(r)
		return
	}
	if r.System != "" {
		t.Lead(0, page.Bold.Span("Next: "), "  ", page.Plain, "give more of the text. `"+t.o.know("diagnose")+"` reads clusters of OpenShift only; here: "+
			r.Setting.Instead(), 0)
		return
	}
	if r.Result == message.Present {
		t.Lead(0, page.Bold.Span("Next: "), "  ", page.Plain, "check it against the cluster, or against an archive:", 0)
	} else {
		t.Lead(0, page.Bold.Span("Next: "), "  ", page.Plain, "ask the cluster, or give more: an archive, the whole console, the journal of the host.", 0)
	}
	t.Line(2, page.Cyan.Span(t.o.know("diagnose")))
	t.Line(2, page.Cyan.Span(t.o.know("diagnose --from must-gather.tar.gz")))
	if r.Result != message.Present {
		t.Line(2, page.Cyan.Span(t.o.know("diagnose --console HOST=FILE")))
	}
}

// nextEvidence says what else to give to diagnose, where this text alone has no object of a cluster and no journal.
func (t *text) nextEvidence(r *message.Report) {
	t.Head(0, "Next: get what would decide (reads only), and give it together with this text")
	text := t.o.Given
	if text == "" {
		text = "TEXT"
	}
	t.Line(2, page.Cyan.Span("oc adm must-gather    # where the API answers; then: "+t.o.know("diagnose --from "+text+" --from DIR")))
	host := "HOST"
	for _, m := range slices.Concat(r.Matches, r.Symptoms) {
		if name := m.Names["host"]; name != "" {
			host = name
			break
		}
	}
	host = t.Clean(host)
	if r.Setting.Phase == message.FirstBoot { // before Ignition is done, nobody can log in
		t.Line(2, page.Cyan.Span(t.o.know("diagnose --from "+text+" --console "+host+"=FILE")+"    # FILE: what its screen shows from power-on"))
		t.Line(2, page.Cyan.Span(t.o.know("diagnose")+"    # asks the cluster of the kubeconfig"))
		return
	}
	t.Line(2, page.Cyan.Span("ssh core@"+host+" sudo journalctl -b --no-pager > journal.txt    # where not; then: "+
		t.o.know("diagnose --from "+text+" --from journal.txt")))
	t.Line(2, page.Cyan.Span(t.o.know("diagnose")+"    # asks the cluster of the kubeconfig"))
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
