package archive

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

const clusterA = `
-- cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --
metadata: {name: version}
spec: {clusterID: a}
-- cluster-scoped-resources/core/nodes/n.yaml --
metadata: {name: node1}
status: {nodeInfo: {machineID: m-1}}
-- namespaces/ns/pods/p/c/c/logs/current.log --
a line
`

func TestJoin(t *testing.T) {
	const versionB = "-- cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --\nmetadata: {name: version}\nspec: {clusterID: b}\n"
	const sameNode = "-- cluster-scoped-resources/core/nodes/n.yaml --\nmetadata: {name: node1}\nstatus: {nodeInfo: {machineID: m-1}}\n"
	const otherNode = "-- cluster-scoped-resources/core/nodes/n.yaml --\nmetadata: {name: node1}\nstatus: {nodeInfo: {machineID: m-2}}\n"
	const noNode = "-- namespaces/kube-system/kube-system.yaml --\nmetadata: {name: kube-system, uid: u}\n"
	const journal = "-- kubelet.log --\nJan 02 10:00:00 n kubelet[1]: x\n"
	for name, c := range map[string]struct {
		others []string
		want   string // in the error, "" is none
		notes  int
	}{
		"the same cluster":            {[]string{clusterA, sameNode}, "", 0},
		"another cluster":             {[]string{versionB}, "the cluster ID is a in the one and b in the other", 0},
		"the same ID goes before":     {[]string{strings.Replace(versionB, "clusterID: b", "clusterID: a", 1) + otherNode}, "", 0},
		"another node":                {[]string{otherNode}, "the machine ID of a node is m-1 in the one and m-2 in the other", 0},
		"nothing in common":           {[]string{noNode}, "nothing that both hold", 0},
		"a journal":                   {[]string{journal}, "", 1},
		"a journal and other cluster": {[]string{journal, versionB}, "different clusters", 0},
	} {
		sources := []*Source{open(t, clusterA)}
		for _, o := range c.others {
			sources = append(sources, open(t, o))
		}
		sources[1].name = "other/a"
		err := Join(t.Context(), sources)
		var several *SeveralClustersError
		if c.want != "" && (!errors.As(err, &several) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "dir/a")) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
		if c.want != "" {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(sources[1].notes); n != c.notes {
			t.Errorf("%s: %d notes, want %d", name, n, c.notes)
		}
		texts, err := sources[0].Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog})
		if err != nil || texts[0].Source != "a" || sources[1].base != "other/a" {
			t.Errorf("%s: %v, %v: lines do not name their archive, or two have one name (%s)", name, texts, err, sources[1].base)
		}
	}
}

// TestJoinedNewest holds that the newest copy wins and names where it is from.
func TestJoinedNewest(t *testing.T) {
	node := func(version string) string {
		return "-- cluster-scoped-resources/core/nodes/n.yaml --\nmetadata: {name: node1, uid: u, resourceVersion: \"" + version + "\"}\n"
	}
	old, young := open(t, node("9")), open(t, node("10"))
	old.base, young.base = "old", "young"
	clean, err := evidence.NewSanitizer()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]evidence.Source{{old, young}, {young, old}} {
		list, err := evidence.NewReader(nil, clean, nil, evidence.Limits{}, order...).List(t.Context(), evidence.Nodes, "")
		if err != nil || !slices.EqualFunc(list, []string{"young"}, func(o evidence.Object, s string) bool { return o.Loc.Source == s }) {
			t.Errorf("List = %v, %v; want the copy of young", list, err)
		}
	}
}
