package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// Signatures returns the ids that Matches can be asked for and that begin with prefix, sorted.
func (r *Reader) Signatures(prefix string) []string { return r.scan.IDs(prefix) }

// Matches returns the lines of the selected texts that carry a signature, in the
// order of the texts and lines. All signatures are found in one pass over each text.
func (r *Reader) Matches(ctx context.Context, q evidence.TextQuery, signature string) ([]evidence.Match, error) {
	if signature != "" && !r.scan.Has(signature) {
		return nil, fmt.Errorf("search %s: no message of the catalog has the id %q", q, signature)
	}
	r.mu.Lock()
	c := r.texts[q]
	if c == nil {
		c = &textsCell{}
		r.texts[q] = c
	}
	r.mu.Unlock()
	c.once.Do(func() { r.readTexts(ctx, q, c) })
	if c.err != nil {
		return nil, c.err
	}
	return c.matches[signature], nil
}

// Gaps returns the texts of a query that are there, or should be, and were not read to
// their end: cut, not opened, not asked for, or missing though their pod is listed with
// a container that has run. What they would show is not known. A text of which only the
// source knows that it is there has the query's fields and no more.
//
// Where nothing at all could be read Matches says so; here are then the texts of
// which it is known that they are there or may be.
func (r *Reader) Gaps(ctx context.Context, q evidence.TextQuery) ([]evidence.TextGap, error) {
	_, err := r.Matches(ctx, q, "")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.texts[q].gaps, nil
}

// errNotUrgent is why a text was not read that an Urgency left out.
var errNotUrgent = errors.New("not read: nothing else shows a problem there")

// chosen returns which texts are read.
func (r *Reader) chosen(ctx context.Context, all []evidence.Text) func(evidence.Text) bool {
	if r.few == 0 || len(all) <= r.few {
		return func(evidence.Text) bool { return true }
	}
	chosen, left := r.urgent(ctx, r), r.few
	return func(t evidence.Text) bool {
		if left == 0 || !chosen(t) {
			return false
		}
		left--
		return true
	}
}

func (r *Reader) readTexts(ctx context.Context, q evidence.TextQuery, c *textsCell) {
	need := evidence.Texts(q)
	var all []evidence.Text
	var unread []evidence.Text
	var missing *evidence.Unavailable
	none := false // a source that could have such a text has none
	for _, s := range r.sources {
		list, err := s.Texts(ctx, q)
		if u, ok := evidence.AsUnavailable(err); ok {
			missing = worseReason(missing, u)
			if all = append(all, list...); u.Why.MayHideObjects() || len(list) > 0 {
				unread = append(unread, unreadText(q, u))
			}
			continue
		}
		if err != nil {
			c.err = fmt.Errorf("list texts of %s: %w", need, err)
			return
		}
		none = none || len(list) == 0
		all = append(all, list...)
	}
	if len(all) == 0 {
		for _, t := range r.withoutLog(ctx, q, nil) {
			c.gaps = append(c.gaps, evidence.TextGap{Text: closed(t), Why: errNoLog.Error()})
		}
		if missing == nil || none && missing.Why == evidence.NotCollected {
			missing = &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "no such text in the source"}
		}
		missing = r.clean(missing)
		if missing.Why.MayHideObjects() {
			c.gaps = []evidence.TextGap{{Text: anyText(q), Why: reason(missing)}}
		}
		r.note(need, evidence.Coverage{State: evidence.Missing, Reason: reason(missing), Supply: missing.Supply, Damaged: missing.Why == evidence.Damaged})
		c.err = errors.Join(missing, r.recordMissing(need, missing))
		return
	}
	all = append(append(all, unread...), r.withoutLog(ctx, q, all)...)
	desc, err := r.Describe(ctx)
	if err != nil {
		c.err = err
		return
	}
	found := make([]map[string][]evidence.Match, len(all))
	failed := make([]error, len(all))
	var group crash.Group
	group.SetLimit(r.limits.Parallel)
	chosen := r.chosen(ctx, all)
	for i, t := range all {
		if !chosen(t) {
			failed[i] = errors.Join(errNotUrgent, r.recordUnread(need, i, t))
			continue
		}
		group.Go(func() error {
			found[i], failed[i] = r.readText(ctx, need, i, t, desc.Now)
			return nil
		})
	}
	_ = group.Wait() // readText's errors are kept per text
	if err := ctx.Err(); err != nil {
		c.err = fmt.Errorf("read %s: %w", need, err)
		return
	}
	r.forgiveEmpty(ctx, q, all, failed)
	r.collect(need, c, all, found, failed, r.quietLosses(ctx, q, failed))
}

// unreadText stands for the texts that a source may have and could not read.
func unreadText(q evidence.TextQuery, u *evidence.Unavailable) evidence.Text {
	t := anyText(q)
	t.Open = func(context.Context) (io.ReadCloser, error) {
		if u.Why == evidence.Damaged {
			return nil, &evidence.Damage{Detail: reason(u)}
		}
		return nil, errors.New(reason(u))
	}
	return t
}

// anyText is a text of a query of which nothing else is known.
func anyText(q evidence.TextQuery) evidence.Text {
	return evidence.Text{Kind: q.Kind, Cluster: q.Cluster, Namespace: q.Namespace, Container: q.Container, Host: q.Host, Unit: q.Unit, Path: q.String()}
}

// recordUnread notes that a text is there and was not read.
func (r *Reader) recordUnread(need evidence.Need, index int, t evidence.Text) error {
	if r.record == nil {
		return nil
	}
	out, err := r.record.Text(need, index, t)
	if err != nil {
		return fmt.Errorf("record %s: %w", t.Path, err)
	}
	return out.Close(errNotUrgent)
}

// collect joins what was found; a text that broke makes the coverage partial,
// and the need unavailable when no text could be read at all. Texts of pods in quiet that were lost do not
// make it damaged.
func (r *Reader) collect(
	need evidence.Need, c *textsCell, all []evidence.Text, found []map[string][]evidence.Match, failed []error, quiet map[[2]string]bool,
) {
	c.matches = map[string][]evidence.Match{}
	var why broken
	damaged := false
	for i, t := range all {
		if failed[i] != nil {
			damaged = damaged || evidence.IsDamage(failed[i]) && !(quiet[[2]string{t.Namespace, t.Pod}] && isLost(failed[i]))
			left := why.add(t, failed[i])
			c.gaps = append(c.gaps, evidence.TextGap{Text: closed(t), Why: failed[i].Error(), NotAsked: left})
		}
		for id, ms := range found[i] {
			c.matches[id] = append(c.matches[id], ms...)
		}
	}
	read := len(all) - why.count
	switch {
	case read == 0 && why.left == 0:
		u := &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: why.String()}
		r.note(need, evidence.Coverage{State: evidence.Missing, Reason: reason(u), Damaged: damaged})
		c.err = u
	case why.count > 0:
		r.note(need, evidence.Coverage{State: evidence.Partial, Count: read, Reason: why.String(), Damaged: damaged})
	default:
		r.note(need, evidence.Coverage{State: evidence.Read, Count: read})
	}
}

// broken is what could not be read of a query, a few texts by name.
type broken struct {
	count int // of texts
	left  int // of those, not asked for
	named []string
}

// namedBroken is how many texts are named: a cluster has thousands.
const namedBroken = 5

// add takes a text that was not read, and says whether that was on purpose.
func (b *broken) add(t evidence.Text, err error) (left bool) {
	b.count++
	if strings.HasPrefix(err.Error(), errNotUrgent.Error()) || strings.HasSuffix(err.Error(), errNotUrgent.Error()) {
		b.left++
		return true
	}
	if len(b.named) < namedBroken {
		b.named = append(b.named, t.Path+": "+err.Error())
	}
	return false
}

func (b *broken) String() string {
	list := b.named
	if more := b.count - b.left - len(b.named); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	if b.left > 0 {
		list = append(list, fmt.Sprintf("%d were not read: nothing else shows a problem there", b.left))
	}
	return strings.Join(list, "; ")
}

// readText reads one text to its end. What came before a failure is kept.
func (r *Reader) readText(ctx context.Context, need evidence.Need, index int, t evidence.Text, now time.Time) (found map[string][]evidence.Match, err error) {
	var out TextWriter
	var cause error // what broke the text itself, for the record
	if r.record != nil {
		if out, err = r.record.Text(need, index, t); err != nil {
			return nil, fmt.Errorf("record %s: %w", t.Path, err)
		}
		defer func() { err = errors.Join(err, out.Close(cause)) }()
	}
	if serves(t.Skimmed, r) {
		return r.readSkimmed(ctx, t, now)
	}
	in, err := t.Open(ctx)
	if err != nil {
		cause = r.cleanError(err)
		return nil, fmt.Errorf("open %s: %w", t.Path, cause)
	}
	if out != nil {
		out.Opened()
	}
	t.Open, t.Skimmed = nil, nil
	lines := r.limits.lines(in)
	found = map[string][]evidence.Match{}
	clean := r.sanitize.Lines()
	defer clean.Done()
	for lines.next() {
		if err = ctx.Err(); err == nil {
			err = r.line(lines.raw, lines.n, now, t, clean, out, found)
		}
		if err != nil {
			return found, errors.Join(err, in.Close())
		}
	}
	switch {
	case lines.err != nil:
		cause = r.cleanError(lines.err)
		err = fmt.Errorf("read %s line %d: %w", t.Path, lines.n, cause)
	case lines.n == 1:
		err = errEmptyLog
	}
	return found, errors.Join(err, in.Close())
}

// readSkimmed is readText over the lines that matter, which a source kept.
func (r *Reader) readSkimmed(ctx context.Context, t evidence.Text, now time.Time) (map[string][]evidence.Match, error) {
	found := map[string][]evidence.Match{}
	clean := r.sanitize.Lines()
	defer clean.Done()
	each := t.Skimmed.Each
	t.Open, t.Skimmed = nil, nil
	err := each(func(n int, line []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return r.line(line, n, now, t, clean, nil, found)
	})
	if err != nil && !errors.Is(err, errEmptyLog) {
		err = fmt.Errorf("read %s: %w", t.Path, r.cleanError(err))
	}
	return found, err
}

func (r *Reader) cleanError(err error) error {
	text := r.sanitize.Text(err.Error())
	switch {
	case text == err.Error():
		return err
	case evidence.IsDamage(err):
		return &evidence.Damage{Detail: text}
	}
	return errors.New(text)
}

// lineReader splits a text into lines. A line that is longer than the buffer is
// cut; what is left of it is dropped.
type lineReader struct {
	from  io.Reader // behind in
	in    *bufio.Reader
	limit int64
	raw   []byte // of the current line, valid until next
	n     int    // its number, or the number of the line that could not be read
	long  []byte
	err   error
}

// lines splits a text within the limits.
func (l Limits) lines(in io.Reader) *lineReader {
	return &lineReader{from: in, limit: l.TextBytes, in: bufio.NewReaderSize(io.LimitReader(in, l.TextBytes), l.LineBytes)}
}

func (l *lineReader) next() bool {
	l.n++
	if l.err != nil {
		return false
	}
	raw, more, err := l.in.ReadLine()
	if err != nil {
		return l.end(err)
	}
	l.raw = raw
	if more {
		l.long = append(l.long[:0], raw...) // the buffer is used again for the rest
		l.raw = l.long
	}
	for more {
		if _, more, err = l.in.ReadLine(); err != nil {
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
			break
		}
	}
	return true
}

// end tells the end of the text from a text that is too long.
func (l *lineReader) end(err error) bool {
	if !errors.Is(err, io.EOF) {
		l.err = err
		return false
	}
	if n, _ := l.from.Read(make([]byte, 1)); n > 0 {
		l.err = fmt.Errorf("longer than %d bytes, the rest was not read", l.limit)
	}
	return false
}

// line looks at one line.
func (r *Reader) line(raw []byte, n int, now time.Time, t evidence.Text, clean *sanitize.Sanitizer, out io.Writer, found map[string][]evidence.Match) error {
	hits := r.scan.Find(raw)
	if len(hits) == 0 && out == nil {
		clean.Follow(raw)
		return nil
	}
	text := clean.Line(string(raw))
	if out != nil {
		if _, err := io.WriteString(out, text+"\n"); err != nil {
			return fmt.Errorf("record %s: %w", t.Path, err)
		}
	}
	if len(hits) == 0 || sanitize.Redacted(text) {
		return nil
	}
	line := evidence.Line{Text: text, Loc: evidence.Locator{Source: t.Source, Cluster: t.Cluster, Path: t.Path, Line: n}}
	line.Time, _ = evidence.LineTime(text, now)
	for _, h := range r.scan.Find([]byte(text)) {
		found[h.ID] = append(thin(found[h.ID], r.limits.Matches), evidence.Match{Line: line, Text: t, Groups: h.Groups})
	}
	return nil
}

// thin makes room in a full list by dropping a quarter from its middle: when
// something began and whether it still lasts are at the two ends.
func thin(matches []evidence.Match, limit int) []evidence.Match {
	if len(matches) < limit {
		return matches
	}
	return slices.Delete(matches, limit/2, limit/2+limit/4+1)
}
