package machine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// unitNames are the units that lead to a running kubelet
// (openshift/machine-config-operator:templates/common/_base/units,
// templates/common/on-prem/units, templates/*/01-*-kubelet).
var unitNames = []string{
	"kubelet.service", "crio.service", "kubelet-dependencies.target", "machine-config-daemon-pull.service",
	"machine-config-daemon-firstboot.service", "node-valid-hostname.service", "nodeip-configuration.service",
	"ovs-configuration.service", "wait-for-primary-ip.service", "openvswitch.service", "ovsdb-server.service",
	"ovs-vswitchd.service", "NetworkManager.service", "NetworkManager-wait-online.service", "nmstate-configuration.service",
	"chronyd.service", "chrony-wait.service", "kubelet-auto-node-size.service", "rpm-ostreed.service", "systemd-journald.service",
}

// unitProperties are what is asked of each; all are in the systemd of RHEL 8, too.
var unitProperties = []string{
	"Id", "LoadState", "ActiveState", "SubState", "Result", "UnitFileState", "Job", "ConditionResult", "NRestarts", "ExecMainStatus", "StateChangeTimestamp",
}

func (s *Source) units(ctx context.Context) (part, error) {
	if !s.live {
		return part{}, s.copied(evidence.HostUnits)
	}
	args := append([]string{"show", "--no-pager", "--property=" + strings.Join(unitProperties, ","), "--"}, unitNames...)
	raw, err := output(ctx, s.opts.Runner, systemctl, args...)
	if err != nil {
		return part{}, unavailable(evidence.Objects(evidence.HostUnits, ""), systemctl, err)
	}
	list := parseUnits(raw)
	if len(list) == 0 {
		return part{}, &evidence.Unavailable{Need: evidence.Objects(evidence.HostUnits, ""), Why: evidence.Damaged,
			Detail: "systemctl gives no answer: in a container it needs the machine's process IDs (podman run --pid=host)"}
	}
	return part{onhost.Units{Units: list, At: s.now()}, "systemctl show"}, nil
}

// parseUnits reads the blocks of `systemctl show`; units that are not there are left
// out.
func parseUnits(raw []byte) []onhost.Unit {
	var list []onhost.Unit
	for block := range strings.SplitSeq(string(raw), "\n\n") {
		var u onhost.Unit
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			take(&u, key, value)
		}
		if u.Name != "" && u.Load != "not-found" && !slices.ContainsFunc(list, func(o onhost.Unit) bool { return o.Name == u.Name }) {
			list = append(list, u)
		}
	}
	return list
}

func take(u *onhost.Unit, key, value string) {
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
