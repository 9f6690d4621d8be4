package pace

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// TestPace: a change is read at once, not more often than runs allow, and without a change
// the more seldom the longer a run takes.
func TestPace(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	after := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	ran := func(took time.Duration, d diagnosis.Diagnosis, recheck time.Time) *Pace {
		p := &Pace{Interval: time.Minute, Bounds: OfPerson()}
		p.Begin()
		if p.Due(after(3600), "node a") {
			t.Error("two runs at once")
		}
		p.Ended(noon, took)
		d.Now = noon
		p.Plan(recheck, &d, true)
		return p
	}
	settled := diagnosis.Diagnosis{}
	for _, tt := range []struct {
		name    string
		pace    *Pace
		at      time.Time
		changed string
		want    bool
	}{
		{"a change after a pause", ran(time.Second, settled, time.Time{}), after(3), "node a", true},
		{"a change too soon", ran(time.Second, settled, time.Time{}), after(2.9), "node a", false},
		{"a change after a short run", ran(100*time.Millisecond, settled, time.Time{}), after(2), "node a", true},
		{"no change", ran(time.Second, settled, time.Time{}), after(59), "", false},
		{"no change for the interval", ran(time.Second, settled, time.Time{}), after(60), "", true},
		{"a long run, soon after", ran(10*time.Second, settled, time.Time{}), after(199), "", false},
		{"a long run, later", ran(10*time.Second, settled, time.Time{}), after(200), "", true},
		{"something has to be seen twice", ran(time.Second, settled, after(20)), after(20), "", true},
		{"what is normal ends to be so", ran(time.Second, diagnosis.Diagnosis{Verdict: diagnosis.Verdict{Until: after(30)}}, time.Time{}), after(31), "", true},
		{"the API is away", ran(time.Second, diagnosis.Diagnosis{Verdict: diagnosis.Verdict{Class: diagnosis.CannotCheck}}, time.Time{}), after(5), "", true},
	} {
		if got := tt.pace.Due(tt.at, tt.changed); got != tt.want {
			t.Errorf("%s: due %t, want %t", tt.name, got, tt.want)
		}
	}
	p := ran(10*time.Second, settled, time.Time{})
	p.lively = noon.Add(-time.Hour) // nothing has changed for long
	p.Plan(time.Time{}, &settled, false)
	if p.Due(after(999), "") || !p.Due(after(1000), "") {
		t.Errorf("idle: the next run is at %s, want after 1000 s", p.next.Sub(noon))
	}
}

// TestChanges: a run takes what was seen before it, the newest is named, and many are
// counted.
func TestChanges(t *testing.T) {
	c := Changes{Notify: make(chan struct{}, 1)}
	for _, name := range []string{"a", "b", "c", "d"} {
		c.Add(live.Change{Resource: evidence.Nodes, Name: name})
	}
	if got := c.Pending(); got != "nodes d, nodes c and 2 more" {
		t.Error(got)
	}
	c.Take()
	if got := c.Pending(); got != "" {
		t.Error(got)
	}
}

// TestPaceOfServer: runs take at most 5 % of the time, also while objects change all the time, and the longest
// pause is shorter than what the alert about missing readings allows.
func TestPaceOfServer(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ took, changed, calm time.Duration }{
		{100 * time.Millisecond, 10 * time.Second, time.Minute},
		{2 * time.Second, 40 * time.Second, time.Minute},
		{10 * time.Second, 200 * time.Second, 200 * time.Second},
		{time.Minute, 5 * time.Minute, 5 * time.Minute},
	} {
		p := &Pace{Interval: time.Minute, Bounds: OfServer()}
		p.Begin()
		p.Ended(noon, c.took)
		for name, pause := range map[string]time.Duration{"nodes a": c.changed, "": c.calm} {
			if p.Due(noon.Add(pause-time.Millisecond), name) || !p.Due(noon.Add(pause), name) {
				t.Errorf("a run of %s, changed %q: want a pause of %s", c.took, name, pause)
			}
		}
	}
}
