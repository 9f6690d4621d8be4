package main

import (
	"fmt"
	"regexp"
	"strings"
)

// place is where a text is shown. Rules apply to one or more of them. Comments of Go files are read
// by people (docs/style.md) and by no rule.
type place int

const (
	title   place = 1 << iota // the one sentence of a fault, remedy or refused remedy
	catalog                   // the other prose of the catalog
	docs                      // README.md and docs/*.md
	screen                    // what the program prints: help, messages, headings

	shown = title | catalog | docs | screen
)

// text is one piece of prose, a sentence or a paragraph.
type text struct {
	file  string
	place place
	words string
	lines []int // the line of each word
}

// finding is one place where a rule fires.
type finding struct {
	file  string
	line  int
	words string
	write string
	why   string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %q: write %s (%s)", f.file, f.line, f.words, f.write, f.why)
}

// check applies all rules to one text.
func check(t text) []finding {
	var list []finding
	plain := mask(t.words)
	for _, r := range rules {
		if r.in&t.place == 0 {
			continue
		}
		for _, at := range r.find(plain) {
			words := t.words[at[0]:at[1]]
			if allowed(t.words, at) {
				continue
			}
			list = append(list, finding{t.file, t.line(at[0]), words, r.write, r.why})
		}
	}
	return list
}

// find returns where the rule fires in a masked text.
func (r rule) find(plain string) [][]int {
	if r.longest > 0 {
		return longSentences(plain, r.longest)
	}
	var list [][]int
	for _, at := range r.pattern.FindAllStringIndex(plain, -1) {
		if r.unless == nil || !r.unless.MatchString(plain[at[0]:at[1]]) {
			list = append(list, at)
		}
	}
	return list
}

// line is the line of the word that begins at or covers the offset.
func (t text) line(offset int) int {
	word := len(strings.Fields(t.words[:offset+1])) - 1
	if word < 0 || word >= len(t.lines) {
		return 0
	}
	return t.lines[word]
}

// quoted is what is no prose of this project: placeholders, code, names of products in
// quotes, targets of links, addresses.
var quoted = regexp.MustCompile("`[^`]*`|\\{[^{}]*\\}|\"[^\"]*\"|\\]\\([^)]*\\)|https?://\\S+")

// mask replaces what is quoted by characters that no rule knows. Offsets stay.
func mask(s string) string {
	return quoted.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat("§", 1) + strings.Repeat("_", max(0, len(m)-len("§"))) })
}

// sentence ends at a full stop, a colon or a semicolon that is followed by a blank: each
// part is one thought.
var sentence = regexp.MustCompile(`[.!?:;][)]?(\s|$)`)

// longSentences returns the sentences of more than limit words.
func longSentences(plain string, limit int) [][]int {
	var list [][]int
	from := 0
	add := func(to int) {
		if len(strings.Fields(plain[from:to])) > limit {
			for plain[from] == ' ' {
				from++
			}
			list = append(list, []int{from, to})
		}
		from = to
	}
	for _, at := range sentence.FindAllStringIndex(plain, -1) {
		add(at[1])
	}
	add(len(plain))
	return list
}

// allowed reports whether the words lie in a literal message of a product.
func allowed(words string, at []int) bool {
	for _, literal := range literals {
		for from := 0; ; {
			i := strings.Index(words[from:], literal)
			if i < 0 {
				break
			}
			if from+i <= at[0] && at[1] <= from+i+len(literal) {
				return true
			}
			from += i + 1
		}
	}
	return false
}
