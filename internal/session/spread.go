package session

import (
	"io/fs"
	"os"
	"path/filepath"
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
func spread(paths []string) []string {
	var list []string
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) == 0 || !(areCollections(entries) || areTexts(path, entries)) {
			list = append(list, path) // whoever opens it says what is wrong
			continue
		}
		for _, e := range entries {
			list = append(list, filepath.Join(path, e.Name()))
		}
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
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return false
		}
		text, ok := plaintext.Of(raw, paste.MaxBytes)
		if !ok {
			return false
		}
		lines = lines || plaintext.JSON(text) != "" // whoever opens it says of what it is
	}
	return lines
}
