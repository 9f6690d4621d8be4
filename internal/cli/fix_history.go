package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/repair"
)

func (a *app) fixHistoryCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "list the plans that were begun here, or one plan's record",
		Args:  atMostOne("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			state, err := repair.StateDir(dir, a.io.Getenv)
			if err != nil {
				return err
			}
			list, err := repair.Histories(state)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.printHistories(list)
			}
			for _, h := range list {
				if h.ID == args[0] {
					return a.printHistory(h)
				}
			}
			return fmt.Errorf("no plan %s was begun here (%s)", args[0], state)
		},
	}
	grouped(cmd, groupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&dir, "state-dir", "", "read the journals of this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	return cmd
}

func (a *app) printHistories(list []repair.History) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.io.Out, "No plan was begun here.")
		return err
	}
	t := tabwriter.NewWriter(a.io.Out, 0, 0, 3, ' ', 0)
	clean := a.style().Clean
	fmt.Fprintln(t, "PLAN\tBEGUN\tLAST\tSTATE")
	for _, h := range list {
		if h.Broken != nil { // the name is quoted: it may be none that a plan can have
			fmt.Fprintf(t, "%q\t-\t-\tcannot be read: %q\n", h.ID, h.Broken)
			continue
		}
		if len(h.Records) == 0 {
			fmt.Fprintf(t, "%s\t-\t-\tnot begun\n", clean(h.ID))
			continue
		}
		last := h.Records[len(h.Records)-1]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", clean(h.ID), h.Records[0].Time.Format(time.RFC3339), last.Time.Format(time.RFC3339), clean(recordText(last)))
	}
	return t.Flush()
}

func recordText(r repair.Record) string {
	parts := []string{string(r.Kind)}
	if r.Step != "" {
		parts = append(parts, r.Step)
	}
	if r.Note != "" {
		parts = append(parts, "("+r.Note+")")
	}
	return strings.Join(parts, " ")
}

func (a *app) printHistory(h repair.History) error {
	clean := a.style().Clean
	for _, r := range h.Records {
		fmt.Fprintf(a.io.Out, "%s  %s\n", r.Time.Format(time.RFC3339), clean(recordText(r)))
		if w := r.Write; w != nil && r.Kind == repair.Intent {
			fmt.Fprintf(a.io.Out, "    %s: %s; before kept as %s; to take back: %s\n", clean(w.Target.String()), clean(strings.Join(w.Fields, ", ")),
				clean(w.PreImage), clean(w.Inverse))
		}
	}
	return h.Broken
}
