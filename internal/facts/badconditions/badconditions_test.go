package badconditions

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestAgainst(t *testing.T) {
	for condition, want := range map[string]bool{
		"MemoryPressure=True": true, "NetworkUnavailable=True": true, "KernelDeadlock=True": true, "NodeDegraded=True": true,
		"Failing=True": true, "Available=False": true, "NodePoolHealthy=False": true, "ReplicaFailure=True": true,
		"MemoryPressure=False": false, "NetworkUnavailable=False": false, "Available=True": false, "Updating=True": false,
		"Progressing=True": false, "MaintenanceInProgress=True": false, "Drained=True": false, "Upgradeable=False": false, "Available=Unknown": false,
	} {
		kind, status, _ := strings.Cut(condition, "=")
		if got := against(kind, status); got != want {
			t.Errorf("%s speaks against its object: %t, want %t", condition, got, want)
		}
	}
}

// The words are those of the object, and the deadline is that of the condition.
func TestHost(t *testing.T) {
	const machine = "namespaces/openshift-machine-api/machine.openshift.io/machines/crane-worker-9.yaml"
	tests := []struct {
		name, changes, first string
		stays                bool
		counts               time.Time
	}{
		{"the reason and message of a Machine", "-- " + machine + " --\n" + `apiVersion: machine.openshift.io/v1beta1
kind: Machine
metadata: {name: crane-worker-9, namespace: openshift-machine-api, creationTimestamp: "2026-03-01T11:00:00Z"}
spec: {}
status: {phase: Failed, errorReason: InsufficientResources, errorMessage: "no datastore has 120 GiB"}
`, "Machine crane-worker-9 is Failed: InsufficientResources: no datastore has 120 GiB", true, time.Time{}},
		{"the message of its provider", "-- " + machine + " --\n" + `apiVersion: machine.openshift.io/v1beta1
kind: Machine
metadata: {name: crane-worker-9, namespace: openshift-machine-api, creationTimestamp: "2026-03-01T11:00:00Z"}
spec: {}
status:
  phase: Failed
  providerStatus: {conditions: [{type: MachineCreation, status: "False", reason: MachineCreationFailed, message: "quota of vCPUs"}]}
`, "Machine crane-worker-9 is Failed: MachineCreationFailed: quota of vCPUs", true, time.Time{}},
		{"an instance that does not join", "-- " + machine + " --\n" + `apiVersion: machine.openshift.io/v1beta1
kind: Machine
metadata: {name: crane-worker-9, namespace: openshift-machine-api, creationTimestamp: "2026-03-01T09:00:00Z"}
spec: {}
status: {phase: Provisioned}
`, "Machine crane-worker-9 is Provisioned: the instance exists and has not joined", false, time.Date(2026, 3, 1, 10, 45, 0, 0, time.UTC)},
		{"an instance has two hours to join", "-- " + machine + " --\n" + `apiVersion: machine.openshift.io/v1beta1
kind: Machine
metadata: {name: crane-worker-9, namespace: openshift-machine-api, creationTimestamp: "2026-03-01T11:00:00Z"}
spec: {}
status: {phase: Provisioned}
`, "", false, time.Time{}},
		{"one that is being deleted says nothing", "-- " + machine + " --\n" + `apiVersion: machine.openshift.io/v1beta1
kind: Machine
metadata: {name: crane-worker-9, namespace: openshift-machine-api, creationTimestamp: "2026-03-01T11:00:00Z", deletionTimestamp: "2026-03-01T11:50:00Z"}
spec: {}
status: {phase: Failed, errorMessage: x}
`, "", false, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := factstest.Fields[Bad](t, factstest.World(t, factstest.Metal, tt.changes), hostFact, factstest.Host("crane-worker-9"))
			if first := b.First.Value(); !strings.HasPrefix(first, tt.first) || tt.first == "" && first != "" {
				t.Errorf("%q, want %q", first, tt.first)
			}
			if b.Stays.Value() != tt.stays || !b.Counts.Value().Equal(tt.counts) {
				t.Errorf("stays %s, counts from %s; want %t, %s", b.Stays, b.Counts, tt.stays, tt.counts)
			}
		})
	}
}

// TestCordon: of a row of a table it is not known whether a rollout is at its Node; its pool says so.
func TestCordon(t *testing.T) {
	const pool = "-- cluster-scoped-resources/machineconfiguration.openshift.io/machineconfigpools/worker.yaml --\n" + `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: worker}
status: {conditions: [{type: Updating, status: "UPDATES"}]}
`
	const node = "-- cluster-scoped-resources/core/nodes/crane-worker-9.yaml --\n" + `apiVersion: v1
kind: Node
metadata: {name: crane-worker-9, labels: {node-role.kubernetes.io/worker: ""}, annotations: {NOTES}}
spec: {unschedulable: true}
status: {conditions: [{type: Ready, status: "True"}]}
`
	for _, tt := range []struct{ name, notes, updates, first string }{
		{"a row, and its pool updates", evidence.PartMark + ": fields", "True", ""},
		{"a row, and its pool does not", evidence.PartMark + ": fields", "False", "Node crane-worker-9 is cordoned (SchedulingDisabled)"},
		{"a whole Node at which no rollout is", "", "True", "Node crane-worker-9 is cordoned (SchedulingDisabled), and no rollout is seen at it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changes := strings.Replace(pool, "UPDATES", tt.updates, 1) + strings.Replace(node, "NOTES", tt.notes, 1)
			b := factstest.Fields[Bad](t, factstest.World(t, factstest.Metal, changes), hostFact, factstest.Host("crane-worker-9"))
			if first := b.First.Value(); first != tt.first {
				t.Errorf("%q, want %q", first, tt.first)
			}
		})
	}
}

// Pods of one owner are one condition, with how many of them fail.
func TestPods(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "")
	b := factstest.Fields[Bad](t, w, podsFact, factstest.Operator("network"))
	if len(b.All.Value()) != 0 {
		t.Errorf("pods of a healthy cluster fail: %v", b.All.Value())
	}
	if err := factstest.Err(t, w, podsFact, fault.Subject{Kind: fault.Operator, Name: "kube-scheduler"}); !strings.Contains(err.Error(), "no pods of operator") {
		t.Error(err)
	}
}
