package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestResults: what was kept is there again, for every part; a line that was cut is taken away, and not read by others.
func TestResults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "done")
	first, err := OpenResults(dir, "0-of-2")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := first.Keep(Result{Name: fmt.Sprint("a", i), Key: fmt.Sprint("k", i), Program: "v1", State: Quiet}); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Keep(Result{Name: "live"}); err != nil { // has no key: it is not kept
		t.Fatal(err)
	}
	if _, err := OpenResults(dir, "0-of-2"); err == nil || !strings.Contains(err.Error(), "another rollcall") {
		t.Errorf("two work on one part: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "fleet-0-of-2.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range raw { // a kill at any byte
		if err := os.WriteFile(path, raw[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		other, err := OpenResults(dir, "1-of-2")
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := strings.Count(string(raw[:cut]), "\n")
		if len(other.kept) != whole {
			t.Fatalf("cut at %d: %d results, want %d", cut, len(other.kept), whole)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := OpenResults(dir, "0-of-2")
		if err != nil || len(again.kept) != whole {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := again.Keep(Result{Name: "n", Key: "n", Program: "v1"}); err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(path); err != nil || strings.Count(string(after), "\n") != whole+1 {
			t.Fatalf("cut at %d: %q, %v", cut, after, err)
		}
	}
}

// TestKept: what counts as done.
func TestKept(t *testing.T) {
	r := &Results{kept: map[string]Result{"k": {Name: "old", Key: "k", Program: "v1", State: Quiet}, "bad": {Key: "bad", Program: "v1", State: NotRead}}}
	for _, c := range []struct {
		key, version string
		retry, want  bool
	}{{"k", "v1", false, true}, {"k", "v1", true, true}, {"k", "v2", false, false}, {"", "v1", false, false}, {"other", "v1", false, false},
		{"bad", "v1", false, true}, {"bad", "v1", true, false}} {
		one, ok := r.Of(Cluster{Name: "new", Key: c.key}, c.version, c.retry)
		if ok != c.want || ok && one.Name != "new" {
			t.Errorf("%+v: %v %+v", c, ok, one)
		}
	}
}

// TestForeign: a file that is none of ours is an error that names it, and stays as it is.
func TestForeign(t *testing.T) {
	for name, text := range map[string]string{"no JSON": "hello\n", "another document": `{"kind":"Diagnosis"}` + "\n", "an array": "[]\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "fleet-0-of-1.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenResults(dir, "0-of-1"); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s: now %q", name, after)
		}
	}
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "fleet-0-of-1.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenResults(dir, "0-of-1"); err == nil {
		t.Error("a link is followed")
	}
}

// TestParts: every cluster is in one part, and stays there when others come.
func TestParts(t *testing.T) {
	for of := 1; of < 7; of++ {
		for i := range 200 {
			in := 0
			for index := range of {
				p, err := ParsePart(fmt.Sprintf("%d/%d", index, of))
				if err != nil {
					t.Fatal(err)
				}
				if p.Has(fmt.Sprint("archive", i)) {
					in++
				}
			}
			if in != 1 {
				t.Fatalf("archive%d is in %d parts of %d", i, in, of)
			}
		}
	}
	for _, wrong := range []string{"1", "4/4", "-1/4", "0/0", "a/b", "0/4/1", "0/99999", " 0/4"} {
		if p, err := ParsePart(wrong); err == nil {
			t.Errorf("%q is %v", wrong, p)
		}
	}
}
