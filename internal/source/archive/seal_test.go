package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
)

// sealed is a collection with digests: two pods and a console.
func sealed(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{
		"c/namespaces/a/pods/p/p.yaml": {Data: []byte("kind: Pod\nmetadata: {name: p, namespace: a}\n")},
		"c/namespaces/a/pods/q/q.yaml": {Data: []byte("kind: Pod\nmetadata: {name: q, namespace: a}\n")},
		"c/consoles/h.log":             {Data: []byte("seen\n")},
		"c/consoles/i.log":             {Data: []byte(strings.Repeat("a long line\n", maxAtOnce/12+1))},
	}
	header := "apiVersion: " + collection.Version + "\nkind: Collection\nnow: \"2026-01-02T10:00:00Z\"\nfiles:\n"
	for name, f := range files {
		sum := sha256.Sum256(f.Data)
		header += fmt.Sprintf("- {name: %s, size: %d, sha256: %s}\n", strings.TrimPrefix(name, "c/"), len(f.Data), hex.EncodeToString(sum[:]))
	}
	header += `objects:
- resource: nodes
- resource: pods
  objects:
  - {namespace: a, name: p, file: namespaces/a/pods/p/p.yaml}
  - {namespace: a, name: q, file: namespaces/a/pods/q/q.yaml}
texts:
- query: {kind: console}
  texts: [{kind: console, host: h, path: h, file: consoles/h.log}, {kind: console, host: i, path: i, file: consoles/i.log}]
`
	files["c/"+collection.ManifestName] = &fstest.MapFile{Data: []byte(header)}
	files["c/"+collection.SealName] = &fstest.MapFile{Data: collection.Seal([]byte(header))}
	return files
}

// consoles reads the consoles, and returns the errors by host.
func openConsoles(t *testing.T, s *Source) map[string]error {
	t.Helper()
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console})
	if err != nil {
		t.Fatal(err)
	}
	errs := map[string]error{}
	for _, x := range texts {
		in, err := x.Open(t.Context())
		if err == nil {
			_, err = io.Copy(io.Discard, in)
			in.Close()
		}
		errs[x.Host] = err
	}
	return errs
}

// TestSealedCollection: what is changed or gone is Damaged for the needs that it
// carries, and for no others.
func TestSealedCollection(t *testing.T) {
	for name, c := range map[string]struct {
		damage  func(fstest.MapFS)
		pods    string // in the error
		damaged string // the host whose console is damaged
	}{
		"whole":         {func(fstest.MapFS) {}, "", ""},
		"a changed pod": {func(f fstest.MapFS) { f["c/namespaces/a/pods/q/q.yaml"].Data[0] ^= 1 }, "q.yaml: it has not the SHA-256", ""},
		"a longer pod": {func(f fstest.MapFS) { f["c/namespaces/a/pods/q/q.yaml"].Data = []byte("kind: Pod") }, "q.yaml: it has 9 bytes, and 44 were " +
			"collected", ""},
		"a pod gone":      {func(f fstest.MapFS) { delete(f, "c/namespaces/a/pods/q/q.yaml") }, "q.yaml: missing in the collection", ""},
		"a changed log":   {func(f fstest.MapFS) { f["c/consoles/h.log"].Data[0] ^= 1 }, "", "h"},
		"an emptied log":  {func(f fstest.MapFS) { f["c/consoles/h.log"].Data = nil }, "", "h"},
		"a log gone":      {func(f fstest.MapFS) { delete(f, "c/consoles/h.log") }, "", "h"},
		"a long log":      {func(f fstest.MapFS) { d := f["c/consoles/i.log"].Data; d[len(d)-3] ^= 1 }, "", "i"},
		"a file too many": {func(f fstest.MapFS) { f["c/consoles/j.log"] = &fstest.MapFile{Data: []byte("x")} }, "", ""},
	} {
		files := sealed(t)
		c.damage(files)
		for form, open := range map[string]func() (*Source, error){
			"directory": func() (*Source, error) { return FS(files, "c") },
			"tar":       func() (*Source, error) { return Bytes(t.Context(), packTar(t, files, ""), "c") },
			"tar.gz":    func() (*Source, error) { return Bytes(t.Context(), gz(t, packTar(t, files, "")), "c") },
		} {
			s, err := open()
			if err != nil {
				t.Errorf("%s as %s: %v", name, form, err)
				continue
			}
			list, err := s.List(t.Context(), evidence.Pods, "a")
			if u, _ := evidence.AsUnavailable(err); c.pods == "" && (err != nil || len(list) != 2) ||
				c.pods != "" && (u == nil || u.Why != evidence.Damaged || u.Supply.IsZero() || !strings.Contains(u.Detail, c.pods) || list != nil) {
				t.Errorf("%s as %s: %d pods, %v", name, form, len(list), err)
			}
			if list, err := s.List(t.Context(), evidence.Nodes, ""); err != nil || list != nil {
				t.Errorf("%s as %s: nodes are %v, %v", name, form, list, err)
			}
			for host, err := range openConsoles(t, s) {
				if (host == c.damaged) != evidence.IsDamage(err) || host != c.damaged && err != nil {
					t.Errorf("%s as %s: the console of %s: %v", name, form, host, err)
				}
			}
			d, err := s.Describe(t.Context())
			if noted := len(d.Notes) > 0; err != nil || noted != (name == "a file too many") {
				t.Errorf("%s as %s: %+v, %v", name, form, d.Notes, err)
			}
		}
	}
}

// TestBrokenSeal: a collection whose header cannot be believed is refused.
func TestBrokenSeal(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(fstest.MapFS)
		want   string
	}{
		"a changed header":   {func(f fstest.MapFS) { f["c/"+collection.ManifestName].Data[40] ^= 1 }, "it has not the SHA-256 that rollcall.sha256 names"},
		"another version":    {func(f fstest.MapFS) { f["c/"+collection.ManifestName].Data[24] = '1' }, "it has not the SHA-256"},
		"a changed seal":     {func(f fstest.MapFS) { f["c/"+collection.SealName].Data[3] ^= 1 }, "it has not the SHA-256"},
		"no seal":            {func(f fstest.MapFS) { delete(f, "c/"+collection.SealName) }, "rollcall.sha256 is missing"},
		"no header":          {func(f fstest.MapFS) { delete(f, "c/"+collection.ManifestName) }, "rollcall.yaml is missing"},
		"an emptied header":  {func(f fstest.MapFS) { f["c/"+collection.ManifestName].Data = nil }, "it has not the SHA-256"},
		"a digest forgotten": {func(f fstest.MapFS) { resealed(f, "name: consoles/h.log", "name: consoles/x.log") }, `it has no digest of the file "consoles/h.log"`},
		"a digest outside":   {func(f fstest.MapFS) { resealed(f, "name: consoles/h.log", "name: ../h.log") }, "not inside the collection"},
	} {
		files := sealed(t)
		c.damage(files)
		if _, err := FS(files, "c"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// resealed changes a header and seals it again.
func resealed(files fstest.MapFS, old, to string) {
	header := []byte(strings.Replace(string(files["c/"+collection.ManifestName].Data), old, to, 1))
	maps.Copy(files, fstest.MapFS{"c/" + collection.ManifestName: {Data: header}, "c/" + collection.SealName: {Data: collection.Seal(header)}})
}

// TestCollectionWithoutDigests: what an older rollcall wrote is still read, with a note;
// where it is cut off, nothing of it is taken for whole.
func TestCollectionWithoutDigests(t *testing.T) {
	s := open(t, collectionTree)
	d, err := s.Describe(t.Context())
	if err != nil || len(d.Notes) != 1 || !strings.Contains(d.Notes[0].Reason, "without digests") {
		t.Errorf("%+v, %v", d.Notes, err)
	}
	raw := packTar(t, tree(t, collectionTree), "")
	s, err = Bytes(t.Context(), raw[:len(raw)-2*512], "c")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), evidence.Pods, ""); why(t, err) != evidence.Damaged {
		t.Errorf("%v, %v", list, err)
	}
	if errs := openConsoles(t, s); !evidence.IsDamage(errs[""]) {
		t.Errorf("%v", errs)
	}
}
