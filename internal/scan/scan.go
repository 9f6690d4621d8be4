// Package scan finds many signatures in lines of text in one pass.
//
// A signature is a literal that rarely occurs elsewhere and, where the literal
// alone does not decide, a regular expression that is tried only on lines that
// carry the literal. Matching ignores the case of ASCII letters, because the
// programs' own spelling changed between releases (for example
// openshift/machine-config-operator lower-cased the first letter of many errors).
package scan

import "regexp"

// Signature is one thing to look for.
type Signature struct {
	ID      string
	Literal string         // at least three bytes, ASCII letters in lower case
	Pattern *regexp.Regexp // optional; groups are handed to the caller
}

// Set is a compiled list of signatures. It is safe for concurrent use.
type Set struct {
	signatures []Signature
	machine    *machine
}

// Hit is one signature found in a line.
type Hit struct {
	ID     string
	Groups []string // of Pattern, [0] is the whole match; nil without a Pattern
}

// Find returns the signatures that line carries, in the order of the list.
func (s *Set) Find(line []byte) []Hit {
	ids := s.machine.find(line)
	if len(ids) == 0 {
		return nil
	}
	hits := make([]Hit, 0, len(ids))
	for _, i := range ids {
		sig := s.signatures[i]
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
// where it ends, in order. A false return ends it. Patterns are not tried.
func (s *Set) Positions(block []byte, found func(signature, end int) bool) {
	m := s.machine
	row := int32(0)
	for i, c := range block {
		row = m.step[int(row)+int(m.class[c])]
		if row >= 0 {
			continue
		}
		row = -row
		for _, id := range m.out[int(row)/m.width] {
			if !found(int(id), i+1) {
				return
			}
		}
	}
}
