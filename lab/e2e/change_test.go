package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var bareMetalHosts = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"}

// TestChangeFields: a plan of one changed field, from the fault to its absence, under the
// real controllers; an undo restores the field.
func TestChangeFields(t *testing.T) {
	w := up(t, "pool-paused+host-paused", false, anHour...)

	t.Run("unpause a host, undo it, and do it again", func(t *testing.T) {
		paused := func() string {
			t.Helper()
			o, err := w.client(t).Resource(bareMetalHosts).Namespace("openshift-machine-api").Get(t.Context(), "spare4", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return o.GetAnnotations()["baremetalhost.metal3.io/paused"]
		}
		plan := w.change("bmh-paused")
		w.must(t, 0, "fix", "apply", plan, "--yes")
		if got := paused(); got != "" {
			t.Errorf("the host is still paused: %q", got)
		}
		w.must(t, 0, "fix", "undo", plan, "--yes")
		if got := paused(); got != "maintenance" {
			t.Errorf("undone, the host's annotation is %q", got)
		}
		w.must(t, 0, "fix", "apply", w.change("bmh-paused"), "--yes")
		eventually(t, 2*time.Minute, func() string { // the operator works on it
			o, err := w.client(t).Resource(bareMetalHosts).Namespace("openshift-machine-api").Get(t.Context(), "spare4", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if state, _, _ := unstructured.NestedString(o.Object, "status", "provisioning", "state"); state == "" {
				return "the host has no state yet"
			}
			return ""
		})
	})

	t.Run("unpause a pool", func(t *testing.T) {
		w.must(t, 0, "fix", "apply", w.change("pool-paused"), "--yes")
		pool, err := w.client(t).Resource(poolResource).Get(t.Context(), "worker", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if on, _, _ := unstructured.NestedBool(pool.Object, "spec", "paused"); on {
			t.Error("the pool is still paused")
		}
		if d := parse(t, w.live("diagnose", "-o", "json")); strings.Contains(d.present(), "pool-paused") {
			t.Errorf("the fault is still present: %s", d.present())
		}
	})
}

// change makes a plan for one cause.
func (w *world) change(root string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), root+".yaml")
	w.must(w.t, 0, "fix", "plan", "--root", root, "--to", path)
	return path
}

// must runs the tool against the cluster and wants an exit code.
func (w *world) must(t *testing.T, code int, args ...string) result {
	t.Helper()
	r := w.live(args...)
	if r.code != code {
		t.Fatal(r)
	}
	return r
}
