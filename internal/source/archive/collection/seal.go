package collection

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// A collection is sealed: its header lists every file with size and SHA-256, and
// SealName has the SHA-256 of the header, in the format of sha256sum. So a change to
// any byte, and a file that is gone, is found. That protects against accidents and not
// against intent: a collection can be changed and sealed again.

// SealName is the file next to the header with the header's digest.
const SealName = "rollcall.sha256"

// CopyAgain is what to do with a collection whose header is damaged.
const CopyAgain = "the collection is damaged or was edited: copy it again, or collect again with `rollcall collect`"

var errChanged = errors.New("it has not the SHA-256 that it was collected with")

// Seal returns the content of SealName for a header.
func Seal(header []byte) []byte {
	sum := sha256.Sum256(header)
	return []byte(hex.EncodeToString(sum[:]) + "  " + ManifestName + "\n")
}

func checkSeal(header, seal []byte) error {
	if !bytes.Equal(seal, Seal(header)) {
		return fmt.Errorf("it has not the SHA-256 that %s names; %s", SealName, CopyAgain)
	}
	return nil
}

// indexFiles indexes the digests of a sealed collection by file. A file with evidence and
// without a digest is an error.
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

// Sealed reports whether the collection has digests; older ones have none.
func (m *Manifest) Sealed() bool { return m.sealed }

// File returns the record of a file of a sealed collection.
func (m *Manifest) File(name string) (FileRecord, bool) {
	f, ok := m.files[name]
	return f, ok
}

// Check compares a file's digest with its record.
func (r FileRecord) Check(sum [sha256.Size]byte) error {
	if hex.EncodeToString(sum[:]) != r.SHA256 {
		return errChanged
	}
	return nil
}
