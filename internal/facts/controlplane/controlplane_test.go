package controlplane_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/controlplane"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	co    = "-- patch:cluster-scoped-resources/config.openshift.io/clusteroperators/"
	cv    = "-- patch:cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --\n"
	infra = "-- patch:cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\n"
	own   = "-- patch:cluster-scoped-resources/operator.openshift.io/"
)

func TestOperator(t *testing.T) {
	degraded := co + "etcd.yaml --\nstatus: {conditions: [{type: Available, status: \"True\", lastTransitionTime: \"2026-03-01T08:00:00Z\"}, " +
		"{type: Degraded, status: \"True\", reason: \"EtcdMembers_UnhealthyMembers::NodeController_MasterNodesReady\", lastTransitionTime: \"2026-03-01T09:00:00Z\", " +
		"message: \"EtcdMembersDegraded: 2 of 3 members are available, m1 is unhealthy\\nNodeControllerDegraded: The master nodes not ready: node \\\"m1\\\" not ready\"}]}\n"
	t.Run("line by line", func(t *testing.T) {
		op := factstest.Fields[controlplane.Operator](t, factstest.World(t, factstest.Metal, degraded), controlplane.OperatorFact(), factstest.Operator("etcd"))
		if !op.Degraded.Value() || !op.Available.Value() || !slices.Equal(op.Controllers.Value(), []string{"EtcdMembers", "NodeController"}) {
			t.Errorf("%+v", op)
		}
		if op.First.Value() != "EtcdMembersDegraded: 2 of 3 members are available, m1 is unhealthy" {
			t.Errorf("the first line is %q", op.First)
		}
	})
	t.Run("says nothing", func(t *testing.T) {
		op := factstest.Fields[controlplane.Operator](t, factstest.World(t, factstest.Metal, co+"etcd.yaml --\nstatus: {conditions: [{type: Degraded, status: \"True\"}]}\n"), controlplane.OperatorFact(), factstest.Operator("etcd"))
		if _, err := op.Available.Get(); op.First.Value() != "Degraded=True" || err == nil || len(op.Lines.Value()) > 0 {
			t.Errorf("%+v", op)
		}
	})
	t.Run("has not reported", func(t *testing.T) {
		op := factstest.Fields[controlplane.Operator](t, factstest.World(t, factstest.Metal, co+"etcd.yaml --\nstatus: null\n"), controlplane.OperatorFact(), factstest.Operator("etcd"))
		if _, err := op.Degraded.Get(); err == nil {
			t.Error("an operator without conditions is said not to be degraded")
		}
		if op.Reported.Value() {
			t.Error("an operator without conditions is said to have reported")
		}
	})
	t.Run("API servers and pools", func(t *testing.T) {
		changes := co + "authentication.yaml --\nstatus: {conditions: [{type: Available, status: \"False\", message: \"WellKnownAvailable: The well-known endpoint is not yet available: need at least 3 kube-apiservers, got 2\"}]}\n" +
			co + "machine-config.yaml --\nstatus: {conditions: [{type: Degraded, status: \"True\", message: \"Unable to apply 4.20.6: error MachineConfigPool master is not ready, retrying\"}]}\n"
		w := factstest.World(t, factstest.Metal, changes)
		op := factstest.Fields[controlplane.Operator](t, w, controlplane.OperatorFact(), factstest.Operator("authentication"))
		if op.APIServersNeeded.Value() != 3 || op.APIServers.Value() != 2 {
			t.Errorf("%v of %v API servers", op.APIServers, op.APIServersNeeded)
		}
		if op = factstest.Fields[controlplane.Operator](t, w, controlplane.OperatorFact(), factstest.Operator("machine-config")); !slices.Contains(op.Pools.Value(), "master") {
			t.Errorf("pools %v", op.Pools)
		}
	})
	t.Run("no version: only what it waits for is unknown", func(t *testing.T) {
		w := factstest.World(t, factstest.Metal, degraded, evidence.Objects(evidence.ClusterVersions, ""))
		op := factstest.Fields[controlplane.Operator](t, w, controlplane.OperatorFact(), factstest.Operator("etcd"))
		if _, err := op.HeldUp.Get(); err == nil || !op.Degraded.Value() {
			t.Errorf("degraded %v, held up %v", op.Degraded, op.HeldUp)
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.ClusterOperators, ""))
		if _, ok := evidence.AsUnavailable(factstest.Err(t, w, controlplane.OperatorFact(), factstest.Operator("etcd"))); !ok {
			t.Error("a list that could not be read is no Unavailable")
		}
	})
	t.Run("not there", func(t *testing.T) {
		if err := factstest.Err(t, factstest.World(t, factstest.Metal, ""), controlplane.OperatorFact(), factstest.Operator("gone")); !errors.Is(err, facts.ErrNotApplicable) {
			t.Error(err)
		}
	})
}

func TestResource(t *testing.T) {
	read := func(t *testing.T, name, changes string, without ...evidence.Need) controlplane.Resource {
		t.Helper()
		return factstest.Fields[controlplane.Resource](t, factstest.World(t, factstest.Metal, changes, without...), controlplane.ResourceFact(), factstest.Operator(name))
	}
	if r := read(t, "console", ""); len(r.Degraded.Value())+len(r.Unavailable.Value()) > 0 || r.Unmanaged.Value() || r.NotObserved.Value() || len(r.Degraded.Proof()) == 0 {
		t.Errorf("of a healthy one: %+v", r)
	}
	changes := own + "consoles/cluster.yaml --\nstatus: {conditions: [" +
		"{type: RouteHealthDegraded, status: \"True\", reason: FailedGet, message: \"second\", lastTransitionTime: \"2026-03-01T10:00:00Z\"}, " +
		"{type: SyncLoopRefreshDegraded, status: \"True\", reason: X, message: \"first\", lastTransitionTime: \"2026-03-01T09:00:00Z\"}, " +
		"{type: DeploymentAvailable, status: \"False\", reason: Y, message: none, lastTransitionTime: \"2026-03-01T09:30:00Z\"}]}\n"
	r := read(t, "console", changes)
	if !slices.Equal(r.Degraded.Value(), []string{"RouteHealth", "SyncLoopRefresh"}) || !slices.Equal(r.Unavailable.Value(), []string{"Deployment"}) {
		t.Errorf("%+v", r)
	}
	if r.First.Value() != "SyncLoopRefreshDegraded: first" || r.Since.Value().Hour() != 9 {
		t.Errorf("the oldest is %q since %s", r.First, r.Since)
	}
	long := own + "consoles/cluster.yaml --\nstatus: {conditions: [{type: ADegraded, status: \"True\", message: \"" + strings.Repeat("ü", 400) + "\"}]}\n"
	if r := read(t, "console", long); len([]rune(r.First.Value())) > 170 {
		t.Errorf("a title of %d characters", len([]rune(r.First.Value())))
	}
	if r := read(t, "dns", own+"dnses/default.yaml --\nmetadata: {generation: 9}\n"); !r.NotObserved.Value() {
		t.Error("a generation that was not observed is not noticed")
	}
	if r := read(t, "network", own+"networks/cluster.yaml --\nmetadata: {generation: 9}\n"); r.NotObserved.Value() {
		t.Error("an operator that does not write observedGeneration is said to be behind")
	}
	if r := read(t, "storage", own+"storages/cluster.yaml --\nspec: {managementState: Removed}\n"); !r.Unmanaged.Value() || r.State.Value() != "Removed" {
		t.Errorf("%+v", r)
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Resource{Group: openshift.OperatorGroup, Name: "consoles"}, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, controlplane.ResourceFact(), factstest.Operator("console"))); !ok {
		t.Error("a resource that could not be read is no Unavailable")
	}
	if err := factstest.Err(t, w, controlplane.ResourceFact(), factstest.Operator("machine-approver")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	read := func(changes string) controlplane.Version {
		return factstest.Fields[controlplane.Version](t, factstest.World(t, factstest.Metal, changes), controlplane.VersionFact(), factstest.Cluster())
	}
	if v := read(""); v.Installing.Value() || v.Updating.Value() || v.Current.Value() != "4.20.6" || len(v.WaitsFor.Value()) > 0 {
		t.Errorf("of a cluster that is done: %+v", v)
	}
	if v := read(cv + "status: {history: [{state: Partial, version: 4.20.6, startedTime: \"2026-03-01T07:45:00Z\"}]}\n"); !v.Installing.Value() || v.Updating.Value() {
		t.Errorf("of an installation: %+v", v)
	}
	tests := []struct {
		says string
		want []string
	}{
		{"Working towards 4.20.9: 139 of 859 done (16% complete), waiting on kube-scheduler", []string{"kube-scheduler"}},
		{"Working towards 4.20.9: 711 of 859 done (82% complete), waiting up to 40 minutes on machine-config", []string{"machine-config"}},
		{"waiting on etcd, kube-apiserver over 30 minutes and machine-config over 90 minutes which is longer than expected", []string{"etcd", "kube-apiserver", "machine-config"}},
		{"Unable to apply 4.20.9: wait has exceeded 40 minutes for these operators: image-registry, storage", []string{"image-registry", "storage"}},
		{"Cluster operators authentication, console are not available", []string{"authentication", "console"}},
		{"Unable to apply 4.20.9: the cluster operator monitoring is degraded", []string{"monitoring"}},
		{"Multiple errors are preventing progress:\n* Cluster operator etcd is updating versions\n* Could not update deployment \"a/b\" (1 of 2)", []string{"etcd"}},
		{"Cluster operator dns does not declare expected versions", []string{"dns"}},
		{"Unable to apply 4.8.0: some cluster operators are still updating: console, dns", []string{"console", "dns"}},
		{"Cluster version is 4.20.6", nil},
		{"", nil},
	}
	for _, tt := range tests {
		changes := cv + "status: {conditions: [{type: Progressing, status: \"True\", message: " + quote(tt.says) + "}]}\n"
		if got := read(changes).WaitsFor.Value(); !slices.Equal(got, tt.want) {
			t.Errorf("%q: waits for %q, want %q", tt.says, got, tt.want)
		}
	}
	fresh := read(cv + "status: {history: null, conditions: null}\n")
	for name, f := range map[string]interface{ String() string }{"failing": fresh.Failing, "message": fresh.Message, "updating": fresh.Updating} {
		if !strings.HasPrefix(f.String(), "unknown") {
			t.Errorf("a ClusterVersion without a status: %s is %s", name, f)
		}
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.ClusterVersions, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, controlplane.VersionFact(), factstest.Cluster())); !ok {
		t.Error("no ClusterVersion is no Unavailable")
	}
}

func quote(s string) string {
	return "\"" + strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n").Replace(s) + "\""
}

func TestNodes(t *testing.T) {
	read := func(t *testing.T, changes string, without ...evidence.Need) controlplane.Nodes {
		t.Helper()
		return factstest.Fields[controlplane.Nodes](t, factstest.World(t, factstest.Metal, changes, without...), controlplane.NodesFact(), factstest.Cluster())
	}
	if n := read(t, ""); n.Expected.Value() != 3 || n.Registered.Value() != 3 || n.Ready.Value() != 3 || !n.HA.Value() {
		t.Errorf("%+v", n)
	}
	if n := read(t, "-- delete:cluster-scoped-resources/core/nodes/m2.yaml --\n"); n.Expected.Value() != 3 || n.Registered.Value() != 2 {
		t.Errorf("%+v", n)
	}
	n := read(t, "", evidence.Objects(evidence.Infrastructures, ""))
	if _, err := n.Expected.Get(); err == nil || n.Registered.Value() != 3 {
		t.Errorf("without the topology: %+v", n)
	}
	hosted := factstest.World(t, factstest.Metal, infra+"status: {controlPlaneTopology: External}\n")
	if err := factstest.Err(t, hosted, controlplane.NodesFact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
	blind := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Nodes, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, blind, controlplane.NodesFact(), factstest.Cluster())); !ok {
		t.Error("Nodes that could not be read are no Unavailable")
	}
}

func TestManager(t *testing.T) {
	lease := "-- patch:namespaces/kube-system/coordination.k8s.io/leases/kube-controller-manager.yaml --\nspec: {renewTime: "
	for name, tt := range map[string]struct {
		changes string
		stale   bool
	}{
		"fresh":                        {"", false},
		"behind the leases beside it":  {lease + "\"2026-03-01T11:50:00.000000Z\"}\n", true},
		"a minute behind":              {lease + "\"2026-03-01T11:59:00.000000Z\"}\n", false},
		"never renewed":                {lease + "null}\n", true},
		"ahead of all (clocks differ)": {lease + "\"2026-03-01T12:30:00.000000Z\"}\n", false},
	} {
		m := factstest.Fields[controlplane.Manager](t, factstest.World(t, factstest.Metal, tt.changes), controlplane.ManagerFact(), factstest.Cluster())
		if m.Stale.Value() != tt.stale || m.Holder.Value() != "m1" {
			t.Errorf("%s: stale %v by %v", name, m.Stale, m.Holder)
		}
	}
	gone := factstest.World(t, factstest.Metal, "-- delete:namespaces/kube-system/coordination.k8s.io/leases/kube-controller-manager.yaml --\n")
	if _, ok := evidence.AsUnavailable(factstest.Err(t, gone, controlplane.ManagerFact(), factstest.Cluster())); !ok {
		t.Error("a lease that is not there is no Unavailable: older archives have none")
	}
}
