package pools

import "regexp"

// Class is what a daemon's complaint is about.
type Class string

// The classes of complaints, the first that fits counts.
const (
	NoComplaint       Class = ""
	BootstrapMismatch Class = "bootstrap-mismatch" // the daemon says itself that bootstrap and cluster rendered two configs
	BootstrapNoDisk   Class = "bootstrap-no-disk"  // the same, without a config on disk to compare
	AnnotationEdited  Class = "annotation-edited"  // disk and annotation name two configs
	ConfigMissing     Class = "config-missing"     // a config that does not exist is named
	OSMismatch        Class = "os-mismatch"        // another OS is booted than the config says
	KargsMissing      Class = "kargs-missing"
	Drift             Class = "drift" // a file or unit on disk differs
	OSUpdate          Class = "os-update"
	Unreconcilable    Class = "unreconcilable"
	Drain             Class = "drain"
	Reboot            Class = "reboot"
	Finalize          Class = "finalize" // the staged OS was lost at the reboot
	ConfigInvalid     Class = "config-invalid"
	OtherComplaint    Class = "other"
)

// complaints tells the reasons of degraded nodes apart
// (openshift/machine-config-operator:pkg/daemon/{daemon,update,drain,
// on_disk_validation}.go). Quotes may be escaped: logs print the error quoted.
var complaints = []struct {
	class Class
	text  *regexp.Regexp
}{
	{BootstrapMismatch, regexp.MustCompile(`(?i)bootstrap generated MC \S+ (?:and in-cluster generated MC|does not match in-cluster MC)`)},
	{BootstrapNoDisk, regexp.MustCompile(`(?i)error fetching current config on disk during bootstrap`)},
	{AnnotationEdited, regexp.MustCompile(`(?i)current config \S+ on disk does not match current config on annotation`)},
	{ConfigMissing, regexp.MustCompile(`(?i)missing MachineConfig \S+|machineconfigs?\.machineconfiguration\.openshift\.io \\*"[^"\\]+\\*" not found`)},
	{OSMismatch, regexp.MustCompile(`(?i)expected target osImageURL`)},
	{KargsMissing, regexp.MustCompile(`(?i)missing expected kernel arguments`)},
	{Drift, regexp.MustCompile(`(?i)unexpected on-disk state|content mismatch for file|mode mismatch for file|could not stat file|expected enabled=|config drift`)},
	{Finalize, regexp.MustCompile(`(?i)ostree-finalize-staged`)},
	{OSUpdate, regexp.MustCompile(`(?i)failed to update OS to|failed to invoke skopeo proxy|error running rpm-ostree|failed to execute rpm-ostree|failed to run rpm-ostree`)},
	{Unreconcilable, regexp.MustCompile(`(?i)can't reconcile config|refusing to modify FIPS|not reconcilable`)},
	{Drain, regexp.MustCompile(`(?i)failed to drain node|attempting to drain node`)},
	{Reboot, regexp.MustCompile(`(?i)reboot command failed`)},
	{ConfigInvalid, regexp.MustCompile(`(?i)parsing (?:new |old )?ignition config failed|failed to parse ignition config`)},
}

// ClassOf classifies a daemon's complaint.
func ClassOf(reason string) Class {
	if reason == "" {
		return NoComplaint
	}
	for _, c := range complaints {
		if c.text.MatchString(reason) {
			return c.class
		}
	}
	return OtherComplaint
}

// missing reports whether a complaint of the class says that the config that the
// node names is not in the cluster.
func (c Class) missing() bool {
	return c == ConfigMissing || c == BootstrapMismatch || c == BootstrapNoDisk
}
