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

// answerRows is an answer on a terminal of that size, and the rows that it takes there.
func answerRows(t *testing.T, d *diagnosis.Diagnosis, width, height int, wide bool) (string, int) {
	t.Helper()
	var out bytes.Buffer
	o := options(page.Style{Width: width})
	o.Height, o.Wide = height, wide
	if err := renderText(&out, d, o); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(out.String()) {
		rows += max(1, (utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))+width-1)/width)
	}
	return out.String(), rows
}

// TestLowTerminal: what is wrong, which hosts and what to do stay on a low terminal, however
// much there is to say; what is left out is named.
func TestLowTerminal(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {80, 30}, {160, 24}} {
				width, height := size[0], size[1]
				whole, all := answerRows(t, s.make(), width, 0, false)
				got, rows := answerRows(t, s.make(), width, height, false)
				if rows > height-afterAnswer {
					t.Errorf("%dx%d: %d rows:\n%s", width, height, rows, got)
				}
				if all <= height-afterAnswer && got != whole {
					t.Errorf("%dx%d: it has room for the whole answer, and is\n%s", width, height, got)
				}
				if all > height-afterAnswer && !strings.Contains(got, "-o wide") {
					t.Errorf("%dx%d: it does not say how to see the rest:\n%s", width, height, got)
				}
				for _, r := range s.make().Roots {
					if !strings.Contains(got, r.Fault+" ·") {
						t.Errorf("%dx%d: the cause %s is not named:\n%s", width, height, r.Fault, got)
					}
				}
				if head := strings.SplitN(whole, "\n", 2)[0]; !strings.HasPrefix(got, head) {
					t.Errorf("%dx%d: it begins with %q, not with %q", width, height, got, head)
				}
			}
			first, _ := answerRows(t, s.make(), 80, 24, false)
			golden(t, "diagnose-"+s.name+"-80x24.txt", []byte(first))
		})
	}
	if got, rows := answerRows(t, answertest.DesyncProven(), 80, 24, true); rows <= 24 {
		t.Errorf("-o wide leaves something out on a low terminal:\n%s", got)
	}
}

// TestLowTerminalOfMany: a hundred hosts with long names take two rows, and their number is said.
func TestLowTerminalOfMany(t *testing.T) {
	d := answertest.TwoRoots()
	for i := range d.Groups.Hosts {
		g := &d.Groups.Hosts[i]
		for len(g.Names) > 0 && len(g.Names) < 100 {
			g.Names = append(g.Names, strings.Replace(g.Names[0], ".", strings.Repeat("x", len(g.Names)%7)+".", 1))
		}
	}
	got, rows := answerRows(t, d, 80, 24, false)
	if rows > 24-afterAnswer || !strings.Contains(got, " more (all of prod.example.com)") {
		t.Errorf("%d rows:\n%s", rows, got)
	}
}

// TestLowTerminalOfManyCauses: with more causes than the terminal has rows the first one
// keeps what to do, and the others their names.
func TestLowTerminalOfManyCauses(t *testing.T) {
	d := answertest.TwoRoots()
	last := d.Roots[len(d.Roots)-1]
	for i := range 12 {
		r := last
		r.Fault = "another-cause-" + string(rune('a'+i))
		d.Roots = append(d.Roots, r)
	}
	got, rows := answerRows(t, d, 80, 24, false)
	if rows > 24-afterAnswer || !strings.Contains(got, "\nAlso: "+last.Fault+", another-cause-a") || !strings.Contains(got, "What to do: ") {
		t.Errorf("%d rows:\n%s", rows, got)
	}
	if wide, _ := answerRows(t, d, 80, 24, true); strings.Contains(wide, "Also: ") || !strings.Contains(wide, "another-cause-l ·") {
		t.Errorf("-o wide does not have every cause in full:\n%s", wide)
	}
}
