package main

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// contents keeps what was read, by blob: most objects stay as they are from one
// snapshot to the next.
type contents struct {
	mu    sync.Mutex
	blobs *blobs
	kept  map[string][]byte
}

// maxJSON bounds one object as JSON.
const maxJSON = 64 << 20

// get returns the content of a file, one object in YAML as JSON: that is read many
// times faster. A List stays as it is, the source splits it by lines.
func (c *contents) get(m member) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw, ok := c.kept[m.blob]; ok {
		return raw, nil
	}
	raw, err := c.blobs.read(m.blob)
	if err != nil {
		return nil, err
	}
	if ext := path.Ext(m.path); (ext == ".yaml" || ext == ".yml") && oneObject(raw) {
		if text, err := yamlin.ToJSON(raw, maxJSON); err == nil {
			raw = text
		}
	}
	c.kept[m.blob] = raw
	return raw, nil
}

// oneObject reports a document that is no List and the only one of its file.
func oneObject(raw []byte) bool {
	document := bytes.TrimPrefix(raw, []byte("---\n"))
	return !bytes.Contains(document, []byte("\n---")) && !bytes.Contains(document, []byte("\nitems:")) && !bytes.HasPrefix(document, []byte("items:"))
}

// snapshot is one commit as a file system.
type snapshot struct {
	contents *contents
	files    map[string]member
	dirs     map[string][]fs.DirEntry
}

var (
	_ fs.ReadDirFS  = (*snapshot)(nil)
	_ fs.ReadFileFS = (*snapshot)(nil)
)

func newSnapshot(c *contents, members []member) *snapshot {
	s := &snapshot{contents: c, files: make(map[string]member, len(members)), dirs: map[string][]fs.DirEntry{".": nil}}
	for _, m := range members {
		s.files[m.path] = m
		dir := path.Dir(m.path)
		s.add(dir)
		s.dirs[dir] = append(s.dirs[dir], info{name: path.Base(m.path), size: m.size})
	}
	for _, list := range s.dirs {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return s
}

// add makes a directory and those above it.
func (s *snapshot) add(dir string) {
	if _, ok := s.dirs[dir]; ok {
		return
	}
	s.dirs[dir] = nil
	up := path.Dir(dir)
	s.add(up)
	s.dirs[up] = append(s.dirs[up], info{name: path.Base(dir), dir: true})
}

// Open implements fs.FS.
func (s *snapshot) Open(name string) (fs.File, error) {
	if _, ok := s.dirs[name]; ok {
		return &opened{info: info{name: path.Base(name), dir: true}}, nil
	}
	raw, err := s.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &opened{info: info{name: path.Base(name), size: int64(len(raw))}, Reader: bytes.NewReader(raw)}, nil
}

// ReadFile implements fs.ReadFileFS.
func (s *snapshot) ReadFile(name string) ([]byte, error) {
	m, ok := s.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	raw, err := s.contents.get(m)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return raw, nil
}

// ReadDir implements fs.ReadDirFS.
func (s *snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	list, ok := s.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return list, nil
}

// opened is a file, or a directory without its Reader.
type opened struct {
	info
	*bytes.Reader
}

// Read implements fs.File.
func (o *opened) Read(p []byte) (int, error) {
	if o.Reader == nil {
		return 0, &fs.PathError{Op: "read", Path: o.name, Err: fs.ErrInvalid}
	}
	return o.Reader.Read(p)
}

// Stat implements fs.File.
func (o *opened) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close implements fs.File.
func (o *opened) Close() error { return nil }

// Size is the size of the file and not of what is left to read.
func (o *opened) Size() int64 { return o.size }

// info describes a file or directory. No time of a file is known.
type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) IsDir() bool                { return i.dir }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o500
	}
	return 0o400
}
