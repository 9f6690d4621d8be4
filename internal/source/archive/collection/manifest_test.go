package collection

import (
	"path/filepath"
	"testing"
)

// FuzzManifest holds that a header leads to no file outside the collection.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("apiVersion: rollcall.dev/v1alpha1\nkind: Collection\nnow: 2026-01-01T00:00:00Z\nobjects:\n- resource: nodes\n  objects:\n  - name: a\n    " +
		"file: x/a.yaml\ntexts: []\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Parse(raw, nil)
		if err != nil {
			return
		}
		for _, o := range m.Objects {
			for _, r := range o.Objects {
				if !filepath.IsLocal(r.File) {
					t.Errorf("%q is accepted", r.File)
				}
			}
		}
	})
}
