package cli

import (
	"context"
	"encoding/xml"
	"fmt"
	"path"
	"strings"

	"github.com/rollcall-project/rollcall/internal/fixture"
)

// printProof prints a line for each overlay, one for each fault, the counts, and what to
// write where overlays are missing.
func (a *app) printProof(ctx context.Context, grid *fixture.Grid, p proof) error {
	a.printProblems(p.Problems)
	if len(p.Problems) > 0 {
		return nil
	}
	line := func(format string, args ...any) {
		fmt.Fprintln(a.IO.Out, a.Style().Clean(fmt.Sprintf(format, args...)))
	}
	for _, o := range p.Overlays {
		line("%s", o.line())
		for _, why := range o.Why {
			line("      %s", why)
		}
	}
	var first *provenFault
	for i, f := range p.Faults {
		switch {
		case f.TextOnly:
			line("%s: recognized in text, no overlay can show it; try `%s scan`", f.ID, a.Name)
		case f.Proven:
			line("%s: proven", f.ID)
		case len(f.Missing) > 0:
			line("%s: not proven: no overlay expects %s", f.ID, strings.Join(f.Missing, ", "))
			if first == nil || len(f.Missing) > len(first.Missing) {
				first = &p.Faults[i]
			}
		default:
			line("%s: not proven: an overlay fails", f.ID)
		}
	}
	for _, m := range p.Messages {
		if m.Proven {
			line("messages of %s: proven by %s", m.Program, m.Samples)
			continue
		}
		line("messages of %s: not proven: %s", m.Program, m.Samples)
		for _, why := range m.Why {
			line("      %s", why)
		}
	}
	overlays, faults := p.failed()
	line("faults: %d, not proven: %d; overlays: %d, failed: %d", len(p.Faults), faults, len(p.Overlays), overlays)
	if first == nil {
		return nil
	}
	return a.printExample(ctx, grid, *first)
}

// line says what became of an overlay.
func (o testedOverlay) line() string {
	switch {
	case o.Passed:
		return fmt.Sprintf("PASS  %s: %s is %s", o.File, o.Subject, o.Got)
	case o.Got == "":
		return fmt.Sprintf("FAIL  %s: not evaluated", o.File)
	case o.Got == o.Want:
		return fmt.Sprintf("FAIL  %s: %s is %s, but", o.File, o.Subject, o.Got)
	}
	return fmt.Sprintf("FAIL  %s: %s is %s, want %s", o.File, o.Subject, o.Got, o.Want)
}

// printExample shows which overlays to write for a fault, on a subject that there is.
func (a *app) printExample(ctx context.Context, grid *fixture.Grid, f provenFault) error {
	x, ok, err := grid.Example(ctx, f.fault)
	if err != nil {
		return err
	}
	if !ok {
		fmt.Fprintf(a.IO.Out, "\nNo base has a %s that %s has a meaning for: check its versions and controlPlane.\n", f.fault.For, f.ID)
		return nil
	}
	if x.Path == "" {
		x.Path = "PATH"
	}
	dir := a.Style().Clean(path.Join(path.Dir(f.File), "testdata"))
	fmt.Fprintf(a.IO.Out, "\nWrite an overlay for each outcome that is missing. An example for %s:\n", f.ID)
	for _, missing := range f.Missing {
		switch missing {
		case "present":
			fmt.Fprintf(a.IO.Out, "\n%s/%s.txtar: the healthy cluster with the fault\n  base: %s\n  subject: %s\n  -- patch:%s --\n  "+
				"FIELD: VALUE\n", dir, f.ID, x.Base, x.Subject, x.Path)
		case "absent":
			fmt.Fprintf(a.IO.Out, "\n%s/%s.other.txtar: what looks the same and is not it\n  base: %s\n  subject: %s\n  outcome: absent\n  -- "+
				"patch:%s --\n  FIELD: VALUE\n", dir, f.ID, x.Base, x.Subject, x.Path)
		case "unknown":
			fmt.Fprintf(a.IO.Out, "\n%s/%s.not-read.txtar: what decides was not collected\n  base: %s\n  subject: %s\n  outcome: unknown\n  -- "+
				"delete:%s --\n", dir, f.ID, x.Base, x.Subject, path.Dir(x.Path))
		}
	}
	fmt.Fprintf(a.IO.Out, "\n`%s test --base %s` prints the files of that cluster. docs/writing-a-fault.md has all verbs.\n", a.Name, x.Base)
	return nil
}

// The JUnit form that pipelines read: a suite for each fault, a case for each overlay, and
// one that says whether the fault is proven.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (s *junitSuite) add(name, message string, why []string) {
	c := junitCase{Name: name, Class: s.Name}
	s.Tests++
	if message != "" {
		s.Failures++
		c.Failure = &junitFailure{message, strings.Join(why, "\n")}
	}
	s.Cases = append(s.Cases, c)
}

func (a *app) printJUnit(p proof) error {
	var out junitSuites
	if len(p.Problems) > 0 {
		s := junitSuite{Name: "lint"}
		for _, one := range p.Problems {
			s.add(one.File, one.Error(), nil)
		}
		out.Suites = append(out.Suites, s)
	}
	listed := map[string]bool{}
	suite := func(id string) junitSuite {
		s := junitSuite{Name: id}
		listed[id] = true
		for _, o := range p.Overlays {
			switch {
			case o.Fault != id:
			case o.Passed:
				s.add(o.File, "", nil)
			default:
				s.add(o.File, o.line(), o.Why)
			}
		}
		return s
	}
	for _, f := range p.Faults {
		s := suite(f.ID)
		switch {
		case f.TextOnly:
		case f.Proven:
			s.add("proven", "", nil)
		case len(f.Missing) > 0:
			s.add("proven", "no overlay expects "+strings.Join(f.Missing, ", "), nil)
		default:
			s.add("proven", "an overlay fails", nil)
		}
		out.Suites = append(out.Suites, s)
	}
	for _, o := range p.Overlays { // of faults that are not in the directories
		if !listed[o.Fault] {
			out.Suites = append(out.Suites, suite(o.Fault))
		}
	}
	for _, m := range p.Messages {
		s := junitSuite{Name: "messages of " + m.Program}
		if m.Proven {
			s.add(m.Samples, "", nil)
		} else {
			s.add(m.Samples, "not proven", m.Why)
		}
		out.Suites = append(out.Suites, s)
	}
	raw, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the answer as JUnit: %w", err)
	}
	_, err = fmt.Fprintf(a.IO.Out, "%s%s\n", xml.Header, raw)
	return err
}
