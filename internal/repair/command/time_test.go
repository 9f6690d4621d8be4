package command

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// someObjects are lists by the name of their resource; a resource without one cannot be read.
type someObjects map[string][]evidence.Object

func (s someObjects) List(_ context.Context, r evidence.Resource, _ string) ([]evidence.Object, error) {
	list, ok := s[r.Name]
	if !ok {
		return nil, errors.New("forbidden")
	}
	return list, nil
}

func TestPoolForTime(t *testing.T) {
	pool := func(spec map[string]any, degraded int64) []evidence.Object {
		return []evidence.Object{{Name: "worker", Content: map[string]any{"spec": spec, "status": map[string]any{"machineCount": int64(3), "degradedMachineCount": degraded}}}}
	}
	plain := pool(map[string]any{"maxUnavailable": "20%"}, 0)
	for want, s := range map[string]someObjects{
		"its 3 nodes, 20% at a time":       {"machineconfigs": nil, "machineconfigpools": plain},
		"its 3 nodes, 1 at a time":         {"machineconfigs": nil, "machineconfigpools": pool(nil, 0)},
		"99-worker-chrony exists":          {"machineconfigs": {{Name: "99-worker-chrony"}}, "machineconfigpools": plain},
		"99-worker-rollcall-chrony exists": {"machineconfigs": {{Name: "99-worker-rollcall-chrony"}}, "machineconfigpools": plain},
		"pool worker is paused":            {"machineconfigs": nil, "machineconfigpools": pool(map[string]any{"paused": true}, 0)},
		"1 of 3 machines":                  {"machineconfigs": nil, "machineconfigpools": pool(nil, 1)},
		"there is no pool worker":          {"machineconfigs": nil, "machineconfigpools": nil},
		"list MachineConfigs, to see":      {"machineconfigpools": plain},
		"list pools: forbidden":            {"machineconfigs": nil},
	} {
		entries, err := poolForTime(t.Context(), s, "worker")
		text := ""
		for _, e := range entries {
			text += e.Name + " " + e.Text + "\n"
		}
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) || (err == nil) != strings.Contains(want, "at a time") {
			t.Errorf("%q: %s", want, text)
		}
	}
}
