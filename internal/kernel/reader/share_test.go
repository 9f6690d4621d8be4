package reader

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShare: objects are what they were, and equal parts of them are one.
func TestShare(t *testing.T) {
	texts := []string{
		`{"a": {"x": [1, "1", true, null, {}, [], 1.5], "y": {"k": "v"}}, "b": {"k": "v"}}`,
		`{"a": {"x": [1, "1", true, null, {}, [], 1.5], "y": {"k": "w"}}, "b": {"k": "v"}}`,
		`{"a": {"y": {"v": "k"}, "x": ["1", 1, true, null, [], {}, 1.5]}, "b": [{"k": "v"}]}`,
		`{"a": null, "b": {"k": null}, "c": {"l": null}, "d": [null], "e": [], "f": {}, "g": [[]], "h": [{}]}`,
	}
	s := newSharer()
	var list []map[string]any
	for _, text := range texts {
		var content, want map[string]any
		for _, to := range []*map[string]any{&content, &want} {
			if err := json.Unmarshal([]byte(text), to); err != nil {
				t.Fatal(err)
			}
		}
		s.object(content)
		if diff := cmp.Diff(want, content); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		list = append(list, content)
	}
	at := func(i int, path ...string) uintptr {
		var v any = list[i]
		for _, p := range path {
			v = v.(map[string]any)[p]
		}
		if l, ok := v.([]any); ok {
			return reflect.ValueOf(l).Pointer()
		}
		return reflect.ValueOf(v).Pointer()
	}
	if at(0, "b") != at(0, "a", "y") || at(0, "b") != at(1, "b") || at(0, "a", "x") != at(1, "a", "x") {
		t.Error("equal parts are not one")
	}
	if at(0, "a") == at(1, "a") || at(0, "a", "x") == at(2, "a", "x") || at(3, "b") == at(3, "c") {
		t.Error("parts that differ are one")
	}
}

// TestShareForeign: a value that no decoder makes stays, with all that it is part of.
func TestShareForeign(t *testing.T) {
	s := newSharer()
	a, b := map[string]any{"p": map[string]any{"q": []string{"x"}}}, map[string]any{"p": map[string]any{"q": []string{"y"}}}
	s.object(a)
	s.object(b)
	if diff := cmp.Diff(map[string]any{"p": map[string]any{"q": []string{"y"}}}, b); diff != "" {
		t.Error(diff)
	}
}

// TestShareOneHash: lists that were made to have one hash are not compared each with each.
func TestShareOneHash(t *testing.T) {
	s := newSharer()
	second := uint64(0xbf58476d1ce4e5b9) // what makes mix nothing
	for i := range int64(100) {
		list := []any{i, int64(second)}
		if kept, _, ok := s.part(list); !ok || !cmp.Equal(kept, any(list)) {
			t.Fatalf("%v became %v", list, kept)
		}
	}
	for hash, have := range s.known {
		if len(have) > maxSameHash {
			t.Errorf("%d parts of the hash %x", len(have), hash)
		}
	}
	if len(s.known) != 1 {
		t.Errorf("%d hashes; this test wants one", len(s.known))
	}
}
