package cmdutil

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// secret is what an error of a server could quote.
const secret = "https://admin:Wq7zPlanted@api.example.com:6443"

// TestProgress: a line on stderr for a person who looks, which is taken away again.
func TestProgress(t *testing.T) {
	person := Screen{ErrTerminal: true, Width: 40}
	for _, c := range []struct {
		name   string
		screen Screen
		term   string
		quiet  bool
		shown  string // "": nothing
	}{
		{"a person", person, "xterm", false, "reading archive a\\x1b[2J ..."},
		{"a log", Screen{}, "xterm", false, ""},
		{"--quiet", person, "xterm", true, ""},
		{"a dumb terminal", person, "dumb", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &surroundings{screen: c.screen, env: map[string]string{"TERM": c.term}}
			a := s.frame()
			a.Quiet = c.quiet
			done := a.Progress("reading archive %s ...", "a\x1b[2J")
			if got := s.err.String(); got != c.shown {
				t.Errorf("%q, want %q", got, c.shown)
			}
			s.err.Reset()
			done()
			if got := s.err.String(); c.shown == "" && got != "" || c.shown != "" && got != "\r\x1b[K" {
				t.Errorf("afterwards: %q", got)
			}
			s.err.Reset()
			a.Quieter().Progress("x")()
			if s.err.Len() > 0 || a.Quiet != c.quiet {
				t.Errorf("the quieter one writes %q, or changed the other", s.err.String())
			}
		})
	}
}

// TestStartLog: how much is logged, and that no secret is.
func TestStartLog(t *testing.T) {
	for _, c := range []struct {
		name    string
		verbose int
		quiet   bool
		from    slog.Level
	}{
		{"", 0, false, slog.LevelWarn}, {"-v", 1, false, slog.LevelInfo}, {"-vv", 2, false, slog.LevelDebug}, {"-vvv", 3, false, slog.LevelDebug},
		{"--quiet", 0, true, slog.LevelError}, {"--quiet -v", 1, true, slog.LevelError},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &surroundings{}
			a := s.frame()
			var given *slog.Logger
			a.IO.Logs = func(l *slog.Logger) { given = l }
			a.Verbose, a.Quiet = c.verbose, c.quiet
			a.StartLog()
			if given != a.Log {
				t.Error("the libraries log elsewhere")
			}
			for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
				if got := a.Log.Enabled(context.Background(), level); got != (level >= c.from) {
					t.Errorf("%s is logged: %t", level, got)
				}
			}
			a.Log.Error("asked "+secret, "error", errors.New("refused by "+secret), "url", secret, "count", 3)
			if got := s.err.String(); strings.Contains(got, "Planted") || !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "count=3") {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestCleanLines: an error is printed without secrets and without what a terminal obeys, and its
// further lines do not pass for lines of ours.
func TestCleanLines(t *testing.T) {
	a := (&surroundings{}).frame()
	for _, c := range []struct{ name, text, want string }{
		{"one line", "read a: not found", "read a: not found"},
		{"further lines", "a\nrollcall: all is well\n  b\n\nc", "a\n  rollcall: all is well\n  b\n\n  c"},
	} {
		if got := a.CleanLines(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := a.CleanLines("Get " + secret + ": refused"); strings.Contains(got, "Planted") || !strings.Contains(got, "refused") {
		t.Errorf("%q", got)
	}
	if got := a.CleanLines("a\x1b[2J\nb\rc\u202e"); strings.ContainsAny(got, "\x1b\r\u202e") || !strings.HasPrefix(got, "a") {
		t.Errorf("%q", got)
	}
	a.sanitizer = func() (*sanitize.Sanitizer, error) { return nil, errors.New("no salt") }
	if got := a.WithoutSecrets(secret); got != "(not shown: no salt)" {
		t.Errorf("without a sanitizer: %q", got)
	}
}

// TestSilence: nothing is logged until it is restored.
func TestSilence(t *testing.T) {
	s := &surroundings{screen: Screen{ErrTerminal: true}}
	a := s.frame()
	a.StartLog()
	restore := a.Silence()
	a.Log.Error("x")
	a.Progress("x")()
	if s.err.Len() > 0 {
		t.Errorf("%q", s.err.String())
	}
	restore()
	a.Log.Error("x")
	if s.err.Len() == 0 || a.Quiet {
		t.Error("it is still silent")
	}
}

// TestSystem: the process's own surroundings are whole.
func TestSystem(t *testing.T) {
	s := System()
	if s.In == nil || s.Out == nil || s.Err == nil || s.Getenv == nil || s.Clock == nil || s.Logs == nil || s.Completion <= 0 {
		t.Errorf("%+v", s)
	}
}

// TestSession: a session has what the frame has, and a mistake in its options is one of usage.
func TestSession(t *testing.T) {
	s := &surroundings{}
	a := s.frame()
	ses := a.Session(*cluster(t))
	if ses.Name != "rollcall" || !ses.Clock().Equal(noon) {
		t.Errorf("%+v", ses.Env)
	}
	ses.Warn("%s", secret)
	if got := s.err.String(); !strings.HasPrefix(got, "rollcall: ") || strings.Contains(got, "Planted") || !strings.HasSuffix(got, "\n") {
		t.Errorf("%q", got)
	}
	r, err := ses.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	again, err := a.Session(*cluster(t)).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if r.Catalog != again.Catalog {
		t.Error("two sessions of one frame load the catalog twice")
	}
}

// TestCleanText: what a terminal obeys is shown as text, and a secret is not, also where both are together.
func TestCleanText(t *testing.T) {
	a := &App{IO: IO{Getenv: func(string) string { return "" }}, sanitizer: func() (*sanitize.Sanitizer, error) { return sanitize.New() }}
	if got := a.CleanText("csr-\x1b]0;x\a"); got != `csr-\x1b]0;x\a` {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"password=kestrel77Clean", "\x1b[1mpass\x1b[0mword=kestrel77Clean\x1b]0;x\a"} {
		if got := a.CleanText(text); strings.Contains(got, "kestrel77") || strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q", text, got)
		}
	}
}
