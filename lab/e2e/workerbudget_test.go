package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
)

// hostedKube is a client of the hosted cluster.
func (w *world) hostedKube(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(w.dir, "hosted-control-plane", "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

// shop is an application in the hosted cluster: one ready pod on each of the nodes, which a
// ReplicaSet controls that nothing reconciles here.
func shop(t *testing.T, kube kubernetes.Interface, nodes ...string) {
	t.Helper()
	ctx := t.Context()
	if _, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The hosted controller manager has no controller for it.
	if _, err := kube.CoreV1().ServiceAccounts("shop").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		shopPod(t, kube, "web-"+node, node)
	}
}

func shopPod(t *testing.T, kube kubernetes.Interface, name, node string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "5f1f8d6e-0000-4000-8000-000000000001", Controller: ptr.To(true)}},
		},
		// Its kubelet is the lab's, which does not stop it: it is gone at once.
		Spec: corev1.PodSpec{NodeName: node, TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{{Name: "web", Image: "example.com/web"}}},
	}
	pod, err := kube.CoreV1().Pods("shop").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if _, err := kube.CoreV1().Pods("shop").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// floor counts until stop the fewest Nodes that were Ready and could be scheduled to.
func floor(t *testing.T, kube kubernetes.Interface) (stop func() int) {
	done, out := make(chan struct{}), make(chan int)
	go func() {
		least := 1 << 10
		for {
			if list, err := kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
				n := 0
				for i := range list.Items {
					if !list.Items[i].Spec.Unschedulable && nodeReady(&list.Items[i]) {
						n++
					}
				}
				least = min(least, n)
			}
			select {
			case <-done:
				out <- least
				return
			case <-time.After(150 * time.Millisecond):
			}
		}
	}()
	return func() int { close(done); return <-out }
}

func nodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// nodeState is a Node of the hosted cluster: ready, not ready, cordoned or gone.
func nodeState(t *testing.T, kube kubernetes.Interface, name string) string {
	t.Helper()
	n, err := kube.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	switch {
	case err != nil:
		return "gone"
	case n.Spec.Unschedulable:
		return "cordoned"
	case nodeReady(n):
		return "ready"
	}
	return "not ready"
}

// TestWorkerBudget replaces workers with the real eviction API: under a PodDisruptionBudget that
// does not give way it stops, and nothing is missing; when it does, it continues. Then those whose
// machine is dead are replaced, unless they are the most; then all with an old config, several
// at once. The Ready Nodes are never fewer than allowed.
func TestWorkerBudget(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	if r := w.live(w.labWorkers(5, 3, "--window", "6m")...); r.code != 0 {
		t.Fatal(r)
	}
	kube := w.hostedKube(t)
	shop(t, kube, "guest5", "guest6", "guest7")
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	if _, err := kube.PolicyV1().PodDisruptionBudgets("shop").Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func() string {
		b, err := kube.PolicyV1().PodDisruptionBudgets("shop").Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil || b.Status.CurrentHealthy != 3 {
			return fmt.Sprintf("the budget counts %d pods: %v", b.Status.CurrentHealthy, err)
		}
		return ""
	})
	replace := func(more ...string) []string {
		return append([]string{"worker", "replace", "--hosted", "clusters/guest", "--provider", "lab", "--option", "dir=" + w.dir, "--yes", "--window", "4m", "--delete-emptydir-data"}, more...)
	}

	least := floor(t, kube)
	r := w.live(replace("guest5", "--host", "guest8", "--drain-timeout", "25s")...)
	if r.code != 3 || !strings.Contains(r.out, "stopped after 0 of 1 replacements") || !strings.Contains(r.out, "a PodDisruptionBudget holds shop/web-guest5") {
		t.Fatalf("a budget that does not give way: %s", r)
	}
	if _, err := kube.CoreV1().Pods("shop").Get(t.Context(), "web-guest5", metav1.GetOptions{}); err != nil || nodeState(t, kube, "guest5") != "ready" {
		t.Errorf("what is held is gone: %v, guest5 is %s", err, nodeState(t, kube, "guest5"))
	}
	shopPod(t, kube, "web-more", "guest8")
	if again := w.live("worker", "resume", runID(r), "--window", "4m"); again.code != 0 || nodeState(t, kube, "guest5") != "gone" {
		t.Fatalf("resumed, with room in the budget: guest5 is %s: %s", nodeState(t, kube, "guest5"), again)
	}
	if n := least(); n < 4 { // guest0 and three of the run
		t.Errorf("only %d Nodes were Ready", n)
	}

	// guest6 dies; a little later guest7, too: that is most of them.
	off := func(name string) {
		t.Helper()
		if r := w.lab("host", name, "off"); r.code != 0 {
			t.Fatal(r)
		}
		eventually(t, 3*time.Minute, func() string {
			if s := nodeState(t, kube, name); s != "not ready" {
				return name + " is " + s
			}
			return ""
		})
	}
	shopPod(t, kube, "web-yet-more", "guest8")
	off("guest6")
	r = w.live(replace("--unhealthy", "--host", "guest9")...)
	if r.code != 0 || nodeState(t, kube, "guest6") != "gone" || nodeState(t, kube, "guest9") != "ready" || nodeState(t, kube, "guest7") != "ready" {
		t.Fatalf("unhealthy: %s", r)
	}
	off("guest7")
	off("guest8")
	if r = w.live(replace("--unhealthy", "--host", "guest10", "--host", "guest11")...); r.code == 0 || !strings.Contains(r.err, "2 of 3 workers are not Ready") || nodeState(t, kube, "guest7") == "gone" {
		t.Errorf("most are not Ready: %s", r)
	}
	for _, name := range []string{"guest7", "guest8"} {
		if r := w.lab("host", name, "on"); r.code != 0 {
			t.Fatal(r)
		}
	}
	eventually(t, 2*time.Minute, func() string {
		if a, b := nodeState(t, kube, "guest7"), nodeState(t, kube, "guest8"); a != "ready" || b != "ready" {
			return "guest7 is " + a + ", guest8 is " + b
		}
		return ""
	})

	// All with an old config, two at once.
	if r := w.lab("outside", "nodepool-config"); r.code != 0 {
		t.Fatal(r)
	}
	if list := w.live("worker", "list", "--hosted", "clusters/guest"); strings.Count(list.out, "outdated, now") != 3 {
		t.Errorf("outdated: %s", list)
	}
	if err := kube.PolicyV1().PodDisruptionBudgets("shop").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	least = floor(t, kube)
	r = w.live(replace("--outdated", "--max-surge", "2", "--max-unavailable", "1", "--host", "guest12", "--host", "guest13", "--host", "guest14")...)
	if r.code != 0 || !strings.Contains(r.out, "3 of 3 workers are replaced") {
		t.Fatal(r)
	}
	if n := least(); n < 3 { // guest0 and three, less one
		t.Errorf("only %d Nodes were Ready", n)
	}
	if list := w.live("worker", "list", "--hosted", "clusters/guest"); strings.Contains(list.out, "outdated, now") {
		t.Errorf("outdated afterwards: %s", list)
	}
	if none := w.live(replace("--outdated", "--host", "guest15")...); none.code != 0 || !strings.Contains(none.out, "No worker needs to be replaced") {
		t.Errorf("a second time: %s", none)
	}
}
