// Package command is `watch` and `baseline`: flags in, exit codes and text out.
package command

import (
	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

// Command returns `watch`.
func Command(frame *cmdutil.App) *cobra.Command { return newApp(frame).watchCommand() }

// Baseline returns `baseline`.
func Baseline(frame *cmdutil.App) *cobra.Command { return newApp(frame).baselineCommand() }

// app is a command line of this wing: the frame, and the options of its session, in which its
// flags land. What needs other options works on a copy.
type app struct {
	*cmdutil.App

	source session.Options
}

func newApp(frame *cmdutil.App) *app { return &app{App: frame, source: cmdutil.Options()} }

// session is what the options name.
func (a *app) session() *session.Session { return a.Session(a.source) }
