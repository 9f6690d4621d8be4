package command

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/statedir"
)

func (a *app) fixHistoryCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "list the plans that were begun here, or one plan's record",
		Args:  cmdutil.AtMostOne("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := statedir.Path(dir, a.IO.Getenv)
			if err != nil {
				return err
			}
			list, err := repair.Histories(state)
			if len(args) == 1 {
				var h repair.History
				if h, err = repair.HistoryOf(state, args[0]); errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("no plan %s was begun here (%s); `%s fix history` lists those that were", args[0], state, a.Name)
				}
				list = []repair.History{h}
			}
			if err != nil {
				return err
			}
			switch format := cmdutil.FormatOf(cmd); {
			case format == "markdown":
				return a.printRecords(list)
			case format != "text":
				return a.printHistoryData(format, list, len(args) == 1)
			case len(args) == 1:
				return a.printHistory(list[0])
			}
			return a.printHistories(list)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&dir, "state-dir", "", "read the journals of this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	a.AddOutputFlags(cmd, "text", "json", "yaml", "markdown")
	return cmd
}

func (a *app) printHistories(list []repair.History) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.IO.Out, "No plan was begun here.")
		return err
	}
	clean := a.CleanText
	if a.IO.Screen.Terminal { // a row is wider than most screens
		for _, h := range list {
			fmt.Fprintf(a.IO.Out, "%s\n%s\n", clean(h.ID), a.Style().Indent(historyLine(h), 2))
		}
		return nil
	}
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", clean(h.ID), h.Records[0].Time.Format(time.RFC3339), last.Time.Format(time.RFC3339), clean(stateText(h)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return page.Write(a.IO.Out, a.Style().Fold(rows.String()))
}

// stateText says what is known of a plan: what the last diagnosis showed, or how far it came
// and that it was not checked since.
// historyLine is a plan's history in one sentence.
func historyLine(h repair.History) string {
	switch {
	case h.Broken != nil:
		return fmt.Sprintf("cannot be read: %v", h.Broken)
	case len(h.Records) == 0:
		return "not begun"
	}
	return "begun " + h.Records[0].Time.Format(time.RFC3339) + ": " + stateText(h)
}

func stateText(h repair.History) string {
	if o := h.Outcome(); o != nil {
		return o.String()
	}
	return recordText(h.Records[len(h.Records)-1]) + "; not checked since"
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
	clean := a.CleanText
	for _, r := range h.Records {
		fmt.Fprintf(a.IO.Out, "%s  %s\n", r.Time.Format(time.RFC3339), clean(recordText(r)))
		if w := r.Write; w != nil && r.Kind == repair.Intent {
			fmt.Fprintf(a.IO.Out, "    %s: %s; before kept as %s; to undo: %s\n", clean(w.Target.String()), clean(strings.Join(w.Fields, ", ")),
				clean(w.PreImage), clean(w.Inverse))
		}
	}
	return h.Broken
}

// repairsOf are the repairs of a cluster that were begun on this machine, the oldest first;
// none where its id is not known or the journals cannot be read.
func Repairs(getenv func(string) string, cluster string) []answer.Deed {
	state, err := statedir.Path("", getenv)
	if err != nil || cluster == "" {
		return nil
	}
	list, err := repair.Histories(state)
	if err != nil {
		return nil
	}
	var done []answer.Deed
	for _, h := range list {
		if h.Plan != nil && h.Plan.Cluster.ID == cluster && len(h.Records) > 0 {
			done = append(done, answer.Deed{At: h.Records[0].Time, What: h.ID + ": " + h.Plan.Title, Result: stateText(h)})
		}
	}
	slices.SortStableFunc(done, func(a, b answer.Deed) int { return a.At.Compare(b.At) })
	return done
}

// historyData is one plan's history, as -o json prints it.
type historyData struct {
	Plan    string          `json:"plan"`
	Title   string          `json:"title,omitempty"`
	Root    *fault.Key      `json:"root,omitempty"`
	Begun   time.Time       `json:"begun,omitzero"`
	Last    time.Time       `json:"last,omitzero"`
	State   string          `json:"state"`             // in words
	Outcome *repair.Outcome `json:"outcome"`           // null: not checked since the last run
	Records []repair.Record `json:"records,omitempty"` // of one plan that was asked for
	Broken  string          `json:"broken,omitempty"`  // why it cannot be read
}

func (a *app) printHistoryData(format string, list []repair.History, whole bool) error {
	items := make([]historyData, 0, len(list))
	for _, h := range list {
		d := historyData{Plan: h.ID, State: "not begun", Outcome: h.Outcome()}
		if p := h.Plan; p != nil {
			d.Title, d.Root = p.Title, &p.Root
		}
		if len(h.Records) > 0 {
			d.Begun, d.Last, d.State = h.Records[0].Time, h.Records[len(h.Records)-1].Time, stateText(h)
		}
		if h.Broken != nil {
			d.Broken, d.State = h.Broken.Error(), "cannot be read"
		}
		if whole {
			d.Records = h.Records
		}
		items = append(items, d)
	}
	return a.PrintData(format, map[string]any{"apiVersion": repair.APIVersion, "kind": "RepairHistory", "items": items})
}
