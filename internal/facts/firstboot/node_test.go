package firstboot

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const console = `-- console:w1 --
[   11.000001] ignition[751]: Ignition finished successfully
[   60.000001] podman[1]: Error: initializing source docker://quay.example.com/mco@sha256:1: reading manifest sha256:1 in quay.example.com/mco: unauthorized: authentication required
`

// TestOldScreen: what a screen of a first boot shows is over once the host's kubelet runs.
// Where the Node is there and was not read, or not all of it, that is not known.
func TestOldScreen(t *testing.T) {
	node := func(ready, beat, state string) string {
		return "-- patch:cluster-scoped-resources/core/nodes/w1.yaml --\nmetadata: {annotations: {machineconfiguration.openshift.io/state: " + state + "}}\n" +
			"status: {conditions: [{type: Ready, status: \"" + ready + "\", lastHeartbeatTime: " + beat + "}]}\n"
	}
	const now, old = `"2026-03-01T11:58:00Z"`, `"2026-03-01T09:00:00Z"`
	gone := "-- delete:cluster-scoped-resources/core/nodes/w1.yaml --\n"
	for name, tt := range map[string]struct {
		changes  string
		failures int64
	}{
		"there is no Node":             {gone, 1},
		"Ready and Done":               {node("True", "null", "Done"), 0},
		"Ready, still works":           {node("True", now, "Working"), 0},
		"not Ready, its kubelet runs":  {node("False", now, "Done"), 0},
		"the kubelet was given up":     {node("Unknown", old, "Done"), 1},
		"not Ready, reported long ago": {node("False", old, "Working"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := factstest.Fields[FirstBoot](t, factstest.World(t, factstest.Metal, tt.changes+console), fact, factstest.Host("w1"))
			if f.Failures.Value() != tt.failures {
				t.Errorf("%s failures, want %d", f.Failures, tt.failures)
			}
		})
	}
	part := factstest.World(t, factstest.Metal, "-- patch:cluster-scoped-resources/core/nodes/w1.yaml --\nmetadata: {annotations: {"+evidence.PartMark+": row}}\nstatus: {conditions: null}\n"+console)
	if err := factstest.Err(t, part, fact, factstest.Host("w1")); err == nil {
		t.Error("what is not shown of the Node is known")
	}
}

func TestKubeletRunsLately(t *testing.T) {
	beat := time.Date(2026, 3, 1, 11, 58, 0, 0, time.UTC)
	o := evidence.Object{Name: "w1", Content: map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True", "lastHeartbeatTime": beat.Format(time.RFC3339)}}}}}
	for after, want := range map[time.Duration]bool{time.Minute: true, 9 * time.Minute: true, 11 * time.Minute: false} {
		if got, _, err := kubeletRuns(o, beat.Add(after)); got != want || err != nil {
			t.Errorf("%s after its last report it runs: %t, %v", after, got, err)
		}
	}
}
