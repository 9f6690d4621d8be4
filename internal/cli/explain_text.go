package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/text/lookup"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// readWords looks for messages of programs in a text of the command line.
func (a *app) readWords(ctx context.Context, c *fault.Catalog, words string) (*message.Report, error) {
	x, err := message.New(c)
	if err != nil {
		return nil, err
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	return x.Read(ctx, clean.Joined(strings.NewReader(words)), clean.Alone)
}

// shownFaults are the faults that a text shows, causes before symptoms.
func shownFaults(c *fault.Catalog, r *message.Report) []*fault.Fault {
	var list []*fault.Fault
	for _, m := range slices.Concat(r.Matches, r.Symptoms) {
		if f, ok := c.Fault(m.Fault); ok {
			list = append(list, f)
		}
	}
	return list
}

// faultEntries are the entries of faults, in the order of the catalog.
func faultEntries(c *fault.Catalog, faults []*fault.Fault) []entry {
	var found []entry
	for _, f := range c.Faults {
		if slices.Contains(faults, f) {
			found = append(found, faultEntry(f))
		}
	}
	return found
}

// foundLine prints the page of the best fault that a line shows, and names the others.
func (a *app) foundLine(format string, c *fault.Catalog, r *message.Report, faults []*fault.Fault) error {
	if format != "text" {
		return a.PrintData(format, answer.ScanDocument(r, c))
	}
	m := slices.Concat(r.Matches, r.Symptoms)[0]
	if others := candidates(c, m); len(others) > 0 {
		return a.oneOf(format, c, append(faults[:1:1], others...))
	}
	if n := equallyLikely(r); n > 1 {
		return a.oneOf(format, c, faults[:n])
	}
	fmt.Fprintf(a.IO.Out, "This text shows %s (%s).\n\n", faults[0].ID, confidence[m.Confidence])
	if err := a.page(format, c, faultEntries(c, faults[:1])[0]); err != nil {
		return err
	}
	if len(faults) > 1 {
		fmt.Fprintln(a.IO.Out, "\nIt may also show")
		if err := a.printEntries(format, faultEntries(c, faults[1:])); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.IO.Out, "\nNext: %s diagnose, or %s scan FILE with the whole text\n", a.Name, a.Name)
	return nil
}

// oneOf lists the causes of which a text shows one, and not which one.
func (a *app) oneOf(format string, c *fault.Catalog, faults []*fault.Fault) error {
	fmt.Fprintf(a.IO.Out, "This text shows one of %d causes, and not which one.\n\n", len(faults))
	if err := a.printEntries(format, faultEntries(c, faults)); err != nil {
		return err
	}
	fmt.Fprintf(a.IO.Out, "\nNext: %s scan FILE with the whole text: other lines decide\n      %s diagnose\n", a.Name, a.Name)
	return nil
}

// candidates are the other faults that can print the lines of a cause that is only possible.
func candidates(c *fault.Catalog, m message.Match) (list []*fault.Fault) {
	if m.Confidence != fault.ShowsPossible {
		return nil
	}
	for _, id := range m.Candidates {
		if f, ok := c.Fault(id); ok && id != m.Fault {
			list = append(list, f)
		}
	}
	return list
}

// equallyLikely is how many causes one and the same line shows, all of them likely and none
// proven: no page is then the right one.
func equallyLikely(r *message.Report) int {
	n := 0
	for _, m := range r.Matches {
		if m.Confidence != fault.ShowsLikely || len(m.Lines) != 1 || m.Lines[0].Number != r.Matches[0].Lines[0].Number {
			break
		}
		n++
	}
	return n
}

var confidence = map[fault.Grade]string{
	fault.ShowsProven:   "the text shows it",
	fault.ShowsLikely:   "its usual cause",
	fault.ShowsPossible: "one of several causes",
}

// commandPage is what is known of a command, for programs.
type commandPage struct {
	Kind     string              `json:"kind"`
	Command  string              `json:"command"`
	Effect   shellcommand.Effect `json:"effect"`
	Does     string              `json:"does,omitempty"`
	Refused  bool                `json:"refused"`
	Notes    []string            `json:"notes,omitempty"`
	Destroys []destroysPage      `json:"destroys,omitempty"` // what it changes and destroys
	Next     []string            `json:"next"`
	Steps    []commandPage       `json:"steps,omitempty"` // the commands of a text of several
	Near     []lookup.Hit        `json:"near,omitempty"`  // of a script: pages that have the words of its name
}

// destroysPage is what a command changes and destroys, for programs.
type destroysPage struct {
	fault.Destroys
	Sources []fault.Ref `json:"sources"`
}

// pageOf is a command for programs.
func (a *app) pageOf(c shellcommand.Command, notes []fault.CommandNote) commandPage {
	p := commandPage{Kind: "command", Command: a.WithoutSecrets(cmp.Or(c.Typed, c.Text)), Effect: c.Effect, Does: c.Does, Next: []string{}}
	for _, n := range notes {
		if n.Destroys != nil {
			p.Destroys = append(p.Destroys, destroysPage{*n.Destroys, n.Refs})
		} else {
			p.Notes = append(p.Notes, n.Says)
		}
		for _, next := range n.Next {
			if !slices.Contains(p.Next, next) {
				p.Next = append(p.Next, next)
			}
		}
	}
	for _, step := range c.Steps {
		p.Steps = append(p.Steps, a.pageOf(step, nil))
	}
	return p
}

// explainCommandLine says what a command does that is not known as unsafe advice.
func (a *app) explainCommandLine(format string, known *fault.Catalog, c shellcommand.Command, notes []fault.CommandNote) error {
	p := a.pageOf(c, notes)
	if c.Program == "script" {
		p.Near = bestPages(pageIndex(known).Search(c.Text))
	}
	if format != "text" {
		return a.PrintData(format, p)
	}
	clean := a.CleanText
	what := "This command"
	if len(c.Steps) > 0 {
		what = fmt.Sprintf("Of these %d commands the one that does most", len(c.Steps))
	}
	switch c.Effect {
	case shellcommand.Reads:
		if len(c.Steps) > 0 {
			what = fmt.Sprintf("Each of these %d commands", len(c.Steps))
		}
		fmt.Fprintf(a.IO.Out, "%s only reads: it %s.\n", what, c.Does)
	case shellcommand.Changes:
		fmt.Fprintf(a.IO.Out, "%s changes something: it %s.\n", what, c.Does)
	default:
		fmt.Fprintf(a.IO.Out, "UNKNOWN: what %s does is not known%s.\n", strings.ToLower(what), unknownDoes[c.Does])
	}
	if len(c.Steps) == 0 {
		fmt.Fprintf(a.IO.Out, "  %s\n", clean(c.Typed))
	}
	for _, step := range c.Steps {
		fmt.Fprintf(a.IO.Out, "  %-8s %s\n", step.Effect, clean(step.Typed))
	}
	for _, e := range p.Destroys {
		if err := answer.DestroysPart(a.IO.Out, e.Destroys, e.Sources, answer.Options{Style: a.Style(), Command: a.Name}); err != nil {
			return err
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintf(a.IO.Out, "\n%s\n", a.Style().Wrap(n))
	}
	if c.Effect == shellcommand.Changes && len(p.Notes)+len(p.Destroys) == 0 {
		fmt.Fprintf(a.IO.Out, "Rollcall does not know whether it is right here. Unknown is not safe: find the cause first.\n")
	}
	if len(p.Near) > 0 {
		fmt.Fprintln(a.IO.Out, "\nPages that have the words of its name:")
		if err := a.printHits(p.Near); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.IO.Out)
	next := slices.Clone(p.Next)
	if c.Effect == shellcommand.Changes && len(c.Steps) == 0 {
		typed := shellcommand.Quote(c.Typed)
		if a.WithoutSecrets(c.Typed) != c.Typed {
			typed = "COMMAND" // an answer is copied into a ticket
		}
		next = append(next, a.Name+" check "+typed+", for its effect in your cluster")
	}
	a.printNext(append(next, a.Name+" diagnose", a.Name+" list refused, for advice that is known as unsafe"))
	if c.Effect == shellcommand.Unknown {
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}

// explainNotes says what is known of an address that is no command.
func (a *app) explainNotes(format, words string, notes []fault.CommandNote) error {
	p := a.pageOf(shellcommand.Command{Text: words, Effect: shellcommand.Unknown}, notes)
	if p.Kind = "text"; format != "text" {
		return a.PrintData(format, p)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(a.IO.Out, "%s\n\n", a.Style().Wrap(n))
	}
	a.printNext(append(slices.Clone(p.Next), a.Name+" diagnose"))
	return nil
}

// printNext lists commands to continue with, each once.
func (a *app) printNext(list []string) {
	head := "Next: "
	for i, next := range list {
		if slices.Contains(list[:i], next) {
			continue
		}
		fmt.Fprintf(a.IO.Out, "%s%s\n", head, next)
		head = "      "
	}
}

// unknownDoes says more of a command whose effect is not known.
var unknownDoes = map[string]string{
	"runs a script": ": it runs a script. Read the file first, and ask for each command in it",
}

// unknownFragment says that a line of a script does nothing without the lines behind it.
func (a *app) unknownFragment(format, words string) error {
	const next = "give the whole loop, or each command in it"
	if format != "text" {
		page := unknownPage{Kind: "text", Result: message.Unknown, Text: a.WithoutSecrets(words), Near: []lookup.Hit{}, Next: next}
		return errors.Join(a.PrintData(format, page), &cmdutil.ExitError{Code: cmdutil.ExitUndecided})
	}
	fmt.Fprintf(a.IO.Out, "UNKNOWN: this line of a script does nothing by itself. What counts are the commands behind it.\n\nNext: %s\n", next)
	return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
}

// normalText says that a line is no sign of trouble.
func (a *app) normalText(format string, r *message.Report) error {
	n := r.Normal[0]
	if format != "text" {
		return a.PrintData(format, unknownPage{Kind: "text", Result: message.Absent, Text: n.Line.Text, Near: []lookup.Hit{}, Next: n.Words})
	}
	fmt.Fprintf(a.IO.Out, "This line is no sign of trouble: %s.\n  %s\n", n.Words, a.Style().Clean(n.Line.Text))
	fmt.Fprintf(a.IO.Out, "\nNext: %s diagnose, or %s scan FILE with the whole text, where something does not work\n", a.Name, a.Name)
	return nil
}

// unknownPage is the answer to a text of which nothing is known, for programs.
type unknownPage struct {
	Kind   string         `json:"kind"`
	Result message.Result `json:"result"`
	Text   string         `json:"text"`
	Near   []lookup.Hit   `json:"near"` // pages that have its words, best first
	Next   string         `json:"next,omitempty"`
}

// unknownText says that nothing is known of what a program printed, and how to continue.
func (a *app) unknownText(format string, c *fault.Catalog, r *message.Report, words string) error {
	near := lookup.New(lookup.FaultPages(c)).Near(words)
	page := unknownPage{Kind: "text", Result: message.Unknown, Text: a.WithoutSecrets(words), Near: near}
	for _, m := range r.Symptoms {
		page.Next = cmp.Or(page.Next, m.Next)
	}
	if format != "text" {
		return errors.Join(a.PrintData(format, page), &cmdutil.ExitError{Code: cmdutil.ExitUndecided})
	}
	switch {
	case len(r.Symptoms) > 0:
		fmt.Fprintf(a.IO.Out, "UNKNOWN: this text shows that %s, and not why.\n", r.Symptoms[0].Failure)
	case len(near) > 0:
		fmt.Fprintln(a.IO.Out, "UNKNOWN: no message of the catalog is like this text.")
	default:
		fmt.Fprintln(a.IO.Out, "UNKNOWN: nothing is known about this text.")
	}
	if len(near) > 0 {
		fmt.Fprintln(a.IO.Out, "\nPages that have its words:")
		if err := a.printHits(near); err != nil {
			return err
		}
	}
	if page.Next != "" {
		fmt.Fprintf(a.IO.Out, "\n%s\n", a.Style().Wrap("Look next: "+page.Next))
	}
	a.nextOfUnknown()
	return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
}

// nextOfUnknown says how to continue where nothing is known.
func (a *app) nextOfUnknown() {
	fmt.Fprintf(a.IO.Out, `
Next: %[1]s scan FILE           the whole log or console shows more
      %[1]s diagnose            ask the cluster, or an archive with --from
      %[1]s list faults WORD    the faults with this word
`, a.Name)
}
