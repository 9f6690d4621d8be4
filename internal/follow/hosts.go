package follow

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// track is what is known of one host.
type track struct {
	shown   Step      // as reported
	since   time.Time // of shown: when the host came there, as the diagnosis has it
	came    time.Time // the same as it was watched; zero: it was there from the start, not known since when
	pending *Step     // another step, that does not stand yet
	first   time.Time // when pending was seen first
	missing time.Time // since when nothing names the host; zero: something does
}

// stepChange is one step of several hosts.
type stepChange struct {
	hosts    []string
	from, to Step
	took     time.Duration
}

// stepHosts compares the hosts of a run with what was reported.
func (f *Follower) stepHosts(d *diagnosis.Diagnosis) []Event {
	f.joined, f.expected, f.short = 0, 0, shortNames(d.Hosts)
	var moves []stepChange
	var added []string
	settling := d.Verdict.Class == diagnosis.Settling
	present := map[string]bool{}
	for _, h := range d.Hosts {
		if !f.rules.host(h) && !h.Bootstrap() {
			continue
		}
		f.usual.add(h)
		present[h.Name] = true
		if !h.Bootstrap() {
			f.expected++
			if h.Done() {
				f.joined++
			}
		}
		t := f.hosts[h.Name]
		if t == nil {
			f.hosts[h.Name] = &track{shown: stepOf(h), since: h.Since, came: h.Since}
			added = append(added, h.Name)
			continue
		}
		t.missing = time.Time{}
		if m, ok := f.stepChangeOf(h, t, settling); ok {
			moves = join(moves, m)
		}
	}
	var events []Event
	if !f.introduced {
		f.introduced = true
		events = append(events, f.begin(d))
	} else if len(added) > 0 {
		e := f.event(HostAdded, fmt.Sprintf("expected as well: %s; now %s", f.names(added), hosts(f.expected)))
		e.Hosts = added
		events = append(events, e)
	}
	for _, m := range moves {
		events = append(events, f.moved(m))
	}
	if len(diagnose.Unread(d)) == 0 {
		events = append(events, f.removed(present)...)
	}
	return events
}

// begin is the first event.
func (f *Follower) begin(d *diagnosis.Diagnosis) Event {
	text := fmt.Sprintf("watching %s: %d of %s joined", d.Source.Name, f.joined, hosts(f.expected))
	if f.expected == 0 {
		text = fmt.Sprintf("watching %s: no expected host is known yet", d.Source.Name)
	}
	if d.Cluster.Version != "" {
		text += ", version " + d.Cluster.Version
	}
	if d.Cluster.Installing {
		text += ", installing since " + d.Cluster.Began.UTC().Format(time.RFC3339)
	}
	return f.event(Started, text)
}

// stepChangeOf compares one host with its track. A later step is reported at once; an earlier
// step, a failure and an unknown one when it lasts.
func (f *Follower) stepChangeOf(h diagnosis.HostState, t *track, normal bool) (stepChange, bool) {
	now := stepOf(h)
	if now.same(t.shown) {
		t.pending, t.shown.Why = nil, now.Why
		if !h.Since.IsZero() {
			t.since = h.Since
		}
		return stepChange{}, false
	}
	if now.State == diagnosis.StageFailed && normal {
		t.pending = nil // the diagnosis does not call it a fault yet
		return stepChange{}, false
	}
	if !ahead(t.shown, now) {
		if t.pending == nil || !t.pending.same(now) && !worse(*t.pending, now) {
			t.first = f.now
		}
		t.pending = &now
		if !f.lasts(t.first, hostLasts) {
			return stepChange{}, false
		}
	}
	m := stepChange{hosts: []string{h.Name}, from: t.shown, to: now}
	if ahead(t.shown, now) && !t.came.IsZero() {
		m.took = f.now.Sub(t.came)
	}
	t.shown, t.pending, t.since, t.came = now, nil, h.Since, f.now
	return m, true
}

// ahead reports a step that needs no second look: later on the path, or done, or no longer
// failed or unknown where it was.
func ahead(from, to Step) bool {
	a, b := slices.Index(fault.Stages(), from.Stage), slices.Index(fault.Stages(), to.Stage)
	switch {
	case to.State == diagnosis.StageFailed || to.State == diagnosis.StageUnknown:
		return false
	case from.done():
		return false
	case a == b:
		return to.done() || from.State != diagnosis.StageWaiting
	}
	return b > a
}

// worse reports whether a host that was already back has gone further back: the time from
// which it is back counts on.
func worse(pending, now Step) bool { return !ahead(pending, now) }

func stepOf(h diagnosis.HostState) Step { return Step{Stage: h.Stage, State: h.State, Why: h.Why} }

// join adds a move to those of other hosts that are the same.
func join(list []stepChange, m stepChange) []stepChange {
	for i := range list {
		if list[i].from.same(m.from) && list[i].to.same(m.to) {
			list[i].hosts = append(list[i].hosts, m.hosts...)
			return list
		}
	}
	return append(list, m)
}

// removed finds hosts that nothing names now.
func (f *Follower) removed(present map[string]bool) []Event {
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(f.hosts)) {
		t := f.hosts[name]
		if present[name] {
			continue
		}
		if t.missing.IsZero() {
			t.missing = f.now
		}
		if f.lasts(t.missing, hostLasts) {
			gone = append(gone, name)
			delete(f.hosts, name)
			f.usual.forget(name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	e := f.event(HostRemoved, fmt.Sprintf("no longer expected: %s; now %s", f.names(gone), hosts(f.expected)))
	e.Hosts = gone
	return []Event{e}
}

// shortNames are the names of hosts without their domain, where that tells them apart.
func shortNames(list []diagnosis.HostState) map[string]string {
	count := map[string]int{}
	for _, h := range list {
		count[firstLabel(h.Name)]++
	}
	short := map[string]string{}
	for _, h := range list {
		if label := firstLabel(h.Name); count[label] == 1 {
			short[h.Name] = label
		}
	}
	return short
}

func firstLabel(name string) string {
	label, _, _ := strings.Cut(name, ".")
	if net.ParseIP(name) != nil || strings.ContainsAny(name, " (") {
		return name
	}
	return label
}

// hosts counts hosts in words.
func hosts(n int) string {
	if n == 1 {
		return "1 expected host"
	}
	return fmt.Sprintf("%d expected hosts", n)
}
