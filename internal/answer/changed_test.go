package answer

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// What a cause is about comes first, the rest is counted, and a baseline of which it is not
// known whether it is of this cluster does not say "changed".
func TestChanged(t *testing.T) {
	m0, m1 := fault.Subject{Kind: fault.Host, Name: "m0"}, fault.Subject{Kind: fault.Host, Name: "m1"}
	list := []Change{{m1, "m1 a"}, {m1, "m1 b"}, {m1, "m1 c"}, {m0, "m0 a"}}
	for _, c := range []struct {
		name     string
		changed  *Changed
		has, not []string
	}{
		{"no baseline", nil, nil, []string{"baseline"}},
		{"nothing", &Changed{All: true}, []string{"Nothing has changed since the baseline of 2026-03-01T12:00:00Z"}, []string{"all of it"}},
		{"not all compared", &Changed{}, []string{"No change was found", "not all of it was compared", "all of it: rollcall baseline compare good.json --from x"}, []string{"Nothing"}},
		{"changes", &Changed{Is: list, All: true}, []string{": 4 changes\n  - m0 a\n  - m1 a\n  - m1 b\n  all of it: "}, []string{"m1 c"}},
		{"one host", &Changed{Is: []Change{{m0, "m0 a"}, {m1, "m1 a"}}, All: true}, []string{"  - m1 a\n  - m0 a\n"}, nil},
		{"an older archive", &Changed{Is: list, Older: true}, []string{"Not as in the baseline of 2026-03-01T12:00:00Z: 4 differences; what was read is older"}, []string{"Changed since"}},
		{"perhaps another cluster", &Changed{Is: list, Not: "x"}, []string{"Not known whether the baseline is of this cluster: 4 differences"}, []string{"Changed since"}},
	} {
		o := Options{Style: page.Style{Width: 200}, Source: "--from x", Changed: c.changed}
		if c.name == "one host" {
			o.Subject = &m1
		}
		if c.changed != nil {
			c.changed.File, c.changed.Since = "good.json", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		}
		d := &diagnosis.Diagnosis{Roots: []diagnosis.Root{{Fault: "f", Cases: []diagnosis.Case{{Key: fault.Key{Fault: "f", Subject: m0}}}}}}
		tx := newText(d, o)
		tx.changed()
		out := tx.String()
		for _, want := range c.has {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, out)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out, not) {
				t.Errorf("%s: %q is in\n%s", c.name, not, out)
			}
		}
	}
}
