// Package catalog holds the knowledge of Rollcall: one YAML file per fault, in a
// directory per layer, and the remedies that it refuses. The files are data:
// internal/fault loads and checks them.
package catalog

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

//go:embed */*.yaml
var entries embed.FS

//go:embed decoded.gz
var decoded []byte

// FS is the built-in catalog.
var FS = Files{entries, sync.OnceValue(func() map[string][]byte { return readDecoded(decoded) })}

// Files are the entries, and what was decoded of them when the program was made: to decode
// YAML takes five times as long.
type Files struct {
	embed.FS
	decoded func() map[string][]byte
}

// Decoded returns an entry as JSON. It was valid when it was decoded. False where the bytes
// of the entry were others then: decoded.gz may be older than the entry, and never wrong.
func (f Files) Decoded(name string, raw []byte) ([]byte, bool) {
	asJSON, ok := f.decoded()[DecodedKey(name, raw)]
	return asJSON, ok
}

// DecodedKey is the key of an entry in decoded.gz: its path and the digest of its bytes.
func DecodedKey(name string, raw []byte) string {
	sum := sha256.Sum256(raw)
	return name + " " + hex.EncodeToString(sum[:])
}

// readDecoded reads lines of a key, which has one blank, and JSON. What cannot be read is
// missing: entries are then decoded from YAML.
func readDecoded(packed []byte) map[string][]byte {
	list := map[string][]byte{}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return list
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return list
	}
	for line := range bytes.Lines(text) {
		if parts := bytes.SplitN(line, []byte{' '}, 3); len(parts) == 3 {
			list[string(line[:len(parts[0])+1+len(parts[1])])] = parts[2]
		}
	}
	return list
}

// Digest returns the SHA-256 of all entries, "sha256:HEX": two programs with the same one
// know the same faults. In this directory it is `LC_ALL=C sha256sum */*.yaml | sha256sum`.
func Digest() (string, error) {
	names, err := fs.Glob(entries, "*/*.yaml")
	if err != nil {
		return "", fmt.Errorf("list the built-in catalog: %w", err)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		raw, err := entries.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read the built-in catalog: %w", err)
		}
		fmt.Fprintf(sum, "%x  %s\n", sha256.Sum256(raw), name)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
