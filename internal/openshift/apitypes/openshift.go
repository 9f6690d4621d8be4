// Package apitypes has of the API's types what the facts read of them, with the names and
// tags of the originals: the packages of those register kinds and carry the
// documentation and the codecs of every field, most of them of kinds that nothing here
// reads. A test holds each field against its original.
package apitypes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// Machine is a Machine of machine.openshift.io/v1beta1
// (openshift/api:machine/v1beta1/types_machine.go).
type Machine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineSpec   `json:"spec,omitempty"`
	Status            MachineStatus `json:"status,omitempty"`
}

// MachineSpec is what is wanted of a Machine.
type MachineSpec struct {
	ProviderSpec ProviderSpec `json:"providerSpec"`
	ProviderID   *string      `json:"providerID,omitempty"`
}

// ProviderSpec is what the platform is asked for; its content is the platform's.
type ProviderSpec struct {
	Value any `json:"value,omitempty"`
}

// Kind is the kind of the content, "" where it has none.
func (s ProviderSpec) Kind() string {
	content, _ := s.Value.(map[string]any)
	kind, _ := content["kind"].(string)
	return kind
}

// MachineStatus is what became of a Machine.
type MachineStatus struct {
	NodeRef      *corev1.ObjectReference `json:"nodeRef,omitempty"`
	ErrorMessage *string                 `json:"errorMessage,omitempty"`
	Addresses    []corev1.NodeAddress    `json:"addresses,omitempty"`
	Phase        *string                 `json:"phase,omitempty"`
}

// MachineSet is a MachineSet of machine.openshift.io/v1beta1
// (openshift/api:machine/v1beta1/types_machineset.go).
type MachineSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineSetSpec `json:"spec,omitempty"`
}

// MachineSetSpec is how many Machines are wanted, and which.
type MachineSetSpec struct {
	Replicas *int32               `json:"replicas,omitempty"` // nil: one
	Selector metav1.LabelSelector `json:"selector"`
	Template MachineTemplateSpec  `json:"template,omitempty"`
}

// MachineTemplateSpec is what the Machines of a set are made from.
type MachineTemplateSpec struct {
	ObjectMeta `json:"metadata,omitempty"`
}

// ObjectMeta is the metadata of what is no object yet.
type ObjectMeta struct {
	Labels map[string]string `json:"labels,omitempty"`
}

// MachineConfigPool is a MachineConfigPool of machineconfiguration.openshift.io/v1
// (openshift/api:machineconfiguration/v1/types.go).
type MachineConfigPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineConfigPoolSpec   `json:"spec"`
	Status            MachineConfigPoolStatus `json:"status"`
}

// MachineConfigPoolSpec is what is wanted of a pool.
type MachineConfigPoolSpec struct {
	Paused         bool                                 `json:"paused"`
	MaxUnavailable *IntOrString                         `json:"maxUnavailable,omitempty"`
	NodeSelector   *metav1.LabelSelector                `json:"nodeSelector,omitempty"`
	Configuration  MachineConfigPoolStatusConfiguration `json:"configuration"`
}

// MachineConfigPoolStatus is what a pool reached.
type MachineConfigPoolStatus struct {
	ObservedGeneration      int64                                `json:"observedGeneration,omitempty"`
	Configuration           MachineConfigPoolStatusConfiguration `json:"configuration"`
	MachineCount            int32                                `json:"machineCount"`
	UpdatedMachineCount     int32                                `json:"updatedMachineCount"`
	ReadyMachineCount       int32                                `json:"readyMachineCount"`
	UnavailableMachineCount int32                                `json:"unavailableMachineCount"`
	DegradedMachineCount    int32                                `json:"degradedMachineCount"`
	Conditions              []MachineConfigPoolCondition         `json:"conditions"`
}

// MachineConfigPoolStatusConfiguration is a rendered config and what it was made from.
type MachineConfigPoolStatusConfiguration struct {
	corev1.ObjectReference `json:",inline"`
	Source                 []corev1.ObjectReference `json:"source,omitempty"`
}

// MachineConfigPoolCondition is one condition of a pool.
type MachineConfigPoolCondition struct {
	Type               MachineConfigPoolConditionType `json:"type"`
	Status             corev1.ConditionStatus         `json:"status,omitempty"`
	LastTransitionTime metav1.Time                    `json:"lastTransitionTime"`
	Reason             string                         `json:"reason"`
	Message            string                         `json:"message"`
}

// MachineConfigPoolConditionType is the type of a condition of a pool.
type MachineConfigPoolConditionType string

// Conditions of a pool.
const (
	MachineConfigPoolUpdated        MachineConfigPoolConditionType = "Updated"
	MachineConfigPoolUpdating       MachineConfigPoolConditionType = "Updating"
	MachineConfigPoolNodeDegraded   MachineConfigPoolConditionType = "NodeDegraded"
	MachineConfigPoolRenderDegraded MachineConfigPoolConditionType = "RenderDegraded"
)

// IntOrString is a number or a share of all, such as "20%"
// (kubernetes/apimachinery:pkg/util/intstr/intstr.go).
type IntOrString struct {
	Int  int64
	Text string // "" for a number
}

// fromContent implements apitypes.fromContent.
func (i *IntOrString) FromContent(v any) error {
	if text, ok := v.(string); ok {
		*i = IntOrString{Text: text}
		return nil
	}
	n, ok := whole(v)
	if !ok {
		return fmt.Errorf("%T instead of a number or a share", v)
	}
	*i = IntOrString{Int: n}
	return nil
}

// Of returns the number, or the share of all, rounded down. A text that is no share is an
// error.
func (i IntOrString) Of(all int64) (int64, error) {
	if i.Text == "" {
		return i.Int, nil
	}
	number, ok := strings.CutSuffix(i.Text, "%")
	share, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is no share in percent", i.Text)
	}
	return share * all / 100, nil
}
