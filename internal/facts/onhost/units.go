package onhost

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Units is the fact host-units.
type Units struct {
	KubeletRuns  bool      `cel:"kubeletRuns"`
	Kubelet      string    `cel:"kubelet"` // its state in systemd's words
	KubeletSince time.Time `cel:"kubeletSince"`
	Restarts     int64     `cel:"restarts"`    // of the kubelet by systemd
	RestartsNow  bool      `cel:"restartsNow"` // it waits to be started again
	RuntimeRuns  bool      `cel:"runtimeRuns"`
	Runtime      string    `cel:"runtime"`
	RuntimeSince time.Time `cel:"runtimeSince"`

	FirstBoot        string    `cel:"firstBoot"` // state of machine-config-daemon-firstboot, "" where there is no such unit
	FirstBootFailed  bool      `cel:"firstBootFailed"`
	FirstBootRuns    bool      `cel:"firstBootRuns"`
	FirstBootSince   time.Time `cel:"firstBootSince"`
	PullRuns         bool      `cel:"pullRuns"` // machine-config-daemon-pull has not ended
	PullSince        time.Time `cel:"pullSince"`
	Failed           []string  `cel:"failed"`  // units that the kubelet requires and that failed
	Running          []string  `cel:"running"` // one-shot units before the kubelet that have not ended
	Before           string    `cel:"before"`  // both in words
	BeforeSince      time.Time `cel:"beforeSince"`
	TimeServiceRuns  bool      `cel:"timeServiceRuns"`
	TimeServiceKnown bool      `cel:"timeServiceKnown"`
}

var unitsFact = facts.DefinePlain("host-units", fault.Host, "what systemd says of the kubelet, the container runtime and the units before them",
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

func readUnits(ctx context.Context, w *facts.World, s fault.Subject) (Units, facts.Proof, error) {
	var f Units
	var p facts.Proof
	v, loc, err := look[onhost.Units](ctx, w, evidence.HostUnits, s)
	if err != nil {
		return f, p, err
	}
	unit := func(name string) (onhost.Unit, bool) {
		i := slices.IndexFunc(v.Units, func(u onhost.Unit) bool { return u.Name == name })
		if i < 0 {
			return onhost.Unit{Name: name, Active: "not there"}, false
		}
		return v.Units[i], true
	}
	prove := func(u onhost.Unit, fields ...string) {
		p.Add(at(loc, "systemctl show "+u.Name), state(u), u.Since, fields...)
	}

	k, _ := unit("kubelet.service")
	f.KubeletRuns, f.Kubelet, f.KubeletSince, f.Restarts = k.Active == "active", state(k), k.Since, int64(k.Restarts)
	f.RestartsNow = k.Sub == "auto-restart"
	prove(k, "kubeletRuns", "kubelet", "kubeletSince", "restarts", "restartsNow")
	c, _ := unit("crio.service")
	f.RuntimeRuns, f.Runtime, f.RuntimeSince = c.Active == "active", state(c), c.Since
	prove(c, "runtimeRuns", "runtime", "runtimeSince")

	if b, ok := unit("machine-config-daemon-firstboot.service"); ok {
		f.FirstBoot, f.FirstBootFailed, f.FirstBootSince = state(b), b.Active == "failed", b.Since
		f.FirstBootRuns = b.Active == "activating" || b.Job
		prove(b, "firstBoot", "firstBootFailed", "firstBootRuns", "firstBootSince")
	}
	if u, ok := unit("machine-config-daemon-pull.service"); ok {
		f.PullRuns, f.PullSince = u.Active == "activating", u.Since
		prove(u, "pullRuns", "pullSince")
	}
	for _, name := range before {
		u, ok := unit(name)
		switch {
		case !ok || u.Active != "failed" && u.Active != "activating":
			continue
		case u.Active == "failed" && !slices.Contains(required, name):
			continue
		case u.Active == "failed":
			f.Failed = append(f.Failed, name)
		default:
			f.Running = append(f.Running, name)
		}
		if f.BeforeSince.IsZero() || u.Since.Before(f.BeforeSince) {
			f.BeforeSince = u.Since
		}
		prove(u, "failed", "running", "before", "beforeSince")
	}
	f.Before = strings.Join(append(words(f.Failed, "failed"), words(f.Running, "has not ended")...), ", ")
	if t, ok := unit("chronyd.service"); ok {
		f.TimeServiceKnown, f.TimeServiceRuns = true, t.Active == "active"
		prove(t, "timeServiceRuns", "timeServiceKnown")
	}
	return f, p, nil
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
		s += ", since " + stamp(u.Since)
	}
	return s
}
