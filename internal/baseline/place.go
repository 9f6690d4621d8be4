package baseline

import "strings"

// places are where values stand in their objects that have no path for a name. Objects are
// written in the order of the alphabet (sigs.k8s.io/yaml JSONToYAML), so a file that is cut
// off lacks what stands behind.
var places = map[string]string{
	"roles": "metadata.labels", "currentConfig": inAnnotations, "desiredConfig": inAnnotations, "state": inAnnotations,
	"InternalIP": "status.addresses", "kubeletVersion": inNodeInfo, "osImage": inNodeInfo, "kernelVersion": inNodeInfo,
	"containerRuntimeVersion": inNodeInfo, "machineID": inNodeInfo, "systemUUID": inNodeInfo,
	"version": "status.versions",

	"CPU": "cpu", "CPUs": "cpu", "BIOS": "firmware", "BIOS date": "firmware", "memory MiB": "ramMebibytes",
	"vendor": inVendor, "product": inVendor, "serial": inVendor,
}

const (
	inAnnotations = "metadata.annotations"
	inNodeInfo    = "status.nodeInfo."
	inVendor      = "systemVendor."
)

// place is where a value stands in its object, or in its inspection, as text that sorts so.
func (e Entry) place() string {
	at, known := places[e.Name]
	switch kind, _, _ := strings.Cut(e.Name, " "); {
	case known && strings.HasSuffix(at, "."):
		return at + e.Name
	case known:
		return at
	case kind == "condition":
		return "status.conditions"
	case kind == "NIC":
		return "nics"
	case kind == "disk":
		return "storage"
	case strings.HasPrefix(e.Subject, "infrastructure/") && !strings.HasPrefix(e.Name, "status."):
		return "status.platformStatus." + e.Name
	}
	return e.Name
}

// object is what a value stands in: an inspection is not in the object of its host alone.
func (e Entry) object() Entry {
	o := Entry{Area: e.Area, Subject: e.Subject}
	if e.ofInspection() {
		o.Name = "inspection"
	}
	return o
}
