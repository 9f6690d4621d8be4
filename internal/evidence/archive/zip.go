package archive

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
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
	st := &zipStore{members: z.File}
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
type zipStore struct{ members []*zip.File }

func (z *zipStore) member(b *builder, m *zip.File, i int) error {
	name := path.Clean(strings.TrimLeft(strings.ReplaceAll(m.Name, "\\", "/"), "/"))
	if slices.Contains(strings.Split(m.Name, "/"), "..") {
		b.damage(m.Name[:min(len(m.Name), 80)], errors.New("a name that leads out of the archive"))
		return nil
	}
	if !m.Mode().IsRegular() {
		return nil
	}
	size := int64(min(m.UncompressedSize64, 1<<62))
	switch {
	case m.Flags&1 != 0:
		b.damage(name, errors.New("it is encrypted"))
		return nil
	case size > ratioFrom && size/maxRatio > int64(min(m.CompressedSize64, 1<<62)):
		b.damage(name, fmt.Errorf("it unpacks to more than %d times its size, which logs and objects never do", maxRatio))
		return nil
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
