package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Problems are what one check finds: the names of what has the problem, each with its
// evidence, or why it is not known whether there are any. The zero value is that there are none.
type Problems struct {
	names  []string
	proof  []evidence.Item
	unread *evidence.Unavailable
}

// Add adds a name, once, and what shows its problem. A problem is known whatever else is not.
func (p *Problems) Add(name string, shown evidence.Item) {
	if !slices.Contains(p.names, name) {
		p.names, p.unread = append(p.names, name), nil
	}
	if !evidence.Plausible(shown.Time) { // it comes from outside
		shown.Time = time.Time{}
	}
	p.proof = append(p.proof, shown)
}

// Miss says that it is not known whether there are problems. Names that were added are dropped.
func (p *Problems) Miss(why *evidence.Unavailable) { p.names, p.unread = nil, why }

// Any reports whether there are problems.
func (p *Problems) Any() bool { return len(p.names) > 0 }

// Names are what has the problem.
func (p *Problems) Names() []string { return p.names }

// Evidence is what shows the problems.
func (p *Problems) Evidence() []evidence.Item { return p.proof }

// Unread is what would decide whether there are problems, nil where that is known.
func (p *Problems) Unread() *evidence.Unavailable { return p.unread }

// mostNames is how many names a title has; the evidence has all of them.
const mostNames = 4

// result is what the problems of an area say.
func (p *Problems) result(area string) Result {
	switch {
	case p.unread != nil:
		return Result{Outcome: fault.Unknown, Evidence: p.proof, Reason: area + ": " + p.unread.Error(), Unread: p.unread}
	case !p.Any():
		return Result{Outcome: fault.Absent, Evidence: p.proof}
	}
	names := p.names
	if more := len(names) - mostNames; more > 0 {
		names = append(names[:mostNames:mostNames], fmt.Sprintf("and %d more", more))
	}
	return Result{Outcome: fault.Present, Names: names, Evidence: p.proof}
}
