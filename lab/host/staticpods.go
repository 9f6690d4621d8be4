package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// controlPlanePod is a static pod that an installer pod of its operator puts
// on a master (openshift/library-go:pkg/operator/staticpod/installerpod).
type controlPlanePod struct {
	file, name, namespace string
	labels                map[string]string
	containers            []string
}

// controlPlanePods are those whose manifests a master gets. Names, labels and
// containers are the operators' (openshift/cluster-etcd-operator,
// cluster-kube-{apiserver,controller-manager,scheduler}-operator: bindata pod
// templates). The containers do not run: see the package comment.
var controlPlanePods = []controlPlanePod{
	{"etcd-pod.yaml", "etcd", "openshift-etcd",
		map[string]string{"app": "etcd", "k8s-app": "etcd", "etcd": "true"},
		[]string{"etcdctl", "etcd", "etcd-metrics", "etcd-readyz", "etcd-rev"}},
	{"kube-apiserver-pod.yaml", "kube-apiserver", "openshift-kube-apiserver",
		map[string]string{"app": "openshift-kube-apiserver", "apiserver": "true"},
		[]string{"kube-apiserver", "kube-apiserver-cert-syncer", "kube-apiserver-cert-regeneration-controller", "kube-apiserver-insecure-readyz",
			"kube-apiserver-check-endpoints"}},
	{"kube-controller-manager-pod.yaml", "kube-controller-manager", "openshift-kube-controller-manager",
		map[string]string{"app": "kube-controller-manager", "kube-controller-manager": "true"},
		[]string{"kube-controller-manager", "cluster-policy-controller", "kube-controller-manager-cert-syncer", "kube-controller-manager-recovery-controller"}},
	{"kube-scheduler-pod.yaml", "openshift-kube-scheduler", "openshift-kube-scheduler",
		map[string]string{"app": "openshift-kube-scheduler", "scheduler": "true"},
		[]string{"kube-scheduler", "kube-scheduler-cert-syncer", "kube-scheduler-recovery-controller"}},
}

// UnreadyFile lists, on a host's disk, the containers that run and do not answer. It is
// the lab's: the containers of control planes do not run.
const UnreadyFile = "/run/rollcall-lab/unready"

// CrashFile lists, on a host's disk, the containers that end again and again: in each line
// NAMESPACE/CONTAINER, a blank, and the last line of the run that ended. It is the lab's.
const CrashFile = "/run/rollcall-lab/crashing"

const simulatedImage = "lab.invalid/simulated"

// manifest renders the pod as a file of the static pod directory.
func (p controlPlanePod) manifest() ([]byte, error) {
	labels := maps.Clone(p.labels)
	labels["revision"] = "1"
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: p.namespace, Labels: labels},
		Spec:       corev1.PodSpec{HostNetwork: true, PriorityClassName: "system-node-critical"},
	}
	for _, c := range p.containers {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: c, Image: simulatedImage})
	}
	return yaml.Marshal(pod)
}

// installStaticPods does the installer pods' work on a master that has none of
// the manifests yet. It never restores one: a manifest that somebody moved
// away stays away, as on a real host until the next revision.
func (k *kubelet) installStaticPods(ctx context.Context) {
	const stamp = "/etc/kubernetes/static-pod-resources/installed"
	if k.h.cfg.Role != "master" || k.h.disk.exists(stamp) || !k.h.sleep(ctx, k.h.pace.StaticPods) {
		return
	}
	for _, p := range controlPlanePods {
		raw, err := p.manifest()
		if err == nil {
			err = k.h.disk.write(path.Join(manifestsPath, p.file), raw, 0o600)
		}
		if err != nil {
			k.h.log.Error("write static pod manifest", "pod", p.name, "error", err)
			return
		}
	}
	if err := k.h.disk.write(stamp, nil, 0o600); err != nil {
		k.h.log.Error("mark static pods as installed", "error", err)
	}
}

// syncPods keeps one mirror pod for each manifest of the static pod directory,
// deletes those whose manifest is gone, and looks after the pods that were
// bound to the node.
func (k *kubelet) syncPods(ctx context.Context) {
	k.h.every(ctx, max(k.h.pace.StaticPods, 200*time.Millisecond), func() {
		if err := k.trySyncPods(ctx); err != nil && ctx.Err() == nil {
			k.log.errorf("kubelet.go:3222", "\"Failed creating a mirror pod\" err=%q", err.Error())
		}
	})
}

func (k *kubelet) trySyncPods(ctx context.Context) error {
	wanted, errs := k.staticPods()
	// A list of the node's own pods is all that the node authorizer lets a
	// kubelet read about a pod that may not exist. As a kubelet's informer, from what
	// the API server keeps in memory.
	list, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "0", FieldSelector: "spec.nodeName=" + k.h.cfg.Name})
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("list pods of the node: %w", err))...)
	}
	have, bound := map[string]*corev1.Pod{}, []*corev1.Pod{}
	for i := range list.Items {
		pod := &list.Items[i]
		if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
			have[pod.Namespace+"/"+pod.Name] = pod
		} else {
			bound = append(bound, pod)
		}
	}
	if err := k.syncBoundPods(ctx, bound); err != nil {
		k.log.errorf("pod_workers.go:1324", "\"Error syncing pod, skipping\" err=%q", err.Error())
	}
	for _, pod := range wanted {
		key := pod.Namespace + "/" + pod.Name
		if err := k.syncMirrorPod(ctx, pod, have[key]); err != nil {
			errs = append(errs, fmt.Errorf("mirror pod %s: %w", key, err))
		}
		delete(have, key)
	}
	if len(errs) > 0 {
		return errors.Join(errs...) // a manifest that could not be read is not one that is gone
	}
	for _, pod := range have {
		if err := k.deletePod(ctx, pod); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (k *kubelet) deletePod(ctx context.Context, pod *corev1.Pod) error {
	now := int64(0)
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now,
		Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete mirror pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// staticPods reads the manifests. Names that begin with a dot are skipped, as
// the kubelet does (k8s.io/kubernetes:pkg/kubelet/config/file_linux.go).
func (k *kubelet) staticPods() (pods []*corev1.Pod, errs []error) {
	dir, err := fs.ReadDir(k.h.disk.root.FS(), rel(manifestsPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("read static pod directory: %w", err)}
	}
	for _, e := range dir {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		raw, err := k.h.disk.read(path.Join(manifestsPath, e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var pod corev1.Pod
		if err := yaml.Unmarshal(raw, &pod); err != nil || pod.Name == "" {
			errs = append(errs, fmt.Errorf("parse static pod %s: %w", e.Name(), errors.Join(err, errors.New("no pod"))))
			continue
		}
		pods = append(pods, k.mirrorOf(&pod, raw))
	}
	return pods, errs
}

// mirrorOf makes of a static pod what the kubelet posts for it
// (k8s.io/kubernetes:pkg/kubelet/config/common.go applyDefaults,
// pkg/kubelet/pod/mirror_client.go CreateMirrorPod).
func (k *kubelet) mirrorOf(pod *corev1.Pod, manifest []byte) *corev1.Pod {
	sum := sha256.Sum256(append([]byte(k.h.cfg.Name+"\n"), manifest...))
	hash := hex.EncodeToString(sum[:16])
	pod.Name += "-" + strings.ToLower(k.h.cfg.Name)
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Annotations = maps.Clone(pod.Annotations)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, map[string]string{
		"kubernetes.io/config.hash": hash, corev1.MirrorPodAnnotationKey: hash,
		"kubernetes.io/config.seen": k.started.Format(time.RFC3339Nano), "kubernetes.io/config.source": "file",
	})
	controller := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: k.h.cfg.Name, UID: k.lastNode().UID, Controller: &controller}}
	pod.Spec.NodeName = k.h.cfg.Name
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
	return pod
}

func (k *kubelet) syncMirrorPod(ctx context.Context, want, have *corev1.Pod) error {
	if have != nil && have.Annotations[corev1.MirrorPodAnnotationKey] != want.Annotations[corev1.MirrorPodAnnotationKey] {
		if err := k.deletePod(ctx, have); err != nil {
			return err
		}
		have = nil
	}
	pods := k.client.CoreV1().Pods(want.Namespace)
	if have == nil {
		created, err := pods.Create(ctx, want, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		have = created
	}
	if k.podRunning(have) {
		return nil
	}
	have.Status = k.runningStatus(have)
	_, err := pods.UpdateStatus(ctx, have, metav1.UpdateOptions{})
	return err
}

// podRunning says whether the status was posted in this boot, and is still so: the names
// of containers tell, because the times in a lab's cluster can be moved. Of a node that
// was not Ready the controller manager marks the pods as not ready, and the kubelet undoes
// that (k8s.io/kubernetes:pkg/kubelet/status/status_manager.go needsReconcile).
func (k *kubelet) podRunning(pod *corev1.Pod) bool {
	ready := true
	for _, c := range pod.Status.ContainerStatuses {
		unready := k.unready(pod, c.Name)
		if k.crash(pod, c.Name) != "" {
			if c.State.Waiting == nil {
				return false
			}
			ready = false
			continue
		}
		if c.State.Running == nil || c.ContainerID != k.containerID(pod, c.Name) || c.Ready == unready {
			return false
		}
		ready = ready && !unready
	}
	return podSaysReady(pod) == ready && len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers)
}

func podSaysReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// runningStatus says that the containers run since the kubelet started, and
// were restarted once more than the status of another boot says.
func (k *kubelet) runningStatus(pod *corev1.Pod) corev1.PodStatus {
	now, started := metav1.NewTime(k.h.now()), metav1.NewTime(k.started)
	restarts := map[string]int32{}
	for _, c := range pod.Status.ContainerStatuses {
		restarts[c.Name] = c.RestartCount
		if c.ContainerID != "" && c.ContainerID != k.containerID(pod, c.Name) { // of the boot before
			restarts[c.Name]++
		}
	}
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &started,
		HostIP: k.h.cfg.Address, HostIPs: []corev1.HostIP{{IP: k.h.cfg.Address}},
		PodIP: k.h.cfg.Address, PodIPs: []corev1.PodIP{{IP: k.h.cfg.Address}},
	}
	var unready []string
	for _, c := range pod.Spec.Containers {
		if k.unready(pod, c.Name) || k.crash(pod, c.Name) != "" {
			unready = append(unready, c.Name)
		}
	}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		c := corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now}
		if ofContainers := t == corev1.ContainersReady || t == corev1.PodReady; ofContainers && len(unready) > 0 {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
		}
		s.Conditions = append(s.Conditions, c)
	}
	up := true
	for _, c := range pod.Spec.Containers {
		if last := k.crash(pod, c.Name); last != "" {
			s.ContainerStatuses = append(s.ContainerStatuses, k.crashedStatus(pod, c, last, restarts[c.Name]))
			continue
		}
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: !slices.Contains(unready, c.Name), Started: &up, RestartCount: restarts[c.Name],
			ContainerID: k.containerID(pod, c.Name),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		})
	}
	return s
}

// unready says whether a container's probe fails: whose name, as NAMESPACE/CONTAINER,
// stands in a line of UnreadyFile.
func (k *kubelet) unready(pod *corev1.Pod, container string) bool {
	list, err := k.h.disk.read(UnreadyFile)
	return err == nil && slices.Contains(strings.Fields(string(list)), pod.Namespace+"/"+container)
}

// crash is the last line of a container that ends again and again; "" for one that runs.
func (k *kubelet) crash(pod *corev1.Pod, container string) string {
	list, err := k.h.disk.read(CrashFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(list)) {
		if name, last, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == pod.Namespace+"/"+container {
			return last
		}
	}
	return ""
}

// crashedStatus is that of a container which the kubelet lets wait before it starts it again
// (k8s.io/kubernetes:pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff). The last line
// is in it as with terminationMessagePolicy FallbackToLogsOnError, which these pods have.
func (k *kubelet) crashedStatus(pod *corev1.Pod, c corev1.Container, last string, restarts int32) corev1.ContainerStatus {
	const before = 9 // how often it was restarted until the back-off is at its five minutes
	now := k.h.now()
	down, id := false, k.containerID(pod, c.Name)
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Started: &down, RestartCount: restarts + before, ContainerID: id,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason: "CrashLoopBackOff", Message: fmt.Sprintf("back-off 5m0s restarting failed container=%s "+
				"pod=%s_%s(%s)", c.Name, pod.Name, pod.Namespace, pod.UID),
		}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", Message: last, ContainerID: id,
			StartedAt: metav1.NewTime(now.Add(-2 * time.Second)), FinishedAt: metav1.NewTime(now),
		}},
	}
}

func (k *kubelet) containerID(pod *corev1.Pod, container string) string {
	sum := sha256.Sum256([]byte(string(pod.UID) + container + k.h.snapshot().BootID))
	return "cri-o://" + hex.EncodeToString(sum[:])
}
