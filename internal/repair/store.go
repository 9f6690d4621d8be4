package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps contents by their digest, each in a file of mode 0600 below a
// directory of mode 0700. What it holds may be secret; its names are not.
type Store struct{ dir string }

// NewStore returns the store below a state directory.
func NewStore(stateDir string) *Store { return &Store{dir: filepath.Join(stateDir, "pre-images")} }

// StateDir returns where journals and pre-images lie: the override if it is
// set, else $XDG_STATE_HOME/rollcall, else ~/.local/state/rollcall.
func StateDir(override string, env func(string) string) (string, error) {
	if override != "" {
		return override, nil
	}
	if d := env("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "rollcall"), nil
	}
	home := env("HOME")
	if home == "" {
		return "", errors.New("find state directory: neither XDG_STATE_HOME nor HOME is set; name one with --state-dir")
	}
	return filepath.Join(home, ".local", "state", "rollcall"), nil
}

func (s *Store) path(digest string) (string, error) {
	hex, ok := strings.CutPrefix(digest, "sha256:")
	if !ok || len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return "", fmt.Errorf("digest %q is none", digest)
	}
	return filepath.Join(s.dir, hex), nil
}

// Where returns the file of a digest, for people.
func (s *Store) Where(digest string) string {
	p, err := s.path(digest)
	if err != nil {
		return ""
	}
	return p
}

// Put keeps a content durably and returns its digest.
func (s *Store) Put(content []byte) (string, error) {
	digest := digestBytes(content)
	path, err := s.path(digest)
	if err != nil {
		return "", err
	}
	if have, err := s.Get(digest); err == nil && len(have) == len(content) {
		return digest, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", fmt.Errorf("keep content: %w", err)
	}
	f, err := os.CreateTemp(s.dir, ".new-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("keep content: %w", err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keep content %s: %w", digest, err), removeLeft(f.Name()))
	}
	return digest, nil
}

func removeLeft(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Get returns a content and verifies its digest.
func (s *Store) Get(digest string) ([]byte, error) {
	path, err := s.path(digest)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read kept content: %w", err)
	}
	if have := digestBytes(raw); have != digest {
		return nil, fmt.Errorf("read kept content %s: the file was changed, it now has digest %s", digest, have)
	}
	return raw, nil
}
