package hardware

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// nicArea is the area hardware-nics: network cards that BMCs show, against the MAC addresses of the plan.
type nicArea struct {
	Missing check.Problems // MAC addresses of the plan that no network card has
	Down    check.Problems // hosts whose network card of the plan has no link
}

var nicChecks = check.Area("hardware-nics", needs, readNICs, check.Fields[nicArea]{
	"hardware-mac-missing": func(f *nicArea) *check.Problems { return &f.Missing },
	"hardware-link-down":   func(f *nicArea) *check.Problems { return &f.Down },
})

func readNICs(ctx context.Context, w *facts.World) (nicArea, error) {
	var f nicArea
	list, err := hosts(ctx, w)
	if err != nil {
		return f, err
	}
	eachHost(&f.Missing, list, shown(host.missingMAC, bmc.PartNICs))
	eachHost(&f.Down, list, shown(host.noLink, bmc.PartNICs))
	return f, nil
}

// noLink: some BMCs show no links, and of a machine that is off a link shows nothing.
func (h host) noLink() result {
	hidden := ""
	for _, want := range h.MACs {
		n := h.nic(want)
		switch {
		case n == nil:
		case n.Link == bmc.LinkDown && !h.off():
			return wrong("its network card %s (%s) has no link", n.ID, n.MAC)
		case n.Link != bmc.LinkUp:
			hidden = n.ID
		}
	}
	switch {
	case hidden != "" && h.off():
		return result{unknown: "it is off, and so are its links"}
	case hidden != "":
		return result{unknown: "its BMC does not show the link of its network card " + hidden}
	}
	return fine
}

func (h host) nic(mac string) *bmc.NIC {
	for i := range h.NICs {
		if want := bmc.MAC(mac); want != "" && h.NICs[i].MAC == want {
			return &h.NICs[i]
		}
	}
	return nil
}

// missingMAC: where a BMC shows no MAC address at all, or a card without one, or lists no cards
// besides the interfaces of the system, the missing one can be there.
func (h host) missingMAC() result {
	for _, want := range h.MACs {
		mac := bmc.MAC(want)
		if mac == "" || h.nic(mac) != nil {
			continue
		}
		var have []string
		for _, n := range h.NICs {
			switch {
			case n.Internal:
			case n.MAC == "":
				return result{unknown: "no card that its BMC shows has " + mac + ", and it shows " + n.ID + " without its MAC address"}
			default:
				have = append(have, n.MAC)
			}
		}
		switch {
		case len(have) == 0:
			return result{unknown: "its BMC shows no MAC address"}
		case h.lacks(bmc.PartCards):
			return result{unknown: "its BMC shows " + some(have) + " and not " + mac + ", and it lists no network cards: the address can be on one " +
				"that it does not show"}
		}
		return wrong("no network card of it has %s; its BMC shows %s", mac, some(have)).as(mac)
	}
	return fine
}

// some names the first of many values.
func some(list []string) string {
	const most = 6
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ")
}

// diskArea is the area hardware-disks: disks that BMCs show, against the root device hints of the plan and what the system needs.
type diskArea struct {
	NoFit   check.Problems // hosts without a disk of the size and the kind of their root device hints
	NoName  check.Problems // hosts whose BMC shows no disk with the model, serial number or WWN of the hints
	Small   check.Problems // hosts without a disk that is large enough
	Failing check.Problems // hosts with a disk that fails or will
	Slow    check.Problems // masters that have rotational disks only
}

var diskChecks = check.Area("hardware-disks", needs, readDisks, check.Fields[diskArea]{
	"hardware-root-device-missing": func(f *diskArea) *check.Problems { return &f.NoFit },
	"hardware-root-device-name":    func(f *diskArea) *check.Problems { return &f.NoName },
	"hardware-disk-small":          func(f *diskArea) *check.Problems { return &f.Small },
	"hardware-disk-failing":        func(f *diskArea) *check.Problems { return &f.Failing },
	"hardware-disk-slow":           func(f *diskArea) *check.Problems { return &f.Slow },
})

func readDisks(ctx context.Context, w *facts.World) (diskArea, error) {
	var f diskArea
	list, err := hosts(ctx, w)
	if err != nil {
		return f, err
	}
	for _, c := range []struct {
		to   *check.Problems
		test func(host) result
	}{{&f.NoFit, host.noFit}, {&f.NoName, host.noName}, {&f.Small, host.smallDisks}, {&f.Failing, host.failingDisk}, {&f.Slow, host.slowDisks}} {
		eachHost(c.to, list, shown(func(h host) result {
			if len(h.Disks) == 0 {
				return h.noDisks(c.to == &f.NoFit || c.to == &f.NoName, c.to == &f.Slow)
			}
			return c.test(h)
		}, bmc.PartDisks))
	}
	return f, nil
}

// noDisks is the result where a BMC lists no disk: what is about them is not known. Some BMCs
// list none while the machine is off.
func (h host) noDisks(ofHints, ofMasters bool) result {
	switch {
	case ofHints && h.Hints == nil, ofMasters && !h.master():
		return fine
	case h.off():
		return result{unknown: "it is off, and its BMC lists no disks"}
	}
	return result{unknown: "its BMC lists no disks"}
}

// noFit compares sizes and kinds, which mean the same to the BMC and to the kernel.
func (h host) noFit() result {
	if h.Hints == nil {
		return fine
	}
	return h.fit(metal3.RootDeviceHints{MinSizeGigabytes: h.Hints.MinSizeGigabytes, Rotational: h.Hints.Rotational})
}

// noName compares names. The kernel can have others than the BMC: of a disk behind a RAID
// controller or a bridge it sees what that shows. Names of devices, HCTL and vendors
// (ATA for each SATA disk) are the kernel's own, and not compared.
func (h host) noName() result {
	if h.Hints == nil {
		return fine
	}
	for _, d := range h.Disks {
		if d.Volume {
			return fine // the system sees the volume, whose names the BMC does not show
		}
	}
	return h.fit(metal3.RootDeviceHints{Model: h.Hints.Model, SerialNumber: h.Hints.SerialNumber, WWN: h.Hints.WWN})
}

func (h host) fit(hints metal3.RootDeviceHints) result {
	if hints == (metal3.RootDeviceHints{}) {
		return fine
	}
	var names []string
	hidden := ""
	for _, d := range h.Disks {
		if why := hiddenFrom(&hints, d); why != "" {
			hidden = "its BMC shows the disk " + d.ID + " without " + why
			continue
		}
		if len(baremetal.FittingDisks(&hints, []metal3.Storage{storageOf(d)})) > 0 {
			return fine
		}
		names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s, serial number %s, %d GB", d.Vendor, d.Model, d.Serial, d.Bytes/1e9)))
	}
	if hidden != "" {
		return result{unknown: hidden}
	}
	return wrong("no disk fits %s; its BMC shows %s", baremetal.HintWords(&hints), some(names))
}

// hiddenFrom names a property that a hint is about and that the BMC does not show of a disk.
func hiddenFrom(hints *metal3.RootDeviceHints, d bmc.Disk) string {
	for _, p := range []struct{ hint, have, name string }{
		{hints.Model, d.Model, "its model"}, {hints.SerialNumber, d.Serial, "its serial number"}, {hints.WWN, d.WWN, "its WWN"},
	} {
		if p.hint != "" && p.have == "" {
			return p.name
		}
	}
	switch {
	case hints.MinSizeGigabytes > 0 && d.Bytes == 0:
		return "its size"
	case hints.Rotational != nil && d.Media != "SSD" && d.Media != "HDD":
		return "whether it is rotational"
	}
	return ""
}

// storageOf is a disk as an inspection has it. WWNs are written with and without 0x.
func storageOf(d bmc.Disk) metal3.Storage {
	wwn := strings.ToLower(strings.NewReplacer(":", "", "-", "", " ", "").Replace(d.WWN))
	if wwn != "" && !strings.HasPrefix(wwn, "0x") && !strings.HasPrefix(wwn, "eui.") {
		wwn = "0x" + wwn
	}
	return metal3.Storage{Name: d.ID, Model: d.Model, Vendor: d.Vendor, SerialNumber: d.Serial, WWN: wwn, SizeBytes: metal3.Capacity(d.Bytes),
		Rotational: d.Media == "HDD"}
}

func (h host) smallDisks() result {
	const needed = 100e9
	var largest int64
	hidden := ""
	for _, d := range h.Disks {
		if d.Bytes == 0 {
			hidden = d.ID
		}
		largest = max(largest, d.Bytes)
	}
	switch {
	case largest >= needed:
		return fine
	case hidden != "":
		return result{unknown: "its BMC shows the disk " + hidden + " without its size"}
	}
	return wrong("its largest disk has %d GB, and %d are needed", largest/1e9, int64(needed/1e9))
}

func (h host) failingDisk() result {
	hidden := ""
	for _, d := range h.Disks {
		switch {
		case d.Failing || d.Health == "Critical":
			return wrong("the disk %s (%s, serial number %s) fails or is about to: health %s, "+
				"FailurePredicted %t", d.ID, d.Model, d.Serial, d.Health, d.Failing)
		case d.Health == "" && !d.Volume:
			hidden = d.ID
		}
	}
	if hidden != "" {
		return result{unknown: "its BMC does not show the health of the disk " + hidden}
	}
	return fine
}

func (h host) slowDisks() result {
	if !h.master() {
		return fine
	}
	hidden := ""
	for _, d := range h.Disks {
		switch {
		case d.Volume: // the cache of a RAID controller can be as fast as an SSD
			return fine
		case d.Media == "":
			hidden = d.ID
		case d.Media != "HDD":
			return fine
		}
	}
	if hidden != "" {
		return result{unknown: "its BMC does not show whether the disk " + hidden + " is rotational"}
	}
	return wrong("all %d disks are rotational (HDD): etcd needs the latency of an SSD", len(h.Disks))
}
