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
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

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
