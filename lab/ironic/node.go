package ironic

import (
	"crypto/rand"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Provision states (openstack/ironic:ironic/common/states.py).
const (
	enroll      = "enroll"
	verifying   = "verifying"
	manageable  = "manageable"
	available   = "available"
	active      = "active"
	inspecting  = "inspecting"
	inspectWait = "inspect wait"
	inspectFail = "inspect failed"
	cleaning    = "cleaning"
	cleanWait   = "clean wait"
	cleanFail   = "clean failed"
	deploying   = "deploying"
	deployWait  = "wait call-back"
	deployFail  = "deploy failed"
	deleting    = "deleting"
	adopting    = "adopting"
	adoptFail   = "adopt failed"

	powerOn  = "power on"
	powerOff = "power off"
)

// node is one machine in the database.
type node struct {
	uuid, name, driver string
	state, target      string // provision_state, target_provision_state
	power, targetPower string // "" is None
	lastError          string
	reservation        string
	maintenance        bool
	maintenanceReason  string
	fault              string
	instanceUUID       string
	automatedClean     bool
	disablePowerOff    bool
	interfaces         map[string]string // bios_interface and its like
	driverInfo         map[string]any
	properties         map[string]any
	instanceInfo       map[string]any
	networkData        map[string]any
	created, updated   time.Time

	inventory map[string]any // of the last inspection, nil for none
	called    chan call      // by the ramdisk, while something waits for it
	abort     chan struct{}  // closed by the target "abort"
	badSyncs  int
}

// call is what a ramdisk brought.
type call struct{ inventory map[string]any }

type port struct {
	UUID     string `json:"uuid"`
	Address  string `json:"address"`
	NodeUUID string `json:"node_uuid"`
	PXE      bool   `json:"pxe_enabled"`
}

// wire is the node as the API gives it out.
func (n *node) wire() map[string]any {
	info := maps.Clone(n.driverInfo)
	for key := range info {
		if strings.Contains(key, "password") {
			info[key] = "******"
		}
	}
	out := map[string]any{
		"uuid": n.uuid, "name": optional(n.name), "driver": n.driver,
		"provision_state": n.state, "target_provision_state": optional(n.target),
		"power_state": optional(n.power), "target_power_state": optional(n.targetPower),
		"last_error": optional(n.lastError), "reservation": optional(n.reservation),
		"maintenance": n.maintenance, "maintenance_reason": optional(n.maintenanceReason), "fault": optional(n.fault),
		"instance_uuid": optional(n.instanceUUID), "automated_clean": n.automatedClean, "disable_power_off": n.disablePowerOff,
		"driver_info": info, "properties": n.properties, "instance_info": n.instanceInfo, "network_data": n.networkData,
		"extra": map[string]any{}, "driver_internal_info": map[string]any{}, "clean_step": map[string]any{}, "deploy_step": map[string]any{},
		"service_step": map[string]any{},
		"raid_config":  map[string]any{}, "target_raid_config": map[string]any{}, "traits": []string{}, "conductor": "localhost",
		"created_at": n.created.Format(time.RFC3339), "updated_at": n.updated.Format(time.RFC3339),
	}
	for key, value := range n.interfaces {
		out[key] = value
	}
	return out
}

func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// interfaceNames are the hardware interfaces of a node that a client may choose,
// with what ironic chooses for the redfish driver otherwise
// (openstack/ironic:ironic/drivers/redfish.py, openshift/ironic-image ironic.conf).
var interfaceNames = map[string]string{
	"bios_interface": "redfish", "boot_interface": "redfish-virtual-media", "deploy_interface": "direct", "firmware_interface": "redfish",
	"inspect_interface": "agent", "management_interface": "redfish", "power_interface": "redfish", "raid_interface": "redfish",
	"vendor_interface": "redfish", "network_interface": "noop", "storage_interface": "noop", "console_interface": "no-console", "rescue_interface": "no-rescue",
}

// patch applies one operation of a JSON patch. Only what a client may change is
// known; a path that is not is an error.
func (n *node) patch(op, path string, value any) error {
	if op != "add" && op != "replace" && op != "remove" {
		return fmt.Errorf("unsupported operation %q", op)
	}
	if op == "remove" {
		value = nil
	}
	key, sub, nested := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	for name, m := range map[string]*map[string]any{
		"driver_info": &n.driverInfo, "properties": &n.properties, "instance_info": &n.instanceInfo, "network_data": &n.networkData,
	} {
		if key != name {
			continue
		}
		switch {
		case !nested:
			whole, _ := value.(map[string]any)
			*m = map[string]any{}
			maps.Copy(*m, whole)
		case value == nil && op == "remove":
			delete(*m, sub)
		default:
			(*m)[sub] = value
		}
		return nil
	}
	s, _ := value.(string)
	flag, _ := value.(bool)
	switch key {
	case "name":
		n.name = s
	case "instance_uuid":
		n.instanceUUID = s
	case "automated_clean":
		n.automatedClean = flag
	case "disable_power_off":
		n.disablePowerOff = flag
	default:
		otherwise, ok := interfaceNames[key]
		if !ok {
			return fmt.Errorf("unsupported path %q", path)
		}
		if s == "" {
			s = otherwise
		}
		n.interfaces[key] = s
	}
	return nil
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // never fails (crypto/rand.Read)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
