package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// packTar packs a file system in the order of its names, below a top directory.
func packTar(t testing.TB, fsys fstest.MapFS, top string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fsys)) {
		data := fsys[name].Data
		if err := w.WriteHeader(&tar.Header{Name: top + name, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gz(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openFile(t testing.TB, name string, raw []byte) (*Source, error) {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), p)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// everything reads all that an archive holds, by resource and by path.
func everything(t testing.TB, s *Source) map[string]any {
	t.Helper()
	out := map[string]any{}
	for r := range s.ix.Objects {
		list, err := s.List(t.Context(), r, "")
		for i := range list {
			list[i].Loc.Source = ""
		}
		out[r.String()] = list
		if err != nil {
			out[r.String()+" error"] = err.Error()
		}
	}
	texts, _ := s.Texts(t.Context(), evidence.TextQuery{})
	for _, x := range texts {
		in, err := x.Open(t.Context())
		if err != nil {
			out[x.Path] = err.Error()
			continue
		}
		raw, err := io.ReadAll(in)
		out[x.Path] = string(raw)
		if err := errors.Join(err, in.Close()); err != nil {
			out[x.Path+" error"] = err.Error() // a damaged member
		}
	}
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out["now"], out["kind"] = d.Now, d.Kind
	return out
}

func TestEveryPackingReadsAlike(t *testing.T) {
	fsys := tree(t, mustGather)
	// A rotated log that the collector left packed, without a suffix that says so.
	const rotated = "must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/pods/etcd-3/etcd/etcd/logs/rotated/0.log.20260102"
	fsys[rotated] = &fstest.MapFile{Data: gz(t, []byte("an older line\n"))}
	s, err := FS(fsys, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := everything(t, s)
	if want[rotated] != "an older line\n" {
		t.Errorf("a packed log reads %q", want[rotated])
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, everything(t, s)); diff != "" {
		t.Errorf("a directory reads otherwise (-want +got):\n%s", diff)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	raw := packTar(t, fsys, "")
	for name, packed := range map[string][]byte{
		"a.tar": raw, "a.tar.gz": gz(t, raw), "named-badly": gz(t, raw), "dot.tar": packTar(t, fsys, "./"),
		"absolute.tar": packTar(t, fsys, "/"), "two-members.tgz": append(gz(t, raw[:1024]), gz(t, raw[1024:])...),
	} {
		s, err := openFile(t, name, packed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, everything(t, s)); diff != "" {
			t.Errorf("%s reads otherwise (-want +got):\n%s", name, diff)
		}
	}
}

// TestBeyondTheBudget reads members again from the stream, in any order.
func TestBeyondTheBudget(t *testing.T) {
	fsys := tree(t, mustGather)
	s, err := FS(fsys, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := everything(t, s)
	raw := gz(t, packTar(t, fsys, ""))
	if s, err = fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "a", optionsOf([]Option{budget(-1, -1)})); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff(want, everything(t, s)); diff != "" {
			t.Errorf("what is not kept reads otherwise (-want +got):\n%s", diff)
		}
	}
}

func TestCutOff(t *testing.T) {
	fsys := tree(t, mustGather)
	whole := packTar(t, fsys, "")
	for name, raw := range map[string][]byte{
		"a.tar": whole[:len(whole)*2/3], "a.tar.gz": gz(t, whole)[:len(gz(t, whole))*2/3],
	} {
		s, err := openFile(t, name, raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		list, err := s.List(t.Context(), evidence.Nodes, "")
		if len(list) != 1 || why(t, err) != evidence.Damaged || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("%s: List = %d objects, %v, want what came before the end, and that it is not all", name, len(list), err)
		}
	}
}

func TestHostileTar(t *testing.T) {
	node := []byte("kind: Node\nmetadata: {name: evil}\n")
	const inTree = "cluster-scoped-resources/core/nodes/a.yaml"
	pack := func(headers ...*tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			h.Mode = 0o600
			if h.Typeflag == tar.TypeReg {
				h.Size = int64(len(node))
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				w.Write(node)
			}
		}
		w.Close()
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"traversal":  {pack(&tar.Header{Name: "x/../../" + inTree, Typeflag: tar.TypeReg}), "leads out of the archive"},
		"link":       {pack(&tar.Header{Name: inTree, Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}), "a link, which is not followed"},
		"hard link":  {pack(&tar.Header{Name: inTree, Linkname: "/etc/passwd", Typeflag: tar.TypeLink}), "a link, which is not followed"},
		"device":     {pack(&tar.Header{Name: inTree, Typeflag: tar.TypeChar}), "no object or log"},
		"empty file": {nil, "it is empty"},
		"text":       {[]byte("hello, world\n"), "--console HOST="},
		"empty tar":  {make([]byte, 1024), "neither a directory nor a tar"},
		"empty gzip": {gz(t, nil), "no object or log"},
		"bad gzip":   {[]byte("\x1f\x8b\x08 and no more"), "gzip"},
		"gzip text":  {gz(t, []byte("hello, world\n")), "no object or log"},
		"zip":        {[]byte("PK\x03\x04............"), "is the file cut off?"},
		"xz":         {[]byte("\xfd7zXZ\x00.........."), "begins like xz and is not"},
		"zstd":       {[]byte("\x28\xb5\x2f\xfd and no more"), "unpack zstd"},
		"bzip2":      {[]byte("BZh9 and no more"), "unpack bzip2"},
	} {
		s, err := openFile(t, "a.tar", c.raw)
		if err == nil {
			_, err = s.List(t.Context(), evidence.Nodes, "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestLinksInADirectory holds that a link does not lead outside.
func TestLinksInADirectory(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("kind: Node\nmetadata: {name: outside}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	nodes := filepath.Join(dir, "cluster-scoped-resources/core/nodes")
	if err := os.MkdirAll(nodes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(nodes, "a.yaml"), []byte("kind: Node\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(nodes, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 1 || list[0].Name != "a" || why(t, err) != evidence.Damaged {
		t.Errorf("the nodes are %v, %v, want only the one inside, and that it is not all", list, err)
	}
	// Also when the link appears after the index was made.
	if err := errors.Join(os.Remove(filepath.Join(nodes, "a.yaml")), os.Symlink(outside, filepath.Join(nodes, "a.yaml"))); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 0 || why(t, err) != evidence.Damaged {
		t.Errorf("List = %v, %v, want the link refused", list, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := filepath.Join(t.TempDir(), "a.tgz")
	if err := os.WriteFile(p, gz(t, packTar(t, tree(t, mustGather), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{p, filepath.Dir(p)} {
		if _, err := Open(ctx, name); !errors.Is(err, context.Canceled) {
			t.Errorf("Open(%s): %v, want context.Canceled", filepath.Base(name), err)
		}
	}
}

// FuzzTar holds that no tar, packed or plain, hangs or crashes the reader.
func FuzzTar(f *testing.F) {
	raw := packTar(f, tree(f, mustGather), "")
	f.Add(raw)
	f.Add(gz(f, raw))
	f.Add(gz(f, raw)[:200])
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "fuzz", optionsOf(nil))
		if err != nil {
			return
		}
		if len(s.ix.Objects) == 0 && len(s.ix.Texts) == 0 && s.manifest == nil {
			t.Error("an archive without content is no error")
		}
		if _, err := s.Describe(t.Context()); err != nil {
			t.Error(err)
		}
		for r := range s.ix.Objects {
			if _, err := s.List(t.Context(), r, ""); err != nil {
				if _, ok := evidence.AsUnavailable(err); !ok {
					t.Error(err)
				}
			}
		}
		texts, _ := s.Texts(t.Context(), evidence.TextQuery{})
		for _, x := range texts {
			if in, err := x.Open(t.Context()); err == nil {
				io.Copy(io.Discard, io.LimitReader(in, 1<<20))
				in.Close()
			}
		}
	})
}
