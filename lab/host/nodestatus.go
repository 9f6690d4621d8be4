package host

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Texts of the kubelet's Ready condition
// (k8s.io/kubernetes:pkg/kubelet/nodestatus/setters.go ReadyCondition; the
// network message is CRI-O's, cri-o/ocicni).
const (
	networkNotReady = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
		"message:Network plugin returns error: no CNI configuration file in /etc/kubernetes/cni/net.d/. Has your network provider started?"
	kubeletReady = "kubelet is posting ready status"
)

// nodeFacts is what a status is computed from.
type nodeFacts struct {
	name, address string
	port          int
	version       string
	state         State
	networkReady  bool
	now           time.Time
}

// nodeStatus computes the status that a kubelet posts; prev gives the
// transition times of conditions that did not change.
func nodeStatus(f nodeFacts, prev []corev1.NodeCondition) corev1.NodeStatus {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("8"),
		corev1.ResourceMemory:           resource.MustParse("32Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("120Gi"),
		corev1.ResourcePods:             resource.MustParse("250"),
	}
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: networkNotReady}
	if f.networkReady {
		ready.Status, ready.Reason, ready.Message = corev1.ConditionTrue, "KubeletReady", kubeletReady
	}
	conditions := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory",
			Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		ready,
	}
	for i := range conditions {
		c := &conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = metav1.NewTime(f.now), metav1.NewTime(f.now)
		for _, p := range prev {
			if p.Type == c.Type && p.Status == c.Status {
				c.LastTransitionTime = p.LastTransitionTime
			}
		}
	}
	return corev1.NodeStatus{
		Capacity:    resources,
		Allocatable: resources,
		Conditions:  conditions,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: f.address},
			{Type: corev1.NodeHostName, Address: f.name},
		},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(f.port)}},
		NodeInfo: corev1.NodeSystemInfo{
			MachineID: f.state.MachineID, SystemUUID: f.state.SystemUUID, BootID: f.state.BootID,
			KernelVersion: kernelVersion, OSImage: "Red Hat Enterprise Linux CoreOS (simulated by the lab)",
			ContainerRuntimeVersion: "cri-o://" + criVersion(f.version), KubeletVersion: f.version,
			OperatingSystem: "linux", Architecture: "amd64",
		},
	}
}

// criVersion is the CRI-O release that goes with a kubelet: same minor version.
func criVersion(kubelet string) string {
	if len(kubelet) > 1 && kubelet[0] == 'v' {
		return kubelet[1:]
	}
	return kubelet
}

// sameStatus says whether two statuses differ in nothing but heartbeats.
func sameStatus(a, b corev1.NodeStatus) bool {
	if a.NodeInfo != b.NodeInfo && !sameNodeInfo(a.NodeInfo, b.NodeInfo) || a.DaemonEndpoints != b.DaemonEndpoints {
		return false
	}
	find := func(cs []corev1.NodeCondition, t corev1.NodeConditionType) corev1.NodeCondition {
		for _, c := range cs {
			if c.Type == t {
				return c
			}
		}
		return corev1.NodeCondition{}
	}
	for _, c := range b.Conditions {
		p := find(a.Conditions, c.Type)
		if p.Status != c.Status || p.Reason != c.Reason || p.Message != c.Message {
			return false
		}
	}
	return len(a.Addresses) == len(b.Addresses)
}

func sameNodeInfo(a, b corev1.NodeSystemInfo) bool {
	return a.BootID == b.BootID && a.KubeletVersion == b.KubeletVersion && a.SystemUUID == b.SystemUUID
}
