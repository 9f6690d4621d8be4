package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
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

// TestUpdate: how far an update is comes from the version operator, and only while it is under way.
func TestUpdate(t *testing.T) {
	running := `status: {history: [{state: Partial, version: 4.20.9, startedTime: "2026-03-01T11:00:00Z"}, {state: Completed, version: 4.20.6}], conditions: [` +
		`{type: Progressing, status: "%s", message: "%s"}]}`
	const far = "Working towards 4.20.9: 800 of 900 done (88% complete), waiting on machine-config"
	began := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	tests := []struct {
		name, changes string
		want          *diagnosis.Update
	}{
		{"none", "", nil},
		{"under way", fmt.Sprintf(running, "True", far), &diagnosis.Update{To: "4.20.9", Done: 800, Total: 900, Began: began}},
		{"it does not say how far", fmt.Sprintf(running, "True", "Working towards 4.20.9: downloading update"), &diagnosis.Update{To: "4.20.9", Began: began}},
		{"numbers of another version", fmt.Sprintf(running, "True", strings.Replace(far, "4.20.9", "4.20.8", 1)), &diagnosis.Update{To: "4.20.9", Began: began}},
		{"it does not progress", fmt.Sprintf(running, "False", far), nil},
		{"the first install", `status: {history: [{state: Partial, version: 4.20.9}], conditions: [{type: Progressing, status: "True", message: "` + far + `"}]}`,
			&diagnosis.Update{First: true, To: "4.20.9", Done: 800, Total: 900}},
		{"a history of another shape", `status: {history: [7], conditions: [{type: Progressing, status: "True", message: "` + far + `"}]}`, nil},
		{"it is over", `status: {history: [{state: Completed, version: 4.20.9}], conditions: [{type: Progressing, status: "True", message: "` + far + `"}]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := ""
			if tt.changes != "" {
				changes = version + tt.changes + "\n"
			}
			info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, changes))
			if diff := cmp.Diff(tt.want, info.Update); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
	if p := (diagnosis.Update{Done: 899, Total: 900}).Percent(); p != 99 {
		t.Errorf("%d%% of 899 of 900", p)
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
	noInfra := empty("cluster-scoped-resources/config.openshift.io/infrastructures", "Infrastructure", "config.openshift.io/v1")
	unread := evidence.Objects(evidence.ClusterVersions, "")
	for _, tt := range []struct {
		name, changes string
		without       []evidence.Need
		installing    bool
	}{
		{"neither is there", noVersion + noNode, nil, true},
		{"not even a Namespace", noVersion + noNode + noInfra, []evidence.Need{evidence.Objects(evidence.Namespaces, "")}, false},
		{"Nodes are there", noVersion, nil, false},
		{"it is complete", "", nil, false},
		{"ClusterVersion was not read", noNode, []evidence.Need{unread}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, tt.changes, tt.without...))
			if err != nil || info.Installing != tt.installing || tt.installing && info.Began.IsZero() {
				t.Errorf("installing %t since %s, %v; want %t", info.Installing, info.Began, err, tt.installing)
			}
		})
	}
}

// TestNoNode: while a cluster installs, the scheduler's word on a pod shows that there is no
// Node, where no pod is on one.
func TestNoNode(t *testing.T) {
	const installing = "-- cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\n" +
		"metadata: {name: version, uid: u, creationTimestamp: \"2026-03-01T10:00:00Z\"}\nstatus: {history: [{state: Partial, version: 4.20.16}]}\n"
	const ns = "openshift-cluster-machine-approver"
	empty := "-- delete:namespaces --\n-- delete:cluster-scoped-resources/core/nodes --\n"
	pod := func(name, node, message string) string {
		return "-- namespaces/" + ns + "/core/pods/" + name + ".yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + ns + ", uid: " + name + "}\n" +
			"spec: {nodeName: \"" + node + "\"}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: '" + message + "'}]}\n"
	}
	const none = "no nodes available to schedule pods"
	for name, tt := range map[string]struct {
		changes string
		want    bool
	}{
		"it found none":           {installing + empty + pod("a", "", none+". preemption: not eligible"), true},
		"one pod is on a node":    {installing + empty + pod("a", "", none) + pod("b", "w1", ""), false},
		"it found some":           {installing + empty + pod("a", "", "0/3 nodes are available: 3 node(s) had untolerated taint"), false},
		"nothing said":            {installing + empty, false},
		"installed, and all gone": {empty + pod("a", "", none), false},
	} {
		t.Run(name, func(t *testing.T) {
			info, err := cluster.Describer{}.Describe(t.Context(), factstest.World(t, factstest.Metal, tt.changes))
			if err != nil || info.NoNode != tt.want {
				t.Errorf("no node %t, %v; want %t", info.NoNode, err, tt.want)
			}
		})
	}
}

// TestReadBy: where a source does not say when it was read, the heartbeat of a Node that is
// Ready bounds it, unless something else in the source is younger than that.
func TestReadBy(t *testing.T) {
	beat := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	node := func(status string, at time.Time) string {
		return "-- delete:cluster-scoped-resources/core/nodes --\n-- cluster-scoped-resources/core/nodes/w9.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: w9, uid: n}\n" +
			"status: {conditions: [{type: MemoryPressure, status: \"False\", lastHeartbeatTime: \"" + at.Add(time.Hour).Format(time.RFC3339) + "\"}, {type: Ready, status: \"" + status +
			"\", lastHeartbeatTime: \"" + at.Format(time.RFC3339) + "\"}]}\n"
	}
	for name, tt := range map[string]struct {
		changes string
		now     time.Time
		atLeast bool
		want    time.Time
	}{
		"a Node that is Ready":       {node("True", beat), beat.Add(time.Minute), true, beat.Add(10 * time.Minute)},
		"one that is not":            {node("Unknown", beat), beat.Add(time.Minute), true, time.Time{}},
		"something younger is there": {node("True", beat), beat.Add(11 * time.Minute), true, time.Time{}},
		"the source says when":       {node("True", beat), beat.Add(time.Minute), false, time.Time{}},
		"no Node":                    {"-- delete:cluster-scoped-resources/core/nodes --\n", beat, true, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := factstest.World(t, factstest.Metal, tt.changes)
			w.Now, w.AtLeast = tt.now, tt.atLeast
			info, err := cluster.Describer{}.Describe(t.Context(), w)
			if err != nil || !info.ReadBy.Equal(tt.want) {
				t.Errorf("read by %s, %v; want %s", info.ReadBy, err, tt.want)
			}
		})
	}
}

// TestReadByOfMixedAges: of Nodes and other objects with different ages, the fewer are there
// the later is the bound, or there is none: what is taken away makes nothing surer. Only what
// showed that the parts were not read together can be missed.
func TestReadByOfMixedAges(t *testing.T) {
	first := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	ages := []time.Duration{0, 2 * time.Minute, 4 * time.Minute, 7 * time.Minute}
	for newest, want := range map[time.Duration]bool{7 * time.Minute: true, 10 * time.Minute: true, 11 * time.Minute: false, time.Hour: false} {
		var whole time.Time
		for some := uint(15); some > 0; some-- { // every choice of Nodes, all of them first
			changes, oldest := "-- delete:cluster-scoped-resources/core/nodes --\n", time.Duration(-1)
			for i, age := range ages {
				if some&(1<<i) == 0 {
					continue
				}
				if oldest < 0 {
					oldest = age
				}
				name := "w" + string(rune('0'+i))
				changes += "-- cluster-scoped-resources/core/nodes/" + name + ".yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", uid: " + name + "}\n" +
					"status: {conditions: [{type: Ready, status: \"True\", lastHeartbeatTime: \"" + first.Add(age).Format(time.RFC3339) + "\"}]}\n"
			}
			w := factstest.World(t, factstest.Metal, changes)
			w.Now, w.AtLeast = first.Add(newest), true
			info, err := cluster.Describer{}.Describe(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			got := info.ReadBy
			if some == 15 {
				if whole = got; whole.IsZero() == want {
					t.Errorf("newest %s: read by %s", newest, got)
				}
			}
			switch {
			case !whole.IsZero() && !got.IsZero() && got.Before(whole):
				t.Errorf("newest %s, Nodes %04b: read by %s, and by %s with all", newest, some, got, whole)
			case !got.IsZero() && first.Add(newest).After(got):
				t.Errorf("newest %s, Nodes %04b: read by %s, before what is in it", newest, some, got)
			case !got.IsZero() && !got.Equal(first.Add(oldest+10*time.Minute)):
				t.Errorf("newest %s, Nodes %04b: read by %s", newest, some, got)
			}
		}
	}
}
