package reader

import (
	"io"

	"github.com/rollcall-project/rollcall/internal/backlog"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Skimmer picks the lines of texts that a Reader will look at: those with a
// signature, and of those in front of one all that may be part of a secret over several
// lines. A source that can read its texts only once keeps these and leaves the others.
//
// Invariant: a Reader with the same signatures finds in the lines that were kept
// what it would find in the whole text.
type Skimmer struct {
	set    *scan.Set
	clean  *sanitize.Sanitizer
	limits Limits

	buffers *backlog.Pool
}

// NewSkimmer returns a skimmer for a Reader with these signatures and limits.
func NewSkimmer(signatures *scan.Set, s *sanitize.Sanitizer, limits Limits) *Skimmer {
	return &Skimmer{set: signatures, clean: s, limits: limits.withDefaults(), buffers: &backlog.Pool{}}
}

// Skim calls keep for the lines of a text that matter, with their numbers. It
// returns how reading ended: nil at the end of the text, an error of its own where the
// text has no line. An error of keep ends it.
func (k *Skimmer) Skim(in io.Reader, keep func(n int, line []byte) error) error {
	lines := k.limits.lines(in)
	clean := k.clean.Lines()
	defer clean.Done()
	waiting, next := k.buffers.Lines(), 1 // the number of the first that waits
	defer waiting.Drop()
	spans := func(raw []byte) error {
		n := next
		if next++; !clean.Spans(raw) {
			return nil
		}
		clean.Follow(raw)
		return keep(n, raw)
	}
	for lines.next() {
		hit := len(k.set.Find(lines.raw)) > 0
		if !hit && waiting.Add(lines.raw) {
			continue
		}
		if err := waiting.Drain(spans); err != nil {
			return err
		}
		if !hit { // too much has waited
			waiting.Add(lines.raw)
			continue
		}
		clean.Follow(lines.raw)
		if err := keep(lines.n, lines.raw); err != nil {
			return err
		}
		next = lines.n + 1
	}
	if lines.n == 1 && lines.err == nil {
		return errEmptyLog
	}
	return lines.err
}

// serves reports whether the lines that were kept will do for a reader.
func serves(s *evidence.Skimmed, r *Reader) bool {
	if s == nil || r.record != nil {
		return false
	}
	k, ok := s.By.(*Skimmer)
	return ok && k.set == r.scan && k.limits == r.limits
}
