package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// root is a directory below which archives and plans can be read.
type root struct {
	dir string // absolute, without links
	at  *os.Root
}

func openRoots(dirs []string) (list []root, err error) {
	for _, dir := range dirs {
		r, err := openRoot(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--root %s: %w; name a directory with archives or plans", dir, err), closeRoots(list))
		}
		if slices.ContainsFunc(list, func(have root) bool { return have.dir == r.dir }) {
			err = r.at.Close()
			if err != nil {
				return nil, errors.Join(err, closeRoots(list))
			}
			continue
		}
		list = append(list, r)
	}
	return list, nil
}

func openRoot(dir string) (root, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return root{}, errors.New("there is no such directory")
	}
	if err != nil {
		return root{}, err
	}
	at, err := os.OpenRoot(real)
	if err != nil {
		return root{}, err
	}
	return root{real, at}, nil
}

func closeRoots(list []root) error {
	var wrong []error
	for _, r := range list {
		wrong = append(wrong, r.at.Close())
	}
	return errors.Join(wrong...)
}

// place is what a path of a client leads to.
type place struct {
	root
	name string // below the root, without links
	dir  bool
}

// path is where it is on this machine.
func (p place) path() string { return filepath.Join(p.root.dir, p.name) }

// find returns what a path leads to. It leads below a root, also through links, or it is an error
// that says what can be named. what is the argument.
func (s *Server) find(what, path string) (place, error) {
	if len(s.roots) == 0 {
		return place{}, fmt.Errorf("%s %s: this server reads no files; a person starts it with --root DIR, the directory in which they are", what, quote(path))
	}
	if strings.ContainsFunc(path, unicode.IsControl) {
		return place{}, fmt.Errorf("%s %s: a path has no control characters; %s", what, quote(path), s.there())
	}
	var found []place
	for _, r := range s.roots {
		name, ok := r.below(path)
		if !ok {
			continue
		}
		p, err := r.look(name)
		switch {
		case err == nil:
			found = append(found, p)
		case !errors.Is(err, fs.ErrNotExist):
			return place{}, fmt.Errorf("%s %s: %w; %s", what, quote(path), err, s.there())
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return place{}, fmt.Errorf("%s %s: it is below %s and below %s; write the whole path of one of them", what, quote(path),
			found[0].root.dir, found[1].root.dir)
	case !slices.ContainsFunc(s.roots, func(r root) bool { _, ok := r.below(path); return ok }):
		return place{}, fmt.Errorf("%s %s: it is not below %s, and nothing else is read; %s", what, quote(path), s.rootNames(), s.there())
	}
	return place{}, fmt.Errorf("%s %s: there is no such file or directory; %s", what, quote(path), s.there())
}

// below returns a path relative to the root; false where it leads outside.
func (r root) below(path string) (string, bool) {
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(r.dir, path)
		if err != nil {
			return "", false
		}
		path = rel
	}
	return filepath.Clean(path), path != "" && filepath.IsLocal(path)
}

// look follows a path below the root. os.Root refuses a link that leads outside; what is opened
// later is the path without links.
func (r root) look(name string) (place, error) {
	info, err := r.at.Stat(name)
	if err != nil {
		if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) && !errors.Is(err, fs.ErrNotExist) {
			return place{}, fmt.Errorf("it cannot be read: %w", pathErr.Err)
		}
		return place{}, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return place{}, errors.New("it is neither a file nor a directory")
	}
	real, err := filepath.EvalSymlinks(filepath.Join(r.dir, name))
	if err != nil {
		return place{}, fmt.Errorf("it cannot be read: %w", errors.Unwrap(err))
	}
	rel, err := filepath.Rel(r.dir, real)
	if err != nil || !filepath.IsLocal(rel) {
		return place{}, errors.New("it leads outside of the directory that was named at the start")
	}
	return place{r, rel, info.IsDir()}, nil
}

// rootNames are the directories.
func (s *Server) rootNames() string {
	var names []string
	for _, r := range s.roots {
		names = append(names, r.dir)
	}
	return strings.Join(names, " or ")
}

// maxNames bounds how many entries of a root are named.
const maxNames = 20

// there says what can be named.
func (s *Server) there() string {
	var names []string
	more := false
	for _, r := range s.roots {
		f, err := r.at.Open(".")
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(10 * maxNames) // those that were read until an error
		_ = f.Close()                          // it was only read
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			if more = len(names) == maxNames; more {
				break
			}
			name := e.Name()
			if len(s.roots) > 1 {
				name = filepath.Join(r.dir, name)
			}
			names = append(names, quote(name))
		}
	}
	switch {
	case len(names) == 0:
		return "nothing is there now"
	case more:
		return "there are: " + strings.Join(names, ", ") + " and more"
	}
	return "there are: " + strings.Join(names, ", ")
}
