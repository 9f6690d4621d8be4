package baremetal

import "regexp"

// Cause is what an error message of a BareMetalHost means.
type Cause string

// The causes. The empty one: the message fits none of them.
const (
	Unreachable        Cause = "unreachable"         // no answer of the BMC
	Certificate        Cause = "certificate"         // the BMC answers with a certificate that is not trusted
	Refused            Cause = "credentials-refused" // the BMC answers 401 or 403
	NoCredentials      Cause = "credentials-missing" // the secret or a key of it is not there
	Address            Cause = "address"             // scheme, path or form of the address is wrong
	MACConflict        Cause = "mac-conflict"        // the boot MAC belongs to another host
	VirtualMedia       Cause = "virtual-media"       // the BMC does not attach the image
	BootMode           Cause = "boot-mode"           // UEFI, BIOS or secure boot cannot be set
	Boot               Cause = "boot-device"         // the boot override is refused
	RamdiskSilent      Cause = "ramdisk-silent"      // the ramdisk did not report back in time
	AgentUnreachable   Cause = "agent-unreachable"   // the ramdisk runs and metal3 does not reach it
	NoRootDevice       Cause = "root-device"         // no disk fits
	Disk               Cause = "disk"                // writing or cleaning a disk failed
	Image              Cause = "image"               // the image to write cannot be fetched or is damaged
	ImageNotAcceptable Cause = "image-format"        // the ramdisk image has another architecture or format
	Interrupted        Cause = "interrupted"         // metal3 restarted or was busy; it tries again
	Busy               Cause = "busy"                // the BMC refuses while the host starts
)

// meanings are tried in order: what names a mechanism comes before the wrappers
// around it ("Redfish exception occurred", "Failed to inspect hardware").
// Sources: openstack/ironic:ironic/conductor/{utils,manager,inspection,verify,cleaning}.py,
// ironic/drivers/modules/redfish/{boot,management,power,utils}.py,
// ironic/drivers/modules/{agent_client,agent_base,ipmitool}.py, ironic/common/exception.py;
// openstack/sushy:sushy/exceptions.py;
// metal3-io/baremetal-operator:pkg/provisioner/ironic, pkg/hardwareutils/bmc.
var meanings = []struct {
	cause   Cause
	pattern *regexp.Regexp
}{
	{MACConflict, regexp.MustCompile(`(?i)mac address.*conflicts with existing node|port.* belongs to another node|mac address .* already exists`)},
	{NoCredentials, regexp.MustCompile(`(?i)bmc credentialsname secret doesn't exist|missing bmc connection detail|missing the following ipmi credentials|credentials secret .*not found`)},
	{Address, regexp.MustCompile(`(?i)unknown bmc type|bmc address .*is invalid|invalid redfish address|redfish system .*was not found|` +
		`the attribute (?:boot|links/managedby) is missing from the resource|missing the following redfish properties|boot interface is not suitable for node|returned code 404|resource \S+ not found`)},
	{Certificate, regexp.MustCompile(`(?i)certificate.verify.failed|certificate signed by unknown authority|sslerror|ssl: certificate`)},
	{Refused, regexp.MustCompile(`(?i)returned code 40[13]|access ?error|no x-auth-token returned|invalid username or password|authentication (?:failed|error)`)},
	{BootMode, regexp.MustCompile(`(?i)setting boot mode to|does not appear to support overriding the boot mode|waiting for boot mode of node|waiting for secure boot state|configuring secure boot requires uefi`)},
	{VirtualMedia, regexp.MustCompile(`(?i)virtual media mount failed|no suitable virtual media device|all virtual media get attempts failed|inserting virtual media into .* failed|` +
		`unable to mount remote share|virtualmedia\.insertmedia|unable to locate the iso`)},
	{Busy, regexp.MustCompile(`(?i)unabletomodifyduringsystempost|invalidoperationforsystemstate|\bsys518\b`)},
	{Boot, regexp.MustCompile(`(?i)redfish set boot device failed`)},
	{NoRootDevice, regexp.MustCompile(`(?i)finding the disk or partition device to deploy|no suitable device was found for deployment|no devices could be found using the root device hints`)},
	{ImageNotAcceptable, regexp.MustCompile(`(?i)preprovisioning image is not acceptable|no acceptable formats for preprovisioning image`)},
	{Image, regexp.MustCompile(`(?i)validation of image href|error downloading image|error verifying image checksum|got http code \d+ instead of 200|max retries exceeded with url: /images/`)},
	{Disk, regexp.MustCompile(`(?i)error writing image to device|protected .*located on device|protected device located`)},
	{Unreachable, regexp.MustCompile(`(?i)redfish connection failed|unable to connect to https?|ipmi call failed|connection (?:refused|timed out)|no route to host|` +
		`name or service not known|temporary failure in name resolution|power driver returned error state|i/o timeout|connecttimeout|max retries exceeded with url: /redfish`)},
	{AgentUnreachable, regexp.MustCompile(`(?i)failed to connect to the agent running on node|agent api for node`)},
	{RamdiskSilent, regexp.MustCompile(`(?i)timeout reached while (?:inspecting|waiting for callback|cleaning|servicing)`)},
	{Interrupted, regexp.MustCompile(`(?i)can't be resumed by conductor|is locked by host|lack of free conductor workers|aborted by request|unexpected state`)},
}

// Means returns what an error message says, "" where no mechanism is named.
func Means(message string) Cause {
	if message == "" {
		return "" // most hosts; no pattern fits nothing
	}
	for _, m := range meanings {
		if m.pattern.MatchString(message) {
			return m.cause
		}
	}
	return ""
}
