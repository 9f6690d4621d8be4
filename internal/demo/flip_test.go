package demo_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/rollcall-project/rollcall/internal/source/archive"
	runs "github.com/rollcall-project/rollcall/internal/tools/sample"
)

// count is how many samples a test takes: all of them in a full run, or where the tests run whole,
// in the sample of them, or under the race detector.
func count(full, whole, sampled, short int) int {
	switch {
	case runs.Full():
		return full
	case testing.Short():
		return short
	case runs.Whole():
		return whole
	}
	return sampled
}

// form is how an archive lies on a disk.
type form struct {
	name string
	pack func(io.Writer) (io.WriteCloser, error) // nil: a directory
}

var forms = []form{
	{"directory", nil},
	{"tar", func(w io.Writer) (io.WriteCloser, error) { return uncompressed{w}, nil }},
	{"tar.gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"tar.xz", func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }},
}

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }

func (f form) packed(t *testing.T, files fstest.MapFS) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := f.pack(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, name := range byName(files) {
		data := files[name].Data
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// flipped is a tree with one bit of one file changed.
func flipped(files fstest.MapFS, r *rand.Rand) (fstest.MapFS, string) {
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	at := r.IntN(total)
	for _, name := range byName(files) {
		if n := len(files[name].Data); at >= n {
			at -= n
			continue
		}
		changed := maps.Clone(files)
		changed[name] = &fstest.MapFile{Data: flip(files[name].Data, at, r), Mode: 0o600}
		return changed, fmt.Sprintf("%s byte %d", name, at)
	}
	panic("unreachable")
}

func flip(raw []byte, at int, r *rand.Rand) []byte {
	raw = bytes.Clone(raw)
	raw[at] ^= 1 << r.IntN(8)
	return raw
}

// TestFlippedBit: an archive in which one bit is wrong is never answered better than the
// whole one. Of a collection the change is found, or the answer is the same.
func TestFlippedBit(t *testing.T) {
	d := newDoctor(t)
	list := samples(t, d)
	whole := make([]answer, len(list))
	packed := map[string][]byte{}
	for i, s := range list {
		whole[i] = d.said(t.Context(), s.open(s.files))
	}
	for i := range count(500, 44, 22, 11) {
		s, f := list[i%len(list)], forms[i/len(list)%len(forms)]
		r := rand.New(rand.NewPCG(uint64(i), 11))
		var open func() (*archive.Source, error)
		var where string
		if f.pack == nil {
			changed, at := flipped(s.files, r)
			open, where = s.open(changed), at
		} else {
			key := s.name + " " + f.name
			if packed[key] == nil {
				packed[key] = f.packed(t, s.files)
			}
			at := r.IntN(len(packed[key]))
			raw := flip(packed[key], at, r)
			open = func() (*archive.Source, error) { return archive.Bytes(t.Context(), raw, s.name) }
			where = fmt.Sprintf("byte %d of %d", at, len(raw))
		}
		t.Run(fmt.Sprintf("%d %s as %s", i, s.name, f.name), func(t *testing.T) {
			t.Parallel()
			got := d.said(t.Context(), open)
			before := whole[i%len(list)]
			if got.exit == 0 && before.exit != 0 {
				t.Errorf("%s: exit %d became 0: %s\ndamaged: %q", where, before.exit, got.verdict, got.damaged)
			}
			if got.exit == 0 && len(got.damaged) > 0 {
				t.Errorf("%s: %s, over %q", where, got.verdict, got.damaged)
			}
			if diff := cmp.Diff(before.findings, got.findings); s.collection && got.exit != 1 && len(got.damaged) == 0 && diff != "" {
				t.Errorf("%s: nothing was noticed, and the findings differ:\n%s", where, diff)
			}
		})
	}
}
