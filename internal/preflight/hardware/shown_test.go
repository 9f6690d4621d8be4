package hardware

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
)

// TestWords: the words of the table of masters. What a BMC does not show is "", and is printed as a
// question mark.
func TestWords(t *testing.T) {
	full := machine("m0", "master", &bmc.System{
		Manufacturer: "Lenovo", Model: "SR650", CPUs: 2, CPUModel: "Xeon", Threads: 64, Architecture: "amd64", MemoryGiB: 128, BootMode: "UEFI", OverrideMode: "Legacy",
		SecureBoot: "Disabled", TPM: "TPM2_0", BIOS: "U8", Power: "On", Health: "OK", OverrideEnabled: "Once", OverrideTarget: "Cd", Serial: "S1", BootOrder: []string{"Boot1", "Boot2"},
	})
	full.Manager = &bmc.Manager{Firmware: "2.83"}
	full.Disks = []bmc.Disk{{ID: "0", Media: "SSD", Bytes: 480e9}, {ID: "1", Media: "SSD", Bytes: 480e9}, {ID: "2", Volume: true, Media: "HDD", Bytes: 2e12}, {ID: "3"}}
	full.NICs = []bmc.NIC{
		{ID: "1", MAC: "52:54:00:00:00:01", Link: bmc.LinkUp, Mbps: 25000}, {ID: "2", MAC: "52:54:00:00:00:02", Link: bmc.LinkDown, Mbps: 10000},
		{ID: "3"}, {ID: "ToManager", MAC: "0a:00:00:00:00:01", Link: bmc.LinkUp, Mbps: 100_000, Internal: true},
	}
	full.Media = []bmc.Slot{{ID: "1"}, {ID: "2", Inserted: true, Image: "agent.iso"}, {ID: "3", Inserted: true}}
	empty := machine("m1", "master", &bmc.System{})
	off := machine("m2", "master", &bmc.System{Power: "Off"})
	off.NICs = full.NICs
	off.Media = []bmc.Slot{{ID: "1"}}
	none := machine("m3", "master", &bmc.System{OverrideEnabled: "Disabled", OverrideTarget: "Pxe"})
	none.Unread = map[string]bmc.Unread{bmc.PartMedia: {Failure: bmc.Absent}}
	want := map[string][4]string{
		"model": {"Lenovo SR650"}, "processors": {"2 x Xeon"}, "threads": {"64"}, "architecture": {"amd64"}, "memory": {"128 GiB"}, "boot mode": {"UEFI"},
		"secure boot": {"Disabled"}, "TPM": {"TPM2_0"}, "BIOS": {"U8"}, "BMC firmware": {"2.83"}, "power": {"On", "", "Off"}, "network cards": {"2", "", "2"},
		"links up": {"1"}, "speed of links": {"25000 Mbit/s"}, "disks": {"1 x size not shown, 1 x volume 2000 GB, 2 x SSD 480 GB"}, "BMC clock": {},
		"health": {"OK"}, "boot override": {"Once: Cd", "", "", "none"}, "virtual media": {"agent.iso, an image in 3", "", "empty", "no virtual drive"},
		"serial number": {"S1"}, "boot order": {"Boot1, Boot2"},
		"network ports": {
			"1 52:54:00:00:00:01 up 25000 Mbit/s, 2 52:54:00:00:00:02 down, 3 MAC address not shown link not shown", "",
			"1 52:54:00:00:00:01 up 25000 Mbit/s, 2 52:54:00:00:00:02 down, 3 MAC address not shown link not shown",
		},
	}
	for _, p := range slices.Concat(properties, own) {
		words, ok := want[p.name]
		if !ok {
			t.Errorf("%s: its words are not tested", p.name)
		}
		for i, h := range []host{full, empty, off, none} {
			if got := p.value(h); got != words[i] {
				t.Errorf("%s of %s: %q, want %q", p.name, h.Host, got, words[i])
			}
		}
	}
}
