package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// pageIndex is what questions are looked up in: all pages of `explain`.
func pageIndex(c *fault.Catalog) *lookup.Index {
	pages := slices.Concat(lookup.FaultPages(c), lookup.AdvicePages(c, answer.Plain),
		lookup.StagePages(c, answer.StageMeans), lookup.MessagePages(c))
	for _, f := range sortedFacts() {
		pages = append(pages, lookup.FactPage(f.Name, f.Doc))
	}
	return lookup.New(pages)
}

// mostPages is how many pages a question gets to see; those that are much worse than the
// first one are none of them.
const (
	mostPages = 8
	worst     = 0.4
)

// bestPages are the first of some pages.
func bestPages(hits []lookup.Hit) []lookup.Hit {
	for i, h := range hits {
		if i == mostPages || h.Score < worst*hits[0].Score {
			return hits[:i]
		}
	}
	return hits
}

// clearlyBest reports whether the first page has the words of a question so much better than
// the second one that it is likely the one that is meant.
func clearlyBest(hits []lookup.Hit) bool {
	const most, better = 0.7, 1.4
	return hits[0].Named || hits[0].Met >= most && (len(hits) == 1 || hits[0].Score >= better*hits[1].Score)
}

// symptomsFirst puts the page about what is wrong that has the most words of a question before unsafe advice whose name the
// question is not: who asks what is wrong is not shown first what not to do.
func symptomsFirst(hits []lookup.Hit) []lookup.Hit {
	if len(hits) == 0 || hits[0].Kind != "refused" || hits[0].Named {
		return hits
	}
	const half = 0.5
	best := -1
	for i, h := range hits {
		if h.Kind != "refused" && h.Kind != "message" && h.Met >= half && (best < 0 || h.Met > hits[best].Met) {
			best = i
		}
	}
	if best < 0 {
		return hits
	}
	first := hits[best]
	return slices.Insert(slices.Delete(slices.Clone(hits), best, best+1), 0, first)
}

// searchPage is the answer to a question, for programs.
type searchPage struct {
	Kind  string       `json:"kind"`
	Text  string       `json:"text"`
	Best  string       `json:"best,omitempty"` // the id of the page that is clearly the best one
	Pages []lookup.Hit `json:"pages"`          // best first
}

// namedPage prints the page of which a question is the name, and the others that have its words.
func (a *app) namedPage(format string, c *fault.Catalog, words string, hits []lookup.Hit) error {
	e, ok := entryOf(c, hits[0].ID)
	if format != "text" || !ok {
		return a.PrintData(format, searchPage{"search", a.WithoutSecrets(words), hits[0].ID, bestPages(hits)})
	}
	a.otherName(words, hits[0].ID)
	if err := a.page(format, c, e); err != nil {
		return err
	}
	const others = 3
	if more := bestPages(hits)[1:]; len(more) > 0 {
		fmt.Fprintln(a.IO.Out, "\nSee also")
		return a.printHits(more[:min(others, len(more))])
	}
	return nil
}

// otherName says that a page has another name than the one that was asked for. A question has none.
func (a *app) otherName(words, id string) {
	if words != id && !strings.ContainsAny(words, " \n") {
		fmt.Fprintf(a.IO.Out, "%s is %s\n\n", a.CleanText(words), id)
	}
}

// pagesFor lists the pages that have the words of a question.
func (a *app) pagesFor(format string, c *fault.Catalog, words string, hits []lookup.Hit) error {
	const half = 0.5
	known := len(hits) > 0 && hits[0].Met >= half
	whole := len(hits) > 0 && hits[0].Met == 1
	if mean := suggest.DidYouMean(words, idsOf(entries(c))); mean != "" && !strings.ContainsAny(words, " \n") && !whole {
		return fmt.Errorf("nothing is known about %q%s; `%s list faults` names the faults, `%s list refused` unsafe advice", words, mean, a.Name, a.Name)
	}
	var undecided error
	if !known {
		undecided = &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	hits = symptomsFirst(bestPages(hits))
	best := ""
	if len(hits) > 0 && clearlyBest(hits) {
		best = hits[0].ID
	}
	if format != "text" {
		return errors.Join(a.PrintData(format, searchPage{"search", a.WithoutSecrets(words), best, hits}), undecided)
	}
	clean := a.CleanText(words)
	switch {
	case len(hits) == 0:
		fmt.Fprintln(a.IO.Out, "UNKNOWN: nothing is known about this text.")
		a.nextOfUnknown()
		return undecided
	case !known:
		fmt.Fprintf(a.IO.Out, "UNKNOWN: no page has most of these words: %s\nThe nearest pages, best first:\n\n", clean)
	default:
		fmt.Fprintf(a.IO.Out, "Pages about: %s\nBest first:\n\n", clean)
	}
	if err := a.printHits(hits); err != nil {
		return err
	}
	why := ""
	if best != "" {
		why = "   (it is clearly the best)"
	}
	if !known { // a page that lacks most of the words is nothing to begin with
		a.nextOfUnknown()
		return undecided
	}
	fmt.Fprintf(a.IO.Out, "\nRead first: %s explain %s%s\n", a.Name, askedAs(hits[0]), why)
	fmt.Fprintf(a.IO.Out, "Or ask:     %s diagnose, or %s scan FILE with the whole text\n", a.Name, a.Name)
	return nil
}

// pagesWith lists the other pages that have a word which is the name of a fact, too: who asks for "etcd" has something wrong
// with it, and seldom means the fact.
func (a *app) pagesWith(c *fault.Catalog, word string) error {
	hits := bestPages(slices.DeleteFunc(pageIndex(c).Search(word), func(h lookup.Hit) bool { return h.ID == word }))
	if len(hits) == 0 {
		return nil
	}
	fmt.Fprintf(a.IO.Out, "Pages about: %s\nBest first:\n\n", a.CleanText(word))
	if err := a.printHits(hits); err != nil {
		return err
	}
	fmt.Fprint(a.IO.Out, "\nThe fact with this name:\n\n")
	return nil
}

// nearErrors are the pages with the words of errors that no message knows, in a text that shows
// nothing else: at most three.
func nearErrors(r *message.Report, c *fault.Catalog) []lookup.Hit {
	if len(r.Errors) == 0 || len(r.Matches)+len(r.Symptoms) > 0 {
		return nil
	}
	const mostErrors, mostNear = 20, 3
	ix := lookup.New(lookup.FaultPages(c))
	var list []lookup.Hit
	for _, e := range r.Errors[:min(mostErrors, len(r.Errors))] {
		for _, h := range ix.Near(e.Lines[0].Text) {
			if i := slices.IndexFunc(list, func(l lookup.Hit) bool { return l.ID == h.ID }); i < 0 {
				list = append(list, h)
			} else if list[i].Score < h.Score {
				list[i] = h
			}
		}
	}
	slices.SortStableFunc(list, func(a, b lookup.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(mostNear, len(list))]
}

// askedAs is the argument of explain that leads to a page.
func askedAs(h lookup.Hit) string {
	if strings.ContainsAny(h.ID, " '\"") {
		return "'" + strings.ReplaceAll(h.ID, "'", `'\''`) + "'"
	}
	return h.ID
}

// pageKinds say what is no fault.
var pageKinds = map[string]string{"remedy": "remedy", "refused": "unsafe advice", "stage": "stage of a host", "fact": "fact", "message": "message"}

// printHits lists pages in their order, a line each. Messages have no name, and follow.
func (a *app) printHits(hits []lookup.Hit) error {
	var rows, messages []answer.Row
	for _, h := range hits {
		row := answer.Row{Group: "pages", ID: askedAs(h), Title: h.Title}
		if kind := pageKinds[h.Kind]; kind != "" {
			row.Title = kind + ": " + h.Title
		}
		if h.Kind == "message" {
			messages = append(messages, row)
		} else {
			rows = append(rows, row)
		}
	}
	o := answer.Options{Style: a.Style(), Command: a.Name, NoHeaders: true}
	if err := answer.List(a.IO.Out, rows, o); err != nil {
		return err
	}
	return answer.List(a.IO.Out, messages, o)
}

func idsOf(list []entry) []string {
	ids := []string{}
	for _, e := range list {
		ids = append(ids, e.id)
	}
	return ids
}
