package baremetal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// hardwareNeed is the copy of the inventory that survives the loss of a host's status.
var hardwareNeed = evidence.Objects(evidence.HardwareData, hosts.MachineAPI)

// properties are what is compared, in the order in which differences are said.
// What is a host's own (serial numbers, MACs, addresses) is not among them.
var properties = []string{"product", "processor", "processors", "memory", "firmware", "network cards", "disks"}

// Inventory is what an inspection found.
type Inventory struct {
	Properties map[string]string // nil: never inspected
	Storage    []metal3.Storage
	Loc        evidence.Locator
}

// inventory returns the inspection's result from the host's status, else from its
// HardwareData.
func inventory(ctx context.Context, w *facts.World, h hosts.Host) (Inventory, error) {
	hw, loc := h.BMH.API.Status.HardwareDetails, h.BMH.Loc.At("status.hardware")
	if hw == nil {
		o, ok, err := w.Get(ctx, evidence.HardwareData, h.BMH.API.Namespace, h.BMH.API.Name)
		if err != nil || !ok {
			return Inventory{}, err
		}
		data, err := evidence.Decode[metal3.HardwareData](o)
		if err != nil {
			return Inventory{}, err
		}
		hw, loc = data.Spec.HardwareDetails, o.Loc.At("spec.hardware")
	}
	if hw == nil {
		return Inventory{}, nil
	}
	return Inventory{Properties: describe(hw), Storage: hw.Storage, Loc: loc}, nil
}

func describe(hw *metal3.HardwareDetails) map[string]string {
	count := func(list []string) string {
		slices.Sort(list)
		var out []string
		for i := 0; i < len(list); {
			n := i
			for n < len(list) && list[n] == list[i] {
				n++
			}
			out = append(out, fmt.Sprintf("%d x %s", n-i, list[i]))
			i = n
		}
		return strings.Join(out, ", ")
	}
	var nics, disks []string
	seen := map[string]bool{}
	for _, n := range hw.NIC { // one entry per address: a card with two addresses is listed twice
		if !seen[n.Name+n.MAC] && n.Model != "" {
			seen[n.Name+n.MAC] = true
			nics = append(nics, strings.TrimSpace(n.Model))
		}
	}
	for _, d := range hw.Storage {
		disks = append(disks, strings.TrimSpace(fmt.Sprintf("%s %s %d GB", strings.TrimSpace(d.Vendor), strings.TrimSpace(d.Model), d.SizeBytes/1e9)))
	}
	m := map[string]string{
		"product":       strings.TrimSpace(hw.SystemVendor.Manufacturer + " " + hw.SystemVendor.ProductName),
		"processor":     strings.TrimSpace(hw.CPU.Model),
		"firmware":      strings.TrimSpace(hw.Firmware.BIOS.Vendor + " " + hw.Firmware.BIOS.Version),
		"network cards": count(nics),
		"disks":         count(disks),
	}
	if hw.CPU.Count > 0 {
		m["processors"] = fmt.Sprint(hw.CPU.Count)
	}
	if hw.RAMMebibytes > 0 {
		m["memory"] = fmt.Sprintf("%d GiB", (hw.RAMMebibytes+512)/1024)
	}
	return m
}

// RootDevice is the fact root-device.
type RootDevice struct {
	Hints   string    `cel:"hints"` // what is asked for, in words; "" for nothing
	Disks   int       `cel:"disks"` // that the inspection found
	Fitting []string  `cel:"fitting"`
	Known   bool      `cel:"known"` // the host was inspected
	Refused bool      `cel:"refused"`
	Since   time.Time `cel:"since"`
}

// RootDeviceFact is the fact root-device.
func RootDeviceFact() facts.Fact {
	return facts.DefinePlain("root-device", fault.Host, "which of the host's disks its root device hints fit", needs(hardwareNeed), readRootDevice)
}

func readRootDevice(ctx context.Context, w *facts.World, s fault.Subject) (RootDevice, facts.Proof, error) {
	var f RootDevice
	var p facts.Proof
	h, err := find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	api := &h.BMH.API
	f.Since = api.CreationTimestamp.UTC()
	if op := api.Status.OperationHistory.Inspect; !op.End.IsZero() {
		f.Since = op.End.UTC()
	}
	if f.Refused = Means(api.Status.ErrorMessage) == NoRootDevice; f.Refused {
		p.Add(h.BMH.Loc.At("status.errorMessage"), short(api.Status.ErrorMessage), time.Time{}, "refused")
	}
	hints := api.Spec.RootDeviceHints
	if hints == nil {
		return f, p, nil
	}
	f.Hints = hintWords(hints)
	p.Add(h.BMH.Loc.At("spec.rootDeviceHints"), f.Hints, time.Time{}, "hints")
	inv, err := inventory(ctx, w, h)
	if err != nil {
		err = miss(&p, err, "disks", "fitting", "known")
		return f, p, err
	}
	f.Known, f.Disks = inv.Properties != nil, len(inv.Storage)
	for _, d := range inv.Storage {
		if fits(hints, d) {
			f.Fitting = append(f.Fitting, d.Name)
		}
		p.Add(inv.Loc, fmt.Sprintf("%s %s %s %d GB, serial %s", d.Name, d.Vendor, d.Model, d.SizeBytes/1e9, d.SerialNumber), time.Time{}, "disks", "fitting", "known")
	}
	return f, p, nil
}

// hint is one comparison of a root device hint with a disk.
type hint struct {
	name, want string
	fits       func(metal3.Storage) bool
}

// list returns the hints that are set. Vendor and model may be a part of what the
// disk says, without regard to case; all others are equal to it
// (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go
// RootDeviceHints; openstack/ironic-lib:ironic_lib/utils.py match_root_device_hints).
func list(h *metal3.RootDeviceHints) []hint {
	part := func(have, want string) bool { return strings.Contains(strings.ToLower(have), strings.ToLower(want)) }
	same := strings.EqualFold
	all := []hint{
		{"deviceName", h.DeviceName, func(d metal3.Storage) bool {
			return d.Name == h.DeviceName || slices.Contains(d.AlternateNames, h.DeviceName)
		}},
		{"hctl", h.HCTL, func(d metal3.Storage) bool { return d.HCTL == h.HCTL }},
		{"model", h.Model, func(d metal3.Storage) bool { return part(d.Model, h.Model) }},
		{"vendor", h.Vendor, func(d metal3.Storage) bool { return part(d.Vendor, h.Vendor) }},
		{"serialNumber", h.SerialNumber, func(d metal3.Storage) bool { return same(d.SerialNumber, h.SerialNumber) }},
		{"wwn", h.WWN, func(d metal3.Storage) bool { return same(d.WWN, h.WWN) }},
		{"wwnWithExtension", h.WWNWithExtension, func(d metal3.Storage) bool { return same(d.WWNWithExtension, h.WWNWithExtension) }},
		{"wwnVendorExtension", h.WWNVendorExtension, func(d metal3.Storage) bool { return same(d.WWNVendorExtension, h.WWNVendorExtension) }},
	}
	if h.MinSizeGigabytes > 0 {
		all = append(all, hint{"minSizeGigabytes", fmt.Sprint(h.MinSizeGigabytes), func(d metal3.Storage) bool {
			return int64(d.SizeBytes) >= int64(h.MinSizeGigabytes)<<30
		}})
	}
	if h.Rotational != nil {
		all = append(all, hint{"rotational", fmt.Sprint(*h.Rotational), func(d metal3.Storage) bool { return d.Rotational == *h.Rotational }})
	}
	return slices.DeleteFunc(all, func(h hint) bool { return h.want == "" })
}

func fits(h *metal3.RootDeviceHints, d metal3.Storage) bool {
	return !slices.ContainsFunc(list(h), func(x hint) bool { return !x.fits(d) })
}

func hintWords(h *metal3.RootDeviceHints) string {
	var words []string
	for _, x := range list(h) {
		words = append(words, x.name+" "+x.want)
	}
	return strings.Join(words, ", ")
}

// PreparedImage is the fact preprovisioning-image.
type PreparedImage struct {
	Exists  bool      `cel:"exists"`
	Ready   bool      `cel:"ready"`
	Failed  bool      `cel:"failed"`
	Message string    `cel:"message"`
	Since   time.Time `cel:"since"`
}

// PreparedImageFact is the fact preprovisioning-image.
func PreparedImageFact() facts.Fact {
	return facts.DefinePlain("preprovisioning-image", fault.Host, "whether the image that the host boots for its inspection has been made",
		needs(evidence.Objects(evidence.PreparedImages, hosts.MachineAPI)), readPreparedImage)
}

func readPreparedImage(ctx context.Context, w *facts.World, s fault.Subject) (PreparedImage, facts.Proof, error) {
	var f PreparedImage
	var p facts.Proof
	h, err := find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	o, ok, err := w.Get(ctx, evidence.PreparedImages, h.BMH.API.Namespace, h.BMH.API.Name)
	if err != nil {
		return f, p, err
	}
	if !ok {
		p.Add(evidence.Locator{Path: "preprovisioningimages -n " + h.BMH.API.Namespace}, "none of "+h.BMH.API.Name, time.Time{}, "exists")
		return f, p, nil
	}
	f.Exists, f.Since = true, o.Created()
	p.Add(o.Loc, "made "+stamp(f.Since), f.Since, "exists")
	for _, c := range conditions.Of(o) {
		switch {
		case c.Type == "Ready":
			f.Ready = c.Status == "True"
		case c.Type == "Error":
			f.Failed = c.Status == "True"
		default:
			continue
		}
		if c.Status == "False" && c.Type == "Ready" || c.Status == "True" && c.Type == "Error" {
			f.Since = c.Since
			if c.Message != "" {
				f.Message = short(c.Message)
			}
		}
		p.Add(c.Loc, c.Type+"="+c.Status+" "+c.Reason+": "+short(c.Message), c.Since, "ready", "failed", "message", "since")
	}
	return f, p, nil
}
