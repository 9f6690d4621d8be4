package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

// TestPace: a change is read at once, not more often than runs allow, and without a change
// the more seldom the longer a run takes.
func TestPace(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	after := func(s float64) time.Time { return noon.Add(time.Duration(s * float64(time.Second))) }
	ran := func(took time.Duration, d diagnosis.Diagnosis, recheck time.Time) *pace {
		p := &pace{interval: time.Minute}
		p.begin()
		if p.due(after(3600), "node a") {
			t.Error("two runs at once")
		}
		p.ended(noon, took)
		d.Now = noon
		p.plan(recheck, &d, true)
		return p
	}
	settled := diagnosis.Diagnosis{}
	for _, tt := range []struct {
		name    string
		pace    *pace
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
		if got := tt.pace.due(tt.at, tt.changed); got != tt.want {
			t.Errorf("%s: due %t, want %t", tt.name, got, tt.want)
		}
	}
	p := ran(10*time.Second, settled, time.Time{})
	p.lively = noon.Add(-time.Hour) // nothing has changed for long
	p.plan(time.Time{}, &settled, false)
	if p.due(after(999), "") || !p.due(after(1000), "") {
		t.Errorf("idle: the next run is at %s, want after 1000 s", p.next.Sub(noon))
	}
}

// TestSeenChanges: a run takes what was seen before it, the newest is named, and many are
// counted.
func TestSeenChanges(t *testing.T) {
	c := seenChanges{notify: make(chan struct{}, 1)}
	for _, name := range []string{"a", "b", "c", "d"} {
		c.add(live.Change{Resource: evidence.Nodes, Name: name})
	}
	if got := c.pending(); got != "nodes d, nodes c and 2 more" {
		t.Error(got)
	}
	c.take()
	if got := c.pending(); got != "" {
		t.Error(got)
	}
}

// TestScreen: the terminal is given back, whatever came before, and nothing is drawn twice
// or after that.
func TestScreen(t *testing.T) {
	var out, errs bytes.Buffer
	size := [2]int{40, 10}
	s := &asScreen{out: &out, err: &errs, clock: time.Now, size: func() (int, int) { return size[0], size[1] }}
	f := follow.New(follow.Rules{})
	draw := func() string {
		out.Reset()
		s.frame(f.View(), screen.Size{Busy: "reading"}, answer.Options{})
		return out.String()
	}
	if got := draw(); !strings.HasPrefix(got, enterScreen) || strings.Count(got, "\n") >= size[1] {
		t.Errorf("%q", got)
	}
	if got := draw(); got != "" {
		t.Errorf("drawn again without a change: %q", got)
	}
	size = [2]int{30, 5}
	if got := draw(); got == "" {
		t.Error("not drawn after the window changed")
	}
	out.Reset()
	s.close()
	s.close()
	if out.String() != leaveScreen {
		t.Errorf("close: %q", out.String())
	}
	if got := draw(); got != "" {
		t.Errorf("drawn after the end: %q", got)
	}
	for _, on := range []string{"\x1b[?1049h", "\x1b[?25l", "\x1b[?7l"} { // each mode is undone
		off := strings.NewReplacer("1049h", "1049l", "25l", "25h", "7l", "7h").Replace(on)
		if !strings.Contains(enterScreen, on) || !strings.Contains(leaveScreen, off) {
			t.Errorf("%q is not undone", on)
		}
	}
	never := &asScreen{out: &out, err: &errs}
	out.Reset()
	if never.close(); out.Len() > 0 {
		t.Errorf("a screen that was not opened: %q", out.String())
	}
}

// TestHook: the command gets each change on its standard input, in order, and nothing of
// the cluster in its words.
func TestHook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "changes")
	h := startHook("cat >> "+file, io.Discard)
	h.send([]follow.Event{{Type: follow.HostMoved, Text: "a; rm -rf /"}, {Type: follow.StillWatching}, {Type: follow.Ended, Text: "$(b)"}})
	h.stop()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(raw)) {
		var e follow.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Text)
	}
	if strings.Join(got, "|") != "a; rm -rf /|$(b)" {
		t.Errorf("%q", got)
	}
	var errs bytes.Buffer
	h = startHook("exit 3", &errs)
	h.send([]follow.Event{{Type: follow.Ended}})
	if h.stop(); !strings.Contains(errs.String(), "failed for 1 change") {
		t.Errorf("%q", errs.String())
	}
}
