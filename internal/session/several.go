package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// SeveralArchivesError says that a directory holds several archives, and that nobody named them as parts of one
// reading: each is of a cluster, or of a moment, of its own.
type SeveralArchivesError struct {
	Dir      string
	Archives []string // paths
	Why      string   // "" where the directory says no more
	Program  string
}

// Error implements error.
func (e *SeveralArchivesError) Error() string {
	why := "they are not read as one cluster"
	if e.Why != "" {
		why = "they cannot be read as one cluster: " + e.Why
	}
	if !e.each() {
		return fmt.Sprintf("--from %s: the directory holds %d files, and %s. Name those of one cluster, each with --from", e.Dir, len(e.Archives), why)
	}
	return fmt.Sprintf("--from %s: the directory holds %d archives, and %s. A line for each: %s fleet --archives %s. One of them: --from %s",
		e.Dir, len(e.Archives), why, e.Program, shellcommand.Quote(e.Dir), shellcommand.Quote(e.Archives[0]))
}

// each reports whether each file can be read by itself: an archive, or the log of an installation.
func (e *SeveralArchivesError) each() bool {
	return !slices.ContainsFunc(e.Archives, func(path string) bool { return !packedName.MatchString(path) && filepath.Ext(path) != ".log" })
}

// spreadDir is a directory that is read as its files.
type spreadDir struct {
	dir   string
	files []string
}

// ofOneDir turns the error about two archives into one about their directory, where nobody named the two.
func (ses *Session) ofOneDir(dirs []spreadDir, err error) error {
	several := (*archive.SeveralClustersError)(nil)
	if !errors.As(err, &several) {
		return err
	}
	for _, d := range dirs {
		if slices.Contains(d.files, several.One) && slices.Contains(d.files, several.Other) {
			why := fmt.Sprintf("%s and %s: %s", filepath.Base(several.One), filepath.Base(several.Other), several.Why)
			return &SeveralArchivesError{Dir: d.dir, Archives: d.files, Why: why, Program: ses.Name}
		}
	}
	return err
}

// separate refuses to read the archives of one directory as one where two of one kind are of a whole cluster. A
// must-gather, a log bundle and the sosreports of its hosts are of one cluster; two must-gathers are of two, or of two
// moments, and an answer about both is true of neither.
func (ses *Session) separate(ctx context.Context, dirs []spreadDir, opened map[string]*archive.Source) error {
	for _, d := range dirs {
		if apis := severalInstallations(d.files); apis != nil {
			why := "one waits for the API at " + apis[0] + ", one for that at " + apis[1]
			return &SeveralArchivesError{Dir: d.dir, Archives: d.files, Why: why, Program: ses.Name}
		}
		byKind := map[string]string{}
		for _, path := range d.files {
			s := opened[path]
			if s == nil {
				continue
			}
			kind, err := s.OfCluster(ctx)
			if err != nil {
				return err
			}
			if kind == "" {
				continue
			}
			if first, twice := byKind[kind]; twice {
				why := fmt.Sprintf("%s and %s are each a %s", filepath.Base(first), filepath.Base(path), kind)
				return &SeveralArchivesError{Dir: d.dir, Archives: d.files, Why: why, Program: ses.Name}
			}
			byKind[kind] = path
		}
	}
	return nil
}

// packedName is how archives are called that are one file.
var packedName = regexp.MustCompile(`\.(?:tar|tgz|txz|tbz2|zip|tar\.(?:gz|xz|zst|bz2))$`)

// maxSeen bounds the files of a directory that are looked at for archives.
const maxSeen = 10000

// archivesBelow are the packed archives in a directory and in those below it.
func archivesBelow(dir string) (list []string) {
	seen := 0
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // what cannot be read holds none
		if err != nil {
			return nil
		}
		if seen++; seen > maxSeen {
			return fs.SkipAll
		}
		if e.Type().IsRegular() && packedName.MatchString(e.Name()) && packed(path) {
			list = append(list, path)
		}
		return nil
	})
	return list
}

// ArchivesIn are the packed archives that lie in a directory, nil where it is none.
func ArchivesIn(dir string) (list []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); e.Type().IsRegular() && packedName.MatchString(e.Name()) && packed(path) {
			list = append(list, path)
		}
	}
	return list
}

// waitedFor is the API that openshift-install waits for (openshift/installer:cmd/openshift-install/create.go
// waitForBootstrapComplete, since 4.16 cmd/openshift-install/command/waitfor.go).
var waitedFor = regexp.MustCompile(`Waiting up to \S+ .*?for the Kubernetes API at https://(\S+?:\d+)`)

// severalInstallations are two of the APIs that the logs of a directory waited for, nil where there are not two.
func severalInstallations(files []string) []string {
	var found []string
	for _, path := range files {
		text, ok := textAt(path)
		if !ok || !strings.HasSuffix(path, ".log") {
			continue
		}
		for _, m := range waitedFor.FindAllSubmatch(text, -1) {
			if api := string(m[1]); !slices.Contains(found, api) {
				found = append(found, api)
			}
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found[:2]
}

// isDir reports whether a path is a directory.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
