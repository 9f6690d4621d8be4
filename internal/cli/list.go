package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/report"
)

// listed are the words of `list` and the kind of entry that each stands for.
var listed = []struct{ word, kind, about string }{
	{"faults", "fault", "everything that can be found to be wrong"},
	{"remedies", "remedy", "what to do about the faults"},
	{"refused", "refused", "unsafe advice that must not be followed"},
	{"facts", "fact", "what is computed from a cluster, for the expressions of faults"},
	{"stages", "stage", "the steps of the join path, in order"},
}

func (a *app) listCommand() *cobra.Command {
	var words []string
	about := ""
	for _, l := range listed {
		words = append(words, l.word)
		about += fmt.Sprintf("  %-10s%s\n", l.word, l.about)
	}
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(words, "|"),
		Short:     "list faults, remedies, refused remedies, facts or stages",
		Long:      "List prints what is known:\n" + about,
		ValidArgs: words,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(words, args[0]) {
				hint := ""
				if len(args) == 1 {
					hint = didYouMean(args[0], words)
				}
				return usagef("name what to list: one of %s%s", strings.Join(words, ", "), hint)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.loadCatalog()
			if err != nil {
				return err
			}
			var list []entry
			for _, e := range entries(c) {
				if listed[slices.Index(words, args[0])].kind == e.kind {
					list = append(list, e)
				}
			}
			return a.printEntries(formatOf(cmd), list)
		},
	}
	a.addOutputFlags(cmd, "text", "name", "json", "yaml")
	a.addCatalogFlag(cmd)
	return cmd
}

// printEntries lists entries: id and title, or the ids, or the whole entries.
func (a *app) printEntries(format string, list []entry) error {
	if format == "json" || format == "yaml" {
		c, err := a.loadCatalog()
		if err != nil {
			return err
		}
		data := []any{}
		for _, e := range list {
			data = append(data, a.data(c, e))
		}
		return a.printData(format, data)
	}
	rows := make([]report.Row, 0, len(list))
	for _, e := range list {
		rows = append(rows, report.Row{Kind: e.kind, ID: e.id, Title: e.title})
	}
	if format == "name" {
		return report.IDs(a.io.Out, rows)
	}
	return report.List(a.io.Out, rows, report.Options{Style: a.style(), Command: a.name, NoHeaders: a.output.noHeaders})
}
