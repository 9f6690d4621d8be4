package evidence

import (
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence/scan"
)

// Skimmer picks the lines of texts that a Reader will look at: those with a
// signature, and those that may be part of a secret over several lines. A source
// that can read its texts only once keeps these and leaves the others.
//
// Invariant: a Reader with the same signatures finds in the lines that were kept
// what it would find in the whole text.
type Skimmer struct {
	set    *scan.Set
	clean  *Sanitizer
	limits Limits
}

// NewSkimmer returns a skimmer for a Reader with these signatures and limits.
func NewSkimmer(signatures *scan.Set, s *Sanitizer, limits Limits) *Skimmer {
	return &Skimmer{set: signatures, clean: s, limits: limits.withDefaults()}
}

// Skim calls keep for the lines of a text that matter, with their numbers. It
// returns how reading ended: nil at the end of the text. An error of keep ends it.
func (k *Skimmer) Skim(in io.Reader, keep func(n int, line []byte) error) error {
	lines := k.limits.lines(in)
	clean := k.clean.Lines()
	for lines.next() {
		if len(k.set.Find(lines.raw)) == 0 && !clean.spans(lines.raw) {
			continue // as Reader.line
		}
		clean.follow(string(lines.raw))
		if err := keep(lines.n, lines.raw); err != nil {
			return err
		}
	}
	return lines.err
}

// Skimmed are the lines that a Skimmer kept of a text.
type Skimmed struct {
	By *Skimmer
	// Each calls yield for the lines in their order, and returns how reading the
	// text ended.
	Each func(yield func(n int, line []byte) error) error
}

// serves reports whether the lines will do for a reader.
func (s *Skimmed) serves(r *Reader) bool {
	return s != nil && r.record == nil && s.By.set == r.scan && s.By.limits == r.limits
}

// follow does to the state of a stream what Line does, and makes no text.
func (s *Sanitizer) follow(v string) {
	switch begin, end := -1, -1; {
	case s.inside == 0 && !strings.Contains(v, "-----"):
	default:
		begin, end = last(keyBegin, v), last(keyEnd, v)
		if s.inside > 0 || begin > end {
			s.spanKey(begin, end)
			return
		}
	}
	if s.block.left > 0 {
		if _, ok := s.block.next(s, v); ok {
			return
		}
	}
	s.block = opened(v)
	if endsWrapped(v) {
		s.openBlob(v, s.Text(v))
	}
}

// endsWrapped is a quick look for what wrapped matches.
func endsWrapped(v string) bool {
	const run = 60
	if len(v) < run {
		return false
	}
	for i := len(v) - run; i < len(v); i++ {
		if sixBits[v[i]] == 0xff {
			return false
		}
	}
	return true
}
