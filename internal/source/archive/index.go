package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/hypershift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

const (
	// maxFiles bounds the files of an archive, those that nobody reads included.
	maxFiles = 1 << 20
	// maxEntries bounds the index. The largest must-gathers have some ten thousand
	// files, an index entry costs about 500 bytes.
	maxEntries = 1 << 18
	// maxLoose bounds how many files outside of any layout are looked into.
	maxLoose = 20000
	// maxObjectFile bounds one file of objects. Lists of events reach tens of MiB.
	maxObjectFile = 256 << 20
)

// builder makes the index of an archive, in the order in which its members come. It is the
// member.Index of the pass over the container; finish makes a Source of it.
type builder struct {
	s        *Source
	o        options
	count    int
	entries  int            // of the index, and those that may get there
	first    []string       // names, for the error message
	open     []layout.Entry // of a layout, and may hold anything: looked into at the end
	loose    []layout.Entry // in no layout: looked into where nothing else was found; see keepLoose
	proven   map[layout.Of]bool
	signs    mustgather.Signs
	dump     bool         // of HyperShift
	sealed   bool         // a collection with digests
	entry    layout.Entry // scratch of classify: one for each member would be garbage
	recorded map[string]member.File
}

func newBuilder(name string, o options) *builder {
	base := path.Base(strings.TrimRight(strings.ReplaceAll(name, "\\", "/"), "/"))
	return &builder{
		s: &Source{name: name, base: base, ix: newIndex()}, o: o,
		recorded: map[string]member.File{}, proven: map[layout.Of]bool{},
	}
}

func newIndex() layout.Index {
	return layout.Index{Objects: map[evidence.Resource][]layout.Entry{}, Short: map[evidence.Resource]func(int) string{}}
}

// Add implements member.Index.
func (b *builder) Add(f member.File, keep member.Keep) error {
	e, err := b.classify(f.Path)
	if err != nil || e.Class == layout.Other {
		return err
	}
	e.File = f
	if keep != nil && e.Class != layout.Loose { // those are rarely read at all
		err = b.spool(e, keep)
	}
	if e.Class != layout.Loose {
		b.entries++
	}
	if b.entries > maxEntries {
		return &member.LimitError{What: fmt.Sprintf("more than %d files of objects and logs: this is no archive of one cluster, or more than is read at once; "+
			"name a directory inside it", maxEntries)}
	}
	b.keep(*e)
	return err
}

// keepLoose keeps a file that is in no layout. Of a great many only those are kept that are looked into: the
// first in the order of their paths that have a byte.
func (b *builder) keepLoose(e layout.Entry) {
	if b.loose = append(b.loose, e); len(b.loose) >= 2*maxLoose {
		b.loose = worthLook(b.loose)
	}
}

func worthLook(list []layout.Entry) []layout.Entry {
	list = slices.DeleteFunc(sortedByPath(list), func(e layout.Entry) bool { return e.File.Size == 0 && e.File.Lost == "" })
	return list[:min(len(list), maxLoose)]
}

// spool has the pass over a packed tar keep the bytes of a member, or at least the newest
// time in it.
func (b *builder) spool(e *layout.Entry, keep member.Keep) error {
	b.sealed = b.sealed || e.Class == layout.Seal
	p := member.Plan{Keep: b.o.wanted.entry(*e), Text: e.Class == layout.Text}
	if b.maySkim(*e) {
		p.Skim = b.o.skim
	}
	if e.Timed = e.Class == layout.Object && slices.Contains(timeBearing, e.Resource); !e.Timed {
		return keep(&e.File, p)
	}
	var times objectfile.TimeScan
	p.See = &times
	err := keep(&e.File, p)
	e.Newest = times.End()
	return err
}

// maySkim reports whether the lines of a member are those that a Reader sees: not where they
// are first told apart by unit, or translated, or where the text's digest is checked.
func (b *builder) maySkim(e layout.Entry) bool {
	return !b.sealed && e.Class == layout.Text && !e.Whole && !e.Export && e.Of.Kind == ""
}

// classify finds out what one member is. The entry is valid until the next call. It fails
// only on limits.
func (b *builder) classify(p string) (*layout.Entry, error) {
	b.entry = layout.Entry{}
	if b.count++; b.count > maxFiles {
		return nil, &member.LimitError{What: fmt.Sprintf("more than %d files: this is no archive of one cluster; name a directory inside it", maxFiles)}
	}
	if member.TooLong(p) {
		b.LoseName(p)
		return &b.entry, nil
	}
	if len(b.first) < 3 {
		b.first = append(b.first, p)
	}
	if l, ok := proven(p); ok {
		b.proven[l] = true
	}
	recognize(&b.entry, p)
	b.signs.See(p, b.entry.Class != layout.Other && b.entry.Class != layout.Loose)
	return &b.entry, nil
}

// keep puts a member into the index.
func (b *builder) keep(e layout.Entry) {
	ix := &b.s.ix
	switch {
	case e.Class == layout.Loose:
		b.keepLoose(e)
	case e.Mixed && e.Resource.Name == "":
		b.open = append(b.open, e)
	case e.Class == layout.Object:
		b.recorded[e.File.Path] = e.File
		ix.Objects[e.Resource] = append(ix.Objects[e.Resource], e)
	case e.Class == layout.Text:
		b.recorded[e.File.Path] = e.File
		ix.Texts = append(ix.Texts, e)
	case e.Class != layout.Other:
		ix.Details = append(ix.Details, e)
	}
}

// finish sorts the index, reads the small files and decides what the archive is.
func (b *builder) finish(ctx context.Context, c *member.Container) (*Source, error) {
	s, ix := b.s, &b.s.ix
	s.members, s.cut = c, c.Cut()
	b.dropUnproven()
	b.open = sortedByPath(b.open)
	ix.Details = inOrder(sortedByPath(ix.Details))
	if err := b.lookInto(ctx); err != nil {
		return nil, err
	}
	for _, l := range layouts {
		if l.Complete != nil {
			l.Complete(ctx, c, ix)
		}
	}
	for r, list := range ix.Objects {
		ix.Objects[r] = sortedByPath(list)
	}
	ix.Texts = sortedByPath(ix.Texts)
	b.dropOutsideLayout()
	b.splitNested()
	b.partGaps()
	if err := b.nameLogs(ctx); err != nil {
		return nil, err
	}
	if err := b.readSmall(ctx); err != nil {
		return nil, err
	}
	if err := b.finishNested(ctx); err != nil {
		return nil, err
	}
	if !b.readable() {
		return nil, b.foreign()
	}
	if s.manifest == nil {
		if err := s.oneCluster(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// sortedByPath sorts entries; of two members of one path the later one counts, as
// it does for tar.
func sortedByPath(list []layout.Entry) []layout.Entry {
	slices.SortStableFunc(list, func(x, y layout.Entry) int { return strings.Compare(x.File.Path, y.File.Path) })
	kept := list[:0]
	for i, e := range list {
		if i+1 < len(list) && list[i+1].File.Path == e.File.Path {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// inOrder returns entries in the order in which a stream is read once for all of them.
func inOrder(list []layout.Entry) []layout.Entry {
	if !slices.ContainsFunc(list, func(e layout.Entry) bool { return e.File.StreamOffset() >= 0 }) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y layout.Entry) int { return cmp.Compare(x.File.StreamOffset(), y.File.StreamOffset()) })
	return list
}

// all returns every entry of objects and of texts, and lists that are given.
func (b *builder) all(more ...[]layout.Entry) [][]layout.Entry {
	ix := &b.s.ix
	return append(append(slices.Collect(maps.Values(ix.Objects)), ix.Texts), more...)
}

// dropUnproven drops entries of layouts whose presence nothing proves.
func (b *builder) dropUnproven() {
	ix := &b.s.ix
	unproven := func(e layout.Entry) bool { return e.Of.Kind != "" && !b.proven[e.Of] }
	maps.DeleteFunc(ix.Objects, func(r evidence.Resource, list []layout.Entry) bool {
		ix.Objects[r] = slices.DeleteFunc(list, unproven)
		return len(ix.Objects[r]) == 0
	})
	ix.Texts = slices.DeleteFunc(ix.Texts, unproven)
	for _, e := range ix.Details {
		if unproven(e) && loose.Possible(path.Base(e.File.Path)) {
			b.keepLoose(layout.Entry{Class: layout.Loose, File: e.File})
		}
	}
	ix.Details = slices.DeleteFunc(ix.Details, unproven)
	for _, e := range b.open {
		if unproven(e) {
			b.keepLoose(layout.Entry{Class: layout.Loose, File: e.File})
		}
	}
	b.open = slices.DeleteFunc(b.open, unproven)
	used := map[layout.Of]bool{}
	for _, list := range b.all(b.open) {
		for _, e := range list {
			used[e.Of] = true
		}
	}
	maps.DeleteFunc(b.proven, func(l layout.Of, _ bool) bool { return !used[l] })
}

// lookInto finds out from their contents what files hold that may hold anything:
// the resources of an installer log bundle and, where nothing else was found,
// files in no layout.
func (b *builder) lookInto(ctx context.Context) error {
	ix := &b.s.ix
	alone := len(ix.Objects) == 0 && !slices.ContainsFunc(ix.Texts, func(e layout.Entry) bool { return !e.Free }) &&
		!slices.ContainsFunc(ix.Details, func(e layout.Entry) bool { return e.Class == layout.Header })
	list := slices.DeleteFunc(b.open, func(e layout.Entry) bool { return e.File.Size == 0 && e.File.Lost == "" })
	if alone {
		list = sortedByPath(slices.Concat(list, worthLook(b.loose)))
	}
	for _, e := range inOrder(list) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.lookIntoFile(ctx, e); err != nil {
			b.loseLoose(e, err)
		}
	}
	return nil
}

// lookIntoFile keeps a file for what its first bytes say it is. It is opened once: in a
// packed tar there is no cheap way back.
func (b *builder) lookIntoFile(ctx context.Context, e layout.Entry) (err error) {
	r, err := b.s.members.Open(ctx, e.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	head, broken := member.Peek(r)
	if broken != nil && len(head) == 0 {
		return broken
	}
	e.Free = e.Class == layout.Loose
	if e.Free && loose.Lines(&e, head) {
		b.keep(e)
		return nil
	}
	if !e.Mixed && !objectfile.Likely(head) {
		return nil
	}
	if broken != nil {
		return broken
	}
	raw, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), r), maxObjectFile+1))
	if err == nil && len(raw) > maxObjectFile {
		err = fmt.Errorf("more than %d bytes", maxObjectFile)
	}
	if err != nil {
		return err
	}
	list, err := loose.Objects(e, raw)
	for _, e := range list {
		b.keep(e)
	}
	return err
}

// isLoose reports whether all that was found lies in no layout.
func (b *builder) isLoose() bool {
	some := false
	for _, list := range b.all() {
		some = some || len(list) > 0
		if slices.ContainsFunc(list, func(e layout.Entry) bool { return e.Of.Kind != "" || !e.Free }) {
			return false
		}
	}
	return some && b.s.manifest == nil
}

// roots returns the directories of what was found.
func (b *builder) roots() []string {
	roots := map[string]bool{}
	for _, list := range b.all() {
		for _, e := range list {
			roots[e.Root] = true
		}
	}
	return slices.Sorted(maps.Keys(roots))
}

// kindOf is what the paths say the archive is.
func (b *builder) kindOf() string {
	switch {
	case b.isLoose():
		return loose.Kind
	case b.dump:
		return hypershift.Kind
	case b.signs.MustGather:
		return mustgather.MustGather
	}
	for _, l := range layouts {
		for of := range b.proven {
			if of.Kind == l.Kind {
				return l.Kind
			}
		}
	}
	if b.signs.Inspect {
		return mustgather.Inspect
	}
	return mustgather.Tree
}

// readSmall reads the files that say what the archive is, and when it was collected.
func (b *builder) readSmall(ctx context.Context) error {
	s := b.s
	s.kind = b.kindOf()
	headers, seals := map[string][]byte{}, map[string][]byte{}
	for _, e := range s.ix.Details {
		switch e.Class {
		case layout.Header, layout.Seal:
			raw, err := s.members.Read(ctx, e.File, collection.MaxManifest)
			if err != nil {
				return fmt.Errorf("read the header of collection %s: %s: %w; %s", s.name, e.File.Path, err, collection.CopyAgain)
			}
			if e.Class == layout.Seal {
				seals[e.Root] = raw
			} else {
				headers[e.Root] = raw
			}
		case layout.Version:
			raw, err := s.members.Read(ctx, e.File, layout.MaxSmall)
			if err == nil && mustgather.IsVersion(raw) {
				s.kind = mustgather.MustGather
			}
		default:
			if e.Times != nil {
				b.readTimes(ctx, e)
			}
		}
	}
	return b.openManifest(headers, seals)
}

// readTimes reads when the collection ended.
func (b *builder) readTimes(ctx context.Context, e layout.Entry) {
	raw, err := b.s.members.Read(ctx, e.File, layout.MaxSmall)
	if err == nil {
		b.s.stamps = append(b.s.stamps, e.Times(raw)...)
	}
	switch {
	case e.Class != layout.Stamp:
	case err != nil:
		b.s.ix.Damage(e.File.Path, err)
	case b.s.kind == mustgather.Tree:
		b.s.kind = mustgather.Inspect // inspect writes the file, and no other tool of this layout does
	}
}

// readable reports whether anything that counts can be read.
func (b *builder) readable() bool {
	return b.s.manifest != nil || slices.ContainsFunc(b.all(), func(list []layout.Entry) bool {
		return slices.ContainsFunc(list, func(e layout.Entry) bool { return e.File.Lost == "" })
	})
}

// foreign says that what was read is no archive.
func (b *builder) foreign() error {
	if b.s.single {
		return &ForeignFileError{b.s.name}
	}
	saw := "it is empty"
	if b.count > 0 {
		saw = fmt.Sprintf("%d files such as %s", b.count, strings.Join(b.first, ", "))
	}
	if b.s.cut != "" {
		saw += "; " + b.s.cut
	}
	if len(b.s.ix.Damaged) > 0 {
		saw += "; could not be read: " + strings.Join(b.s.ix.Damaged, "; ")
	}
	nothing := ErrNothing
	if b.s.cut != "" || len(b.s.ix.Damaged) > 0 {
		nothing = errors.New(ErrNothing.Error()) // there may be some
	}
	return fmt.Errorf("%w in %s (%s); expected the directory or tar of a must-gather, "+
		"of `oc adm inspect` or of `rollcall collect`, with cluster-scoped-resources/ or namespaces/ somewhere in it", nothing, b.s.name, saw)
}
