package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/session"
)

func (a *app) testCommand() *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use:   "test DIR...",
		Short: "prove faults of your own with overlays on healthy clusters",
		Long: `Test evaluates the faults of a directory on the overlays that are in it, with the
engine of a diagnosis. An overlay is a text file, <fault-id>.txtar or
<fault-id>.<variant>.txtar: a healthy cluster, changes to it, and the outcome that
is expected. The built-in faults are proven in the same way.

Messages of your own are proven with samples: for messages/PROGRAM.yaml the file
messages/testdata/PROGRAM.txt has lines with an outcome (a fault, failure, normal),
a tab, and a line as the program prints it. Each message has a sample that it holds on.

A fault is proven with at least one overlay of which it is present, one of which it
is absent, and one of which it is unknown, when all of its overlays pass. On an
overlay of which it is present, everything that its facts read is also taken away,
one after the other: it must not become absent.

Exit code 0: every fault is proven. 1: an overlay fails, a fault is not proven, or
"lint" finds a mistake. docs/writing-a-fault.md has an example from begin to end.`,
		Example: cmdutil.Example(a.Name, "test ./our-faults", "every fault and every overlay below the directory") + "\n" +
			cmdutil.Example(a.Name, "test ./our-faults -o junit > report.xml", "for a pipeline") + "\n" +
			cmdutil.Example(a.Name, "test --base "+newestBase()+" | less", "the files of a healthy cluster, to write changes to"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case base != "" && len(args) > 0:
				return session.Usagef("--base prints a healthy cluster; leave the directory out")
			case base != "":
				return a.printBase(base)
			case len(args) == 0:
				return session.Usagef("name a directory with faults and overlays: `%s test ./our-faults`", a.Name)
			}
			return a.test(cmd.Context(), cmdutil.FormatOf(cmd), args)
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "print the files of the healthy cluster `NAME`: "+strings.Join(fixture.Bases(), ", "))
	cmdutil.CompleteChoice(cmd, "base", fixture.Bases())
	a.AddOutputFlags(cmd, "text", "json", "yaml", "junit")
	a.AddCatalogFlag(cmd, &a.source)
	return cmd
}

func newestBase() string { list := fixture.Bases(); return list[len(list)-1] }

func (a *app) printBase(name string) error {
	if !slices.Contains(fixture.Bases(), name) {
		return session.Usagef("there is no base %q%s; there are %s", name, suggest.DidYouMean(name, fixture.Bases()), strings.Join(fixture.Bases(), ", "))
	}
	text, err := fixture.Text(name)
	if err != nil {
		return err
	}
	_, err = a.IO.Out.Write(text)
	return err
}

// proof is what `test` reports.
type proof struct {
	Problems fault.Problems   `json:"problems"` // of lint; with any of them nothing is evaluated
	Faults   []provenFault    `json:"faults"`
	Overlays []testedOverlay  `json:"overlays"`
	Messages []provenMessages `json:"messages"` // files of messages
}

// provenMessages is one file of messages of the directories.
type provenMessages struct {
	Program string   `json:"program"`
	File    string   `json:"file"`
	Samples string   `json:"samples"` // the file of samples
	Proven  bool     `json:"proven"`
	Why     []string `json:"why,omitempty"`
}

// provenFault is one fault of the directories.
type provenFault struct {
	ID       string   `json:"id"`
	File     string   `json:"file"`
	Proven   bool     `json:"proven"`
	TextOnly bool     `json:"textOnly,omitempty"` // recognized in text: no overlay can show it
	Missing  []string `json:"missing,omitempty"`  // outcomes that no overlay expects
	fault    *fault.Fault
}

// testedOverlay is one overlay.
type testedOverlay struct {
	File    string   `json:"file"`
	Fault   string   `json:"fault,omitempty"`
	Base    string   `json:"base,omitempty"`
	Subject string   `json:"subject,omitempty"`
	Want    string   `json:"want,omitempty"`
	Got     string   `json:"got,omitempty"` // "" where nothing could be evaluated
	Passed  bool     `json:"passed"`
	Why     []string `json:"why"` // of a pass: what shows it; of a failure: what is wrong
}

// failed counts the overlays that fail and the faults that are not proven.
func (p proof) failed() (overlays, faults int) {
	for _, o := range p.Overlays {
		if !o.Passed {
			overlays++
		}
	}
	for _, f := range p.Faults {
		if !f.Proven && !f.TextOnly {
			faults++
		}
	}
	return overlays, faults
}

func (a *app) test(ctx context.Context, format string, named []string) error {
	dirs, err := a.session().CatalogDirs(named)
	if err != nil {
		return err
	}
	c, problems, err := a.session().ReadCatalog(fault.Load, dirs)
	if err != nil {
		return err
	}
	p := proof{Problems: append(fault.Problems{}, problems...), Faults: []provenFault{}, Overlays: []testedOverlay{}, Messages: []provenMessages{}}
	grid, err := fixture.NewGrid(c, all.All(), relation.Relater{})
	if err != nil {
		return err
	}
	if len(problems) == 0 {
		roots := rootsOf(dirs, named)
		if err := a.proveAll(ctx, grid, c, named, roots, &p); err != nil {
			return err
		}
		if p.Messages, err = proveMessages(c, roots); err != nil {
			return err
		}
	}
	switch format {
	case "text":
		err = a.printProof(ctx, grid, p)
	case "junit":
		err = a.printJUnit(p)
	default:
		err = a.PrintData(format, p)
	}
	if wrong := a.countProblems(problems); err != nil || wrong != nil {
		return errors.Join(err, wrong)
	}
	return p.verdict(named)
}

// verdict is the error of a proof, nil where every fault is proven.
func (p proof) verdict(named []string) error {
	overlays, faults := p.failed()
	messages := p.failedMessages()
	switch {
	case len(p.Faults)+len(p.Overlays)+len(p.Messages) == 0:
		return fmt.Errorf("there is no fault and no overlay below %s", strings.Join(named, ", "))
	case messages > 0 && overlays+faults == 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%s not proven", number(messages, "file")+" of messages")}
	case overlays+faults > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%s failed, %s not proven", number(overlays, "overlay"), number(faults, "fault"))}
	}
	return nil
}

// proveAll evaluates the overlays of directories and judges the faults there.
func (a *app) proveAll(ctx context.Context, grid *fixture.Grid, c *fault.Catalog, named []string, roots []int, p *proof) error {
	for _, dir := range named {
		overlays, wrong, err := fixture.ReadOverlays(os.DirFS(dir))
		if err != nil {
			return err
		}
		for _, w := range wrong {
			id, _, _ := strings.Cut(path.Base(w.Path), ".")
			p.Overlays = append(p.Overlays, testedOverlay{File: path.Join(dir, w.Path), Fault: id, Why: strings.Split(w.Err.Error(), "\n")})
		}
		for _, o := range overlays {
			if err := ctx.Err(); err != nil {
				return err
			}
			done := a.Progress("evaluating %s ...", o.Path)
			t := proveOverlay(ctx, grid, c, o)
			done()
			t.File = path.Join(dir, o.Path)
			p.Overlays = append(p.Overlays, t)
		}
	}
	slices.SortStableFunc(p.Overlays, func(a, b testedOverlay) int { return strings.Compare(a.File, b.File) })
	for _, f := range c.Faults {
		file, root := c.File(f)
		if slices.Contains(roots, root) {
			p.Faults = append(p.Faults, judge(f, file, p.Overlays))
		}
	}
	return nil
}

// proveOverlay evaluates one overlay. What goes wrong is a failure of the overlay: the
// others are evaluated all the same.
func proveOverlay(ctx context.Context, grid *fixture.Grid, c *fault.Catalog, o fixture.Overlay) testedOverlay {
	t := testedOverlay{Fault: o.Fault, Base: o.Base, Subject: o.Subject.String(), Want: o.Outcome, Why: []string{}}
	fail := func(err error) testedOverlay {
		t.Passed, t.Why = false, append(t.Why, strings.Split(err.Error(), "\n")...)
		return t
	}
	f, ok := c.Fault(o.Fault)
	switch {
	case !ok:
		return fail(fmt.Errorf("there is no fault %q%s; an overlay is named after its fault", o.Fault, suggest.DidYouMean(o.Fault, session.FaultIDs(c))))
	case f.TextOnly():
		return fail(fmt.Errorf("fault %s has no when: it is recognized in text, and no overlay can show it", f.ID))
	}
	files, err := o.FS()
	if err != nil {
		return fail(err)
	}
	source, err := fixture.Open(files)
	if err != nil {
		return fail(err)
	}
	r, err := grid.Check(ctx, o, source)
	if err != nil {
		return fail(err)
	}
	t.Got, t.Passed = fixture.Outcome(r.Finding), len(r.Wrong) == 0
	if t.Got != t.Want {
		r.Wrong = r.Wrong[1:] // its line has the outcomes already
		if r.Finding.Reason != "" {
			t.Why = append(t.Why, r.Finding.Reason)
		}
	}
	t.Why = append(t.Why, r.Wrong...)
	if t.Passed && o.Outcome == string(fault.Present) {
		wrong, err := grid.Blind(ctx, o, source)
		if err != nil {
			return fail(err)
		}
		t.Why, t.Passed = append(t.Why, wrong...), len(wrong) == 0
	}
	switch {
	case !t.Passed:
		t.Why = append(t.Why, restsOn(r.Finding)...)
	case r.Finding.Outcome == fault.Present:
		t.Why = append(t.Why, r.Finding.Title)
	case r.Finding.Reason != "":
		t.Why = append(t.Why, r.Finding.Reason)
	}
	return t
}

// maxShown is how many items of evidence a failure shows.
const maxShown = 5

// restsOn is the evidence of the fields that an outcome rests on.
func restsOn(f diagnosis.Finding) []string {
	var list []string
	for i, item := range f.Evidence {
		if i == maxShown {
			return append(list, fmt.Sprintf("and %d more", len(f.Evidence)-i))
		}
		text, _, more := strings.Cut(strings.TrimSpace(item.Excerpt), "\n")
		if more {
			text += " ..."
		}
		list = append(list, "decided by "+fixture.Inside(item.Locator.String())+": "+text)
	}
	return list
}

// judge says whether a fault is proven by the overlays.
func judge(f *fault.Fault, file string, overlays []testedOverlay) provenFault {
	p := provenFault{ID: f.ID, File: file, TextOnly: f.TextOnly(), fault: f}
	if p.TextOnly {
		return p
	}
	p.Proven = true
	expected := map[string]bool{}
	for _, o := range overlays {
		if o.Fault != f.ID {
			continue
		}
		p.Proven, expected[o.Want] = p.Proven && o.Passed, true
	}
	for _, want := range []fault.Outcome{fault.Present, fault.Absent, fault.Unknown} {
		if !expected[string(want)] {
			p.Proven, p.Missing = false, append(p.Missing, string(want))
		}
	}
	return p
}
