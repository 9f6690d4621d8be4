package checks

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

// TestOtherReleases: each field of the table is one that the types do not have, or have in
// another form. No other entry is needed.
func TestOtherReleases(t *testing.T) {
	for _, other := range otherReleases {
		text, ok := installerFields[other.file]
		if !ok {
			t.Errorf("the installer reads no %s", other.file)
			continue
		}
		if other.source == "" {
			t.Errorf("%s: %q has no source", other.file, other.fields)
		}
		types, table := parseKeys(text), parseKeys(other.fields)
		if other.replaces {
			for _, path := range table.missing(types, "") {
				t.Errorf("%s: the installer has no %s that the table can replace", other.file, path)
			}
			for _, path := range table.same(types, "") {
				t.Errorf("%s: the types have %s now; delete it here", other.file, path)
			}
			continue
		}
		for _, path := range table.common(types, "") {
			t.Errorf("%s: the types have %s now; delete it here", other.file, path)
		}
	}
}

// TestOtherReleasesOutdated: what TestOtherReleases finds where the types got a field.
func TestOtherReleasesOutdated(t *testing.T) {
	types := parseKeys(": a b{} d+\nb.c: x\nl.*: y\nm: n\n")
	for text, want := range map[string]struct{ common, missing, same []string }{
		": e\n":             {missing: []string{".e"}},
		": a#\n":            {common: []string{".a"}},
		": a\n":             {common: []string{".a"}, same: []string{".a"}},
		"b.c: x z\n":        {common: []string{".b.c.x"}, missing: []string{".b.c.z"}, same: []string{".b.c.x"}},
		"d.f: x\n":          {common: []string{".d"}},
		"l.*: y? z\nm: n\n": {common: []string{".l.*.y", ".m.n"}, missing: []string{".l.*.z"}, same: []string{".m.n"}},
		": m{}\n":           {common: []string{".m"}},
	} {
		table := parseKeys(text)
		common, missing, same := table.common(types, ""), table.missing(types, ""), table.same(types, "")
		if !slices.Equal(common, want.common) || !slices.Equal(missing, want.missing) || !slices.Equal(same, want.same) {
			t.Errorf("%q: common %v, missing %v, same %v; want %+v", text, common, missing, same, want)
		}
	}
}

// common lists the fields of k that the types have, in any form.
func (k *keys) common(types *keys, path string) []string {
	return k.pick(types, path, func(_, there *keys, ok bool) bool { return ok })
}

// missing lists the fields of k that the types do not have.
func (k *keys) missing(types *keys, path string) []string {
	return k.pick(types, path, func(_, there *keys, ok bool) bool { return !ok })
}

// same lists the fields of k that the types have in the same form.
func (k *keys) same(types *keys, path string) []string {
	return k.pick(types, path, func(here, there *keys, ok bool) bool { return ok && reflect.DeepEqual(here, there) })
}

// pick lists the fields of k, without the blocks on the way to them that the types have, too.
func (k *keys) pick(types *keys, path string, want func(here, there *keys, ok bool) bool) []string {
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(k.fields)) {
		here, at := k.fields[name], path+"."+name
		there, ok := types.fields[name]
		if here != nil && there != nil && len(here.fields) > 0 {
			paths = append(paths, here.pick(there, at, want)...)
		} else if want(here, there, ok) {
			paths = append(paths, at)
		}
	}
	return paths
}
