// Package catalog holds the knowledge of Rollcall: one YAML file per fault, in a
// directory per layer, and the remedies that it refuses. The files are data:
// internal/kernel/fault loads and checks them.
//
// The program contains them packed, as entries.zst: `go run ./internal/tools/catalogdocs`
// makes it, and a test compares it with the files.
package catalog

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

//go:embed entries.zst
var packed []byte

// FS is the built-in catalog.
var FS = Files{sync.OnceValues(func() (*entries, error) { return unpack(packed) })}

// Files are the entries of a pack. The zero value is none.
type Files struct{ open func() (*entries, error) }

// entries are what a pack contains.
type entries struct {
	yaml fstest.MapFS
	json map[string][]byte // of each file, as it was valid when it was packed
}

// Open implements fs.FS.
func (f Files) Open(name string) (fs.File, error) {
	e, err := f.open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return e.yaml.Open(name)
}

// ReadFile implements fs.ReadFileFS. The bytes are the caller's.
func (f Files) ReadFile(name string) ([]byte, error) {
	e, err := f.open()
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return e.yaml.ReadFile(name)
}

// Decoded returns an entry as JSON: to decode YAML takes five times as long. The bytes are
// shared. False where there is no such entry.
func (f Files) Decoded(name string) (asJSON []byte, ok bool) {
	e, err := f.open()
	if err != nil {
		return nil, false
	}
	asJSON, ok = e.json[name]
	return asJSON, ok
}

// window is how far back the packer finds the same words: over all entries.
const window = 8 << 20

// Pack packs entries: for each a line of its path and of how long it is, as YAML and as
// JSON, then both. They have the same words one after the other, so that the second one
// takes no room.
func Pack(root fs.FS, decode func(raw []byte) (asJSON []byte, err error)) ([]byte, error) {
	names, err := list(root)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	packer, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return nil, fmt.Errorf("pack the catalog: %w", err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, fmt.Errorf("read the catalog: %w", err)
		}
		asJSON, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("decode %s: %w", name, err)
		}
		fmt.Fprintf(packer, "%s %d %d\n%s%s", name, len(raw), len(asJSON), raw, asJSON) // Close has its error
	}
	if err := packer.Close(); err != nil {
		return nil, fmt.Errorf("pack the catalog: %w", err)
	}
	return out.Bytes(), nil
}

// unpack reads what Pack made.
func unpack(packed []byte) (*entries, error) {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, fmt.Errorf("unpack the catalog: %w", err)
	}
	defer unpacker.Close()
	text, err := unpacker.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack the catalog: %w", err)
	}
	e := &entries{yaml: fstest.MapFS{}, json: map[string][]byte{}}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		var name string
		var asYAML, asJSON int
		if _, err := fmt.Sscan(string(line), &name, &asYAML, &asJSON); err != nil {
			return nil, fmt.Errorf("unpack the catalog: %w", err)
		}
		if asYAML < 0 || asJSON < 0 || asYAML > len(rest) || asJSON > len(rest)-asYAML {
			return nil, errors.New("unpack the catalog: it is cut")
		}
		e.yaml[name] = &fstest.MapFile{Data: rest[:asYAML:asYAML], Mode: 0o444}
		e.json[name] = rest[asYAML : asYAML+asJSON : asYAML+asJSON]
		text = rest[asYAML+asJSON:]
	}
	return e, nil
}

// list returns the names of all entries in order.
func list(root fs.FS) ([]string, error) {
	names, err := fs.Glob(root, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the catalog: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// Digest returns the SHA-256 of all entries, "sha256:HEX": two programs with the same one
// know the same faults. In this directory it is `LC_ALL=C sha256sum */*.yaml | sha256sum`.
func Digest() (string, error) {
	names, err := list(FS)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		raw, err := FS.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read the built-in catalog: %w", err)
		}
		fmt.Fprintf(sum, "%x  %s\n", sha256.Sum256(raw), name)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
