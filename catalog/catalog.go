// Package catalog holds the knowledge of Rollcall: one YAML file per fault, in a
// directory per layer, and the remedies that it refuses. The files are data:
// internal/kernel/fault loads and checks them.
package catalog

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed */*.yaml
var entries embed.FS

// FS is the built-in catalog: the files of this directory as they are.
var FS = Files{entries}

// Files are entries that tests have checked.
type Files struct{ embed.FS }

// Checked implements fault.CheckedRoot.
func (Files) Checked() {}

// Digest returns the SHA-256 of all entries, "sha256:HEX": two programs with the same one
// know the same faults. In this directory it is `LC_ALL=C sha256sum */*.yaml | sha256sum`.
func Digest() (string, error) {
	names, err := fs.Glob(FS, "*/*.yaml")
	if err != nil {
		return "", fmt.Errorf("list the catalog: %w", err)
	}
	slices.Sort(names)
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
