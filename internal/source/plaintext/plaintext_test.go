package plaintext_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ulikunitz/xz"

	"github.com/rollcall-project/rollcall/internal/source/plaintext"
)

const said = "Mar 04 10:00:00 w7 kubelet[1]: naïve line\nMar 04 10:00:01 w7 kubelet[1]: another\n"

// TestSameText: however a text was packed or encoded, its bytes are the same.
func TestSameText(t *testing.T) {
	forms := map[string][]byte{
		"plain":          []byte(said),
		"UTF-8 with BOM": append([]byte("\xef\xbb\xbf"), said...),
		"colors":         []byte("\x1b[1;31m" + strings.ReplaceAll(said, "kubelet", "\x1b[33mkubelet\x1b[0m")),
		"UTF-16 LE":      wide(binary.LittleEndian),
		"UTF-16 BE":      wide(binary.BigEndian),
		"gzip":           pack(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, []byte(said)),
		"xz":             pack(t, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) }, []byte(said)),
		"gzip of UTF-16": pack(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, wide(binary.LittleEndian)),
		"zip":            zipped(t, map[string]string{"w7.log": said}),
		"zip of a Mac":   zipped(t, map[string]string{"w7.log": said, "__MACOSX/._w7.log": "x"}),
	}
	for name, raw := range forms {
		if got, ok := plaintext.Of(raw, 1<<20); !ok || string(got) != said {
			t.Errorf("%s: %v, %q", name, ok, got)
		}
	}
}

func TestNotText(t *testing.T) {
	noise := make([]byte, 3000)
	r := rand.New(rand.NewPCG(7, 7))
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	for want, raw := range map[string][]byte{
		"PNG":                            append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), noise...),
		"PDF":                            []byte("%PDF-1.7\n1 0 obj\n"),
		"binary data":                    noise,
		"an archive":                     zipped(t, map[string]string{"a": "1", "b": "2"}),
		"events (GET /v2/events)":        []byte(`[{"event_time":"2026-02-03T04:05:06Z","severity":"info","message":"Host w7: x"}]`),
		"a cluster (GET /v2/clusters)":   []byte(`{"id":"1","status":"ready","status_info":"x","openshift_version":"4.17.1"}`),
		"a host (GET /v2/infra-envs/ID/": []byte(`[{"id":"1","status_info":"x","requested_hostname":"w7"}]`),
	} {
		_, err := plaintext.Reader(bytes.NewReader(raw), "f", 1<<20)
		if not := (*plaintext.NotTextError)(nil); !errors.As(err, &not) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if in, err := plaintext.Reader(strings.NewReader(`{"apiVersion":"v1","kind":"Node","status_info":"x","hosts":1}`), "f", 1<<20); err != nil || in == nil {
		t.Errorf("an object of Kubernetes: %v", err)
	}
}

func wide(order binary.AppendByteOrder) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(said)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func pack(t *testing.T, with func(io.Writer) (io.WriteCloser, error), raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := with(&b)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
