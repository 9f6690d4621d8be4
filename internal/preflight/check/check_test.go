package check_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// plan is what the area of these tests reads.
type plan struct{ wrong, other check.Problems }

// run runs both checks of an area and returns what they found, and how often it was read.
func run(t *testing.T, read func() (plan, error)) (wrong, other check.Result, times int, err error) {
	t.Helper()
	list := check.Area("plan-toys", nil, func(context.Context, *facts.World) (plan, error) {
		times++
		return read()
	}, check.Fields[plan]{
		"b-wrong": func(p *plan) *check.Problems { return &p.wrong },
		"a-other": func(p *plan) *check.Problems { return &p.other },
	})
	if len(list) != 2 || list[0].ID != "a-other" || list[1].ID != "b-wrong" || list[0].Area != "plan-toys" {
		t.Fatalf("the checks are %v", list)
	}
	w := facts.NewWorld(nil, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if other, err = list[0].Run(t.Context(), w); err != nil {
		return wrong, other, times, err
	}
	wrong, err = list[1].Run(t.Context(), w)
	return wrong, other, times, err
}

// TestOutcomes: what was found is present, what was not is absent, and what was not read is neither.
func TestOutcomes(t *testing.T) {
	missing := &evidence.Unavailable{Why: evidence.NotCollected}
	for name, c := range map[string]struct {
		read   func() (plan, error)
		want   fault.Outcome
		names  []string
		reason string
	}{
		"nothing is wrong": {func() (plan, error) { return plan{}, nil }, fault.Absent, nil, ""},
		"two hosts": {func() (p plan, _ error) {
			p.wrong.Add("kite-1", evidence.Item{Excerpt: "red"})
			p.wrong.Add("kite-2", evidence.Item{Excerpt: "red"})
			p.wrong.Add("kite-1", evidence.Item{Excerpt: "torn"})
			return p, nil
		}, fault.Present, []string{"kite-1", "kite-2"}, ""},
		"many hosts": {func() (p plan, _ error) {
			for i := range 6 {
				p.wrong.Add(fmt.Sprintf("kite-%d", i), evidence.Item{})
			}
			return p, nil
		}, fault.Present, []string{"kite-0", "kite-1", "kite-2", "kite-3", "and 2 more"}, ""},
		"one part was not read": {func() (p plan, _ error) {
			p.wrong.Miss(missing)
			return p, nil
		}, fault.Unknown, nil, "plan-toys: "},
		"found before a part was not read": {func() (p plan, _ error) {
			p.wrong.Miss(missing)
			p.wrong.Add("kite-1", evidence.Item{})
			return p, nil
		}, fault.Present, []string{"kite-1"}, ""},
		"nothing was read": {func() (plan, error) { return plan{}, missing }, fault.Unknown, nil, "plan-toys: "},
		"it has no meaning": {func() (plan, error) { return plan{}, check.NotApplicable("platform %s has no kites", "None") },
			fault.NotApplicable, nil, "platform None has no kites"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong, other, times, err := run(t, c.read)
			if err != nil || wrong.Outcome != c.want || !slices.Equal(wrong.Names, c.names) || !strings.HasPrefix(wrong.Reason, c.reason) {
				t.Errorf("%+v, %v; want %s %v", wrong, err, c.want, c.names)
			}
			if (wrong.Outcome == fault.Unknown) != (wrong.Unread != nil) {
				t.Errorf("%s with %v unread", wrong.Outcome, wrong.Unread)
			}
			if c.want == fault.Present && other.Outcome != fault.Absent {
				t.Errorf("the other check of the area is %s", other.Outcome)
			}
			if times != 1 {
				t.Errorf("the area was read %d times", times)
			}
		})
	}
}

// TestDefect: any other error is one, and no answer.
func TestDefect(t *testing.T) {
	broken := errors.New("the kite flew away")
	if _, other, _, err := run(t, func() (plan, error) { return plan{}, broken }); !errors.Is(err, broken) || other.Outcome != "" {
		t.Errorf("%v, %+v", err, other)
	}
	if check.IsNotApplicable(broken) || !check.IsNotApplicable(fmt.Errorf("read: %w", check.NotApplicable("no"))) {
		t.Error("not told apart")
	}
}

// TestForeignTime: a time that cannot be one does not become evidence.
func TestForeignTime(t *testing.T) {
	var p check.Problems
	p.Add("kite-1", evidence.Item{Time: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
	if got := p.Evidence(); len(got) != 1 || !got[0].Time.IsZero() {
		t.Errorf("%v", got)
	}
}
