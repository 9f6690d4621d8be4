package collect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
)

// Recorder writes a collection. It implements evidence.Recorder and is safe for
// concurrent use. Close finishes the collection; without it there is none.
type Recorder struct {
	out    string // where the collection shall be
	dir    string // where files are written: out, or a directory next to it
	packed bool
	root   *os.Root
	now    time.Time

	mu      sync.Mutex
	used    map[string]stored // by name of the file
	parts   int
	objects map[evidence.Need]*collection.ObjectsRecord
	texts   map[evidence.TextQuery]*textsRecord
	source  evidence.Description
	closed  bool
}

// stored is what a file holds.
type stored struct {
	sum  [sha256.Size]byte
	size int64
}

type textsRecord struct {
	missing *collection.MissingRecord
	texts   map[int]collection.TextRecord
}

var _ reader.Recorder = (*Recorder)(nil)

// Create begins a collection at path: a gzipped tar when it ends in .tar.gz or
// .tgz, otherwise a directory. Nothing may be there yet. now is the run's clock,
// d describes the source that is read.
func Create(path string, now time.Time, d evidence.Description) (*Recorder, error) {
	r := &Recorder{
		out: path, dir: path, now: now.UTC(), source: d, used: map[string]stored{},
		objects: map[evidence.Need]*collection.ObjectsRecord{}, texts: map[evidence.TextQuery]*textsRecord{},
	}
	r.packed = strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tgz")
	_, err := os.Lstat(path)
	switch {
	case err == nil && !r.packed && emptyDir(path):
	case err == nil:
		return nil, fmt.Errorf("create collection %s: something is there already; name another path", path)
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("create collection: %w", err)
	case r.packed:
		if r.dir, err = os.MkdirTemp(filepath.Dir(path), ".rollcall-collect-"); err != nil {
			return nil, fmt.Errorf("create collection: %w", err)
		}
	default:
		if err := os.Mkdir(path, 0o700); err != nil {
			return nil, fmt.Errorf("create collection: %w", err)
		}
	}
	if r.root, err = os.OpenRoot(r.dir); err != nil {
		return nil, fmt.Errorf("create collection: %w", err)
	}
	return r, nil
}

func emptyDir(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// Objects implements evidence.Recorder.
func (r *Recorder) Objects(n evidence.Need, objects []evidence.Object) error {
	records := make([]collection.ObjectRecord, 0, len(objects))
	for _, o := range objects {
		text, err := encode(o.Content)
		if err != nil {
			return fmt.Errorf("encode %s %s: %w", n.Resource, o.Name, err)
		}
		file, err := r.write(objectFile(n.Resource, o.Namespace, o.Name), text)
		if err != nil {
			return fmt.Errorf("write %s %s: %w", n.Resource, o.Name, err)
		}
		records = append(records, collection.ObjectRecord{
			Namespace: o.Namespace, Name: o.Name, File: file, Source: o.Loc.Source, Cluster: o.Loc.Cluster, Path: o.Loc.Path, ReadAt: o.ReadAt.UTC(),
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.need(n)
	rec.Objects = records
	rec.Alone = len(objects) > 0 && !slices.ContainsFunc(objects, func(o evidence.Object) bool { return !o.Alone })
	return nil
}

// Missing implements evidence.Recorder.
func (r *Recorder) Missing(n evidence.Need, u *evidence.Unavailable) error {
	m := &collection.MissingRecord{Why: string(u.Why), Detail: u.Detail}
	if !u.Supply.IsZero() {
		m.Supply = &u.Supply
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.Resource.Name == "" {
		r.query(n.Text).missing = m
		return nil
	}
	r.need(n).Missing = m
	return nil
}

func (r *Recorder) need(n evidence.Need) *collection.ObjectsRecord {
	rec := r.objects[n]
	if rec == nil {
		rec = &collection.ObjectsRecord{Resource: n.Resource.String(), Namespace: n.Namespace}
		r.objects[n] = rec
	}
	return rec
}

func (r *Recorder) query(q evidence.TextQuery) *textsRecord {
	rec := r.texts[q]
	if rec == nil {
		rec = &textsRecord{texts: map[int]collection.TextRecord{}}
		r.texts[q] = rec
	}
	return rec
}

// write stores content under a name, or under a variant of it when the name is
// taken by other content, and returns the name that it got.
func (r *Recorder) write(name string, content []byte) (string, error) {
	name, have := r.claim(name, stored{sha256.Sum256(content), int64(len(content))})
	if have {
		return name, nil
	}
	if err := r.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	return name, r.root.WriteFile(name, content, 0o600)
}

// claim reserves a name for content. True means that it is stored already.
func (r *Recorder) claim(name string, content stored) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := name
	for n := 2; ; n++ {
		have, taken := r.used[at]
		if !taken {
			r.used[at] = content
			return at, false
		}
		if have == content {
			return at, true
		}
		at = fmt.Sprintf("reads/%d/%s", n, name)
	}
}

// Close writes the header and, for a tar, packs it. The collection is complete
// only when Close returns nil.
func (r *Recorder) Close() (err error) {
	if r.closed {
		return nil
	}
	r.closed = true
	defer func() {
		err = errors.Join(err, r.root.Close())
		if r.packed {
			err = errors.Join(err, os.RemoveAll(r.dir))
		}
		if err != nil {
			err = fmt.Errorf("finish collection %s: %w", r.out, err)
		}
	}()
	// JSON is YAML, too, and is read back in a tenth of YAML's time and memory.
	header, err := json.MarshalIndent(r.manifest(), "", " ")
	if err != nil {
		return err
	}
	if err := r.root.WriteFile(collection.ManifestName, header, 0o600); err != nil {
		return err
	}
	if err := r.root.WriteFile(collection.SealName, collection.Seal(header), 0o600); err != nil {
		return err
	}
	if !r.packed {
		return nil
	}
	return pack(r.root, r.out, r.now)
}

// Discard ends a collection that shall not be kept.
func (r *Recorder) Discard() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if err := errors.Join(r.root.Close(), os.RemoveAll(r.dir)); err != nil {
		return fmt.Errorf("discard collection %s: %w", r.out, err)
	}
	return nil
}

func (r *Recorder) manifest() collection.Manifest {
	m := collection.Manifest{
		APIVersion: collection.Version, Kind: collection.Kind,
		Now: r.now, AtLeast: r.source.AtLeast && r.now.Equal(r.source.Now), Source: cmp.Or(r.source.Origin, r.source.Kind), Vantage: r.source.Vantage,
		Hosted:  r.source.Hosted,
		Notes:   r.source.Notes,
		Objects: []collection.ObjectsRecord{}, Texts: []collection.TextsRecord{},
	}
	for _, rec := range r.objects {
		m.Objects = append(m.Objects, *rec)
	}
	slices.SortFunc(m.Objects, func(a, b collection.ObjectsRecord) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.Namespace, b.Namespace))
	})
	for q, rec := range r.texts {
		t := collection.TextsRecord{Query: collection.RecordQuery(q), Missing: rec.missing}
		for i := range len(rec.texts) {
			t.Texts = append(t.Texts, rec.texts[i])
		}
		m.Texts = append(m.Texts, t)
	}
	slices.SortFunc(m.Texts, func(a, b collection.TextsRecord) int {
		x, y := a.Query, b.Query
		return cmp.Or(strings.Compare(x.Kind, y.Kind), strings.Compare(x.Cluster, y.Cluster), strings.Compare(x.Namespace, y.Namespace),
			strings.Compare(x.Container, y.Container), strings.Compare(x.Unit, y.Unit), strings.Compare(x.Host, y.Host))
	})
	for name, f := range r.used {
		m.Files = append(m.Files, collection.FileRecord{Name: name, Size: f.size, SHA256: hex.EncodeToString(f.sum[:])})
	}
	slices.SortFunc(m.Files, func(a, b collection.FileRecord) int { return strings.Compare(a.Name, b.Name) })
	return m
}

var _ io.Closer = (*Recorder)(nil)
