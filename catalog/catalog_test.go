package catalog

import (
	"bytes"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDigest: the digest is what its comment says, so that anybody can compute it.
func TestDigest(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "LC_ALL=C sha256sum */*.yaml | sha256sum").Output()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:" + strings.Fields(string(out))[0]; digest != want {
		t.Errorf("Digest() = %s, sha256sum has %s: run `go run ./internal/tools/catalogdocs`", digest, want)
	}
}

// TestPack: what is packed is unpacked, and a pack that is damaged is an error, not a
// smaller catalog.
func TestPack(t *testing.T) {
	files := fstest.MapFS{
		"a/x.yaml": {Data: []byte("id: x\n")}, "a/empty.yaml": {}, "b/y.yaml": {Data: []byte("a/x.yaml 3 4\n{}")},
		"a/testdata/no.yaml": {Data: []byte("no")}, "c.yaml": {Data: []byte("no")},
	}
	packed, err := Pack(files, func(raw []byte) ([]byte, error) { return bytes.ToUpper(raw), nil })
	if err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) Files { return Files{func() (*entries, error) { return unpack(data) }} }
	got := open(packed)
	names, err := list(got)
	if want := []string{"a/empty.yaml", "a/x.yaml", "b/y.yaml"}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("%v %v, want %v", names, err, want)
	}
	for _, name := range names {
		raw, err := got.ReadFile(name)
		asJSON, ok := got.Decoded(name)
		if err != nil || !ok || string(raw) != string(files[name].Data) || string(asJSON) != strings.ToUpper(string(raw)) {
			t.Errorf("%s: %q %q %v %v", name, raw, asJSON, ok, err)
		}
	}
	if err := fstest.TestFS(got, names...); err != nil {
		t.Error(err)
	}
	for n := range len(packed) {
		if _, err := fs.ReadFile(open(packed[:n]), "a/x.yaml"); err == nil {
			t.Fatalf("the first %d bytes of the pack are no error", n)
		}
	}
}
