package baseline_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// areas are the directories from which a baseline reads.
var areas = []string{"clusterversions", "clusteroperators", "/nodes/", "machineconfigpools", "machineconfigs", "controllerconfigs", "infrastructures",
	"config.openshift.io/networks", "metal3.io/"}

func of(t *testing.T, fsys fs.FS) (baseline.Baseline, bool) {
	t.Helper()
	r, err := fixture.Reader(fsys)
	if err != nil {
		return baseline.Baseline{}, false // nothing is left
	}
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	b, err := baseline.Take(t.Context(), facts.NewWorld(r, now), now, "fixture", "healthy")
	if err != nil {
		t.Fatal(err)
	}
	return b, true
}

// pairs are clusters then and now, with the answer of whether they are one.
func pairs(t *testing.T) map[string][2]fstest.MapFS {
	t.Helper()
	base := func(name string) fstest.MapFS {
		files, err := fixture.Base(name)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	metal, none := base("ocp-4.20-baremetal"), base("ocp-4.14-none")
	gone := maps.Clone(metal)
	for name, f := range metal {
		if strings.HasSuffix(name, "/nodes/m1.yaml") { // as a machine of another name
			delete(gone, name)
			gone[strings.Replace(name, "m1", "m9", 1)] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(f.Data), "m1", "m9"))}
		}
		if strings.HasSuffix(name, "clusteroperators/etcd.yaml") {
			gone[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(f.Data), "4.20", "4.21"))}
		}
	}
	return map[string][2]fstest.MapFS{
		"the same":        {metal, metal},
		"changed":         {metal, gone},
		"changed back":    {gone, metal},
		"another cluster": {metal, none},
		"on no platform":  {none, none},
	}
}

// TestLessIsNeverSurer takes away, empties and cuts each file that a comparison reads, on both
// sides, alone and together with the identity: no change appears that was not there, no
// difference becomes "nothing has changed", and no other cluster the same one.
func TestLessIsNeverSurer(t *testing.T) {
	for name, pair := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was, _ := of(t, pair[0])
			is, _ := of(t, pair[1])
			whole := baseline.Compare(was, is)
			for _, less := range lesser(pair[1]) {
				if b, ok := of(t, less.files); ok {
					check(t, less.what+" now", whole, baseline.Compare(was, b))
				}
			}
			for _, less := range lesser(pair[0]) {
				if b, ok := of(t, less.files); ok {
					check(t, less.what+" in the baseline", whole, baseline.Compare(b, is))
				}
			}
		})
	}
}

type variant struct {
	what  string
	files fstest.MapFS
}

func lesser(files fstest.MapFS) []variant {
	every := 5 // of how many files the sample has one; they lie side by side by kind
	switch {
	case testing.Short():
		every = 3
	case sample.Whole():
		every = 1
	}
	var list []variant
	identity := []string{"clusterversions", "infrastructures", "machineconfigpools", "machineconfigs/"}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		if i%every != 0 {
			continue
		}
		if !slices.ContainsFunc(areas, func(a string) bool { return strings.Contains(name, a) }) {
			continue
		}
		whole := sorted(files[name].Data)
		ways := map[string][]byte{"without": nil, "empty": {}, "cut": files[name].Data[:len(files[name].Data)/2]}
		for _, n := range []int{3, 5, 7, 9} { // parts of ten, behind a line
			ways[fmt.Sprint("cut behind a line, ", n)] = whole[:bytes.LastIndexByte(whole[:len(whole)*n/10], '\n')+1]
		}
		for how, data := range ways {
			left := maps.Clone(files)
			delete(left, name)
			if data != nil {
				left[name] = &fstest.MapFile{Data: data}
			}
			list = append(list, variant{how + " " + name, left})
			if how != "without" {
				continue
			}
			for n := range identity {
				blind := maps.Clone(left)
				maps.DeleteFunc(blind, func(name string, _ *fstest.MapFile) bool {
					return slices.ContainsFunc(identity[:n+1], func(d string) bool { return strings.Contains(name, d) })
				})
				list = append(list, variant{fmt.Sprint("without ", name, " and ", identity[:n+1]), blind})
			}
		}
	}
	return list
}

// sorted is an object as the programs write it: in the order of the alphabet.
func sorted(raw []byte) []byte {
	var o any
	if yaml.Unmarshal(raw, &o) != nil {
		return raw
	}
	out, err := yaml.Marshal(o)
	if err != nil {
		return raw
	}
	return out
}

// code is the exit code of a comparison.
func code(c baseline.Comparison) int {
	switch {
	case c.Identity.Same == baseline.SameNo:
		return 1
	case !c.Certain():
		return 3
	case len(c.Changes) > 0:
		return 2
	case len(c.NotCompared) > 0:
		return 3
	}
	return 0
}

func check(t *testing.T, what string, whole, less baseline.Comparison) {
	t.Helper()
	if w, l := code(whole), code(less); l != w && l != 3 {
		t.Errorf("%s: exit code %d, was %d: %+v", what, l, w, less.Identity)
	}
	if w, l := whole.Identity.Same, less.Identity.Same; l != w && l != baseline.SameUnknown {
		t.Errorf("%s: the same cluster: %s, was %s", what, l, w)
	}
	if whole.Identity.Same == baseline.SameNo {
		return // nothing of it was compared
	}
	for _, c := range less.Changes {
		if !slices.ContainsFunc(whole.Changes, func(o baseline.Change) bool {
			return o.Area == c.Area && o.Subject == c.Subject && o.Name == c.Name && o.Kind == c.Kind && o.Was == c.Was && o.Is == c.Is
		}) {
			t.Errorf("%s: a change that was not there: %+v", what, c)
		}
	}
	if lost := len(whole.Changes) - len(less.Changes); lost > 0 && len(less.NotCompared) == 0 {
		t.Errorf("%s: %d changes are gone, and everything was compared", what, lost)
	}
}
