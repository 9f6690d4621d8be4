package bmc

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// machine reads what the BMC shows of its machine, part by part: one that cannot be read
// leaves the others.
func (c *client) machine(ctx context.Context, a *Answer, system node) {
	a.System = systemOf(system)
	a.note(PartProcessors, c.processors(ctx, a.System, system))
	a.note(PartSecureBoot, c.secureBoot(ctx, a.System, system))
	a.note(PartBIOS, c.bios(ctx, a.System, system))
	a.note(PartNICs, c.nics(ctx, a, system))
	a.note(PartDisks, c.disks(ctx, a, system))
	manager, p := c.manager(ctx, a, system)
	a.note(PartManager, p)
	a.note(PartMedia, c.media(ctx, a, system, manager))
	a.note(PartAccount, c.account(ctx, a))
}

func absent(what string) *problem { return &problem{failure: Absent, detail: what} }

func systemOf(n node) *System {
	s := &System{
		Path: wire.Clip(n.text("@odata.id")), Manufacturer: n.text("Manufacturer"), Model: n.text("Model"), Serial: strings.ToUpper(n.text("SerialNumber")),
		UUID: strings.ToUpper(n.text("UUID")), Power: n.text("PowerState"), Health: n.text("Status", "HealthRollup"), BIOS: n.text("BiosVersion"),
		CPUs: n.count("ProcessorSummary", "Count"), CPUModel: n.text("ProcessorSummary", "Model"),
		Threads:      n.count("ProcessorSummary", "LogicalProcessorCount"),
		OverrideMode: bootMode(n.text("Boot", "BootSourceOverrideMode")), OverrideEnabled: n.text("Boot", "BootSourceOverrideEnabled"),
		OverrideTarget: n.text("Boot", "BootSourceOverrideTarget"), BootOrder: n.texts("Boot", "BootOrder"),
	}
	if s.Health == "" {
		s.Health = n.text("Status", "Health")
	}
	if gib, ok := n.sub("MemorySummary")["TotalSystemMemoryGiB"].(float64); ok && gib > 0 && gib < 1<<24 {
		s.MemoryGiB = int(gib + 0.5)
	}
	for _, v := range n.list("TrustedModules") {
		m, _ := v.(map[string]any)
		if kind := node(m).text("InterfaceType"); kind != "" && node(m).text("Status", "State") == "Enabled" {
			s.TPM = kind
		}
	}
	return s
}

// bootMode is UEFI, Legacy or "". Redfish has the words UEFI and Legacy (DSP0268
// ComputerSystem BootSourceOverrideMode); vendors have others for their BIOS setting.
func bootMode(word string) string {
	w := strings.ToLower(word)
	uefi, legacy := strings.Contains(w, "uefi"), strings.Contains(w, "legacy") || w == "bios"
	switch {
	case uefi && !legacy:
		return "UEFI"
	case legacy && !uefi:
		return "Legacy"
	}
	return ""
}

// processors reads architecture, and the threads that some summaries lack.
func (c *client) processors(ctx context.Context, s *System, system node) *problem {
	link := system.link("Processors")
	if link == "" {
		return absent("the system has no Processors")
	}
	list, p := c.members(ctx, link)
	if p != nil {
		return p
	}
	threads, whole, seen := 0, true, false
	for _, member := range list {
		n, p := c.node(ctx, member)
		if p != nil {
			return p
		}
		if kind := n.text("ProcessorType"); kind != "" && kind != "CPU" {
			continue
		}
		if n.text("Status", "State") == "Absent" {
			continue
		}
		if s.Architecture == "" {
			s.Architecture = architecture(n.text("InstructionSet"), n.text("ProcessorArchitecture"))
		}
		if model := n.text("Model"); model != "" && !seen { // the summary of some names a family only
			s.CPUModel, seen = model, true
		}
		t := n.count("TotalThreads")
		threads, whole = threads+t, whole && t > 0
		if s.Threads > 0 && s.Architecture != "" {
			return nil // the summary has the rest
		}
	}
	if s.Threads == 0 && whole {
		s.Threads = threads
	}
	return nil
}

// architecture turns Redfish's words (DSP0268 Processor InstructionSet and
// ProcessorArchitecture) into Go's.
func architecture(set, family string) string {
	switch {
	case set == "x86-64", set == "" && family == "x86":
		return "amd64"
	case set == "ARM-A64", set == "" && family == "ARM":
		return "arm64"
	case set == "PowerISA", set == "" && family == "Power":
		return "ppc64le"
	}
	return ""
}

func (c *client) secureBoot(ctx context.Context, s *System, system node) *problem {
	link := system.link("SecureBoot")
	if link == "" {
		return absent("the system has no SecureBoot")
	}
	n, p := c.node(ctx, link)
	if p != nil {
		return p
	}
	s.SecureBoot, s.SecureBootMode = n.text("SecureBootCurrentBoot"), n.text("SecureBootMode")
	if s.SecureBoot == "" && n["SecureBootEnable"] != nil {
		s.SecureBoot = map[bool]string{true: "Enabled", false: "Disabled"}[n.yes("SecureBootEnable")]
	}
	return nil
}

// bios reads the boot mode of the BIOS settings: BootMode of Dell and HPE,
// BootModes_SystemBootMode of Lenovo, BootModeSelect and a number of Supermicro.
func (c *client) bios(ctx context.Context, s *System, system node) *problem {
	link := system.link("Bios")
	if link == "" {
		return absent("the system has no Bios")
	}
	n, p := c.node(ctx, link)
	if p != nil {
		return p
	}
	attributes := n.sub("Attributes")
	for key := range attributes {
		k := strings.ToLower(key)
		if k != "bootmode" && k != "bootmodes_systembootmode" && !strings.HasPrefix(k, "bootmodeselect") {
			continue
		}
		if mode := bootMode(attributes.text(key)); mode != "" {
			s.BootMode = mode
		}
	}
	return nil
}

// manager reads the BMC itself: its firmware and its clock.
func (c *client) manager(ctx context.Context, a *Answer, system node) (node, *problem) {
	links := system.links("Links", "ManagedBy")
	if len(links) == 0 {
		var p *problem
		if links, p = c.members(ctx, "/redfish/v1/Managers"); p != nil {
			return nil, p
		}
	}
	if len(links) == 0 {
		return nil, absent("the system has no manager")
	}
	n, p := c.node(ctx, links[0])
	if p != nil {
		return nil, p
	}
	a.Manager = &Manager{Model: n.text("Model"), Firmware: n.text("FirmwareVersion")}
	if at, ok := clock(n.text("DateTime"), n.text("DateTimeLocalOffset")); ok {
		a.Manager.Clock, a.Manager.AskedAt, a.Manager.Round = at, c.lastSent.Add(c.lastTook/2).UTC(), c.lastTook.Milliseconds()
	}
	if link := n.link("NetworkProtocol"); link != "" {
		if protocols, p := c.node(ctx, link); p == nil && protocols.sub("NTP") != nil {
			a.Manager.NTP = map[bool]string{true: "on", false: "off"}[protocols.yes("NTP", "ProtocolEnabled")]
		}
	}
	return n, nil
}

// clock reads a time with its offset, which some write apart from it.
func clock(text, offset string) (time.Time, bool) {
	for _, try := range []string{text, text + offset} {
		if at, err := time.Parse(time.RFC3339, try); err == nil && at.Year() >= 1970 && at.Year() <= 2200 {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// media reads the virtual drives. Some vendors have them below the system, some below the
// manager, some below both.
func (c *client) media(ctx context.Context, a *Answer, system, manager node) *problem {
	read := false
	var wrong []*problem
	for _, link := range []string{system.link("VirtualMedia"), manager.link("VirtualMedia")} {
		if link == "" || read {
			continue
		}
		list, p := c.all(ctx, link)
		if p != nil {
			wrong = append(wrong, p)
			continue
		}
		read = len(list) > 0
		for _, n := range list {
			a.Media = append(a.Media, slotOf(n))
		}
	}
	switch {
	case read:
		return nil
	case len(wrong) > 0:
		return problemOf(wrong...)
	case manager == nil && system.link("VirtualMedia") == "":
		return &problem{failure: a.Unread[PartManager].Failure, detail: "virtual media can be below the manager, which was not read"}
	}
	return absent("neither the system nor its manager has virtual drives")
}

// slotOf reads a virtual drive. Inserted may be null, or missing where an image is named
// (DSP0268 VirtualMedia).
func slotOf(n node) Slot {
	image := imageName(n.text("ImageName"))
	if image == "" {
		image = imageName(n.text("Image"))
	}
	inserted, shown := n["Inserted"].(bool)
	_, named := n["Image"]
	types := n.texts("MediaTypes")
	return Slot{
		ID: n.id(), CD: slices.Contains(types, "CD") || slices.Contains(types, "DVD"), Untyped: len(types) == 0, Image: image,
		Inserted: inserted || !shown && image != "", Hidden: !shown && !named && image == "",
	}
}

// imageName is the last part of an image's URL: what stands before it may hold a password.
func imageName(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return wire.Clip(url[strings.LastIndexAny(url, "/\\")+1:])
}

// account looks for the rights of the account that is used.
func (c *client) account(ctx context.Context, a *Answer) *problem {
	if c.credential == nil {
		return absent("no account is used")
	}
	list, p := c.members(ctx, "/redfish/v1/AccountService/Accounts")
	if p != nil {
		return p
	}
	var hidden *problem
	for _, member := range list {
		n, p := c.node(ctx, member)
		switch {
		case p != nil && p.failure == Forbidden: // mostly the account of somebody else
			hidden = p
			continue
		case p != nil && p.failure == Absent:
			continue
		case p != nil:
			return p
		}
		if name, _ := n["UserName"].(string); name != c.credential.user {
			continue
		}
		role := n.link("Links", "Role")
		a.RoleID = n.text("RoleId")
		if role == "" {
			return absent("the account names no role")
		}
		r, p := c.node(ctx, role)
		if p != nil {
			return p
		}
		a.Privileges = r.texts("AssignedPrivileges")
		if len(a.Privileges) == 0 {
			return absent("the role lists no privileges")
		}
		return nil
	}
	if hidden != nil {
		return hidden
	}
	return absent("the account is not listed: it may be one of a directory")
}
