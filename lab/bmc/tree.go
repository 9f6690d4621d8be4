package bmc

import (
	"slices"
	"strings"
	"time"
)

// Vendor is whose shape a controller has.
type Vendor string

// The vendors of which there is a shape.
const (
	Dell       Vendor = "dell"
	HPE        Vendor = "hpe"
	Lenovo     Vendor = "lenovo"
	Supermicro Vendor = "supermicro"
)

// How virtual media are inserted.
const (
	always     = "always"      // both actions are there
	whileEmpty = "while-empty" // InsertMedia only in an empty drive, EjectMedia only in a full one
	byPatch    = "patch"       // no actions: PATCH of Image
)

// shape is what differs between vendors. As seen on an R750 with iDRAC 6.00.30,
// a DL385 Gen10 Plus with iLO 5 2.72, an SR670 V2 with XCC 2.83 and a
// SYS-821GE with 11.01.01 (NVIDIA/libredfish:tests/mockups).
type shape struct {
	manufacturer, model   string
	system, manager       string
	bmc, firmware, bios   string
	slash                 string   // after an address
	media                 []string // collections that virtual media lie under
	slots                 []slotShape
	insert                string
	lowerMAC, noLink, ntp bool
	zone                  *time.Location
	trusted               bool // TrustedModules are listed
	noHTTP                bool // there is no boot source UefiHttp
}

type slotShape struct {
	id    string
	types []string
}

var shapes = map[Vendor]shape{
	Dell: {
		manufacturer: "Dell Inc.", model: "PowerEdge R750", system: "System.Embedded.1", manager: "iDRAC.Embedded.1",
		bmc: "16G Monolithic", firmware: "6.00.30.00", bios: "1.8.2", media: []string{"Systems"},
		slots:  []slotShape{{"1", []string{"CD", "DVD", "USBStick"}}, {"2", []string{"CD", "DVD", "USBStick"}}},
		insert: always, ntp: true, zone: time.FixedZone("", -5*3600), trusted: true,
	},
	HPE: {
		manufacturer: "HPE", model: "ProLiant DL385 Gen10 Plus v2    ", system: "1", manager: "1",
		bmc: "iLO 5", firmware: "iLO 5 v2.72", bios: "A42 v2.62", slash: "/", media: []string{"Managers"},
		slots:  []slotShape{{"1", []string{"Floppy", "USBStick"}}, {"2", []string{"CD", "DVD"}}},
		insert: always, lowerMAC: true, noLink: true, zone: time.UTC, trusted: true,
	},
	Lenovo: {
		manufacturer: "Lenovo", model: "ThinkSystem SR670 V2", system: "1", manager: "1",
		bmc: "Lenovo XClarity Controller", firmware: "2.83", bios: "U8E122J", media: []string{"Systems", "Managers"},
		slots:  []slotShape{{"EXT1", []string{"CD", "DVD", "Floppy", "USBStick"}}, {"EXT2", []string{"CD", "DVD", "Floppy", "USBStick"}}},
		insert: byPatch, ntp: true, zone: time.FixedZone("", 0), trusted: true, noHTTP: true,
	},
	Supermicro: {
		manufacturer: "Supermicro", model: "SYS-821GE-TNHR", system: "1", manager: "1",
		bmc: "ASPEED", firmware: "11.01.01", bios: "1.4", media: []string{"Systems", "Managers"},
		slots:  []slotShape{{"VirtualMedia1", []string{"CD", "DVD", "Floppy", "USBStick"}}, {"VirtualMedia2", []string{"CD", "DVD", "Floppy", "USBStick"}}},
		insert: whileEmpty, ntp: true, zone: time.UTC,
	},
}

type fields = map[string]any

func object(kind, path, id, name string, more fields) fields {
	out := fields{"@odata.type": "#" + kind, "@odata.id": path, "Id": id, "Name": name}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func link(path string) fields { return fields{"@odata.id": path} }

func (b *BMC) mediaPaths() []string {
	var paths []string
	for _, under := range b.shape().media {
		id := b.shape().system
		if under == "Managers" {
			id = b.shape().manager
		}
		paths = append(paths, root+"/"+under+"/"+id+"/VirtualMedia")
	}
	return paths
}

// tree is every resource, by its path. The caller holds the lock.
func (b *BMC) tree() map[string]fields {
	s := b.shape()
	t := map[string]fields{"/redfish": {"v1": root + "/"}}
	system, manager, chassis := b.SystemPath(), root+"/Managers/"+s.manager, root+"/Chassis/1"
	at := func(path string) fields { return link(path + s.slash) }
	add := func(kind, path, name string, more fields) {
		t[path] = object(kind, path+s.slash, path[strings.LastIndex(path, "/")+1:], name, more)
	}
	collect := func(kind, path, name string, members ...string) {
		links := []fields{}
		for _, m := range members {
			links = append(links, at(path+"/"+m))
		}
		add(kind+"Collection."+kind+"Collection", path, name, fields{"Members": links, "Members@odata.count": len(links)})
	}
	t[root] = object("ServiceRoot.v1_9_0.ServiceRoot", root+"/", "RootService", "Root Service", fields{
		"RedfishVersion": "1.11.0", "Vendor": s.manufacturer, "UUID": uuid(b.cfg.Serial),
		"Systems": at(root + "/Systems"), "Managers": at(root + "/Managers"), "Chassis": at(root + "/Chassis"),
		"SessionService": at(root + "/SessionService"), "AccountService": at(root + "/AccountService"),
		"Links": fields{"Sessions": at(sessions)},
	})
	collect("ComputerSystem", root+"/Systems", "Systems", s.system)
	collect("Manager", root+"/Managers", "Managers", s.manager)
	collect("Chassis", root+"/Chassis", "Chassis", "1")
	add("SessionService.v1_1_7.SessionService", root+"/SessionService", "Session Service",
		fields{"ServiceEnabled": true, "SessionTimeout": 300, "Sessions": at(sessions)})
	var open []string
	for _, path := range b.sessions {
		open = append(open, path[len(sessions)+1:])
	}
	slices.Sort(open)
	collect("Session", sessions, "Sessions", open...)
	b.addAccounts(add, collect, at)
	add("Chassis.v1_15_0.Chassis", chassis, "Chassis", fields{
		"ChassisType": "RackMount", "Manufacturer": s.manufacturer, "Model": s.model, "SerialNumber": b.cfg.Serial, "PowerState": b.power(),
		"Status": healthy, "Links": fields{"ComputerSystems": []fields{at(system)}, "ManagedBy": []fields{at(manager)}},
	})
	add("Manager.v1_11_0.Manager", manager, "Manager", fields{
		"ManagerType": "BMC", "Model": s.bmc, "FirmwareVersion": s.firmware, "Status": healthy,
		"DateTime": b.now().Format(clockForm), "DateTimeLocalOffset": b.now().Format("-07:00"),
		"NetworkProtocol": at(manager + "/NetworkProtocol"), "Links": fields{"ManagerForServers": []fields{at(system)}},
	})
	protocol := fields{"HTTPS": fields{"ProtocolEnabled": true, "Port": 443}}
	if s.ntp {
		protocol["NTP"] = fields{"ProtocolEnabled": b.cfg.NTP, "NTPServers": []string{}}
	}
	add("ManagerNetworkProtocol.v1_8_0.ManagerNetworkProtocol", manager+"/NetworkProtocol", "Network Protocol", protocol)
	b.addSystem(t, system, manager, add, collect, at)
	b.addMedia(t, add, collect, at)
	b.addDevices(t, system, add, collect, at)
	return t
}

type adder func(kind, path, name string, more fields)

type collector func(kind, path, name string, members ...string)

func (b *BMC) addAccounts(add adder, collect collector, at func(string) fields) {
	accounts, roles := root+"/AccountService/Accounts", root+"/AccountService/Roles"
	role, rights := "Administrator", []string{"Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"}
	if b.trouble.ReadOnly {
		role, rights = "ReadOnly", []string{"Login", "ConfigureSelf"}
	}
	add("AccountService.v1_9_0.AccountService", root+"/AccountService", "Account Service", fields{
		"ServiceEnabled": true, "Accounts": at(accounts), "Roles": at(roles), "AccountLockoutThreshold": b.cfg.MaxFailures,
	})
	collect("ManagerAccount", accounts, "Accounts", "1")
	add("ManagerAccount.v1_8_0.ManagerAccount", accounts+"/1", "Account", fields{
		"UserName": b.cfg.User, "Password": nil, "RoleId": role, "Enabled": true, "Locked": b.locked || b.trouble.Locked,
		"Links": fields{"Role": at(roles + "/" + role)},
	})
	collect("Role", roles, "Roles", role)
	add("Role.v1_3_1.Role", roles+"/"+role, "Role", fields{
		"RoleId": role, "IsPredefined": true, "AssignedPrivileges": rights,
	})
}

func (b *BMC) addSystem(t map[string]fields, system, manager string, add adder, collect collector, at func(string) fields) {
	s := b.shape()
	serial := fields{"SerialNumber": b.cfg.Serial}
	if b.cfg.Vendor == Dell {
		serial = fields{"SerialNumber": "CN" + b.cfg.Serial, "SKU": b.cfg.Serial} // the service tag
	}
	add("ComputerSystem.v1_14_0.ComputerSystem", system, "System", fields{
		"SystemType": "Physical", "Manufacturer": s.manufacturer, "Model": s.model, "UUID": uuid(b.cfg.Serial),
		"PowerState": b.power(), "BiosVersion": s.bios, "Status": healthy,
		"ProcessorSummary": fields{"Count": 2, "Model": "x86-64 processor", "Status": healthy},
		"MemorySummary":    fields{"TotalSystemMemoryGiB": 64, "Status": healthy},
		"Boot": fields{
			"BootSourceOverrideEnabled": b.override.enabled, "BootSourceOverrideTarget": b.override.target, "BootSourceOverrideMode": b.override.mode,
			"BootSourceOverrideTarget@Redfish.AllowableValues": s.targets(),
		},
		"Actions": fields{"#ComputerSystem.Reset": fields{
			"target":                            system + "/Actions/ComputerSystem.Reset" + s.slash,
			"ResetType@Redfish.AllowableValues": []string{"On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart"},
		}},
		"EthernetInterfaces": at(system + "/EthernetInterfaces"), "SecureBoot": at(system + "/SecureBoot"), "Bios": at(system + "/Bios"),
		"Links": fields{"ManagedBy": []fields{at(manager)}, "Chassis": []fields{at(root + "/Chassis/1")}},
	})
	for k, v := range serial {
		t[system][k] = v
	}
	if b.cfg.HTTPBoot {
		t[system]["Boot"].(fields)["HttpBootUri"] = null(b.override.uri) //nolint:errcheck // it was made above
	}
	if s.trusted {
		t[system]["TrustedModules"] = []fields{{"InterfaceType": "TPM2_0", "Status": fields{"State": "Enabled"}}}
	}
	add("SecureBoot.v1_1_0.SecureBoot", system+"/SecureBoot", "Secure Boot",
		fields{"SecureBootEnable": false, "SecureBootCurrentBoot": "Disabled", "SecureBootMode": "UserMode"})
	add("Bios.v1_1_0.Bios", system+"/Bios", "BIOS", fields{"Attributes": fields{"BootMode": "Uefi"}})
	var nics []string
	for i, mac := range b.cfg.MACs {
		id := "NIC" + string(rune('1'+i))
		nics = append(nics, id)
		written := strings.ToUpper(mac)
		if s.lowerMAC {
			written = strings.ToLower(mac)
		}
		nic := fields{"MACAddress": written, "PermanentMACAddress": written, "InterfaceEnabled": true, "LinkStatus": "LinkUp", "SpeedMbps": 25_000,
			"Status": healthy}
		if s.noLink {
			nic["LinkStatus"], nic["SpeedMbps"] = nil, nil
		}
		add("EthernetInterface.v1_8_0.EthernetInterface", system+"/EthernetInterfaces/"+id, "Ethernet Interface", nic)
	}
	collect("EthernetInterface", system+"/EthernetInterfaces", "Ethernet Interfaces", nics...)
}

func (b *BMC) addMedia(t map[string]fields, add adder, collect collector, at func(string) fields) {
	s := b.shape()
	for _, under := range b.mediaPaths() {
		t[strings.TrimSuffix(under, "/VirtualMedia")]["VirtualMedia"] = at(under)
		var ids []string
		for _, slot := range s.slots {
			ids = append(ids, slot.id)
			image := b.media[slot.id]
			drive := fields{"MediaTypes": slot.types, "Inserted": image != "", "Image": nil, "ConnectedVia": "NotConnected", "WriteProtected": true}
			if image != "" {
				drive["Image"], drive["ConnectedVia"] = image, "URI"
			}
			path := under + "/" + slot.id
			if actions := actionsOf(s.insert, path, s.slash, image != ""); len(actions) > 0 {
				drive["Actions"] = actions
			}
			add("VirtualMedia.v1_4_1.VirtualMedia", path, "Virtual Media", drive)
		}
		collect("VirtualMedia", under, "Virtual Media", ids...)
	}
}

func actionsOf(insert, path, slash string, full bool) fields {
	actions := fields{}
	if insert == always || insert == whileEmpty && !full {
		actions["#VirtualMedia.InsertMedia"] = fields{"target": path + "/Actions/VirtualMedia.InsertMedia" + slash}
	}
	if insert == always || insert == whileEmpty && full {
		actions["#VirtualMedia.EjectMedia"] = fields{"target": path + "/Actions/VirtualMedia.EjectMedia" + slash}
	}
	return actions
}

var healthy = fields{"State": "Enabled", "Health": "OK"}

// null is a text, or what JSON has for none.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (b *BMC) power() string {
	if b.on {
		return "On"
	}
	return "Off"
}
