package netcheck

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// TestFitAge: one answer that is too old is enough, however new the others are.
func TestFitAge(t *testing.T) {
	now := time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		age time.Duration
		bad bool
	}{{0, false}, {maxAge, false}, {maxAge + time.Second, true}, {6 * maxAge, true}, {-time.Hour, false}} {
		list, err := objects([]probe.NetAnswer{
			{Kind: probe.NetName, Host: "api.c1.example.com", Vantage: "m0", At: now},
			{Kind: probe.NetName, Host: "api-int.c1.example.com", Vantage: "m0", At: now.Add(-c.age)},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = Fit(nil, list, now)
		if (err != nil) != c.bad || c.bad && !strings.Contains(err.Error(), "longer ago than 7 days") {
			t.Errorf("age %s: %v", c.age, err)
		}
	}
}
