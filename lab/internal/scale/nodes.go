package scale

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// makeNode creates the Node with what the kubelet, the machine-config-daemon and
// the network plugin write on it.
func (c *Cluster) makeNode(ctx context.Context, w worker, m *model) error {
	nodes := c.core.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, c.node(w, m.host.GetUID()), metav1.CreateOptions{}); err != nil {
		return err
	}
	// The controller manager writes its taints at the same time.
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status = c.nodeStatus(w)
		m.node, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

func (c *Cluster) makeLease(ctx context.Context, w worker, m *model) (err error) {
	m.lease, err = c.core.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(ctx, c.lease(w, m.node.UID), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	kept := m.lease.DeepCopy()
	kept.SetResourceVersion("") // the store's revision
	c.hold(w, kept)
	return nil
}

// lease is the kubelet's; one that is gone has not renewed it for as long.
func (c *Cluster) lease(w worker, node types.UID) *coordinationv1.Lease {
	holder, seconds, now := w.name, int32(40), metav1.NowMicro()
	if w.fate == silent {
		now = metav1.NewMicroTime(c.began)
	}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: w.name, UID: node}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}

func (c *Cluster) node(w worker, host types.UID) *corev1.Node {
	const mco = "machineconfiguration.openshift.io/"
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.name,
			Labels: map[string]string{
				corev1.LabelHostname: w.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64",
				"node.openshift.io/os_id": "rhel", "node-role.kubernetes.io/worker": "",
			},
			Annotations: map[string]string{
				"k8s.ovn.org/host-cidrs": `["` + w.address + `/24"]`,
				"k8s.ovn.org/l3-gateway-config": `{"default":{"mode":"shared","bridge-id":"br-ex","interface-id":"br-ex_` +
					w.name + `","mac-address":"` + w.mac + `","ip-addresses":["` + w.address +
					`/24"],"next-hops":["192.0.2.1"],"node-port-enable":"true","vlan-id":"0"}}`,
				"k8s.ovn.org/node-chassis-id":  id("chassis", w.name),
				"k8s.ovn.org/node-subnets":     fmt.Sprintf(`{"default":["10.%d.%d.0/23"]}`, 128+w.i/128, w.i%128*2),
				"k8s.ovn.org/zone-name":        w.name,
				"machine.openshift.io/machine": machineAPI + "/" + w.machine,
				mco + "controlPlaneTopology":   "HighlyAvailable",
				mco + "currentConfig":          c.spec.Render,
				mco + "desiredConfig":          c.spec.Render,
				mco + "desiredDrain":           "uncordon-" + c.spec.Render,
				mco + "lastAppliedDrain":       "uncordon-" + c.spec.Render,
				mco + "reason":                 "",
				mco + "state":                  "Done",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
				mco + "lastObservedServerCAAnnotation":                   "false",
				mco + "lastSyncedControllerConfigResourceVersion":        "4100",
				"nfd.node.kubernetes.io/feature-labels":                  strings.Join(cpuFlags[:40], ","),
			},
		},
		Spec: corev1.NodeSpec{ProviderID: providerID(w, host), PodCIDR: ""},
	}
}

func (c *Cluster) nodeStatus(w worker) corev1.NodeStatus {
	began, now := metav1.NewTime(c.began), metav1.Now()
	have := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("80"), corev1.ResourceMemory: resource.MustParse("394678244Ki"),
		corev1.ResourceEphemeralStorage: resource.MustParse("937140204Ki"), corev1.ResourcePods: resource.MustParse("250"),
		"hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
	}
	cond := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: began}
	}
	s := corev1.NodeStatus{
		Capacity: have, Allocatable: have,
		Conditions: []corev1.NodeCondition{
			cond(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
			cond(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
			cond(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
			cond(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
		},
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: w.address}, {Type: corev1.NodeHostName, Address: w.name}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(c.spec.Port)}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: strings.ReplaceAll(id("machine", w.name), "-", ""), SystemUUID: w.uid, BootID: id("boot", w.name),
			KernelVersion: "5.14.0-570.49.1.el9_6.x86_64", OSImage: "Red Hat Enterprise Linux CoreOS 9.6.20250925-0 (Plow)",
			ContainerRuntimeVersion: "cri-o://1.33.4-4.rhaos4.20.gitd2ec5a3.el9", KubeletVersion: c.spec.Version, OperatingSystem: "linux",
			Architecture: "amd64",
		},
	}
	if w.fate == silent {
		// What the node lifecycle controller makes of it after 50 seconds
		// (k8s.io/kubernetes:pkg/controller/nodelifecycle/node_lifecycle_controller.go tryUpdateNodeHealth).
		for i := range s.Conditions {
			cond := &s.Conditions[i]
			cond.Status, cond.Reason, cond.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
			cond.LastHeartbeatTime, cond.LastTransitionTime = metav1.NewTime(c.began.Add(-time.Minute)), began
		}
	}
	// A kubelet reports up to 50 images (kubernetes/kubernetes:pkg/kubelet/apis/config nodeStatusMaxImages).
	for i := range 50 {
		image := c.spec.Image(fmt.Sprintf("payload-%d", i))
		s.Images = append(s.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: int64(300_000_000 + i*7_654_321)})
	}
	return s
}

// hold makes a worker's lease one that is kept.
func (c *Cluster) hold(w worker, lease *coordinationv1.Lease) {
	if w.fate != joined {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leases[w.name] = lease
}

// keep renews the leases until ctx ends.
func (c *Cluster) keep(ctx context.Context) {
	tick := time.NewTicker(renewEvery / 20)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.spec.Store.Put(ctx, c.renewed(time.Now())); err != nil && ctx.Err() == nil {
			c.spec.Logger.Warn("renew leases", "err", err)
		}
	}
}

// renewed are the leases whose time has come.
func (c *Cluster) renewed(at time.Time) map[string][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	values := map[string][]byte{}
	for _, l := range c.leases {
		if at.Sub(l.Spec.RenewTime.Time) < renewEvery {
			continue
		}
		now := metav1.NewMicroTime(at)
		l.Spec.RenewTime = &now
		value, err := stored(l, coordinationv1.SchemeGroupVersion.WithKind("Lease"))
		if err != nil {
			c.spec.Logger.Warn("renew a lease", "node", l.Name, "err", err)
			continue
		}
		values[leaseKey(l.Name)] = value
	}
	return values
}
