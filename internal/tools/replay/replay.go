package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// machine is what all snapshots have in common.
type machine struct {
	catalog  *fault.Catalog
	compiler *fault.Compiler
	facts    []facts.Fact
	set      *scan.Set
}

func newMachine() (*machine, error) {
	m := &machine{facts: all.All()}
	var err error
	if m.catalog, err = fault.Load(catalog.FS); err != nil {
		return nil, fmt.Errorf("load catalogue: %w", err)
	}
	if m.compiler, err = fault.NewCompiler(facts.Types(m.facts)); err != nil {
		return nil, err
	}
	if m.set, err = m.catalog.Signatures(); err != nil {
		return nil, fmt.Errorf("compile signatures: %w", err)
	}
	return m, nil
}

// diagnose makes the whole diagnosis of a snapshot at the time of its commit.
func (m *machine) diagnose(ctx context.Context, s *snapshot, c commit) (*diagnosis.Diagnosis, *reader.Reader, error) {
	source, err := archive.FS(s, c.id[:10])
	if err != nil {
		return nil, nil, err
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, nil, fmt.Errorf("make sanitizer: %w", err)
	}
	r := reader.New(m.set, clean, nil, reader.Limits{}, source)
	o := engine.Options(m.catalog, m.facts, r)
	o.Compiler, o.Now, o.Clock, o.Log = m.compiler, c.at, time.Now, slog.New(slog.DiscardHandler)
	d, err := diagnose.Run(ctx, o)
	return d, r, err
}

// replay diagnoses the chosen snapshots and prints each change of the answer, or all.
func replay(ctx context.Context, repo repository, b *blobs, chosen []commit, every bool, out io.Writer) (*summary, error) {
	m, err := newMachine()
	if err != nil {
		return nil, err
	}
	kept := &contents{blobs: b, kept: map[string][]byte{}}
	s := &summary{classes: map[string]int{}, seen: map[string]int{}}
	last := ""
	for _, c := range chosen {
		members, err := repo.tree(ctx, c.id)
		if err != nil {
			return nil, err
		}
		d, _, err := m.diagnose(ctx, newSnapshot(kept, members), c)
		if err != nil {
			return nil, fmt.Errorf("diagnose snapshot %s of %s: %w", c.id, c.at.Format(time.RFC3339), err)
		}
		a := outcomeOf(d)
		s.add(a)
		if text := a.String(); every || text != last {
			fmt.Fprintf(out, "%s %s %s\n", c.at.Format("15:04:05"), c.id[:10], text)
			last = text
		}
	}
	return s, nil
}

// outcome is what is compared between snapshots.
type outcome struct {
	class     diagnosis.VerdictClass
	exit      int
	proven    []string // roots of severity error
	roots     []string // all, with their confidence
	undecided []string // symptoms without a cause
	hosts     []string // that are left without an answer
	waiting   []string // what is still normal
	counts    string
}

// maxNamed bounds how many names of one kind are printed.
const maxNamed = 6

func outcomeOf(d *diagnosis.Diagnosis) outcome {
	a := outcome{class: d.Verdict.Class}
	switch {
	case diagnose.Worst(d) >= fault.Error.Rank():
		a.exit = 2
	case diagnose.Undecided(d):
		a.exit = 3
	}
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			name := fmt.Sprintf("%s %s %s %s", r.Severity, r.Fault, c.Subject, c.Confidence)
			a.roots = append(a.roots, name)
			if c.Confidence == diagnosis.Proven && r.Severity == fault.Error {
				a.proven = append(a.proven, name)
			}
		}
	}
	for _, u := range d.Unexplained {
		a.undecided = append(a.undecided, fmt.Sprintf("%s %s %s", u.Severity, u.Fault, u.Subject))
	}
	finished := 0
	for _, h := range d.Hosts {
		switch {
		case h.State == diagnosis.StagePassed || h.State == diagnosis.StageNotApplicable:
			finished++
		case h.Expected && len(h.BlockedBy) == 0:
			a.hosts = append(a.hosts, fmt.Sprintf("%s %s %s", h.Name, h.Stage, h.State))
		}
	}
	waiting := map[string]bool{}
	for _, f := range d.Findings {
		if f.Waiting() {
			waiting[f.Fault] = true
		}
	}
	a.waiting = slices.Sorted(maps.Keys(waiting))
	a.counts = fmt.Sprintf("%d of %d hosts done", finished, len(d.Hosts))
	return a
}

// String is one line, and one more for each root, undecided symptom and open host.
func (a outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s exit %d, %s", a.class, a.exit, a.counts)
	if len(a.waiting) > 0 {
		fmt.Fprintf(&b, "; normal so far: %s", strings.Join(a.waiting, " "))
	}
	for _, part := range []struct {
		what string
		list []string
	}{{"root", a.roots}, {"undecided", a.undecided}, {"open host", a.hosts}} {
		for i, name := range part.list {
			if i == maxNamed {
				fmt.Fprintf(&b, "\n    %s: %d more", part.what, len(part.list)-i)
				break
			}
			fmt.Fprintf(&b, "\n    %s: %s", part.what, name)
		}
	}
	return b.String()
}

// summary counts answers.
type summary struct {
	snapshots, proven, undecided, open int
	classes, seen                      map[string]int
}

func (s *summary) add(a outcome) {
	s.snapshots++
	s.classes[fmt.Sprintf("%s exit %d", a.class, a.exit)]++
	if len(a.proven) > 0 {
		s.proven++
	}
	if slices.ContainsFunc(a.undecided, func(u string) bool { return strings.HasPrefix(u, string(fault.Error)) }) {
		s.undecided++
	}
	if len(a.hosts) > 0 {
		s.open++
	}
	for _, name := range slices.Concat(a.roots, a.undecided, a.hosts) {
		s.seen[name]++
	}
}

func (s *summary) print(out io.Writer, commits int, took time.Duration) {
	fmt.Fprintf(out, "\n%d snapshots of %d commits in %s\n", s.snapshots, commits, took.Round(100*time.Millisecond))
	for _, c := range slices.Sorted(maps.Keys(s.classes)) {
		fmt.Fprintf(out, "  %5d %s\n", s.classes[c], c)
	}
	fmt.Fprintf(out, "snapshots with a proven error: %d, with an undecided error: %d, with a host without an answer: %d\n", s.proven, s.undecided, s.open)
	for _, name := range slices.SortedFunc(maps.Keys(s.seen), func(x, y string) int {
		if n := s.seen[y] - s.seen[x]; n != 0 {
			return n
		}
		return strings.Compare(x, y)
	}) {
		fmt.Fprintf(out, "  %5d %s\n", s.seen[name], name)
	}
}
