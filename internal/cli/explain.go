package cli

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   `explain ID|"TEXT"`,
		Short: "what a fault, a log line, a command, advice or a stage means",
		Long: `Explain prints what is known about a fault, a remedy, a refused remedy (unsafe advice),
a fact or a stage of the join path.

It also takes a line of a log, a message, or a command that somebody advised: it
prints what the line shows, and whether the command is known as unsafe, changes
something or only reads. Text that it does not know gets "unknown" and exit code 3.`,
		Example: cmdutil.Example(a.Name, "explain ignition-fetched", "a step of the join path") +
			cmdutil.Example(a.Name, `explain "approve all pending csr"`, "is this advice safe?") +
			cmdutil.Example(a.Name, `explain "x509: certificate signed by unknown authority"`, "a line of a log") +
			cmdutil.Example(a.Name, `explain "oc delete secret machine-config-server-tls"`, "a command"),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeKnown,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return session.Usagef("name what to explain: an id, or text in quotes; `%s list faults` names the faults", a.Name)
			}
			return a.explain(cmd.Context(), cmdutil.FormatOf(cmd), strings.Join(args, " "))
		},
	}
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	a.AddCatalogFlag(cmd, &a.source)
	return cmd
}

// explain prints the page that an id, another name, advice, a command or a message leads to.
func (a *app) explain(ctx context.Context, format, words string) error {
	c, err := a.session().WholeCatalog()
	if err != nil {
		return err
	}
	if e, ok := entryOf(c, words); ok {
		return a.page(format, c, e)
	}
	if named := c.Named(words); len(named) > 0 {
		return a.found(format, c, faultEntries(c, named))
	}
	if refused := shellcommand.Refused(words, c.Refused); len(refused) > 0 {
		return a.page(format, c, refusedEntry(refused[0]))
	}
	r, err := a.readWords(ctx, c, words)
	if err != nil {
		return err
	}
	if ids := shownFaults(c, r); len(ids) > 0 {
		return a.foundLine(format, c, r, ids)
	}
	if cmd, ok := shellcommand.Parse(words); ok {
		return a.explainCommandLine(format, cmd, shellcommand.Notes(words, c.Commands))
	}
	if shellcommand.Fragment(words) {
		return a.unknownFragment(format, words)
	}
	list := entries(c)
	found := search(list, words)
	if len(found) > 0 && found[0].sure {
		return a.found(format, c, entriesOf(found))
	}
	if notes := shellcommand.Notes(words, c.Commands); strings.Contains(words, "://") && len(notes) > 0 {
		return a.explainNotes(format, words, notes)
	}
	if len(r.Symptoms) == 0 && len(r.Normal) > 0 {
		return a.normalText(format, r)
	}
	return a.unknownText(format, r, words, list, entriesOf(found))
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

// enough is the share of the words of a question that must be met, fewest how many it must
// have.
const (
	enough = 0.75
	mutual = 0.6 // share of the words of unsafe advice that must be in the question
	fewest = 2
)

// machineText are signs that a program printed a text: a question is not searched for then.
var machineText = regexp.MustCompile(`\d{2}:\d{2}:\d{2}|^[EWIF]\d{4} |[{}=\\]|https?://|\.go:\d|\[\d+\]|level=|: error|: failed|"`)

// search finds entries by free text. Advice that is refused goes first: who asks
// whether something may be done is to meet the warning.
func search(list []entry, words string) []hit {
	asked := wordsOf(words)
	if len(asked) < fewest || machineText.MatchString(words) {
		return havingWord(list, words)
	}
	var hits []hit
	for _, e := range list {
		score := overlap(asked, wordsOf(e.id+" "+e.title))
		sure := len(asked) > 1 && same(asked, wordsOf(e.id))
		for part := range strings.SplitSeq(e.text, "\n") {
			in := wordsOf(part)
			score = max(score, overlap(asked, in))
			sure = sure || e.kind == "refused" && len(asked) > 2 && overlap(asked, in) >= enough && overlap(in, asked) >= mutual
		}
		if score < enough {
			continue
		}
		if e.kind == "refused" {
			score += 0.2
		}
		hits = append(hits, hit{e, score + overlap(asked, wordsOf(e.id))/10, sure})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	if i := slices.IndexFunc(hits, func(h hit) bool { return h.sure }); i > 0 {
		hits[0], hits[i] = hits[i], hits[0]
	}
	const most = 8
	for i, h := range hits {
		if i == most || h.score < hits[0].score*0.75 {
			return hits[:i]
		}
	}
	return hits
}

// havingWord are the entries with a word in their id.
func havingWord(list []entry, word string) []hit {
	var hits []hit
	for _, e := range list {
		if len(word) > 2 && strings.Contains(e.id, strings.ToLower(word)) {
			hits = append(hits, hit{entry: e})
		}
	}
	return hits
}

// same reports whether two lists have the same words.
func same(a, b []string) bool { return overlap(a, b) == 1 && overlap(b, a) == 1 }

// hit is an entry that has the words of a question.
type hit struct {
	entry
	score float64
	sure  bool // it is what was asked for, and not only near it
}

func entriesOf(hits []hit) []entry {
	var list []entry
	for _, h := range hits {
		list = append(list, h.entry)
	}
	return list
}

// noise are words that say nothing about what is asked.
var noise = map[string]bool{
	"the": true, "and": true, "for": true, "all": true, "that": true, "with": true, "can": true, "how": true, "why": true,
	"should": true, "what": true, "does": true, "not": true, "from": true, "this": true, "are": true, "get": true,
}

// wordsOf returns the words of a text in lower case, without plural endings.
func wordsOf(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var list []string
	for _, w := range fields {
		if len(w) > 4 {
			w = strings.TrimSuffix(w, "s")
		}
		if len(w) > 2 && !noise[w] && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// overlap is the share of the asked words that are met; a longer word that begins
// with the asked one counts ("approve", "approves", "approval" share a stem).
func overlap(asked, in []string) float64 {
	met := 0
	for _, w := range asked {
		if slices.ContainsFunc(in, func(k string) bool { return k == w || len(w) > 3 && stem(k) == stem(w) }) {
			met++
		}
	}
	return float64(met) / float64(len(asked))
}

func stem(w string) string { return w[:min(len(w), 6)] }
