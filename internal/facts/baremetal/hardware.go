package baremetal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// hardwareNeed is the copy of the inventory that survives the loss of a host's status.
var hardwareNeed = evidence.Objects(evidence.HardwareData, openshift.MachineAPINamespace)

// properties are what is compared, in the order in which differences are said.
// What is a host's own (serial numbers, MACs, addresses) is not among them.
var properties = []string{"product", "processor", "processors", "memory", "firmware", "network cards", "disks"}

// Inventory is what an inspection found.
type Inventory struct {
	Properties map[string]string // nil: never inspected
	Storage    []metal3.Storage
	Loc        evidence.Locator
}

// hardware returns the inspection's result from the host's status, else from its
// HardwareData.
func hardware(ctx context.Context, w *facts.World, h inventory.Host) (Inventory, error) {
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

// rootDevice is the fact root-device.
type rootDevice struct {
	Hints   facts.Field[string]    `cel:"hints"` // what is asked for, in words; "" for nothing
	Disks   facts.Field[int]       `cel:"disks"` // that the inspection found
	Fitting facts.Field[[]string]  `cel:"fitting"`
	Known   facts.Field[bool]      `cel:"known"` // the host was inspected
	Refused facts.Field[bool]      `cel:"refused"`
	Since   facts.Field[time.Time] `cel:"since"`
}

// rootDeviceFact is the fact root-device.
func rootDeviceFact() facts.Fact {
	return facts.Define("root-device", fault.Host, "which of the host's disks its root device hints fit", needs(hardwareNeed), readRootDevice)
}

func readRootDevice(ctx context.Context, w *facts.World, s fault.Subject) (rootDevice, error) {
	var f rootDevice
	h, err := Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	api := &h.BMH.API
	since := api.CreationTimestamp.UTC()
	if op := api.Status.OperationHistory.Inspect; !op.End.IsZero() {
		since = op.End.UTC()
	}
	f.Since.Set(since, shown(h, "status.operationHistory.inspect", "ended or created at "+stamp(since), since))
	f.Refused.Set(means(api.Status.ErrorMessage) == noRootDevice, errorMessage(h))
	hints := api.Spec.RootDeviceHints
	if hints == nil {
		none := shown(h, "spec.rootDeviceHints", "none", time.Time{})
		f.Hints.Set("", none)
		f.Fitting.Set(nil, none)
		f.Disks.Set(0, none)
		f.Known.Set(false, none)
		return f, nil
	}
	f.Hints.Set(HintWords(hints), shown(h, "spec.rootDeviceHints", HintWords(hints), time.Time{}))
	inv, err := hardware(ctx, w, h)
	if err != nil {
		return f, facts.Miss(err, &f.Disks, &f.Fitting, &f.Known)
	}
	f.Disks.Set(len(inv.Storage))
	f.Known.Set(inv.Properties != nil)
	f.Fitting.Set(FittingDisks(hints, inv.Storage))
	for _, d := range inv.Storage {
		text := fmt.Sprintf("%s %s %s %d GB, serial %s", d.Name, d.Vendor, d.Model, d.SizeBytes/1e9, d.SerialNumber)
		facts.Prove(evidence.Item{Locator: inv.Loc, Excerpt: text}, &f.Disks, &f.Fitting, &f.Known)
	}
	if inv.Properties != nil && len(inv.Storage) == 0 {
		facts.Prove(evidence.Item{Locator: inv.Loc, Excerpt: "the inspection found no disk"}, &f.Disks, &f.Fitting, &f.Known)
	}
	if len(f.Fitting.Value()) == 0 && hiddenDisk(hints, inv.Storage) {
		f.Fitting.Miss(obfuscation.Unavailable(hardwareNeed, "what the hints name"))
	}
	return f, nil
}

// FittingDisks returns the names of the disks that hints fit.
func FittingDisks(hints *metal3.RootDeviceHints, disks []metal3.Storage) []string {
	var names []string
	for _, d := range disks {
		if fits(hints, d) {
			names = append(names, d.Name)
		}
	}
	return names
}

// hiddenDisk reports whether a hint or what it is compared with was obfuscated.
func hiddenDisk(hints *metal3.RootDeviceHints, disks []metal3.Storage) bool {
	if slices.ContainsFunc(list(hints), func(h hint) bool { return obfuscation.Found(h.want) }) {
		return true
	}
	return slices.ContainsFunc(disks, func(d metal3.Storage) bool {
		return slices.ContainsFunc([]string{d.Name, d.HCTL, d.Model, d.Vendor, d.SerialNumber, d.WWN, d.WWNWithExtension, d.WWNVendorExtension},
			obfuscation.Found)
	})
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

// HintWords is what hints ask for.
func HintWords(h *metal3.RootDeviceHints) string {
	var words []string
	for _, x := range list(h) {
		words = append(words, x.name+" "+x.want)
	}
	return strings.Join(words, ", ")
}

// preparedImage is the fact preprovisioning-image.
type preparedImage struct {
	Exists facts.Field[bool]      `cel:"exists"`
	Ready  facts.Field[bool]      `cel:"ready"`
	Failed facts.Field[bool]      `cel:"failed"`
	Since  facts.Field[time.Time] `cel:"since"`
}

// preparedImageFact is the fact preprovisioning-image.
func preparedImageFact() facts.Fact {
	return facts.Define("preprovisioning-image", fault.Host, "whether the image that the host boots for its inspection has been made",
		needs(evidence.Objects(evidence.PreparedImages, openshift.MachineAPINamespace)), readPreparedImage)
}

func readPreparedImage(ctx context.Context, w *facts.World, s fault.Subject) (preparedImage, error) {
	var f preparedImage
	h, err := Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	o, ok, err := w.Get(ctx, evidence.PreparedImages, h.BMH.API.Namespace, h.BMH.API.Name)
	if err != nil {
		return f, err
	}
	if !ok {
		none := evidence.Listed(evidence.PreparedImages, h.BMH.API.Namespace, "none of "+h.BMH.API.Name)
		f.Exists.Set(false, none)
		f.Ready.Set(false, none)
		f.Failed.Set(false, none)
		facts.Complete(&f)
		return f, nil
	}
	made := o.Shows("metadata.creationTimestamp", "made "+stamp(o.Created()), o.Created())
	f.Exists.Set(true, made)
	f.Since.Set(o.Created(), made)
	list := conditions.Of(o)
	f.condition(conditions.Find(list, "Ready"), &f.Ready, o.Name, "Ready", "False")
	f.condition(conditions.Find(list, "Error"), &f.Failed, o.Name, "Error", "True")
	return f, nil
}

// condition sets a field from a condition, and why and since when where it is bad.
func (f *preparedImage) condition(c conditions.Condition, field *facts.Field[bool], name, kind, bad string) {
	if c.Type == "" {
		field.Miss(conditions.NotReported(evidence.PreparedImages, name, kind))
		return
	}
	item := c.Item()
	item.Excerpt = short(item.Excerpt)
	field.Set(c.Status == "True", item)
	if c.Status != bad {
		return
	}
	f.Since.Set(c.Since, item)
}
