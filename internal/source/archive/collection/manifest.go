package collection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// MaxManifest bounds the header of a collection: about 200 bytes a recorded object.
const MaxManifest = 64 << 20

// ManifestName is the file that makes a tree a collection of Rollcall.
const ManifestName = "rollcall.yaml"

// The version of the layout. A reader refuses versions that it does not know.
const (
	Version = "rollcall.dev/v1alpha2"
	Kind    = "Collection"

	unsealedVersion = "rollcall.dev/v1alpha1" // without digests
)

// Manifest is the header of a collection: what one run asked and what it got, in
// the words of that run, so that replaying it gives the same lists, the same
// errors and the same clock. Its files are laid out as those of a must-gather, for other
// tools and for people.
type Manifest struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Now        time.Time `json:"now"`               // the run's clock
	AtLeast    bool      `json:"atLeast,omitempty"` // Now is only the newest time that was read
	Source     string    `json:"source,omitempty"`  // kind of the source that was read
	Vantage    string    `json:"vantage,omitempty"` // from where probes were made
	// Notes are what the run's sources reported of themselves: what they hold and do not
	// read, and how they were joined.
	Notes   []evidence.Coverage `json:"notes,omitempty"`
	Hosted  *evidence.Hosted    `json:"hosted,omitempty"` // the hosted cluster that was looked at with its management cluster
	Objects []ObjectsRecord     `json:"objects"`
	Texts   []TextsRecord       `json:"texts"`
	Files   []FileRecord        `json:"files,omitempty"` // every file of the collection but the header and its seal

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
	Alone     bool           `json:"alone,omitempty"`   // each was in a file of its own, and no List was there
	Missing   *MissingRecord `json:"missing,omitempty"` // some objects could not be read
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
	Failed    string `json:"failed,omitempty"`  // the error of opening or reading it
	Damaged   bool   `json:"damaged,omitempty"` // that it failed as evidence.Damage
}

// MissingRecord is an evidence.Unavailable. Of its advice a replay takes only what Rollcall
// itself gives (own.go).
type MissingRecord struct {
	Why    string           `json:"why"`
	Detail string           `json:"detail,omitempty"`
	Supply *evidence.Supply `json:"supply,omitempty"` // nil: nothing is known to
}

// RecordQuery returns a query as a record.
func RecordQuery(q evidence.TextQuery) QueryRecord {
	return QueryRecord{string(q.Kind), q.Cluster, q.Namespace, q.Container, q.Unit, q.Host}
}

// Parse reads a header. seal is the content of the file SealName next to it, nil where there
// is none.
func Parse(raw, seal []byte) (*Manifest, error) {
	if seal != nil {
		if err := checkSeal(raw, seal); err != nil {
			return nil, err
		}
	}
	m := &Manifest{sealed: seal != nil}
	if err := m.decode(raw); err != nil {
		return nil, err
	}
	if m.APIVersion != Version && m.APIVersion != unsealedVersion || m.Kind != Kind {
		return nil, fmt.Errorf("it is %q %q, this rollcall reads %q %q; use the rollcall that wrote it, or a newer one",
			m.APIVersion, m.Kind, Version, Kind)
	}
	if m.APIVersion == Version && !m.sealed {
		return nil, fmt.Errorf("%s is missing; %s", SealName, CopyAgain)
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
		return yamlin.UnmarshalStrict(raw, m, 2*MaxManifest)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(m)
}

// filesOfObjects refuses files outside of the collection, and a file that two objects refer
// to: a small collection could then take any amount of memory. Two needs may refer to one
// object.
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
