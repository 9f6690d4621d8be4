// Package cmdutil is what the commands of every wing have in common: what they take from and
// give to the process, flags, exit codes, how an answer is printed, and the errors that several
// of them return (NothingError).
//
// Invariants:
//   - Results go to stdout, everything else to stderr.
//   - The exit code depends on the answer and on --fail-on, never on the format.
//   - Flags land in values that the command owns; nothing here keeps them.
package cmdutil

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/session"
)

// IO is everything that a run takes from and gives to its surroundings.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Clock    func() time.Time
	Screen   Screen // what Out is
	// Completion bounds what pressing TAB may cost: then there are no names to choose from.
	Completion time.Duration
	// Pager shows a text that is longer than the terminal, with a program and its arguments; nil where
	// there is none. An error says that the text was not shown.
	Pager func(program []string, text []byte) error
	// Logs is told where the process's libraries are to log: klog has one place for the
	// whole process, which runs side by side do not share. Nil leaves it as it is.
	Logs func(*slog.Logger)
	// Cache is shared by the runs of one process that are side by side or one after the other; nil: a
	// run has its own.
	Cache *session.Cache
}

// System returns the process's own surroundings.
func System() IO {
	return IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Clock: time.Now,
		Screen: screenOf(os.Stdout), Completion: completionTime, Logs: klog.SetSlogLogger, Pager: runPager,
	}
}

// App is one run of the command line: what its commands share.
type App struct {
	IO   IO
	Name string // how the user calls it: "rollcall", "oc rollcall"
	Log  *slog.Logger

	warnedOfDocs bool // see docs

	held *held // what is paged at the end; nil where nothing is

	Verbose int
	Quiet   bool
	ASCII   bool
	Output  Output

	// Remedies are the ids of the remedies that can be carried out. PlanCommand writes the
	// command that plans the repair of a root, "" where there is none, and Repairs lists those
	// of a cluster that were begun on this machine. They belong to the wing that repairs.
	// Plannable is as in session.Env.
	Remedies    func() []string
	Plannable   diagnose.Plannable
	PlanCommand func(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis) answer.PlanCommand
	Repairs     func(cluster string) []answer.Deed

	Checks func() []string // ids of the checks of preflight

	sanitizer func() (*sanitize.Sanitizer, error) // of texts that are not answers
}

// New returns the frame of a program that the user calls name.
func New(name string, io IO) *App {
	if io.Cache == nil {
		io.Cache = &session.Cache{}
	}
	return &App{IO: io, Name: name, Log: slog.New(slog.DiscardHandler), sanitizer: sync.OnceValues(sanitize.New)}
}

// Options are the options of a session before a flag is read. Copies of one value share a
// kubeconfig that comes through a pipe.
func Options() session.Options { return session.Options{Kube: kubeconfig.New()} }

// Session is what options name.
func (a *App) Session(o session.Options) *session.Session {
	return session.New(session.Env{
		Name: a.Name, In: a.IO.In, Getenv: a.IO.Getenv, Clock: a.IO.Clock, Log: a.Log, Remedies: a.Remedies, Plannable: a.Plannable, Checks: a.Checks,
		Clean: a.Style().Clean, Warn: a.warn, Progress: a.Progress,
	}, a.IO.Cache, o)
}

// Quieter is the same without progress, for who reads in the background.
func (a *App) Quieter() *App {
	q := *a
	q.Quiet = true
	return &q
}

// StartLog sends log records to stderr: errors with --quiet, else warnings, more with -v.
func (a *App) StartLog() {
	level := slog.LevelWarn
	switch {
	case a.Quiet:
		level = slog.LevelError
	case a.Verbose == 1:
		level = slog.LevelInfo
	case a.Verbose > 1:
		level = slog.LevelDebug
	}
	a.Log = slog.New(slog.NewTextHandler(a.IO.Err, &slog.HandlerOptions{Level: level, ReplaceAttr: a.CleanAttr}))
	if a.IO.Logs != nil {
		a.IO.Logs(a.Log)
	}
}

// CleanAttr sanitizes the texts of a log record.
func (a *App) CleanAttr(_ []string, attr slog.Attr) slog.Attr {
	switch attr.Value.Kind() {
	case slog.KindString:
		attr.Value = slog.StringValue(a.WithoutSecrets(attr.Value.String()))
	case slog.KindAny:
		if _, level := attr.Value.Any().(slog.Level); !level {
			attr.Value = slog.StringValue(a.WithoutSecrets(attr.Value.String()))
		}
	}
	return attr
}

// Progress tells a person who looks what is being done, on one line of stderr that
// the returned function takes away again.
func (a *App) Progress(format string, args ...any) (done func()) {
	if a.Quiet || !a.IO.Screen.ErrTerminal || a.IO.Getenv("TERM") == "dumb" {
		return func() {}
	}
	fmt.Fprint(a.IO.Err, a.Style().OneRow(fmt.Sprintf(format, args...)))
	return func() { fmt.Fprint(a.IO.Err, "\r\x1b[K") }
}

// warn prints a line for a person who looks.
func (a *App) warn(format string, args ...any) {
	fmt.Fprintf(a.IO.Err, "%s: %s\n", a.Name, a.WithoutSecrets(fmt.Sprintf(format, args...)))
}

// WithoutSecrets is what may be shown of a text that is not an answer: an error, a log record. It
// may quote a server, a program or a configuration.
func (a *App) WithoutSecrets(text string) string {
	s, err := a.sanitizer()
	if err != nil {
		return "(not shown: " + err.Error() + ")"
	}
	return s.Message(text)
}

// WithoutSecretsOf returns what does WithoutSecrets for what is said about a text: parts of it, quoted alone, keep hidden
// what the whole hides.
func (a *App) WithoutSecretsOf(text string) func(string) string {
	s, err := a.sanitizer()
	if err != nil {
		return a.WithoutSecrets
	}
	return s.About(text)
}

// CleanText makes a text harmless to print on one line: without secrets and escape sequences. What a
// user types may hold a secret, too, and a screen is copied into tickets. Escape sequences are shown, not obeyed, but where
// a secret was taken out: between them it may go on.
func (a *App) CleanText(text string) string {
	without := a.WithoutSecrets(text)
	if without == sanitize.Plain(text) {
		return a.Style().Clean(text)
	}
	return a.Style().Clean(without)
}

// CleanLines makes an error harmless to print: without secrets and escape sequences. Its further lines are indented: one
// that came from a server does not pass for one of ours.
func (a *App) CleanLines(text string) string {
	lines := strings.Split(a.WithoutSecrets(text), "\n")
	for i, l := range lines {
		lines[i] = a.Style().Clean(l)
		if i > 0 && l != "" && !strings.HasPrefix(l, "  ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// Silence keeps logs and progress off a screen until the returned function is called.
func (a *App) Silence() (restore func()) {
	log, quiet := a.Log, a.Quiet
	a.Log, a.Quiet = slog.New(slog.DiscardHandler), true
	klog.SetSlogLogger(a.Log)
	return func() {
		a.Log, a.Quiet = log, quiet
		klog.SetSlogLogger(a.Log)
	}
}
