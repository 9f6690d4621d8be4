package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestRepository holds the prose of this repository to the rules.
func TestRepository(t *testing.T) {
	var out strings.Builder
	found, err := run("../../..", &out)
	if err != nil {
		t.Fatal(err)
	}
	if found > 0 {
		t.Errorf("%d findings; rules.go has the rules\n%s", found, &out)
	}
}

func TestRules(t *testing.T) {
	for _, r := range rules {
		if len(r.find(mask(r.fires))) == 0 {
			t.Errorf("%q is not found by the rule to write %s", r.fires, r.write)
		}
		if at := r.find(mask(r.passes)); len(at) > 0 {
			t.Errorf("%q is found by the rule to write %s", r.passes[at[0][0]:at[0][1]], r.write)
		}
		if r.fires == "" || r.passes == "" || r.write == "" || r.why == "" || r.in == 0 {
			t.Errorf("the rule to write %q is not whole", r.write)
		}
	}
}

// TestTexts holds which parts of a file are prose, and on which line a finding is.
func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		read          func(string, []byte) ([]text, error)
		want          []string // file:line of each finding
	}{
		{"catalog/machine/a.yaml", "title: \"{nobody} is full\"\nwhen: x.nobody == 1\nmeans: >-\n  The kubelet runs.\n  Then nobody looks.\n", catalogTexts, []string{"catalog/machine/a.yaml:5"}},
		{"catalog/refused/b.yaml", "title: wiping all disks\nwhen: if nobody needs them\nadvice: [nobody needs them]\n", catalogTexts, []string{"catalog/refused/b.yaml:2"}},
		{"catalog/remedies/c.yaml", "steps:\n  - do: Ask \"nobody\" first.\n    run: echo nobody\n  - {do: Look., expect: nobody answers}\n", catalogTexts, []string{"catalog/remedies/c.yaml:4"}},
		{"catalog/messages/d.yaml", "messages:\n  - {text: nobody home, normal: nobody\n      is harmed}\n", catalogTexts, []string{"catalog/messages/d.yaml:2"}},
		{"docs/e.md", "# Nobody\n\n`nobody` [x](nobody.md)\n\n```\nnobody\n```\n\n- a\n- then it waits for\n  ever\n", pageTexts, []string{"docs/e.md:1", "docs/e.md:10"}},
		{"f.go", "package f\n\n// nobody calls it\nvar nobody = []string{\"nobody\", \"it is nobody\", \"a \" +\n\t\"nobody\", `one\nnobody` + x(), \"%s nobody\"}\n", goLiterals, []string{"f.go:4", "f.go:5", "f.go:6", "f.go:6"}},
		{"g.go", "package g\n\n// nobody calls it\nvar a = \"it is nobody\"\n", goLiterals, []string{"g.go:4"}},
		{"h_test.go", "package h\n\nvar a = \"it is nobody\"\n", goLiterals, nil},
	} {
		texts, err := tt.read(tt.name, []byte(tt.content))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var have []string
		for _, text := range texts {
			for _, f := range check(text) {
				have = append(have, fmt.Sprintf("%s:%d", f.file, f.line))
			}
		}
		if !slices.Equal(have, tt.want) {
			t.Errorf("%s: found at %v, want %v", tt.name, have, tt.want)
		}
	}
}

// TestLiterals: a message of a product is left as it is, and only that.
func TestLiterals(t *testing.T) {
	for words, want := range map[string]int{
		"chronyc prints Not synchronised": 0, "the clock is synchronised": 1, "Not synchronised is not the same as synchronised": 1,
	} {
		if n := len(check(text{file: "a", place: docs, words: words, lines: []int{1, 1, 1, 1, 1, 1, 1, 1}})); n != want {
			t.Errorf("%q: %d findings, want %d", words, n, want)
		}
	}
}

func TestRunNamesAMissingFile(t *testing.T) {
	if _, err := run(t.TempDir(), io.Discard); err == nil {
		t.Error("an empty directory passes")
	}
}
