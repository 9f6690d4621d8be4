// Command bench measures how well a program finds the cause of a failed installation, a host
// that does not join, or a broken control plane: cases with their truth, and four gates. Any
// program that prints JSON can be measured. README.md says how to run it and to add a case.
//
// Invariants:
//   - The truth is in the case, never in the program that is measured.
//   - A case counts only if taking its evidence away changes the answer: a program that
//     guesses does not pass.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/fixture"
)

// The outcomes that a case can have.
const (
	outcomeCause   = "cause"   // the evidence shows the cause
	outcomeSymptom = "symptom" // it shows that something failed, and not why
	outcomeNone    = "none"    // nothing is wrong, or it is over
)

// truth is what is known of a case.
type truth struct {
	Title string `json:"title"`
	Area  string `json:"area"` // install, join or recovery
	Form  string `json:"form"` // text, objects or archive
	Base  string `json:"base"` // archive: the healthy cluster that the case changes

	Outcome     string   `json:"outcome"`
	Cause       []string `json:"cause"`                 // names of the cause, any of them is right; empty without one
	Shows       string   `json:"shows"`                 // symptom: expression for what the answer has to name
	Evidence    []string `json:"evidence"`              // lines with one of these words are the evidence
	Files       []string `json:"evidence_files"`        // archive: files that are evidence
	Signal      string   `json:"discriminating_signal"` // what tells the cause from others with the same symptom, in words
	Distractors []string `json:"distractors"`           // what is in the case and is not the cause
	MustNot     []string `json:"must_not_conclude"`     // causes that are wrong here
	NextStep    string   `json:"right_next_step"`       // expression for what the answer has to advise
	Source      string   `json:"source"`                // where the product prints or decides it
}

// benchCase is a case with its input.
type benchCase struct {
	name string
	truth
	files fstest.MapFS // by the path below the input; one file for a text
}

// inputFile is the file of a text or of objects.
const inputFile = "input.txt"

// load reads the cases of a directory, one file each.
func load(dir fs.FS) ([]benchCase, error) {
	paths, err := fs.Glob(dir, "*.txtar")
	if err != nil {
		return nil, fmt.Errorf("list cases: %w", err)
	}
	var list []benchCase
	for _, p := range paths {
		raw, err := fs.ReadFile(dir, p)
		if err != nil {
			return nil, fmt.Errorf("read case %s: %w", p, err)
		}
		c, err := parse(p, raw)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", p, err)
		}
		list = append(list, c)
	}
	return list, nil
}

func parse(p string, raw []byte) (benchCase, error) {
	c := benchCase{name: strings.TrimSuffix(path.Base(p), ".txtar")}
	a := txtar.Parse(raw)
	if err := yaml.UnmarshalStrict(a.Comment, &c.truth); err != nil {
		return c, fmt.Errorf("read its truth: %w", err)
	}
	if c.Form == "archive" {
		o, err := fixture.ParseOverlay(p, append([]byte("base: "+c.Base+"\nsubject: cluster\n"), raw[len(a.Comment):]...))
		if err != nil {
			return c, fmt.Errorf("read its archive: %w", err)
		}
		if c.files, err = o.FS(); err != nil {
			return c, err
		}
		// What only Rollcall collects is no part of a must-gather.
		maps.DeleteFunc(c.files, func(p string, _ *fstest.MapFile) bool {
			return strings.Contains(p, "/rollcall.dev/") || strings.Contains(p, "/consoles/") || strings.Contains(p, "/probes/")
		})
		return c, c.check()
	}
	c.files = fstest.MapFS{}
	for _, f := range a.Files {
		data := bytes.ReplaceAll(f.Data, []byte("\n\\-- "), []byte("\n-- ")) // a line of journald that txtar takes for a file
		c.files[f.Name] = &fstest.MapFile{Data: data, Mode: 0o600}
	}
	if len(c.files) != 1 || c.files[inputFile] == nil {
		return c, fmt.Errorf("a %s has one file, -- %s --", c.Form, inputFile)
	}
	return c, c.check()
}

// check reports what is missing in a case.
func (c *benchCase) check() error {
	for _, x := range []struct {
		is   bool
		says string
	}{
		{c.Title == "", "title is missing"},
		{!slices.Contains([]string{"install", "join", "recovery"}, c.Area), "area is install, join or recovery"},
		{!slices.Contains([]string{"text", "objects", "archive"}, c.Form), "form is text, objects or archive"},
		{!slices.Contains([]string{outcomeCause, outcomeSymptom, outcomeNone}, c.Outcome), "outcome is cause, symptom or none"},
		{(c.Outcome == outcomeCause) != (len(c.Cause) > 0), "cause goes with outcome: cause, and only with it"},
		{c.Outcome == outcomeCause && len(c.Evidence)+len(c.Files) == 0, "evidence is missing: without it the case cannot show that a program looks"},
		{c.Outcome == outcomeCause && c.Signal == "", "discriminating_signal is missing"},
		{c.Outcome != outcomeNone && c.NextStep == "", "right_next_step is missing"},
		{c.Source == "", "source is missing: where the product prints or decides it"},
	} {
		if x.is {
			return fmt.Errorf("%s", x.says)
		}
	}
	for _, expr := range []string{c.Shows, c.NextStep} {
		if _, err := regexp.Compile(expr); err != nil {
			return fmt.Errorf("read an expression of it: %w", err)
		}
	}
	for _, words := range c.Evidence {
		if c.without(words) == 0 {
			return fmt.Errorf("no line of it has the evidence %q", words)
		}
	}
	if c.Form != "archive" && len(c.Evidence) > 0 && strings.TrimSpace(string(c.mutated()[inputFile].Data)) == "" {
		return fmt.Errorf("without its evidence nothing is left of it: add a line that stays")
	}
	for _, name := range c.Files {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(c.files)), func(p string) bool { return strings.HasSuffix(p, name) }) {
			return fmt.Errorf("it has no file %s", name)
		}
	}
	return nil
}

// without counts the lines of a case that have some words.
func (c *benchCase) without(words string) (n int) {
	for _, f := range c.files {
		n += strings.Count(string(f.Data), words)
	}
	return n
}
