package objectfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestBlockReader: what the reader of block style understands has the decoder's value, and what programs print it understands.
func TestBlockReader(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		reads bool
	}{
		"a Pod":                 {"---\napiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n  name: a\nspec:\n  containers:\n  - args:\n    - -v=2\n    - --a=b\n    name: x\n    ports: []\n  replicas: 3\n", true},
		"indented lists":        {"a:\n  - b: 1\n    c: -2\n  - d\n  -\n    e: f\n  - - g\n    - h\n", true},
		"empty values":          {"a:\nb:\n  c:\n  d: null\ne:\n-\n- ~\n-\nf: x\n", true},
		"booleans":              {"a: true\nb: \"true\"\nc: off\nd: No\ne: nothing\n", true},
		"texts like numbers":    {"a: 10.0.0.1\nb: 4.20.3\nc: 2026-03-01T08:04:00Z\nd: 30s\ne: 100m\nf: 2222-0000\ng: 1e0f-22\nh: -v=2\ni: 007\nj: 1f0e\nk: .x\n", false},
		"texts that begin with": {"a: 10.0.0.1\nb: 4.20.3\nc: 2026-03-01T08:04:00Z\nd: 30s\ne: 100m\nf: 2222-0000\ng: 1e0f-22\nh: -v=2\nj: 1f0e\nk: .x\n.: {}\nf:x: {}\n", true},
		"several lines":         {"a: one two\n  three\n\n  four\nb: 'it''s\n  here'\nc: \"x\\\n  \\ y\\nz \\u00e9\n\n\n  q\"\nd: e\n", true},
		"literal":               {"a: |\n  one\n    two\n\n  three\n\n\nb: |-\n  x\nc: |+\n  y\n\nd:\n- |\n  tab\there\n- e\n", true},
		"quotes":                {"a: \"\"\nb: ''\n\"c\": 'd'\n'e': \"f # g: h\"\n", true},
		"a float":               {"a: 1.5\n", false},
		"flow style":            {"a: {b: c}\n", false},
		"an anchor":             {"a: &x b\nc: *x\n", false},
		"a comment":             {"a: b # c\n", false},
		"a key twice":           {"a: b\na: c\n", false},
		"folded":                {"a: >\n  b\n  c\n", false},
		"a second document":     {"a: b\n---\nc: d\n", false},
		"a merge":               {"a: b\n<<: c\n", false},
		"no end":                {"a: b", false},
		"a list":                {"- a\n- b\n", false},
		"a literal of nothing":  {"a: |\nb: c\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if read := compareBlock(t, []byte(c.doc)); read != c.reads {
				t.Errorf("understood: %v, want %v", read, c.reads)
			}
		})
	}
}

// compareBlock reports whether the reader of block style understands a text, and fails where the decoder has another value.
func compareBlock(t *testing.T, doc []byte) bool {
	t.Helper()
	var b blockReader
	have, ok := b.object(doc)
	if !ok {
		return false
	}
	want, err := decode(doc)
	if err != nil && !deepFlow(doc) {
		t.Fatalf("read %v of\n%s\nthe decoder: %v", have, doc, err)
	}
	if err == nil && !reflect.DeepEqual(have, want) {
		t.Fatalf("read\n%#v of\n%s\nwant\n%#v", have, doc, want)
	}
	return true
}

func FuzzBlockReader(f *testing.F) {
	for _, doc := range []string{
		"a: b\nc:\n- d: 1\n  e: |\n    f\n- 'g'\n", "a: one\n  two\nb: \"c\\\n  d\"\n", "a:\n  b: |-\n\n    x\n   y\n", "- a: 1\n  b:\n  - c\n",
		"a: -1\nb: 0x1f\nc: 1_0\nd: .5\ne: +1\nf: 2026-01-01\n", "\"a\": ''\n'b': \"\\x41\\U0001F600\"\n", "a:\n- - b\n  - c\n-\n  d\n", "a: |+\n  b\n \n\nc: d\n",
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) { compareBlock(t, doc) })
}

// TestBlockReaderOnFiles compares the objects of the directory that ROLLCALL_BLOCK_FILES names.
func TestBlockReaderOnFiles(t *testing.T) {
	dir := os.Getenv("ROLLCALL_BLOCK_FILES")
	if dir == "" {
		t.Skip("no directory is named")
	}
	read, left := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for doc := range documents(raw) {
			texts := [][]byte{doc}
			if h := scanHeader(doc); h.items > 0 {
				if items, ok := splitItems(doc[h.items:]); ok {
					texts = items
				}
			}
			for _, text := range texts {
				if compareBlock(t, text) {
					read++
				} else {
					if left++; left < 20 {
						t.Logf("%s is left to the decoder", path)
					}
				}
			}
		}
		return nil
	})
	t.Logf("%d objects are read, %d are left to the decoder", read, left)
	if err != nil {
		t.Fatal(err)
	}
}

// TestBlockReaderAllocates: an object takes its maps, its lists and its long texts, and no more.
func TestBlockReaderAllocates(t *testing.T) {
	if testing.Short() {
		t.Skip("counts what is allocated")
	}
	doc := []byte("apiVersion: v1\nkind: Pod\nmetadata:\n  creationTimestamp: \"2026-03-01T08:04:00Z\"\n  labels:\n    app: a\n  name: b\n" +
		"spec:\n  containers:\n  - image: c\n    name: d\n  nodeName: e\nstatus:\n  conditions:\n  - status: \"True\"\n    type: Ready\n  phase: Running\n")
	var budget Budget
	if _, err := budget.Decode(doc); err != nil { // its short texts are known from now on
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() { _, _ = budget.Decode(doc) })
	const most = 24 // the decoder takes 356
	if t.Logf("%v allocations", allocs); allocs > most {
		t.Errorf("%v allocations for an object of 6 maps and 2 lists, at most %d", allocs, most)
	}
}
