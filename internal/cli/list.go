package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
)

// listed are the words of `list` and the kind of entry that each stands for.
var listed = []struct{ word, kind, about string }{
	{"faults", "fault", "everything that can be found to be wrong"},
	{"remedies", "remedy", "what to do about the faults"},
	{"refused", "refused", "unsafe advice that must not be followed"},
	{"facts", "fact", "what is computed from a cluster, for the expressions of faults"},
	{"stages", "stage", "the steps of the join path, in order"},
	{"words", "word", "what the words of the screens mean: first lines, states, headings"},
}

// listWord is the word of `list` for the entries of one kind.
func listWord(kind string) string {
	return listed[slices.IndexFunc(listed, func(l struct{ word, kind, about string }) bool { return l.kind == kind })].word
}

func (a *app) listCommand() *cobra.Command {
	var words []string
	about := ""
	for _, l := range listed {
		words = append(words, l.word)
		about += fmt.Sprintf("  %-10s%s\n", l.word, l.about)
	}
	var layers []string
	cmd := &cobra.Command{
		Use:   "list " + strings.Join(words, "|") + " [WORD...]",
		Short: "list faults, remedies, refused remedies, facts, stages or words",
		Long: "List prints what is known, a line each:\n" + about + `
With a WORD it prints only the entries that have it in their id, title or layer; with
several, those that have all of them. -o wide prints each on one line, however long.`,
		Example: cmdutil.Example(a.Name, "list faults", "all of them, by layer") +
			cmdutil.Example(a.Name, "list faults certificate expired", "those about expired certificates") +
			cmdutil.Example(a.Name, "list faults --layer ignition", "those of one layer") +
			cmdutil.Example(a.Name, "list remedies etcd", "what to do about etcd"),
		ValidArgs: words,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains(words, args[0]) {
				hint := ""
				if len(args) > 0 {
					hint = suggest.DidYouMean(args[0], words)
				}
				return session.Usagef("name what to list: one of %s%s", strings.Join(words, ", "), hint)
			}
			if len(layers) > 0 && args[0] != words[0] {
				return session.Usagef("--layer is for `%s list %s`: only faults have a layer", a.Name, words[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.session().LoadCatalog()
			if err != nil {
				return err
			}
			for _, l := range layers {
				if known := layersOf(c); !slices.Contains(known, l) {
					return session.Usagef("there is no layer %q; the layers are %s%s", l, strings.Join(known, ", "), suggest.DidYouMean(l, known))
				}
			}
			var list []entry
			for _, e := range entries(c) {
				if listed[slices.Index(words, args[0])].kind == e.kind && e.has(args[1:]) && (len(layers) == 0 || slices.Contains(layers, e.group())) {
					list = append(list, e)
				}
			}
			if len(list) == 0 {
				return fmt.Errorf("none of the %s has %q in its id, title or layer; `%s list %s` lists all, `%s explain \"TEXT\"` takes a log line",
					args[0], strings.Join(args[1:], " "), a.Name, args[0], a.Name)
			}
			return a.printGroups(cmdutil.FormatOf(cmd), list)
		},
	}
	a.AddOutputFlags(cmd, "text", "wide", "name", "json", "yaml")
	cmd.Flags().StringSliceVar(&layers, "layer", nil, "list only faults of this `LAYER`; repeatable")
	_ = cmd.RegisterFlagCompletionFunc("layer", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := a.session().LoadCatalog()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return layersOf(c), cobra.ShellCompDirectiveNoFileComp
	})
	a.AddCatalogFlag(cmd, &a.source)
	return cmd
}

// layersOf lists the layers of a catalog's faults.
func layersOf(c *fault.Catalog) []string {
	var list []string
	for _, f := range c.Faults {
		list = append(list, f.Layer)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// group is what entries of one kind are listed under: a fault's layer, who carries a remedy
// out; "" for the kinds that have few.
func (e entry) group() string {
	switch v := e.page.(type) {
	case *fault.Fault:
		return v.Layer
	case *fault.Remedy:
		return answer.ActorWords(v.By, "")
	}
	return ""
}

// has reports whether each of some words is in the id, the title or the group.
func (e entry) has(words []string) bool {
	in := strings.ToLower(e.id + " " + e.title + " " + e.group())
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(in, strings.ToLower(w)) })
}

// printGroups lists entries of one kind under the headings of their groups, a line each.
func (a *app) printGroups(format string, list []entry) error {
	if format != "text" && format != "wide" {
		return a.printEntries(format, list)
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.group(), b.group()) })
	rows := make([]answer.Row, 0, len(list))
	for _, e := range list {
		rows = append(rows, answer.Row{Group: e.group(), ID: e.id, Title: e.title})
	}
	o := answer.Options{Style: a.Style(), Command: a.Name, NoHeaders: a.Output.NoHeaders}
	if format == "wide" {
		o.Width = page.NoWrap
	}
	return answer.List(a.IO.Out, rows, o)
}

// printEntries lists entries: id and title, or the ids, or the whole entries.
func (a *app) printEntries(format string, list []entry) error {
	if format == "json" || format == "yaml" {
		c, err := a.session().LoadCatalog()
		if err != nil {
			return err
		}
		data := []any{}
		for _, e := range list {
			data = append(data, a.data(c, e))
		}
		return a.PrintData(format, data)
	}
	rows := make([]answer.Row, 0, len(list))
	mixed := slices.ContainsFunc(list, func(e entry) bool { return e.kind != list[0].kind })
	for _, e := range list {
		r := answer.Row{ID: e.id, Title: e.title}
		if mixed {
			r.Group = listWord(e.kind)
		}
		rows = append(rows, r)
	}
	if format == "name" {
		return answer.IDs(a.IO.Out, rows)
	}
	first := map[string]int{} // a kind comes where its best entry is
	for i, r := range slices.Backward(rows) {
		first[r.Group] = i
	}
	slices.SortStableFunc(rows, func(a, b answer.Row) int { return cmp.Compare(first[a.Group], first[b.Group]) })
	return answer.List(a.IO.Out, rows, answer.Options{Style: a.Style(), Command: a.Name, NoHeaders: a.Output.NoHeaders})
}
