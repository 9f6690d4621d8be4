package message

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// rank orders causes: those that explain others before these, the surer ones first.
func (x *Index) rank(r *Report) {
	for i := range r.Matches {
		for j := range r.Matches {
			a, b := &r.Matches[i], &r.Matches[j]
			if i != j && x.explains(a.Fault, b.Fault) && !x.explains(b.Fault, a.Fault) && a.Confidence.Rank() >= min(b.Confidence.Rank(), 2) {
				a.Explains = append(a.Explains, b.Fault)
			}
		}
		for _, s := range r.Symptoms {
			if s.Fault != "" && x.explains(r.Matches[i].Fault, s.Fault) {
				r.Matches[i].Explains = append(r.Matches[i].Explains, s.Fault)
			}
		}
	}
	dropDecided(r)
	x.saidTwice(r)
	decided(r)
	oneList(r)
	missingLines(r.Symptoms)
	x.asides(r)
	demoted(r)
	effects := map[string]bool{}
	for _, m := range r.Matches {
		for _, id := range m.Explains {
			effects[id] = true
		}
	}
	// What is not even an error does not go before an error, however plainly it is said.
	grave := func(m Match) bool {
		return m.Confidence.Rank() >= fault.ShowsLikely.Rank() && x.severity(m.Fault) >= fault.Error.Rank()
	}
	order := func(a, b Match) int {
		return cmp.Or(boolFirst(a.Beside, b.Beside), boolFirst(!a.Aside, !b.Aside),
			boolFirst(!effects[a.Fault], !effects[b.Fault]), boolFirst(!a.former, !b.former), boolFirst(!a.Step, !b.Step),
			boolFirst(!a.effect, !b.effect), boolFirst(a.root, b.root), boolFirst(!a.missing, !b.missing),
			boolFirst(!x.ends(a), !x.ends(b)),
			boolFirst(grave(a), grave(b)), -cmp.Compare(a.Confidence.Rank(), b.Confidence.Rank()),
			-cmp.Compare(x.severity(a.Fault), x.severity(b.Fault)), -cmp.Compare(len(a.Explains), len(b.Explains)),
			cmp.Compare(a.firstLine(), b.firstLine()), -cmp.Compare(a.Count, b.Count), cmp.Compare(a.Fault+a.Failure, b.Fault+b.Failure))
	}
	slices.SortFunc(r.Matches, order)
	// The bad condition of an object, such as a cordon, does not go before an error that another one reports.
	mild := func(m Match) bool { return strings.HasSuffix(m.Fault, "-in-bad-condition") }
	slices.SortFunc(r.Symptoms, func(a, b Match) int { return cmp.Or(boolFirst(!mild(a), !mild(b)), order(a, b)) })
	deepestFirst(r.Symptoms)
	neededFirst(r.Symptoms)
	joinReason(r)
	lastWords(r)
	slices.SortFunc(r.Over, order)
	switch {
	case len(r.Matches) > 0 && r.Matches[0].Confidence.Rank() >= fault.ShowsLikely.Rank():
		r.Result = Present
	case len(r.Matches)+len(r.Symptoms)+r.ErrorLines > 0:
		r.Result = Unknown
	}
}

// lastWords gives a unit that stopped, and of which no line says why, what its program logged as fatal right before.
func lastWords(r *Report) {
	if len(r.Symptoms) == 0 || !r.Symptoms[0].Step || r.Symptoms[0].Own != "" || len(r.Symptoms[0].Lines) == 0 {
		return
	}
	const near = 20 // lines
	lead := &r.Symptoms[0]
	at := lead.Lines[len(lead.Lines)-1]
	i := slices.IndexFunc(r.Symptoms, func(m Match) bool {
		if m.Failure != exitedFatal || m.Own == "" || len(m.Lines) == 0 || at.writer != "systemd" {
			return false
		}
		l := m.Lines[len(m.Lines)-1]
		return l.host == at.host && l.Number < at.Number && at.Number-l.Number <= near && l.writer != "" && strings.Contains(at.Text, l.writer)
	})
	if i > 0 {
		lead.Own = r.Symptoms[i].Own
	}
}

// exitedFatal is what the catalog says of a line that its program calls fatal.
const exitedFatal = "a program exited with a fatal error"

// dropDecided takes out what only says that something failed, with what can be behind it, where the same lines also show
// which of it it is.
func dropDecided(r *Report) {
	r.Symptoms = slices.DeleteFunc(r.Symptoms, func(s Match) bool {
		return s.Fault == "" && slices.ContainsFunc(r.Matches, func(m Match) bool {
			return slices.Contains(s.Candidates, m.Fault) && m.hasLines(s)
		})
	})
}

// decided takes away what can be behind a failure where its lines also show a likely cause: they give the reason.
func decided(r *Report) {
	for i := range r.Symptoms {
		s := &r.Symptoms[i]
		if s.Fault == "" && len(s.Candidates) > 0 && slices.ContainsFunc(r.Matches, func(m Match) bool {
			return m.Confidence.Rank() >= fault.ShowsLikely.Rank() && m.hasLines(*s)
		}) {
			s.Candidates, s.Next = nil, ""
		}
	}
}

// oneList leaves one list of what can be behind a failure where two failures are in the same lines and share causes: that
// of the deeper one, which is nearer to the reason.
func oneList(r *Report) {
	shares := func(a, b Match) bool {
		return slices.ContainsFunc(a.Candidates, func(id string) bool { return slices.Contains(b.Candidates, id) })
	}
	for i := range r.Symptoms {
		s := &r.Symptoms[i]
		if s.Fault == "" && slices.ContainsFunc(r.Symptoms, func(of Match) bool {
			return of.Fault == "" && of.depth > s.depth && of.hasLines(*s) && s.hasLines(of) && shares(of, *s)
		}) {
			s.Candidates, s.Next = nil, ""
		}
	}
}

// Tells reports whether a match explains another one that is a cause by itself and that the same lines show: both are one
// mechanism, and the other is no second cause.
func (m Match) Tells(other Match) bool {
	return slices.Contains(m.Explains, other.Fault) && m.hasLines(other)
}

// hasLines reports whether each line of another match is one of this one. Of more lines than are kept nothing is known.
func (m Match) hasLines(other Match) bool {
	whole := func(m Match) bool { return len(m.Lines) <= keptLines || m.Count <= len(m.Lines) }
	return whole(m) && whole(other) && !slices.ContainsFunc(other.Lines, func(l Line) bool {
		return !slices.ContainsFunc(m.Lines, func(have Line) bool { return have.Number == l.Number })
	})
}

// missingLines marks what stands in a line with an object that does not exist: the object is its
// reason, and what keeps others from making that is in another line.
func missingLines(list []Match) {
	lines := map[int]bool{}
	for _, m := range list {
		lines[m.firstLine()] = lines[m.firstLine()] || m.missing
	}
	for i := range list {
		list[i].missing = lines[list[i].firstLine()] && list[i].firstLine() != math.MaxInt
	}
}

// deepestFirst orders what stands in the same line: the last error of a chain is the reason of
// those before it. The places that they have among the others stay.
func deepestFirst(list []Match) {
	places := map[int][]int{}
	for i, m := range list {
		if line := m.firstLine(); line != math.MaxInt {
			places[line] = append(places[line], i)
		}
	}
	for _, at := range places {
		same := make([]Match, 0, len(at))
		for _, i := range at {
			same = append(same, list[i])
		}
		slices.SortStableFunc(same, func(a, b Match) int {
			if a.state || b.state { // the cells of a row are no chain
				return cmp.Or(boolFirst(a.Reason, b.Reason), boolFirst(!a.Step, !b.Step))
			}
			return cmp.Or(boolFirst(!a.Step, !b.Step), boolFirst(a.root, b.root), cmp.Compare(b.depth, a.depth))
		})
		for j, i := range at {
			list[i] = same[j]
		}
	}
}

// firstLine is where a match is seen first; what was read from objects comes last.
func (m Match) firstLine() int {
	if len(m.Lines) == 0 || m.Lines[0].Number == 0 {
		return math.MaxInt
	}
	return m.Lines[0].Number
}

// ends reports whether a step leads to nothing else: it is the last one of all that failed, as where
// openshift-install gives up.
func (x *Index) ends(m Match) bool {
	f, ok := x.catalog.Fault(m.Fault)
	return ok && m.Step && len(f.Explains) == 0
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (x *Index) severity(id string) int {
	if f, ok := x.catalog.Fault(id); ok {
		return f.Severity.Rank()
	}
	return 0
}

// explains reports whether a fault usually leads to another, directly or over one more.
func (x *Index) explains(cause, effect string) bool {
	f, ok := x.catalog.Fault(cause)
	if !ok {
		return false
	}
	for _, e := range f.Explains {
		if e.Strength == fault.PossibleEdge {
			continue
		}
		if e.Fault == effect {
			return true
		}
		if next, ok := x.catalog.Fault(e.Fault); ok && slices.ContainsFunc(next.Explains, func(e fault.Edge) bool {
			return e.Fault == effect && e.Strength != fault.PossibleEdge
		}) {
			return true
		}
	}
	return false
}
