package member

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestBomb(t *testing.T) {
	r := &bounded{r: zeros{}, packed: &counter{n: 1000}}
	_, err := io.Copy(io.Discard, r)
	var limit *LimitError
	if !errors.As(err, &limit) || r.n > ratioFrom+1<<20 {
		t.Errorf("stopped after %d bytes with %v", r.n, err)
	}
}

// list is an index of all files.
type list struct{ files []File }

func (l *list) Add(f File, keep Keep) error {
	err := keep(&f, Plan{Keep: true, Text: len(l.files)%2 == 0})
	l.files = append(l.files, f)
	return err
}

func (*list) Lose(string, error) error { return nil }
func (*list) LoseOutside(string) error { return nil }
func (*list) LoseDir(string, error)    {}
func (*list) LoseName(string)          {}

// TestCursors: members that do not fit into the budget are read again from the stream, in
// any order, and few positions in it are kept.
func TestCursors(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	const members = 20
	content := func(i int) string { return fmt.Sprintf("content of member %d", i) }
	for i := range members {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Mode: 0o600, Size: int64(len(content(i)))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	for _, b := range []Budget{{-1, -1}, DefaultBudget, {-1, 1 << 20}} {
		var l list
		c, err := Read(t.Context(), bytes.NewReader(packed.Bytes()), int64(packed.Len()), "a", &l, b)
		if err != nil || len(l.files) != members || c.Cut() != "" {
			t.Fatalf("%d files, %v, %q", len(l.files), err, c.Cut())
		}
		for _, step := range []int{1, 7, 19} {
			for k := range members {
				i := k * step % members
				raw, err := c.Read(t.Context(), l.files[i], 100)
				if string(raw) != content(i) {
					t.Errorf("budget %v: member %d is %q, %v", b, i, raw, err)
				}
			}
		}
		if n := len(c.store.(*tarStore).cursors.idle); n > maxIdleCursors || b.Objects < 0 && n == 0 {
			t.Errorf("budget %v: %d cursors are idle, want 1 to %d", b, n, maxIdleCursors)
		}
	}
}
