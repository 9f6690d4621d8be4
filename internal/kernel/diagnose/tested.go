package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// tested is a fault that is evaluated for one subject after another, with what is the same for all
// of them. Of some thousand hosts most are alike: what their facts have in common is computed once.
type tested struct {
	fault    *fault.Fault
	title    fault.Title
	given    []string     // its variables, sorted
	facts    []facts.Fact // of the variables
	order    []int        // of them in a proof: as the expressions speak of them
	excluded string       // why it does not apply to this cluster, "" where it does

	expressions []*expression
	unknown     unknown    // of the subject before
	state       evaluation // of one subject after another
	key         []byte     // room of expression.key
}

// expression is an expression of a fault with its results so far.
type expression struct {
	text    string
	program *fault.Program
	fields  [][]int                 // by variable: the indexes of the fields that it looks at
	this    []string                // fields of the subject that it looks at
	results map[string]fault.Result // by what it saw, see key; nil: not kept
	missed  int                     // how often no result was found
}

// maxResults bounds how many results of one expression are kept, and tries how often none may be
// found before hosts are taken to differ.
const maxResults, tries = 256, 64

func (e *Engine) open(ctx context.Context, w *facts.World, f *fault.Fault) (*tested, error) {
	t := &tested{fault: f, title: fault.ParseTitle(f, f.Title), given: variables(f), order: make([]int, len(f.Given))}
	text := f.When + " " + strings.Join(f.Support, " ")
	for i, name := range t.given {
		t.order[i] = i
		fact, ok := e.facts[f.Given[name].Fact]
		if !ok {
			return nil, fmt.Errorf("fault %s: there is no fact %q", f.ID, f.Given[name].Fact)
		}
		t.facts = append(t.facts, fact)
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return position(text, t.given[a]) - position(text, t.given[b]) })
	ok, why := applies(f.Versions, w.Version)
	if ok {
		var err error
		if why, err = excludedByTopology(ctx, w, f); err != nil {
			return nil, err
		}
	}
	t.excluded = cmp.Or(why, e.excludedByProduct(f))
	return t, nil
}

func variables(f *fault.Fault) []string { return slices.Sorted(maps.Keys(f.Given)) }

// position is where an expression first uses a variable.
func position(text, name string) int {
	if at := strings.Index(text, name+"."); at >= 0 {
		return at
	}
	return len(text)
}

// titleOf returns the title of the finding that was evaluated last, of a subject. Where its condition was
// not evaluated the title has no values.
func (t *tested) titleOf(s fault.Subject) string {
	v := &t.state
	return t.title.Fill(s.Name, func(expr string) string {
		if !v.judged {
			return ""
		}
		x, err := t.expression(v.engine.compiler, expr)
		if err != nil {
			return ""
		}
		r, err := x.eval(t, &v.bound)
		if err != nil || !r.Known() {
			return ""
		}
		return fault.Show(r)
	})
}

// expression returns an expression of the fault, compiled.
func (t *tested) expression(c *fault.Compiler, text string) (*expression, error) {
	for _, x := range t.expressions {
		if x.text == text {
			return x, nil
		}
	}
	p, err := c.Compile(t.fault, text)
	if err != nil {
		return nil, err
	}
	x := &expression{text: text, program: p, fields: make([][]int, len(t.given)), this: p.Selects["this"]}
	for i, name := range t.given {
		x.fields[i] = t.facts[i].Indexes(p.Selects[name])
	}
	if p.OfFields {
		x.results = map[string]fault.Result{}
	}
	t.expressions = append(t.expressions, x)
	return x, nil
}

// eval evaluates the expression for a subject, or returns the result of one whose facts are equal.
func (x *expression) eval(t *tested, b *bound) (fault.Result, error) {
	keyed := false
	if x.results != nil {
		t.key, keyed = x.appendKey(t.key[:0], b)
	}
	if keyed {
		if r, ok := x.results[string(t.key)]; ok {
			return r, nil
		}
	}
	r, err := x.program.Eval(b.variables())
	if err != nil {
		return r, fmt.Errorf("%q: %w", x.text, err)
	}
	if keyed && len(x.results) < maxResults {
		x.results[string(t.key)] = r
	}
	if x.missed++; x.missed == tries && len(x.results) == tries {
		x.results = nil // each subject has values of its own, times for instance
	}
	return r, nil
}

// appendKey appends all that the expression sees of a subject; ok is false where it cannot be told.
func (x *expression) appendKey(key []byte, b *bound) (_ []byte, ok bool) {
	for i, fields := range x.fields {
		if len(fields) == 0 {
			continue
		}
		if key, ok = b.values[i].AppendKey(key, fields); !ok {
			return key, false
		}
	}
	for _, field := range x.this { // all others are those of the run
		switch field {
		case "name":
			key = append(append(key, b.this.Name...), 0)
		case "namespace":
			key = append(append(key, b.this.Namespace...), 0)
		}
	}
	return key, true
}

// unknown is what an unknown finding says, and why: it is put into words once for all subjects of
// which the same is unknown for the same reason.
type unknown struct {
	names    []string
	why      []error
	reason   string
	missing  []string
	withheld bool
	unread   []*evidence.Unavailable
}

// tell fills in why the outcome is unknown.
func (u *unknown) tell(out *diagnosis.Finding, v *evaluation, names []string) {
	if !u.same(&v.bound, names) {
		*u = unknown{names: names, reason: v.bound.reason(names), missing: v.missing(names),
			withheld: v.bound.withheld(names), unread: v.bound.unread(names)}
		for _, n := range names {
			u.why = append(u.why, v.bound.why(n))
		}
	}
	out.Reason, out.Missing, out.Withheld, out.Unread = u.reason, u.missing, u.withheld, u.unread
}

// same reports whether names are unknown for the same reasons as those before.
func (u *unknown) same(b *bound, names []string) bool {
	if len(u.why) == 0 || !slices.Equal(u.names, names) {
		return false
	}
	for i, n := range names {
		if !sameReason(b.why(n), u.why[i]) {
			return false
		}
	}
	return true
}

// sameReason reports whether two reasons say the same, of those that are often the same.
func sameReason(a, b error) bool {
	if a == b {
		return true
	}
	x, ok := a.(*evidence.Unavailable)
	y, too := b.(*evidence.Unavailable)
	return ok && too && x != nil && y != nil && *x == *y
}
