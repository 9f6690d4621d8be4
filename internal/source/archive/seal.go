package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// A collection is sealed: its header lists every file with size and SHA-256, and
// SealName has the SHA-256 of the header, in the format of sha256sum. So a change to
// any byte, and a file that is gone, is found. It protects against accidents. Whoever
// changes a collection on purpose can seal it again.

// SealName is the file next to the header with the header's digest.
const SealName = "rollcall.sha256"

// copyAgain is what to do with a collection whose header cannot be believed.
const copyAgain = "the collection is damaged or was edited: copy it again, or collect again with `rollcall collect`"

var (
	errGone    = errors.New("missing in the collection")
	errChanged = errors.New("it has not the SHA-256 that it was collected with")
)

// Seal returns the content of SealName for a header.
func Seal(header []byte) []byte {
	sum := sha256.Sum256(header)
	return []byte(hex.EncodeToString(sum[:]) + "  " + ManifestName + "\n")
}

func checkSeal(header, seal []byte) error {
	if !bytes.Equal(seal, Seal(header)) {
		return fmt.Errorf("it has not the SHA-256 that %s names; %s", SealName, copyAgain)
	}
	return nil
}

// indexFiles makes the digests of a sealed collection known by name. A file that
// evidence lies in and that has no digest is an error.
func (m *Manifest) indexFiles() error {
	if !m.sealed {
		return nil
	}
	m.files = make(map[string]FileRecord, len(m.Files))
	for _, f := range m.Files {
		if err := inside(f.Name); err != nil {
			return err
		}
		m.files[f.Name] = f
	}
	known := func(name string) error {
		if _, ok := m.files[name]; !ok && name != "" {
			return fmt.Errorf("it has no digest of the file %q", name)
		}
		return nil
	}
	for _, o := range m.Objects {
		for _, r := range o.Objects {
			if err := known(r.File); err != nil {
				return err
			}
		}
	}
	for _, t := range m.Texts {
		for _, r := range t.Texts {
			if err := known(r.File); err != nil {
				return err
			}
		}
	}
	return nil
}

// openManifest reads the header of a collection, and nothing where there is none.
func (b *builder) openManifest(headers map[string][]byte, seals map[string][]byte) (err error) {
	s := b.s
	switch {
	case len(headers) > 1:
		return fmt.Errorf("read archive %s: it holds several collections of rollcall; name one of them", s.name)
	case len(headers) == 0 && len(seals) == 0:
		return nil
	case len(headers) == 0:
		return fmt.Errorf("read the header of collection %s: %s is missing; %s", s.name, ManifestName, copyAgain)
	}
	for root, raw := range headers {
		if s.manifest, err = parseManifest(raw, seals[root], root); err != nil {
			return fmt.Errorf("read the header of collection %s: %s: %w", s.name, root+ManifestName, err)
		}
	}
	s.kind, s.named = Collection, b.named
	s.notes = append(s.notes, s.sealNotes()...)
	return nil
}

// sealNotes says what of a collection cannot be checked, or does not belong to it.
func (s *Source) sealNotes() []evidence.Coverage {
	need := "collection " + s.base
	if !s.manifest.sealed {
		return []evidence.Coverage{{Need: need, State: evidence.Partial,
			Reason: "an older rollcall wrote it without digests of its files: changes to them are not noticed"}}
	}
	var notes []evidence.Coverage
	if s.cut != "" {
		notes = append(notes, evidence.Coverage{Need: need, State: evidence.Partial, Reason: s.cut + "; what is read of it was checked by its digests"})
	}
	var foreign []string
	for _, p := range slices.Sorted(maps.Keys(s.named)) {
		name, below := strings.CutPrefix(p, s.manifest.root)
		if _, ok := s.manifest.files[name]; !ok || !below {
			foreign = append(foreign, p)
		}
	}
	if len(foreign) > 0 {
		notes = append(notes, evidence.Coverage{Need: "files next to " + need, State: evidence.Partial,
			Reason: "the collection does not list them, and they are not read: " + few(foreign)})
	}
	return notes
}

// unsealedCut says how a collection without digests ended early: which of its files
// are whole is not known then.
func (s *Source) unsealedCut() string {
	if s.manifest.sealed {
		return ""
	}
	return s.cut
}

// readNamed returns the content of a file of the collection.
func (s *Source) readNamed(ctx context.Context, name string) ([]byte, error) {
	f, want, err := s.recorded(name)
	if err != nil {
		return nil, err
	}
	raw, err := s.read(ctx, f, maxObjectFile)
	if err != nil || want == nil {
		return raw, err
	}
	return raw, want.check(sha256.Sum256(raw))
}

// maxAtOnce is how large a text of a collection may be to be kept in memory while it is
// checked. Larger ones are read twice.
const maxAtOnce = 8 << 20

// openNamed opens a file of the collection. Its digest is checked first, so that no line
// of a damaged text is handed out.
func (s *Source) openNamed(ctx context.Context, name string) (io.ReadCloser, error) {
	f, want, err := s.recorded(name)
	if err != nil {
		return nil, err
	}
	if want == nil {
		return s.open(ctx, f)
	}
	if f.size <= maxAtOnce {
		raw, err := s.readNamed(ctx, name)
		return io.NopCloser(bytes.NewReader(raw)), err
	}
	sum := sha256.New()
	if err := s.copyTo(ctx, sum, f); err != nil {
		return nil, err
	}
	if err := want.check([sha256.Size]byte(sum.Sum(nil))); err != nil {
		return nil, err
	}
	return s.open(ctx, f)
}

func (s *Source) copyTo(ctx context.Context, sum hash.Hash, f file) (err error) {
	in, err := s.open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	_, err = io.Copy(sum, &whileAlive{ctx, in})
	return err
}

// recorded finds a file of the collection and what it has to be like, nil where the
// collection has no digests.
func (s *Source) recorded(name string) (file, *FileRecord, error) {
	f, ok := s.named[s.manifest.root+name]
	if !ok {
		return file{}, nil, errGone
	}
	if !s.manifest.sealed {
		return f, nil, nil
	}
	want := s.manifest.files[name]
	if f.lost == "" && f.size != want.Size {
		return file{}, nil, fmt.Errorf("it has %d bytes, and %d were collected", f.size, want.Size)
	}
	return f, &want, nil
}

func (r *FileRecord) check(sum [sha256.Size]byte) error {
	if hex.EncodeToString(sum[:]) != r.SHA256 {
		return errChanged
	}
	return nil
}
