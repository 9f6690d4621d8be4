package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/report"
)

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   `explain ID|"TEXT"`,
		Short: "the page on a fault, a remedy, a refused remedy, a fact or a step",
		Long: `Explain prints what is known about a fault, a remedy, a refused remedy (advice that
circulates and must not be followed), a fact or a step of the join path.

With free text it looks for the advice or the fault that the text is about.`,
		Example: example(a.name, "explain ignition-fetched", "a step of the join path") +
			example(a.name, `explain "approve all pending csr"`, "is this advice safe?"),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeKnown,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name what is to be explained: an id, or text in quotes; `%s list faults` names the faults", a.name)
			}
			return a.explain(formatOf(cmd), strings.Join(args, " "))
		},
	}
	a.addOutputFlags(cmd, "text", "json", "yaml")
	a.addCatalogFlag(cmd)
	return cmd
}

func (a *app) explain(format, words string) error {
	c, err := a.loadCatalog()
	if err != nil {
		return err
	}
	list := entries(c)
	for _, e := range list {
		if e.id == words {
			return a.page(format, c, e)
		}
	}
	found := search(list, words)
	switch len(found) {
	case 0:
		var ids []string
		for _, e := range list {
			ids = append(ids, e.id)
		}
		return fmt.Errorf("nothing is known about %q%s; `%s list faults` names the faults, `%s list refused` the advice that is refused",
			words, didYouMean(words, ids), a.name, a.name)
	case 1:
		return a.page(format, c, found[0])
	}
	if found[0].kind != "refused" || format != "text" {
		return a.printEntries(format, found)
	}
	if err := a.page(format, c, found[0]); err != nil {
		return err
	}
	fmt.Fprintln(a.io.Out, "\nSee also")
	return a.printEntries(format, found[1:])
}

// page prints one entry.
func (a *app) page(format string, c *fault.Catalog, e entry) error {
	o := report.Options{Style: a.style(), Command: a.name}
	data := a.data(c, e)
	if format != "text" {
		return a.printData(format, data)
	}
	switch v := e.page.(type) {
	case *fault.Fault:
		return report.FaultPage(a.io.Out, v, c, o)
	case *fault.RefusedRemedy:
		return report.RefusedPage(a.io.Out, v, c, o)
	case *fault.Remedy:
		return report.RemedyPage(a.io.Out, v, c, o)
	case facts.Fact:
		return report.FactPage(a.io.Out, factPage(v, c), o)
	}
	return report.StagePage(a.io.Out, fault.Stage(e.id), c, o)
}

// data is an entry as programs get it.
func (a *app) data(c *fault.Catalog, e entry) any {
	switch v := e.page.(type) {
	case facts.Fact:
		return factPage(v, c)
	case fault.Stage:
		return map[string]string{"stage": string(v), "means": report.StageMeans(v)}
	}
	return e.page
}

// enough is the share of the words that must be met.
const enough = 0.6

// search finds entries by free text. Advice that is refused goes first: who asks
// whether something may be done is to meet the warning.
func search(list []entry, words string) []entry {
	asked := wordsOf(words)
	if len(asked) == 0 {
		return nil
	}
	type hit struct {
		entry
		score float64
	}
	var hits []hit
	for _, e := range list {
		score := overlap(asked, wordsOf(e.id+" "+e.title))
		for part := range strings.SplitSeq(e.text, "\n") {
			score = max(score, overlap(asked, wordsOf(part)))
		}
		if score < enough {
			continue
		}
		if e.kind == "refused" {
			score += 0.2
		}
		hits = append(hits, hit{e, score + overlap(asked, wordsOf(e.id))/10})
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	const most = 8
	var found []entry
	for _, h := range hits {
		if len(found) == most || h.score < hits[0].score*0.75 {
			break
		}
		found = append(found, h.entry)
	}
	return found
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
		w = strings.TrimSuffix(w, "s")
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
