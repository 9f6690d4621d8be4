package lean

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestObject: of a pod only what facts read stays, of another version, of custom resources
// and of Secrets everything.
func TestObject(t *testing.T) {
	pod := func(version string) map[string]any {
		return map[string]any{"apiVersion": version, "kind": "Pod",
			"metadata": map[string]any{"name": "p", "managedFields": []any{"who"}},
			"spec":     map[string]any{"nodeName": "n", "containers": []any{map[string]any{"name": "c", "env": []any{"secret"}}}}}
	}
	lean := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{"nodeName": "n", "containers": []any{map[string]any{"name": "c"}}}}
	secret := map[string]any{"apiVersion": "v1", "rollcall.dev/content": "metadata", "stringData": map[string]any{"a": "b"}}
	for _, tt := range []struct {
		name     string
		resource evidence.Resource
		content  map[string]any
		want     map[string]any
	}{
		{"a pod", evidence.Pods, pod("v1"), lean},
		{"of a hosted cluster", evidence.Pods.In("guest"), pod("v1"), lean},
		{"of another version", evidence.Pods, pod("v2"), pod("v2")},
		{"of no version", evidence.Pods, pod(""), pod("")},
		{"a custom resource", evidence.BareMetalHosts, pod("metal3.io/v1"), pod("metal3.io/v1")},
		{"a Secret", evidence.Secrets, secret, secret},
	} {
		if d := cmp.Diff(tt.want, NewDecoder().Object(tt.resource, tt.content)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
