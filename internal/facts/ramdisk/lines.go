package ramdisk

import (
	"regexp"
	"strings"
)

// The causes.
const (
	causeNIC     = "no-nic"             // the ramdisk has no NIC with a driver
	causeAddress = "no-address"         // no NIC has an address with which it reaches ironic
	causeMAC     = "mac-unknown"        // ironic has no node with one of its MACs
	causeIronic  = "ironic-unreachable" // ironic's API does not answer
	causeBoot    = "boot-failed"        // it ended in an emergency shell
)

const (
	sigKernel     = "ramdisk.kernel"
	sigLive       = "ramdisk.live"
	sigUnit       = "ramdisk.unit-failed"
	sigEmergency  = "ramdisk.emergency"
	sigLocked     = "ramdisk.root-locked"
	sigNoNIC      = "ramdisk.no-nic"
	sigNoAddress  = "ramdisk.no-address"
	sigNoIP       = "ramdisk.no-valid-ip"
	sigUnknown    = "ramdisk.lookup-unknown"
	sigLookup     = "ramdisk.lookup-failed"
	sigUnhandled  = "ramdisk.lookup-unhandled"
	sigHeartbeat  = "ramdisk.heartbeat-failed"
	sigLookupDone = "ramdisk.lookup-done"
	sigInspected  = "ramdisk.inspected"
	sigProbe      = "ramdisk.nic-probe"
	sigInit       = "ramdisk.mlx5-init"
	sigModule     = "ramdisk.mlx5-module"
)

// causes are the causes that one line of the agent names.
var causes = map[string]string{
	sigNoNIC: causeNIC, sigNoAddress: causeAddress, sigNoIP: causeAddress, sigUnknown: causeMAC,
	sigLookup: causeIronic, sigUnhandled: causeIronic, sigHeartbeat: causeIronic,
}

// messages are the lines that this package reads
// (openstack/ironic-python-agent:ironic_python_agent/ironic_api_client.py _do_lookup,
// agent.py _wait_for_interface process_lookup_data, errors.py, inspector.py inspect;
// torvalds/linux:drivers/net/ethernet/mellanox/mlx5/core/{main,port}.c, drivers/base/dd.c
// call_driver_probe; the ramdisk is a live CoreOS: openshift/ironic-image:ironic-config/ironic.conf.j2).
var messages = []string{
	sigKernel, sigLive, sigUnit, sigEmergency, sigLocked, sigNoNIC,
	sigNoAddress, sigNoIP, sigUnknown, sigLookup, sigUnhandled, sigHeartbeat,
	sigLookupDone, sigInspected, sigProbe, sigInit, sigModule,
}

// drivers are the NIC drivers of servers that RHEL CoreOS has.
const drivers = `(mlx5_core|mlx4_core|i40e|ice|igb|ixgbe|e1000e|bnxt_en|bnx2x|tg3|qede|qed|be2net|enic|cxgb4|nfp|sfc|ionic|atlantic|hinic)`

var (
	driverAt = regexp.MustCompile(`(?i)\b` + drivers + `\b`)
	pciAt    = regexp.MustCompile(`(?i)\b[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b`)
	macIn    = regexp.MustCompile(`(?:[0-9a-f]{2}:){5}[0-9a-f]{2}`)
	poolIn   = regexp.MustCompile(`host='([^']+)', port=(\d+)`)
	urlIn    = regexp.MustCompile(`https?://(\[[0-9a-fA-F:]+\]|[^\s/:,'"\]]+):(\d+)`)
)

// nic returns the driver and the PCI address that a line names.
func nic(text string) (driver, device string) {
	return strings.ToLower(driverAt.FindString(text)), strings.ToLower(pciAt.FindString(text))
}

// endpoint is the address of ironic that a line names, "" for none.
func endpoint(text string) string {
	if m := poolIn.FindStringSubmatch(text); m != nil {
		return m[1] + ":" + m[2]
	}
	if m := urlIn.FindStringSubmatch(text); m != nil {
		return m[1] + ":" + m[2]
	}
	return ""
}

// classes are tried in order: what names a mechanism comes before what wraps it.
var classes = []struct {
	class string
	text  *regexp.Regexp
}{
	{"proxy", regexp.MustCompile(`(?i)proxyerror|tunnel connection failed`)},
	{"tls", regexp.MustCompile(`(?i)certificate.verify.failed|sslerror|\[SSL`)},
	{"dns", regexp.MustCompile(`(?i)name or service not known|temporary failure in name resolution|nameresolutionerror|no address associated with hostname`)},
	{"refused", regexp.MustCompile(`(?i)connection refused`)},
	{"no-route", regexp.MustCompile(`(?i)no route to host|network is unreachable`)},
	{"timeout", regexp.MustCompile(`(?i)timed out|connecttimeout|readtimeout`)},
	{"closed", regexp.MustCompile(`(?i)connection reset|remotedisconnected|connection aborted`)},
}

// class says how a request of the agent failed.
func class(text string) string {
	for _, c := range classes {
		if c.text.MatchString(text) {
			return c.class
		}
	}
	return "other"
}

// noTransceiver is the status of a port without a transceiver.
const noTransceiver = "3"

// moduleStatus is what a status of the register MCIA means
// (torvalds/linux:drivers/net/ethernet/mellanox/mlxsw/reg.h mlxsw_reg_mcia_status).
func moduleStatus(hex string) string {
	switch strings.TrimLeft(strings.ToLower(hex), "0") {
	case "1":
		return "no response from the module's EEPROM"
	case "2":
		return "module type not supported"
	case noTransceiver:
		return "no module present"
	case "9":
		return "I2C error"
	case "10":
		return "module disabled"
	}
	return "status not documented"
}
