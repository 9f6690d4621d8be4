package onhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// units is the fact host-units.
type units struct {
	KubeletRuns  facts.Field[bool]      `cel:"kubeletRuns"`
	Kubelet      facts.Field[string]    `cel:"kubelet"` // its state in systemd's words
	KubeletSince facts.Field[time.Time] `cel:"kubeletSince"`
	Restarts     facts.Field[int64]     `cel:"restarts"` // of the kubelet by systemd
	RuntimeRuns  facts.Field[bool]      `cel:"runtimeRuns"`
	Runtime      facts.Field[string]    `cel:"runtime"`
	RuntimeSince facts.Field[time.Time] `cel:"runtimeSince"`

	FirstBoot       facts.Field[string]    `cel:"firstBoot"` // state of machine-config-daemon-firstboot, "" where there is no such unit
	FirstBootFailed facts.Field[bool]      `cel:"firstBootFailed"`
	FirstBootRuns   facts.Field[bool]      `cel:"firstBootRuns"`
	FirstBootSince  facts.Field[time.Time] `cel:"firstBootSince"`
	PullRuns        facts.Field[bool]      `cel:"pullRuns"` // machine-config-daemon-pull has not ended
	PullSince       facts.Field[time.Time] `cel:"pullSince"`
	Failed          facts.Field[[]string]  `cel:"failed"`  // units that the kubelet requires and that failed
	Running         facts.Field[[]string]  `cel:"running"` // one-shot units before the kubelet that have not ended
	Before          facts.Field[string]    `cel:"before"`  // both in words
	BeforeSince     facts.Field[time.Time] `cel:"beforeSince"`
}

var unitsFact = facts.Define("host-units", fault.Host, "what systemd says of the kubelet, the container runtime and the units before them",
	needs(evidence.HostUnits), readUnits)

// The units before the kubelet, each of which keeps it from starting as long as it
// runs (openshift/machine-config-operator:templates/common/_base/units, common/on-prem/units).
var before = []string{
	"node-valid-hostname.service", "nodeip-configuration.service", "ovs-configuration.service", "wait-for-primary-ip.service",
	"NetworkManager-wait-online.service", "nmstate-configuration.service",
}

// required are those whose failure keeps it from starting, too: kubelet.service
// requires kubelet-dependencies.target, and that one these. The others it only wants.
var required = []string{"nodeip-configuration.service", "ovs-configuration.service"}

func readUnits(ctx context.Context, w *facts.World, s fault.Subject) (units, error) {
	var f units
	v, loc, err := readPart[onhost.Units](ctx, w, evidence.HostUnits, s)
	if err != nil {
		return f, err
	}
	l := unitList{v.Units, loc}
	k, item := l.unit("kubelet.service")
	f.KubeletRuns.Set(k.Active == "active", item)
	f.Kubelet.Set(state(k), item)
	f.KubeletSince.Set(k.Since, item)
	f.Restarts.Set(int64(k.Restarts), item)
	c, item := l.unit("crio.service")
	f.RuntimeRuns.Set(c.Active == "active", item)
	f.Runtime.Set(state(c), item)
	f.RuntimeSince.Set(c.Since, item)
	b, item := l.unit("machine-config-daemon-firstboot.service")
	if b.Active == absent {
		f.FirstBoot.Set("", item)
	} else {
		f.FirstBoot.Set(state(b), item)
	}
	f.FirstBootFailed.Set(b.Active == "failed", item)
	f.FirstBootRuns.Set(b.Active == "activating" || b.Job, item)
	f.FirstBootSince.Set(b.Since, item)
	p, item := l.unit("machine-config-daemon-pull.service")
	f.PullRuns.Set(p.Active == "activating", item)
	f.PullSince.Set(p.Since, item)
	f.before(l)
	return f, nil
}

// absent is the state of a unit that systemd does not know.
const absent = "not there"

// unitList is what systemd says of its units.
type unitList struct {
	units []onhost.Unit
	loc   evidence.Locator
}

func (l unitList) unit(name string) (onhost.Unit, evidence.Item) {
	u := onhost.Unit{Name: name, Active: absent}
	if i := slices.IndexFunc(l.units, func(u onhost.Unit) bool { return u.Name == name }); i >= 0 {
		u = l.units[i]
	}
	return u, shows(l.loc, "systemctl show "+name, state(u), u.Since)
}

// before sets which units keep the kubelet from starting.
func (f *units) before(l unitList) {
	var failed, running []string
	var since time.Time
	for _, name := range before {
		u, item := l.unit(name)
		switch {
		case u.Active == "failed" && slices.Contains(required, name):
			failed = append(failed, name)
		case u.Active == "activating":
			running = append(running, name)
		default:
			continue
		}
		if since.IsZero() || u.Since.Before(since) {
			since = u.Since
		}
		facts.Prove(item, &f.Failed, &f.Running, &f.Before, &f.BeforeSince)
	}
	if len(failed)+len(running) == 0 {
		facts.Prove(shows(l.loc, "systemctl show", "none of the units before the kubelet failed or still runs", time.Time{}), &f.Failed, &f.Running,
			&f.Before, &f.BeforeSince)
	}
	f.Failed.Set(failed)
	f.Running.Set(running)
	f.Before.Set(strings.Join(append(words(failed, "failed"), words(running, "has not ended")...), ", "))
	f.BeforeSince.Set(since)
}

func words(units []string, what string) []string {
	var list []string
	for _, u := range units {
		list = append(list, strings.TrimSuffix(u, ".service")+" "+what)
	}
	return list
}

// state is a unit in systemd's words.
func state(u onhost.Unit) string {
	s := u.Active
	if u.Sub != "" && u.Sub != u.Active {
		s += " (" + u.Sub + ")"
	}
	if u.Load == "masked" {
		s += ", masked"
	}
	if u.Result != "" && u.Result != "success" {
		s += ", result " + u.Result
		if u.Exit != 0 {
			s += fmt.Sprintf(", exit code %d", u.Exit)
		}
	}
	if u.Condition == "no" && u.Active == "inactive" && !u.Since.IsZero() {
		s += ", a condition of its start did not hold"
	}
	if u.Job {
		s += ", a job for it waits"
	}
	if u.Restarts > 0 {
		s += fmt.Sprintf(", started again %d times", u.Restarts)
	}
	if !u.Since.IsZero() {
		s += ", since " + excerpt.Time(u.Since)
	}
	return s
}
