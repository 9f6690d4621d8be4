package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// checkedRoot is a root of which tests have checked the entries. Load reports what cannot be
// decoded, does not check the rest again, and leaves the remedies to Catalog.Remedy: they
// take as long to decode as the faults, and a diagnosis shows few of them.
type checkedRoot interface {
	fs.FS
	Checked()
}

func isChecked(root fs.FS) bool {
	if named, ok := root.(namedRoot); ok {
		root = named.FS
	}
	_, ok := root.(checkedRoot)
	return ok
}

// entryFile is one file of a catalog and what it holds.
type entryFile struct {
	root      fs.FS
	rootIndex int // of the roots that are loaded
	path      string
	onlyRead  bool // of messages only those that facts read
	checked   bool // it is of a checkedRoot
	entry     any  // *Fault, *Remedy, *RefusedRemedy, *Messages or *CommandNotes; nil where nothing could be decoded
	wrong     mistakes
}

// later reports whether it is a remedy that is decoded when it is asked for first.
func (f *entryFile) later() bool { return f.checked && path.Base(path.Dir(f.path)) == "remedies" }

// decodeAll decodes files side by side, but for those that are decoded later.
func decodeAll(files []*entryFile) {
	var group crash.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		if f.later() {
			continue
		}
		group.Go(func() error {
			f.decode()
			return nil
		})
	}
	_ = group.Wait() // each file has its own mistakes
}

func (f *entryFile) decode() {
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		f.wrong.add(nil, "", "%s", err.Error())
		return
	}
	switch path.Base(path.Dir(f.path)) {
	case "refused":
		f.entry = &RefusedRemedy{}
	case "remedies":
		f.entry = &Remedy{}
	case "messages":
		if f.onlyRead && !bytes.Contains(raw, []byte("id:")) {
			return // none of them has an id: half of the time is saved
		}
		f.entry = &Messages{}
	case "commands":
		f.entry = &CommandNotes{}
	default:
		f.entry = &Fault{}
	}
	var decoded bool
	if f.wrong, decoded = decodeEntry(raw, f.entry); !decoded {
		f.entry = nil
	}
}

// enter decides about a directory of a catalog.
func enter(p string) error {
	if path.Base(p) == "testdata" {
		return fs.SkipDir
	}
	if strings.Count(p, "/") >= maxDepth {
		return fmt.Errorf("%s: more than %d directories deep", p, maxDepth)
	}
	return nil
}

// readEntry reads a file of a catalog. Links are followed, as a mounted ConfigMap
// has them, but only to regular files: what a FIFO is opened for never comes, and
// /dev/zero has no end.
func readEntry(root fs.FS, p string) (raw []byte, err error) {
	info, err := fs.Stat(root, p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	f, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err = io.ReadAll(io.LimitReader(f, maxEntry+1)) // a size may lie, as in /proc
	if err != nil {
		return nil, err
	}
	if len(raw) > maxEntry {
		return nil, fmt.Errorf("longer than %d bytes", maxEntry)
	}
	return raw, nil
}

// remedy decodes a remedy of a checkedRoot. It panics where it cannot: tests have checked the
// entry, so that is a defect of the program.
func (f *entryFile) remedy() *Remedy {
	r := &Remedy{}
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		panic(fmt.Sprintf("read the remedy %s: %v", f.name(), err))
	}
	if f.wrong, _ = decodeEntry(raw, r); len(f.wrong) > 0 {
		panic(f.problems(f.wrong).Error())
	}
	return r
}

// follows reports whether a mistake is there because something was removed that could not
// be decoded.
func (f *entryFile) follows(m mistake) bool {
	return slices.ContainsFunc(f.wrong, func(have mistake) bool {
		return len(have.at) > 0 && len(m.at) > 0 && (m.at.below(have.at) || have.at.below(m.at))
	})
}
