// Package ramdisk computes what the inspection ramdisk of a host reported: the kernel and
// ironic-python-agent, on the host's console or in the logs that ironic keeps.
//
// Invariants:
//   - A cause needs a line that names it. A console without such a line proves nothing.
//   - A later success, a later failure or a new boot in the same text replaces what was
//     logged before it.
//   - A transceiver that cannot be read is no cause by itself: an empty cage logs the
//     same line on a host that works.
package ramdisk

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// logs selects the logs of ramdisks that ironic collected
// (openshift/cluster-baremetal-operator:provisioning/baremetal_pod.go createContainerMetal3RamdiskLogs).
var logs = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MachineAPINamespace, Container: "metal3-ramdisk-logs"}

// ramdisk is what the ramdisk of one host reported.
type ramdisk struct {
	Cause     facts.Field[string] `cel:"cause"`     // no-nic, no-address, mac-unknown, ironic-unreachable, boot-failed; "" after a lookup that succeeded
	Class     facts.Field[string] `cel:"class"`     // of ironic-unreachable: dns, refused, timeout, no-route, tls, proxy, closed, other
	Endpoint  facts.Field[string] `cel:"endpoint"`  // of ironic, as the agent called it
	Error     facts.Field[string] `cel:"error"`     // the line
	BootMAC   facts.Field[string] `cel:"bootMAC"`   // spec.bootMACAddress
	MACAbsent facts.Field[bool]   `cel:"macAbsent"` // the host has no NIC with bootMACAddress

	Driver facts.Field[string] `cel:"driver"` // of a NIC that it could not start; "" for none
	Device facts.Field[string] `cel:"device"` // its PCI address

	Module       facts.Field[string] `cel:"module"` // PCI address of a port whose transceiver could not be read; "" for none
	ModuleStatus facts.Field[string] `cel:"moduleStatus"`
	ModuleError  facts.Field[string] `cel:"moduleError"`  // what the status means
	Inconclusive facts.Field[bool]   `cel:"inconclusive"` // neither the agent nor a NIC driver reported anything else
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact} }

var fact = facts.Define("host-ramdisk", fault.Host, "what the inspection ramdisk of the host reported: network, lookup in ironic, NIC drivers, boot",
	slices.Concat(inventory.Needs(), []evidence.Need{evidence.Texts(logs), evidence.Objects(evidence.Infrastructures, "")}), read)

// read computes the fact.
func read(ctx context.Context, w *facts.World, s fault.Subject) (ramdisk, error) {
	w.Concerns(func(t evidence.Text) bool { return t.Kind == evidence.Console && inventory.Shows(s.Name)(t) })
	h, err := baremetal.Find(ctx, w, s.Name)
	if err != nil {
		return ramdisk{}, err
	}
	logs, err := linesOf(ctx, w, logs, ofHost(h))
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return ramdisk{}, err
	}
	consoles, missing := linesOf(ctx, w, inventory.Consoles, func(m evidence.Match) bool { return inventory.SameName(m.Text.Host, s.Name) })
	if _, ok := evidence.AsUnavailable(missing); missing != nil && !ok {
		return ramdisk{}, missing
	}
	if err := inventory.CutOff(ctx, w, inventory.Consoles, s.Name); err != nil {
		return ramdisk{}, err // the last line decides
	}
	b := readBoot(append(logs, consoles...))
	if b.empty() {
		return ramdisk{}, noConsole(h)
	}
	return b.fields(h), nil
}

// noConsole is why the cause is not known.
func noConsole(h inventory.Host) *evidence.Unavailable {
	u := &evidence.Unavailable{Need: evidence.Texts(inventory.Consoles), Why: evidence.NotCollected,
		Detail: "no console of " + h.Name + " was given", Supply: evidence.Supply{Kind: evidence.SupplyConsole, Host: h.Name}}
	if inventory.ConsoleGiven(h) {
		u.Detail = "the console of " + h.Name + " shows no line of ironic-python-agent: give all that it shows from the start of the ramdisk until " +
			"its inspection ends"
	}
	return u
}

// ofHost selects the lines of one host's ramdisk. Each is prefixed with the name of the
// log bundle, which begins with the UUID and the name of ironic's node
// (openstack/ironic:ironic/drivers/utils.py get_ramdisk_logs_file_name,
// openshift/ironic-image:scripts/runlogwatch.sh).
func ofHost(h inventory.Host) func(evidence.Match) bool {
	id, name := h.BMH.API.Status.Provisioning.ID, h.BMH.API.Name
	return func(m evidence.Match) bool {
		bundle := inBundle.FindStringSubmatch(m.Line.Text)
		if bundle == nil {
			return false
		}
		uuid, rest, _ := strings.Cut(bundle[1], "_")
		if id != "" {
			return uuid == id
		}
		node, _, _ := strings.Cut(rest, "_")
		_, last, ok := strings.Cut(node, "~") // namespace~name; up to 4.8 the name alone
		return ok && last == name || node == name
	}
}

var inBundle = regexp.MustCompile(`(?:^|\s)(\S+)\.tar\.gz: `)

type line struct {
	evidence.Match
	id string
}

// linesOf returns the lines of a host in the order of the texts.
func linesOf(ctx context.Context, w *facts.World, q evidence.TextQuery, of func(evidence.Match) bool) ([]line, error) {
	var lines []line
	for _, id := range messages {
		list, err := w.Matches(ctx, q, id)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if of(m) {
				lines = append(lines, line{m, id})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		switch {
		case a.Text.Previous != b.Text.Previous && a.Text.Previous:
			return -1 // a container's log before that of its restart
		case a.Text.Previous != b.Text.Previous:
			return 1
		}
		return cmp.Or(strings.Compare(a.Text.Path, b.Text.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return lines, nil
}

// boot is what is left of the lines.
type boot struct {
	cause                   string
	outcome, driver, module *line // the lines that show it
	unit                    *line // the first unit that failed, before an emergency shell
	live                    bool  // the boot is one of a ramdisk
}

// readBoot plays the lines of each text; the last text that tells something counts.
func readBoot(lines []line) boot {
	var last boot
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(l line) bool { return l.Text.Path != lines[0].Text.Path })
		if n < 0 {
			n = len(lines)
		}
		if b := followOne(lines[:n]); !b.empty() {
			last = b
		}
		lines = lines[n:]
	}
	return last
}

// empty reports whether nothing is known.
func (b boot) empty() bool { return b.outcome == nil && b.driver == nil && b.module == nil }

// followOne plays the lines of one text; what was logged last counts.
func followOne(lines []line) boot {
	var b boot
	for i := range lines {
		l := &lines[i]
		switch l.id {
		case sigKernel:
			b = boot{}
		case sigLive:
			b.live = true
		case sigUnit:
			if b.unit == nil {
				b.unit = l
			}
		case sigEmergency, sigLocked:
			if b.live && b.cause != causeBoot {
				b.cause, b.outcome = causeBoot, l
				if b.unit != nil {
					b.outcome = b.unit
				}
			}
		case sigLookupDone, sigInspected:
			b = boot{outcome: l, live: true}
		case sigProbe, sigInit:
			b.driver = l
		case sigModule:
			if b.module == nil || b.module.Groups[2] == noTransceiver {
				b.module = l // an empty cage tells least
			}
		default:
			b.live = true
			if b.cause != causeNIC { // without a NIC each lookup fails, too
				b.cause, b.outcome = causes[l.id], l
			}
		}
	}
	return b
}

// fields returns what the lines show.
func (b boot) fields(h inventory.Host) ramdisk {
	var f ramdisk
	api := &h.BMH.API
	f.BootMAC.Set(strings.ToLower(api.Spec.BootMACAddress),
		evidence.Item{Locator: h.BMH.Loc.At("spec.bootMACAddress"), Excerpt: "bootMACAddress: " + api.Spec.BootMACAddress})
	if b.outcome == nil {
		f.Cause.Miss(noConsole(h))
	} else {
		b.agent(&f)
	}
	if b.driver != nil {
		driver, device := nic(b.driver.Line.Text)
		f.Driver.Set(driver, b.driver.item())
		f.Device.Set(device, b.driver.item())
	}
	if b.module != nil {
		f.Module.Set(b.module.Groups[1], b.module.item())
		f.ModuleStatus.Set("0x"+b.module.Groups[2], b.module.item())
		f.ModuleError.Set(moduleStatus(b.module.Groups[2]), b.module.item())
		f.Inconclusive.Set(b.outcome == nil && b.driver == nil)
	}
	facts.Complete(&f)
	return f
}

// agent sets what ironic-python-agent reported.
func (b boot) agent(f *ramdisk) {
	text, item := b.outcome.Line.Text, b.outcome.item()
	f.Cause.Set(b.cause, item)
	f.Error.Set(excerpt.Of(text), item)
	facts.Prove(item, &f.Class, &f.Endpoint, &f.MACAbsent)
	f.Class.Set("", item)
	f.Endpoint.Set("", item)
	if b.cause == causeIronic {
		f.Class.Set(class(text), item)
		f.Endpoint.Set(endpoint(text), item)
	}
	macs := []string{}
	if b.cause == causeMAC {
		macs = macIn.FindAllString(strings.ToLower(text), -1)
	}
	f.MACAbsent.Set(len(macs) > 0 && f.BootMAC.Value() != "" && !slices.Contains(macs, f.BootMAC.Value()), item)
}

func (l *line) item() evidence.Item {
	return evidence.Item{Locator: l.Line.Loc, Excerpt: excerpt.Of(l.Line.Text), Time: l.Line.Time}
}
