package demo_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/collect"
	"github.com/rollcall-project/rollcall/internal/source/minimal"
	runs "github.com/rollcall-project/rollcall/internal/tools/sample"
)

// TestMinimalCollections: a minimal collection of every demo and of the samples, written and read again, gives the same
// answer, and most lines of its logs are empty.
func TestMinimalCollections(t *testing.T) {
	d := newDoctor(t)
	for _, s := range samples(t, d) {
		if !runs.Full() && strings.HasSuffix(s.name, " collected") {
			continue // as what it was collected from
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			whole := d.said(t.Context(), s.open(s.files))
			source, err := s.open(s.files)()
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			about, err := source.Describe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "collection")
			recorder, err := collect.Create(to, about.Now, about)
			if err != nil {
				t.Fatal(err)
			}
			words, err := minimal.Vocabulary(catalog.FS)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.diagnose(t.Context(), minimal.New(recorder, d.set, words), source); err != nil {
				t.Fatal(err)
			}
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			part := d.said(t.Context(), func() (*archive.Source, error) { return archive.Open(t.Context(), to) })
			if diff := cmp.Diff(whole.findings, part.findings); diff != "" {
				t.Errorf("outcomes (-whole +minimal):\n%s", diff)
			}
			if whole.exit != part.exit || !cmp.Equal(whole.proven, part.proven) {
				t.Errorf("exit %d, %v: %s\nminimal: exit %d, %v: %s", whole.exit, whole.proven, whole.verdict, part.exit, part.proven, part.verdict)
			}
			onlyKnownLines(t, d, to)
		})
	}
}

// onlyKnownLines: each line of a log that is not empty is one that a message matches.
func onlyKnownLines(t *testing.T, d doctor, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) == ".yaml" || filepath.Base(path) == "rollcall.sha256" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.SplitSeq(raw, []byte("\n")) {
			if len(line) > 0 && len(d.set.Find(line)) == 0 {
				t.Errorf("%s has a line that no message matches: %s", path, line)
				return nil
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
