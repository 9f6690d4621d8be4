package excerpt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for got, want := range map[string]string{
		excerpt.Of(" two\nlines \n"):      "two\nlines",
		excerpt.OneLine(" two\n  lines "): "two lines",
		excerpt.Of(long):                  strings.TrimSpace(strings.Repeat("word ", 60)) + "…",
		excerpt.OneLine(long):             strings.TrimSpace(strings.Repeat("word ", 60)) + "…",
		excerpt.Time(time.Date(2026, 3, 1, 13, 0, 0, 5, time.FixedZone("", 3600))): "2026-03-01T12:00:00Z",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
