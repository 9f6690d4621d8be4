package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/repair"
)

// grades says what a proof grade means, for a person.
var grades = map[repair.Grade]string{
	repair.ProvedInLab: "proved on the real servers in the lab",
	repair.Simulated:   "proved with the real controller and a simulated daemon",
	repair.Advice:      "from reading the sources; not proved by a run",
}

// printPlan prints a plan as a person reads it before applying it.
func (a *app) printPlan(p *repair.Plan, path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Plan %s\n", p.ID)
	fmt.Fprintf(&b, "  for      %s at %s: %s\n", p.Root.Fault, p.Root.Subject, p.Title)
	fmt.Fprintf(&b, "  cluster  %s, context %s, %s\n", p.Cluster.ID, p.Context, p.Cluster.Server)
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "\n%s  %s\n", s.ID, s.Title)
		risk := string(s.Risk)
		if s.RiskText != "" {
			risk += ": " + s.RiskText
		}
		for _, line := range [][2]string{{"risk", risk}, {"undo", s.Inverse}, {"guards", guardList(s.Preconditions)},
			{"until", fmt.Sprintf("%s (at most %s)", s.Expect.Text, s.Deadline.Duration)}, {"proof", grades[s.Proof]}, {"by hand", s.OC}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "   %-8s %s\n", line[0], line[1])
			}
		}
	}
	for i, n := range p.Notes {
		fmt.Fprintf(&b, "%s  note: %s\n", lead(i), n)
	}
	for i, o := range p.Open {
		fmt.Fprintf(&b, "%s  not in this plan: %s\n", lead(i), o)
	}
	fmt.Fprintf(&b, "\nNothing was changed. Saved as %s; read it, then:\n  %s fix apply %s\n", path, a.name, quote(path))
	_, err := a.io.Out.Write([]byte(b.String()))
	return err
}

func lead(i int) string {
	if i == 0 {
		return "\n"
	}
	return ""
}

func guardList(list []repair.Guard) string {
	var names []string
	for _, g := range list {
		name := string(g.Guard)
		if g.Count > 0 {
			name += fmt.Sprintf(" (%d)", g.Count)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// sayStep prints progress on stderr, with a heading where a step begins.
func (a *app) sayStep() func(step, text string) {
	if a.global.quiet {
		return nil
	}
	last := ""
	return func(step, text string) {
		if step != last {
			last = step
			fmt.Fprintf(a.io.Err, "%s  %s\n", step, text)
			return
		}
		fmt.Fprintf(a.io.Err, "   %s  %s\n", a.io.Clock().UTC().Format(time.TimeOnly), text)
	}
}

// ended prints how a repair ended; an error carries the exit code.
func (a *app) ended(id string, err error, good string) error {
	if err == nil {
		_, err := fmt.Fprintf(a.io.Out, "%s: %s\n", id, good)
		return err
	}
	var person *repair.NeedPerson
	var back *repair.RolledBack
	if errors.As(err, &person) || errors.As(err, &back) {
		fmt.Fprintf(a.io.Err, "the record: %s fix history %s\n", a.name, id)
	}
	return err
}

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
	fmt.Fprintln(t, "PLAN\tBEGUN\tLAST\tSTATE")
	for _, h := range list {
		if len(h.Records) == 0 {
			fmt.Fprintf(t, "%s\t-\t-\tnot begun\n", h.ID)
			continue
		}
		last := h.Records[len(h.Records)-1]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", h.ID, h.Records[0].Time.Format(time.RFC3339), last.Time.Format(time.RFC3339), recordText(last))
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
	for _, r := range h.Records {
		fmt.Fprintf(a.io.Out, "%s  %s\n", r.Time.Format(time.RFC3339), recordText(r))
		if w := r.Write; w != nil && r.Kind == repair.Intent {
			fmt.Fprintf(a.io.Out, "    %s: %s; before kept as %s; to take back: %s\n", w.Target, strings.Join(w.Fields, ", "), w.PreImage, w.Inverse)
		}
	}
	return nil
}
