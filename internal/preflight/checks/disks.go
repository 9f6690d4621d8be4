package checks

import (
	"regexp"
	"strings"
)

// kernels are names that the kernel gives in the order in which it finds the disks.
var (
	kernels = regexp.MustCompile(`^/dev/(sd[a-z]+|nvme\d+n\d+|vd[a-z]+|xvd[a-z]+|dm-\d+|mmcblk\d+|pmem\d+)$`)
	hctl    = regexp.MustCompile(`^\d+:\d+:\d+:\d+$`)
)

// disks: pkg/types/baremetal/validation ValidateHostRootDeviceHints; agenthosts.go
// validateHostRootDeviceHints.
func (f *hostArea) disks(list []host) {
	for _, h := range list {
		if n := h.hints.get("deviceName"); n.text() != "" {
			v := n.text()
			rest, device := strings.CutPrefix(v, "/dev/")
			switch rest = strings.TrimPrefix(rest, "disk/by-path/"); {
			case !device:
				add(&f.RootDevice, n, h.title(), "%q is no path of a device; write /dev/disk/by-path/...", v)
			case strings.Contains(rest, "/"):
				add(&f.RootDevice, n, h.title(), "%s is refused: only /dev/NAME and /dev/disk/by-path/NAME are taken; write one of these, or "+
					"serialNumber or wwn", v)
			case kernels.MatchString(v):
				add(&f.Unstable, n, h.title(), "%s can be another disk after the next boot; write its /dev/disk/by-path/ name, serialNumber or wwn", v)
			}
		}
		if n := h.hints.get("rotational"); n.yes() && strings.Contains(h.hints.get("deviceName").text(), "nvme") {
			add(&f.RootDevice, n, h.title(), "an NVMe disk is not rotational, so no disk fits; remove rotational")
		}
		if n := h.hints.get("hctl"); n.text() != "" && !hctl.MatchString(n.text()) {
			add(&f.RootDevice, n, h.title(), "%q is not of the form 0:0:0:0", n.text())
		}
		if !h.agent {
			continue
		}
		for _, key := range []string{"wwnWithExtension", "wwnVendorExtension"} {
			if n := h.hints.get(key); n.text() != "" {
				add(&f.RootDevice, n, h.title(), "an agent-based installation refuses %s; write wwn or serialNumber", key)
			}
		}
	}
}

// disksTwice: each disk has a serial number and a WWN of its own, save those that QEMU makes up.
// A deviceName is one of each host.
func (f *hostArea) disksTwice(list []host) {
	seen := map[string]string{}
	for _, h := range list {
		for _, key := range []string{"serialNumber", "wwn", "wwnWithExtension"} {
			n := h.hints.get(key)
			if n.text() == "" || strings.HasPrefix(n.text(), "QM0") {
				continue
			}
			id := key + " " + strings.ToLower(n.text())
			if other, again := seen[id]; again && other != h.title() {
				add(&f.DiskTwice, n, n.text(), "%s of %s is that of the disk of %s, too; read it from the machine", key, h.title(), other)
			}
			seen[id] = h.title()
		}
	}
}
