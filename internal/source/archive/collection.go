package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// Collection is the kind of Rollcall's own collection.
const Collection = "collection"

// consoles and header are the layout of Rollcall's own collection, as far as it is not that
// of a must-gather. With its header the archive is read as the header says (replay.go).
var (
	consoles = layout.Layout{Kind: Collection, File: consoleFile}
	header   = layout.Layout{Kind: Collection, File: headerFile}
)

// consoleFile reads consoles/<host>.log.
func consoleFile(e *layout.Entry, dir string, below []string) bool {
	if dir != "consoles" || len(below) != 1 {
		return false
	}
	host, ok := strings.CutSuffix(below[0], ".log")
	if !ok || host == "" {
		return false
	}
	e.Class, e.Text = layout.Text, evidence.Text{Kind: evidence.Console, Host: host}
	return true
}

func headerFile(e *layout.Entry, dir string, below []string) bool {
	switch {
	case len(below) > 0:
		return false
	case dir == collection.ManifestName:
		e.Class = layout.Header
	case dir == collection.SealName:
		e.Class = layout.Seal
	default:
		return false
	}
	return true
}

var errGone = errors.New("missing in the collection")

// openManifest reads the header of a collection, if there is one.
func (b *builder) openManifest(headers map[string][]byte, seals map[string][]byte) (err error) {
	s := b.s
	switch {
	case len(headers) > 1:
		return fmt.Errorf("read archive %s: it holds several collections of rollcall; name one of them", s.name)
	case len(headers) == 0 && len(seals) == 0:
		return nil
	case len(headers) == 0:
		return fmt.Errorf("read the header of collection %s: %s is missing; %s", s.name, collection.ManifestName, collection.CopyAgain)
	}
	for root, raw := range headers {
		s.manifestRoot = root
		if s.manifest, err = collection.Parse(raw, seals[root]); err != nil {
			return fmt.Errorf("read the header of collection %s: %s: %w", s.name, root+collection.ManifestName, err)
		}
	}
	s.kind, s.recorded = Collection, b.recorded
	s.notes = append(s.notes, s.sealNotes()...)
	return nil
}

// sealNotes notes what of a collection cannot be checked, or does not belong to it.
func (s *Source) sealNotes() []evidence.Coverage {
	need := "collection " + s.base
	if !s.manifest.Sealed() {
		return []evidence.Coverage{{Need: need, State: evidence.Partial,
			Reason: "an older rollcall wrote it without digests of its files: changes to them are not noticed"}}
	}
	var notes []evidence.Coverage
	if s.cut != "" {
		notes = append(notes, evidence.Coverage{Need: need, State: evidence.Partial, Reason: s.cut + "; what is read of it was checked by its digests"})
	}
	var foreign []string
	for _, p := range slices.Sorted(maps.Keys(s.recorded)) {
		name, below := strings.CutPrefix(p, s.manifestRoot)
		if _, ok := s.manifest.File(name); !ok || !below {
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
	if s.manifest.Sealed() {
		return ""
	}
	return s.cut
}

// readRecordedFile returns the content of a file of the collection.
func (s *Source) readRecordedFile(ctx context.Context, name string) ([]byte, error) {
	f, want, err := s.recordedFile(name)
	if err != nil {
		return nil, err
	}
	raw, err := s.members.Read(ctx, f, maxObjectFile)
	if err != nil || want == nil {
		return raw, err
	}
	return raw, want.Check(sha256.Sum256(raw))
}

// maxAtOnce is how large a text of a collection may be to be kept in memory while it is
// checked. Larger ones are read twice.
const maxAtOnce = 8 << 20

// openRecordedFile opens a file of the collection. Its digest is checked first, so that no
// line of a damaged text is returned.
func (s *Source) openRecordedFile(ctx context.Context, name string) (io.ReadCloser, error) {
	f, want, err := s.recordedFile(name)
	if err != nil {
		return nil, err
	}
	if want == nil {
		return s.members.Open(ctx, f)
	}
	if f.Size <= maxAtOnce {
		raw, err := s.readRecordedFile(ctx, name)
		return io.NopCloser(bytes.NewReader(raw)), err
	}
	sum := sha256.New()
	if err := s.copyTo(ctx, sum, f); err != nil {
		return nil, err
	}
	if err := want.Check([sha256.Size]byte(sum.Sum(nil))); err != nil {
		return nil, err
	}
	return s.members.Open(ctx, f)
}

func (s *Source) copyTo(ctx context.Context, sum hash.Hash, f member.File) (err error) {
	in, err := s.members.Open(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	_, err = io.Copy(sum, member.WithContext(ctx, in))
	return err
}

// recordedFile finds a file of the collection and its record, nil where the collection has
// no digests.
func (s *Source) recordedFile(name string) (member.File, *collection.FileRecord, error) {
	f, ok := s.recorded[s.manifestRoot+name]
	if !ok {
		return member.File{}, nil, errGone
	}
	if !s.manifest.Sealed() {
		return f, nil, nil
	}
	want, _ := s.manifest.File(name)
	if f.Lost == "" && f.Size != want.Size {
		return member.File{}, nil, fmt.Errorf("it has %d bytes, and %d were collected", f.Size, want.Size)
	}
	return f, &want, nil
}
