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
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/preflight"
	"github.com/rollcall-project/rollcall/internal/repair"
	repaircommand "github.com/rollcall-project/rollcall/internal/repair/command"
	"github.com/rollcall-project/rollcall/internal/session"
)

// app is one run of the command line. Commands are methods that build a *cobra.Command; their
// flags land in source.
type app struct {
	*cmdutil.App

	source session.Options
	demos  func() (*demo.Set, error)

	baseline string // file of baseline save
	workers  bool   // can-i: also what makes workers
}

// session is what the options name.
func (a *app) session() *session.Session { return a.Session(a.source) }

// Command returns the whole command line of a program that is called name, for pages that
// are made of it.
func Command(name string) *cobra.Command {
	return newApp(name, cmdutil.IO{Getenv: func(string) string { return "" }}).rootCommand()
}

// Main runs the command line args (args[0] is the program's name) and returns the
// exit code. Errors are already printed.
//
// A panic is a defect of the program: it ends with one line that says what to report, and with
// the code of a failure, not with 2 as Go ends, which says that a fault is proven.
func Main(ctx context.Context, args []string, io cmdutil.IO) (code cmdutil.ExitCode) {
	a := newApp(args[0], io)
	defer kube.EndPlugins()
	defer func() {
		if defect := recover(); defect != nil {
			code = cmdutil.ExitFailed
			a.complain(nil, errors.New(crash.Line(a.Name, defect, debug.Stack())))
		}
	}()
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) cmdutil.ExitCode {
	root := a.rootCommand()
	root.SetArgs(arguments(args))
	cmd, err := root.ExecuteContextC(kube.WithPatience(ctx))
	if shown := a.ShowPage(); err == nil {
		err = shown
	}
	code := cmdutil.CodeOf(err, repair.ExitCode)
	if ctx.Err() != nil && code == cmdutil.ExitFailed && !strings.HasPrefix(err.Error(), "interrupted") {
		err = errors.New("interrupted")
	}
	if err != nil && err.Error() != "" {
		a.complain(cmd, err)
	}
	return code
}

func newApp(program string, io cmdutil.IO) *app {
	a := &app{App: cmdutil.New(displayName(program), io), source: cmdutil.Options(), demos: demo.Embedded}
	a.Remedies, a.PlanCommand, a.Repairs = repair.RemedyIDs, repaircommand.PlanCommand,
		func(cluster string) []answer.Deed { return repaircommand.Repairs(io.Getenv, cluster) }
	a.Plannable, a.Checks = repaircommand.Plannable, preflight.IDs
	return a
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
	text := strings.TrimSpace(err.Error())
	if none := (session.NoClusterError{}); errors.As(err, &none) && cmd != nil {
		text += none.Instead(a.Name, func(flag string) bool { return cmd.Flag(flag) != nil })
	}
	fmt.Fprintf(a.IO.Err, "%s: %s\n", a.Name, a.CleanLines(text))
	var usage *session.UsageError
	if errors.As(err, &usage) && cmd != nil {
		fmt.Fprintf(a.IO.Err, "See '%s --help'.\n", cmd.CommandPath())
	}
}
