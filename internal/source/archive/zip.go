package archive

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

// fromZip indexes a zip: its directory says where the members are, and each can
// be read alone.
func fromZip(ctx context.Context, f io.ReaderAt, size int64, name string) (*Source, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("read archive %s: it begins like a zip and its directory, at its end, cannot be read; is the file cut off? %w", name, err)
	}
	b := newBuilder(name)
	b.s.inner.size = size
	st := &zipStore{members: z.File, size: size}
	for i, m := range z.File {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := st.member(b, m, i); err != nil {
			return nil, fmt.Errorf("read archive %s: %w", name, err)
		}
	}
	return b.finish(ctx, st)
}

// zipStore opens members of a zip. A file's at is its number in the directory.
type zipStore struct {
	members  []*zip.File
	size     int64 // of the file
	unpacked int64 // of the members together: several may lie on the same bytes
}

func (z *zipStore) member(b *builder, m *zip.File, i int) error {
	name := path.Clean(strings.TrimLeft(strings.ReplaceAll(m.Name, "\\", "/"), "/"))
	if slices.Contains(strings.Split(m.Name, "/"), "..") {
		return b.loseOutside(m.Name)
	}
	switch mode := m.Mode(); {
	case mode.IsDir():
		return nil
	case mode&fs.ModeSymlink != 0:
		return b.lose(name, errLink)
	case !mode.IsRegular():
		return b.lose(name, errNoFile)
	}
	size := int64(min(m.UncompressedSize64, 1<<62))
	switch {
	case m.Flags&1 != 0:
		return b.lose(name, errors.New("it is encrypted"))
	case size > ratioFrom && size/maxRatio > int64(min(m.CompressedSize64, 1<<62)):
		return b.lose(name, fmt.Errorf("it unpacks to more than %d times its size, which logs and objects never do", maxRatio))
	}
	z.unpacked += min(size, maxStream+1)
	if err := ratio(z.unpacked, z.size); err != nil {
		return err
	}
	e, err := b.classify(name, size)
	if err != nil {
		return err
	}
	e.file.at = int64(i)
	b.keep(e)
	return nil
}

// open implements store. No more bytes come than the directory promised.
func (z *zipStore) open(_ context.Context, f file) (io.ReadCloser, error) {
	in, err := z.members[f.at].Open()
	if err != nil {
		return nil, err
	}
	return readCloser{&exactly{in, f.size}, in}, nil
}
