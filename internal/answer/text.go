package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// LoggedFrom and LoggedTo are around a line of a log, with MarkLogged. In the line itself they are
// brackets.
const (
	LoggedFrom = "⟦"
	LoggedTo   = "⟧"
)

var loggedBrackets = strings.NewReplacer(LoggedFrom, "[", LoggedTo, "]")

// logged writes a line of a log behind a lead, in at most limit lines; 0: in as many as it takes. A line that is
// too long loses its middle: its end has the reason.
func (t *text) logged(indent int, first page.Span, further, line string, limit int) {
	line = squeeze(t.Clean(line), limit, t.Sign(page.Ellipsis))
	if !t.o.MarkLogged {
		t.Lead(indent, first, further, page.Plain, line, limit)
		return
	}
	if most := limit*(page.LineRoom+1) - 1; limit > 0 && page.Length(line) > most { // one long word
		line = page.Cut(line, most)
	}
	t.Lead(indent, first, further, page.Plain, t.marked(line), 0)
}

// marked are words of a program, between the marks where they are wanted.
func (t *text) marked(words string) string {
	if !t.o.MarkLogged {
		return words
	}
	return Logged(words)
}

// Logged is a line of a log between the marks.
func Logged(line string) string { return LoggedFrom + loggedBrackets.Replace(line) + LoggedTo }

// more writes where a fault is described: the command, and the address where the pages are published.
func (t *text) more(indent int, id string) {
	t.Line(indent, page.Plain.Span("More: "), page.Cyan.Span(t.o.know("explain "+id)))
	if at := t.o.url("faults", id); at != "" {
		t.Line(indent+2, page.Cyan.Span(at))
	}
}

// text renders one diagnosis.
type text struct {
	page.Page
	o       Options
	d       *diagnosis.Diagnosis
	finding map[fault.Key]diagnosis.Finding // those that decide something
	cause   diagnosis.Case                  // the one that is written
	planned string                          // the command that plans the repair of the cause that is written
	cannot  map[string]bool                 // remedies whose change cannot be made where the texts are from
	leftOut map[string]int                  // steps of remedies that cannot be done where the texts are from
	short   bool                            // the verdict is one sentence: on a screen, which has the rest below it
	told    bool                            // the verdict is about what the lines of the text show
}

func newText(d *diagnosis.Diagnosis, o Options) *text {
	t := &text{Page: page.Page{Style: o.Style}, o: o, d: d, finding: map[fault.Key]diagnosis.Finding{}}
	if o.Messages != nil && d.Cluster.Platform == "" && d.Cluster.Version == "" && d.Source.Kind != "live" {
		t.o.setting = o.Messages.Setting
	}
	if t.o.setting.Phase == "" && !t.o.setting.API {
		t.o.setting = beforeCluster(d, t.o.setting)
	}
	for i := range d.Findings {
		if f := &d.Findings[i]; !f.DecidesNothing() {
			t.finding[f.Key()] = *f
		}
	}
	return t
}

// renderText writes the answer for a person: what is wrong, what to do and which hosts, then why. It
// is the same on any screen: who reads it out to a colleague reads what the other one sees.
func renderText(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	if d.Source.Kind == planSource {
		return planText(w, d, o)
	}
	t := newText(d, o)
	t.answer()
	return t.Flush(w)
}

// answer writes the whole answer.
func (t *text) answer() {
	t.verdict()
	t.source()
	t.hostsLine()
	t.openQuestions()
	t.subject()
	t.accepted(true)
	for i, r := range t.d.Roots {
		t.root(i, len(t.d.Roots), r)
	}
	t.otherCauses()
	t.unexplained()
	t.unsettled()
	t.messages()
	t.installerNotes()
	if d := t.whole(); !otherSystem(d) && !otherProduct(d) {
		t.supplies()
	}
	t.settling()
	t.escalate()
	t.accepted(false)
	t.changed()
	t.hosts()
	for i, r := range t.d.Roots {
		t.causeDetails(i, len(t.d.Roots), r)
	}
	t.openDetails()
	if t.o.Wide {
		t.timeline()
	}
	t.unchecked()
}

func (t *text) verdict() {
	if t.o.Subject != nil {
		t.stands()
		return
	}
	t.short = true
	h := HeadlineOf(t.d)
	told := false // the line is about what the lines of the text show
	if r := t.o.Messages; r != nil && r.Result != message.Absent && t.nothingElse() && ofLines(r) {
		told = true
		h.Words = "UNDECIDED: " + t.unknownSays(r, t.o.Catalog)
		if r.Result == message.Present {
			h.Words = "UNDECIDED: " + matchTitle(r.Matches[0], t.o.Catalog) + sureWords[r.Matches[0].Confidence]
		}
	}
	t.told = told
	reason := t.verdictReason()
	if words, rest, ok := t.lineVerdict(); ok {
		h.Words, reason = words, rest
	}
	mark := t.Sign(h.Sign)
	if strings.EqualFold(mark, "ok") {
		mark = "OK"
	}
	words := mark + " " + h.Words
	if r := t.o.Messages; r != nil && len(r.Symptoms) > 0 { // what lines and facts show is said once
		if title := ownTitle(r.Symptoms[0], t.o.Catalog); strings.Contains(words, title) && strings.HasPrefix(reason, title) {
			_, reason, _ = strings.Cut(reason, "; ")
		}
	}
	if told && t.short { // one sentence; what was not read is below, what tables list is nowhere else
		var list []string
		for _, clause := range strings.Split(reason, "; ") {
			if strings.HasPrefix(clause, "read: ") {
				list = append(list, clause)
			}
		}
		words, reason, _ = strings.Cut(words, ": ")
		reason = strings.Join(append([]string{reason}, list...), "; ")
	}
	if reason == "" {
		t.Line(0, h.Paint.Span(words))
		return
	}
	const rows = 3
	t.Lead(0, h.Paint.Span(words+": "), "  ", page.Plain, reason, t.limit(rows))
}

// nothingElse reports whether the diagnosis itself has found no problem: what the lines of the
// text show is then all that is known.
func (t *text) nothingElse() bool {
	return t.d.Verdict.Class == diagnosis.Undetermined && len(t.d.Roots)+len(t.d.Groups.Unexplained) == 0 && t.o.Catalog != nil
}

// ofLines reports whether what comes first in a report was read from a line and not from an object,
// which the diagnosis knows itself.
func ofLines(r *message.Report) bool {
	for _, list := range [][]message.Match{r.Matches, r.Symptoms} {
		if len(list) > 0 {
			return len(list[0].Lines) > 0 && list[0].Lines[0].Number > 0
		}
	}
	return true
}

// verdictReason is what follows the class of the verdict.
func (t *text) verdictReason() string { return strings.Join(t.clauses(), "; ") }

// lately is how long a completed installation is news while something is still in progress.
const lately = 2 * time.Hour

// installedAt says that the installation has completed, where that was just now.
func (t *text) installedAt() string {
	at := t.d.Cluster.Completed
	if at.IsZero() || t.d.Now.Sub(at) > lately {
		return ""
	}
	return "the installation was completed at " + page.Clock(at) + "; something is still in progress, "
}

// underWay says what is in progress, where that is an installation or an update.
func (t *text) underWay() string {
	u := t.d.Cluster.Update
	switch {
	case u == nil:
		return t.installedAt()
	case u.First && t.d.Cluster.Version != "":
		return "installing " + t.d.Cluster.Version + "; normal "
	case u.First || u.To == "":
		return ""
	}
	return "updating to " + u.To + "; normal "
}

// clauses are the parts of verdictReason.
func (t *text) clauses() []string {
	v := t.d.Verdict
	reason := v.Reason
	switch {
	case v.Class == diagnosis.Settling:
		reason = t.underWay() + "for up to " + fault.Span(v.Until.Sub(t.d.Now)) + " more, until " + page.Clock(v.Until) + "; run this again then"
	case len(v.Open) > 0:
		return t.questions()
	case t.d.Source.Kind == planSource && len(t.d.Roots) > 0:
		reason = t.planReason()
	case v.Class == diagnosis.CannotCheck, v.Class == diagnosis.OnlyAccepted:
	case v.Class == diagnosis.Healthy && len(t.d.Roots) > 0 && v.Fix == "": // notes, and no cause of anything
		reason = page.Count(len(t.d.Roots), "note", "notes")
	case len(t.d.Roots) > 0 && (v.Class != diagnosis.Undetermined || v.Fix == ""):
		return t.causes()
	}
	if reason == "" {
		return nil
	}
	return []string{reason}
}

// causes are what is wrong first, how many causes there are, and who can act. Documents have the number alone in front of
// their headings, and who can act on all of them.
func (t *text) causes() []string {
	v, n := t.d.Verdict, len(t.d.Roots)
	reason, and, fix := page.Count(n, "cause", "causes"), ", ", strings.TrimSuffix(actorSentences[v.Fix]+": "+v.Where, ": ")
	if t.short {
		at, lead := t.leadingCause()
		reason, and = t.brief(lead.Key), "; "
		switch {
		case n > 1 && at == 0:
			reason += fmt.Sprintf(" (the first of %d causes)", n)
		case n > 1:
			reason += fmt.Sprintf(" (one of %d causes)", n)
		}
		if i := lead.FirstRemedy(); i >= 0 && v.Fix != "" {
			a := lead.Remedies[i]
			fix = strings.TrimSuffix(actorSentences[a.Actor()]+": "+a.Where, ": ")
		}
	}
	if v.Cause == diagnosis.CauseLikely {
		reason += and + "not proven: prove it before you change anything"
	} else if v.Fix != "" {
		reason += and + fix
	}
	list := []string{reason}
	if n := t.d.WarningsWithoutRemedy(); n > 0 && v.Class != diagnosis.Undetermined {
		list = append(list, page.Count(n, "warning", "warnings")+" without a remedy")
	}
	return list
}

// leadingCause is the cause that the headline names, and the place of its root: of those that the class of the verdict goes by the
// first that is proven, also where another explains more, else the first. The headline calls a cause known where one is proven.
func (t *text) leadingCause() (at int, lead *diagnosis.Case) {
	first := -1
	for i := range t.d.Roots {
		r := &t.d.Roots[i]
		if r.Severity.Rank() <= fault.Info.Rank() || r.Severity != fault.Error && t.d.HasErrors() {
			continue
		}
		if proven := slices.IndexFunc(r.Cases, func(c diagnosis.Case) bool { return c.Confidence == diagnosis.Proven }); proven >= 0 {
			return i, &r.Cases[proven]
		}
		if first < 0 {
			first = i
		}
	}
	first = max(first, 0)
	return first, &t.d.Roots[first].Cases[0]
}

// brief is the title of a problem for the headline: of a long one the clauses that fit.
func (t *text) brief(k fault.Key) string {
	title := t.title(k)
	if len(title) > longSubject {
		if end := strings.LastIndex(title[:longSubject], "; "); end > 0 {
			return title[:end]
		}
	}
	return evidence.Shorten(title, longSubject)
}

// longSubject is how many characters the first problem has in the headline; below it is whole.
const longSubject = 120

// fewClauses is how many clauses the headline has.
const fewClauses = 2

// questions are what is open, as one sentence: the first problem, or else what else is open, how much
// more there is, and what may not be read. Wide output and documents have all of it.
func (t *text) questions() []string {
	if !t.short {
		return each(t.d.Verdict.Open, func(q diagnosis.Question) string { return q.Says })
	}
	var first string
	var rest []string
	may := t.mayNotRead()
	for _, q := range t.d.Verdict.Open {
		switch {
		case q.Of != (fault.Key{}) && first == "":
			first = evidence.Shorten(t.o.Brief(strings.TrimSuffix(q.Says, "; cause unknown")), longSubject)
		case q.Of == (fault.Key{}) && !(q.Forbidden && may != ""):
			rest = append(rest, q.Says)
		}
	}
	var list []string
	if first != "" {
		list = append(list, first, "cause unknown")
		if n := len(t.d.Groups.Unexplained) - 1; n > 0 {
			list[1] += ", and " + page.Count(n, "more problem", "more problems")
		}
	}
	switch {
	case may != "" && first != "":
		list = append(list, may+", which can show why")
	case may != "":
		list = append(list, may+"; without that nothing is called healthy")
	}
	for len(rest) > 0 && len(list) < fewClauses {
		list, rest = append(list, rest[0]), rest[1:]
	}
	if n := len(rest); n > 0 {
		list[len(list)-1] += fmt.Sprintf(" (and %d more open: %s)", n, t.whereOpen())
	}
	return list
}

// whereOpen says where all of the open questions are listed.
func (t *text) whereOpen() string {
	if t.o.Wide {
		return "below"
	}
	return "-o wide"
}

// openQuestions lists all that is open, where it is more than the headline has.
func (t *text) openQuestions() {
	if !t.o.Wide || len(t.d.Verdict.Open) <= fewClauses || t.o.Subject != nil {
		return
	}
	t.Blank()
	t.Head(0, "Open")
	for _, q := range t.d.Verdict.Open {
		t.Para(0, page.Plain.Span("- "), page.Plain, q.Says)
	}
}

// unexplained lists symptoms without a proven cause, the same ones together, and what to do.
func (t *text) unexplained() {
	for _, u := range t.withoutCause() {
		t.Blank()
		t.openTitle(u)
		t.unexplainedTodo(u.Unexplained)
	}
}

// openTitle writes what is wrong and that its cause is not known.
func (t *text) openTitle(u open) {
	t.Lead(0, page.Yellow.Span(t.Sign(page.Open)+" "), "  ", page.Bold, t.linkTitle(u.link), 0)
	about := []string{u.Fault, "cause unknown", string(u.Severity)}
	if u.Subject.Name != fault.Unnamed {
		about = append(about, u.Subject.String())
	}
	t.Parts(2, page.Dim, about)
}

// openDetails writes what is seen of the symptoms without a proven cause, and what could be
// behind each.
func (t *text) openDetails() {
	for _, u := range t.withoutCause() {
		t.Blank()
		t.Head(0, "Cause unknown: "+u.Fault)
		t.proof(u.Evidence)
		t.suspects(u.Suspects)
	}
}

const fewSuspects = 4

// decides says how to decide a suspect: by what would make it known, by why it is not,
// or by the page on what would.
func (t *text) decides(s diagnosis.Suspect) string {
	if how := t.o.decides(s); how != "" || s.Next == "" {
		return how
	}
	return t.o.know("explain " + s.Next)
}

func (t *text) suspects(list []diagnosis.Suspect) {
	if len(list) == 0 {
		t.Para(2, page.Span{}, page.Plain, "No fault of the catalog could explain it here.")
		return
	}
	t.Head(2, "It could be")
	for i, s := range list {
		if i == fewSuspects && !t.o.Wide {
			t.Para(2, page.Plain.Span("- "), page.Dim, moreHint(len(list)-i))
			return
		}
		t.Para(2, page.Plain.Span("- "), page.Plain, t.o.Brief(s.Title)+t.alsoAt(s))
		if how := t.decides(s); how != "" {
			t.Para(4, page.Plain.Span("decide: "), page.Cyan, how)
		}
	}
}

// alsoAt says where else a suspect could be.
func (t *text) alsoAt(s diagnosis.Suspect) string {
	if len(s.Others) == 0 {
		return ""
	}
	return "; or the same at " + some(each(s.Others, func(o fault.Subject) string { return o.Name }), t.names())
}

// settling lists what holds and is still normal.
func (t *text) settling() {
	list := t.waitingGroups()
	if len(list) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "In progress")
	for i, w := range list {
		if i == fewSettling && !t.o.Wide {
			t.Line(2, page.Dim.Span(moreHint(len(list)-i)))
			return
		}
		t.Para(0, page.Yellow.Span(t.Sign(page.Wait)+" "), page.Plain, t.linkTitle(linkOf(w.Group))+"; "+t.deadline(w.Until))
	}
}

// deadline says when what is normal so far becomes a fault.
func (t *text) deadline(until time.Time) string {
	return fmt.Sprintf("becomes a fault in %s, at %s", fault.Span(until.Sub(t.d.Now)), page.Clock(until))
}

const fewSettling = 5

// timeline lists when things began.
func (t *text) timeline() {
	if len(t.d.Timeline) == 0 {
		return
	}
	t.Blank()
	t.Head(0, "When")
	for _, m := range t.d.Timeline {
		t.Para(2, page.Dim.Span(page.Clock(m.Time)+"  "), page.Plain, m.Subject.String()+": "+m.Text)
	}
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return page.Clock(t)
}
