// Package layouttest opens small archives, written as txtar, for the tests of layouts.
package layouttest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// Open opens the archive of a txtar text.
func Open(t testing.TB, text string) *archive.Source {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o600}
	}
	s, err := archive.FS(fsys, "dir/a")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Names returns the names of the objects of a resource, as namespace/name.
func Names(t testing.TB, s evidence.Source, r evidence.Resource, namespace string) []string {
	t.Helper()
	list, err := s.List(t.Context(), r, namespace)
	if err != nil {
		t.Fatalf("List(%s, %q): %v", r, namespace, err)
	}
	var out []string
	for _, o := range list {
		out = append(out, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
	}
	return out
}

// Why returns why something is unavailable; it must say what would supply it.
func Why(t testing.TB, err error) evidence.Why {
	t.Helper()
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		t.Fatalf("the error is %v, want an Unavailable", err)
	}
	if u.Supply.IsZero() {
		t.Errorf("%v does not name what would supply it", u)
	}
	return u.Why
}

// Lines returns the lines of all texts of a query.
func Lines(t testing.TB, s evidence.Source, q evidence.TextQuery) string {
	t.Helper()
	texts, err := s.Texts(t.Context(), q)
	if err != nil {
		t.Fatalf("Texts(%s): %v", q, err)
	}
	var b strings.Builder
	for _, x := range texts {
		in, err := x.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatalf("read %s: %v", x.Path, err)
		}
		b.Write(raw)
	}
	return b.String()
}

// IsKind checks the kind of an archive and its time, "" for none.
func IsKind(t testing.TB, s *archive.Source, kind, now string) {
	t.Helper()
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := ""
	if !d.Now.IsZero() {
		at = d.Now.Format(time.RFC3339)
	}
	if d.Kind != kind || at != now {
		t.Errorf("it is %q as of %q, want %q as of %q", d.Kind, at, kind, now)
	}
}

// Machines returns what machines report of themselves, by their names.
func Machines[T any](t testing.TB, s evidence.Source, r evidence.Resource) map[string]T {
	t.Helper()
	list, err := s.List(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]T{}
	for _, o := range list {
		v, err := evidence.Decode[T](o)
		if err != nil {
			t.Fatal(err)
		}
		all[o.Name] = v
	}
	return all
}
