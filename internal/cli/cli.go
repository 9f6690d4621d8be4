// Package cli is the command line: flags, commands, exit codes and printing.
//
// Invariants:
//   - It computes nothing about a cluster: internal/kernel/diagnose does, and
//     internal/answer renders.
//   - Results go to stdout, everything else to stderr.
//   - The exit code depends on the answer and on --fail-on, never on the format.
//   - It is the only package that reads the wall clock and the environment.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
)

// IO is everything that a run takes from and gives to its surroundings.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Clock    func() time.Time
	Screen   Screen // what Out is
	// Logs is told where the process's libraries are to log: klog has one place for the
	// whole process, which runs side by side do not share. Nil leaves it as it is.
	Logs func(*slog.Logger)
}

// System returns the process's own surroundings.
func System() IO {
	return IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Clock: time.Now,
		Screen: screenOf(os.Stdout), Logs: klog.SetSlogLogger,
	}
}

// app is one run of the command line. Commands are methods that build a
// *cobra.Command; flags land in its fields.
type app struct {
	io     IO
	name   string // how the user calls it: "rollcall", "oc rollcall"
	source session.Options
	output outputFlags
	global globalFlags
	log    *slog.Logger
	demos  func() (*demo.Set, error)
	cache  *session.Cache

	baseline string // file of baseline save
	against  string // what preflight checks for new hosts
	planCall string // the call of preflight that reads the same plan; "": there is none
}

// session is what the flags name.
func (a *app) session() *session.Session {
	return session.New(session.Env{
		Name: a.name, In: a.io.In, Getenv: a.io.Getenv, Clock: a.io.Clock, Log: a.log, Remedies: repair.RemedyIDs,
		Clean: a.style().Clean, Warn: a.warn, Progress: a.progress,
	}, a.cache, a.source)
}

// warn prints a line for a person who looks.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.io.Err, a.name+": "+format+"\n", args...)
}

// Command returns the whole command line of a program that is called name, for pages that
// are made of it.
func Command(name string) *cobra.Command {
	return newApp(name, IO{Getenv: func(string) string { return "" }}).rootCommand()
}

// Main runs the command line args (args[0] is the program's name) and returns the
// exit code. Errors are already printed.
func Main(ctx context.Context, args []string, io IO) ExitCode {
	return newApp(args[0], io).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) ExitCode {
	root := a.rootCommand()
	root.SetArgs(arguments(args))
	cmd, err := root.ExecuteContextC(ctx)
	code := codeOf(err)
	if ctx.Err() != nil && code == ExitFailed && !strings.HasPrefix(err.Error(), "interrupted") {
		err = errors.New("interrupted")
	}
	if err != nil && err.Error() != "" {
		a.complain(cmd, err)
	}
	return code
}

func newApp(program string, io IO) *app {
	return &app{io: io, name: displayName(program), log: slog.New(slog.DiscardHandler), demos: demo.Embedded, source: session.Options{Kube: kubeconfig.New()}, cache: &session.Cache{}}
}

// displayName is how the user typed the program: `oc rollcall` runs oc-rollcall.
func displayName(program string) string {
	base := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, host := range []string{"oc", "kubectl"} {
		if strings.HasPrefix(base, host+"-") || strings.HasPrefix(base, host+"_complete-") {
			return host + " rollcall"
		}
	}
	return "rollcall"
}

// arguments returns what cobra is to parse. kubectl and oc complete a plugin by
// running an executable named kubectl_complete-rollcall: a link to this program. So is
// the gather of the must-gather image.
func arguments(args []string) []string {
	switch base := filepath.Base(args[0]); {
	case strings.Contains(base, "_complete-"):
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	case base == gatherName:
		return append([]string{gatherName}, args[1:]...)
	}
	return args[1:]
}

// complain prints an error, and after a mistake on the command line where the help is.
func (a *app) complain(cmd *cobra.Command, err error) {
	fmt.Fprintf(a.io.Err, "%s: %s\n", a.name, a.cleanLines(strings.TrimSpace(err.Error())))
	var usage *session.UsageError
	if errors.As(err, &usage) && cmd != nil {
		fmt.Fprintf(a.io.Err, "See '%s --help'.\n", cmd.CommandPath())
	}
}

// cleanLines makes an error harmless to print. Its further lines are indented: one
// that came from a server does not pass for one of ours.
func (a *app) cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = a.style().Clean(l)
		if i > 0 && l != "" && !strings.HasPrefix(l, "  ") {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// startLog sends log records to stderr: errors with --quiet, else warnings, more with -v.
func (a *app) startLog() {
	level := slog.LevelWarn
	switch {
	case a.global.quiet:
		level = slog.LevelError
	case a.global.verbose == 1:
		level = slog.LevelInfo
	case a.global.verbose > 1:
		level = slog.LevelDebug
	}
	a.log = slog.New(slog.NewTextHandler(a.io.Err, &slog.HandlerOptions{Level: level}))
	if a.io.Logs != nil {
		a.io.Logs(a.log)
	}
}

// progress tells a person who looks what is being done, on one line of stderr that
// the returned function takes away again.
func (a *app) progress(format string, args ...any) (done func()) {
	if a.global.quiet || !a.io.Screen.ErrTerminal || a.io.Getenv("TERM") == "dumb" {
		return func() {}
	}
	fmt.Fprint(a.io.Err, a.style().OneRow(fmt.Sprintf(format, args...)))
	return func() { fmt.Fprint(a.io.Err, "\r\x1b[K") }
}
