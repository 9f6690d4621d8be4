package bmc

import (
	"context"
	"slices"
	"strings"
)

// nics reads the network interfaces. Their links and speeds, and the MAC addresses of cards
// that the system does not list, are read below the chassis where they are missing.
func (c *client) nics(ctx context.Context, a *Answer, system node) *problem {
	var listed, below *problem
	if link := system.link("EthernetInterfaces"); link != "" {
		var list []node
		if list, listed = c.all(ctx, link); listed == nil {
			for _, n := range list {
				a.NICs = append(a.NICs, nicOf(n))
			}
		}
	} else {
		listed = absent("the system has no EthernetInterfaces")
	}
	if listed == nil && a.complete() {
		return nil
	}
	below = c.adapters(ctx, a, system)
	switch {
	case listed == nil && below != nil && below.failure != Absent:
		return below // a MAC address of the plan may be on a card that was not read
	case listed == nil || below == nil:
		return nil
	}
	return problemOf(listed, below)
}

func nicOf(n node) NIC {
	mac := MAC(n.text("PermanentMACAddress"))
	if mac == "" {
		mac = MAC(n.text("MACAddress"))
	}
	id := n.id()
	return NIC{
		ID: id, MAC: mac, Link: linkOf(n.text("LinkStatus")), Mbps: n.number("SpeedMbps"),
		Internal: n.link("Links", "HostInterface") != "" || strings.EqualFold(id, "ToManager"),
	}
}

// linkOf turns the words of EthernetInterface and Port (LinkUp, LinkDown, NoLink) and of
// NetworkPort (Up, Down) into ours.
func linkOf(word string) string {
	switch strings.ToLower(word) {
	case "linkup", "up":
		return LinkUp
	case "linkdown", "nolink", "down":
		return LinkDown
	}
	return ""
}

// complete reports whether the system itself has told all that is wanted of its network.
func (a *Answer) complete() bool {
	if len(a.NICs) == 0 {
		return false
	}
	for _, n := range a.NICs {
		if n.Link == "" && !n.Internal {
			return false
		}
	}
	for _, want := range a.MACs {
		if mac := MAC(want); mac != "" && a.nic(mac) == nil {
			return false
		}
	}
	return true
}

func (a *Answer) nic(mac string) *NIC {
	for i := range a.NICs {
		if a.NICs[i].MAC == mac {
			return &a.NICs[i]
		}
	}
	return nil
}

// maxChassis bounds the chassis of one system: blades and GPU trays count as such.
const maxChassis = 8

// adapters reads the ports of the network cards below the chassis of a system. Without any
// list of cards it is noted: the interfaces that the system lists need not be all.
func (c *client) adapters(ctx context.Context, a *Answer, system node) *problem {
	chassis := system.links("Links", "Chassis")
	if len(chassis) == 0 {
		a.note(PartCards, absent("the system names no chassis"))
		return absent("the system names no chassis")
	}
	if len(chassis) > maxChassis {
		return &problem{failure: TooLarge, detail: "the system has more chassis than are read"}
	}
	found := false
	for _, path := range chassis {
		n, p := c.node(ctx, path)
		if p != nil {
			return p
		}
		link := n.link("NetworkAdapters")
		if link == "" {
			continue
		}
		list, p := c.all(ctx, link)
		if p != nil {
			return p
		}
		found = found || len(list) > 0
		for _, adapter := range list {
			if p := c.ports(ctx, a, adapter); p != nil && p.failure != Absent {
				return p
			}
		}
	}
	if !found {
		a.note(PartCards, absent("no chassis of the system lists network cards"))
	}
	return nil
}

// ports reads the ports of one card, by their newer name or by the older one (NetworkPorts,
// deprecated since Redfish 2020.4). A card of which no MAC address is shown is kept without
// one: the address that somebody looks for can be on it.
func (c *client) ports(ctx context.Context, a *Answer, adapter node) *problem {
	list, p := c.portsOf(ctx, adapter)
	if p != nil && p.failure != Absent {
		return p
	}
	named := false
	for _, n := range list {
		named = a.port(adapter, n) || named
	}
	if named {
		return nil
	}
	functions, p := c.functionsOf(ctx, adapter)
	if p != nil && p.failure != Absent {
		return p
	}
	for _, n := range functions {
		named = a.port(adapter, n) || named
	}
	if !named && adapter.text("Status", "State") != "Absent" && !storageCard(append(list, functions...)) {
		a.NICs = append(a.NICs, NIC{ID: adapter.id(), Model: adapter.text("Model"), Firmware: firmwareOf(adapter)})
	}
	return nil
}

func (c *client) portsOf(ctx context.Context, adapter node) ([]node, *problem) {
	link := adapter.link("Ports")
	if link == "" {
		link = adapter.link("NetworkPorts")
	}
	if link == "" {
		return nil, absent("the card lists no ports")
	}
	return c.all(ctx, link)
}

// functionsOf are what the system sees of a card. Some services show MAC addresses only there.
func (c *client) functionsOf(ctx context.Context, adapter node) ([]node, *problem) {
	link := adapter.link("NetworkDeviceFunctions")
	if link == "" {
		return nil, absent("the card lists no functions")
	}
	return c.all(ctx, link)
}

// storageCard reports whether a card leads to a storage network alone.
func storageCard(ports []node) bool {
	for _, n := range ports {
		if !slices.Contains([]string{n.text("LinkNetworkTechnology"), n.text("ActiveLinkTechnology"), n.text("NetDevFuncType")}, "FibreChannel") {
			return false
		}
	}
	return len(ports) > 0
}

func firmwareOf(adapter node) string {
	list := adapter.list("Controllers")
	if len(list) == 0 {
		return ""
	}
	m, _ := list[0].(map[string]any)
	return node(m).text("FirmwarePackageVersion")
}

// port adds what a port or a function of a card shows, and reports whether it has a MAC address.
func (a *Answer) port(adapter, n node) bool {
	macs := append(n.texts("Ethernet", "AssociatedMACAddresses"), n.texts("AssociatedNetworkAddresses")...)
	macs = append(macs, n.text("Ethernet", "PermanentMACAddress"), n.text("Ethernet", "MACAddress"))
	mbps := n.number("CurrentLinkSpeedMbps")
	if gbps, ok := n["CurrentSpeedGbps"].(float64); ok && gbps > 0 && gbps < 1e6 {
		mbps = int64(gbps * 1000)
	}
	named := false
	for _, text := range macs {
		mac := MAC(text)
		if mac == "" {
			continue
		}
		named = true
		nic := a.nic(mac)
		if nic == nil {
			a.NICs = append(a.NICs, NIC{ID: adapter.id() + " port " + n.id(), MAC: mac})
			nic = &a.NICs[len(a.NICs)-1]
		}
		nic.Model, nic.Firmware = adapter.text("Model"), firmwareOf(adapter)
		if nic.Link == "" {
			nic.Link = linkOf(n.text("LinkStatus"))
		}
		if nic.Mbps == 0 {
			nic.Mbps = mbps
		}
	}
	return named
}

// disks reads drives and volumes.
func (c *client) disks(ctx context.Context, a *Answer, system node) *problem {
	link := system.link("Storage")
	if link == "" {
		return c.simpleDisks(ctx, a, system)
	}
	list, p := c.all(ctx, link)
	if p != nil {
		return p
	}
	for _, storage := range list {
		links := storage.links("Drives")
		if len(a.Disks)+len(links) > maxMembers {
			return &problem{failure: TooLarge, detail: "more drives than are read"}
		}
		drives, p := c.each(ctx, links)
		if p != nil {
			return p
		}
		for _, n := range drives {
			a.Disks = append(a.Disks, driveOf(n))
		}
		if volumes := storage.link("Volumes"); volumes != "" {
			list, p := c.all(ctx, volumes)
			if p != nil && p.failure != Absent {
				return p
			}
			for _, n := range list {
				a.Disks = append(a.Disks, Disk{ID: n.id(), Bytes: n.number("CapacityBytes"), Health: n.text("Status", "Health"), Volume: true})
			}
		}
	}
	if len(a.Disks) == 0 {
		return c.simpleDisks(ctx, a, system)
	}
	return nil
}

func driveOf(n node) Disk {
	d := Disk{
		ID: n.id(), Model: n.text("Model"), Vendor: n.text("Manufacturer"), Serial: n.text("SerialNumber"), Bytes: n.number("CapacityBytes"),
		Media: n.text("MediaType"), Health: n.text("Status", "Health"), Failing: n.yes("FailurePredicted"),
	}
	for _, v := range n.list("Identifiers") {
		m, _ := v.(map[string]any)
		if name := node(m).text("DurableName"); name != "" && node(m).text("DurableNameFormat") != "UUID" {
			d.WWN = name
		}
	}
	return d
}

// simpleDisks reads what services without Storage have (SimpleStorage: names and sizes).
func (c *client) simpleDisks(ctx context.Context, a *Answer, system node) *problem {
	link := system.link("SimpleStorage")
	if link == "" {
		if system.link("Storage") != "" {
			return nil
		}
		return absent("the system has no Storage")
	}
	list, p := c.all(ctx, link)
	if p != nil {
		return p
	}
	for _, storage := range list {
		for _, v := range storage.list("Devices") {
			m, _ := v.(map[string]any)
			n := node(m)
			if n.text("Status", "State") == "Absent" || len(a.Disks) == maxMembers {
				continue
			}
			a.Disks = append(a.Disks, Disk{ID: n.text("Name"), Model: n.text("Model"), Vendor: n.text("Manufacturer"), Bytes: n.number("CapacityBytes"),
				Health: n.text("Status", "Health")})
		}
	}
	return nil
}
