package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	judging "github.com/rollcall-project/rollcall/internal/check"
	check "github.com/rollcall-project/rollcall/internal/check/command"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   `explain ID|"TEXT"`,
		Short: "what a fault, a line, a command, advice, a stage or a word means",
		Long: `Explain prints what is known about a fault, a remedy, a refused remedy (unsafe advice),
a fact, a stage of the join path, or a word that a screen prints, such as a first line.

It also takes a line of a log, a message, or a command that somebody advised: it
prints what the line shows, and whether the command is known as unsafe, what it
changes and destroys, or that it only reads. A question in everyday words gets the pages
that have them, best first. Text that it does not know gets "unknown" and exit code 3.

With a cluster or an archive (--context, --from, ...) a command is judged in its state:
the answer is that of "check".`,
		Example: cmdutil.Example(a.Name, "explain ignition-fetched", "a step of the join path") +
			cmdutil.Example(a.Name, `explain "LIKELY CAUSE"`, "a word of the first line") +
			cmdutil.Example(a.Name, `explain "approve all pending csr"`, "is this advice safe?") +
			cmdutil.Example(a.Name, `explain "node NotReady"`, "which pages are about it?") +
			cmdutil.Example(a.Name, `explain "x509: certificate signed by unknown authority"`, "a line of a log") +
			cmdutil.Example(a.Name, `explain "oc delete secret machine-config-server-tls"`, "a command") +
			cmdutil.Example(a.Name, `explain "oc delete node w1" --from mg.tar.gz`, "a command, in the state of this archive"),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeKnown,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return session.Usagef("name what to explain: an id, or text in quotes; `%s list faults` names the faults", a.Name)
			}
			words := strings.Join(args, " ")
			if a.source.Named() && !judging.IsCommand(words) {
				fmt.Fprintln(a.IO.Err, "note: this text is explained for any cluster; only a command is judged in the state of one")
			} else if a.source.Named() {
				return check.Check(cmd.Context(), a.App, a.source, cmdutil.FormatOf(cmd), words)
			}
			return a.explain(cmd.Context(), cmdutil.FormatOf(cmd), words)
		},
	}
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	a.AddSourceFlags(cmd, &a.source)
	return cmd
}

// explain prints the page that an id, another name, advice, a command or a message leads to.
func (a *app) explain(ctx context.Context, format, words string) error {
	c, err := a.session().WholeCatalog()
	if err != nil {
		return err
	}
	if e, ok := entryOf(c, words); ok {
		if e.kind == "fact" && format == "text" && !strings.Contains(words, "-") {
			if err := a.pagesWith(c, words); err != nil {
				return err
			}
		}
		return a.page(format, c, e)
	}
	if list := answer.WordsOf(words); len(list) > 0 {
		return a.explainWords(format, list)
	}
	if named := c.Named(words); len(named) > 0 {
		list := faultEntries(c, named)
		if len(list) == 1 && format == "text" {
			a.otherName(words, list[0].id)
		}
		return a.found(format, c, list)
	}
	if refused := shellcommand.Refused(words, c.Refused); len(refused) > 0 {
		return a.page(format, c, refusedEntry(refused[0]))
	}
	cmd, command := shellcommand.Parse(words)
	notes := shellcommand.Notes(words, c.Commands)
	if command && destroys(cmd, notes) {
		return a.explainCommandLine(format, c, cmd, notes)
	}
	if typed, ok := shellcommand.WithProgram(words); ok {
		meant, _ := shellcommand.Parse(typed)
		if of := shellcommand.Notes(typed, c.Commands); destroys(meant, of) {
			return a.explainCommandLine(format, c, meant, of)
		}
	}
	r, err := a.readWords(ctx, c, words)
	if err != nil {
		return err
	}
	if ids := shownFaults(c, r); len(ids) > 0 {
		return a.foundLine(format, c, r, ids)
	}
	if command {
		return a.explainCommandLine(format, c, cmd, notes)
	}
	if shellcommand.Fragment(words) {
		return a.unknownFragment(format, words)
	}
	found := pageIndex(c).Search(words)
	question := !machineText.MatchString(words)
	if question && len(found) > 0 && found[0].Named {
		return a.namedPage(format, c, words, found)
	}
	if strings.Contains(words, "://") && len(notes) > 0 {
		return a.explainNotes(format, words, notes)
	}
	if len(r.Symptoms) == 0 && len(r.Normal) > 0 {
		return a.normalText(format, r)
	}
	if question && len(r.Symptoms) == 0 {
		return a.pagesFor(format, c, words, found)
	}
	return a.unknownText(format, c, r, words)
}

// explainWords prints what words of the screens mean.
func (a *app) explainWords(format string, list []answer.Word) error {
	if format != "text" {
		return a.PrintData(format, wordPages{"words", list})
	}
	return answer.WordPage(a.IO.Out, list, answer.Options{Style: a.Style(), Command: a.Name})
}

// wordPages are words of the screens, for programs.
type wordPages struct {
	Kind  string        `json:"kind"`
	Words []answer.Word `json:"words"`
}

// destroys reports whether the catalog has what a command changes and destroys.
func destroys(cmd shellcommand.Command, notes []fault.CommandNote) bool {
	known := func(n fault.CommandNote) bool { return n.Destroys != nil }
	return cmd.Effect == shellcommand.Changes && slices.ContainsFunc(notes, known)
}

// found prints the page of the only entry, or a list. Advice that is refused goes first.
func (a *app) found(format string, c *fault.Catalog, found []entry) error {
	if len(found) == 1 {
		return a.page(format, c, found[0])
	}
	if found[0].kind != "refused" || format != "text" {
		return a.printEntries(format, found)
	}
	if err := a.page(format, c, found[0]); err != nil {
		return err
	}
	fmt.Fprintln(a.IO.Out, "\nSee also")
	return a.printEntries(format, found[1:])
}

// page prints one entry.
func (a *app) page(format string, c *fault.Catalog, e entry) error {
	o := answer.Options{Style: a.Style(), Command: a.Name}
	data := a.data(c, e)
	if format != "text" {
		return a.PrintData(format, data)
	}
	switch v := e.page.(type) {
	case *fault.Fault:
		return answer.FaultPage(a.IO.Out, v, c, o)
	case *fault.RefusedRemedy:
		return answer.RefusedPage(a.IO.Out, v, c, o)
	case *fault.Remedy:
		return answer.RemedyPage(a.IO.Out, v, c, o)
	case facts.Fact:
		return answer.FactPage(a.IO.Out, factPage(v, c), o)
	case answer.Word:
		return answer.WordPage(a.IO.Out, []answer.Word{v}, o)
	}
	return answer.StagePage(a.IO.Out, fault.Stage(e.id), c, o)
}

// data is an entry as programs get it.
func (a *app) data(c *fault.Catalog, e entry) any {
	switch v := e.page.(type) {
	case facts.Fact:
		return factPage(v, c)
	case fault.Stage:
		return map[string]string{"stage": string(v), "means": answer.StageMeans(v)}
	}
	return e.page
}

// machineText are signs that a program printed a text: a question is not searched for then.
var machineText = regexp.MustCompile(`\d{2}:\d{2}:\d{2}|^[EWIF]\d{4} |[{}=\\]|https?://|\.go:\d|\[\d+\]|level=|: error|: failed|"`)
