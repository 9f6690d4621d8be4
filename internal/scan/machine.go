package scan

import (
	"fmt"
	"slices"
)

// machine is a flat Aho-Corasick automaton over byte classes: one table look-up
// a byte, no allocation on lines that carry nothing.
type machine struct {
	class [256]uint8 // byte -> class, letters folded to lower case
	width int        // number of classes
	next  []int32    // state*width+class -> state
	out   [][]int32  // state -> literals that end here
	// step is next for the long way: the row where a state begins, negated where literals
	// end there. A byte costs one look-up in it and one in class.
	step []int32
}

// Compile builds the automaton. It fails on a literal that is too short to be
// rare or that is not lower case, because such a literal would never or always hit.
func Compile(signatures []Signature) (*Set, error) {
	for _, s := range signatures {
		if len(s.Literal) < 3 {
			return nil, fmt.Errorf("compile signature %q: literal %q is shorter than 3 bytes", s.ID, s.Literal)
		}
		if slices.ContainsFunc([]byte(s.Literal), func(c byte) bool { return c >= 'A' && c <= 'Z' }) {
			return nil, fmt.Errorf("compile signature %q: literal %q is not lower case", s.ID, s.Literal)
		}
	}
	m := &machine{}
	m.classes(signatures)
	m.trie(signatures)
	m.link()
	m.steps()
	return &Set{signatures: slices.Clone(signatures), machine: m}, nil
}

// classes gives every byte that occurs in a literal a class of its own; all
// others share class 0, so the table stays small.
func (m *machine) classes(signatures []Signature) {
	n := uint8(1)
	for _, s := range signatures {
		for i := range len(s.Literal) {
			c := s.Literal[i]
			if m.class[c] == 0 {
				m.class[c] = n
				n++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		m.class[c] = m.class[c+'a'-'A']
	}
	m.width = int(n)
}

func (m *machine) trie(signatures []Signature) {
	m.grow()
	for i, s := range signatures {
		state := 0
		for j := range len(s.Literal) {
			at := state*m.width + int(m.class[s.Literal[j]])
			if m.next[at] < 0 {
				m.next[at] = int32(len(m.out))
				m.grow()
			}
			state = int(m.next[at])
		}
		m.out[state] = append(m.out[state], int32(i))
	}
}

func (m *machine) grow() {
	for range m.width {
		m.next = append(m.next, -1)
	}
	m.out = append(m.out, nil)
}

// link turns the trie into a complete automaton: every missing edge leads where
// the longest suffix that is still a prefix would lead.
func (m *machine) link() {
	fail := make([]int32, len(m.out))
	var queue []int32
	for c := range m.width {
		if s := m.next[c]; s > 0 {
			queue = append(queue, s)
		} else {
			m.next[c] = 0
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		m.out[s] = append(m.out[s], m.out[fail[s]]...)
		for c := range m.width {
			at := int(s)*m.width + c
			if t := m.next[at]; t >= 0 {
				fail[t] = m.next[int(fail[s])*m.width+c]
				queue = append(queue, t)
			} else {
				m.next[at] = m.next[int(fail[s])*m.width+c]
			}
		}
	}
}

// steps fills step. The first row has no literal: its state is that before the text.
func (m *machine) steps() {
	m.step = make([]int32, len(m.next))
	for i, state := range m.next {
		m.step[i] = state * int32(m.width)
		if m.out[state] != nil {
			m.step[i] = -m.step[i]
		}
	}
}

// find returns the indexes of the literals in line, sorted, without repeats.
func (m *machine) find(line []byte) []int32 {
	var ids []int32
	state := int32(0)
	for _, c := range line {
		state = m.next[int(state)*m.width+int(m.class[c])]
		if out := m.out[state]; out != nil {
			ids = append(ids, out...)
		}
	}
	if len(ids) > 1 {
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}
