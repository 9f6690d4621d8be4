// Package metal3 has of the API metal3.io/v1alpha1 what the facts read, with the names
// and tags of the originals
// (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go).
package metal3

import (
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// Annotations of a BareMetalHost.
const (
	PausedAnnotation       = "baremetalhost.metal3.io/paused"
	DetachedAnnotation     = "baremetalhost.metal3.io/detached"
	RebootAnnotationPrefix = "reboot.metal3.io"
	InspectAnnotation      = "inspect.metal3.io"
)

// BareMetalHost is a machine that the operator manages.
type BareMetalHost struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BareMetalHostSpec   `json:"spec,omitempty"`
	Status            BareMetalHostStatus `json:"status,omitempty"`
}

// BareMetalHostSpec is what is wanted of a host.
type BareMetalHostSpec struct {
	BMC                   BMCDetails              `json:"bmc,omitempty"`
	RootDeviceHints       *RootDeviceHints        `json:"rootDeviceHints,omitempty"`
	BootMACAddress        string                  `json:"bootMACAddress,omitempty"`
	Online                bool                    `json:"online"`
	ConsumerRef           *corev1.ObjectReference `json:"consumerRef,omitempty"`
	Image                 *Image                  `json:"image,omitempty"`
	UserData              *corev1.SecretReference `json:"userData,omitempty"`
	BootMode              BootMode                `json:"bootMode,omitempty"`
	InspectionMode        InspectionMode          `json:"inspectionMode,omitempty"`
	Architecture          string                  `json:"architecture,omitempty"`
	ExternallyProvisioned bool                    `json:"externallyProvisioned,omitempty"`
	CustomDeploy          *CustomDeploy           `json:"customDeploy,omitempty"`
}

// InspectionMode is whether a host is inspected.
type InspectionMode string

// InspectionModeDisabled is a host that is not inspected.
const InspectionModeDisabled InspectionMode = "disabled"

// InspectionDisabled reports whether the host is not inspected: by its spec, or as before
// by its annotation.
func (h *BareMetalHost) InspectionDisabled() bool {
	return h.Spec.InspectionMode == InspectionModeDisabled || h.Annotations[InspectAnnotation] == string(InspectionModeDisabled)
}

// BootMode is how a host's firmware boots.
type BootMode string

// BMCDetails is how the management controller is reached.
type BMCDetails struct {
	Address         string `json:"address"`
	CredentialsName string `json:"credentialsName"`

	DisableCertificateVerification bool `json:"disableCertificateVerification,omitempty"`
}

// Image is what is written to the host's disk.
type Image struct {
	URL string `json:"url"`
}

// CustomDeploy is another way to write the host's disk.
type CustomDeploy struct {
	Method string `json:"method"`
}

// RootDeviceHints choose the disk that is written.
type RootDeviceHints struct {
	DeviceName         string `json:"deviceName,omitempty"`
	HCTL               string `json:"hctl,omitempty"`
	Model              string `json:"model,omitempty"`
	Vendor             string `json:"vendor,omitempty"`
	SerialNumber       string `json:"serialNumber,omitempty"`
	MinSizeGigabytes   int    `json:"minSizeGigabytes,omitempty"`
	WWN                string `json:"wwn,omitempty"`
	WWNWithExtension   string `json:"wwnWithExtension,omitempty"`
	WWNVendorExtension string `json:"wwnVendorExtension,omitempty"`
	Rotational         *bool  `json:"rotational,omitempty"`
}

// BareMetalHostStatus is what became of a host.
type BareMetalHostStatus struct {
	OperationalStatus OperationalStatus `json:"operationalStatus"`
	ErrorType         ErrorType         `json:"errorType,omitempty"`
	LastUpdated       *metav1.Time      `json:"lastUpdated,omitempty"`
	HardwareDetails   *HardwareDetails  `json:"hardware,omitempty"`
	Provisioning      ProvisionStatus   `json:"provisioning"`
	GoodCredentials   CredentialsStatus `json:"goodCredentials,omitempty"`
	TriedCredentials  CredentialsStatus `json:"triedCredentials,omitempty"`
	ErrorMessage      string            `json:"errorMessage"`
	PoweredOn         bool              `json:"poweredOn"`
	OperationHistory  OperationHistory  `json:"operationHistory,omitempty"`
	ErrorCount        int               `json:"errorCount"`
}

// ProvisionStatus is how far the provisioning is.
type ProvisionStatus struct {
	State ProvisioningState `json:"state"`
	ID    string            `json:"ID"`
	Image Image             `json:"image,omitempty"`
}

// CredentialsStatus is which credentials were used.
type CredentialsStatus struct {
	Version string `json:"credentialsVersion,omitempty"`
}

// OperationHistory is when each operation was done last.
type OperationHistory struct {
	Register    OperationMetric `json:"register,omitempty"`
	Inspect     OperationMetric `json:"inspect,omitempty"`
	Provision   OperationMetric `json:"provision,omitempty"`
	Deprovision OperationMetric `json:"deprovision,omitempty"`
}

// OperationMetric is when an operation began and ended.
type OperationMetric struct {
	Start metav1.Time `json:"start,omitempty"`
	End   metav1.Time `json:"end,omitempty"`
}

// OperationalStatus is how a host is.
type OperationalStatus string

// Values of OperationalStatus.
const (
	OperationalStatusOK       OperationalStatus = "OK"
	OperationalStatusError    OperationalStatus = "error"
	OperationalStatusDetached OperationalStatus = "detached"
)

// ErrorType is what failed.
type ErrorType string

// The types of errors.
const (
	ProvisionedRegistrationError ErrorType = "provisioned registration error"
	RegistrationError            ErrorType = "registration error"
	InspectionError              ErrorType = "inspection error"
	PreparationError             ErrorType = "preparation error"
	ProvisioningError            ErrorType = "provisioning error"
	PowerManagementError         ErrorType = "power management error"
)

// ProvisioningState is what the operator does with a host.
type ProvisioningState string

// The states.
const (
	StateNone                    ProvisioningState = ""
	StateUnmanaged               ProvisioningState = "unmanaged"
	StateRegistering             ProvisioningState = "registering"
	StateMatchProfile            ProvisioningState = "match profile"
	StatePreparing               ProvisioningState = "preparing"
	StateReady                   ProvisioningState = "ready"
	StateAvailable               ProvisioningState = "available"
	StateProvisioning            ProvisioningState = "provisioning"
	StateProvisioned             ProvisioningState = "provisioned"
	StateExternallyProvisioned   ProvisioningState = "externally provisioned"
	StateDeprovisioning          ProvisioningState = "deprovisioning"
	StateInspecting              ProvisioningState = "inspecting"
	StatePoweringOffBeforeDelete ProvisioningState = "powering off before delete"
	StateDeleting                ProvisioningState = "deleting"
)
