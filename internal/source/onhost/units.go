package onhost

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// UnitNames are the units that lead to a running kubelet
// (openshift/machine-config-operator:templates/common/_base/units,
// templates/common/on-prem/units, templates/*/01-*-kubelet).
var UnitNames = []string{
	"kubelet.service", "crio.service", "kubelet-dependencies.target", "machine-config-daemon-pull.service",
	"machine-config-daemon-firstboot.service", "node-valid-hostname.service", "nodeip-configuration.service",
	"ovs-configuration.service", "wait-for-primary-ip.service", "openvswitch.service", "ovsdb-server.service",
	"ovs-vswitchd.service", "NetworkManager.service", "NetworkManager-wait-online.service", "nmstate-configuration.service",
	"chronyd.service", "chrony-wait.service", "kubelet-auto-node-size.service", "rpm-ostreed.service", "systemd-journald.service",
}

// ParseUnits reads the blocks of `systemctl show` for UnitNames; units that are not there
// are left out.
func ParseUnits(raw []byte) []Unit {
	var list []Unit
	for block := range strings.SplitSeq(string(raw), "\n\n") {
		var u Unit
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			take(&u, key, value)
		}
		if slices.Contains(UnitNames, u.Name) && u.Load != "not-found" && !slices.ContainsFunc(list, func(o Unit) bool { return o.Name == u.Name }) {
			list = append(list, u)
		}
	}
	return list
}

func take(u *Unit, key, value string) {
	number := func() int { n, _ := strconv.Atoi(value); return n }
	switch key {
	case "Id":
		u.Name = value
	case "LoadState":
		u.Load = value
	case "ActiveState":
		u.Active = value
	case "SubState":
		u.Sub = value
	case "Result":
		u.Result = value
	case "UnitFileState":
		u.UnitFile = value
	case "Job":
		u.Job = value != "" && value != "0"
	case "ConditionResult":
		u.Condition = value
	case "NRestarts":
		u.Restarts = number()
	case "ExecMainStatus":
		u.Exit = number()
	case "StateChangeTimestamp":
		if t, err := time.Parse("Mon 2006-01-02 15:04:05 MST", value); err == nil {
			u.Since = t.UTC()
		}
	}
}
