package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/sortby"
)

// The kinds of archive, as Description.Kind.
const (
	MustGather = "must-gather"
	Inspect    = "inspect"
	Collection = "collection" // Rollcall's own
	Tree       = "tree"       // the layout, written by something else
)

// Source is an archive as an evidence.Source. It is safe for concurrent use and
// keeps no decoded object: the Reader above it reads each need once.
type Source struct {
	name     string // what the user called it
	base     string // its last element, in locators
	kind     string
	store    store
	closer   io.Closer
	objects  map[evidence.Resource][]entry // sorted by path
	texts    []entry                       // sorted by path
	roots    []string
	stamps   []time.Time // ends of collection
	manifest *Manifest
	named    map[string]file // of a collection: its files by path
	damaged  []string        // what could not even be indexed, the first of it
	gaps     []gap           // what that may hide, where it is more than one file
	notes    []evidence.Coverage
	joined   bool      // with other archives: lines name this one
	guest    bool      // joined without an identity: its times are not now
	cut      string    // how the stream ended early, "" when it did not
	single   bool      // a file that is no container
	inner    *inner    // what its packed members unpack to
	dir      string    // of a nested tree: where it lies in the archive
	nested   []*Source // trees of hosted clusters in addition to this one, by directory
	small    []entry   // of a nested tree: what is read of it at the end

	nowMu    sync.Mutex
	nowKnown bool
	now      time.Time
	gathered map[evidence.Resource]gathering // of an Insights archive
	newKeep  func() Keep                     // see Lean; nil: objects stay whole
	clock    time.Time                       // of whoever reads: see WithClock
	clocked  bool                            // the year of now is the clock's
	written  time.Time                       // when the file, or the newest of them, was written; zero: not known
}

var _ evidence.Source = (*Source)(nil)

// ErrNothing says that a directory or a container was read whole and has no object and no
// log of a cluster.
var ErrNothing = errors.New("no object or log of a cluster found")

// store is where the members' bytes are.
type store interface {
	open(ctx context.Context, f file) (io.ReadCloser, error)
}

// FS returns the archive in a file system; name is what the user calls it. It
// reads the names, and of the contents only what says what the archive is.
func FS(fsys fs.FS, name string) (*Source, error) {
	return fromFS(context.Background(), fsys, name)
}

func fromFS(ctx context.Context, fsys fs.FS, name string) (*Source, error) {
	b := newBuilder(name)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == "." {
				return err
			}
			b.loseDir(p, err)
			return nil
		}
		switch {
		case d.IsDir() && tooLong(p):
			b.loseName(p)
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0: // it may lead anywhere; collectors of this layout write none
			return b.lose(p, errLink)
		case !d.Type().IsRegular():
			return b.lose(p, errNoFile)
		}
		info, err := d.Info()
		if err != nil {
			return b.lose(p, err)
		}
		b.s.inner.size += info.Size()
		if w := info.ModTime(); w.After(b.s.written) {
			b.s.written = w
		}
		e, err := b.classify(p, info.Size())
		b.keep(e)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	return b.finish(ctx, dirStore{fsys})
}

// dirStore opens members of a file system.
type dirStore struct{ fsys fs.FS }

func (d dirStore) open(_ context.Context, f file) (io.ReadCloser, error) {
	return d.fsys.Open(f.path)
}

// Close releases what the archive holds open.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// builder collects the index in the order in which members come.
type builder struct {
	s         *Source
	count     int
	small     []entry // stamps, versions, manifests and details: read at the end
	open      []entry // may hold anything: looked into at the end
	found     map[of]bool
	dump      bool // of HyperShift, with a hosted cluster's tree in addition to
	marks     marks
	named     map[string]file
	sawPrefix []string // first names, for the error message
}

// marks are names that tell a must-gather from an inspect tree.
type marks struct{ mustGather, inspect bool }

func newBuilder(name string) *builder {
	base := path.Base(strings.TrimRight(strings.ReplaceAll(name, "\\", "/"), "/"))
	return &builder{s: &Source{name: name, base: base, objects: map[evidence.Resource][]entry{}, inner: &inner{seen: map[string]int64{}}}, named: map[string]file{}, found: map[of]bool{}}
}

// classify finds out what one member is. It fails only on limits.
func (b *builder) classify(p string, size int64) (entry, error) {
	if b.count++; b.count > maxFiles {
		return entry{}, &limitError{fmt.Sprintf("more than %d files: this is no archive of one cluster; name a directory inside it", maxFiles)}
	}
	if tooLong(p) {
		b.loseName(p)
		return entry{}, nil
	}
	if len(b.sawPrefix) < 3 {
		b.sawPrefix = append(b.sawPrefix, p)
	}
	e := classify(p)
	e.file.size = size
	b.mark(p)
	return e, nil
}

// keep puts a member into the index.
func (b *builder) keep(e entry) {
	if e.class == loose || e.mixed && e.resource.Name == "" {
		b.open = append(b.open, e)
		return
	}
	switch e.class {
	case object:
		b.named[e.file.path] = e.file
		b.s.objects[e.resource] = append(b.s.objects[e.resource], e)
	case text:
		b.named[e.file.path] = e.file
		b.s.texts = append(b.s.texts, e)
	case stamp, version, manifest, seal, detail:
		b.small = append(b.small, e)
	}
}

func (b *builder) mark(p string) {
	if l, ok := layoutMark(p); ok {
		b.found[l] = true
	}
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case strings.HasPrefix(part, "must-gather"), part == "host_service_logs", part == "etcd_info", part == "sysinfo.tgz":
			b.marks.mustGather = true
		case strings.HasPrefix(part, "inspect.local."), strings.HasPrefix(part, "aggregated-discovery-api"):
			b.marks.inspect = true
		}
	}
}

func (b *builder) damage(p string, err error) {
	if len(b.s.damaged) < 20 {
		b.s.damaged = append(b.s.damaged, fmt.Sprintf("%s: %v", p, err))
	}
}

// cut notes that the stream ended early: whatever is found may not be all.
func (b *builder) cut(err error) { b.s.cut = err.Error() }

// finish sorts the index, reads the small files and decides what the archive is.
func (b *builder) finish(ctx context.Context, st store) (*Source, error) {
	s := b.s
	s.store = st
	b.dropUnproved()
	b.open = sortedByPath(b.open)
	b.small = s.inOrder(sortedByPath(b.small))
	if err := b.lookInto(ctx); err != nil {
		return nil, err
	}
	b.machines()
	for r, list := range s.objects {
		s.objects[r] = sortedByPath(list)
	}
	s.texts = sortedByPath(s.texts)
	b.nameContainers(ctx)
	b.readGathers(ctx)
	b.dropBeside()
	b.splitNested()
	b.partGaps()
	if err := b.nameFlat(ctx); err != nil {
		return nil, err
	}
	s.roots = b.roots()
	if err := b.readSmall(ctx); err != nil {
		return nil, err
	}
	if err := b.finishNested(ctx); err != nil {
		return nil, err
	}
	if !b.whole() {
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
func sortedByPath(list []entry) []entry {
	sortby.StableFunc(list, func(x, y entry) int { return strings.Compare(x.file.path, y.file.path) })
	kept := list[:0]
	for i, e := range list {
		if i+1 < len(list) && list[i+1].file.path == e.file.path {
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

func (b *builder) readSmall(ctx context.Context) error {
	s := b.s
	s.kind = Tree
	if b.marks.inspect {
		s.kind = Inspect
	}
	for _, layout := range []string{SOSReport, AgentGather, LogBundle, Insights} {
		for l := range b.found {
			if l.layout == layout {
				s.kind = layout
			}
		}
	}
	if b.marks.mustGather {
		s.kind = MustGather
	}
	if b.dump {
		s.kind = HyperShift
	}
	if b.isLoose() {
		s.kind = Files
	}
	headers, seals := map[string][]byte{}, map[string][]byte{}
	for _, e := range b.small {
		if e.machine != nil && slices.Contains(sosDates, e.machine.path) {
			if t := s.sosDate(ctx, map[string]file{e.machine.path: e.file}); !t.IsZero() {
				s.stamps = append(s.stamps, t)
			}
		}
		switch e.class {
		case manifest, seal:
			raw, err := s.read(ctx, e.file, maxManifest)
			if err != nil {
				return fmt.Errorf("read the header of collection %s: %s: %w; %s", s.name, e.file.path, err, copyAgain)
			}
			if e.class == seal {
				seals[e.root] = raw
			} else {
				headers[e.root] = raw
			}
		case stamp:
			raw, err := s.read(ctx, e.file, maxSmallFile)
			if err != nil {
				b.damage(e.file.path, err)
				continue
			}
			s.stamps = append(s.stamps, stampTimes(raw)...)
			if s.kind == Tree {
				s.kind = Inspect // inspect writes the file, and no other tool of this layout does
			}
		case version:
			raw, err := s.read(ctx, e.file, maxSmallFile)
			if err == nil && strings.Contains(string(raw), "must-gather") {
				s.kind = MustGather
			}
		}
	}
	return b.openManifest(headers, seals)
}

func (b *builder) foreign() error {
	if b.s.single {
		return &ForeignFileError{b.s.name}
	}
	saw := "it is empty"
	if b.count > 0 {
		saw = fmt.Sprintf("%d files such as %s", b.count, strings.Join(b.sawPrefix, ", "))
	}
	if b.s.cut != "" {
		saw += "; " + b.s.cut
	}
	if len(b.s.damaged) > 0 {
		saw += "; could not be read: " + strings.Join(b.s.damaged, "; ")
	}
	nothing := ErrNothing
	if b.s.cut != "" || len(b.s.damaged) > 0 {
		nothing = errors.New(ErrNothing.Error()) // there may be some
	}
	return fmt.Errorf("%w in %s (%s); expected the directory or tar of a must-gather, "+
		"of `oc adm inspect` or of `rollcall collect`, with cluster-scoped-resources/ or namespaces/ somewhere in it", nothing, b.s.name, saw)
}

// read returns the content of a small member.
func (s *Source) read(ctx context.Context, f file, limit int64) ([]byte, error) {
	r, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	err = errors.Join(err, r.Close())
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return raw, nil
}
