package baremetal

import "regexp"

// cause is what an error message of a BareMetalHost means.
type cause string

// The causes. The empty one: the message fits none of them.
const (
	unreachable        cause = "unreachable"         // no answer of the BMC
	certificate        cause = "certificate"         // the BMC answers with a certificate that is not trusted
	refused            cause = "credentials-refused" // the BMC answers 401 or 403
	noCredentials      cause = "credentials-missing" // the secret or a key of it is not there
	address            cause = "address"             // scheme, path or form of the address is wrong
	macConflict        cause = "mac-conflict"        // the boot MAC belongs to another host
	virtualMedia       cause = "virtual-media"       // the BMC does not attach the image
	bootMode           cause = "boot-mode"           // UEFI, BIOS or secure boot cannot be set
	boot               cause = "boot-device"         // the boot override is refused
	ramdiskSilent      cause = "ramdisk-silent"      // the ramdisk did not report back in time
	agentUnreachable   cause = "agent-unreachable"   // the ramdisk runs and metal3 does not reach it
	noRootDevice       cause = "root-device"         // no disk fits
	disk               cause = "disk"                // writing or cleaning a disk failed
	image              cause = "image"               // the image to write cannot be fetched or is damaged
	imageNotAcceptable cause = "image-format"        // the ramdisk image has another architecture or format
	interrupted        cause = "interrupted"         // metal3 restarted or was busy; it tries again
	busy               cause = "busy"                // the BMC refuses while the host starts
)

// meanings are tried in order: what names a mechanism comes before the wrappers
// around it ("Redfish exception occurred", "Failed to inspect hardware").
// Sources: openstack/ironic:ironic/conductor/{utils,manager,inspection,verify,cleaning}.py,
// ironic/drivers/modules/redfish/{boot,management,power,utils}.py,
// ironic/drivers/modules/{agent_client,agent_base,ipmitool}.py, ironic/common/exception.py;
// openstack/sushy:sushy/exceptions.py;
// metal3-io/baremetal-operator:pkg/provisioner/ironic, pkg/hardwareutils/bmc.
var meanings = []struct {
	cause   cause
	pattern *regexp.Regexp
}{
	{macConflict, regexp.MustCompile(`(?i)mac address.*conflicts with existing node|port.* belongs to another node|mac address .* already exists`)},
	{noCredentials, regexp.MustCompile(`(?i)bmc credentialsname secret doesn't exist|missing bmc connection detail|` +
		`missing the following ipmi credentials|credentials secret .*not found`)},
	{address, regexp.MustCompile(`(?i)unknown bmc type|bmc address .*is invalid|invalid redfish address|redfish system .*was not found|` +
		`the attribute (?:boot|links/managedby) is missing from the resource|missing the following redfish properties|` +
		`boot interface is not suitable for node|returned code 404|resource \S+ not found`)},
	{certificate, regexp.MustCompile(`(?i)certificate.verify.failed|certificate signed by unknown authority|sslerror|ssl: certificate`)},
	{refused, regexp.MustCompile(`(?i)returned code 40[13]|access ?error|no x-auth-token returned|invalid username or password|` +
		`authentication (?:failed|error)`)},
	{bootMode, regexp.MustCompile(`(?i)setting boot mode to|does not appear to support overriding the boot mode|waiting for boot mode of node|` +
		`waiting for secure boot state|configuring secure boot requires uefi`)},
	{virtualMedia, regexp.MustCompile(`(?i)virtual media mount failed|no suitable virtual media device|all virtual media get attempts failed|` +
		`inserting virtual media into .* failed|` +
		`unable to mount remote share|virtualmedia\.insertmedia|unable to locate the iso`)},
	{busy, regexp.MustCompile(`(?i)unabletomodifyduringsystempost|invalidoperationforsystemstate|\bsys518\b`)},
	{boot, regexp.MustCompile(`(?i)redfish set boot device failed`)},
	{noRootDevice, regexp.MustCompile(`(?i)finding the disk or partition device to deploy|no suitable device was found for deployment|` +
		`no devices could be found using the root device hints`)},
	{imageNotAcceptable, regexp.MustCompile(`(?i)preprovisioning image is not acceptable|no acceptable formats for preprovisioning image`)},
	{image, regexp.MustCompile(`(?i)validation of image href|error downloading image|error verifying image checksum|` +
		`got http code \d+ instead of 200|max retries exceeded with url: /images/`)},
	{disk, regexp.MustCompile(`(?i)error writing image to device|protected .*located on device|protected device located`)},
	{unreachable, regexp.MustCompile(`(?i)redfish connection failed|unable to connect to https?|ipmi call failed|connection (?:refused|timed out)|` +
		`no route to host|` +
		`name or service not known|temporary failure in name resolution|power driver returned error state|i/o timeout|connecttimeout|` +
		`max retries exceeded with url: /redfish`)},
	{agentUnreachable, regexp.MustCompile(`(?i)failed to connect to the agent running on node|agent api for node`)},
	{ramdiskSilent, regexp.MustCompile(`(?i)timeout reached while (?:inspecting|waiting for callback|cleaning|servicing)`)},
	{interrupted, regexp.MustCompile(`(?i)can't be resumed by conductor|is locked by host|lack of free conductor workers|aborted by request|unexpected state`)},
}

// means returns what an error message says, "" where no mechanism is named.
func means(message string) cause {
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
