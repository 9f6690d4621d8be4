package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// TestManyLooseFiles: of a million files of which nothing is known, some thousand are kept, and
// these are the first that have a byte, as before.
func TestManyLooseFiles(t *testing.T) {
	b := newBuilder("x.tar.gz", options{})
	for i := range 1_000_000 {
		f := member.File{Path: fmt.Sprintf("d/%07d/x.yaml", 999_999-i)}
		if i%10 == 0 {
			f.Size = 1
		}
		if err := b.Add(f, nil); err != nil {
			t.Fatal(err)
		}
		if len(b.loose) >= 2*maxLoose {
			t.Fatalf("%d files are kept", len(b.loose))
		}
	}
	kept := worthLook(b.loose)
	if len(kept) != maxLoose || kept[0].File.Path != "d/0000009/x.yaml" || kept[1].File.Path != "d/0000019/x.yaml" {
		t.Errorf("%d are looked into, from %s and %s on", len(kept), kept[0].File.Path, kept[1].File.Path)
	}
	if b.count != 1_000_000 {
		t.Errorf("%d files were counted", b.count)
	}
}

// TestLaterLooseFileCounts: of two members of one path the later one counts, also where it is empty.
func TestLaterLooseFileCounts(t *testing.T) {
	for sizes, want := range map[[2]int64]int{{1, 0}: 0, {0, 1}: 1, {1, 1}: 1} {
		list := []layout.Entry{{File: member.File{Path: "x", Size: sizes[0]}}, {File: member.File{Path: "x", Size: sizes[1]}}}
		if got := len(worthLook(list)); got != want {
			t.Errorf("sizes %v: %d files, want %d", sizes, got, want)
		}
	}
}

// TestTooManyEntries: the index has an end, and the error names the bound and the way out.
func TestTooManyEntries(t *testing.T) {
	b := newBuilder("x.tar.gz", options{})
	var err error
	for i := 0; err == nil && i < maxFiles; i++ {
		err = b.Add(member.File{Path: fmt.Sprintf("mg/namespaces/n/pods/p%d/p%d.yaml", i, i)}, nil)
	}
	var limit *member.LimitError
	if !errors.As(err, &limit) || b.count != maxEntries+1 {
		t.Fatalf("after %d files: %v", b.count, err)
	}
	for _, want := range []string{"262144", "name a directory inside it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// BenchmarkEmptyFiles opens a packed tar of empty files in no layout: what an archive costs by the
// number of its members alone.
func BenchmarkEmptyFiles(b *testing.B) {
	const files = 100_000
	path := filepath.Join(b.TempDir(), "empty.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for i := range files {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d/%07d/x.yaml", i), Typeflag: tar.TypeReg}); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if s, err := Open(b.Context(), path); err == nil {
			b.Fatalf("%v was read", s)
		}
	}
	b.ReportMetric(files, "files/op")
}
