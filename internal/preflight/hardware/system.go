package hardware

import (
	"context"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// systemArea is the area hardware-system: what BMCs show of their machines, against the plan: boot, virtual media, processors, memory, health.
type systemArea struct {
	BootMode     check.Problems // hosts that boot in another mode than the plan has
	SecureBoot   check.Problems // hosts that have no Secure Boot to switch on
	NoMedia      check.Problems // hosts without the virtual drive that their driver needs
	MediaLeft    check.Problems // hosts with an image in a virtual drive
	Override     check.Problems // hosts that boot from something else each time
	Driver       check.Problems // drivers that are not for the BMC
	Architecture check.Problems // hosts of another architecture than the plan has
	Small        check.Problems // hosts with too few processors or too little memory
	Unhealthy    check.Problems // hosts whose BMC reports a failure
	Changed      check.Problems // hosts that have less than metal3 found in them
}

var systemChecks = check.Area("hardware-system", needs, readSystem, check.Fields[systemArea]{
	"hardware-boot-mode":             func(f *systemArea) *check.Problems { return &f.BootMode },
	"hardware-secure-boot-missing":   func(f *systemArea) *check.Problems { return &f.SecureBoot },
	"hardware-virtual-media-missing": func(f *systemArea) *check.Problems { return &f.NoMedia },
	"hardware-image-left":            func(f *systemArea) *check.Problems { return &f.MediaLeft },
	"hardware-boot-override":         func(f *systemArea) *check.Problems { return &f.Override },
	"hardware-driver-unfit":          func(f *systemArea) *check.Problems { return &f.Driver },
	"hardware-architecture":          func(f *systemArea) *check.Problems { return &f.Architecture },
	"hardware-too-small":             func(f *systemArea) *check.Problems { return &f.Small },
	"hardware-unhealthy":             func(f *systemArea) *check.Problems { return &f.Unhealthy },
	"hardware-changed":               func(f *systemArea) *check.Problems { return &f.Changed },
})

func readSystem(ctx context.Context, w *facts.World) (systemArea, error) {
	var f systemArea
	list, err := hosts(ctx, w)
	if err != nil {
		return f, err
	}
	eachHost(&f.BootMode, list, shown(host.bootModeDiffers, bmc.PartBIOS))
	eachHost(&f.SecureBoot, list, shown(host.noSecureBoot, bmc.PartSecureBoot))
	eachHost(&f.NoMedia, list, shown(host.noMedia, bmc.PartMedia))
	eachHost(&f.MediaLeft, list, shown(host.mediaLeft, bmc.PartMedia))
	eachHost(&f.Override, list, shown(host.overridden))
	eachHost(&f.Driver, list, shown(host.wrongDriver, bmc.PartManager))
	eachHost(&f.Architecture, list, shown(func(h host) result {
		switch have := h.System.Architecture; {
		case h.Architecture == "" || have == h.Architecture:
			return fine
		case have == "":
			return result{unknown: "its BMC does not show the architecture of its processors"}
		default:
			return wrong("its processors are %s, the plan has %s", have, h.Architecture)
		}
	}, bmc.PartProcessors))
	eachHost(&f.Small, list, shown(host.small, bmc.PartProcessors))
	eachHost(&f.Unhealthy, list, shown(func(h host) result {
		switch s := h.System; s.Health {
		case "Critical", "Warning":
			return wrong("its BMC reports the health %s", s.Health)
		case "":
			return result{unknown: "its BMC does not report its health"}
		}
		return fine
	}))
	eachHost(&f.Changed, list, shown(host.lost, bmc.PartDisks))
	return f, nil
}

// mediaLeft: a drive that does not show whether it is empty can hold an image.
func (h host) mediaLeft() result {
	hidden := ""
	for _, s := range h.Media {
		switch {
		case s.Inserted:
			return wrong("the virtual drive %s holds the image %q: the machine can boot it again", s.ID, s.Image)
		case s.Hidden:
			hidden = s.ID
		}
	}
	if hidden != "" {
		return result{unknown: "its BMC does not show whether the virtual drive " + hidden + " is empty"}
	}
	return fine
}

func (h host) overridden() result {
	switch s := h.System; {
	case s.OverrideEnabled == "":
		return result{unknown: "its BMC does not show its boot override"}
	case s.OverrideEnabled == "Continuous" && s.OverrideTarget == "":
		return result{unknown: "its BMC does not show from what its boot override boots"}
	case s.OverrideEnabled == "Continuous" && s.OverrideTarget != "None" && s.OverrideTarget != "Hdd":
		return wrong("it boots from %s at each start (BootSourceOverrideEnabled is Continuous): it never boots its disk", s.OverrideTarget)
	}
	return fine
}

// wantsSecureBoot: the word of install-config and BareMetalHost (metal3-io/baremetal-operator:
// apis/metal3.io/v1alpha1/baremetalhost_types.go BootMode).
func (h host) wantsSecureBoot() bool { return strings.EqualFold(h.BootMode, "UEFISecureBoot") }

// mode is the boot mode of a machine, and how it is known. The BIOS setting counts before
// the mode of the next override, which is all that some services have.
func (h host) mode() (mode, by string) {
	if h.System.BootMode != "" {
		return h.System.BootMode, "its BIOS setting"
	}
	return h.System.OverrideMode, "BootSourceOverrideMode"
}

// bootModeDiffers: an agent-based installation takes no boot mode, and boots in either.
// Without one in the plan metal3 boots with UEFI.
func (h host) bootModeDiffers() result {
	mode, by := h.mode()
	if h.ByAgent || h.Address == "" {
		return fine
	}
	if mode == "" {
		return result{unknown: "its BMC does not show its boot mode"}
	}
	want := "UEFI"
	if strings.EqualFold(h.BootMode, "legacy") {
		want = "Legacy"
	}
	if mode == want {
		return fine
	}
	return wrong("it boots in mode %s (%s), the plan has %s", mode, by, want)
}

func (h host) noSecureBoot() result {
	switch {
	case !h.wantsSecureBoot():
		return fine
	case h.lacks(bmc.PartSecureBoot):
		return wrong("the plan has UEFISecureBoot, and its BMC has no Secure Boot to switch on")
	case h.System.SecureBootMode == "SetupMode":
		return wrong("the plan has UEFISecureBoot, and Secure Boot is in SetupMode: it has no keys")
	case h.System.SecureBootMode == "":
		return result{unknown: "its BMC does not show whether Secure Boot has keys (SecureBootMode)"}
	}
	return fine
}

func (h host) byMedia() bool { return strings.HasSuffix(h.Driver, "-virtualmedia") }

func (h host) noMedia() result {
	if !h.byMedia() {
		return fine
	}
	if h.lacks(bmc.PartMedia) {
		return wrong("%s boots from virtual media, and its BMC has no virtual drive", h.Driver)
	}
	untyped := ""
	for _, s := range h.Media {
		switch {
		case s.CD:
			return fine
		case s.Untyped:
			untyped = s.ID
		}
	}
	if untyped != "" {
		return result{unknown: "its BMC shows the virtual drive " + untyped + " without its MediaTypes"}
	}
	return wrong("%s boots from a virtual CD, and none of the %d virtual drives takes one", h.Driver, len(h.Media))
}

// wrongDriver: the drivers of Dell use its own resources, and the common one for virtual
// media refuses iDRACs before firmware 6 (openstack/ironic:
// ironic/drivers/modules/redfish/boot.py RedfishVirtualMediaBoot._validate_vendor; newer
// releases refuse those after 7, too, which is left out here). ilo5-redfish and ilo5-virtualmedia
// are other names of redfish and redfish-virtualmedia, and work with any vendor
// (metal3-io/baremetal-operator:pkg/hardwareutils/bmc redfish.go, redfish_virtualmedia.go init).
func (h host) wrongDriver() result {
	maker, common := h.System.Manufacturer, h.Driver == "redfish-virtualmedia" || h.Driver == "ilo5-virtualmedia"
	dell := strings.HasPrefix(strings.ToLower(maker), "dell")
	switch {
	case maker == "" && (strings.HasPrefix(h.Driver, "idrac-") || common):
		return result{unknown: "its BMC does not show who made it: whether " + h.Driver + " is for it depends on that"}
	case strings.HasPrefix(h.Driver, "idrac-") && !dell:
		return wrong("%s is for BMCs of Dell, and this machine is of %s", h.Driver, maker).as(h.Driver + " for " + h.Host)
	case common && dell:
		return h.mediaOfDell()
	}
	return fine
}

func (h host) mediaOfDell() result {
	firmware := ""
	if h.Manager != nil {
		firmware = h.Manager.Firmware
	}
	major, _, _ := strings.Cut(firmware, ".")
	switch v, err := strconv.Atoi(major); {
	case err != nil:
		return result{unknown: "its BMC does not show its firmware: " + h.Driver + " needs iDRAC firmware 6"}
	case v < 6:
		return wrong("%s needs iDRAC firmware 6, and this BMC has %s; write idrac-virtualmedia", h.Driver, firmware).as(h.Driver + " for " + h.Host)
	}
	return fine
}

// least is what a host needs (openshift/assisted-service: data/default_hw_requirements.json).
func least(role string) (threads, gib int) {
	if role == "master" {
		return 4, 16
	}
	return 2, 8
}

func (h host) small() result {
	threads, gib := least(h.Role)
	s := h.System
	have := max(s.Threads, s.CPUs) // each processor has a thread
	switch {
	case s.MemoryGiB > 0 && s.MemoryGiB < gib-1: // some of it is taken by firmware
		return wrong("it has %d GiB of memory, and needs %d", s.MemoryGiB, gib)
	case s.Threads > 0 && s.Threads < threads:
		return wrong("it has %d processor threads, and needs %d", s.Threads, threads)
	case s.Threads == 0 && have < threads:
		return result{unknown: "its BMC does not show how many processor threads it has"}
	case s.MemoryGiB == 0:
		return result{unknown: "its BMC does not show how much memory it has"}
	}
	return fine
}

// lost compares with what metal3 found in the machine. Serial numbers of disks are compared
// only where BMC and inspection write them alike.
func (h host) lost() result {
	i := h.Inspected
	if i == nil {
		return fine
	}
	have := h.System.MemoryGiB
	if have > 0 && i.MemoryGiB > 0 && have < i.MemoryGiB-1 {
		return wrong("it has %d GiB of memory, and had %d when it was inspected", have, i.MemoryGiB)
	}
	r := h.lostDisk()
	if r == fine && have == 0 && i.MemoryGiB > 0 {
		return result{unknown: "its BMC does not show how much memory it has"}
	}
	return r
}

func (h host) lostDisk() result {
	have := map[string]bool{}
	for _, d := range h.Disks {
		have[strings.ToUpper(d.Serial)] = true
	}
	var gone []string
	for _, serial := range h.Inspected.Serials {
		if !have[strings.ToUpper(serial)] {
			gone = append(gone, serial)
		}
	}
	switch {
	case len(gone) == 0:
		return fine
	case h.off():
		return result{unknown: "it is off, and its BMC does not list all its disks"}
	case len(gone) == len(h.Inspected.Serials):
		return result{unknown: "its BMC shows none of the serial numbers that its inspection found: it can write them in another way"}
	}
	return wrong("the disk with serial number %s is no longer shown; it was there when the host was inspected", gone[0])
}
