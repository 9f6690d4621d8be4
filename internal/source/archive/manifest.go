package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// ManifestName is the file that makes a tree a collection of Rollcall.
const ManifestName = "rollcall.yaml"

// The version of the layout. A reader refuses versions that it does not know.
const (
	ManifestVersion = "rollcall.dev/v1alpha2"
	ManifestKind    = "Collection"

	unsealedVersion = "rollcall.dev/v1alpha1" // without digests
)

// Manifest is the header of a collection: what one run asked and what it got, in
// the words of that run, so that replaying it gives the same lists, the same
// errors and the same clock. The files that it names lie in the layout of a
// must-gather, for other tools and for people.
type Manifest struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Now        time.Time `json:"now"`               // the run's clock
	AtLeast    bool      `json:"atLeast,omitempty"` // Now is only the newest time that was read
	Source     string    `json:"source,omitempty"`  // kind of the source that was read
	Vantage    string    `json:"vantage,omitempty"` // from where probes were made
	// Notes are what the run's sources said of themselves: what they hold and do not
	// read, and how they were joined.
	Notes   []evidence.Coverage `json:"notes,omitempty"`
	Hosted  *evidence.Hosted    `json:"hosted,omitempty"` // the hosted cluster that was looked at with its management cluster
	Objects []ObjectsRecord     `json:"objects"`
	Texts   []TextsRecord       `json:"texts"`
	Files   []FileRecord        `json:"files,omitempty"` // every file of the collection but the header and its seal

	root   string                // directory of the manifest in its archive, "" or ending in "/"
	sealed bool                  // digests are there and were checked against the seal
	files  map[string]FileRecord // by name, of a sealed collection
}

// FileRecord is one file of a collection as it was written.
type FileRecord struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// ObjectsRecord is the outcome of one need for objects.
type ObjectsRecord struct {
	Resource  string         `json:"resource"` // as evidence.Resource.String
	Namespace string         `json:"namespace,omitempty"`
	Objects   []ObjectRecord `json:"objects,omitempty"`
	Alone     bool           `json:"alone,omitempty"`   // each lay in a file of its own, and nothing listed which there were
	Missing   *MissingRecord `json:"missing,omitempty"` // in addition to objects: some could not be read
}

// ObjectRecord is one object of a need.
type ObjectRecord struct {
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	File      string    `json:"file"`              // in the collection
	Source    string    `json:"source,omitempty"`  // the locator of the run
	Cluster   string    `json:"cluster,omitempty"` // the locator of the run
	Path      string    `json:"path,omitempty"`    // the locator of the run
	ReadAt    time.Time `json:"readAt,omitzero"`
}

// TextsRecord is the outcome of one need for texts.
type TextsRecord struct {
	Query   QueryRecord    `json:"query"`
	Texts   []TextRecord   `json:"texts,omitempty"`
	Missing *MissingRecord `json:"missing,omitempty"`
}

// QueryRecord is an evidence.TextQuery.
type QueryRecord struct {
	Kind      string `json:"kind,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Container string `json:"container,omitempty"`
	Unit      string `json:"unit,omitempty"`
	Host      string `json:"host,omitempty"`
}

// TextRecord is one text of a need.
type TextRecord struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Previous  bool   `json:"previous,omitempty"`
	Host      string `json:"host,omitempty"`
	Unit      string `json:"unit,omitempty"`
	Path      string `json:"path"`              // base of the lines' locators in the run
	Cluster   string `json:"cluster,omitempty"` // of the lines' locators
	Source    string `json:"source,omitempty"`  // of the lines' locators
	File      string `json:"file,omitempty"`    // in the collection; "" when the text could not be opened
	Failed    string `json:"failed,omitempty"`  // how opening or reading it ended, when not well
	Damaged   bool   `json:"damaged,omitempty"` // that it failed as evidence.Damage
}

// MissingRecord is an evidence.Unavailable. Of its advice only what Rollcall itself says
// is believed on replay.
type MissingRecord struct {
	Why    string           `json:"why"`
	Detail string           `json:"detail,omitempty"`
	Supply *evidence.Supply `json:"supply,omitempty"` // nil: nothing is known to
}

// RecordQuery returns a query as a record.
func RecordQuery(q evidence.TextQuery) QueryRecord {
	return QueryRecord{string(q.Kind), q.Cluster, q.Namespace, q.Container, q.Unit, q.Host}
}

// parseManifest reads a header. seal is the content of SealName in addition to it, nil where
// there is no such file.
func parseManifest(raw, seal []byte, root string) (*Manifest, error) {
	if seal != nil {
		if err := checkSeal(raw, seal); err != nil {
			return nil, err
		}
	}
	m := &Manifest{root: root, sealed: seal != nil}
	if err := m.decode(raw); err != nil {
		return nil, err
	}
	if m.APIVersion != ManifestVersion && m.APIVersion != unsealedVersion || m.Kind != ManifestKind {
		return nil, fmt.Errorf("it is %q %q, this rollcall reads %q %q; use the rollcall that wrote it, or a newer one",
			m.APIVersion, m.Kind, ManifestVersion, ManifestKind)
	}
	if m.APIVersion == ManifestVersion && !m.sealed {
		return nil, fmt.Errorf("%s is missing; %s", SealName, copyAgain)
	}
	if err := m.filesOfObjects(); err != nil {
		return nil, err
	}
	for _, t := range m.Texts {
		for _, r := range t.Texts {
			if err := inside(r.File); r.File != "" && err != nil {
				return nil, err
			}
		}
	}
	return m, m.indexFiles()
}

// decode reads a header: JSON, or the YAML of older collections, which takes many times as
// much memory.
func (m *Manifest) decode(raw []byte) error {
	if !json.Valid(raw) {
		return yamlin.UnmarshalStrict(raw, m, 2*maxManifest)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(m)
}

// filesOfObjects refuses files outside of the collection, and one that is named for two
// objects: reading it again and again would take memory that no file of the collection
// has. Two needs may name one object.
func (m *Manifest) filesOfObjects() error {
	type object struct{ resource, namespace, name string }
	named := map[string]object{}
	for _, o := range m.Objects {
		once := map[string]bool{}
		for _, r := range o.Objects {
			if err := inside(r.File); err != nil {
				return err
			}
			this := object{o.Resource, r.Namespace, r.Name}
			if have, ok := named[r.File]; ok && have != this || once[r.File] {
				return fmt.Errorf("the file %q is named for two objects", r.File)
			}
			named[r.File], once[r.File] = this, true
		}
	}
	return nil
}

// inside refuses names that lead out of the collection.
func inside(file string) error {
	if file == "" || path.IsAbs(file) || path.Clean(file) != file || file == ".." || strings.HasPrefix(file, "../") {
		return fmt.Errorf("the file %q is not inside the collection", file)
	}
	return nil
}

func (r MissingRecord) unavailable(n evidence.Need) *evidence.Unavailable {
	return &evidence.Unavailable{Need: n, Why: ownWhy(r.Why), Detail: r.Detail, Supply: ownSupply(n, r.Supply)}
}

// replayObjects answers as the recorded run was answered. A question about one
// namespace is answered from a recorded one about all.
func (s *Source) replayObjects(ctx context.Context, n evidence.Need) ([]evidence.Object, error) {
	find := func(namespace string) int {
		return slices.IndexFunc(s.manifest.Objects, func(r ObjectsRecord) bool {
			return r.Resource == n.Resource.String() && r.Namespace == namespace
		})
	}
	i, all := find(n.Namespace), false
	if i < 0 {
		i, all = find(""), true
	}
	if i < 0 {
		return nil, notAsked(n)
	}
	record := s.manifest.Objects[i]
	var objects []evidence.Object
	var cost spending
	keep := s.keep()
	var damaged damages
	for _, r := range record.Objects {
		if all && n.Namespace != "" && r.Namespace != n.Namespace {
			continue
		}
		o, err := s.replayObject(ctx, n.Resource, r, &cost, keep)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			damaged.add(fmt.Sprintf("%s: %v", r.File, err))
			continue
		}
		o.Alone = record.Alone
		objects = append(objects, o)
	}
	if why := s.unsealedCut(); why != "" {
		damaged.add(why)
	}
	if damaged.count > 0 {
		if record.Missing != nil {
			damaged.add(record.Missing.unavailable(n).Error())
		}
		// None of the others either: which of them a fact would miss is not known.
		return nil, &evidence.Unavailable{Need: n, Why: evidence.Damaged, Detail: damaged.String(), Supply: supply(n)}
	}
	if record.Missing != nil {
		return objects, record.Missing.unavailable(n)
	}
	return objects, nil
}

func (s *Source) replayObject(ctx context.Context, r evidence.Resource, rec ObjectRecord, cost *spending, keep Keep) (evidence.Object, error) {
	raw, err := s.readNamed(ctx, rec.File)
	if err != nil {
		return evidence.Object{}, err
	}
	content, err := cost.decode(raw, decode)
	if err != nil {
		return evidence.Object{}, err
	}
	return evidence.Object{
		Resource: r, Namespace: rec.Namespace, Name: rec.Name, Content: keep.of(r, content), ReadAt: rec.ReadAt,
		Loc: evidence.Locator{Source: rec.Source, Cluster: rec.Cluster, Path: rec.Path},
	}, nil
}

func notAsked(n evidence.Need) *evidence.Unavailable {
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n)
	}
	return &evidence.Unavailable{Need: n, Why: evidence.NotCollected,
		Detail: "the run that was recorded did not ask for it", Supply: supply(n)}
}

func (s *Source) replayTexts(q evidence.TextQuery) ([]evidence.Text, error) {
	need := evidence.Texts(q)
	i := slices.IndexFunc(s.manifest.Texts, func(r TextsRecord) bool { return r.Query == RecordQuery(q) })
	if i < 0 {
		return nil, notAsked(need)
	}
	record := s.manifest.Texts[i]
	if record.Missing != nil {
		return nil, record.Missing.unavailable(need)
	}
	var texts []evidence.Text
	for _, r := range record.Texts {
		texts = append(texts, evidence.Text{
			Kind: evidence.TextKind(r.Kind), Namespace: r.Namespace, Pod: r.Pod, Container: r.Container,
			Previous: r.Previous, Host: r.Host, Unit: r.Unit, Path: r.Path, Source: r.Source, Cluster: r.Cluster,
			Open: func(ctx context.Context) (io.ReadCloser, error) { return s.openRecorded(ctx, r) },
		})
	}
	if why := s.unsealedCut(); why != "" {
		texts = append(texts, s.unread(q, why))
	}
	return texts, nil
}

// openRecorded opens a recorded text; it fails, or ends, as it did in the run.
func (s *Source) openRecorded(ctx context.Context, r TextRecord) (io.ReadCloser, error) {
	failed := errors.New(r.Failed)
	if r.Damaged {
		failed = &evidence.Damage{Detail: r.Failed}
	}
	if r.File == "" {
		return nil, failed
	}
	in, err := s.openNamed(ctx, r.File)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &evidence.Damage{Detail: fmt.Sprintf("%s: %v", r.File, err)}
	}
	if r.Failed == "" {
		return in, nil
	}
	return readCloser{io.MultiReader(in, failing{failed}), in}, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
