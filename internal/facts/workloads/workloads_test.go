package workloads_test

import (
	"errors"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/workloads"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const (
	api        = "namespaces/openshift-machine-api/"
	deployment = "-- patch:" + api + "apps/deployments/metal3.yaml --\n"
	set        = api + "apps/replicasets/metal3-5c9d7f8b6.yaml"
	pod        = api + "pods/metal3-5c9d7f8b6-x2k7q"
	podFile    = "-- patch:" + pod + "/metal3-5c9d7f8b6-x2k7q.yaml --\n"
	notReady   = deployment + "status: {readyReplicas: 0}\n"
)

// TestChain: the first link that does not hold is the broken one.
func TestChain(t *testing.T) {
	tests := []struct{ name, changes, broken string }{
		{"whole", "", ""},
		{"no Deployment", "-- delete:" + api + "apps/deployments/metal3.yaml --\n", "deployment"},
		{"its change was not seen", deployment + "metadata: {generation: 9}\nstatus: {observedGeneration: 8}\n", "reconcile"},
		{"scaled to nothing", deployment + "spec: {replicas: 0}\n", ""},
		{"no ReplicaSet", "-- delete:" + set + " --\n", "replicaset"},
		{"pods are not made", "-- patch:" + set + " --\nstatus: {replicas: 0}\n-- delete:" + pod + " --\n", "pods"},
		{"pods are refused", "-- patch:" + set + " --\nstatus: {replicas: 0, conditions: [{type: ReplicaFailure, status: \"True\", reason: FailedCreate, message: exceeded quota}]}\n-- delete:" + pod + " --\n", "admission"},
		{"nobody looked for a node", notReady + podFile + "spec: {nodeName: null}\nstatus: {phase: Pending, conditions: null, startTime: null, containerStatuses: null}\n", "scheduler"},
		{"fits nowhere", notReady + podFile + "spec: {nodeName: null}\nstatus: {phase: Pending, startTime: null, containerStatuses: null, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: no nodes}]}\n", "placement"},
		{"its node does not start it", notReady + podFile + "status: {phase: Pending, startTime: null, containerStatuses: null, conditions: [{type: PodScheduled, status: \"True\"}]}\n", "kubelet"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := factstest.Fields[workloads.Chain](t, factstest.World(t, factstest.Metal, tt.changes), workloads.Metal3Fact(), factstest.Cluster())
			if c.Broken.Value() != tt.broken {
				t.Errorf("broken at %v, want %q: %+v", c.Broken, tt.broken, c)
			}
		})
	}
}

func TestChainUnknown(t *testing.T) {
	const ns = "openshift-machine-api"
	for _, need := range []evidence.Resource{evidence.ReplicaSets, evidence.Pods} {
		c := factstest.Fields[workloads.Chain](t, factstest.World(t, factstest.Metal, "", evidence.Objects(need, ns)), workloads.Metal3Fact(), factstest.Cluster())
		if _, err := c.Broken.Get(); err == nil {
			t.Errorf("without %s the chain is said to be whole", need)
		}
	}
	blind := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Deployments, ns))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, blind, workloads.Metal3Fact(), factstest.Cluster())); !ok {
		t.Error("Deployments that could not be read are no Unavailable")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.None, ""), workloads.Metal3Fact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func TestStalled(t *testing.T) {
	read := func(changes string, without ...evidence.Need) workloads.Stalled {
		return factstest.Fields[workloads.Stalled](t, factstest.World(t, factstest.Metal, changes, without...), workloads.StalledFact(), factstest.Cluster())
	}
	s := read("")
	for name, f := range map[string]facts.Field[[]string]{"not reconciled": s.NotReconciled, "not created": s.NotCreated, "refused": s.Refused, "not scheduled": s.NotScheduled} {
		if !f.Equal(facts.Known[[]string](nil)) {
			t.Errorf("%s: %v", name, f)
		}
	}
	if s.Deployments.Value() == 0 {
		t.Errorf("%+v", s)
	}
	if s := read(deployment + "metadata: {generation: 9}\nstatus: {observedGeneration: 8}\n"); len(s.NotReconciled.Value()) != 1 {
		t.Errorf("not reconciled %v", s.NotReconciled)
	}
	if s := read("-- patch:" + set + " --\nstatus: {replicas: 0, conditions: [{type: ReplicaFailure, status: \"True\", message: \"exceeded quota\"}]}\n"); len(s.Refused.Value()) != 1 || s.Refusal.Value() == "" || len(s.NotCreated.Value()) > 0 {
		t.Errorf("refused %v, not created %v", s.Refused, s.NotCreated)
	}
	const short = "-- patch:" + set + " --\nstatus: {replicas: 0}\n"
	if s := read(short); len(s.NotCreated.Value()) != 1 || s.Unavailable.Value() || !s.CreatedSince.Value().IsZero() || s.Created.Value().IsZero() {
		t.Errorf("short of a pod, Deployment available: %+v", s)
	}
	const gone = deployment + "status: {conditions: [{type: Available, status: \"False\", lastTransitionTime: \"2026-03-01T10:00:00Z\"}]}\n"
	if s := read(short + gone); !s.Unavailable.Value() || s.CreatedSince.Value().Hour() != 10 {
		t.Errorf("short of a pod, Deployment not available: %+v", s)
	}
	if _, err := read(short, evidence.Objects(evidence.Deployments, "openshift-machine-api")).Unavailable.Get(); err == nil {
		t.Error("Deployments could not be read, and are said to be available")
	}
	if _, err := read("", evidence.Objects(evidence.Pods, "openshift-machine-config-operator")).NotScheduled.Get(); err == nil {
		t.Error("pods of one of the namespaces could not be read, and none is said to wait")
	}
}

func TestScheduler(t *testing.T) {
	lease := func(at string) string {
		return "-- patch:namespaces/openshift-kube-scheduler/coordination.k8s.io/leases/kube-scheduler.yaml --\nspec: {renewTime: \"" + at + "\"}\n" +
			"-- patch:namespaces/kube-system/coordination.k8s.io/leases/kube-scheduler.yaml --\nspec: {renewTime: \"" + at + "\"}\n"
	}
	for at, stale := range map[string]bool{"2026-03-01T11:59:40.000000Z": false, "2026-03-01T09:00:00.000000Z": true} {
		s := factstest.Fields[workloads.Scheduler](t, factstest.World(t, factstest.Metal, lease(at)), workloads.SchedulerFact(), factstest.Cluster())
		if s.Stale.Value() != stale {
			t.Errorf("renewed %s: stale %v", at, s.Stale)
		}
	}
	none := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Leases, "kube-system"), evidence.Objects(evidence.Leases, "openshift-kube-scheduler"))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, none, workloads.SchedulerFact(), factstest.Cluster())); !ok {
		t.Error("leases that could not be read are no Unavailable")
	}
}
