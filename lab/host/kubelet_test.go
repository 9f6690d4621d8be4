package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// testKubelet is a kubelet that is past its bootstrap, with a fake API.
func testKubelet(t *testing.T, objects ...runtime.Object) (*kubelet, *fake.Clientset, *clock) {
	t.Helper()
	clk := newClock()
	h := New(Config{Name: node, Role: "master", Dir: t.TempDir(), Address: "127.0.0.1", KubeletVersion: "v1.33.5"})
	h.now, h.disk = clk.now, testDisk(t)
	h.state = State{Phase: PhaseRunning, BootID: "boot-1", KubeletPort: 10250}
	k, err := newKubelet(h)
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(objects...)
	k.client = client
	k.log = &klogger{w: io.Discard, now: clk.now}
	return k, client, clk
}

func getNode(t *testing.T, c *fake.Clientset) *corev1.Node {
	t.Helper()
	n, err := c.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRegister(t *testing.T) {
	forbid := func(c *fake.Clientset) {
		c.PrependReactor("create", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
			n := a.(clienttesting.CreateAction).GetObject().(*corev1.Node)
			if _, ok := n.Labels[labelMaster]; ok {
				return true, nil, apierrors.NewForbidden(corev1.Resource("nodes"), node, errors.New("is not allowed to set the following labels: "+labelMaster))
			}
			return false, nil, nil
		})
	}
	for name, upstream := range map[string]bool{"OpenShift admits role labels": false, "upstream refuses them": true} {
		t.Run(name, func(t *testing.T) {
			k, client, _ := testKubelet(t)
			var asked map[string]string
			k.h.cfg.Labeler = func(_ context.Context, _ string, l map[string]string) error { asked = l; return nil }
			if upstream {
				forbid(client)
			}
			if !k.register(t.Context()) {
				t.Fatal("did not register")
			}
			n := getNode(t, client)
			_, hasLabel := n.Labels[labelMaster]
			if hasLabel == upstream || (len(asked) == 2) != upstream {
				t.Errorf("labels %v, asked the labeler for %v", n.Labels, asked)
			}
			if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != labelMaster {
				t.Errorf("taints %v", n.Spec.Taints)
			}
			if n.Status.DaemonEndpoints.KubeletEndpoint.Port != 10250 || n.Status.NodeInfo.BootID != "boot-1" {
				t.Errorf("status %+v", n.Status)
			}
		})
	}
}

func readyOf(n *corev1.Node) corev1.NodeCondition {
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return corev1.NodeCondition{}
	}
	return n.Status.Conditions[i]
}

func TestNodeGoesReadyWithItsNetwork(t *testing.T) {
	k, client, clk := testKubelet(t)
	k.register(t.Context())
	began := clk.now()
	if c := readyOf(getNode(t, client)); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "NetworkPluginNotReady") {
		t.Fatalf("condition at registration %+v", c)
	}
	k.networkA = began.Add(time.Minute)
	clk.advance(30 * time.Second)
	k.tryStatus(t.Context())
	if c := readyOf(getNode(t, client)); c.Status != corev1.ConditionFalse {
		t.Errorf("condition before the network %+v", c)
	}
	clk.advance(30 * time.Second)
	k.tryStatus(t.Context())
	c := readyOf(getNode(t, client))
	if c.Status != corev1.ConditionTrue || c.Reason != "KubeletReady" || !c.LastTransitionTime.Time.Equal(clk.now()) {
		t.Errorf("condition with the network %+v", c)
	}
	// Nothing changes: nothing is posted until the report interval is over.
	turned := clk.now()
	clk.advance(4 * time.Minute)
	k.tryStatus(t.Context())
	if c := readyOf(getNode(t, client)); !c.LastHeartbeatTime.Time.Equal(turned) {
		t.Errorf("posted without a change: %v", c.LastHeartbeatTime)
	}
	clk.advance(time.Minute)
	k.tryStatus(t.Context())
	if c := readyOf(getNode(t, client)); !c.LastHeartbeatTime.Time.Equal(clk.now()) || !c.LastTransitionTime.Time.Equal(turned) {
		t.Errorf("after the report interval: %+v", c)
	}
}

func TestRebootShowsInTheNode(t *testing.T) {
	k, client, _ := testKubelet(t)
	k.register(t.Context())
	k.h.state.BootID = "boot-2"
	k.register(t.Context())
	k.tryStatus(t.Context())
	if got := getNode(t, client).Status.NodeInfo.BootID; got != "boot-2" {
		t.Errorf("boot ID is %q", got)
	}
	events, err := client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) != 1 || events.Items[0].Message != "Node control0 has been rebooted, boot id: boot-2" {
		t.Errorf("events %+v, %v", events.Items, err)
	}
}

func TestLeaseIsRenewed(t *testing.T) {
	k, client, clk := testKubelet(t)
	k.register(t.Context())
	for range 2 {
		clk.advance(10 * time.Second)
		if err := k.tryLease(t.Context()); err != nil {
			t.Fatal(err)
		}
		l, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), node, metav1.GetOptions{})
		if err != nil || !l.Spec.RenewTime.Time.Equal(clk.now()) || *l.Spec.HolderIdentity != node || *l.Spec.LeaseDurationSeconds != 40 {
			t.Errorf("lease %+v, %v", l, err)
		}
	}
}

func podNames(t *testing.T, c *fake.Clientset) map[string]*corev1.Pod {
	t.Helper()
	list, err := c.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*corev1.Pod{}
	for i, p := range list.Items {
		out[p.Namespace+"/"+p.Name] = &list.Items[i]
	}
	return out
}

func TestMirrorPodsFollowTheManifests(t *testing.T) {
	k, client, clk := testKubelet(t)
	k.register(t.Context())
	if err := k.trySyncPods(t.Context()); err != nil || len(podNames(t, client)) != 0 {
		t.Fatalf("pods without a manifest: %v, %v", podNames(t, client), err)
	}
	k.h.pace = fastPace()
	k.installStaticPods(t.Context())
	if err := k.trySyncPods(t.Context()); err != nil {
		t.Fatal(err)
	}
	pods := podNames(t, client)
	for _, name := range []string{
		"openshift-etcd/etcd-control0", "openshift-kube-apiserver/kube-apiserver-control0",
		"openshift-kube-controller-manager/kube-controller-manager-control0", "openshift-kube-scheduler/openshift-kube-scheduler-control0",
	} {
		p := pods[name]
		if p == nil || p.Annotations[corev1.MirrorPodAnnotationKey] == "" || p.Spec.NodeName != node || p.OwnerReferences[0].Kind != "Node" || p.Status.Phase != corev1.PodRunning {
			t.Errorf("%s is %+v", name, p)
		}
	}
	// A manifest that was moved away takes its mirror pod along and does not return.
	if err := k.h.disk.rename(manifestsPath+"/etcd-pod.yaml", "/absent/etcd-pod.yaml"); err == nil {
		t.Fatal("renamed into a directory that does not exist")
	}
	if err := k.h.disk.rename(manifestsPath+"/etcd-pod.yaml", "/etc/etcd-pod.yaml"); err != nil {
		t.Fatal(err)
	}
	k.installStaticPods(t.Context())
	if err := k.trySyncPods(t.Context()); err != nil || podNames(t, client)["openshift-etcd/etcd-control0"] != nil {
		t.Errorf("the mirror pod of a removed manifest is still there (%v)", err)
	}
	// The next boot restarts the containers.
	clk.advance(time.Minute)
	k.started = clk.now()
	if err := k.h.update(startKernel); err != nil {
		t.Fatal(err)
	}
	if err := k.trySyncPods(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := podNames(t, client)["openshift-kube-apiserver/kube-apiserver-control0"].Status.ContainerStatuses[0]; c.RestartCount != 1 {
		t.Errorf("restart count is %d", c.RestartCount)
	}
}

// TestPodsReadiness: what the controller manager says of the pods of a node that was away
// is undone, a container whose probe fails is not ready, and no restart is counted.
func TestPodsReadiness(t *testing.T) {
	k, client, _ := testKubelet(t)
	k.register(t.Context())
	k.h.pace = fastPace()
	k.installStaticPods(t.Context())
	const name = "openshift-etcd/etcd-control0"
	sync := func() (ready bool, unready []string) {
		t.Helper()
		if err := k.trySyncPods(t.Context()); err != nil {
			t.Fatal(err)
		}
		pod := podNames(t, client)[name]
		for _, c := range pod.Status.ContainerStatuses {
			if !c.Ready {
				unready = append(unready, c.Name)
			}
			if c.RestartCount != 0 {
				t.Errorf("%s was restarted %d times", c.Name, c.RestartCount)
			}
		}
		return podSaysReady(pod), unready
	}
	if ready, unready := sync(); !ready || len(unready) > 0 {
		t.Fatalf("ready %v, unready %v", ready, unready)
	}
	pod := podNames(t, client)[name]
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			pod.Status.Conditions[i].Status = corev1.ConditionFalse
		}
	}
	if _, err := client.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if ready, unready := sync(); !ready || len(unready) > 0 {
		t.Errorf("after the node was away: ready %v, unready %v", ready, unready)
	}
	if err := k.h.disk.write(UnreadyFile, []byte("openshift-etcd/etcd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if ready, unready := sync(); ready || !slices.Equal(unready, []string{"etcd"}) {
			t.Errorf("with a silent etcd: ready %v, unready %v", ready, unready)
		}
	}
}

// TestCrashLoop: a container of CrashFile waits for its next start, with the last line of the
// run that ended; without the file it runs.
func TestCrashLoop(t *testing.T) {
	k, client, _ := testKubelet(t)
	k.register(t.Context())
	k.h.pace = fastPace()
	k.installStaticPods(t.Context())
	sync := func() corev1.ContainerStatus {
		t.Helper()
		if err := k.trySyncPods(t.Context()); err != nil {
			t.Fatal(err)
		}
		pod := podNames(t, client)["openshift-kube-controller-manager/kube-controller-manager-control0"]
		i := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == "kube-controller-manager" })
		if podSaysReady(pod) != pod.Status.ContainerStatuses[i].Ready || len(pod.Status.ContainerStatuses) != len(pod.Spec.Containers) {
			t.Errorf("pod %+v", pod.Status)
		}
		return pod.Status.ContainerStatuses[i]
	}
	const last = `E0101 00:00:00.000000 1 run.go:72] "command failed" err="Unauthorized"`
	if err := k.h.disk.write(CrashFile, []byte("openshift-kube-controller-manager/kube-controller-manager "+last+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := sync()
		if c.Ready || c.State.Waiting == nil || c.State.Waiting.Reason != "CrashLoopBackOff" || c.RestartCount != 9 ||
			c.LastTerminationState.Terminated == nil || c.LastTerminationState.Terminated.Message != last {
			t.Errorf("while it ends again and again: %+v", c)
		}
	}
	if err := k.h.disk.remove(CrashFile); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c := sync(); !c.Ready || c.State.Running == nil || c.RestartCount != 9 {
			t.Errorf("when it runs: %+v", c)
		}
	}
}

func TestUnreadableManifestDeletesNothing(t *testing.T) {
	k, client, _ := testKubelet(t)
	k.register(t.Context())
	k.h.pace = fastPace()
	k.installStaticPods(t.Context())
	k.trySyncPods(t.Context())
	if err := k.h.disk.write(manifestsPath+"/etcd-pod.yaml", []byte("half of: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.trySyncPods(t.Context()); err == nil {
		t.Error("a broken manifest was taken")
	}
	if podNames(t, client)["openshift-etcd/etcd-control0"] == nil {
		t.Error("the mirror pod was deleted")
	}
}

func TestBoundPods(t *testing.T) {
	pod := func(name, container string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: daemonNamespace},
			Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: container}}}}
		if change != nil {
			change(p)
		}
		return p
	}
	now := metav1.Now()
	k, client, _ := testKubelet(t,
		pod("machine-config-daemon-abcde", daemonContainer, nil),
		pod("something-else", "app", nil),
		pod("evicted", "app", func(p *corev1.Pod) { p.DeletionTimestamp, p.Finalizers = &now, nil }))
	k.register(t.Context())
	if err := k.trySyncPods(t.Context()); err != nil {
		t.Fatal(err)
	}
	pods := podNames(t, client)
	if p := pods[daemonNamespace+"/machine-config-daemon-abcde"]; p.Status.Phase != corev1.PodRunning {
		t.Errorf("daemon's pod is %q", p.Status.Phase)
	}
	if p := pods[daemonNamespace+"/something-else"]; p.Status.Phase != corev1.PodPending || p.Status.ContainerStatuses[0].State.Waiting == nil {
		t.Errorf("a pod for which nothing runs is %v", p.Status)
	}
	if pods[daemonNamespace+"/evicted"] != nil {
		t.Error("a pod that was evicted is still there")
	}
}

func TestKubeletIsRestartedUntilItsBootstrapSucceeds(t *testing.T) {
	k, _, _ := testKubelet(t)
	flags := filepath.Join(t.TempDir(), "flags")
	k.h.pace = fastPace()
	k.h.cfg.KubeletBootstrapBin = script(t, "echo \"$@\" >>"+flags+"\necho 'failed to run Kubelet: nope' >&2\n[ $(wc -l <"+flags+") -ge 3 ]\n")
	var journal strings.Builder
	k.log = &klogger{w: &journal, now: k.h.now}
	if err := k.bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(flags)
	if err != nil {
		t.Fatal(err)
	}
	root := k.h.disk.base
	want := "--kubeconfig=" + root + "/var/lib/kubelet/kubeconfig --bootstrap-kubeconfig=" + root + "/etc/kubernetes/kubeconfig --cert-dir=" + root + "/var/lib/kubelet/pki --node-name=control0 --v=2\n"
	if string(raw) != strings.Repeat(want, 3) {
		t.Errorf("ran with\n%s", raw)
	}
	if n := strings.Count(journal.String(), "exit status 1: failed to run Kubelet: nope"); n != 2 {
		t.Errorf("the journal tells %d failures:\n%s", n, &journal)
	}
}
