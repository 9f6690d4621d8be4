package machine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Bounds of what is read of one file.
const (
	maxFile   = 1 << 20
	maxConfig = 64 << 20 // MachineConfigs carry whole files
	maxLinks  = 40       // as Linux: MAXSYMLINKS
)

// tree is the machine's root directory. Names are absolute, as the machine knows them.
type tree struct {
	root *os.Root
	base string
}

// resolve follows the links of a name as the machine would and returns the name
// relative to the root.
func (t *tree) resolve(name string) (string, error) {
	rest := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	at, links := "", 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at = path.Dir(at); at == "." {
				at = ""
			}
			continue
		}
		next := path.Join(at, part)
		info, err := t.root.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than %d links", name, maxLinks)
		}
		to, err := t.root.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(to) {
			at = ""
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	if at == "" {
		at = "."
	}
	return at, nil
}

// dangling is where a link leads that leads to no file, "" where a name is no such link.
func (t *tree) dangling(name string) string {
	dir, err := t.resolve(path.Dir(name))
	if err != nil {
		return ""
	}
	at := path.Join(dir, path.Base(name))
	info, err := t.root.Lstat(at)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	to, err := t.root.Readlink(at)
	if err != nil {
		return ""
	}
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(name), to)
	}
	return to
}

var errNotRegular = errors.New("it is not a regular file")

// open opens a regular file.
func (t *tree) open(name string) (*os.File, fs.FileInfo, error) {
	at, err := t.resolve(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := t.root.Lstat(at)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, errNotRegular
	}
	f, err := t.root.Open(at)
	return f, info, err
}

// read returns at most limit bytes of a file; more is an error.
func (t *tree) read(name string, limit int64) ([]byte, onhost.File, error) {
	about := onhost.File{Path: name}
	f, info, err := t.open(name)
	if err != nil {
		fail(&about, err)
		return nil, about, err
	}
	defer f.Close()
	about.Exists, about.Size, about.Modified = true, info.Size(), info.ModTime().UTC()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("it is larger than %d bytes", limit)
	}
	if err != nil {
		about.Error = plain(err)
		return nil, about, err
	}
	return raw, about, nil
}

// stat says what is known of a file without reading it.
func (t *tree) stat(name string) onhost.File {
	about := onhost.File{Path: name}
	at, err := t.resolve(name)
	var info fs.FileInfo
	if err == nil {
		info, err = t.root.Lstat(at)
	}
	if err != nil {
		fail(&about, err)
		return about
	}
	about.Exists, about.Size, about.Modified = true, info.Size(), info.ModTime().UTC()
	return about
}

// text returns the trimmed content of a small file, "" where it cannot be read.
func (t *tree) text(name string) string {
	raw, _, err := t.read(name, maxFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// list returns the names in a directory; more than limit is an error.
func (t *tree) list(name string, limit int) ([]string, error) {
	entries, err := t.entries(name, limit)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (t *tree) entries(name string, limit int) ([]fs.DirEntry, error) {
	at, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	if info, err := t.root.Lstat(at); err != nil || !info.IsDir() { // to open a pipe is to wait for who writes
		return nil, cmp.Or(err, error(errNotDirectory))
	}
	d, err := t.root.Open(at)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > limit {
		return nil, fmt.Errorf("%s holds more than %d files", name, limit)
	}
	return entries, nil
}

var errNotDirectory = errors.New("it is not a directory")

// journal returns a directory of journals as this process sees it, for a program that
// knows nothing of the tree: neither it nor what lies in it may be a link, which would
// lead that program out (sd-journal descends one level: a directory for each machine).
func (t *tree) journal(name string) (string, error) {
	at, err := t.resolve(name)
	if err != nil {
		return "", err
	}
	const most = 10_000
	var look func(name string, deep int) error
	look = func(name string, deep int) error {
		entries, err := t.entries(name, most)
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch {
			case e.Type()&fs.ModeSymlink != 0:
				return fmt.Errorf("%s is a link", path.Join(name, e.Name()))
			case e.IsDir() && deep > 0:
				if err := look(path.Join(name, e.Name()), deep-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := look("/"+at, 1); err != nil {
		return "", err
	}
	return t.under(at), nil
}

// newest is the latest time of change among names that lie in the tree: the best
// "now" of a copy.
func (t *tree) newest(names ...string) time.Time {
	var last time.Time
	for _, n := range names {
		if f := t.stat(n); f.Exists && f.Modified.After(last) {
			last = f.Modified
		}
	}
	return last
}

// fail notes why a file could not be read; that there is none is no error.
func fail(f *onhost.File, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		f.Error = plain(err)
	}
}

// plain is an error without the path in front, which the file carries already.
func plain(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// under is the name of a file of the machine as this process sees it.
func (t *tree) under(name string) string { return filepath.Join(t.base, filepath.FromSlash(name)) }
