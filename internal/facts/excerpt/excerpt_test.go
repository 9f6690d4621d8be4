package excerpt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
)

func TestExcerpt(t *testing.T) {
	const (
		begin  = "the update failed: "
		filler = "a word that no one needs, "
		end    = "dial tcp: lookup a on 192.0.2.53:53: i/o timeout"
	)
	far := begin + strings.Repeat(filler, 30) + end
	long := strings.Repeat("word ", 100)
	for got, want := range map[string]string{
		excerpt.Of(" two\nlines \n"):                                               "two\nlines",
		excerpt.OneLine(" two\n  lines "):                                          "two lines",
		excerpt.Of(long):                                                           strings.TrimSpace(strings.Repeat("word ", 60)) + "…",
		excerpt.OneLine(long):                                                      strings.TrimSpace(strings.Repeat("word ", 60)) + "…",
		excerpt.AroundIn("short", "short", 60):                                     "short",
		excerpt.AroundIn(far, "i/o timeout", 72):                                   "the update failed: a … dial tcp: lookup a on 192.0.2.53:53: i/o timeout",
		excerpt.AroundIn(far+", and more", "timeout", 72):                          "the update failed: a … tcp: lookup a on 192.0.2.53:53: i/o timeout…",
		excerpt.AroundIn(far, "not in it", 40):                                     "the update failed: a word that no one…",
		excerpt.AroundIn(far, "the update\n  failed", 40):                          "the update failed: a word that no one…",
		excerpt.AroundIn(far, far, 72):                                             "the update failed: a … dial tcp: lookup a on 192.0.2.53:53: i/o timeout",
		excerpt.AroundIn("äöü "+far, "i/o timeout", 20):                            "äöü … i/o timeout",
		excerpt.Time(time.Date(2026, 3, 1, 13, 0, 0, 5, time.FixedZone("", 3600))): "2026-03-01T12:00:00Z",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
