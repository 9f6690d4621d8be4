package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// List implements evidence.Source. In addition to objects it may return an
// *evidence.Unavailable with Damaged: these objects are whole, others could not
// be read.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	if s.manifest != nil {
		return s.replayObjects(ctx, need)
	}
	if r == evidence.NamedHosts {
		return s.listHosts(ctx, need)
	}
	c := s.newListing(need)
	return s.answer(ctx, c)
}

// answer is what a listing finds.
func (s *Source) answer(ctx context.Context, c *listing) ([]evidence.Object, error) {
	need := c.need
	if err := s.readAll(ctx, c); err != nil {
		return nil, err
	}
	for _, g := range s.hiding(need) {
		c.damage(g.path, errors.New(g.why))
	}
	if s.cut != "" {
		c.damaged.add(s.cut)
	}
	objects := c.objects()
	switch {
	case c.damaged.count > 0:
		return objects, &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: c.damaged.String(), Supply: generalSupply(need)}
	case len(objects) == 0 && c.choice.Name != "" && c.listed:
		return nil, nil // another object's List would have it
	case len(objects) == 0 && !c.looked && len(c.part) == 0:
		if u := s.notCollected(need); u != nil {
			return nil, u
		}
		return nil, nil
	case len(c.part) > 0:
		return objects, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: few(c.part), Supply: s.supply(need), Fields: c.fields}
	}
	return objects, nil
}

// readAll reads all files of a resource, and what is made of texts.
func (s *Source) readAll(ctx context.Context, c *listing) error {
	r, namespace := c.need.Resource, c.need.Namespace
	files := inOrder(s.entries(r))
	for i := range files {
		e := &files[i]
		if e.Nowhere || namespace != "" && e.Namespace != "" && e.Namespace != namespace {
			continue
		}
		if namespace == "" && e.Others != "" && !slices.Contains(c.part, e.Others) {
			c.part = append(c.part, e.Others)
		}
		if c.skips(e) {
			c.skipped++
			continue
		}
		if e.Sample {
			c.part = []string{e.Part}
			continue
		}
		if err := s.readEntry(ctx, e, c); err != nil {
			return err
		}
	}
	if short := s.ix.Short[r]; short != nil && namespace == "" {
		if why := short(len(c.found)); why != "" {
			c.part = append(c.part, why)
		}
	}
	for _, l := range layouts {
		if l.Derive == nil {
			continue
		}
		d, err := l.Derive(ctx, s.deriving(), r)
		if err != nil {
			return err
		}
		for _, o := range d.Objects {
			o.Loc.Source = s.base
			c.found = append(c.found, found{object: o})
		}
		c.part, c.fields = append(c.part, d.Part...), c.fields || len(d.Part) > 0
	}
	return nil
}

func (s *Source) deriving() layout.Deriving {
	d := layout.Deriving{Container: s.members, Index: &s.ix, Now: func(ctx context.Context) (time.Time, error) {
		_, err := s.Describe(ctx)
		return s.now, err
	}}
	if s.single {
		d.Cut = s.cut
	}
	return d
}

// listHosts lists the hosts that texts show.
func (s *Source) listHosts(ctx context.Context, need evidence.Need) ([]evidence.Object, error) {
	var found []namedhost.Host
	var paths []string
	for _, e := range s.ix.Texts {
		for _, l := range layouts {
			if l.Hosts == nil {
				continue
			}
			hosts, err := l.Hosts(ctx, s.members, e)
			if err != nil {
				return nil, err
			}
			for _, h := range hosts {
				if i := slices.IndexFunc(found, func(f namedhost.Host) bool { return strings.EqualFold(f.Name, h.Name) }); i >= 0 {
					found[i].Join(h)
					continue
				}
				found, paths = append(found, h), append(paths, e.File.Path)
			}
		}
	}
	var list []evidence.Object
	for i, h := range found {
		o, err := namedhost.Object(h, evidence.Locator{Source: s.base, Path: paths[i]})
		if list = append(list, o); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		if u := s.notCollected(need); u != nil {
			return nil, u
		}
	}
	return list, nil
}

// listing is the state of one List.
type listing struct {
	need    evidence.Need
	found   []found
	at      map[[2]string]int
	looked  bool // a whole List file without items was there
	listed  bool // a List was there
	damaged damages
	part    []string // why they are not all
	fields  bool     // and have not all fields
	keep    Keep     // nil: objects stay whole
	choice  objectfile.Choice
	skipped int          // files of other objects than the one that is asked for
	every   bool         // no file is skipped
	raw     bytes.Buffer // the file that is read
	budget  objectfile.Budget
}

func (s *Source) newListing(n evidence.Need) *listing {
	return &listing{need: n, at: map[[2]string]int{}, keep: s.keep()}
}

// objects returns what was found, sorted.
func (c *listing) objects() []evidence.Object {
	slices.SortFunc(c.found, func(a, b found) int {
		return cmp.Or(strings.Compare(a.object.Namespace, b.object.Namespace), strings.Compare(a.object.Name, b.object.Name))
	})
	objects := make([]evidence.Object, len(c.found))
	for i, f := range c.found {
		objects[i] = f.object
		objects[i].Alone = !c.listed
	}
	return objects
}

type found struct {
	object evidence.Object
	list   bool
}

func (c *listing) damage(path string, err error) {
	if c.damaged.count < namedDamages {
		c.damaged.add(fmt.Sprintf("%s: %v", path, err))
		return
	}
	c.damaged.count++
}

// damages is what could not be read: how much, and the first of it. An archive may
// have more damage than there is memory for.
type damages struct {
	count int
	first []string
}

const namedDamages = 3

func (d *damages) add(what string) {
	if d.count++; len(d.first) < namedDamages {
		d.first = append(d.first, what)
	}
}

func (d *damages) String() string {
	s := strings.Join(d.first, "; ")
	if more := d.count - len(d.first); more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// readEntry adds the objects of one file. Only a canceled context is an error.
func (s *Source) readEntry(ctx context.Context, e *layout.Entry, c *listing) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.Part != "" && !slices.Contains(c.part, e.Part) {
		c.part = append(c.part, e.Part)
	}
	sink := fileSink{s, e, c}
	var raw []byte
	var err error
	if e.Make != nil {
		var content map[string]any
		if content, err = e.Make(ctx, s.members, *e); err == nil {
			sink.Object(content, false)
		}
	} else if raw, err = s.members.ReadInto(ctx, e.File, maxObjectFile, &c.raw); err == nil {
		objectfile.ReadChosen(raw, c.choice, &c.budget, sink)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		sink.Damage(err)
	}
	return nil
}

// fileSink adds the objects of one file to a listing.
type fileSink struct {
	s *Source
	e *layout.Entry
	c *listing
}

// Damage implements objectfile.Sink.
func (f fileSink) Damage(err error) { f.c.damage(f.e.File.Path, err) }

// List implements objectfile.Sink.
func (f fileSink) List() { f.c.listed = true }

// Empty implements objectfile.Sink. Of files with any kind of objects only a List
// that names its kind shows what was looked for.
func (f fileSink) Empty(apiVersion, kind string) {
	if r, ok := objectfile.ResourceOf(apiVersion, kind); !f.e.Mixed || ok && r == f.e.Resource {
		f.c.looked, f.c.listed = true, true
	}
}

// Object implements objectfile.Sink.
func (f fileSink) Object(content map[string]any, item bool) {
	e, c := f.e, f.c
	if evidence.String(content, "kind") == "Status" && evidence.String(content, "apiVersion") == "v1" {
		f.Damage(fmt.Errorf("the collector kept an error instead: %q", evidence.String(content, "message")))
		return
	}
	if e.Mixed {
		if r, _ := objectfile.ResourceOf(evidence.String(content, "apiVersion"), evidence.String(content, "kind")); r != e.Resource {
			return
		}
	}
	name := evidence.String(content, "metadata", "name")
	if name == "" {
		f.Damage(errors.New("an object without metadata.name"))
		return
	}
	namespace := cmp.Or(evidence.String(content, "metadata", "namespace"), e.Namespace)
	if c.need.Namespace != "" && namespace != c.need.Namespace {
		return
	}
	if e.Resource == objectfile.EventsV1 && c.need.Resource == evidence.Events {
		objectfile.CoreEvent(content)
	}
	c.listed = c.listed || item
	c.add(found{list: item, object: evidence.Object{
		Resource: c.need.Resource, Namespace: namespace, Name: name, Content: c.keep.of(c.need.Resource, content),
		Loc: evidence.Locator{Source: f.s.base, Path: e.File.Path},
	}})
}

// add adds an object, or takes the better one of two copies.
func (c *listing) add(f found) {
	key := [2]string{f.object.Namespace, f.object.Name}
	i, ok := c.at[key]
	switch {
	case !ok:
		c.at[key] = len(c.found)
		c.found = append(c.found, f)
	case newer(f, c.found[i]), !newer(c.found[i], f) && f.object.Loc.Path < c.found[i].object.Loc.Path:
		c.found[i] = f
	}
}

// newer reports whether a is the better one of two copies of an object (see the package's
// doc).
func newer(a, b found) bool {
	x, y := a.object.Content, b.object.Content
	sameUID := evidence.String(x, "metadata", "uid") == evidence.String(y, "metadata", "uid")
	if sameUID {
		v, errX := strconv.ParseUint(evidence.String(x, "metadata", "resourceVersion"), 10, 64)
		w, errY := strconv.ParseUint(evidence.String(y, "metadata", "resourceVersion"), 10, 64)
		if errX == nil && errY == nil && v != w {
			return v > w
		}
	} else if t, u := a.object.Created(), b.object.Created(); !t.Equal(u) {
		return t.After(u)
	}
	return b.list && !a.list
}

// few joins what is damaged, without flooding the report.
func few(list []string) string {
	var d damages
	for _, what := range list {
		d.add(what)
	}
	return d.String()
}
