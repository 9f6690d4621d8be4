package member

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

var (
	errLink   = errors.New("a link, which is not followed")
	errNoFile = errors.New("no regular file")
	errSparse = errors.New("a sparse file, which no collector writes")
)

// Dir indexes a file system. name is what the user calls it, for errors. skip says what directories
// hold nothing that will be asked for; nil: none.
func Dir(ctx context.Context, fsys fs.FS, name string, ix Index, skip func(dir string) bool) (*Container, error) {
	c := &Container{store: dirStore{fsys}, unpacked: newUnpacked(0)}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if p == "." {
				return err
			}
			ix.LoseDir(p, err)
			return nil
		}
		switch {
		case d.IsDir() && TooLong(p):
			ix.LoseName(p)
			return fs.SkipDir
		case d.IsDir() && skip != nil && skip(p):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0: // it may lead anywhere; collectors of clusters write none
			return ix.Lose(p, errLink)
		case !d.Type().IsRegular():
			return ix.Lose(p, errNoFile)
		}
		info, err := d.Info()
		if err != nil {
			return ix.Lose(p, err)
		}
		c.unpacked.size += info.Size()
		if w := info.ModTime(); w.After(c.written) {
			c.written = w
		}
		return ix.Add(File{Path: p, Size: info.Size()}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("read archive %s: %w", name, err)
	}
	return c, nil
}

// dirStore opens members of a file system.
type dirStore struct{ fsys fs.FS }

func (d dirStore) open(_ context.Context, f File) (io.ReadCloser, error) { return d.fsys.Open(f.Path) }
