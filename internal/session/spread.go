package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/paste"
	"github.com/rollcall-project/rollcall/internal/source/plaintext"
)

// maxTogether bounds the texts that a directory is read as.
const maxTogether = 64

// spread replaces directories by their files where each file is one that would be named by itself: the packed
// collections that `hosts` writes, and the logs and outputs that somebody has put together. The answer is that of
// the files: it does not depend on whether a directory is named or what lies in it.
func spread(paths []string) (list []string, dirs []spreadDir) {
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		entries = withoutNotes(entries)
		if err != nil || len(entries) == 0 || !(areCollections(entries) || areTexts(path, entries)) {
			list = append(list, path) // whoever opens it says what is wrong
			continue
		}
		d := spreadDir{dir: path}
		for _, e := range entries {
			d.files = append(d.files, filepath.Join(path, e.Name()))
		}
		list, dirs = append(list, d.files...), append(dirs, d)
	}
	return list, dirs
}

// aboutFiles are names of files that say what the others of a directory are: they are of no cluster.
var aboutFiles = regexp.MustCompile(`^(?i:README|PROVENANCE|LICENSE|NOTICE|CHECKSUMS?|SHA256SUMS?)(?:\.(?i:md|txt|rst|adoc))?$`)

// IsAboutFiles reports whether a file is called as one that only says what the files next to it are.
func IsAboutFiles(name string) bool { return aboutFiles.MatchString(name) }

// withoutNotes leaves out what only says what the other files are, where there are others.
func withoutNotes(entries []fs.DirEntry) []fs.DirEntry {
	list := slices.DeleteFunc(slices.Clone(entries), func(e fs.DirEntry) bool { return IsAboutFiles(e.Name()) })
	if len(list) == 0 {
		return entries
	}
	return list
}

func areCollections(entries []fs.DirEntry) bool {
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".tar.gz") })
}

// areTexts reports whether a directory has nothing but texts, of which one at least is no file of objects, and all
// together are no longer than a paste. In the directory of an installation there is more than its log.
func areTexts(dir string, entries []fs.DirEntry) bool {
	if len(entries) > maxTogether || len(entries) > 1 && install.Is(dir) {
		return false
	}
	var size int64
	var lines bool
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() {
			return false
		}
		size += info.Size()
		lines = lines || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name()))
	}
	if size > paste.MaxBytes {
		return false
	}
	for _, e := range entries {
		text, ok := textAt(filepath.Join(dir, e.Name()))
		if !ok {
			return false
		}
		lines = lines || plaintext.JSON(text) != "" // whoever opens it says of what it is
	}
	return lines
}

// textAt reads a file that is a text.
func textAt(path string) ([]byte, bool) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	return plaintext.Of(raw, paste.MaxBytes)
}

// textsBelow are the files of a directory and of those below it, where it has nothing but texts, no more and no longer
// than areTexts takes. It is for directories that are no archive, and not for what is left of one.
func textsBelow(dir string) []string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	var list []string
	var size int64
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() || slices.Contains(gatherFiles, e.Name()) {
			return errNotTexts
		}
		list, size = append(list, path), size+info.Size()
		if len(list) > maxTogether || size > paste.MaxBytes {
			return errNotTexts
		}
		return nil
	})
	notText := func(path string) bool { _, ok := textAt(path); return !ok }
	if err != nil || slices.ContainsFunc(list, notText) {
		return nil
	}
	return list
}

// gatherFiles are what oc adm must-gather writes next to what it collects: where nothing else is, it was cut off
// (openshift/oc:pkg/cli/admin/mustgather/mustgather.go).
var gatherFiles = []string{"timestamp", "gather.logs", "gather-debug.log", "must-gather.logs", "event-filter.html"}

// errNotTexts ends the walk of textsBelow.
var errNotTexts = errors.New("not a directory of texts")
