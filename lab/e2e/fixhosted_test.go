package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var hostedClusters = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedclusters"}

const theGuest = "clusters/guest"

// TestFixHostedPods: the management cluster refuses the pods of the network. The annotation is
// set, the real admission lets the pods in, and the first worker becomes Ready by itself. While
// the HostedCluster is paused nothing is planned, and a plan for another cluster is refused.
func TestFixHostedPods(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("three minutes; in .ci/run full")
	}
	w := up(t, "hosted-pod-security", true)
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	w.merge(t, hostedClusters, "clusters", "guest", `{"spec":{"pausedUntil":"true"}}`)
	r := w.live("fix", "plan", "--hosted", theGuest, "--root", "hosted-pod-security-refused", "--to", plan)
	if r.code == 0 || !strings.Contains(r.err, "it is paused") {
		t.Errorf("a plan for a paused HostedCluster: %s", r)
	}
	w.merge(t, hostedClusters, "clusters", "guest", `{"spec":{"pausedUntil":null}}`)

	w.must(t, 0, "fix", "plan", "--hosted", theGuest, "--root", "hosted-pod-security-refused", "--to", plan)
	if r := w.live("fix", "apply", plan, "--yes", "--hosted", "clusters/other"); r.code != 1 || !strings.Contains(r.err, "the plan is for "+theGuest) {
		t.Errorf("another hosted cluster: %s", r)
	}
	w.merge(t, hostedClusters, "clusters", "guest", `{"spec":{"clusterID":"00000000-0000-4000-8000-000000000000"}}`)
	if r := w.live("fix", "apply", plan, "--yes"); r.code != 5 || !strings.Contains(r.err, "the plan is for") {
		t.Errorf("a HostedCluster of another ID: %s", r)
	}
	o, err := w.client(t).Resource(hostedClusters).Namespace("clusters").Get(t.Context(), "guest", metav1.GetOptions{})
	if err != nil || len(o.GetAnnotations()) > 0 {
		t.Fatalf("something was written: %v, %v", o.GetAnnotations(), err)
	}
	w.merge(t, hostedClusters, "clusters", "guest", `{"spec":{"clusterID":"`+w.guestID(t)+`"}}`)

	w.must(t, 0, "fix", "apply", plan, "--yes")
	eventually(t, 3*time.Minute, func() string {
		d := parse(t, w.live("diagnose", "--hosted", theGuest, "-o", "json"))
		if len(d.Roots) > 0 || !strings.Contains(d.hosts(), joinedGuest) {
			return "roots " + d.roots() + ", hosts " + d.hosts()
		}
		return ""
	})
	w.must(t, 0, "fix", "undo", planID(t, plan), "--yes", "--wait", "1s")
	o, err = w.client(t).Resource(hostedClusters).Namespace("clusters").Get(t.Context(), "guest", metav1.GetOptions{})
	if err != nil || len(o.GetAnnotations()) > 0 {
		t.Errorf("after the undo: %v, %v", o.GetAnnotations(), err)
	}
}

// guestID is the ID of the hosted cluster, as its control plane has it.
func (w *world) guestID(t *testing.T) string {
	t.Helper()
	o, err := w.client(t).Resource(schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedcontrolplanes"}).
		Namespace("clusters-guest").Get(t.Context(), "guest", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := unstructured.NestedString(o.Object, "spec", "clusterID")
	if err != nil || id == "" {
		t.Fatalf("no ID: %v", err)
	}
	return id
}

// TestFixHostedUserData: the operator was scaled to nothing, and the token rotated twice since.
// It is started; the user-data is fresh, and a machine that is made with it joins. Then the
// NodePool is paused, and the pause is ended and undone.
func TestFixHostedUserData(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("three minutes; in .ci/run full")
	}
	w := up(t, "hosted-user-data-outdated", true)
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	w.must(t, 0, append([]string{"fix", "plan", "--root", "user-data-outdated", "--to", plan}, ofGuest...)...)
	w.must(t, 0, append([]string{"fix", "apply", plan, "--yes"}, ofGuest...)...)
	w.atHost(t, "guest2", "reinstall")
	eventually(t, 4*time.Minute, func() string {
		d := parse(t, w.live(append([]string{"diagnose", "-o", "json", "--console", "guest2=" + filepath.Join(w.dir, "hosts", "guest2", "console.log")}, ofGuest...)...))
		if strings.Contains(d.present(), "user-data-outdated") || !strings.Contains(d.hosts(), "guest2:config-done:not-applicable") {
			return "present " + d.present() + ", hosts " + d.hosts()
		}
		return ""
	})
	w.fix(t, fixed{fault: "nodepool-paused", also: ofGuest, first: func(t *testing.T, w *world) {
		w.merge(t, nodePoolResource, "clusters", "guest", `{"spec":{"pausedUntil":"true"}}`)
		eventually(t, time.Minute, func() string { // until the operator has noticed
			if d := parse(t, w.live(append([]string{"diagnose", "-o", "json"}, ofGuest...)...)); !strings.Contains(d.present(), "nodepool-paused") {
				return "present: " + d.present()
			}
			return ""
		})
	}})
}

// TestFixHostedWaits: before the first worker there is nothing to repair, and the answer names what makes it.
func TestFixHostedWaits(t *testing.T) {
	w := up(t, "hosted-first-worker", true)
	r := w.live("fix", "plan", "--hosted", theGuest, "--to", filepath.Join(t.TempDir(), "plan.yaml"))
	if r.code != 1 || !strings.Contains(r.err, "rollcall worker create --plan --hosted clusters/guest --host NAME=IP") {
		t.Errorf("before the first worker: %s", r)
	}
}
