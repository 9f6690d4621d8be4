package network

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// keepalivedLog is what keepalived says on platform BareMetal.
var keepalivedLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-kni-infra", Container: "keepalived"}

// The states of an instance, and the line of its change.
const (
	master = "master"
	backup = "backup"
	failed = "fault"
)

var vrrpState = regexp.MustCompile(`(?i)\(?([A-Za-z0-9_.-]+)\)? entering (master|backup|fault) state`)

// Holders is the fact vip-holders: which hosts hold a virtual address by their own
// word. One of them should, and the others should say BACKUP
// (acassen/keepalived:keepalived/vrrp/vrrp.c).
type Holders struct {
	Instances []string  `cel:"instances"` // that any host spoke of
	Twice     []string  `cel:"twice"`     // of which more than one host last said MASTER
	Hosts     []string  `cel:"hosts"`     // that hold the first of these
	Nobody    []string  `cel:"nobody"`    // of which every host that spoke last said BACKUP or FAULT
	Since     time.Time `cel:"since"`     // since when the second one holds it
	Clash     bool      `cel:"clash"`     // adverts came that are not of this cluster: another one has the same router id
}

// HoldersFact is the fact vip-holders.
func HoldersFact() facts.Fact {
	return facts.DefinePlain("vip-holders", fault.Cluster, "which hosts hold the virtual addresses, as their keepalived says",
		[]evidence.Need{evidence.Objects(evidence.Infrastructures, ""), evidence.Texts(keepalivedLog)}, readHolders)
}

// word is the last word of one host about one instance.
type word struct {
	state string
	at    time.Time
	line  evidence.Line
}

func readHolders(ctx context.Context, w *facts.World, _ fault.Subject) (Holders, facts.Proof, error) {
	var f Holders
	var p facts.Proof
	infra, _, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err != nil {
		return f, p, err
	}
	status, _ := evidence.Field(infra.Content, "status", "platformStatus").(map[string]any)
	if kind := evidence.String(status, "type"); kind != "BareMetal" || evidence.String(status, "baremetal", "loadBalancer", "type") == "UserManaged" {
		return f, p, facts.NotApplicable("keepalived holds no virtual addresses on platform %s, or a load balancer outside does", kind)
	}
	unread, err := w.Unread(ctx, keepalivedLog)
	if err != nil {
		return f, p, err
	}
	last := map[string]map[string]word{} // instance, host
	for _, state := range []string{master, backup, failed} {
		lines, err := w.Matches(ctx, keepalivedLog, sigVRRP+state)
		if err != nil {
			return f, p, err
		}
		for _, m := range lines {
			if _, cut := unread[[2]string{m.Text.Namespace, m.Text.Pod}]; !cut { // what broke off tells no last word
				hear(last, m)
			}
		}
	}
	for instance := range last {
		f.Instances = append(f.Instances, instance)
	}
	slices.Sort(f.Instances)
	for _, instance := range f.Instances {
		f.judge(instance, last[instance], &p)
	}
	foreign, err := w.Matches(ctx, keepalivedLog, sigVRRPForeign)
	if err != nil {
		return f, p, err
	}
	if f.Clash = len(foreign) > 0; f.Clash {
		m := foreign[len(foreign)-1]
		p.Add(m.Line.Loc, m.Line.Text, m.Line.Time, "clash")
	}
	if err := f.partly(ctx, w, &p); err != nil {
		return f, p, err
	}
	if len(f.Instances) == 0 {
		err = miss(&p, &evidence.Unavailable{Need: evidence.Texts(keepalivedLog), Why: evidence.NotCollected,
			Detail: "no line tells which host holds an address", Supply: "oc logs -n openshift-kni-infra keepalived-HOST -c keepalived"}, "instances", "twice", "hosts", "nobody", "since")
		return f, p, err
	}
	return f, p, nil
}

// partly takes back what a log that was not read may refute: that an address has no
// holder, or no second one.
func (f *Holders) partly(ctx context.Context, w *facts.World, p *facts.Proof) error {
	unread, err := w.Unread(ctx, keepalivedLog)
	if err != nil || len(unread) == 0 {
		return err
	}
	var fields []string
	for field, unproven := range map[string]bool{"nobody": len(f.Nobody) > 0, "twice": len(f.Twice) == 0, "clash": !f.Clash} {
		if unproven {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return miss(p, &evidence.Unavailable{Need: evidence.Texts(keepalivedLog), Why: evidence.NotCollected,
		Detail: fmt.Sprintf("%d logs were not read to their end", len(unread)), Supply: "oc logs -n openshift-kni-infra keepalived-HOST -c keepalived"}, fields...)
}

// hear keeps the last word of each host about each instance. What a container said
// before its restart does not count.
func hear(last map[string]map[string]word, m evidence.Match) {
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

func (f *Holders) judge(instance string, by map[string]word, p *facts.Proof) {
	var holders []string
	var since time.Time
	hosts := make([]string, 0, len(by))
	for host := range by {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	for _, host := range hosts {
		s := by[host]
		p.Add(s.line.Loc, fmt.Sprintf("%s: %s is %s", host, instance, strings.ToUpper(s.state)), s.at, "instances", "twice", "hosts", "nobody", "since")
		if s.state == master {
			holders = append(holders, host)
			if s.at.After(since) {
				since = s.at
			}
		}
	}
	switch {
	case len(holders) > 1:
		f.Twice = append(f.Twice, instance)
		if len(f.Twice) == 1 {
			f.Hosts, f.Since = holders, since
		}
	case len(holders) == 0:
		f.Nobody = append(f.Nobody, instance)
	}
}
