package hardware

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
)

// own are properties that each machine has for itself. They are shown and never compared.
var own = []property{
	{"serial number", func(h host) string { return h.System.Serial }, ""},
	{"boot order", func(h host) string { return strings.Join(h.System.BootOrder, ", ") }, ""},
	{"network ports", portWords, ""},
}

// ownRows are their lines in the table.
func ownRows(list []host) []diagnosis.MachineRow {
	var rows []diagnosis.MachineRow
	for _, p := range own {
		row, known := diagnosis.MachineRow{Property: p.name, Own: true}, false
		for _, h := range list {
			if h.System == nil {
				continue
			}
			v := p.value(h)
			known = known || v != ""
			row.Values = append(row.Values, v)
		}
		if known {
			rows = append(rows, row)
		}
	}
	return rows
}

// portWords are the network ports of a machine: name, MAC address, link and speed.
func portWords(h host) string {
	var list []string
	for _, n := range h.NICs {
		if n.Internal {
			continue
		}
		mac, link := n.MAC, n.Link
		if mac == "" {
			mac = "MAC address not shown"
		}
		if link == "" {
			link = "link not shown"
		}
		words := join(n.ID, mac, link)
		if n.Link == bmc.LinkUp && n.Mbps > 0 {
			words += fmt.Sprintf(" %d Mbit/s", n.Mbps)
		}
		list = append(list, words)
	}
	return strings.Join(list, ", ")
}

// overrideWords say what the machine boots instead of its boot order.
func overrideWords(h host) string {
	s := h.System
	switch {
	case s.OverrideEnabled == "":
		return ""
	case s.OverrideEnabled == "Disabled", s.OverrideTarget == "None":
		return "none"
	case s.OverrideTarget == "":
		return s.OverrideEnabled
	}
	return s.OverrideEnabled + ": " + s.OverrideTarget
}

// mediaWords say what is in the virtual drives.
func mediaWords(h host) string {
	if h.lacks(bmc.PartMedia) {
		return "no virtual drive"
	}
	var images []string
	hidden := len(h.Media) == 0
	for _, s := range h.Media {
		switch {
		case s.Inserted && s.Image == "":
			images = append(images, "an image in "+s.ID)
		case s.Inserted:
			images = append(images, s.Image)
		}
		hidden = hidden || s.Hidden
	}
	switch {
	case len(images) > 0:
		return strings.Join(images, ", ")
	case hidden:
		return ""
	}
	return "empty"
}
