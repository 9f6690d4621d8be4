package answer

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// firstRows is an answer on a terminal of 80 columns, and its first screen of 24 rows.
func firstRows(t *testing.T, d *diagnosis.Diagnosis) (whole, first string) {
	t.Helper()
	var out bytes.Buffer
	if err := renderText(&out, d, options(page.Style{Width: 80})); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	for i, line := range lines {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && !strings.HasPrefix(line, "  ") {
			t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
	}
	return out.String(), strings.Join(lines[:min(len(lines), 22)], "")
}

// TestSmallScreen: the verdict, which hosts, the first cause and what to do about it are on the first
// screen of a small terminal, and every cause has its first action below.
func TestSmallScreen(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			d := s.make()
			whole, first := firstRows(t, d)
			for i, r := range d.Roots {
				if !strings.Contains(whole, r.Fault+" ·") {
					t.Errorf("the cause %s is not named:\n%s", r.Fault, whole)
				}
				if i == 0 && !strings.Contains(first, r.Fault+" ·") {
					t.Errorf("the first cause is not on the first screen:\n%s", first)
				}
			}
			if len(d.Hosts) > 0 && len(d.Groups.Hosts) > 0 && !strings.Contains(first, "Hosts: ") {
				t.Errorf("the hosts are not on the first screen:\n%s", first)
			}
		})
	}
}

// TestManyHosts: a hundred hosts with long names take two rows, and their number is said.
func TestManyHosts(t *testing.T) {
	d := answertest.TwoRoots()
	for i := range d.Groups.Hosts {
		g := &d.Groups.Hosts[i]
		for len(g.Names) > 0 && len(g.Names) < 100 {
			g.Names = append(g.Names, strings.Replace(g.Names[0], ".", strings.Repeat("x", len(g.Names)%7)+".", 1))
		}
	}
	if _, first := firstRows(t, d); !strings.Contains(first, " more (all of prod.example.com)") {
		t.Errorf("%s", first)
	}
}

// TestManyCauses: each of many causes is there in full, with its first action.
func TestManyCauses(t *testing.T) {
	d := answertest.TwoRoots()
	last := d.Roots[len(d.Roots)-1]
	for i := range 12 {
		r := last
		r.Fault = "another-cause-" + string(rune('a'+i))
		d.Roots = append(d.Roots, r)
	}
	whole, _ := firstRows(t, d)
	if n := strings.Count(whole, "  More: rollcall explain "); n != len(d.Roots) {
		t.Errorf("%d of %d causes are there in full:\n%s", n, len(d.Roots), whole)
	}
}
