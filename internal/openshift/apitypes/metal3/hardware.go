package metal3

import "github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

// HardwareData is the copy of an inspection's result that survives its host's status
// (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/hardwaredata_types.go).
type HardwareData struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              HardwareDataSpec `json:"spec,omitempty"`
}

// HardwareDataSpec is an inspection's result.
type HardwareDataSpec struct {
	HardwareDetails *HardwareDetails `json:"hardware,omitempty"`
}

// HardwareDetails is what an inspection found.
type HardwareDetails struct {
	SystemVendor HardwareSystemVendor `json:"systemVendor,omitempty"`
	Firmware     Firmware             `json:"firmware,omitempty"`
	RAMMebibytes int                  `json:"ramMebibytes,omitempty"`
	NIC          []NIC                `json:"nics,omitempty"`
	Storage      []Storage            `json:"storage,omitempty"`
	CPU          CPU                  `json:"cpu,omitempty"`
	Hostname     string               `json:"hostname,omitempty"`
}

// HardwareSystemVendor is who made the machine.
type HardwareSystemVendor struct {
	Manufacturer string `json:"manufacturer,omitempty"`
	ProductName  string `json:"productName,omitempty"`
	SerialNumber string `json:"serialNumber,omitempty"`
}

// Firmware is the machine's firmware.
type Firmware struct {
	BIOS BIOS `json:"bios,omitempty"`
}

// BIOS is the version of a firmware.
type BIOS struct {
	Vendor  string `json:"vendor,omitempty"`
	Version string `json:"version,omitempty"`
}

// NIC is one address of a network card.
type NIC struct {
	Name  string `json:"name,omitempty"`
	Model string `json:"model,omitempty"`
	MAC   string `json:"mac,omitempty"`
	IP    string `json:"ip,omitempty"`
	PXE   bool   `json:"pxe,omitempty"`
}

// CPU is the machine's processors.
type CPU struct {
	Arch  string `json:"arch,omitempty"`
	Model string `json:"model,omitempty"`
	Count int    `json:"count,omitempty"`
}

// Capacity is a number of bytes.
type Capacity int64

// Storage is one disk.
type Storage struct {
	Name               string   `json:"name,omitempty"`
	AlternateNames     []string `json:"alternateNames,omitempty"`
	Rotational         bool     `json:"rotational,omitempty"`
	SizeBytes          Capacity `json:"sizeBytes,omitempty"`
	Vendor             string   `json:"vendor,omitempty"`
	Model              string   `json:"model,omitempty"`
	SerialNumber       string   `json:"serialNumber,omitempty"`
	WWN                string   `json:"wwn,omitempty"`
	WWNVendorExtension string   `json:"wwnVendorExtension,omitempty"`
	WWNWithExtension   string   `json:"wwnWithExtension,omitempty"`
	HCTL               string   `json:"hctl,omitempty"`
}
