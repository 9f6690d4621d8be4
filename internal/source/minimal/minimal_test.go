package minimal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// canary is in every field that is not in a list. Nothing of it may be left.
const canary = "canary-4242"

// plant makes an object of all fields of a tree, each with a value, and beside each a field that is
// in no list: a text, a list and an object.
func plant(t tree) any {
	if t == nil {
		return "kept"
	}
	if _, all := t["**"]; all {
		return map[string]any{"below": "kept"}
	}
	out := map[string]any{"foreign": canary, "foreignList": []any{canary, map[string]any{"name": canary}}, "foreignObject": map[string]any{canary: canary}}
	for name, below := range t {
		if name == "*" {
			name = "any"
		}
		out[name] = plant(below)
	}
	return out
}

// count returns how many values of a tree are kept.
func count(v any) int {
	switch v := v.(type) {
	case map[string]any:
		n := 0
		for _, child := range v {
			n += count(child)
		}
		return n
	case []any:
		n := 0
		for _, child := range v {
			n += count(child)
		}
		return n
	case string:
		if v == "kept" {
			return 1
		}
	}
	return 0
}

func mustTrees(t *testing.T) *known {
	t.Helper()
	k, err := trees()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func object(t *testing.T, name string, content map[string]any) map[string]any {
	t.Helper()
	r := evidence.Resource{Name: name}
	if resource, group, ok := strings.Cut(name, "."); ok {
		r = evidence.Resource{Name: resource, Group: group}
	}
	out, err := Object(r, content)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOnlyWhatIsListed: of each kind every listed field is kept, and nothing else.
func TestOnlyWhatIsListed(t *testing.T) {
	k := mustTrees(t)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		content := plant(k.kinds[name]).(map[string]any)
		want := count(content)
		meta := plant(k.metadata).(map[string]any)
		want += count(meta)
		meta["annotations"] = map[string]any{"example.com/note": canary, "kubectl.kubernetes.io/last-applied-configuration": canary, annotations[0]: "kept"}
		want++
		content["metadata"] = meta
		out := object(t, name, content)
		raw, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(canary)) {
			t.Errorf("%s: a field of no list is left: %s", name, raw)
		}
		if got := count(out); got != want {
			t.Errorf("%s: %d of %d fields are left: %s", name, got, want, raw)
		}
	}
}

// TestUnknownKinds: of a kind without a list only the name, what every object has and its conditions are left.
func TestUnknownKinds(t *testing.T) {
	for _, name := range []string{"widgets.example.com", "machineconfigs.machineconfiguration.openshift.io", "routes.route.openshift.io", "configmaps"} {
		content := map[string]any{
			"apiVersion": "v1", "kind": "Widget",
			"metadata": map[string]any{"name": "w", "labels": map[string]any{"team": canary}, "annotations": map[string]any{"a/b": canary}},
			"spec":     map[string]any{"name": canary, "config": map[string]any{"x": canary}},
			"data":     map[string]any{"x": canary, "install-config": "metadata: {name: c}\npullSecret: " + canary + "\nplatform: {vsphere: {password: " + canary + "}}"},
			"status": map[string]any{"message": canary, "conditions": []any{map[string]any{"type": "Ready", "status": "False", "message": "kept",
				"other": canary}}},
		}
		if strings.HasPrefix(name, "machineconfigs") {
			content["metadata"].(map[string]any)["labels"] = map[string]any{"x": "kept"} // pools select by them
		}
		raw, err := json.Marshal(object(t, name, content))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(canary)) || !bytes.Contains(raw, []byte(`"message":"kept"`)) {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

// TestContentStays: the object of the run itself is not changed.
func TestContentStays(t *testing.T) {
	content := map[string]any{"metadata": map[string]any{"name": "x", "labels": map[string]any{"a": "b"}}, "spec": map[string]any{"a": "b"}}
	before := fmt.Sprint(content)
	object(t, "widgets.example.com", content)
	if got := fmt.Sprint(content); got != before {
		t.Errorf("%s became %s", before, got)
	}
}

// TestPaths: what a list means, and lists that mean nothing.
func TestPaths(t *testing.T) {
	for paths, want := range map[string]string{
		"a":                    "map[a:map[]]",
		"a.b":                  "map[a:map[b:map[]]]",
		"{a,b.{c,d.e}}":        "map[a:map[] b:map[c:map[] d:map[e:map[]]]]",
		"{a,b}.c":              "map[a:map[c:map[]] b:map[c:map[]]]",
		"x.{a,b}.{c,d}":        "map[x:map[a:map[c:map[] d:map[]] b:map[c:map[] d:map[]]]]",
		"{x.{a,b}.{c,d},y.**}": "map[x:map[a:map[c:map[] d:map[]] b:map[c:map[] d:map[]]] y:map[**:map[]]]",
	} {
		got := tree{}
		if err := got.add(paths); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v", paths, got, err)
		}
	}
	for _, paths := range []string{"", "a.", "{a", "{a,b", "{a,}", "a}", "a.{b", "a..b"} {
		if err := (tree{}).add(paths); err == nil {
			t.Errorf("%q is read", paths)
		}
	}
}

// sink is a recorder that keeps the lines of texts.
type sink struct {
	bytes.Buffer
	closed bool
}

func (s *sink) Objects(evidence.Need, []evidence.Object) error                    { return nil }
func (s *sink) Missing(evidence.Need, *evidence.Unavailable) error                { return nil }
func (s *sink) Text(evidence.Need, int, evidence.Text) (reader.TextWriter, error) { return s, nil }
func (s *sink) Opened()                                                           {}
func (s *sink) Close(error) error                                                 { s.closed = true; return nil }

// TestLines: lines that no message matches are empty, in whatever pieces a text is written.
func TestLines(t *testing.T) {
	known, err := scan.Compile([]scan.Signature{{ID: "a", Literal: "did not answer"}})
	if err != nil {
		t.Fatal(err)
	}
	text := "one " + canary + "\nhost a did not answer\n\ntwo " + canary + "\nhost b did not answer\nthree " + canary
	for _, size := range []int{1, 7, 1000} {
		s := &sink{}
		w, err := New(s, known, words(t)).Text(evidence.Need{}, 0, evidence.Text{})
		if err != nil {
			t.Fatal(err)
		}
		for piece := range slices.Chunk([]byte(text), size) {
			if n, err := w.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
		}
		if err := w.Close(nil); err != nil || !s.closed {
			t.Fatal(err)
		}
		if got := s.String(); got != "\nhost a did not answer\n\n\nhost b did not answer\n\n" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}
