package message

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// pattern is an expression over a line that is plain and in lower case. Most lines on which
// it is tried do not match: one of its literals is missing, which is seen much faster.
type pattern struct {
	needs [][][]byte            // a line that matches has at least one literal of each group
	expr  func() *regexp.Regexp // compiled when it is first tried: most never are
	same  bool                  // it has the group sameGroup
}

// sameGroup is the group of an expression whose value two lines have to have: they are of one object.
const sameGroup = "same"

// compile reads an expression that ignores case.
func compile(expr string) (*pattern, error) {
	if expr == "" {
		return nil, nil
	}
	expr = lower(expr)
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p := &pattern{expr: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }), same: strings.Contains(expr, "(?P<"+sameGroup+">")}
	for _, g := range required(re) {
		var group [][]byte
		for _, literal := range g {
			group = append(group, []byte(literal))
		}
		p.needs = append(p.needs, group)
	}
	return p, nil
}

// in reports whether a line matches.
func (p *pattern) in(line []byte) bool {
	for _, group := range p.needs {
		if !slices.ContainsFunc(group, func(l []byte) bool { return bytes.Contains(line, l) }) {
			return false
		}
	}
	return p.expr().Match(line)
}

// inOf reports whether a line matches that is of the same object as another one, where the expression names it.
func (p *pattern) inOf(line, other []byte) bool {
	if !p.same || !p.in(line) {
		return p.in(line)
	}
	m := p.expr().FindSubmatch(line)
	return bytes.Contains(other, m[p.expr().SubexpIndex(sameGroup)])
}

// lower rewrites an expression that ignores case for text that is in lower case: it is then
// tried without looking up the other cases of each letter. What is behind a backslash stays:
// \S is not \s. The few expressions with names in them, of classes or groups, ignore case as
// they are.
func lower(expr string) string {
	if named.MatchString(expr) {
		return "(?i)" + expr
	}
	text := []byte(expr)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c >= 'A' && c <= 'Z':
			text[i] += 'a' - 'A'
		}
	}
	return string(text)
}

var named = regexp.MustCompile(`\\[pPxQ]|\[:|\(\?[^:]`)

const (
	leastRequired = 3 // how long a literal is that decides much: shorter ones are everywhere
	mostGroups    = 8
)

// required are groups of literals: each match has at least one literal of every group.
func required(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) >= leastRequired {
			return [][]string{{strings.ToLower(string(re.Rune))}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var all [][]string
		for _, sub := range re.Sub {
			all = append(all, required(sub)...)
		}
		return all[:min(len(all), mostGroups)]
	case syntax.OpAlternate:
		// A group of each branch, in every combination, is a group of the whole.
		all := [][]string{nil}
		for _, sub := range re.Sub {
			var next [][]string
			for _, group := range all {
				for _, more := range required(sub) {
					next = append(next, slices.Concat(group, more))
				}
			}
			all = next[:min(len(next), mostGroups)]
		}
		return all
	}
	return nil
}
