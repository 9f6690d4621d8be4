package scan

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// filter finds literals by samples of the text. Every few bytes it takes a gram and looks it
// up in a set of bits; where the bit is set, the literals with this gram are compared. Each
// literal is entered once for each remainder of the distance between samples, so that
// exactly one of its grams is met wherever it begins. The look-ups do not depend on one
// another, which is what makes this several times faster than an automaton.
//
// Literals that are long enough have long grams, which hardly occur without them, far apart.
// The few that are short have a table of their own.
type filter struct {
	literals    []string
	long, short table
	// The sets of bits for grams: of fixed sizes, which saves the loop its checks of bounds.
	rare *[1 << longBits / 64]uint64
	few  *[1 << shortBits / 64]uint64
}

// table finds literals by grams of one length.
type table struct {
	gram, stride int
	mask         uint64  // of the bytes of a gram
	entries      []entry // sorted by key
	slots        []slot  // open addressing; a power of two
}

// entry is a literal with the gram by which it is found.
type entry struct {
	key     uint64
	literal int32
	offset  int32 // of the gram in the literal
}

// slot leads from a gram to its entries.
type slot struct {
	key      uint64
	from, to int32 // entries; the same in a free slot
}

const (
	shortest   = 3 // bytes of a literal: what is shorter is never rare
	longGram   = 6
	longStride = 8
	shortGram  = 4
	wordSize   = 8                  // bytes that are looked at at once
	longBits   = 17                 // log of the size of rare: 16 KiB, half of a first-level cache
	secondBit  = 24                 // of a hash: where its second number of a bit begins
	shortBits  = 15                 // of few
	fold       = 0x2020202020202020 // makes letters lower case; what else it makes equal is compared later
	spread     = 0x9E3779B97F4A7C15 // Fibonacci hashing
)

// newFilter enters literals, which are in lower case and not too short.
func newFilter(literals []string) *filter {
	var long, short []int
	least := shortGram + longStride
	for i, l := range literals {
		if len(l) >= longGram+longStride-1 {
			long = append(long, i)
			continue
		}
		short = append(short, i)
		least = min(least, len(l))
	}
	gram, stride := min(shortGram, least), 1
	if least > gram {
		stride = 2
	}
	common := gramsOf(literals)
	f := &filter{
		literals: literals,
		long:     newTable(longGram, longStride, literals, long, common),
		short:    newTable(gram, stride, literals, short, common),
		rare:     new([1 << longBits / 64]uint64),
		few:      new([1 << shortBits / 64]uint64),
	}
	for _, e := range f.long.entries {
		hash := e.key * spread
		for _, h := range []uint64{hash >> (64 - longBits), hash >> secondBit % (1 << longBits)} {
			f.rare[h/64] |= 1 << (h % 64)
		}
	}
	for _, e := range f.short.entries {
		h := e.key * spread >> (64 - shortBits)
		f.few[h/64] |= 1 << (h % 64)
	}
	return f
}

// newTable enters some of literals, each with its rarest gram for each remainder.
func newTable(gram, stride int, literals []string, of []int, common *grams) table {
	t := table{gram: gram, stride: stride, mask: math.MaxUint64 >> (8 * (wordSize - gram))}
	for _, i := range of {
		l := literals[i]
		for remainder := range stride {
			best, least := remainder, float32(math.MaxFloat32)
			for o := remainder; o+gram <= len(l); o += stride {
				if w := common.weight(l[o : o+gram]); w < least {
					best, least = o, w
				}
			}
			t.entries = append(t.entries, entry{t.key([]byte(l), best), int32(i), int32(best)})
		}
	}
	slices.SortFunc(t.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.literal, b.literal))
	})
	t.index()
	return t
}

// index fills slots.
func (t *table) index() {
	size := 16
	for size < 2*len(t.entries) {
		size *= 2
	}
	t.slots = make([]slot, size)
	for from := 0; from < len(t.entries); {
		key, to := t.entries[from].key, from+1
		for to < len(t.entries) && t.entries[to].key == key {
			to++
		}
		at := t.home(key)
		for t.slots[at].to > 0 {
			at = (at + 1) & (len(t.slots) - 1)
		}
		t.slots[at] = slot{key, int32(from), int32(to)}
		from = to
	}
}

func (t *table) home(key uint64) int { return int(key*spread>>32) & (len(t.slots) - 1) }

// with returns the entries of a gram.
func (t *table) with(key uint64) []entry {
	for at := t.home(key); t.slots[at].to > 0; at = (at + 1) & (len(t.slots) - 1) {
		if s := t.slots[at]; s.key == key {
			return t.entries[s.from:s.to]
		}
	}
	return nil
}

// key is the gram at a position, of which the last bytes may be missing in the text.
func (t *table) key(text []byte, at int) uint64 {
	if at+wordSize <= len(text) {
		return (binary.LittleEndian.Uint64(text[at:]) | fold) & t.mask
	}
	var word [wordSize]byte
	copy(word[:], text[at:])
	return (binary.LittleEndian.Uint64(word[:]) | fold) & t.mask
}

// find calls found for each literal in text, with its end, ordered by the sample that
// found it. A false return ends it.
func (f *filter) find(text []byte, found func(literal, end int) bool) {
	for at := 0; at < len(text); at += longStride {
		if f.short.stride > 1 {
			at += f.skip(text[at:])
		}
		if at+longGram <= len(text) {
			if key := f.long.key(text, at); f.mayBeLong(key) && !f.compare(&f.long, text, at, key, found) {
				return
			}
		}
		if !f.shortIn(text, at, at+longStride, found) {
			return
		}
	}
}

// skip returns how many bytes of text begin no sample of which a bit is set, all but the last
// few. It calls nothing and keeps what it needs in registers: here is most of the time.
func (f *filter) skip(text []byte) int {
	rare, few, mask := f.rare, f.few, f.short.mask
	rest := text
	for len(rest) >= longStride+wordSize {
		word := binary.LittleEndian.Uint64(rest) | fold
		hash := (word & (1<<(8*longGram) - 1)) * spread
		h, second := hash>>(64-longBits), hash>>secondBit%(1<<longBits)
		bits := rare[h/64] >> (h % 64) & (rare[second/64] >> (second % 64))
		bits |= bit(few, word&mask) | bit(few, word>>16&mask) | bit(few, word>>32&mask)
		bits |= bit(few, (uint64(binary.LittleEndian.Uint32(rest[6:]))|fold)&mask)
		if bits&1 != 0 {
			break
		}
		rest = rest[longStride:]
	}
	return len(text) - len(rest)
}

// mayBeLong reports whether the bits of a gram of long literals are set.
func (f *filter) mayBeLong(key uint64) bool {
	hash := key * spread
	h, second := hash>>(64-longBits), hash>>secondBit%(1<<longBits)
	return f.rare[h/64]>>(h%64)&(f.rare[second/64]>>(second%64))&1 != 0
}

// bit is the bit of a gram, as the lowest one of several.
func bit(few *[1 << shortBits / 64]uint64, key uint64) uint64 {
	h := key * spread >> (64 - shortBits)
	return few[h/64] >> (h % 64)
}

// shortIn looks for the short literals by the samples in a part of text.
func (f *filter) shortIn(text []byte, from, to int, found func(literal, end int) bool) bool {
	for at := from; at < to && at+f.short.gram <= len(text); at += f.short.stride {
		key := f.short.key(text, at)
		if bit(f.few, key)&1 != 0 && !f.compare(&f.short, text, at, key, found) {
			return false
		}
	}
	return true
}

// compare calls found for the literals around a gram.
func (f *filter) compare(t *table, text []byte, at int, key uint64, found func(literal, end int) bool) bool {
	for _, e := range t.with(key) {
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

// everyday are words of which a log of a cluster is full, whatever it is about.
const everyday = " kube kubelet kubernetes cluster from local localhost ready true false http https time sync name " +
	" namespace machine request proxy node image update read address connect for with not the and to " +
	" network operator openshift version error failed failure status state start started starting stop wait waiting " +
	" container controller config pod service server client certificate secret token object boot bootstrap " +
	" resource message reason type info level warning success successfully master worker host render rendered " +
	" release install installer control plane api apiserver etcd system event volume mount "

// grams tells how common grams are.
type grams struct {
	// pairs has the logarithm of how often two bytes are side by side in the literals: what
	// is common in them is common in the texts, too.
	pairs [1 << 16]float32
	words map[string]bool // the grams of everyday words
}

func gramsOf(literals []string) *grams {
	g := &grams{words: map[string]bool{}}
	for _, l := range literals {
		for i := range len(l) - 1 {
			g.pairs[pair(l, i)]++
		}
	}
	for i, n := range g.pairs {
		if n > 0 {
			g.pairs[i] = float32(math.Log(float64(1 + n)))
		}
	}
	for i := range len(everyday) - shortGram + 1 {
		g.words[everyday[i:i+shortGram]] = true
	}
	return g
}

func pair(text string, at int) int { return int(text[at])<<8 | int(text[at+1]) }

// weight is how common a gram of a literal is.
func (g *grams) weight(gram string) (sum float32) {
	for i := range len(gram) - 1 {
		sum += g.pairs[pair(gram, i)]
	}
	for i := 0; i+shortGram <= len(gram); i++ {
		if g.words[gram[i:i+shortGram]] {
			sum *= 2
		}
	}
	return sum
}
