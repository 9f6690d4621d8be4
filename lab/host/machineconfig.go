package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Paths and keys of openshift/machine-config-operator:pkg/daemon/constants/constants.go
// and pkg/daemon/daemon.go.
const (
	encapsulatedPath    = "/etc/ignition-machine-config-encapsulated.json"
	encapsulatedBakPath = "/etc/ignition-machine-config-encapsulated.json.bak"
	nodeAnnotationsPath = "/etc/machine-config-daemon/node-annotations.json"
	nodeAnnotationsBak  = "/etc/machine-config-daemon/node-annotation.json.bak" // singular, as there
	currentConfigPath   = "/etc/machine-config-daemon/currentconfig"
	currentImagePath    = "/etc/machine-config-daemon/currentimage"
	bootstrapDiffPath   = "/etc/machine-config-daemon/bootstrapconfigdiff"
	forceFilePath       = "/run/machine-config-daemon-force"
	kubeletCAPath       = "/etc/kubernetes/kubelet-ca.crt"

	annoPrefix        = "machineconfiguration.openshift.io/"
	annoCurrentConfig = annoPrefix + "currentConfig"
	annoDesiredConfig = annoPrefix + "desiredConfig"
	annoState         = annoPrefix + "state"
	annoReason        = annoPrefix + "reason"
	annoDesiredDrain  = annoPrefix + "desiredDrain"
	annoAppliedDrain  = annoPrefix + "lastAppliedDrain"
	annoTopology      = annoPrefix + "controlPlaneTopology"
	// What of the ControllerConfig the daemon has written.
	annoControllerConfig = annoPrefix + "lastSyncedControllerConfigResourceVersion"
	annoPostAction       = annoPrefix + "post-config-action"
	stateDone            = "Done"
	stateWorking         = "Working"
	stateDegraded        = "Degraded"
	stateUnreconciled    = "Unreconcilable"
	stateRebooting       = "Rebooting"
	labelMaster          = "node-role.kubernetes.io/master"
	labelControlPlane    = "node-role.kubernetes.io/control-plane"
	labelWorker          = "node-role.kubernetes.io/worker"
	labelArbiter         = "node-role.kubernetes.io/arbiter"
	machineConfigGroup   = "machineconfiguration.openshift.io"
)

// machineConfig is a MachineConfig as the API, currentconfig and the
// encapsulated file spell it (openshift/api:machineconfiguration/v1/types.go).
type machineConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              machineConfigSpec `json:"spec"`
}

type machineConfigSpec struct {
	OSImageURL                     string          `json:"osImageURL,omitempty"`
	BaseOSExtensionsContainerImage string          `json:"baseOSExtensionsContainerImage,omitempty"`
	Config                         json.RawMessage `json:"config,omitempty"`
	KernelArguments                []string        `json:"kernelArguments,omitempty"`
	Extensions                     []string        `json:"extensions,omitempty"`
	FIPS                           bool            `json:"fips,omitempty"`
	KernelType                     string          `json:"kernelType,omitempty"`
}

// ignition parses the config's Ignition part; none at all is an empty one.
func (mc *machineConfig) ignition() (ignConfig, error) {
	if len(bytes.TrimSpace(mc.Spec.Config)) == 0 {
		return ignConfig{}, nil
	}
	return parseIgnition(mc.Spec.Config)
}

// emptyMachineConfig is what a first boot compares with
// (pkg/daemon/update.go canonicalizeEmptyMC).
func emptyMachineConfig() *machineConfig {
	return &machineConfig{ObjectMeta: metav1.ObjectMeta{Name: "mco-empty-mc"}}
}

// configDiff says in which parts two configs differ; field names and order are
// those that the daemon prints (pkg/daemon/update.go machineConfigDiff).
type configDiff struct {
	osUpdate      bool
	kargs         bool
	fips          bool
	passwd        bool
	files         bool
	units         bool
	kernelType    bool
	extensions    bool
	oclEnabled    bool //lint:ignore U1000 it is printed
	revertFromOCL bool //lint:ignore U1000 it is printed
}

// diffConfigs compares the parts that the daemon compares. On-cluster layering
// is not simulated, so its two fields stay false.
func diffConfigs(oldMC, newMC *machineConfig, force bool) (*configDiff, error) {
	oldIgn, err := oldMC.ignition()
	if err != nil {
		return nil, fmt.Errorf("parsing old Ignition config failed with error: %w", err)
	}
	newIgn, err := newMC.ignition()
	if err != nil {
		return nil, fmt.Errorf("parsing new Ignition config failed with error: %w", err)
	}
	kernelType := func(s string) string {
		if s == "" {
			return "default"
		}
		return s
	}
	return &configDiff{
		osUpdate:   oldMC.Spec.OSImageURL != newMC.Spec.OSImageURL || force,
		kargs:      !slices.Equal(oldMC.Spec.KernelArguments, newMC.Spec.KernelArguments),
		fips:       oldMC.Spec.FIPS != newMC.Spec.FIPS,
		passwd:     !sameJSON(oldIgn.Passwd, newIgn.Passwd),
		files:      !reflect.DeepEqual(oldIgn.Storage.Files, newIgn.Storage.Files),
		units:      !reflect.DeepEqual(oldIgn.Systemd.Units, newIgn.Systemd.Units),
		kernelType: kernelType(oldMC.Spec.KernelType) != kernelType(newMC.Spec.KernelType),
		extensions: !slices.Equal(oldMC.Spec.Extensions, newMC.Spec.Extensions),
	}, nil
}

func (d configDiff) empty() bool { return d == configDiff{} }

// needsReboot is the rule without node disruption policies: everything but
// files and SSH keys reboots (pkg/daemon/update.go calculatePostConfigChangeAction).
func (d configDiff) needsReboot() bool {
	return d.osUpdate || d.kargs || d.fips || d.units || d.kernelType || d.extensions
}

// sameJSON compares two documents by meaning; absent, null and {} are equal.
func sameJSON(a, b json.RawMessage) bool {
	norm := func(raw json.RawMessage) any {
		var v any
		if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
			return map[string]any{}
		}
		return v
	}
	return reflect.DeepEqual(norm(a), norm(b))
}

// splitKernelArguments splits entries that hold several arguments
// (pkg/daemon/update.go parseKernelArguments).
func splitKernelArguments(kargs []string) []string {
	var out []string
	for _, k := range kargs {
		out = append(out, strings.Fields(k)...)
	}
	return out
}
