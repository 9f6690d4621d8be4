package service

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestEventBudget: a burst passes, then one in 10 seconds, and what was not used is not saved beyond the burst.
func TestEventBudget(t *testing.T) {
	var b EventBudget
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	passed := func(at time.Time) (n int) {
		for range 100 {
			if b.Take(at) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, EventBurst}, {5 * time.Second, 0}, {5 * time.Second, 1}, {25 * time.Second, 2}, {24 * time.Hour, EventBurst}, {-time.Hour, 0}} {
		if now = now.Add(c.after); passed(now) != c.want {
			t.Errorf("after %s: want %d", c.after, c.want)
		}
	}
}

// TestEvent: the object has what the API server accepts, whatever the texts are.
func TestEvent(t *testing.T) {
	o := Event{Name: "a", Warning: true, Note: strings.Repeat("é", 2000) + "\xff", Reason: strings.Repeat("R", 500), Instance: strings.Repeat("i", 500)}.Object()
	for field, most := range map[string]int{"note": 1024, "reason": 128, "reportingInstance": 128} {
		if s := o[field].(string); len(s) > most || len(s) < most-5 || !utf8.ValidString(s) {
			t.Errorf("%s has %d bytes", field, len(s))
		}
	}
	if _, has := o["related"]; has || o["type"] != "Warning" {
		t.Errorf("%v", o)
	}
}
