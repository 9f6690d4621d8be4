package host

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Phase is where a host is between power-on and running. It is the
// simulation's own word, not a stage of Rollcall.
type Phase string

// The phases of a host, in order.
const (
	PhaseIgnition  Phase = "ignition"        // in the initramfs, fetching its config
	PhaseFailed    Phase = "ignition-failed" // Ignition gave up; emergency shell until the next power-on
	PhaseFirstBoot Phase = "first-boot"      // config on disk, OS not yet pivoted
	PhaseRunning   Phase = "running"         // booted from disk; kubelet and daemon run
	PhaseRebooting Phase = "rebooting"       // between a reboot command and the kernel
)

// State is what of a machine outlives the process that simulates it.
type State struct {
	Phase      Phase     `json:"phase"`
	Since      time.Time `json:"since"`
	Reason     string    `json:"reason,omitempty"` // of PhaseFailed and PhaseRebooting
	Boots      int       `json:"boots"`            // kernels started so far
	BootID     string    `json:"bootID"`
	MachineID  string    `json:"machineID"`
	SystemUUID string    `json:"systemUUID"`
	// Registered says that the kubelet of this boot has its Node, and so runs what
	// was bound to it.
	Registered bool `json:"registered"`
	// OSImage is the booted osImageURL (rpm-ostree status on a real host) and
	// KernelArguments are those that MachineConfigs added to this boot.
	OSImage         string   `json:"osImage"`
	KernelArguments []string `json:"kernelArguments,omitempty"`
	// StagedOSImage and StagedKernelArguments take effect at the next boot.
	StagedOSImage         *string  `json:"stagedOSImage,omitempty"`
	StagedKernelArguments []string `json:"stagedKernelArguments,omitempty"`
	// KubeletPort is the port of the kubelet's endpoint, kept across boots.
	KubeletPort int `json:"kubeletPort,omitempty"`
}

// ReadState reads Dir/state.json of a host that may be running in another
// process. A host that was never powered on gives an error that is
// fs.ErrNotExist.
func ReadState(dir string) (State, error) {
	var s State
	raw, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		return s, fmt.Errorf("read state of host: %w", err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("parse %s: %w", filepath.Join(dir, "state.json"), err)
	}
	return s, nil
}

// writeState replaces Dir/state.json in one step, so that a reader never sees
// half of it and a kill leaves the old one.
func writeState(dir string, s State) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode state of host: %w", err)
	}
	tmp := filepath.Join(dir, ".state.json")
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write state of host: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, "state.json")); err != nil {
		return fmt.Errorf("replace state of host: %w", err)
	}
	return nil
}

// newUUID returns a random version 4 UUID, the form of a boot ID
// (/proc/sys/kernel/random/boot_id).
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
