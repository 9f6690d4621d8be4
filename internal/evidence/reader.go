package evidence

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rollcall-project/rollcall/internal/evidence/scan"
)

// Recorder keeps what a Reader read, sanitised. A nil Recorder keeps nothing.
type Recorder interface {
	Objects(n Need, objects []Object) error
	// Text returns where the sanitised lines of t go. It is closed at the end of the text.
	Text(t Text) (io.WriteCloser, error)
	Missing(n Need, u *Unavailable) error
}

// Match is one line that carries a signature.
type Match struct {
	Line   Line
	Text   Text // without Open
	Groups []string
}

// Limits bound what one text may cost. Zero fields mean the defaults.
type Limits struct {
	TextBytes int64 // of one text, after decompression; default 512 MiB
	LineBytes int   // longer lines are cut; default 64 KiB
	Matches   int   // kept per signature and text; default 2,000
	Parallel  int   // texts read at once; default 4
}

func (l Limits) withDefaults() Limits {
	set := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	if l.TextBytes == 0 {
		l.TextBytes = 512 << 20
	}
	set(&l.LineBytes, 64<<10)
	set(&l.Matches, 2000)
	set(&l.Parallel, 4)
	return l
}

// Reader reads sources once, sanitises, remembers what could not be read, and
// hands everything that it read to a Recorder. It is safe for concurrent use.
type Reader struct {
	sources  []Source
	sanitize *Sanitizer
	scan     *scan.Set
	record   Recorder
	limits   Limits

	mu       sync.Mutex
	objects  map[Need]*objectsCell
	texts    map[TextQuery]*textsCell
	coverage map[string]Coverage
}

type objectsCell struct {
	once sync.Once
	list []Object
	by   map[[2]string]int
	err  error
}

type textsCell struct {
	once    sync.Once
	matches map[string][]Match
	count   int
	err     error
}

// NewReader returns a reader of the sources; the first one is the main one.
// signatures are what Matches can be asked for.
func NewReader(signatures *scan.Set, s *Sanitizer, record Recorder, limits Limits, sources ...Source) *Reader {
	return &Reader{
		sources: sources, sanitize: s, scan: signatures, record: record, limits: limits.withDefaults(),
		objects: map[Need]*objectsCell{}, texts: map[TextQuery]*textsCell{}, coverage: map[string]Coverage{},
	}
}

// Describe describes the main source; its Now is the newest of all sources.
func (r *Reader) Describe(ctx context.Context) (Description, error) {
	var first Description
	for i, s := range r.sources {
		d, err := s.Describe(ctx)
		if err != nil {
			return Description{}, fmt.Errorf("describe source: %w", err)
		}
		if i == 0 {
			first = d
		} else if first.Now.IsZero() {
			first.Now = d.Now
		}
	}
	return first, nil
}

// List returns all objects of a resource in a namespace ("" for cluster-scoped
// or all namespaces). The slice is shared: do not change it.
func (r *Reader) List(ctx context.Context, res Resource, namespace string) ([]Object, error) {
	c := r.cell(ctx, Objects(res, namespace))
	return c.list, c.err
}

// Get returns one object. False with a nil error means: looked, not there.
func (r *Reader) Get(ctx context.Context, res Resource, namespace, name string) (Object, bool, error) {
	c := r.cell(ctx, Objects(res, namespace))
	if c.err != nil {
		return Object{}, false, c.err
	}
	i, ok := c.by[[2]string{namespace, name}]
	if !ok {
		return Object{}, false, nil
	}
	return c.list[i], true, nil
}

func (r *Reader) cell(ctx context.Context, n Need) *objectsCell {
	r.mu.Lock()
	c := r.objects[n]
	if c == nil {
		c = &objectsCell{}
		r.objects[n] = c
	}
	r.mu.Unlock()
	c.once.Do(func() { r.readObjects(ctx, n, c) })
	return c
}

func (r *Reader) readObjects(ctx context.Context, n Need, c *objectsCell) {
	var missing *Unavailable
	seen := false
	c.by = map[[2]string]int{}
	for _, s := range r.sources {
		list, err := s.List(ctx, n.Resource, n.Namespace)
		if u, ok := AsUnavailable(err); ok {
			if missing == nil || missing.Why == NotCollected {
				missing = u
			}
			continue
		}
		if err != nil {
			c.err = fmt.Errorf("list %s: %w", n, err)
			return
		}
		seen = true
		for _, o := range list {
			r.merge(c, o)
		}
	}
	if !seen {
		if missing == nil {
			missing = &Unavailable{Need: n, Why: NotCollected}
		}
		c.err = missing
		r.note(n, Coverage{State: Missing, Reason: reason(missing), Supply: missing.Supply})
		c.err = errors.Join(missing, r.recordMissing(n, missing))
		return
	}
	state := Read
	if len(c.list) == 0 {
		state = Empty
	}
	r.note(n, Coverage{State: state, Count: len(c.list)})
	if r.record != nil {
		if err := r.record.Objects(n, c.list); err != nil {
			c.err = fmt.Errorf("record %s: %w", n, err)
		}
	}
}

// merge keeps the newer of two copies of one object.
func (r *Reader) merge(c *objectsCell, o Object) {
	r.sanitize.Object(&o)
	key := [2]string{o.Namespace, o.Name}
	if i, ok := c.by[key]; ok {
		if o.ReadAt.After(c.list[i].ReadAt) {
			c.list[i] = o
		}
		return
	}
	c.by[key] = len(c.list)
	c.list = append(c.list, o)
}

func (r *Reader) recordMissing(n Need, u *Unavailable) error {
	if r.record == nil {
		return nil
	}
	return r.record.Missing(n, u)
}

func reason(u *Unavailable) string {
	if u.Detail == "" {
		return string(u.Why)
	}
	return string(u.Why) + ": " + u.Detail
}

func (r *Reader) note(n Need, c Coverage) {
	c.Need = n.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coverage[c.Need] = c
}

// Matches returns the lines of the selected texts that carry a signature, in the
// order of the texts and lines. All signatures are found in one pass over each text.
func (r *Reader) Matches(ctx context.Context, q TextQuery, signature string) ([]Match, error) {
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

// Texts returns how many texts a query found. It reads them like Matches.
func (r *Reader) Texts(ctx context.Context, q TextQuery) (int, error) {
	_, err := r.Matches(ctx, q, "")
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.texts[q].count, nil
}

func (r *Reader) readTexts(ctx context.Context, q TextQuery, c *textsCell) {
	need := Texts(q)
	var all []Text
	var missing *Unavailable
	for _, s := range r.sources {
		list, err := s.Texts(ctx, q)
		if u, ok := AsUnavailable(err); ok {
			if missing == nil || missing.Why == NotCollected {
				missing = u
			}
			continue
		}
		if err != nil {
			c.err = fmt.Errorf("list texts of %s: %w", need, err)
			return
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		if missing == nil {
			missing = &Unavailable{Need: need, Why: NotCollected, Detail: "no such text in the source"}
		}
		r.note(need, Coverage{State: Missing, Reason: reason(missing), Supply: missing.Supply})
		c.err = errors.Join(missing, r.recordMissing(need, missing))
		return
	}
	desc, err := r.Describe(ctx)
	if err != nil {
		c.err = err
		return
	}
	found := make([]map[string][]Match, len(all))
	failed := make([]error, len(all))
	var group errgroup.Group
	group.SetLimit(r.limits.Parallel)
	for i, t := range all {
		group.Go(func() error {
			found[i], failed[i] = r.readText(ctx, t, desc.Now)
			return nil
		})
	}
	_ = group.Wait() // readText's errors are kept per text
	r.collect(need, c, all, found, failed)
}

// collect joins what was found; a text that broke makes the coverage partial,
// and the need unavailable when no text could be read at all.
func (r *Reader) collect(need Need, c *textsCell, all []Text, found []map[string][]Match, failed []error) {
	c.matches = map[string][]Match{}
	var broken []string
	for i := range all {
		if failed[i] != nil {
			broken = append(broken, all[i].Path+": "+failed[i].Error())
		}
		for id, ms := range found[i] {
			c.matches[id] = append(c.matches[id], ms...)
		}
	}
	c.count = len(all) - len(broken)
	switch {
	case c.count == 0:
		u := &Unavailable{Need: need, Why: Damaged, Detail: strings.Join(broken, "; ")}
		r.note(need, Coverage{State: Missing, Reason: reason(u)})
		c.err = u
	case len(broken) > 0:
		r.note(need, Coverage{State: Partial, Count: c.count, Reason: strings.Join(broken, "; ")})
	default:
		r.note(need, Coverage{State: Read, Count: c.count})
	}
}

func (r *Reader) readText(ctx context.Context, t Text, now time.Time) (found map[string][]Match, err error) {
	in, err := t.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", t.Path, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var out io.WriteCloser
	if r.record != nil {
		if out, err = r.record.Text(t); err != nil {
			return nil, fmt.Errorf("record %s: %w", t.Path, err)
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	t.Open = nil
	found = map[string][]Match{}
	clean := r.sanitize.Lines()
	lines := bufio.NewReaderSize(io.LimitReader(in, r.limits.TextBytes), r.limits.LineBytes)
	for n := 1; ; n++ {
		raw, more, err := lines.ReadLine()
		for cut := more; cut && err == nil; { // the rest of a line that is too long is dropped
			_, cut, err = lines.ReadLine()
		}
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, fmt.Errorf("read %s line %d: %w", t.Path, n, err)
		}
		if err := ctx.Err(); err != nil {
			return found, err
		}
		if err := r.line(raw, n, now, t, clean, out, found); err != nil {
			return found, err
		}
	}
}

func (r *Reader) line(raw []byte, n int, now time.Time, t Text, clean *Sanitizer, out io.Writer, found map[string][]Match) error {
	hits := r.scan.Find(raw)
	if len(hits) == 0 && out == nil {
		if clean.inside || slices.Contains(raw, '-') {
			clean.Line(string(raw)) // keeps track of keys that span lines
		}
		return nil
	}
	text := clean.Line(string(raw))
	if out != nil {
		if _, err := io.WriteString(out, text+"\n"); err != nil {
			return fmt.Errorf("record %s: %w", t.Path, err)
		}
	}
	if len(hits) == 0 || Redacted(text) {
		return nil
	}
	line := Line{Text: text, Loc: Locator{Path: t.Path, Line: n}}
	line.Time, _ = LineTime(text, now)
	for _, h := range r.scan.Find([]byte(text)) {
		found[h.ID] = append(thin(found[h.ID], r.limits.Matches), Match{Line: line, Text: t, Groups: h.Groups})
	}
	return nil
}

// thin makes room in a full list by dropping a quarter from its middle: when
// something began and whether it still lasts are at the two ends.
func thin(matches []Match, limit int) []Match {
	if len(matches) < limit {
		return matches
	}
	return slices.Delete(matches, limit/2, limit/2+limit/4+1)
}

// Coverage returns the outcome of every need that was asked for, sorted by need.
func (r *Reader) Coverage() []Coverage {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Coverage, 0, len(r.coverage))
	for _, c := range r.coverage {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Need < list[j].Need })
	return list
}
