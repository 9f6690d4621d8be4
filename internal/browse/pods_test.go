package browse

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// TestPodState: a Pod in a word, as oc has it.
func TestPodState(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ pod, want string }{
		"running": {`{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, containerStatuses: [
			{ready: true, state: {running: {}}}, {ready: true, state: {running: {}}, restartCount: 2, lastState: {terminated: {finishedAt: "2026-01-02T11:00:00Z"}}}]}}`,
			"2/2 Running 2 (60m ago)"},
		"pending":     {`{spec: {containers: [{name: a}]}, status: {phase: Pending}}`, "0/1 Pending 0"},
		"evicted":     {`{spec: {containers: [{name: a}]}, status: {phase: Failed, reason: Evicted}}`, "0/1 Evicted 0"},
		"terminating": {`{metadata: {deletionTimestamp: "2026-01-02T11:00:00Z"}, spec: {containers: [{name: a}]}, status: {phase: Running}}`, "0/1 Terminating 0"},
		"node lost": {`{metadata: {deletionTimestamp: "2026-01-02T11:00:00Z"}, spec: {containers: [{name: a}]}, status: {phase: Running, reason: NodeLost}}`,
			"0/1 Unknown 0"},
		"crash loop": {`{spec: {containers: [{name: a}]}, status: {phase: Running, containerStatuses: [
			{restartCount: 7, state: {waiting: {reason: CrashLoopBackOff}}}]}}`, "0/1 CrashLoopBackOff 7"},
		"ended by a signal": {`{spec: {containers: [{name: a}]}, status: {phase: Failed, containerStatuses: [{state: {terminated: {signal: 9}}}]}}`, "0/1 Signal:9 0"},
		"completed, one still runs": {`{spec: {containers: [{name: a}, {name: b}]}, status: {phase: Running, containerStatuses: [
			{state: {terminated: {reason: Completed}}}, {ready: true, state: {running: {}}}], conditions: [{type: Ready, status: "False"}]}}`, "1/2 NotReady 0"},
		"first of two init containers": {`{spec: {initContainers: [{name: i}, {name: j}], containers: [{name: a}]}, status: {phase: Pending,
			initContainerStatuses: [{name: i, state: {running: {}}}, {name: j, state: {waiting: {reason: PodInitializing}}}]}}`, "0/1 Init:0/2 0"},
		"init failed": {`{spec: {initContainers: [{name: i}], containers: [{name: a}]}, status: {phase: Pending,
			initContainerStatuses: [{name: i, restartCount: 3, state: {terminated: {exitCode: 1, reason: Error}}}]}}`, "0/1 Init:Error 3"},
		"sidecar": {`{spec: {initContainers: [{name: i, restartPolicy: Always}], containers: [{name: a}]}, status: {phase: Running,
			initContainerStatuses: [{name: i, ready: true, started: true, restartCount: 1, state: {running: {}}}],
			containerStatuses: [{ready: true, state: {running: {}}}]}}`, "2/2 Running 1"},
		"gated": {`{spec: {containers: [{name: a}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]}}`,
			"0/1 SchedulingGated 0"},
	} {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(c.pod, "\t", " ")), &content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o := object{whole(content).(map[string]any), now}
		var cells []string
		for _, column := range podColumns()[:3] {
			cells = append(cells, column.cell(o))
		}
		if got := strings.Join(cells, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// whole gives numbers the type that objects of sources have.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		return int64(v)
	}
	return v
}
