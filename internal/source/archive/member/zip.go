package member

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// readZip indexes a zip: its directory says where the members are, and each can
// be read alone.
func readZip(ctx context.Context, f io.ReaderAt, size int64, name string, ix Index) (*Container, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: it begins like a zip and its directory, at its end, cannot be read; is the file cut off? %w", name, err)
	}
	st := &zipStore{members: z.File, size: size}
	for i, m := range z.File {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := st.member(ix, m, i); err != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
	}
	return &Container{store: st, unpacked: newUnpacked(size)}, nil
}

// zipStore opens members of a zip.
type zipStore struct {
	members  []*zip.File
	size     int64 // of the zip
	unpacked int64 // of the members together: several may have the same bytes
}

func (z *zipStore) member(ix Index, m *zip.File, i int) error {
	name := path.Clean(strings.TrimLeft(strings.ReplaceAll(m.Name, "\\", "/"), "/"))
	if slices.Contains(strings.Split(m.Name, "/"), "..") {
		return ix.LoseOutside(m.Name)
	}
	switch mode := m.Mode(); {
	case mode.IsDir():
		return nil
	case mode&fs.ModeSymlink != 0:
		return ix.Lose(name, errLink)
	case !mode.IsRegular():
		return ix.Lose(name, errNoFile)
	}
	size := int64(min(m.UncompressedSize64, 1<<62))
	switch {
	case m.Flags&1 != 0:
		return ix.Lose(name, errors.New("it is encrypted"))
	case size > ratioFrom && size/maxRatio > int64(min(m.CompressedSize64, 1<<62)):
		return ix.Lose(name, errRatio())
	}
	z.unpacked += min(size, maxStream+1)
	if err := ratio(z.unpacked, z.size); err != nil {
		return err
	}
	return ix.Add(File{Path: name, Size: size, at: int64(i)}, nil)
}

// open implements store. No more bytes come than the directory says.
func (z *zipStore) open(_ context.Context, f File) (io.ReadCloser, error) {
	in, err := z.members[f.at].Open()
	if err != nil {
		return nil, err
	}
	return ReadCloser{&exactly{in, f.Size}, in}, nil
}
