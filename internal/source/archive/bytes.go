package archive

import (
	"bytes"
	"context"
)

// Bytes opens an archive whose bytes are in memory, as Open opens a file.
func Bytes(ctx context.Context, raw []byte, name string) (*Source, error) {
	return fromBytes(ctx, bytes.NewReader(raw), int64(len(raw)), name, optionsOf(nil))
}
