package scan

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// filter finds literals by samples of the text. Every stride bytes it takes a gram of a few
// bytes and looks it up in a set of bits; where the bit is set, the literals with this gram
// are compared. Each literal is entered once for each remainder of stride, so that one of
// its grams is met wherever it begins. The look-ups do not depend on one another, which is
// what makes this several times faster than an automaton.
type filter struct {
	gram, stride int
	mask         uint32 // of the bytes of a gram
	bits         []uint64
	entries      []entry // sorted by key
	slots        []slot  // open addressing; a power of two
	literals     []string
}

// entry is a literal with the gram by which it is found.
type entry struct {
	key     uint32
	literal int32
	offset  int32 // of the gram in the literal
}

// slot leads from a gram to its entries.
type slot struct {
	key      uint32
	from, to int32 // entries; the same in a free slot
}

const (
	shortest = 3 // bytes of a literal: what is shorter is never rare
	longest  = 4 // bytes of a gram
	widest   = 4 // stride
	bitsLog  = 17
	fold     = 0x20202020 // makes letters lower case; what else it makes equal is compared later
	spread   = 0x9E3779B1 // Fibonacci hashing
)

// newFilter enters literals, which are in lower case and not too short.
func newFilter(literals []string) *filter {
	least := longest + widest
	for _, l := range literals {
		least = min(least, len(l))
	}
	f := &filter{literals: literals, gram: min(longest, least), bits: make([]uint64, 1<<bitsLog/64)}
	f.stride = min(widest, least-f.gram+1)
	f.mask = math.MaxUint32 >> (8 * (longest - f.gram))
	f.enter(pairsOf(literals))
	f.index()
	return f
}

// enter chooses for each literal and remainder the rarest gram.
func (f *filter) enter(common pairs) {
	for i, l := range f.literals {
		best := make([]int, f.stride)
		for r := range best {
			best[r] = r
		}
		for o := 0; o+f.gram <= len(l); o++ {
			r := o % f.stride
			if common.weight(l[o:o+f.gram]) < common.weight(l[best[r]:best[r]+f.gram]) {
				best[r] = o
			}
		}
		for _, o := range best {
			f.entries = append(f.entries, entry{f.key([]byte(l), o), int32(i), int32(o)})
		}
	}
	slices.SortFunc(f.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.literal, b.literal))
	})
}

// index fills bits and slots.
func (f *filter) index() {
	size := 16
	for size < 2*len(f.entries) {
		size *= 2
	}
	f.slots = make([]slot, size)
	for from := 0; from < len(f.entries); {
		key, to := f.entries[from].key, from+1
		for to < len(f.entries) && f.entries[to].key == key {
			to++
		}
		h := key * spread >> (32 - bitsLog)
		f.bits[h/64] |= 1 << (h % 64)
		at := f.home(key)
		for f.slots[at].to > 0 {
			at = (at + 1) & (len(f.slots) - 1)
		}
		f.slots[at] = slot{key, int32(from), int32(to)}
		from = to
	}
}

func (f *filter) home(key uint32) int { return int(key*spread>>8) & (len(f.slots) - 1) }

// with returns the entries of a gram.
func (f *filter) with(key uint32) []entry {
	for at := f.home(key); f.slots[at].to > 0; at = (at + 1) & (len(f.slots) - 1) {
		if s := f.slots[at]; s.key == key {
			return f.entries[s.from:s.to]
		}
	}
	return nil
}

// key is the gram at a position, of which the last bytes may be missing in the text.
func (f *filter) key(text []byte, at int) uint32 {
	var gram [longest]byte
	copy(gram[:], text[at:])
	return (binary.LittleEndian.Uint32(gram[:]) | fold) & f.mask
}

// find calls found for each literal in text, with its end, ordered by the sample that
// found it. A false return ends it.
func (f *filter) find(text []byte, found func(literal, end int) bool) {
	if len(f.entries) == 0 {
		return
	}
	at, mask, stride, bits := 0, f.mask, f.stride, f.bits
	for ; at+longest <= len(text); at += stride {
		key := (binary.LittleEndian.Uint32(text[at:]) | fold) & mask
		h := key * spread >> (32 - bitsLog)
		if bits[h/64]&(1<<(h%64)) != 0 && !f.compare(text, at, key, found) {
			return
		}
	}
	for ; at+f.gram <= len(text); at += stride {
		if !f.compare(text, at, f.key(text, at), found) {
			return
		}
	}
}

// compare calls found for the literals around a gram.
func (f *filter) compare(text []byte, at int, key uint32, found func(literal, end int) bool) bool {
	for _, e := range f.with(key) {
		l := f.literals[e.literal]
		from := at - int(e.offset)
		if from < 0 || from+len(l) > len(text) || !equalFold(text[from:from+len(l)], l) {
			continue
		}
		if !found(int(e.literal), from+len(l)) {
			return false
		}
	}
	return true
}

// equalFold compares text with a literal in lower case. Only ASCII letters have cases.
func equalFold(text []byte, lower string) bool {
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// pairs is how often two bytes stand side by side in the literals: what is common in them
// is common in the texts, too.
type pairs map[[2]byte]int

func pairsOf(literals []string) pairs {
	p := pairs{}
	for _, l := range literals {
		for i := range len(l) - 1 {
			p[[2]byte{l[i], l[i+1]}]++
		}
	}
	return p
}

func (p pairs) weight(gram string) float64 {
	sum := 0.0
	for i := range len(gram) - 1 {
		sum += math.Log(float64(1 + p[[2]byte{gram[i], gram[i+1]}]))
	}
	return sum
}
