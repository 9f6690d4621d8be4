package cli

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestWatchOnTerminal: on a real terminal each frame fits, also after the window was made
// smaller, and after Ctrl-C the terminal is as it was, with the end instead.
func TestWatchOnTerminal(t *testing.T) {
	c, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	gone := []clitest.Change{{At: "nodes/w1", As: "w2", Patch: map[string]any{"status": map[string]any{"conditions": []any{}}}}} // never Ready
	if err := c.Happen(gone); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(c)
	defer srv.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, srv.URL); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = []string{"rollcall", "watch", "--stop-on", "never", "--kubeconfig", kubeconfig}
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", clitest.ClockVariable+"="+clitest.Now.Format(time.RFC3339))
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	defer func() { _ = master.Close() }()
	before, err := term.GetState(int(master.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	seen := &screenBytes{}
	ended := make(chan struct{})
	go func() { defer close(ended); seen.readAll(master) }()

	first := seen.wait(t, 0, "w2")
	fits(t, seen.since(0), 80, 24)
	if err := pty.Setsize(master, &pty.Winsize{Rows: 10, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, first, onFrameBegin)
	fits(t, seen.since(first), 40, 10)
	if _, err := master.Write([]byte{3}); err != nil { // Ctrl-C, through the terminal's own line discipline
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != int(cmdutil.ExitInterrupted) {
		t.Errorf("it ended with %v", err)
	}
	after, err := term.GetState(int(master.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal is another: %v", err)
	}
	_ = master.Close()
	<-ended
	all := seen.since(0)
	if n := strings.Count(all, onEnterScreen); n != 1 || strings.Count(all, onLeaveScreen) != 1 {
		t.Errorf("the other screen was entered %d times and left %d times", n, strings.Count(all, onLeaveScreen))
	}
	_, end, _ := strings.Cut(all, onLeaveScreen)
	if strings.Contains(end, onFrameBegin) || !strings.Contains(end, "interrupted: 5 of 6 expected hosts have joined") {
		t.Errorf("after the screen was given back:\n%q", end)
	}
}

var controlSequence = regexp.MustCompile(`\x1b(\[[0-9;?]*[a-zA-Z]|\][^\a]*\a)`)

// fits checks each whole frame of what was written.
func fits(t *testing.T, text string, width, height int) {
	t.Helper()
	frames := strings.Split(text, onFrameBegin)[1:]
	whole := 0
	for _, f := range frames {
		body, _, ok := strings.Cut(f, onFrameEnd)
		if !ok {
			continue
		}
		whole++
		lines := strings.Split(strings.TrimSuffix(controlSequence.ReplaceAllString(body, ""), "\r\r\n"), "\n")
		if len(lines) > height {
			t.Errorf("%d lines on a screen of %d", len(lines), height)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(strings.Trim(l, "\r")); n > width {
				t.Errorf("%d characters on a screen of %d: %q", n, width, l)
			}
		}
	}
	if whole == 0 {
		t.Error("no whole frame was written")
	}
}

// screenBytes is what a terminal was sent.
type screenBytes struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screenBytes) readAll(f *os.File) {
	chunk := make([]byte, 4096)
	for {
		n, err := f.Read(chunk)
		s.mu.Lock()
		s.buf.Write(chunk[:n])
		s.mu.Unlock()
		if err != nil { // EIO where the program has exited
			if !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}
}

func (s *screenBytes) since(at int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()[at:]
}

// wait waits for a whole frame with the text in it and returns how much was written so far.
func (s *screenBytes) wait(t *testing.T, at int, text string) int {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		now := s.since(at)
		if i := strings.LastIndex(now, onFrameEnd); i >= 0 && strings.Contains(now[:i], text) {
			return at + i + len(onFrameEnd)
		}
	}
	t.Fatalf("never on the screen: %q\n%q", text, s.since(at))
	return 0
}

// What the screen of a watch writes around itself (internal/watch/command).
const (
	onEnterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	onLeaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	onFrameBegin  = "\x1b[?2026h\x1b[H"
	onFrameEnd    = "\x1b[J\x1b[?2026l"
)
