package lab

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRevisions: a new reason makes one revision, which reaches one node after the other.
func TestRevisions(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	nodes := []string{"control0", "control1"}
	for i, want := range []struct {
		another bool
		arrived string
		status  string
	}{
		{false, "", "1 [0 0] [0 0]"},
		{false, "", "1 [0 1] [0 0]"},
		{false, "control0", "1 [1 0] [0 0]"},
		{false, "", "1 [1 0] [0 1]"},
		{false, "control1", "1 [1 0] [1 0]"},
		{true, "", "2 [1 2] [1 0]"},
		{false, "control0", "2 [2 0] [1 0]"},
		{false, "", "2 [2 0] [1 2]"},
		{false, "control1", "2 [2 0] [2 0]"},
		{false, "", "2 [2 0] [2 0]"},
	} {
		r := revisionsOf(obj)
		arrived := r.next(nodes, want.another)
		status := fmt.Sprint(r.latest)
		for _, n := range nodes {
			status += fmt.Sprintf(" [%d %d]", r.current[n], r.target[n])
		}
		if arrived != want.arrived || status != want.status {
			t.Errorf("step %d: arrived at %q, %s, want %q, %s", i, arrived, status, want.arrived, want.status)
		}
		if err := r.write(obj); err != nil {
			t.Fatal(err)
		}
	}
}
