package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/session"
)

// addAcceptFlag adds --accept. Only commands that have it look at the variable: a repair
// sees what is accepted as it sees everything else.
func (a *app) addAcceptFlag(cmd *cobra.Command) {
	grouped(cmd, groupAnswer, func(f *pflag.FlagSet) {
		f.StringVar(&a.source.Accept, "accept", "", "`FILE` with findings that are accepted, each with fault, subject, reason, owner and until; default: $"+session.AcceptVariable)
	})
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if a.source.AcceptNamed = cmd.Flags().Changed("accept"); !a.source.AcceptNamed {
			a.source.Accept = a.io.Getenv(session.AcceptVariable)
		}
	}
}

// acceptNotes prints what is to be said about entries: those that expired, count for long or
// accept nothing in this answer, which is whole.
func (a *app) acceptNotes(r *session.Run, d *diagnosis.Diagnosis) {
	if r.Accept == nil || a.global.quiet {
		return
	}
	for _, n := range r.Accept.Notes(d) {
		kind := "note"
		if n.Warning {
			kind = "warning"
		}
		fmt.Fprintf(a.io.Err, "%s: %s: %s\n", a.name, kind, a.style().Clean(n.Text))
	}
}
