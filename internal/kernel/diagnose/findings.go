package diagnose

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// maxSubjects bounds how many subjects of one kind are judged one by one. A
// cluster has some thousand nodes at most; more than this is a flood, of which the
// facts about the whole speak, or an archive that was made to hurt.
const maxSubjects = 10_000

// unnamed is what a title has for a subject whose name is not known.
func unnamed(k fault.Kind) string {
	if k == fault.Host {
		return "a host whose name is not known"
	}
	return "…"
}

// kindNoun is what titles call a subject of a kind, and any such subject.
var kindNoun = map[fault.Kind]struct{ noun, one string }{
	fault.Pool:     {"pool", "a pool"},
	fault.Operator: {"operator", "an operator"},
	fault.CSR:      {"request", "a request"},
	fault.NodePool: {"NodePool", "a NodePool"},
}

// unnamedTitle is the title of a fault for a subject whose name is not known: "the config of a pool", not "of pool …".
func unnamedTitle(f *fault.Fault) string {
	title := fault.FillTitle(f, f.Title, unnamed(f.For), func(string) string { return "" })
	k, ok := kindNoun[f.For]
	if !ok {
		return title
	}
	for _, named := range []string{"the " + k.noun + " …", k.noun + " …", "…"} {
		title = strings.ReplaceAll(title, named, k.one)
	}
	return title
}

// found is what the evaluation of all faults gives.
type found struct {
	findings []diagnosis.Finding
	subjects int             // how many were looked at
	aside    diagnosis.Aside // findings that are not kept
}

// evaluateAll evaluates faults for all subjects of their kind. Where the subjects of a kind
// cannot be listed, or only some of them, one unknown finding per fault says so.
func (e *Engine) evaluateAll(ctx context.Context, w *facts.World, list []*fault.Fault) (found, error) {
	var out found
	subjects, blind, err := e.subjects(ctx, w)
	if err != nil {
		return out, err
	}
	for _, s := range subjects {
		out.subjects += len(s)
	}
	// Faults are judged side by side: on a large cluster that is half of the time. The
	// order of the answer does not depend on it.
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *fault.Fault) int { return strings.Compare(a.ID, b.ID) })
	parts := make([]part, len(list))
	room := e.room(list, subjects)
	at := 0
	group, together := crash.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range list {
		p := &parts[i]
		p.fault, p.deciding = f, e.deciding && f.For == fault.Host
		if size := len(subjects[f.For]) + 1; room != nil {
			p.list = room[at : at : at+size]
			at += size
		}
		err := blind[f.For]
		if err != nil && len(subjects[f.For]) == 0 {
			p.list = append(p.list, unlisted(f, err))
			continue
		}
		group.Go(func() error {
			broken := e.evaluateFor(together, w, p, subjects[f.For])
			if err != nil && f.For != fault.Host { // of the others nothing is known
				p.add(unlisted(f, err))
				slices.SortStableFunc(p.list, func(a, b diagnosis.Finding) int { return fault.CompareKeys(a.Key(), b.Key()) })
			}
			return broken
		})
	}
	if err := group.Wait(); err != nil {
		return out, err
	}
	if err := e.evaluateSuspects(ctx, w, parts, subjects[fault.Host]); err != nil {
		return out, err
	}
	out.findings, out.aside = join(parts, room)
	return out, nil
}

// room returns a list with room for all findings, nil where some are only counted. A copy of each part
// would take as much memory again, which is a tenth of the whole on 500 nodes.
func (e *Engine) room(list []*fault.Fault, subjects map[fault.Kind][]fault.Subject) []diagnosis.Finding {
	if e.deciding {
		return nil
	}
	n := 0
	for _, f := range list {
		n += len(subjects[f.For]) + 1
	}
	return make([]diagnosis.Finding, n)
}

// subjects lists the subjects of each kind in the order of the answer, and why those of a kind could
// not be listed, or not all.
func (e *Engine) subjects(ctx context.Context, w *facts.World) (map[fault.Kind][]fault.Subject, map[fault.Kind]error, error) {
	subjects := map[fault.Kind][]fault.Subject{}
	blind := map[fault.Kind]error{}
	for _, k := range fault.Kinds() {
		s, err := e.relate.Subjects(ctx, w, k)
		if _, ok := evidence.AsUnavailable(err); ok {
			blind[k] = err
		} else if err != nil {
			return nil, nil, fmt.Errorf("list subjects of kind %s: %w", k, err)
		}
		if len(s) > maxSubjects {
			blind[k] = &evidence.Unavailable{Why: evidence.Damaged, Detail: fmt.Sprintf("there are %d of kind %s, at most %d are judged one by one",
				len(s), k, maxSubjects)}
			s = nil
		}
		s = slices.Clone(s)
		slices.SortStableFunc(s, func(a, b fault.Subject) int { return fault.CompareKeys(fault.Key{Subject: a}, fault.Key{Subject: b}) })
		subjects[k] = s
	}
	return subjects, blind, nil
}

// unlisted is the finding of a fault for those of its subjects of which nothing could be read.
func unlisted(f *fault.Fault, err error) diagnosis.Finding {
	supply := evidence.SupplyOf(err)
	return diagnosis.Finding{
		Fault: f.ID, Subject: fault.Subject{Kind: f.For, Name: fault.Unnamed}, Outcome: fault.Unknown, Severity: f.Severity,
		Title:  unnamedTitle(f),
		Reason: "it could not be read which there are: " + err.Error(), Supply: &supply,
	}
}

// evaluateSuspects evaluates those faults again of which one finding stands for several hosts, and that may
// explain something that is there: each host is a suspect of its own. The facts are computed already.
func (e *Engine) evaluateSuspects(ctx context.Context, w *facts.World, parts []part, hosts []fault.Subject) error {
	effects := map[string]bool{}
	for i := range parts {
		effects[parts[i].fault.ID] = slices.ContainsFunc(parts[i].list, func(f diagnosis.Finding) bool {
			return f.Outcome == fault.Present || f.Waiting()
		})
	}
	group, ctx := crash.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		p := &parts[i]
		explains := func(edge fault.Edge) bool { return effects[edge.Fault] && !edge.OfPresent() }
		if len(p.merged) == 0 || !slices.ContainsFunc(p.fault.Explains, explains) {
			continue
		}
		n := len(p.list)
		for _, f := range p.list {
			n += len(f.Others)
		}
		*p = part{fault: p.fault, deciding: true, apart: true, list: make([]diagnosis.Finding, 0, n)}
		group.Go(func() error { return e.evaluateFor(ctx, w, p, hosts) })
	}
	return group.Wait()
}

// evaluateFor adds what a fault is for subjects.
func (e *Engine) evaluateFor(ctx context.Context, w *facts.World, p *part, subjects []fault.Subject) error {
	t, err := e.open(ctx, w, p.fault)
	if err != nil {
		return err
	}
	for i, s := range subjects {
		if err := ctx.Err(); err != nil {
			return err
		}
		finding, err := e.evaluate(ctx, w, t, s)
		if err != nil {
			return err
		}
		if p.keeps(finding) && !p.merge(&finding, t, subjects, i) {
			finding.Title = t.titleOf(s)
			p.add(finding)
		}
	}
	return nil
}

// part has the findings of one fault, in the order of the answer.
type part struct {
	fault    *fault.Fault
	list     []diagnosis.Finding
	deciding bool            // findings that decide nothing are only counted
	aside    diagnosis.Aside // those that were
	seen     map[spare]bool
	apart    bool     // each host of which the fault is unknown has a finding of its own
	merged   []merged // findings that may stand for several hosts
}

// merged is an unknown finding and the other hosts for which it stands.
type merged struct {
	at       int    // in the list
	title    string // without the name of the host
	from, to int    // the others as a part of the subjects
	copied   bool   // they are not next to each other: they have a list of their own
}

// maxMerged bounds how many findings of a fault are compared with the next one.
const maxMerged = 8

// spare is what findings that decide nothing have in common. The first of each is kept: it says that the
// fault was checked, and what rules it out.
type spare struct {
	outcome         fault.Outcome
	reason, evident bool
}

// keeps reports whether a finding is kept, and counts it where it is not.
func (p *part) keeps(f diagnosis.Finding) bool {
	if !p.deciding || !f.DecidesNothing() {
		return true
	}
	kind := spare{f.Outcome, f.Reason != "", len(f.Evidence) > 0}
	if p.seen[kind] {
		p.aside.Count(f.Outcome)
		return false
	}
	if p.seen == nil {
		p.seen = map[spare]bool{}
	}
	p.seen[kind] = true
	return true
}

// merge adds a host to a finding that says the same of another one: that the fault is unknown, for the
// same reason. The subjects are those of the fault, the finding is about the i-th.
func (p *part) merge(f *diagnosis.Finding, t *tested, subjects []fault.Subject, i int) bool {
	if !p.deciding || p.apart || f.Outcome != fault.Unknown || f.Withheld || f.Unsettled || f.Lost != nil || len(f.Evidence) > 0 {
		return false
	}
	name := subjects[i].Name
	title := t.titleOf(fault.Subject{Name: anyName})
	if strings.Contains(title, name) || strings.Contains(f.Reason, name) {
		return false
	}
	for n := range p.merged {
		m := &p.merged[n]
		first := &p.list[m.at]
		if m.title == title && first.Reason == f.Reason && slices.Equal(first.Missing, f.Missing) && slices.Equal(first.Unread, f.Unread) {
			first.Others = m.add(first.Others, subjects, i)
			return true
		}
	}
	if len(p.merged) < maxMerged {
		p.merged = append(p.merged, merged{at: len(p.list), title: title})
	}
	return false
}

// anyName takes the place of the name of a host.
const anyName = "\x00"

// add adds the i-th subject to the others. Mostly they follow each other, and are then a part of the
// subjects: a list for each fault of some thousand hosts would take as much as the findings.
func (m *merged) add(others, subjects []fault.Subject, i int) []fault.Subject {
	switch {
	case len(others) == 0:
		m.from, m.to = i, i+1
	case m.copied || m.to != i:
		m.copied = true
		return append(others, subjects[i])
	default:
		m.to = i + 1
	}
	return subjects[m.from:m.to:m.to]
}

// add adds a finding. It has the words and lists of the one before it where they are equal: a cluster of
// some thousand hosts of which little is known has a million that say the same.
func (p *part) add(f diagnosis.Finding) {
	if n := len(p.list); n > 0 {
		before := &p.list[n-1]
		if f.Reason == before.Reason {
			f.Reason = before.Reason
		}
		if slices.Equal(f.Missing, before.Missing) {
			f.Missing = before.Missing
		}
		if slices.Equal(f.Unread, before.Unread) {
			f.Unread = before.Unread
		}
	}
	p.list = append(p.list, f)
}

// join returns the findings of all parts in one list, and how many are only counted. It uses the room of
// the parts where that is one list.
func join(parts []part, room []diagnosis.Finding) ([]diagnosis.Finding, diagnosis.Aside) {
	var aside diagnosis.Aside
	n := 0
	for i := range parts {
		n += len(parts[i].list)
		aside.Absent += parts[i].aside.Absent
		aside.NotApplicable += parts[i].aside.NotApplicable
	}
	if room == nil {
		room = make([]diagnosis.Finding, n)
	}
	list := room[:0]
	for i := range parts {
		list = append(list, parts[i].list...)
		parts[i].list = nil // its memory is free
	}
	return list, aside
}
