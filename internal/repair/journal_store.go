package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// Store keeps contents by their digest, each in a file of mode 0600 below a
// directory of mode 0700. What it holds may be secret; its names are not.
type Store struct{ state, dir string }

const storeDir = "pre-images"

// maxContent bounds one content; held configs are the largest.
const maxContent = maxHeldFile

// NewStore returns the store below a state directory.
func NewStore(stateDir string) *Store { return &Store{stateDir, storeDir} }

// nameOf returns the file's name of a digest.
func nameOf(digest string) (string, error) {
	if !digestForm.MatchString(digest) {
		return "", fmt.Errorf("%.80q is not a valid digest", digest)
	}
	return strings.TrimPrefix(digest, "sha256:"), nil
}

// Put keeps a content durably and returns its digest.
func (s *Store) Put(content []byte) (string, error) {
	digest := digestBytes(content)
	name, err := nameOf(digest)
	if err != nil {
		return "", err
	}
	if len(content) > maxContent {
		return "", fmt.Errorf("keep content: it has %d bytes, at most %d are kept", len(content), maxContent)
	}
	dir, err := statedir.Open(s.state, true, s.dir)
	if err != nil {
		return "", fmt.Errorf("keep content: %w", err)
	}
	if have, err := statedir.Read(dir, name, maxContent); err != nil || digestBytes(have) != digest {
		err = statedir.Replace(dir, name, content)
		if err != nil {
			return "", errors.Join(fmt.Errorf("keep content %s: %w", digest, err), dir.Close())
		}
	}
	return digest, dir.Close()
}

// Get returns a content and verifies its digest.
func (s *Store) Get(digest string) ([]byte, error) {
	name, err := nameOf(digest)
	if err != nil {
		return nil, err
	}
	dir, err := statedir.Open(s.state, false, s.dir)
	if err != nil {
		return nil, fmt.Errorf("read kept content: %w", err)
	}
	raw, err := statedir.Read(dir, name, maxContent)
	if err := errors.Join(err, dir.Close()); err != nil {
		return nil, fmt.Errorf("read kept content: %w", err)
	}
	if have := digestBytes(raw); have != digest {
		return nil, fmt.Errorf("read kept content %s: the file was changed, it now has digest %s", digest, have)
	}
	return raw, nil
}

// find returns the first content that fits, nil where none does.
func (s *Store) find(fits func([]byte) bool) ([]byte, error) {
	dir, err := statedir.Open(s.state, false, s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept contents: %w", err)
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	var found []byte
	for _, e := range entries {
		raw, err := statedir.Read(dir, e.Name(), maxContent)
		if err == nil && fits(raw) {
			found = raw
			break
		}
	}
	return found, errors.Join(err, dir.Close())
}
