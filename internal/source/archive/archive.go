package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/hypershift"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// Source is an archive as an evidence.Source. It is safe for concurrent use and
// keeps no decoded object: the Reader above it reads each need once.
type Source struct {
	name    string // what the user called it
	base    string // its last element, in locators
	kind    string
	members *member.Container
	closer  io.Closer
	ix      layout.Index // sorted by path
	gaps    []gap        // what may hide more than one file
	notes   []evidence.Coverage
	cut     string      // how reading it ended early, "" when it did not
	single  bool        // a file that is no container
	stamps  []time.Time // ends of collection
	least   bool        // now is at least the newest time in it
	written time.Time   // when the file, or the newest of them, was written; zero: not known

	manifest     *collection.Manifest   // of a collection
	manifestRoot string                 // directory of the header, "" or ending in "/"
	recorded     map[string]member.File // of a collection: its files by path

	dir    string    // of a nested tree: where it is in the archive
	nested []*Source // trees of hosted clusters next to this one, by directory

	joined   bool // with other archives: locators have its name
	unproven bool // joined without an identity: its times are not now

	newKeep func() Keep // see Lean; nil: objects stay whole
	clock   time.Time   // of whoever reads: see WithClock

	nowMu    sync.Mutex
	nowKnown bool
	now      time.Time
	clocked  bool // the year of now is the clock's
}

var _ evidence.Source = (*Source)(nil)

// ErrNothing says that a directory or a container was read whole and has no object and no
// log of a cluster.
var ErrNothing = errors.New("no object or log of a cluster found")

// FS returns the archive in a file system; name is what the user calls it. It
// reads the names, and of the contents only what says what the archive is.
func FS(fsys fs.FS, name string) (*Source, error) {
	return fromFS(context.Background(), fsys, name, options{})
}

func fromFS(ctx context.Context, fsys fs.FS, name string, o options) (*Source, error) {
	b := newBuilder(name, o)
	c, err := member.Dir(ctx, fsys, name, b, o.wanted.skipDir())
	if err != nil {
		return nil, err
	}
	b.s.written = c.Written()
	return b.finish(ctx, c)
}

// Close releases what the archive holds open.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Dump reports whether the archive is a dump of a HyperShift management cluster.
func (s *Source) Dump() bool { return s.kind == hypershift.Kind }

// Recorded returns the hosted cluster of a collection that was made of two clusters.
func (s *Source) Recorded() *evidence.Hosted {
	if s.manifest == nil {
		return nil
	}
	return s.manifest.Hosted
}

// entries are the files of a resource. Events are in two groups.
func (s *Source) entries(r evidence.Resource) []layout.Entry {
	if r == evidence.Events && len(s.ix.Objects[objectfile.EventsV1]) > 0 {
		return slices.Concat(s.ix.Objects[r], s.ix.Objects[objectfile.EventsV1])
	}
	return s.ix.Objects[r]
}
