package archive

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
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

// TestGuestDoesNotMoveNow proves that a file of an unknown cluster, as a journal that
// is a year younger, leaves "now" alone, unless nothing else gives a time.
func TestGuestDoesNotMoveNow(t *testing.T) {
	const events = "-- namespaces/ns/core/events.yaml --\napiVersion: v1\nkind: EventList\nitems:\n- metadata: {name: e, namespace: ns}\n  lastTimestamp: " +
		"\"2026-01-02T10:00:00Z\"\n"
	const journal = "-- install.log --\ntime=\"2027-01-02T10:00:00Z\" level=info msg=x\n"
	now := func(files ...string) string {
		var sources []*Source
		var list []evidence.Source
		for _, f := range files {
			s := open(t, f)
			sources, list = append(sources, s), append(list, s)
		}
		if err := Join(t.Context(), sources); err != nil {
			t.Fatal(err)
		}
		clean, err := sanitize.New()
		if err != nil {
			t.Fatal(err)
		}
		d, err := reader.New(nil, clean, nil, reader.Limits{}, list...).Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d.Now.Format("2006-01-02")
	}
	if got := now(clusterA+events, journal); got != "2026-01-02" {
		t.Errorf("now is %s behind a younger file of an unknown cluster", got)
	}
	if got := now(journal, clusterA+events); got != "2026-01-02" {
		t.Errorf("now is %s behind a younger file of an unknown cluster that comes first", got)
	}
	if got := now(clusterA, journal); got != "2027-01-02" {
		t.Errorf("now is %s where only the file of an unknown cluster has a time", got)
	}
}

// TestPlainDirectoryOfSeveralClusters proves that objects of several clusters in
// files of one directory are not read as one.
func TestPlainDirectoryOfSeveralClusters(t *testing.T) {
	file := func(name, id string) string {
		return "-- " + name + " --\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\nspec: {clusterID: " + id + "}\n"
	}
	pool := func(name, uid string) string {
		return "-- " + name + " --\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: master, uid: " + uid + "}\n"
	}
	for name, c := range map[string]struct{ files, want string }{
		"two": {file("one-cv.yaml", "a") + file("two-cv.yaml", "b"),
			`the cluster ID is "a" in one-cv.yaml, "b" in two-cv.yaml; name the files of one of them, each with --from`},
		"two pools": {pool("one/master.yaml", "a") + pool("two/master.yaml", "b"), `the UID of the pool master is "a" in one/master.yaml, "b" in two/master.yaml`},
		"many": {file("1.yaml", "a") + file("2.yaml", "b") + file("3.yaml", "c") + file("4.yaml", "d") + file("5.yaml", "e") + file("6.yaml", "f"),
			`and 2 more; name`},
		"one, twice":              {file("one-cv.yaml", "a") + file("two-cv.yaml", "a"), ""},
		"one with another's pool": {file("cv.yaml", "a") + pool("master.yaml", "b"), ""},
	} {
		_, err := FS(tree(t, c.files), "dir")
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
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
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]evidence.Source{{old, young}, {young, old}} {
		list, err := reader.New(nil, clean, nil, reader.Limits{}, order...).List(t.Context(), evidence.Nodes, "")
		if err != nil || !slices.EqualFunc(list, []string{"young"}, func(o evidence.Object, s string) bool { return o.Loc.Source == s }) {
			t.Errorf("List = %v, %v; want the copy of young", list, err)
		}
	}
}

// TestJoinFiles proves that files of objects that were named one by one are read as one
// where nothing contradicts that, and that an object of two clusters refuses the reading.
func TestJoinFiles(t *testing.T) {
	file := func(name, apiVersion, kind, metadata, more string) string {
		return "-- " + name + " --\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {" + metadata + "}\n" + more + "\n"
	}
	version := func(uid, id string) string {
		return file("cv.yaml", "config.openshift.io/v1", "ClusterVersion", "name: version, uid: "+uid, "spec: {clusterID: "+id+"}")
	}
	node := func(more, machine string) string {
		return file("node.yaml", "v1", "Node", "name: w1, "+more, "status: {nodeInfo: {machineID: "+machine+"}}")
	}
	operator := func(uid, owner string) string {
		return file("co.yaml", "config.openshift.io/v1", "ClusterOperator",
			"name: dns, uid: "+uid+", ownerReferences: [{kind: ClusterVersion, name: version, uid: "+owner+"}]", "status: {}")
	}
	const tree = "-- cluster-scoped-resources/core/namespaces/kube-system.yaml --\nmetadata: {name: kube-system, uid: u}\n"
	for name, c := range map[string]struct {
		files []string
		want  string // in the error, "" is none
		notes int    // of the last
	}{
		"nothing in common": {[]string{node("uid: n", "m"), version("v", "a")}, "", 1},
		"an operator of it": {[]string{node("uid: n", "m"), version("v", "a"), operator("o", "v")}, "", 1},
		"an operator of another": {[]string{version("v", "a"), operator("o", "v2")}, "the UID of clusterversions version is v in the one and v2 in the " +
			"other", 0},
		"another before it": {[]string{operator("o", "v2"), node("uid: n", "m"), version("v", "a")}, "the UID of clusterversions version is v2 in " +
			"the one and v in the other", 0},
		"two operators":            {[]string{operator("o", "v"), operator("p", "v")}, "the UID of clusteroperators dns is o in the one and p in the other", 0},
		"two IDs":                  {[]string{version("v", "a"), node("uid: n", "m"), version("v", "b")}, "the cluster ID is a in the one and b in the other", 0},
		"a Node that joined again": {[]string{node("uid: n", "m"), node("uid: n2", "m")}, "", 0},
		"an older version":         {[]string{operator("o", "v"), operator("o", "v")}, "", 1},
		"without a UID, of two times": {[]string{operatorAt("2026-01-01T00:00:00Z"), operatorAt("2026-01-02T00:00:00Z")}, "was created at " +
			"2026-01-01T00:00:00Z in the one and at 2026-01-02T00:00:00Z", 0},
		"a file and a tree":            {[]string{node("uid: n", "m"), tree}, unproved, 0},
		"a tree and a file behind one": {[]string{tree, version("v", "a")}, unproved, 0},
	} {
		var sources []*Source
		for _, f := range c.files {
			sources = append(sources, open(t, f))
		}
		err := Join(t.Context(), sources)
		if c.want != "" {
			if several := (*SeveralClustersError)(nil); !errors.As(err, &several) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
			}
			continue
		}
		if last := sources[len(sources)-1]; err != nil || len(last.notes) != c.notes {
			t.Errorf("%s: %v, %d notes, want %d", name, err, len(last.notes), c.notes)
		}
	}
}

func operatorAt(created string) string {
	return "-- co.yaml --\napiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: dns, creationTimestamp: \"" + created + "\"}\n"
}
