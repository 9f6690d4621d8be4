// Package v1alpha1 stands in for the package of the same path of
// metal3-io/ironic-standalone-operator: baremetal-operator imports it for an
// integration that is off unless IRONIC_NAME is set
// (metal3-io/baremetal-operator:pkg/provisioner/ironic/factory.go), and the
// module's zip is on no module proxy. It holds what the compiler wants to see
// and is never used: OpenShift sets IRONIC_ENDPOINT and not IRONIC_NAME
// (openshift/cluster-baremetal-operator:provisioning/baremetal_pod.go).
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// IronicStatusReady names the condition that the operator looks for.
const IronicStatusReady = "Ready"

// Ironic holds the fields that the operator reads.
type Ironic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		APICredentialsName string `json:"apiCredentialsName,omitempty"`
		TLS                struct {
			CertificateName string `json:"certificateName,omitempty"`
		} `json:"tls,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// DeepCopyObject makes Ironic an object of a scheme.
func (in *Ironic) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

// AddToScheme registers Ironic.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: "ironic.metal3.io", Version: "v1alpha1"}, &Ironic{})
	return nil
}
