package e2e

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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

// shop is an application in the hosted cluster, namespace shop, whose pods carry the label
// app=web. The lab has no scheduler and no controller for its ReplicaSet: while the shop is
// open, it has a pod made where one is missing, on the worker with the fewest, and counts.
type shop struct {
	w     *world
	kube  kubernetes.Interface
	want  int
	made  int
	owner metav1.OwnerReference
	seen  chan shopSeen // one place: what was counted, once it is closed
	stop  context.CancelFunc
}

// shopSeen is the fewest that were counted at once since all pods ran.
type shopSeen struct {
	pods  int // ready, and not being deleted
	nodes int // Ready Nodes that may be scheduled to
	err   error
}

func newShop(t *testing.T, w *world, want int) *shop {
	t.Helper()
	s := &shop{w: w, kube: w.hostedKube(t), want: want}
	_, err := s.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The lab's controller manager makes none.
	_, err = s.kube.CoreV1().ServiceAccounts("shop").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "web"}
	set, err := s.kube.AppsV1().ReplicaSets("shop").Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: ptr.To(int32(want)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: shopSpec("")},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.owner = *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet")) // without it pods are collected
	return s
}

// open returns when all pods run.
func (s *shop) open(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	ready := make(chan struct{})
	s.seen, s.stop = make(chan shopSeen, 1), stop
	go func() { s.seen <- s.run(ctx, ready) }()
	select {
	case <-ready:
	case <-time.After(2 * time.Minute):
		t.Fatalf("the shop does not open: %v", s.close().err)
	}
}

// close stops it and returns what it has counted.
func (s *shop) close() shopSeen {
	s.stop()
	return <-s.seen
}

func (s *shop) run(ctx context.Context, ready chan<- struct{}) shopSeen {
	seen, open := shopSeen{pods: math.MaxInt, nodes: math.MaxInt}, false
	for {
		pods, nodes, err := s.step(ctx)
		switch {
		case ctx.Err() != nil:
			return seen
		case err != nil:
			seen.err = err // the last one: the API may be slow for a moment
		case !open && pods == s.want:
			open = true
			close(ready)
		}
		if open && err == nil {
			seen.pods, seen.nodes = min(seen.pods, pods), min(seen.nodes, nodes)
		}
		select {
		case <-ctx.Done():
			return seen
		case <-time.After(150 * time.Millisecond):
		}
	}
}

// step counts, and has a pod made where one is missing.
func (s *shop) step(ctx context.Context) (ready, schedulable int, err error) {
	pods, err := s.kube.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, err
	}
	nodes, err := s.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, 0, err
	}
	on, live := map[string]int{}, 0
	for _, p := range pods.Items {
		if p.DeletionTimestamp != nil {
			continue
		}
		live++
		on[p.Spec.NodeName]++
		if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
			ready++
		}
	}
	best := ""
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Spec.Unschedulable || !nodeReady(n) {
			continue
		}
		schedulable++
		if n.Name != "guest0" && (best == "" || on[n.Name] < on[best]) {
			best = n.Name
		}
	}
	if live < s.want && best != "" {
		err = s.pod(ctx, best)
	}
	return ready, schedulable, err
}

// pod binds a pod to a Node. Its kubelet shows it as running, because its container has a log.
func (s *shop) pod(ctx context.Context, node string) error {
	name := fmt.Sprintf("web-%d", s.made)
	s.made++
	dir := filepath.Join(s.w.dir, "hosts", node, "containers", "shop", name)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "web.log"), nil, 0o600)); err != nil {
		return err
	}
	_, err := s.kube.CoreV1().Pods("shop").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"app": "web"}, OwnerReferences: []metav1.OwnerReference{s.owner}},
		Spec:       shopSpec(node),
	}, metav1.CreateOptions{})
	return err
}

func shopSpec(node string) corev1.PodSpec {
	return corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web", Image: "example.com/web"}}}
}

// budget gives the shop a PodDisruptionBudget, or changes it, and returns when the real
// controller has counted its pods.
func (s *shop) budget(t *testing.T, least int) {
	t.Helper()
	budgets := s.kube.PolicyV1().PodDisruptionBudgets("shop")
	spec := policyv1.PodDisruptionBudgetSpec{
		MinAvailable: ptr.To(intstr.FromInt32(int32(least))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}
	b, err := budgets.Get(t.Context(), "web", metav1.GetOptions{})
	if err == nil {
		b.Spec = spec
		_, err = budgets.Update(t.Context(), b, metav1.UpdateOptions{})
	} else {
		_, err = budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func() string {
		b, err := budgets.Get(t.Context(), "web", metav1.GetOptions{})
		switch {
		case err != nil:
			return err.Error()
		case b.Status.ObservedGeneration != b.Generation || int(b.Status.CurrentHealthy) != s.want || int(b.Status.DesiredHealthy) != least:
			return fmt.Sprintf("the budget counts %d of %d pods, and wants %d", b.Status.CurrentHealthy, b.Status.ExpectedPods, b.Status.DesiredHealthy)
		}
		return ""
	})
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
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

// replacing are the arguments that replace workers by machines of the lab.
func (w *world) replacing(more ...string) []string {
	return append([]string{"worker", "replace", "--hosted", theGuest, "--provider", "lab", "--option", "dir=" + w.dir, "--yes", "--window", "4m"}, more...)
}
