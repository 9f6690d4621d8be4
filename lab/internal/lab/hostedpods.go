package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

const ignitionProc = "ignition-server"

// syncHosted keeps the hosted cluster true: its control plane's pods, the
// ignition server behind one of them, the NodePool, and the requests of workers.
func (l *Lab) syncHosted(ctx context.Context) error {
	h := l.Hosted()
	if h == nil {
		return nil
	}
	return errors.Join(h.syncNamespace(ctx), h.syncPods(ctx), h.syncPool(ctx), h.syncRequests(ctx))
}

// syncNamespace is what the HyperShift operator does about the PodSecurity level of the
// control plane's namespace: the HostedCluster's annotation is written to three labels
// (openshift/hypershift:hypershift-operator/controllers/hostedcluster/hostedcluster_controller.go
// reconcileControlPlaneNamespace; api/hypershift/v1beta1/hostedcluster_types.go
// PodSecurityAdmissionLabelOverrideAnnotation). Without it the level is restricted, as the
// image of this control plane asks for.
func (h *Hosted) syncNamespace(ctx context.Context) error {
	h.mu.Lock()
	operator := h.operator
	h.mu.Unlock()
	if !operator {
		return nil
	}
	hc, err := h.lab.dyn.Resource(hostedClusterResource).Namespace(seed.HostedNamespace).Get(ctx, seed.HostedName, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read HostedCluster %s: %w", seed.HostedName, err)
	}
	level := cmp.Or(hc.GetAnnotations()["hypershift.openshift.io/pod-security-admission-label-override"], "restricted")
	namespaces := h.lab.kube.CoreV1().Namespaces()
	ns, err := namespaces.Get(ctx, seed.HostedControlPlane, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read namespace %s: %w", seed.HostedControlPlane, err)
	}
	same := true
	for _, mode := range []string{"enforce", "audit", "warn"} {
		label := "pod-security.kubernetes.io/" + mode
		same = same && ns.Labels[label] == level
		ns.Labels[label] = level
	}
	if same {
		return nil
	}
	if _, err := namespaces.Update(ctx, ns, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write PodSecurity level %s to namespace %s: %w", level, ns.Name, err)
	}
	return nil
}

// syncPods keeps the pods of all Deployments of the control plane, on workers of
// the management cluster.
func (h *Hosted) syncPods(ctx context.Context) error {
	l := h.lab
	workers, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/worker,!node-role.kubernetes.io/master"})
	if err != nil {
		return fmt.Errorf("list workers: %w", err)
	}
	list, err := l.kube.AppsV1().Deployments(seed.HostedControlPlane).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list deployments of the hosted control plane: %w", err)
	}
	var errs []error
	for _, item := range list.Items {
		d := deployment{seed.HostedControlPlane, item.Name, suffix(item.Name, "replicas") + suffix(item.Name, "set")}
		pod, err := l.deployedPod(ctx, d, workers.Items)
		if apierrors.IsForbidden(err) {
			err = l.failedCreate(ctx, d, err)
		}
		if err == nil && pod != nil {
			err = h.contain(ctx, pod)
		}
		errs = append(errs, err, l.syncDeployment(ctx, d))
	}
	return errors.Join(errs...)
}

// contain runs what is in a pod. Only the ignition server really runs; the others
// are there, and silent.
func (h *Hosted) contain(ctx context.Context, pod *corev1.Pod) error {
	if pod.Labels["app"] == ignitionProc {
		return h.syncServer(ctx, pod)
	}
	return h.lab.silent(pod)
}

// syncServer runs HyperShift's ignition server as its ServiceAccount. The node
// port of every worker leads to it. The product has a haproxy between
// (ignition-server-proxy), which shows the same certificate.
func (h *Hosted) syncServer(ctx context.Context, pod *corev1.Pod) error {
	l := h.lab
	if l.procs.Running(ignitionProc) && h.serverIn == pod.Name {
		return nil
	}
	l.procs.Stop(ignitionProc)
	kubeconfig, err := l.serviceAccountOf(ctx, seed.HostedControlPlane, ignitionProc)
	if err != nil {
		return err
	}
	dir := l.opts.Dir.file("pods", "ignition-server")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"tls.crt": h.values.Ignition.Cert, "tls.key": h.values.Ignition.Key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	port, err := plan.FreePort()
	if err != nil {
		return err
	}
	metrics, err := plan.FreePort()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("%s:%d", l.net.Local(), port)
	h.serverIn = pod.Name
	err = l.procs.Start(proc.Spec{
		Name: ignitionProc, Path: l.opts.Artifacts.Bin[ignitionProc],
		Log: l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, ignitionProc),
		Env: []string{"KUBECONFIG=" + kubeconfig, "MY_NAMESPACE=" + seed.HostedControlPlane},
		Args: []string{
			"ignition-server", "--addr=" + address, fmt.Sprintf("--metrics-addr=%s:%d", l.net.Local(), metrics),
			"--cert-file=" + filepath.Join(dir, "tls.crt"), "--key-file=" + filepath.Join(dir, "tls.key"),
			"--work-dir=" + dir, "--platform=None", "--payloads=" + h.payloads(),
		},
	})
	if err != nil {
		return err
	}
	return h.publish(address)
}

// publish points the node port of the management cluster's workers at the server.
func (h *Hosted) publish(address string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fronts == nil {
		for i := range h.lab.values.Workers {
			h.fronts = append(h.fronts, &plan.Forwarder{Addr: fmt.Sprintf("%s:%d", h.lab.net.Host(len(h.lab.values.Hosts)+i), hostedPort), Logger: h.lab.log})
		}
	}
	var errs []error
	for _, f := range h.fronts {
		errs = append(errs, f.SetTargets(address))
	}
	return errors.Join(errs...)
}

// failedCreate is the ReplicaSet controller's event about a pod that the API
// server refuses (k8s.io/kubernetes:pkg/controller/controller_utils.go
// RealPodControl.createPods). The refusal is the real admission's; the controller
// tries again after up to 16 minutes, here once a minute.
func (l *Lab) failedCreate(ctx context.Context, d deployment, refused error) error {
	var status apierrors.APIStatus
	if !errors.As(refused, &status) {
		return refused
	}
	now := metav1.Now()
	name := d.name + "-" + d.hash
	events := l.kube.CoreV1().Events(d.namespace)
	event, err := events.Get(ctx, name+"."+suffix(name), metav1.GetOptions{})
	if err == nil {
		if now.Sub(event.LastTimestamp.Time) < time.Minute {
			return nil
		}
		event.Count, event.LastTimestamp = event.Count+1, now
		_, err = events.Update(ctx, event, metav1.UpdateOptions{})
		return err
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = events.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: name + "." + suffix(name)},
		InvolvedObject: corev1.ObjectReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: d.namespace, Name: name},
		Source:         corev1.EventSource{Component: "replicaset-controller"},
		Type:           corev1.EventTypeWarning, Reason: "FailedCreate", Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Message: "Error creating: " + status.Status().Message,
	}, metav1.CreateOptions{})
	return err
}

// identityRuns says whether the approver of the network plugin's requests has a
// running pod.
func (h *Hosted) identityRuns(ctx context.Context) (bool, error) {
	pods, err := h.lab.kube.CoreV1().Pods(seed.HostedControlPlane).List(ctx, metav1.ListOptions{LabelSelector: "app=network-node-identity"})
	if err != nil {
		return false, fmt.Errorf("list pods of network-node-identity: %w", err)
	}
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }), nil
}
