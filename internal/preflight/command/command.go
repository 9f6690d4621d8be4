// Package command is `preflight`: flags in, exit codes and text out.
package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

// Update is the question that `preflight --update` asks of a running cluster in place of a plan: does every host come
// back? Another wing answers it.
type Update interface {
	AddFlags(*cobra.Command)
	// Asked reports whether it is the question; a flag that would change nothing without it is an error.
	Asked(*cobra.Command) (bool, error)
	// Run answers it in a format about the cluster of the options. against is how its user named it, "" for the
	// kubeconfig's.
	Run(ctx context.Context, format string, o session.Options, against string) error
}

// Command returns `preflight`.
func Command(frame *cmdutil.App, update Update) *cobra.Command {
	return newApp(frame).preflightCommand(update)
}

// app is a command line of this wing: the frame, and the options of its session, in which its
// flags land. What needs other options works on a copy.
type app struct {
	*cmdutil.App

	source session.Options
}

func newApp(frame *cmdutil.App) *app { return &app{App: frame, source: cmdutil.Options()} }

// session is what the options name.
func (a *app) session() *session.Session { return a.Session(a.source) }
