package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func packWith(t testing.TB, raw []byte, open func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(raw)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packXZ(t testing.TB, raw []byte) []byte {
	return packWith(t, raw, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
}

func packZstd(t testing.TB, raw []byte) []byte {
	return packWith(t, raw, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func packZip(t testing.TB, fsys fstest.MapFS, top string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fsys)) {
		m, err := w.Create(top + name)
		if err == nil {
			_, err = m.Write(fsys[name].Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEveryContainerReadsAlike holds that the content decides, not the suffix.
func TestEveryContainerReadsAlike(t *testing.T) {
	fsys := tree(t, mustGather)
	s, err := FS(fsys, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := everything(t, s)
	whole := packTar(t, fsys, "")
	for name, raw := range map[string][]byte{
		"tar": whole, "gzip": gz(t, whole), "xz": packXZ(t, whole), "zstd": packZstd(t, whole), "zip": packZip(t, fsys, ""),
	} {
		for _, file := range []string{"archive", "archive.tar.gz"} {
			s, err := openFile(t, file, raw)
			if err != nil {
				t.Errorf("%s as %s: %v", name, file, err)
				continue
			}
			if diff := cmp.Diff(want, everything(t, s)); diff != "" {
				t.Errorf("%s reads otherwise (-want +got):\n%s", name, diff)
			}
		}
		s, err := Stream(t.Context(), bytes.NewReader(raw), "standard input")
		if err != nil {
			t.Errorf("%s as a stream: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, everything(t, s)); diff != "" {
			t.Errorf("%s reads otherwise as a stream (-want +got):\n%s", name, diff)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBzip2(t *testing.T) {
	s, err := Open(t.Context(), "testdata/node.tar.bz2")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := names(t, s, evidence.Nodes, ""); !slices.Equal(got, []string{"control1"}) {
		t.Errorf("nodes are %v", got)
	}
}

// TestBeyondTheBudgetOfEveryPacking reads members again from each kind of stream.
func TestBeyondTheBudgetOfEveryPacking(t *testing.T) {
	fsys := tree(t, mustGather)
	s, err := FS(fsys, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := everything(t, s)
	whole := packTar(t, fsys, "")
	for how, raw := range map[string][]byte{"xz": packXZ(t, whole), "zstd": packZstd(t, whole)} {
		if s, err = fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "a", optionsOf([]Option{budget(-1, -1)})); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, everything(t, s)); diff != "" {
			t.Errorf("%s: what is not kept reads otherwise (-want +got):\n%s", how, diff)
		}
	}
}

// TestStreamLeavesNothing holds that a stream's copy has no name.
// endless gives the same bytes endlessly and counts them.
type endless struct {
	text string
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[i%len(e.text)]
	}
	e.n += int64(len(p))
	return len(p), nil
}

// TestEndlessStream: what is no archive is not kept until the disk is full.
func TestEndlessStream(t *testing.T) {
	zeros := &endless{text: "\x00"}
	if _, err := Stream(t.Context(), zeros, "zeros"); err == nil || !strings.Contains(err.Error(), "no object or log of a cluster found in zeros") {
		t.Errorf("zeros: %v", err)
	}
	if zeros.n > 1<<20 {
		t.Errorf("%d zeros were read", zeros.n)
	}
}

func TestStreamLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := Stream(t.Context(), bytes.NewReader(packTar(t, tree(t, mustGather), "")), "standard input")
	if err != nil {
		t.Fatal(err)
	}
	left := func() int {
		n := 0
		_ = filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil })
		return n - 1
	}
	if n := left(); n != 0 {
		t.Errorf("%d files are there while the stream is open", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Stream(ctx, zeros{}, "standard input"); !errors.Is(err, context.Canceled) {
		t.Errorf("a stream without end that is cancelled gives %v", err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d files are left behind", n)
	}
}

func TestPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	raw := packTar(t, tree(t, mustGather), "")
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(name, raw, 0o600) }()
	s, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := <-written; err != nil {
		t.Error(err)
	}
	if got := names(t, s, evidence.Nodes, ""); len(got) == 0 {
		t.Error("a pipe gives no nodes")
	}
}

func TestHostileContainers(t *testing.T) {
	const inTree = "cluster-scoped-resources/core/nodes/a.yaml"
	node := fstest.MapFS{inTree: {Data: []byte("kind: Node\nmetadata: {name: evil}\n")}}
	whole := packTar(t, node, "")
	wide := packXZ(t, whole)
	wide[12+2+2] = 40 // the dictionary of the first block: 4 GiB
	lying := packZip(t, fstest.MapFS{inTree: {Data: append(bytes.Repeat([]byte("a"), 99), '\n')}}, "")
	at := bytes.Index(lying, []byte("PK\x01\x02"))
	lying[at+24] = 10 // its size in the directory
	bomb := bytes.Clone(lying)
	copy(bomb[at+24:], "\x00\x00\x00\x7f")
	locked := bytes.Clone(lying)
	locked[at+8] |= 1
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"xz, dictionary": {wide, "wants a dictionary"},
		"xz, cut off":    {packXZ(t, whole)[:120], "cut off"},
		"zstd, cut off":  {packZstd(t, whole)[:60], "cut off"},
		"zip, cut off":   {packZip(t, node, "")[:80], "cut off"},
		"zip, empty":     {packZip(t, nil, ""), "it is empty"},
		"zip, traversal": {packZip(t, node, "../"), "leads out of the archive"},
		"zip, lying":     {lying, "cut off"},
		"zip, bomb":      {bomb, "times its size"},
		"zip, encrypted": {locked, "it is encrypted"},
		"zip, together":  {packRaw(t, 200<<20, 200<<20), "times its size"},
		"zip, each":      {packRaw(t, 100<<20, 100<<20), "unexpected EOF"},
	} {
		s, err := openFile(t, "a", c.raw)
		if err == nil {
			_, err = s.List(t.Context(), evidence.Nodes, "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
	}
}

// packRaw packs members that claim to be of some sizes.
func packRaw(t *testing.T, sizes ...uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, size := range sizes {
		h := &zip.FileHeader{Name: fmt.Sprintf("cluster-scoped-resources/core/nodes/%d.yaml", i), Method: zip.Deflate, UncompressedSize64: size, CompressedSize64: 2}
		m, err := w.CreateRaw(h)
		if err == nil {
			_, err = m.Write([]byte{3, 0})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInnerBombs: what packed members of an archive unpack to is bounded together, and
// each is counted once.
func TestInnerBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.Copy(w, io.LimitReader(zeros{}, 150<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	log := func(pod string) string { return "namespaces/a/pods/" + pod + "/c/c/logs/current.log" }
	s, err := openFile(t, "a.tar.gz", gz(t, packTar(t, fstest.MapFS{
		log("one"): {Data: bomb.Bytes()}, log("two"): {Data: bomb.Bytes()},
	}, "")))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog})
	if err != nil || len(texts) != 2 {
		t.Fatal(texts, err)
	}
	for step, c := range []struct {
		text int
		says string
	}{{0, ""}, {0, ""}, {1, "times its size"}} {
		in, err := texts[c.text].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, in)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("step %d: %v, want %q", step, err, c.says)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzOpen holds that foreign bytes neither hang nor crash the reader.
func FuzzOpen(f *testing.F) {
	whole := packTar(f, tree(f, mustGather), "")
	f.Add(whole)
	f.Add(packXZ(f, whole))
	f.Add(packZstd(f, whole))
	zipped := packZip(f, tree(f, mustGather), "")
	f.Add(zipped)
	for _, at := range []int{len(zipped) / 8, len(zipped) / 4, len(zipped) / 2} {
		damaged := bytes.Clone(zipped)
		damaged[at] ^= 0x55
		f.Add(damaged)
	}
	f.Add([]byte("BZh91AY&SY"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Bytes(t.Context(), raw, "a")
		if err != nil {
			return
		}
		everything(t, s)
	})
}
