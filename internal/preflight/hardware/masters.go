package hardware

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// masterArea is the area hardware-masters: in what the machines of the control plane differ.
type masterArea struct {
	Mode    check.Problems // boot modes, where the masters have several
	Differs check.Problems // other properties in which they differ and that can matter
}

var masterChecks = check.Area("hardware-masters", needs, readMasters, check.Fields[masterArea]{
	"hardware-masters-boot-mode": func(f *masterArea) *check.Problems { return &f.Mode },
	"hardware-masters-differ":    func(f *masterArea) *check.Problems { return &f.Differs },
})

func readMasters(ctx context.Context, w *facts.World) (masterArea, error) {
	var f masterArea
	list, err := hosts(ctx, w)
	if err != nil {
		return f, err
	}
	list = masters(list)
	for _, p := range properties {
		to := &f.Differs
		if p.name == modeName {
			to = &f.Mode
		}
		if p.matters != "" {
			p.compare(to, list)
		}
	}
	unseen(&f.Mode, list)
	for _, h := range list {
		if h.System != nil || len(list) < 2 {
			continue
		}
		gap := &evidence.Unavailable{Need: needs[0], Why: evidence.Unreachable, Detail: h.Host + ": " + h.why(), Supply: h.notShown().supply}
		for _, to := range []*check.Problems{&f.Mode, &f.Differs} {
			if !to.Any() {
				to.Miss(gap)
			}
		}
	}
	return f, nil
}

// unseen makes a difference of boot modes unknown where one of them is not shown.
func unseen(to *check.Problems, list []host) {
	for _, h := range list {
		if h.System == nil || len(list) < 2 || to.Any() {
			continue
		}
		if mode, _ := h.mode(); mode == "" {
			to.Miss(&evidence.Unavailable{Need: needs[0], Why: evidence.Unreachable, Detail: h.Host + ": its BMC does not show its boot mode"})
		}
	}
}

// masters are the hosts of the control plane, or all where nothing tells which those are.
func masters(list []host) []host {
	if !slices.ContainsFunc(list, func(h host) bool { return h.Role != "" }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(h host) bool { return !h.master() })
}

// property is a line of the table: what it is of a machine ("" where it is not known), and
// why a difference can matter; "" where it hardly does.
type property struct {
	name    string
	of      func(host) string
	matters string
}

const modeName = "boot mode"

var properties = []property{
	{"model", func(h host) string { return join(h.System.Manufacturer, h.System.Model) },
		"other machines have other network cards, and so other interface names"},
	{"processors", func(h host) string {
		if h.System.CPUModel == "" || h.System.CPUs == 0 {
			return ""
		}
		return fmt.Sprintf("%d x %s", h.System.CPUs, h.System.CPUModel)
	}, "the slowest master limits etcd and the API"},
	{"threads", func(h host) string { return positive(h.System.Threads, "") }, ""},
	{"architecture", func(h host) string { return h.System.Architecture }, "one control plane has one architecture"},
	{"memory", func(h host) string { return positive(h.System.MemoryGiB, " GiB") }, "each master runs the same pods: the smallest one runs out first"},
	{modeName, func(h host) string { m, _ := h.mode(); return m }, "a machine in the other mode does not boot the same disk"},
	{"secure boot", func(h host) string { return h.System.SecureBoot }, "with Secure Boot the kernel refuses modules that are not signed"},
	{"TPM", func(h host) string { return h.System.TPM }, ""},
	{"BIOS", func(h host) string { return h.System.BIOS }, "other firmware boots and orders devices in another way"},
	{"BMC firmware", func(h host) string {
		if h.Manager == nil {
			return ""
		}
		return h.Manager.Firmware
	}, "virtual media and power depend on it"},
	{"power", func(h host) string { return h.System.Power }, ""},
	{"network cards", func(h host) string { return positive(h.cards(), "") }, "networkConfig with names needs the same cards on each host"},
	{"links up", func(h host) string {
		up := 0
		for _, n := range h.NICs {
			if n.Link == bmc.LinkUp && !n.Internal {
				up++
			}
		}
		if h.cards() == 0 || h.off() {
			return ""
		}
		return fmt.Sprint(up)
	}, ""},
	{"speed of links", func(h host) string {
		var fastest int64
		for _, n := range h.NICs {
			if n.Link == bmc.LinkUp && !n.Internal {
				fastest = max(fastest, n.Mbps)
			}
		}
		if h.off() { // what its cards have then is not what the system will have
			return ""
		}
		return positive(int(fastest), " Mbit/s")
	}, "the slowest link limits etcd"},
	{"disks", func(h host) string { return counted(h.diskWords()) }, "root device hints have to fit on each"},
	{"BMC clock", func(h host) string {
		if h.Manager == nil || h.Manager.Clock.IsZero() {
			return ""
		}
		off, where := h.Manager.Clock.Sub(h.Manager.AskedAt), "ahead"
		if off < 0 {
			off, where = -off, "behind"
		}
		if off <= time.Minute {
			return "right"
		}
		return distance(off.Round(time.Minute)) + " " + where // BMCs are asked one after the other: seconds between them are no difference
	}, ""}, // judged against ours, by a check of its own
	{"health", func(h host) string { return h.System.Health }, ""}, // the same
	{"boot override", overrideWords, ""},                           // the same
	{"virtual media", mediaWords, ""},                              // the same
}

func join(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }

func positive(n int, unit string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n) + unit
}

// counted writes equal words once, with their number.
func counted(words []string) string {
	n := map[string]int{}
	for _, w := range words {
		n[w]++
	}
	var out []string
	for w, count := range n {
		out = append(out, fmt.Sprintf("%d x %s", count, w))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// cards counts the ports that lead to a network.
func (h host) cards() int {
	n := 0
	for _, nic := range h.NICs {
		if !nic.Internal && nic.MAC != "" { // cards without an address are read of some hosts only
			n++
		}
	}
	return n
}

func (h host) diskWords() []string {
	var list []string
	for _, d := range h.Disks {
		kind := d.Media
		if d.Volume {
			kind = "volume"
		}
		size := "size not shown"
		if d.Bytes > 0 {
			size = fmt.Sprintf("%d GB", d.Bytes/1e9)
		}
		list = append(list, join(kind, size))
	}
	return list
}

// value is the property of a host, "" where it is not known.
func (p property) value(h host) string {
	if h.System == nil {
		return ""
	}
	return p.of(h)
}

// compare adds the property where two hosts are known to differ in it. One host that differs from
// at least two others that are alike is named in the title; where no value is that of most hosts,
// each is shown with its own.
func (p property) compare(to *check.Problems, list []host) {
	usual := p.usual(list)
	have, known := 0, 0
	var odd []host
	for _, h := range list {
		switch v := p.value(h); v {
		case "":
			continue
		case usual:
			have++
		default:
			odd = append(odd, h)
		}
		known++
	}
	if len(odd) == 0 {
		return
	}
	name := p.name
	if len(odd) == 1 && have > 1 {
		name += " (" + odd[0].Host + ")"
	}
	if 2*have <= known {
		first := slices.IndexFunc(list, func(h host) bool { return p.value(h) != "" })
		shown := list[first].says("")
		shown.Excerpt = fmt.Sprintf("%s: %s; %s", p.name, some(p.each(list)), p.matters)
		to.Add(name, shown)
		return
	}
	for _, h := range odd {
		to.Add(name, h.says("%s is %s, that of %d others is %s: %s", p.name, p.value(h), have, usual, p.matters))
	}
}

// each is what each host has, as far as it is known.
func (p property) each(list []host) []string {
	var words []string
	for _, h := range list {
		if v := p.value(h); v != "" {
			words = append(words, h.Host+" "+v)
		}
	}
	return words
}

// usual is what most hosts have; of equal numbers the first one.
func (p property) usual(list []host) string {
	n, best := map[string]int{}, ""
	for _, h := range list {
		v := p.value(h)
		if v == "" {
			continue
		}
		n[v]++
		if best == "" {
			best = v
		}
	}
	for _, h := range list {
		if v := p.value(h); v != "" && n[v] > n[best] {
			best = v
		}
	}
	return best
}

// Compare returns the machines of the control plane side by side, nil where no BMC was asked.
func Compare(ctx context.Context, w *facts.World) (*diagnosis.Machines, error) {
	list, err := hosts(ctx, w)
	if _, unread := evidence.AsUnavailable(err); unread || check.IsNotApplicable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := len(list)
	list = masters(list)
	m := &diagnosis.Machines{Asked: all, Hosts: []string{}, Rows: []diagnosis.MachineRow{}}
	for _, h := range list {
		if h.System == nil {
			m.Unread = append(m.Unread, diagnosis.UnreadMachine{Host: h.Host, Reason: h.why()})
			continue
		}
		m.Hosts = append(m.Hosts, h.Host)
	}
	for _, p := range properties {
		row := diagnosis.MachineRow{Property: p.name, Matters: p.matters}
		usual, known := p.usual(list), false
		for _, h := range list {
			if h.System == nil {
				continue
			}
			v := p.value(h)
			known = known || v != ""
			row.Differs = row.Differs || v != "" && v != usual
			row.Values = append(row.Values, v)
		}
		if known {
			m.Rows = append(m.Rows, row)
		}
	}
	m.Rows = append(m.Rows, ownRows(list)...)
	return m, nil
}
