package objectfile

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// asked are the fields of the tests.
var asked = FieldsOf("kind", "metadata.name", "spec.containers.name", "status.conditions", "data", "data.x")

func TestPrune(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"other fields", "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    name: no\n  name: a\n  uid: u\n", "kind: Pod\nmetadata:\n  name: a\n"},
		{"items below their key", "spec:\n  containers:\n  - env:\n    - name: no\n    name: a\n  - name: b\n    ports:\n    - 1\n  nodeName: x\n",
			"spec:\n  containers:\n  -\n    name: a\n  -\n    name: b\n"},
		{"items further right", "spec:\n  containers:\n    -   name: a\n        image: x\n    # text\n    - image: y\n      name: b\n",
			"spec:\n  containers:\n    -\n        name: a\n    -\n      name: b\n"},
		{"whole", "status:\n  conditions:\n  - message: |\n      a\n\n      b: c\n    type: Ready\n  phase: x\n",
			"status:\n  conditions:\n  - message: |\n      a\n\n      b: c\n    type: Ready\n"},
		{"a text of several lines", "metadata:\n  annotations:\n    a: \"x\n      name: no\"\n  name: a\n", "metadata:\n  name: a\n"},
		{"the item of a List", "  kind: Pod\n  metadata:\n    name: a\n    uid: u\n", "  kind: Pod\n  metadata:\n    name: a\n"},
		{"in one line", "metadata: {name: a}\nother: {x: y}\n", "metadata: {name: a}\n"},
		{"quoted key", "\"kind\": Pod\nother:\n  x: y\n", "\"kind\": Pod\n"},
		{"CRLF", "kind: Pod\r\nother:\r\n  x: y\r\n", "kind: Pod\r\n"},
		{"the longer path is part of the shorter", "data:\n  a: b\n  x: y\n", "data:\n  a: b\n  x: y\n"},
	} {
		got, ok := prune([]byte(c.doc), asked)
		if diff := cmp.Diff(c.want, string(got)); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, ok, diff)
		}
	}
	if _, ok := prune([]byte("kind: a\rb"), asked); ok {
		t.Error("a document with other line breaks is pruned")
	}
	if _, ok := prune([]byte("kind: a\n"), nil); ok {
		t.Error("a document is pruned to nothing")
	}
}

// kept is what prune is to leave of a decoded object.
func kept(v any, fields Fields) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, child := range v {
			if below, ok := fields[k]; ok {
				if out[k] = child; len(below) > 0 {
					out[k] = kept(child, below)
				}
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = kept(v[i], fields)
		}
		return out
	}
	return v
}

// FuzzPrune holds that of an object that a program wrote all fields that are asked for are left, as
// they were. More can be left: a value in one line, or an item without any of the fields.
func FuzzPrune(f *testing.F) {
	f.Add([]byte("kind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: b\n    env: [{name: c}]\n  - name: d\nstatus:\n  conditions:\n  - type: x\n"))
	f.Add([]byte("data:\n  x: |\n    kind: no\n  \"a b\": c\n"))
	f.Add([]byte("metadata:\n  name: \"a: b\"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		prune(raw, asked) // must not panic
		object, err := decode(raw)
		if err != nil || len(raw) > 1<<16 {
			return
		}
		written, err := yaml.Marshal(object)
		if err != nil {
			return
		}
		left, ok := prune(written, asked)
		if !ok || len(left) == 0 {
			return
		}
		got, err := decode(left)
		want, _ := kept(object, asked).(map[string]any)
		if err != nil && len(want) > 0 {
			t.Fatalf("%q: what is left cannot be decoded: %v\n%s", written, err, left)
		}
		contains(t, fmt.Sprintf("%q", written), want, got)
	})
}

// contains fails unless got has all of want.
func contains(t *testing.T, where string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok && len(want) > 0 {
			t.Fatalf("%s: %v is left, want %v", where, got, want)
		}
		for k := range want {
			contains(t, where, want[k], have[k])
		}
	case []any:
		have, _ := got.([]any)
		if len(have) != len(want) {
			t.Fatalf("%s: %v is left, want %v", where, got, want)
		}
		for i := range want {
			contains(t, where, want[i], have[i])
		}
	default:
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %v is left, want %v", where, got, want)
		}
	}
}
