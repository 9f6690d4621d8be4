package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Recorder keeps what a Reader read, sanitized. A nil Recorder keeps nothing. It
// is safe for concurrent use. Objects and Missing of one need mean that some of
// the objects could not be read.
type Recorder interface {
	Objects(n evidence.Need, objects []evidence.Object) error
	// Text returns where the sanitized lines of the index-th text of a need go.
	Text(n evidence.Need, index int, t evidence.Text) (TextWriter, error)
	Missing(n evidence.Need, u *evidence.Unavailable) error
}

// TextWriter takes the lines of one text.
type TextWriter interface {
	io.Writer
	// Opened says that the text could be opened; it may still be empty.
	Opened()
	// Close ends the text. failed says why it could not be opened or read to its
	// end, nil when it was.
	Close(failed error) error
}

// Limits bound what one text may cost. Zero fields mean the defaults.
type Limits struct {
	TextBytes int64 // of one text, after decompression; default 512 MiB
	LineBytes int   // longer lines are cut; default 64 KiB
	Matches   int   // kept per signature and text; default 2,000
	Parallel  int   // texts read at once; default 4
}

func (l Limits) withDefaults() Limits {
	return Limits{
		TextBytes: cmp.Or(l.TextBytes, 512<<20),
		LineBytes: cmp.Or(l.LineBytes, 64<<10),
		Matches:   cmp.Or(l.Matches, 2000),
		Parallel:  cmp.Or(l.Parallel, 4),
	}
}

// Reader reads sources once, sanitizes, remembers what could not be read, and
// hands everything that it read to a Recorder. It is safe for concurrent use.
type Reader struct {
	sources   []evidence.Source
	sanitize  *sanitize.Sanitizer
	scan      *scan.Set
	record    Recorder
	limits    Limits
	few       int  // see ReadFew; 0: all
	timeGiven bool // see TimeGiven
	urgent    Urgency

	mu       sync.Mutex
	objects  map[evidence.Need]*objectsCell
	texts    map[evidence.TextQuery]*textsCell
	coverage map[string]evidence.Coverage
}

type objectsCell struct {
	once sync.Once
	list []evidence.Object
	by   map[[2]string]int
	err  error

	partial *evidence.Unavailable // some objects could not be read
}

type textsCell struct {
	once    sync.Once
	matches map[string][]evidence.Match
	gaps    []evidence.TextGap
	err     error
}

// New returns a reader of the sources; the first one is the main one.
// signatures are what Matches can be asked for.
func New(signatures *scan.Set, s *sanitize.Sanitizer, record Recorder, limits Limits, sources ...evidence.Source) *Reader {
	return &Reader{
		sources: sources, sanitize: s, scan: signatures, record: record, limits: limits.withDefaults(),
		objects: map[evidence.Need]*objectsCell{}, texts: map[evidence.TextQuery]*textsCell{}, coverage: map[string]evidence.Coverage{},
	}
}

// Urgency chooses which of many texts are read.
type Urgency func(context.Context, *Reader) func(evidence.Text) bool

// ReadFew makes the reader read at most n texts of a query that has more: those
// that urgent chooses, in the order of the texts. The others are unread, and known
// as that. It is for sources of which each text costs a request, and called before
// anything is read.
func (r *Reader) ReadFew(n int, urgent Urgency) { r.few, r.urgent = n, urgent }

// TimeGiven says that somebody gave the time of what is read: that a source does not carry one is then no gap.
func (r *Reader) TimeGiven() { r.timeGiven = true }

// Describe describes the main source; its Now is the newest that a source carries, and
// the Notes are those of all, and in the coverage from then on.
func (r *Reader) Describe(ctx context.Context) (evidence.Description, error) {
	var first evidence.Description
	var notes []evidence.Coverage
	for i, s := range r.sources {
		d, err := s.Describe(ctx)
		if err != nil {
			return evidence.Description{}, fmt.Errorf("describe source: %w", err)
		}
		for _, c := range d.Notes {
			if r.timeGiven && c.Supply.Kind == evidence.SupplyNow {
				continue
			}
			c.Reason = r.sanitize.Text(c.Reason)
			notes = append(notes, c)
			r.noteAs(c.Need, c)
		}
		if i == 0 {
			d.Name = r.sanitize.Text(d.Name) // of a file or a context, which somebody named
			first = d
			continue
		}
		if first.File && d.File {
			first.More++
		}
		if preferTimeOf(d, first) {
			first.Now, first.AtLeast, first.ByClock = d.Now, d.AtLeast, d.ByClock
		}
	}
	first.Notes = notes
	return first, nil
}

// preferTimeOf reports whether the time of a is used instead of that of b: a time in the source
// before the clock of this machine, then the newer one.
func preferTimeOf(a, b evidence.Description) bool {
	switch {
	case a.Now.IsZero() || b.Now.IsZero():
		return b.Now.IsZero()
	case a.ByClock != b.ByClock:
		return b.ByClock
	}
	return a.Now.After(b.Now)
}

// List returns the objects of a resource in a namespace ("" for cluster-scoped or all
// namespaces). They are all only where the Coverage of the need is Read or Empty: where
// some could not be read, List returns the others with a nil error, the Coverage is
// Partial, and Get of one that is not among them is an *Unavailable. None with some
// that could not be read is an error. The slice is shared: do not change it.
func (r *Reader) List(ctx context.Context, res evidence.Resource, namespace string) ([]evidence.Object, error) {
	c := r.cell(ctx, evidence.Objects(res, namespace))
	return c.list, c.err
}

// Partial returns why some objects of a resource could not be read, next to those that
// List returns, nil where List returns all or an error.
func (r *Reader) Partial(ctx context.Context, res evidence.Resource, namespace string) *evidence.Unavailable {
	c := r.cell(ctx, evidence.Objects(res, namespace))
	if c.err != nil {
		return nil
	}
	return c.partial
}

// Get returns one object. False with a nil error means: looked, not there. Where
// some objects of the resource could not be read, an object that is not among the
// others is an *Unavailable.
func (r *Reader) Get(ctx context.Context, res evidence.Resource, namespace, name string) (evidence.Object, bool, error) {
	c := r.cell(ctx, evidence.Objects(res, namespace))
	if c.err != nil {
		return evidence.Object{}, false, c.err
	}
	i, ok := c.by[[2]string{namespace, name}]
	if !ok && c.partial != nil {
		return evidence.Object{}, false, c.partial
	}
	if !ok {
		return evidence.Object{}, false, nil
	}
	return c.list[i], true, nil
}

// Unlisted reports whether the objects of a need are in files of their own and no list of them
// exists: a lost one is not noticed.
func (r *Reader) Unlisted(ctx context.Context, n evidence.Need) bool {
	c := r.cell(ctx, n)
	return c.err == nil && len(c.list) > 0 && !slices.ContainsFunc(c.list, func(o evidence.Object) bool { return !o.Alone })
}

func (r *Reader) cell(ctx context.Context, n evidence.Need) *objectsCell {
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

func (r *Reader) readObjects(ctx context.Context, n evidence.Need, c *objectsCell) {
	var missing *evidence.Unavailable
	seen := false
	c.by = map[[2]string]int{}
	parts := newSharer()
	for _, s := range r.sources {
		list, err := s.List(ctx, n.Resource, n.Namespace)
		if u, ok := evidence.AsUnavailable(err); ok {
			missing = worseReason(missing, u)
			if u.Why.MayHideObjects() || len(list) > 0 {
				c.partial = worseReason(c.partial, u)
			}
			if len(list) == 0 {
				continue
			}
			err = nil
		}
		if err != nil {
			c.err = fmt.Errorf("list %s: %w", n, err)
			return
		}
		seen = true
		for _, o := range list {
			r.merge(c, o, parts)
		}
	}
	// For kinds that users supply nothing is missing if no source has them. A file that a source
	// has and cannot read is missing.
	if hides := c.partial != nil && c.partial.Why.MayHideObjects(); evidence.UserSupplied(n.Resource) && !hides {
		if c.partial = nil; len(c.list) == 0 {
			return // the coverage is of what could be
		}
	}
	if !seen || len(c.list) == 0 && c.partial != nil { // nothing of a list that is not whole is no empty list
		if missing == nil {
			missing = &evidence.Unavailable{Need: n, Why: evidence.NotCollected}
		}
		missing = r.clean(missing)
		r.note(n, uncovered(evidence.Missing, missing))
		c.err = errors.Join(missing, r.recordMissing(n, missing))
		return
	}
	cover := evidence.Coverage{State: evidence.Read, Count: len(c.list)}
	switch {
	case c.partial != nil:
		c.partial = r.clean(c.partial)
		cover = uncovered(evidence.Partial, c.partial)
		cover.Count = len(c.list)
	case len(c.list) == 0:
		cover.State = evidence.Empty
	}
	r.note(n, cover)
	if err := r.recordObjects(n, c); err != nil {
		c.err = fmt.Errorf("record %s: %w", n, err)
	}
}

// uncovered is the coverage of objects that could not be read, or of which some could not.
func uncovered(state evidence.State, u *evidence.Unavailable) evidence.Coverage {
	return evidence.Coverage{State: state, Reason: reason(u), Supply: u.Supply, Why: u.Why, Damaged: u.Why == evidence.Damaged}
}

// worseReason returns the more serious of two reasons: "could not be read" before "the cluster
// does not serve it" before "a source never has it".
func worseReason(a, b *evidence.Unavailable) *evidence.Unavailable {
	rank := func(w evidence.Why) int {
		switch {
		case w.MayHideObjects():
			return 2
		case w == evidence.NotCollected:
			return 0
		}
		return 1
	}
	if a == nil || rank(b.Why) > rank(a.Why) {
		return b
	}
	return a
}

func (r *Reader) recordObjects(n evidence.Need, c *objectsCell) error {
	if r.record == nil {
		return nil
	}
	err := r.record.Objects(n, c.list)
	if c.partial != nil {
		err = errors.Join(err, r.record.Missing(n, c.partial))
	}
	return err
}

// clean returns u without secrets: its detail may quote what a server answered.
func (r *Reader) clean(u *evidence.Unavailable) *evidence.Unavailable {
	c := *u
	c.Detail = r.sanitize.Text(u.Detail)
	return &c
}

// merge keeps the newer of two copies of one object.
func (r *Reader) merge(c *objectsCell, o evidence.Object, parts *sharer) {
	r.sanitize.Object(o.Resource.Group, o.Resource.Name, o.Content)
	parts.object(o.Content)
	key := [2]string{o.Namespace, o.Name}
	if i, ok := c.by[key]; ok {
		if newer(o, c.list[i]) {
			c.list[i] = o
		}
		return
	}
	c.by[key] = len(c.list)
	c.list = append(c.list, o)
}

// newer reports whether a was read after b, another copy of the object from another
// source. Where the sources do not tell when they read it, the resourceVersion of
// one object decides, and of two objects of one name the younger.
func newer(a, b evidence.Object) bool {
	if !a.ReadAt.IsZero() && !b.ReadAt.IsZero() {
		return a.ReadAt.After(b.ReadAt)
	}
	if evidence.String(a.Content, "metadata", "uid") != evidence.String(b.Content, "metadata", "uid") {
		return a.Created().After(b.Created())
	}
	v, errA := strconv.ParseUint(evidence.String(a.Content, "metadata", "resourceVersion"), 10, 64)
	w, errB := strconv.ParseUint(evidence.String(b.Content, "metadata", "resourceVersion"), 10, 64)
	return errA == nil && errB == nil && v > w
}

func (r *Reader) recordMissing(n evidence.Need, u *evidence.Unavailable) error {
	if r.record == nil {
		return nil
	}
	return r.record.Missing(n, u)
}

func reason(u *evidence.Unavailable) string {
	if u.Detail == "" {
		return string(u.Why)
	}
	return string(u.Why) + ": " + u.Detail
}

func (r *Reader) note(n evidence.Need, c evidence.Coverage) { r.noteAs(n.String(), c) }

func (r *Reader) noteAs(need string, c evidence.Coverage) {
	c.Need = need
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coverage[c.Need] = c
}

// Coverage returns the outcome of every need that was asked for, sorted by need.
func (r *Reader) Coverage() []evidence.Coverage {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]evidence.Coverage, 0, len(r.coverage))
	for _, c := range r.coverage {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Need < list[j].Need })
	return list
}

// Hosted returns the hosted cluster that is looked at together with its management
// cluster, nil where a cluster is looked at alone.
func (r *Reader) Hosted(ctx context.Context) (*evidence.Hosted, error) {
	d, err := r.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return d.Hosted, nil
}
