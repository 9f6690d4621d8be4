package apitypes

import (
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// Deployment is a Deployment of apps/v1 (kubernetes/api:apps/v1/types.go).
type Deployment struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeploymentSpec   `json:"spec,omitempty"`
	Status            DeploymentStatus `json:"status,omitempty"`
}

// DeploymentSpec is how many pods are wanted.
type DeploymentSpec struct {
	Replicas *int32 `json:"replicas,omitempty"` // nil: one
}

// DeploymentStatus is how many pods there are.
type DeploymentStatus struct {
	ObservedGeneration int64                 `json:"observedGeneration,omitempty"`
	ReadyReplicas      int32                 `json:"readyReplicas,omitempty"`
	Conditions         []DeploymentCondition `json:"conditions,omitempty"`
}

// DeploymentCondition is one condition of a Deployment.
type DeploymentCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitempty"`
}

// ReplicaSet is a ReplicaSet of apps/v1 (kubernetes/api:apps/v1/types.go).
type ReplicaSet struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ReplicaSetSpec   `json:"spec,omitempty"`
	Status            ReplicaSetStatus `json:"status,omitempty"`
}

// ReplicaSetSpec is how many pods are wanted.
type ReplicaSetSpec struct {
	Replicas *int32 `json:"replicas,omitempty"` // nil: one
}

// ReplicaSetStatus is how many pods there are.
type ReplicaSetStatus struct {
	Replicas   int32                 `json:"replicas"`
	Conditions []ReplicaSetCondition `json:"conditions,omitempty"`
}

// ReplicaSetCondition is one condition of a ReplicaSet.
type ReplicaSetCondition struct {
	Type               string                 `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitempty"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// Conditions of Deployments and ReplicaSets.
const (
	DeploymentAvailable      = "Available"
	ReplicaSetReplicaFailure = "ReplicaFailure"
)
