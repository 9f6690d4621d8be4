package inventory

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
)

func TestNotReady(t *testing.T) {
	tests := []struct {
		name, status, message string
		want                  map[string]string
	}{
		{"two nodes", "True", `The master nodes not ready: node "m0" not ready since 2026-03-01 10:59:10 +0000 UTC because NodeStatusUnknown (Kubelet stopped (posting).), node "m1" not ready since 2026-03-01 10:59:10 +0000 UTC because KubeletNotReady ([a, b])`,
			map[string]string{"m0": "NodeStatusUnknown (Kubelet stopped (posting).)", "m1": "KubeletNotReady ([a, b])"}},
		{"no condition", "True", `The master nodes not ready: node "m0" not ready, no Ready condition found in status block`, map[string]string{"m0": "no Ready condition found"}},
		{"older words", "True", `The master nodes not ready: node "m0" not ready`, map[string]string{"m0": "it gives no reason"}},
		{"obfuscated", "True", `The master nodes not ready: node "x-ipv4-0000000001-x" not ready`, map[string]string{}},
		{"over", "False", "All master nodes are ready", map[string]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string]string{}
			for _, w := range notReady([]conditions.Condition{{Type: "NodeControllerDegraded", Status: tt.status, Message: tt.message}}, "etcd") {
				got[w.Node] = w.Why
				if strings.Contains(tt.message, "10:59:10") && !w.Since.Equal(time.Date(2026, 3, 1, 10, 59, 10, 0, time.UTC)) {
					t.Errorf("%s: since %s", w.Node, w.Since)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("not ready (-want +got):\n%s", diff)
			}
		})
	}
}
