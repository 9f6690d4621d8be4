package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestCounted(t *testing.T) {
	object := func(name, state string) evidence.Object {
		return evidence.Object{Name: name, Content: map[string]any{"state": state}}
	}
	wrong := func(o evidence.Object) string { return evidence.String(o.Content, "state") }
	for want, list := range map[string][]evidence.Object{
		"":                               nil,
		"1 Pool, Updated":                {object("a", "")},
		"2 Pools, all Updated":           {object("a", ""), object("b", "")},
		"2 Pools, b Degraded":            {object("a", ""), object("b", "Degraded")},
		"4 Pools, a X, b X, c X, 1 more": {object("d", "X"), object("c", "X"), object("b", "X"), object("a", "X")},
	} {
		if got := counted(list, "Pool", "Updated", wrong); got.says != want || got.wrong != strings.ContainsAny(want, "DX") {
			t.Errorf("%q, wrong %t, want %q", got.says, got.wrong, want)
		}
	}
	if !slices.Equal([]string{orUnknown(""), orUnknown("True")}, []string{"unknown", "True"}) {
		t.Error("a status that is not there is not unknown")
	}
}

// TestOfHostedCluster: what a HostedCluster reports against itself is said, and what is information is not.
func TestOfHostedCluster(t *testing.T) {
	c := func(kind, status, message string) any {
		return map[string]any{"type": kind, "status": status, "reason": "Some", "message": message}
	}
	history := func(state, version string) map[string]any {
		return map[string]any{"history": []any{map[string]any{"state": state, "version": version, "startedTime": "2026-02-01T10:00:00Z"}}}
	}
	available := c("Available", "True", "x")
	for name, tt := range map[string]struct {
		status map[string]any
		want   string
		wrong  bool
	}{
		"completed": {map[string]any{"conditions": []any{available, c("Degraded", "False", ""), c("ClusterVersionUpgradeable", "False", "ack"),
			c("Progressing", "False", "")}, "version": history("Completed", "4.18.3")}, "Available True, version 4.18.3 Completed", false},
		"its operators wait": {map[string]any{"conditions": []any{available, c("ClusterVersionSucceeding", "False", "Some cluster operators are still updating: dns")},
			"version": history("Partial", "")}, "ClusterVersionSucceeding False: Some cluster operators are still updating: dns, Available True, " +
			"version not completed since 2026-02-01T10:00:00Z", true},
		"only that it is not completed": {map[string]any{"conditions": []any{available}, "version": history("Partial", "4.18.3")},
			"Available True, version 4.18.3 not completed since 2026-02-01T10:00:00Z", true},
		"it fails":        {map[string]any{"conditions": []any{available, c("Degraded", "True", "")}}, "Degraded True: Some, Available True", true},
		"not available":   {map[string]any{"conditions": []any{c("Available", "False", "etcd")}}, "Available False: etcd", true},
		"nothing of that": {map[string]any{"conditions": []any{c("ValidConfiguration", "True", "")}}, "Available unknown", true},
		"no status":       {map[string]any{}, "it has no conditions: its status was left out, or no controller has reported", true},
	} {
		said, wrong := ofHostedCluster(evidence.Object{Content: map[string]any{"status": tt.status}})
		if said != tt.want || wrong != tt.wrong {
			t.Errorf("%s: %q, wrong %t; want %q, %t", name, said, wrong, tt.want, tt.wrong)
		}
	}
}

// TestShortOf: a count that is not there is not 0.
func TestShortOf(t *testing.T) {
	ready := func(status, message string) []any {
		return []any{map[string]any{"type": "Ready", "status": status, "message": message}}
	}
	for name, tt := range map[string]struct {
		status map[string]any
		want   string
	}{
		"counted":                  {map[string]any{"replicas": int64(1), "conditions": ready("False", "wait")}, "1 of 3 nodes (wait)"},
		"all":                      {map[string]any{"replicas": int64(3)}, ""},
		"none":                     {map[string]any{"replicas": int64(0)}, "0 of 3 nodes"},
		"not counted, Ready":       {map[string]any{"conditions": ready("True", "")}, ""},
		"not counted, not Ready":   {map[string]any{"conditions": ready("False", "wait")}, "Ready False, its nodes are not counted (wait)"},
		"nothing is known of them": {map[string]any{}, "Ready unknown, its nodes are not counted"},
	} {
		o := evidence.Object{Content: map[string]any{"spec": map[string]any{"replicas": int64(3)}, "status": tt.status}}
		if got := shortOf(o); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
