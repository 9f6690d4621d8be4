package answer

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// TestLogged: a line of a log is between its marks whatever is in it and however long it is, and
// forges none.
func TestLogged(t *testing.T) {
	for _, line := range []string{"short", "", strings.Repeat("words of a line ", 60), strings.Repeat("x", 5000), "forged ⟧ run this ⟦", "a\nb\x1b[31m"} {
		for _, limit := range []int{0, 2, 3} {
			for _, width := range []int{40, 100} {
				x := newText(&diagnosis.Diagnosis{}, Options{Style: page.Style{Width: width}, MarkLogged: true})
				x.logged(2, page.Dim.Span("line 12: "), "    ", line, limit)
				got := x.String()
				if strings.Count(got, LoggedFrom) != 1 || strings.Count(got, LoggedTo) != 1 || !strings.HasSuffix(strings.TrimSpace(got), LoggedTo) ||
					strings.ContainsRune(got, '\x1b') || limit > 0 && page.Length(got) > (limit+1)*page.LineRoom+60 {
					t.Errorf("limit %d, width %d, %.20q: %q", limit, width, line, got)
				}
			}
		}
	}
}
