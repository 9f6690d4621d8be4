package host

import (
	"context"
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// osLabel is kubelet.service's node.openshift.io/os_id=${ID} on RHCOS 9.
const osLabel, osID = "node.openshift.io/os_id", "rhel"

// register creates the Node, or takes over the one that is there, and says
// whether it could before ctx ended. It keeps trying, as a kubelet does
// (k8s.io/kubernetes:pkg/kubelet/kubelet_node_status.go registerWithAPIServer).
func (k *kubelet) register(ctx context.Context) bool {
	wait := 100 * time.Millisecond
	for {
		k.log.infof("kubelet_node_status.go:75", "\"Attempting to register node\" node=%q", k.h.cfg.Name)
		err := k.tryRegister(ctx)
		if err == nil {
			return true
		}
		k.log.errorf("kubelet_node_status.go:107", "\"Unable to register node with API server\" err=%q node=%q", err.Error(), k.h.cfg.Name)
		if !k.h.sleep(ctx, wait) {
			return false
		}
		wait = min(wait*2, 7*time.Second)
	}
}

func (k *kubelet) tryRegister(ctx context.Context) error {
	nodes := k.client.CoreV1().Nodes()
	existing, err := nodes.Get(ctx, k.h.cfg.Name, metav1.GetOptions{})
	if err == nil {
		if was := existing.Status.NodeInfo.BootID; was != "" && was != k.h.snapshot().BootID {
			k.event(ctx, existing, corev1.EventTypeWarning, "Rebooted", "Node "+k.h.cfg.Name+" has been rebooted, boot id: "+k.h.snapshot().BootID)
		}
		k.keep(existing)
		k.log.infof("kubelet_node_status.go:124", "\"Node was previously registered\" node=%q", k.h.cfg.Name)
		return k.addLabels(ctx, existing)
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	node := k.newNode()
	created, err := nodes.Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsForbidden(err) {
		// An API server without OpenShift's patch refuses the role labels of a
		// kubelet, so the Node comes first and Config.Labeler adds them.
		k.h.log.Info("API server refused node-role labels at registration", "error", err)
		for l := range k.labels {
			delete(node.Labels, l)
		}
		created, err = nodes.Create(ctx, node, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	k.keep(created)
	k.log.infof("kubelet_node_status.go:78", "\"Successfully registered node\" node=%q", k.h.cfg.Name)
	k.h.log.Info("registered")
	return k.addLabels(ctx, created)
}

// newNode is the Node as a kubelet creates it
// (k8s.io/kubernetes:pkg/kubelet/kubelet_node_status.go initialNode).
func (k *kubelet) newNode() *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: k.h.cfg.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", osLabel: osID,
	}
	maps.Copy(labels, k.labels)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.h.cfg.Name, Labels: labels,
			Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Status: k.status(nil),
	}
	if k.h.cfg.Role != "worker" {
		node.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/" + k.h.cfg.Role, Effect: corev1.TaintEffectNoSchedule}}
	}
	return node
}

// addLabels asks the lab for role labels that the API server did not take from
// the kubelet.
func (k *kubelet) addLabels(ctx context.Context, node *corev1.Node) error {
	missing := map[string]string{}
	for l, v := range k.labels {
		if have, ok := node.Labels[l]; !ok || have != v {
			missing[l] = v
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case k.h.cfg.Labeler == nil:
		k.h.log.Warn("node-role labels are missing and there is no Labeler", "labels", missing)
		return nil
	}
	return k.h.cfg.Labeler(ctx, k.h.cfg.Name, missing)
}

func (k *kubelet) keep(n *corev1.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.node = n
}

func (k *kubelet) lastNode() *corev1.Node {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.node
}

// status computes the status of now.
func (k *kubelet) status(prev []corev1.NodeCondition) corev1.NodeStatus {
	s := k.h.snapshot()
	k.mu.Lock()
	ready := !k.networkA.IsZero() && !k.h.now().Before(k.networkA)
	k.mu.Unlock()
	ready = ready && (k.h.cfg.NetworkReady == nil || k.h.cfg.NetworkReady())
	return nodeStatus(nodeFacts{
		name: k.h.cfg.Name, address: k.h.cfg.Address, port: s.KubeletPort, version: k.h.cfg.KubeletVersion,
		state: s, networkReady: ready, now: k.h.now(),
	}, prev)
}

// reportStatus posts the status at once, when the network plugin turns ready,
// and then as often as a kubelet does: looked at each Status interval, posted
// on a change or after Report.
func (k *kubelet) reportStatus(ctx context.Context) {
	k.mu.Lock()
	network := k.h.pace.Network
	if k.resumed {
		network = 0 // the plugin runs already
	}
	k.networkA = k.h.now().Add(network)
	k.mu.Unlock()
	k.tryStatus(ctx)
	if !k.h.sleep(ctx, network) {
		return
	}
	k.h.every(ctx, k.h.pace.Status, func() { k.tryStatus(ctx) })
}

func (k *kubelet) tryStatus(ctx context.Context) {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := k.client.CoreV1().Nodes().Get(ctx, k.h.cfg.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		next := k.status(node.Status.Conditions)
		if sameStatus(node.Status, next) && k.h.now().Sub(lastHeartbeat(node)) < k.h.pace.Report {
			k.keep(node)
			return nil
		}
		next.Images, next.VolumesAttached, next.VolumesInUse = node.Status.Images, node.Status.VolumesAttached, node.Status.VolumesInUse
		node.Status = next
		updated, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		if err == nil {
			k.keep(updated)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		k.log.errorf("kubelet_node_status.go:486", "\"Error updating node status, will retry\" err=%q", err.Error())
	}
}

func lastHeartbeat(n *corev1.Node) time.Time {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.LastHeartbeatTime.Time
		}
	}
	return time.Time{}
}

// renewLease keeps the node's Lease in kube-node-lease.
func (k *kubelet) renewLease(ctx context.Context) {
	k.h.every(ctx, k.h.pace.Lease, func() {
		if err := k.tryLease(ctx); err != nil && ctx.Err() == nil {
			k.log.errorf("controller.go:195", "\"Failed to update lease\" err=%q", err.Error())
		}
	})
}

func (k *kubelet) tryLease(ctx context.Context) error {
	leases := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NewMicroTime(k.h.now())
	lease, err := leases.Get(ctx, k.h.cfg.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		// A Lease is owned by the Node of now: where somebody has deleted the Node, none
		// is made (k8s.io/component-helpers:apimachinery/lease/controller.go ensureLease).
		node, err := k.client.CoreV1().Nodes().Get(ctx, k.h.cfg.Name, metav1.GetOptions{})
		if err != nil {
			k.log.errorf("util.go:30", "\"Failed to get node when trying to set owner ref to the node lease\" err=%q node=%q", err.Error(), k.h.cfg.Name)
			return nil
		}
		holder, seconds := k.h.cfg.Name, int32(40)
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: k.h.cfg.Name, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: k.h.cfg.Name, UID: node.UID,
			}}},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
