package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// decoded is the file of the entries as JSON that the program reads instead of YAML. The
// entries are valid: they were loaded.
func decoded(entries fs.FS) ([]byte, error) {
	names, err := fs.Glob(entries, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list the catalog: %w", err)
	}
	var out bytes.Buffer
	packer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("pack the catalog: %w", err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(entries, name)
		if err != nil {
			return nil, fmt.Errorf("read the catalog: %w", err)
		}
		asJSON, err := fault.Decode(raw)
		if err != nil {
			return nil, fmt.Errorf("decode %s: %w", name, err)
		}
		if _, err := fmt.Fprintf(packer, "%s %s\n", catalog.DecodedKey(name, raw), asJSON); err != nil {
			return nil, fmt.Errorf("pack the catalog: %w", err)
		}
	}
	if err := packer.Close(); err != nil {
		return nil, fmt.Errorf("pack the catalog: %w", err)
	}
	return out.Bytes(), nil
}
