package fault

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestDecodeDocument: what it decodes is what the strict decoder decodes; what it does not
// decode is left to that one. It decodes every built-in entry.
func TestDecodeDocument(t *testing.T) {
	files, err := filepath.Glob("../../../catalog/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compareDecoders(t, name, raw, true)
	}
	for text, decodes := range map[string]bool{
		"id: a\nrefs: []\ngiven: {}\n":                            true,
		"id: ''\nsettles: null\nsupport: ~\nmeans: |\n  a\n  b\n": true,
		"id: \"a\\u0041\\n\"\nstandsAlone: false\n":               true,
		"settles: {within: 1h30m}\ngiven: {on: {fact: x}}\n":      true,
		"settles: {within: 30}\n":                                 false,
		"id: 5\n":                                                 false,
		"id: yes\nstandsAlone: yes\n":                             false,
		"id: 2026-01-01\n":                                        false,
		"ID: a\n":                                                 false,
		"id: a\nid: b\n":                                          false,
		"given: {a: {fact: x}, a: {fact: y}}\n":                   false,
		"title: &t a\nmeans: *t\n":                                false,
		"id: a\n---\nid: b\n":                                     false,
		"id: [a]\n":                                               false,
		"refs: {repo: a}\n":                                       false,
		"given: [a]\n":                                            false,
		"refs: [a]\n":                                             false,
		"- id: a\n":                                               false,
		"":                                                        false,
		"# nothing\n":                                             false,
		"id: a\n  b: c\n":                                         false,
	} {
		compareDecoders(t, text, []byte(text), decodes)
	}
}

func compareDecoders(t *testing.T, name string, raw []byte, decodes bool) {
	t.Helper()
	for _, kind := range []any{&Fault{}, &Remedy{}, &RefusedRemedy{}, &Messages{}, &CommandNotes{}} {
		got, want := reflect.New(reflect.TypeOf(kind).Elem()), reflect.New(reflect.TypeOf(kind).Elem())
		if !decodeDocument(raw, got.Elem()) {
			continue
		}
		if err := decodeStrict(raw, want.Interface()); err != nil || !reflect.DeepEqual(got.Interface(), want.Interface()) {
			t.Errorf("%s as %T: %+v, the strict decoder has %+v, %v", name, kind, got.Interface(), want.Interface(), err)
		}
		if !decodes {
			t.Errorf("%s is decoded as %T", name, kind)
		}
		return
	}
	if decodes {
		t.Errorf("%s is not decoded", name)
	}
}
