package objectfile

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// FuzzList holds that a split List has the items of the decoded List.
func FuzzList(f *testing.F) {
	for _, s := range []string{
		"apiVersion: v1\nitems:\n- a: 1\n- b: |\n    - x\n    y\nkind: L\n", "items:\n  - a: 1\n  - - b\nkind: L\n", "items:\n-\n  a: 1\n- b\n", "items:\n",
		"items: []\nkind: L",
		"items:\n- a: 'x\n\n    - y'\n- \"b\": c\n# z\nkind: L\n", "items:\n- a\n---\nkind: L\n", "items:\n-   a: 1\n    b: 2\n-   c: 3\nkind: L\n",
		"items:\n- ? a\n  : b\nkind: L\n",
		"items:\n-\r0: \nkind: 0", "items:\r\n- a: 1\r\n- b\r\nkind: L\r\n", "items:\n- a: \u2028- b: 1\nkind: L\n", "items:\n- a: 1\u0085- b: 1\nkind: L\n",
		"items:\n- '\n- 0: 0'\n-\nkind: 0",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for doc := range documents(raw) {
			h := scanHeader(doc)
			if h.items == 0 || h.kind == "" {
				continue
			}
			items, ok := splitItems(doc[h.items:])
			if !ok {
				continue
			}
			var whole struct {
				Items []any `json:"items"`
			}
			if len(doc) > 1<<16 || yaml.UnmarshalStrict(doc, &whole) != nil && yaml.Unmarshal(doc, &whole) != nil {
				continue // nothing to compare with
			}
			if slices.ContainsFunc(items, func(item []byte) bool { _, err := decode(item); return err != nil }) {
				continue // decoded as a whole, or reported as damage
			}
			for i, item := range items {
				got, err := decode(item)
				if err != nil || i >= len(whole.Items) {
					continue
				}
				want, _ := whole.Items[i].(map[string]any)
				if fmt.Sprint(got) != fmt.Sprint(renumber(want)) {
					t.Errorf("item %d of %q is %v, decoded as a whole %v", i, doc, got, want)
				}
			}
		}
	})
}

// renumber brings the numbers of a loose decoder into the form of decode.
func renumber(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = renumber(v[k])
		}
	case []any:
		for i := range v {
			v[i] = renumber(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}
