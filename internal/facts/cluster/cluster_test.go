package cluster_test

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
)

const (
	version = "-- patch:cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --\n"
	infra   = "-- patch:cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\n"
)

// TestVersion: the version is the one that runs, not the one that is wished for.
func TestVersion(t *testing.T) {
	tests := []struct{ name, changes, want string }{
		{"as installed", "", "4.20."},
		{"on its way to the next", version + "status: {history: [{state: Partial, version: 4.21.3}, {state: Completed, version: 4.20.9}, {state: Completed, version: 4.19.1}]}\n", "4.20.9"},
		{"an update that was given up", version + "status: {history: [{state: Partial, version: 4.21.3}, {state: Partial, version: 4.20.9}]}\n", "4.21.3"},
		{"the first install", version + "status: {history: [{state: Partial, version: 4.20.1}]}\n", "4.20.1"},
		{"before the first history", version + "status: {history: null, desired: {version: 4.20.0}}\n", "4.20.0"},
		{"a history of another shape", version + "status: {history: [7, text, {state: Completed}], desired: {version: 4.20.0}}\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, tt.changes))
			if err != nil || !strings.HasPrefix(info.Version, tt.want) || tt.want == "" && info.Version != "" {
				t.Errorf("version %q, %v; want %q", info.Version, err, tt.want)
			}
		})
	}
}

func TestPlatform(t *testing.T) {
	for changes, want := range map[string]string{
		"": "BareMetal/HighlyAvailable",
		infra + "status: {platformStatus: null, platform: VSphere, controlPlaneTopology: SingleReplica}\n": "VSphere/SingleReplica",
	} {
		info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, changes))
		if got := info.Platform + "/" + info.Topology; err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// TestUnread: what cannot be read stays empty, and is no error.
func TestUnread(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.ClusterVersions, ""), evidence.Objects(evidence.Infrastructures, ""), evidence.Objects(evidence.Installs, ""))
	info, err := cluster.Describer{}.Describe(t.Context(), w)
	if err != nil || info.Version != "" || info.ID != "" || info.Platform != "" || info.Topology != "" {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestJustBegun: before the first Node, an API that has no ClusterVersion yet is being
// installed, and not one whose ClusterVersion was not read.
func TestJustBegun(t *testing.T) {
	empty := func(path, kind, version string) string {
		return "-- delete:" + path + " --\n-- " + path + ".yaml --\napiVersion: " + version + "\nkind: " + kind + "List\nmetadata: {resourceVersion: \"7\"}\nitems: []\n"
	}
	noVersion := empty("cluster-scoped-resources/config.openshift.io/clusterversions", "ClusterVersion", "config.openshift.io/v1")
	noNode := empty("cluster-scoped-resources/core/nodes", "Node", "v1")
	unread := evidence.Objects(evidence.ClusterVersions, "")
	for _, tt := range []struct {
		name, changes string
		without       []evidence.Need
		installing    bool
	}{
		{"neither is there", noVersion + noNode, nil, true},
		{"Nodes are there", noVersion, nil, false},
		{"it is complete", "", nil, false},
		{"ClusterVersion was not read", noNode, []evidence.Need{unread}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, tt.changes, tt.without...))
			if err != nil || info.Installing != tt.installing || info.Began.IsZero() {
				t.Errorf("installing %t since %s, %v; want %t", info.Installing, info.Began, err, tt.installing)
			}
		})
	}
}
