package network

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// keepalivedLog is what keepalived says on platform BareMetal.
var keepalivedLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.OnPremNamespace, Container: "keepalived"}

// The states of an instance, and the line of its change.
const (
	master = "master"
	backup = "backup"
	failed = "fault"
)

// Holders is the fact vip-holders: which hosts hold a VIP by their own
// report. One of them should, and the others should be VRRP BACKUP
// (acassen/keepalived:keepalived/vrrp/vrrp.c).
type Holders struct {
	Twice         facts.Field[[]string]  `cel:"twice"`         // for which more than one host last reported MASTER
	Hosts         facts.Field[[]string]  `cel:"hosts"`         // that hold the first of these
	WithoutMaster facts.Field[[]string]  `cel:"withoutMaster"` // for which each host last reported BACKUP or FAULT
	Since         facts.Field[time.Time] `cel:"since"`         // since when the second one holds it
	Clash         facts.Field[bool]      `cel:"clash"`         // adverts arrive from outside of this cluster: another one has the same router id
}

// HoldersFact is the fact vip-holders.
func HoldersFact() facts.Fact {
	return facts.Define("vip-holders", fault.Cluster, "which hosts hold the VIPs, as their keepalived says",
		[]evidence.Need{evidence.Objects(evidence.Infrastructures, ""), evidence.Texts(keepalivedLog)}, readHolders)
}

// word is the last state that one host reports for one instance.
type word struct {
	state string
	at    time.Time
	line  evidence.Line
}

func readHolders(ctx context.Context, w *facts.World, _ fault.Subject) (Holders, error) {
	var f Holders
	p, err := platform.Type(ctx, w)
	if err != nil {
		return f, err
	}
	if p.Text != "BareMetal" || evidence.String(p.Object.Content, "status", "platformStatus", "baremetal", "loadBalancer", "type") == "UserManaged" {
		return f, facts.Excluded(p.Item(), "keepalived holds no VIPs on platform %s, or a load balancer outside does", p.Text)
	}
	foreign, err := w.Matches(ctx, keepalivedLog, sigVRRPForeign)
	if err != nil {
		return f, err
	}
	if n := len(foreign); n > 0 {
		f.Clash.Set(true, foreign[n-1].Item())
	}
	last, err := lastStates(ctx, w)
	if err != nil {
		return f, err
	}
	instances := slices.Sorted(maps.Keys(last))
	if len(instances) == 0 {
		facts.Complete(&f)
		return f, facts.Miss(&evidence.Unavailable{Need: evidence.Texts(keepalivedLog), Why: evidence.NotCollected,
			Detail: "no line tells which host holds an address", Supply: supplyKeepalived}, &f.Twice, &f.Hosts, &f.WithoutMaster, &f.Since)
	}
	for _, instance := range instances {
		f.setHolders(instance, last[instance])
	}
	// A log that was not read may show another holder.
	if gap := w.Gap(ctx, keepalivedLog, isCurrent); gap != nil && len(f.WithoutMaster.Value()) > 0 {
		if err := facts.Miss(gap, &f.WithoutMaster); err != nil {
			return f, err
		}
	}
	facts.Complete(&f)
	return f, nil
}

var supplyKeepalived = evidence.Supply{Kind: evidence.SupplyPodLog, Namespace: openshift.OnPremNamespace, Container: "keepalived", Name: "keepalived-HOST"}

func isCurrent(t evidence.Text) bool { return !t.Previous }

// lastStates returns the last state that each host reports for each instance. A log that
// was not read to its end does not show the last one.
func lastStates(ctx context.Context, w *facts.World) (map[string]map[string]word, error) {
	last := map[string]map[string]word{} // instance, host
	whole := map[string]bool{}           // by pod
	for _, state := range []string{master, backup, failed} {
		lines, err := w.Matches(ctx, keepalivedLog, sigVRRP+state)
		if err != nil {
			return nil, err
		}
		for _, m := range lines {
			ok, seen := whole[m.Text.Pod]
			if !seen {
				err := w.Gap(ctx, keepalivedLog, func(t evidence.Text) bool { return isCurrent(t) && t.Pod == m.Text.Pod })
				if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
					return nil, err
				}
				ok = err == nil
				whole[m.Text.Pod] = ok
			}
			if ok {
				keepLast(last, m)
			}
		}
	}
	return last, nil
}

// keepLast keeps the last state of each host for each instance. What a container logged
// before its restart does not count.
func keepLast(last map[string]map[string]word, m evidence.Match) {
	if m.Text.Previous {
		return
	}
	instance, host := m.Groups[1], strings.TrimPrefix(m.Text.Pod, "keepalived-")
	if last[instance] == nil {
		last[instance] = map[string]word{}
	}
	if have, ok := last[instance][host]; !ok || m.Line.Loc.Line > have.line.Loc.Line {
		last[instance][host] = word{strings.ToLower(m.Groups[2]), m.Line.Time, m.Line}
	}
}

func (f *Holders) setHolders(instance string, by map[string]word) {
	var holders []string
	var proof []evidence.Item
	var since time.Time
	for _, host := range slices.Sorted(maps.Keys(by)) {
		s := by[host]
		proof = append(proof, evidence.Item{Locator: s.line.Loc, Excerpt: fmt.Sprintf("%s: %s is %s", host, instance, strings.ToUpper(s.state)), Time: s.at})
		if s.state == master {
			holders = append(holders, host)
			if s.at.After(since) {
				since = s.at
			}
		}
	}
	switch {
	case len(holders) > 1:
		if len(f.Twice.Value()) == 0 {
			f.Hosts.Set(holders, proof...)
			f.Since.Set(since, proof...)
		}
		f.Twice.Set(append(f.Twice.Value(), instance), proof...)
	case len(holders) == 0:
		f.WithoutMaster.Set(append(f.WithoutMaster.Value(), instance), proof...)
	}
}
