// Package layout is the contract between an archive and the ways in which collectors lay out
// what they gathered: must-gather, Insights archive, installer log bundle and so on.
//
// A Layout is one value in a package of its own below this one. The archive has them in one
// list (layouts.go in package archive), asks each in turn what a file is (Layout.File), and
// keeps the answers as an Index. To add a kind of archive is to write such a package with
// its test and to add it to the list (docs/adding-an-archive-kind.md).
//
// What holds for every layout:
//   - A file is known by its place below the root of the layout, never by the directories
//     above: collectors, mirrors and support tools rename those.
//   - A layout has paths that prove that it is there (Layout.Proof). Where none of them is
//     found its files are not taken for what they look like. Only a layout that is proven
//     gives the archive its kind; the tree of a must-gather and loose files need no proof.
//   - A layout says what its collector cannot have gathered (Layout.Lacks, Layout.Absent):
//     what is missing then is not collected, and never absent.
//   - Its functions are called by several goroutines and keep no state; what they find out
//     about one archive is in the Index.
package layout

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Layout is one way in which a collector lays out what it gathered. Kind and File are
// required; a nil function stands for "nothing of its own".
type Layout struct {
	// Kind is what an archive of this layout is called, as evidence.Description.Kind.
	Kind string

	// File says what a file is. dir is an element of the file's path and below are those
	// that follow it, none for the file's own name; the elements are tried from the left.
	// File fills the entry and returns true, or leaves it alone. Path, size and root of the
	// entry are the archive's to set.
	File func(e *Entry, dir string, below []string) bool
	// Proof reports whether a path shows that the layout begins above dir; nil where File
	// needs no proof. Then the archive is not called by Kind, and what is looked up by the
	// kind (Lacks, Absent, Journal) is not asked.
	Proof func(dir string, below []string) bool
	// Complete is called once when all paths are known, to add what files say of each other.
	Complete func(ctx context.Context, c *member.Container, ix *Index)

	// Whole says that the collector keeps all that the ClusterOperators refer to. Only then a part
	// that is missing as a whole is named as lost.
	Whole bool
	// DatedName is the beginning of the archive's name, before "-" and the date; "" where the name
	// has none. It gives the lines of journals their year.
	DatedName string

	// Lacks says what an archive of this kind never holds, "" where that is not known.
	Lacks string
	// Absent says what it means that no file has what is needed. It takes the general
	// reason; nil means that the collector proves to have looked and found nothing.
	Absent func(ix *Index, n evidence.Need, u *evidence.Unavailable) *evidence.Unavailable
	// Journal is how a journal of a host is collected with the tool of this layout; host is
	// "" for any.
	Journal func(host string) evidence.Supply
	// Unseen says which text should be next to those that were found, "" when none. It is
	// asked in archives of every kind.
	Unseen func(q evidence.TextQuery, found []evidence.Text) string

	// Derive makes objects of a resource from texts, where no file has one.
	Derive func(ctx context.Context, a Deriving, r evidence.Resource) (Derived, error)
	// Hosts are the hosts that a text shows.
	Hosts func(ctx context.Context, c *member.Container, e Entry) ([]namedhost.Host, error)

	// Nested returns the directory above a root that has the tree of another cluster.
	Nested func(root string) (dir string, ok bool)
	// NameLog sets the pod and the container of a log (Entry.PodAndContainer), given the
	// names of the pods of its namespace, longest first. False: of none of them.
	NameLog func(e *Entry, pods []string) bool
}

// Deriving is what Layout.Derive has at hand.
type Deriving struct {
	*member.Container
	*Index
	// Now is the time of the archive; it gives lines without a year theirs.
	Now func(context.Context) (time.Time, error)
	// Cut says how a single text ended early, "" when it did not.
	Cut string
}

// Derived are objects that were made of texts. Their locators have no source.
type Derived struct {
	Objects []evidence.Object
	Part    []string // why they are not all, and have not all fields; none when they are whole
}

// Class is what a file holds.
type Class int

// The classes of files.
const (
	Other   Class = iota // nothing that is read
	Object               // one object, or a List, or what an object is made of
	Text                 // lines
	Stamp                // when the collection began and ended
	Version              // what wrote the archive
	Header               // header of Rollcall's own collection
	Seal                 // the digest of that header
	Detail               // says what other files are
	Loose                // may hold objects or lines; looked into where nothing else is found
)

// Entry is one file of an archive and what it is.
type Entry struct {
	Class Class
	File  member.File
	Root  string // directory above the layout, "" or ending in "/"
	Below string // the path below Root
	Of    Of     // the layout that has to be proven; zero for those that need no proof
	Free  bool   // in no layout: known by its name or its content alone

	// Of objects.
	Resource  evidence.Resource
	Namespace string // "" where the objects themselves say it
	List      bool   // a List, not one object
	Mixed     bool   // objects of any kind, Resource is one of them
	Part      string // why its objects are not all that there are, "" when they may be
	Others    string // why it is not whole for all namespaces, "" when it may be
	Nowhere   bool   // an empty List, and nothing shows of which namespace: it is no answer about any
	Sample    bool   // an arbitrary part: none is read, what is missing would look absent
	// Make makes the object of a file that is no file of objects; nil where it is one.
	Make   func(ctx context.Context, c *member.Container, e Entry) (map[string]any, error)
	Timed  bool      // Newest is known
	Newest time.Time // of the times at which something happened in its objects

	// Of texts.
	Text            evidence.Text // without Open
	Whole           bool          // a journal of all units
	Export          bool          // a journal in export format
	PodAndContainer string        // a log's name, which does not show where the pod's name ends

	// Times reads from a Stamp or a Detail when the collection ended; nil: it does not say.
	Times func(raw []byte) []time.Time
}

// Of is a layout at its root, the path above it without a "/" at its end.
type Of struct{ Kind, Root string }

// Index is what the files of an archive are.
type Index struct {
	Objects map[evidence.Resource][]Entry
	Texts   []Entry
	Details []Entry  // of the classes Stamp to Detail
	Damaged []string // files of which not even that is known, the first of them
	// Short says, given how many objects of a resource were found, why these are not all;
	// "" when they are.
	Short map[evidence.Resource]func(have int) string
}

// maxDamaged bounds Index.Damaged.
const maxDamaged = 20

// Damage notes that a file cannot be read.
func (ix *Index) Damage(path string, err error) {
	if len(ix.Damaged) < maxDamaged {
		ix.Damaged = append(ix.Damaged, path+": "+err.Error())
	}
}

// MaxSmall bounds files that say what others are: timestamp, version, a host's name.
const MaxSmall = 1 << 20

// MaxLines bounds what is read of texts to learn something from their lines.
const MaxLines = 256 << 20

// OpenLines opens a text as lines; a journal of all units shows those of one, where one is
// asked for.
func OpenLines(ctx context.Context, c *member.Container, e Entry, unit string) (io.ReadCloser, error) {
	in, err := c.OpenText(ctx, e.File)
	switch {
	case err != nil:
		return nil, err
	case e.Export:
		return member.ReadCloser{Reader: journal.ExportLines(in, unit), Closer: in}, nil
	case e.Whole && unit != "":
		return member.ReadCloser{Reader: journal.UnitLines(in, unit), Closer: in}, nil
	}
	return in, nil
}

// ObjectFile returns the name before the suffix of files that hold objects.
func ObjectFile(name string) (string, bool) {
	for _, suffix := range []string{".yaml", ".yml", ".json"} {
		if stem, ok := strings.CutSuffix(name, suffix); ok && stem != "" {
			return stem, true
		}
	}
	return "", false
}
