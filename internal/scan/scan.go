// Package scan finds many signatures in lines of text in one pass.
//
// A signature is a literal that rarely occurs elsewhere and, where the literal
// alone does not decide, a regular expression that is tried only on lines that
// carry the literal. Matching ignores the case of ASCII letters, because the
// programs' own spelling changed between releases (for example
// openshift/machine-config-operator lower-cased the first letter of many errors).
package scan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Signature is one thing to look for.
type Signature struct {
	ID      string         // neighbors in a list may have the same one: they are spellings of it
	Literal string         // at least three bytes, ASCII letters in lower case
	Pattern *regexp.Regexp // optional; groups are handed to the caller
}

// Set is a compiled list of signatures. It is safe for concurrent use.
type Set struct {
	signatures []Signature
	ids        map[string]bool
	filter     *filter
}

// Compile makes a set. It fails on a literal that is too short to be rare or that is not
// lower case, because such a literal would never or always hit.
func Compile(signatures []Signature) (*Set, error) {
	literals, ids := make([]string, len(signatures)), make(map[string]bool, len(signatures))
	for i, s := range signatures {
		literals[i] = s.Literal
		ids[s.ID] = true
		if err := checkLiteral(s.Literal); err != nil {
			return nil, fmt.Errorf("compile signature %q: %w", s.ID, err)
		}
	}
	return &Set{signatures: slices.Clone(signatures), ids: ids, filter: newFilter(literals)}, nil
}

func checkLiteral(l string) error {
	if len(l) < shortest {
		return fmt.Errorf("literal %q is shorter than %d bytes", l, shortest)
	}
	if slices.ContainsFunc([]byte(l), func(c byte) bool { return c >= 'A' && c <= 'Z' }) {
		return fmt.Errorf("literal %q is not lower case", l)
	}
	return nil
}

// Has reports whether a signature of the id is in the set.
func (s *Set) Has(id string) bool { return s.ids[id] }

// IDs returns the ids that begin with prefix, sorted.
func (s *Set) IDs(prefix string) []string {
	var list []string
	for id := range s.ids {
		if strings.HasPrefix(id, prefix) {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// Hit is one signature found in a line.
type Hit struct {
	ID     string
	Groups []string // of Pattern, [0] is the whole match; nil without a Pattern
}

// Find returns the signatures that line carries, in the order of the list.
func (s *Set) Find(line []byte) []Hit {
	var ids []int
	s.filter.find(line, func(literal, _ int) bool {
		ids = append(ids, literal)
		return true
	})
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	hits := make([]Hit, 0, len(ids))
	for _, i := range ids {
		sig := s.signatures[i]
		if n := len(hits); n > 0 && hits[n-1].ID == sig.ID {
			continue // another spelling of the same
		}
		if sig.Pattern == nil {
			hits = append(hits, Hit{ID: sig.ID})
			continue
		}
		if m := sig.Pattern.FindSubmatch(line); m != nil {
			groups := make([]string, len(m))
			for g := range m {
				groups[g] = string(m[g])
			}
			hits = append(hits, Hit{ID: sig.ID, Groups: groups})
		}
	}
	return hits
}

// Positions calls found for every literal in block, with the index of its signature and
// where it ends; line by line, in no order within a line. A false return ends it. Patterns
// are not tried.
func (s *Set) Positions(block []byte, found func(signature, end int) bool) {
	s.filter.find(block, found)
}
