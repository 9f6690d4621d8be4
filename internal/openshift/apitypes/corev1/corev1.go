// Package corev1 has of k8s.io/api/core/v1 what the facts read, with the names and tags
// of the originals (kubernetes/api:core/v1/types.go). The original's codecs and
// documentation of every kind are a tenth of the program.
package corev1

import "github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

// ConditionStatus is whether a condition holds.
type ConditionStatus string

// The values of ConditionStatus.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)

// NamespaceNodeLease has the leases that kubelets renew.
const NamespaceNodeLease = "kube-node-lease"

// ObjectReference refers to an object.
type ObjectReference struct {
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	UID        string `json:"uid,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// SecretReference refers to a Secret.
type SecretReference struct {
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Node is a Node of v1.
type Node struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NodeSpec   `json:"spec,omitempty"`
	Status            NodeStatus `json:"status,omitempty"`
}

// NodeSpec is what is wanted of a Node.
type NodeSpec struct {
	ProviderID    string  `json:"providerID,omitempty"`
	Unschedulable bool    `json:"unschedulable,omitempty"`
	Taints        []Taint `json:"taints,omitempty"`
}

// Taint keeps pods away from a Node.
type Taint struct {
	Key       string       `json:"key"`
	Value     string       `json:"value,omitempty"`
	Effect    TaintEffect  `json:"effect"`
	TimeAdded *metav1.Time `json:"timeAdded,omitempty"`
}

// TaintEffect is what a taint does.
type TaintEffect string

// TaintNodeUnschedulable is the taint of a cordoned Node.
const TaintNodeUnschedulable = "node.kubernetes.io/unschedulable"

// NodeStatus is what a kubelet reports.
type NodeStatus struct {
	Conditions      []NodeCondition     `json:"conditions,omitempty"`
	Addresses       []NodeAddress       `json:"addresses,omitempty"`
	DaemonEndpoints NodeDaemonEndpoints `json:"daemonEndpoints,omitempty"`
	NodeInfo        NodeSystemInfo      `json:"nodeInfo,omitempty"`
}

// NodeCondition is one condition of a Node.
type NodeCondition struct {
	Type               NodeConditionType `json:"type"`
	Status             ConditionStatus   `json:"status"`
	LastHeartbeatTime  metav1.Time       `json:"lastHeartbeatTime,omitempty"`
	LastTransitionTime metav1.Time       `json:"lastTransitionTime,omitempty"`
	Reason             string            `json:"reason,omitempty"`
	Message            string            `json:"message,omitempty"`
}

// NodeConditionType is the type of a condition of a Node.
type NodeConditionType string

// NodeReady is the condition of a Node that can run pods.
const NodeReady NodeConditionType = "Ready"

// NodeAddress is an address or a name of a Node.
type NodeAddress struct {
	Type    NodeAddressType `json:"type"`
	Address string          `json:"address"`
}

// NodeAddressType is what an address is.
type NodeAddressType string

// The types of addresses.
const (
	NodeHostName    NodeAddressType = "Hostname"
	NodeInternalIP  NodeAddressType = "InternalIP"
	NodeExternalIP  NodeAddressType = "ExternalIP"
	NodeInternalDNS NodeAddressType = "InternalDNS"
	NodeExternalDNS NodeAddressType = "ExternalDNS"
)

// NodeDaemonEndpoints are the ports of a Node's daemons.
type NodeDaemonEndpoints struct {
	KubeletEndpoint DaemonEndpoint `json:"kubeletEndpoint,omitempty"`
}

// DaemonEndpoint is the port of a daemon.
type DaemonEndpoint struct {
	Port int32 `json:"Port"`
}

// NodeSystemInfo is what a Node's machine and system are.
type NodeSystemInfo struct {
	MachineID      string `json:"machineID"`
	SystemUUID     string `json:"systemUUID"`
	BootID         string `json:"bootID"`
	OSImage        string `json:"osImage"`
	KubeletVersion string `json:"kubeletVersion"`
}

// Pod is a Pod of v1.
type Pod struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PodSpec   `json:"spec,omitempty"`
	Status            PodStatus `json:"status,omitempty"`
}

// PodSpec is what is wanted of a Pod.
type PodSpec struct {
	NodeName    string `json:"nodeName,omitempty"`
	HostNetwork bool   `json:"hostNetwork,omitempty"`
}

// PodStatus is what became of a Pod.
type PodStatus struct {
	Phase                 PodPhase          `json:"phase,omitempty"`
	Conditions            []PodCondition    `json:"conditions,omitempty"`
	Message               string            `json:"message,omitempty"`
	Reason                string            `json:"reason,omitempty"`
	StartTime             *metav1.Time      `json:"startTime,omitempty"`
	InitContainerStatuses []ContainerStatus `json:"initContainerStatuses,omitempty"`
	ContainerStatuses     []ContainerStatus `json:"containerStatuses,omitempty"`
}

// PodPhase is how far a Pod is.
type PodPhase string

// Phases of pods.
const (
	PodPending PodPhase = "Pending"
	PodRunning PodPhase = "Running"
)

// PodCondition is one condition of a Pod.
type PodCondition struct {
	Type               PodConditionType `json:"type"`
	Status             ConditionStatus  `json:"status"`
	LastTransitionTime metav1.Time      `json:"lastTransitionTime,omitempty"`
	Reason             string           `json:"reason,omitempty"`
	Message            string           `json:"message,omitempty"`
}

// PodConditionType is the type of a condition of a Pod.
type PodConditionType string

// Conditions of pods.
const (
	PodScheduled PodConditionType = "PodScheduled"
	PodReady     PodConditionType = "Ready"
)

// ContainerStatus is what became of a container.
type ContainerStatus struct {
	Name                 string         `json:"name"`
	State                ContainerState `json:"state,omitempty"`
	LastTerminationState ContainerState `json:"lastState,omitempty"`
	Ready                bool           `json:"ready"`
	RestartCount         int32          `json:"restartCount"`
	Image                string         `json:"image"`
	Started              *bool          `json:"started,omitempty"`
}

// ContainerState is one of its fields.
type ContainerState struct {
	Waiting    *ContainerStateWaiting    `json:"waiting,omitempty"`
	Running    *ContainerStateRunning    `json:"running,omitempty"`
	Terminated *ContainerStateTerminated `json:"terminated,omitempty"`
}

// ContainerStateWaiting is why a container does not run yet.
type ContainerStateWaiting struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// ContainerStateRunning is since when a container runs.
type ContainerStateRunning struct {
	StartedAt metav1.Time `json:"startedAt,omitempty"`
}

// ContainerStateTerminated is how a container exited.
type ContainerStateTerminated struct {
	ExitCode   int32       `json:"exitCode"`
	Reason     string      `json:"reason,omitempty"`
	Message    string      `json:"message,omitempty"`
	StartedAt  metav1.Time `json:"startedAt,omitempty"`
	FinishedAt metav1.Time `json:"finishedAt,omitempty"`
}
