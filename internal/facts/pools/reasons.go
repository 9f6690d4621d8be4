package pools

import (
	"regexp"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/pullerror"
)

// class is what a daemon's complaint is about.
type class string

// The classes of complaints, the first that fits counts.
const (
	noComplaint       class = ""
	bootstrapMismatch class = "bootstrap-mismatch" // the daemon says itself that bootstrap and cluster rendered two configs
	bootstrapNoDisk   class = "bootstrap-no-disk"  // the same, without a config on disk to compare
	annotationEdited  class = "annotation-edited"  // disk and annotation name two configs
	configMissing     class = "config-missing"     // a config that does not exist is named
	osMismatch        class = "os-mismatch"        // another OS is booted than the config says
	kargsMissing      class = "kargs-missing"
	drift             class = "drift" // a file or unit on disk differs
	osUpdate          class = "os-update"
	unreconcilable    class = "unreconcilable"
	drain             class = "drain"
	reboot            class = "reboot"
	finalize          class = "finalize" // the staged OS was lost at the reboot
	configInvalid     class = "config-invalid"
	otherComplaint    class = "other"
)

// complaints tells the reasons of degraded nodes apart
// (openshift/machine-config-operator:pkg/daemon/{daemon,update,drain,
// on_disk_validation}.go). Quotes may be escaped: logs print the error quoted.
var complaints = []struct {
	class class
	text  *regexp.Regexp
}{
	{bootstrapMismatch, regexp.MustCompile(`(?i)bootstrap generated MC \S+ (?:and in-cluster generated MC|does not match in-cluster MC)`)},
	{bootstrapNoDisk, regexp.MustCompile(`(?i)error fetching current config on disk during bootstrap`)},
	{annotationEdited, regexp.MustCompile(`(?i)current config \S+ on disk does not match current config on annotation`)},
	{configMissing, regexp.MustCompile(`(?i)missing MachineConfig \S+|machineconfigs?\.machineconfiguration\.openshift\.io \\*"[^"\\]+\\*" not found`)},
	{osMismatch, regexp.MustCompile(`(?i)expected target osImageURL`)},
	{kargsMissing, regexp.MustCompile(`(?i)missing expected kernel arguments`)},
	{drift, regexp.MustCompile(`(?i)unexpected on-disk state|content mismatch for file|mode mismatch for file|could not stat file|expected enabled=|` +
		`config drift`)},
	{finalize, regexp.MustCompile(`(?i)ostree-finalize-staged`)},
	{osUpdate, regexp.MustCompile(`(?i)failed to update OS to|failed to invoke skopeo proxy|error running rpm-ostree|failed to execute rpm-ostree|` +
		`failed to run rpm-ostree`)},
	{unreconcilable, regexp.MustCompile(`(?i)can't reconcile config|refusing to modify FIPS|not reconcilable`)},
	{drain, regexp.MustCompile(`(?i)failed to drain node|attempting to drain node`)},
	{reboot, regexp.MustCompile(`(?i)reboot command failed`)},
	{configInvalid, regexp.MustCompile(`(?i)parsing (?:new |old )?ignition config failed|failed to parse ignition config`)},
}

// classOf classifies a daemon's complaint.
func classOf(reason string) class {
	if reason == "" {
		return noComplaint
	}
	for _, c := range complaints {
		if c.text.MatchString(reason) {
			return c.class
		}
	}
	return otherComplaint
}

// quote is a daemon's complaint on one line, cut around what says why.
func quote(reason string) string { return excerpt.Around(reason, deciding(reason)) }

// deciding is the part of a complaint that says why: of an image pull how it failed, else what its
// class was found by; "" where neither is known.
func deciding(reason string) string {
	if e, ok := pullerror.Parse(reason); ok && e.Said != "" {
		return e.Said
	}
	for _, c := range complaints {
		if part := c.text.FindString(reason); part != "" {
			return part
		}
	}
	return ""
}

// missing reports whether a complaint of the class says that the config that the
// node names is not in the cluster.
func (c class) missing() bool {
	return c == configMissing || c == bootstrapMismatch || c == bootstrapNoDisk
}
