package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-project/rollcall/lab/host"
)

const machineNamespace = "openshift-machine-api"

var machineSetResource = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machinesets"}

// addWorkers creates the MachineSet with its Machines and BareMetalHosts, as
// they are once metal3 has written the image, and powers the workers on.
func (l *Lab) addWorkers(ctx context.Context) error {
	if err := l.apply(ctx, workersManifest); err != nil {
		return err
	}
	for i := range l.values.Workers {
		if err := l.PowerOn(ctx, l.Worker(i)); err != nil {
			return err
		}
	}
	return l.awaitWhy(ctx, 4*time.Minute, "the workers have not joined", func(ctx context.Context, _ *Lab) (string, error) {
		return l.Complete(ctx)
	})
}

// Complete says what is missing from a whole and healthy cluster: pools that
// are updated, Nodes that are ready, kubelets that serve, Machines that run.
func (l *Lab) Complete(ctx context.Context) (string, error) {
	for _, pool := range []struct {
		name string
		want int
	}{{"master", len(l.values.Hosts)}, {"worker", len(l.values.Workers)}} {
		obj, err := l.pool(ctx, pool.name)
		if err != nil {
			return "", err
		}
		if n := nestedInt(obj, "status", "updatedMachineCount"); int(n) != pool.want ||
			nested(obj, "spec", "configuration", "name") != nested(obj, "status", "configuration", "name") {
			return fmt.Sprintf("pool %s: %d of %d updated", pool.name, n, pool.want), nil
		}
	}
	nodes, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, node := range nodes.Items {
		if !ready(&node) {
			return node.Name + " is not ready", nil
		}
	}
	requests, err := l.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, req := range requests.Items {
		if len(req.Status.Certificate) == 0 {
			return req.Name + " of " + req.Spec.Username + " waits", nil
		}
	}
	set, err := l.Get(ctx, machineSetResource, machineNamespace, l.values.InfraName+"-worker")
	if err != nil {
		return "", err
	}
	if n := nestedInt(set, "status", "readyReplicas"); int(n) != len(l.values.Workers) {
		return fmt.Sprintf("%d Machines of the MachineSet are ready", n), nil
	}
	return l.podsRun(ctx)
}

// podsRun says which pod of the lab does not run.
func (l *Lab) podsRun(ctx context.Context) (string, error) {
	pods, err := l.kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning {
			return pod.Namespace + "/" + pod.Name + " does not run", nil
		}
	}
	return "", nil
}

// syncWorkers gives each registered worker its machine-config-daemon's pod.
func (l *Lab) syncWorkers(ctx context.Context) error {
	list, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/worker,!node-role.kubernetes.io/master"})
	if err != nil {
		return fmt.Errorf("list workers: %w", err)
	}
	var errs []error
	for _, node := range list.Items {
		if l.hostRuns(node.Name) {
			errs = append(errs, l.ensureDaemonPod(ctx, &node, "machine-config-daemon", "machine-config-daemon-"+suffix(node.Name, "mcd")))
		}
	}
	return errors.Join(errs...)
}

// hostRuns says whether a Node is a host that is on and whose kubelet runs what
// is bound to it.
func (l *Lab) hostRuns(node string) bool {
	state, ok := l.hostState(node)
	return ok && state.Phase == host.PhaseRunning && state.Registered
}

// hostBooted says whether a Node is a host that is on and has booted: its static
// pods run, whatever its kubelet may do.
func (l *Lab) hostBooted(node string) bool {
	state, ok := l.hostState(node)
	return ok && state.Phase == host.PhaseRunning
}

// hostState is that of the host that calls itself node, if it is on.
func (l *Lab) hostState(node string) (host.State, bool) {
	l.mu.Lock()
	dir := ""
	for name, m := range l.machines {
		if name == node || m.spec.Hostname == node {
			dir = name
		}
	}
	l.mu.Unlock()
	if dir == "" {
		return host.State{}, false
	}
	state, err := host.ReadState(l.opts.Dir.Host(dir))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("look at a host", "host", dir, "err", err)
		}
		return host.State{}, false
	}
	return state, true
}

// syncMachines keeps what the machine-api controllers write about Machines that
// have addresses, and about MachineSets: the Node of a Machine, by its internal
// address (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go),
// the phase (openshift/machine-api-operator:pkg/controller/machine/controller.go) and the counts
// (openshift/machine-api-operator:pkg/controller/machineset/status.go). Addresses are the provider's; whoever
// plays it writes them.
func (l *Lab) syncMachines(ctx context.Context) error {
	machines, err := l.dyn.Resource(machineResource).Namespace(machineNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	nodes, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	var errs []error
	for i := range machines.Items {
		errs = append(errs, l.provideID(ctx, &machines.Items[i]), l.linkMachine(ctx, &machines.Items[i], nodes.Items))
	}
	return errors.Join(append(errs, l.countMachines(ctx, machines.Items, nodes.Items))...)
}

// provideID writes the provider ID of a Machine whose host is provisioned. It
// holds the host's UID (openshift/cluster-api-provider-baremetal:
// pkg/cloud/baremetal/actuators/machine/actuator.go ensureMachineProviderID).
func (l *Lab) provideID(ctx context.Context, m *unstructured.Unstructured) error {
	namespace, name, ok := strings.Cut(m.GetAnnotations()["metal3.io/BareMetalHost"], "/")
	if !ok || nested(m, "spec", "providerID") != "" {
		return nil
	}
	host, err := l.dyn.Resource(BareMetalHosts).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && nested(host, "status", "provisioning", "state") != "provisioned" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the host of machine %s: %w", m.GetName(), err)
	}
	patch := fmt.Sprintf(`{"spec":{"providerID":"baremetalhost:///%s/%s/%s"}}`, namespace, name, host.GetUID())
	changed, err := l.dyn.Resource(machineResource).Namespace(machineNamespace).Patch(ctx, m.GetName(), types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("give machine %s its provider ID: %w", m.GetName(), err)
	}
	*m = *changed
	return nil
}

func (l *Lab) linkMachine(ctx context.Context, m *unstructured.Unstructured, nodes []corev1.Node) error {
	i := slices.IndexFunc(nodes, func(n corev1.Node) bool { return sharesAddress(m, &n) })
	if i < 0 || nested(m, "status", "nodeRef", "name") != "" {
		return nil
	}
	node := &nodes[i]
	ref := map[string]any{"kind": "Node", "name": node.Name, "uid": string(node.UID)}
	if err := unstructured.SetNestedMap(m.Object, ref, "status", "nodeRef"); err != nil {
		return err
	}
	for field, value := range map[string]string{"phase": "Running", "lastUpdated": time.Now().UTC().Format(time.RFC3339)} {
		if err := unstructured.SetNestedField(m.Object, value, "status", field); err != nil {
			return err
		}
	}
	if _, err := l.dyn.Resource(machineResource).Namespace(machineNamespace).UpdateStatus(ctx, m, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("link machine %s to its node: %w", m.GetName(), err)
	}
	return l.annotate(ctx, node, "machine.openshift.io/machine", machineNamespace+"/"+m.GetName())
}

func (l *Lab) annotate(ctx context.Context, node *corev1.Node, key, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	return l.Patch(ctx, schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, "", node.Name, patch)
}

// sharesAddress says whether a Machine has the internal address of a Node.
func sharesAddress(m *unstructured.Unstructured, node *corev1.Node) bool {
	addresses, _, _ := unstructured.NestedSlice(m.Object, "status", "addresses")
	for _, a := range addresses {
		entry, ok := a.(map[string]any)
		if !ok || entry["type"] != string(corev1.NodeInternalIP) {
			continue
		}
		if slices.ContainsFunc(node.Status.Addresses, func(n corev1.NodeAddress) bool {
			return n.Type == corev1.NodeInternalIP && n.Address == entry["address"]
		}) {
			return true
		}
	}
	return false
}

func (l *Lab) countMachines(ctx context.Context, machines []unstructured.Unstructured, nodes []corev1.Node) error {
	sets, err := l.dyn.Resource(machineSetResource).Namespace(machineNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list machinesets: %w", err)
	}
	for _, set := range sets.Items {
		var all, up int64
		for _, m := range machines {
			if m.GetLabels()["machine.openshift.io/cluster-api-machineset"] != set.GetName() {
				continue
			}
			all++
			if slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Name == nested(&m, "status", "nodeRef", "name") && ready(&n) }) {
				up++
			}
		}
		want := map[string]int64{"replicas": all, "fullyLabeledReplicas": all, "readyReplicas": up, "availableReplicas": up,
			"observedGeneration": set.GetGeneration()}
		changed := false
		for field, n := range want {
			if nestedInt(&set, "status", field) != n {
				changed = true
			}
			if err := unstructured.SetNestedField(set.Object, n, "status", field); err != nil {
				return err
			}
		}
		if !changed {
			continue
		}
		if _, err := l.dyn.Resource(machineSetResource).Namespace(machineNamespace).UpdateStatus(ctx, &set, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("write status of machineset %s: %w", set.GetName(), err)
		}
	}
	return nil
}
