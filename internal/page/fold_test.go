package page

import (
	"strings"
	"testing"
)

// TestFold: a table that is wider than the screen is broken between columns, the same for all rows; no word is broken and
// nothing is left out.
func TestFold(t *testing.T) {
	name := strings.Repeat("n", 30)
	table := "NAME                             VERSION   AVAILABLE   MESSAGE\n" +
		name + "   4.20.1    True\n" +
		"etcd                             4.20.1    False       2 of 3 members are available, control1 is unhealthy\n" +
		"étcd                             4.20.1    False       …\n"
	want := "NAME                             VERSION\n    AVAILABLE   MESSAGE\n" +
		name + "   4.20.1\n    True\n" +
		"etcd                             4.20.1\n    False       2 of 3 members are\n    available, control1 is unhealthy\n" +
		"étcd                             4.20.1\n    False       …\n"
	if got := (Style{Width: 44}).Fold(table); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range []Style{{Width: NoWrap}, {Width: 160}} {
		if got := s.Fold(table); got != table {
			t.Errorf("width %d: a table that fits is changed:\n%s", s.Width, got)
		}
	}
	for width := 40; width <= 120; width++ {
		got := (Style{Width: width}).Fold(table)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(table), " ") {
			t.Errorf("width %d: other words:\n%s", width, got)
		}
		for line := range strings.Lines(got) {
			if Length(strings.TrimRight(line, "\n")) > width {
				t.Errorf("width %d: %q is wider", width, line)
			}
		}
	}
}
