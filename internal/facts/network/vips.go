package network

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// VIPs is the fact vips.
type VIPs struct {
	Platform    facts.Field[string]   `cel:"platform"`
	Outside     facts.Field[[]string] `cel:"outside"`     // VIPs in none of the networks
	Checked     facts.Field[bool]     `cel:"checked"`     // there are networks to compare with
	UserManaged facts.Field[bool]     `cel:"userManaged"` // the load balancer is outside the cluster
	Said        facts.Field[bool]     `cel:"said"`        // the network operator says so, too
}

// VIPsFact is the fact vips.
func VIPsFact() facts.Fact {
	return facts.Define("vips", fault.Cluster, "the VIPs of API and ingress against the machine networks",
		[]evidence.Need{evidence.Objects(evidence.Infrastructures, ""), evidence.Objects(evidence.ClusterOperators, "")}, readVIPs)
}

// readVIPs does the check of openshift/cluster-network-operator:
// pkg/controller/infrastructureconfig/validations.go over the spec, which carries
// these fields since 4.16.
func readVIPs(ctx context.Context, w *facts.World, _ fault.Subject) (VIPs, error) {
	var f VIPs
	p, err := platform.Type(ctx, w)
	if err != nil {
		return f, err
	}
	infra := p.Object
	key := map[string]string{"BareMetal": "baremetal", "VSphere": "vsphere", "OpenStack": "openstack", "Nutanix": "nutanix"}[p.Text]
	if key == "" {
		return f, facts.Excluded(p.Item(), "platform %s has no VIPs of its own", p.Text)
	}
	f.Platform.Set(p.Text, p.Item())
	balancer := evidence.String(infra.Content, "status", "platformStatus", key, "loadBalancer", "type")
	f.UserManaged.Set(balancer == "UserManaged", infra.Shows("status.platformStatus."+key+".loadBalancer.type", balancer, time.Time{}))
	spec := []string{"spec", "platformSpec", key}
	networks := texts(evidence.Field(infra.Content, append(spec, "machineNetworks")...))
	vips := append(texts(evidence.Field(infra.Content, append(spec, "apiServerInternalIPs")...)),
		texts(evidence.Field(infra.Content, append(spec, "ingressIPs")...))...)
	checked := len(networks) > 0 && len(vips) > 0
	var outside []string
	for _, vip := range vips {
		if checked && !inside(vip, networks) {
			outside = append(outside, vip)
		}
	}
	item := infra.Shows(strings.Join(spec, "."), fmt.Sprintf("VIPs %s, machineNetworks %s", strings.Join(vips, " "), strings.Join(networks, " ")),
		time.Time{})
	f.Outside.Set(outside, item)
	f.Checked.Set(checked, item)
	o, _, err := w.Get(ctx, evidence.ClusterOperators, "", "network")
	if err != nil {
		return f, facts.Miss(err, &f.Said)
	}
	c := conditions.Find(conditions.Of(o), "Degraded")
	if c.Type == "" {
		return f, facts.Miss(conditions.NotReported(evidence.ClusterOperators, "network", "Degraded"), &f.Said)
	}
	f.Said.Set(c.Status == "True" && vipMessage.MatchString(c.Message), c.Item())
	return f, nil
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// inside reports whether an address lies in one of the networks. What cannot be
// parsed is not called outside.
func inside(vip string, networks []string) bool {
	addr, err := netip.ParseAddr(vip)
	return err != nil || slices.ContainsFunc(networks, func(n string) bool {
		prefix, err := netip.ParsePrefix(n)
		return err != nil || prefix.Contains(addr.Unmap())
	})
}

var vipMessage = regexp.MustCompile(`(?i)VIP '[^']*' cannot be found in any machine network`)

// Operator is the fact network-operator.
type Operator struct {
	Degraded   facts.Field[bool]      `cel:"degraded"`
	Available  facts.Field[bool]      `cel:"available"`
	Message    facts.Field[string]    `cel:"message"`
	Level      facts.Field[string]    `cel:"level"` // infrastructure, rollout, pods, render, other; "" when not degraded
	DaemonSets facts.Field[[]string]  `cel:"daemonSets"`
	Awaiting   facts.Field[int]       `cel:"awaiting"` // nodes without a ready pod of the worst of them
	Hung       facts.Field[[]string]  `cel:"hung"`     // whose rollout does not progress
	Since      facts.Field[time.Time] `cel:"since"`
	Stays      facts.Field[bool]      `cel:"stays"` // its message shows what cannot pass by itself
}

// OperatorFact is the fact network-operator.
func OperatorFact() facts.Fact {
	return facts.Define("network-operator", fault.Operator, "what ClusterOperator network says: which level fails, which DaemonSets wait for how many nodes",
		[]evidence.Need{evidence.Objects(evidence.ClusterOperators, "")}, readOperator)
}

// The operator's words (openshift/cluster-network-operator:
// pkg/controller/statusmanager/pod_status.go, status_manager.go).
var (
	awaits = regexp.MustCompile(`DaemonSet "?/?([a-z0-9./-]+)"? is not (?:yet )?available \(awaiting (\d+) nodes\)`)
	hangs  = regexp.MustCompile(`(?:DaemonSet|Deployment|StatefulSet) "?/?([a-z0-9./-]+)"? rollout is not making progress`)
)

// levels are told by the reason.
var levels = []struct {
	level  string
	reason *regexp.Regexp
}{
	{"infrastructure", regexp.MustCompile(`SyncInfrastructureSpecAndStatus`)},
	{"rollout", regexp.MustCompile(`RolloutHung`)},
	{"render", regexp.MustCompile(`Render|OperatorConfig|ClusterConfig|ApplyOperatorConfig|InternalError`)},
	{"pods", regexp.MustCompile(`PodDeployment|DaemonSet|Deploying`)},
}

func readOperator(ctx context.Context, w *facts.World, s fault.Subject) (Operator, error) {
	var f Operator
	if s.Name != "network" {
		return f, facts.NotApplicable("operator %s is not the network operator", s.Name)
	}
	o, ok, err := w.Get(ctx, evidence.ClusterOperators, "", s.Name)
	if err != nil {
		return f, err
	}
	if !ok {
		return f, facts.NotApplicable("there is no ClusterOperator network")
	}
	missing := map[string]bool{"Degraded": true, "Available": true}
	for _, c := range conditions.Of(o) {
		delete(missing, c.Type)
		switch c.Type {
		case "Degraded":
			f.degraded(c)
		case "Available":
			f.Available.Set(c.Status == "True", c.Item())
		case "Progressing":
		default:
			continue
		}
		f.workloads(c)
	}
	if missing["Degraded"] {
		_ = facts.Miss(conditions.NotReported(evidence.ClusterOperators, s.Name, "Degraded"), &f.Degraded, &f.Message, &f.Since, &f.Level, &f.Stays)
	}
	if missing["Available"] {
		_ = facts.Miss(conditions.NotReported(evidence.ClusterOperators, s.Name, "Available"), &f.Available)
	}
	facts.Complete(&f)
	return f, nil
}

func (f *Operator) degraded(c conditions.Condition) {
	level := ""
	if c.Status == "True" {
		level = "other"
		for _, l := range levels {
			if l.reason.MatchString(c.Reason) {
				level = l.level
				break
			}
		}
	}
	f.Degraded.Set(c.Status == "True", c.Item())
	f.Level.Set(level, c.Item())
	f.Message.Set(c.Message, c.Item())
	f.Stays.Set(c.Status == "True" && conditions.CannotPass(c.Message), c.Item())
	f.Since.Set(c.Since, c.Item())
}

// workloads reads which workloads a condition names.
func (f *Operator) workloads(c conditions.Condition) {
	for _, m := range awaits.FindAllStringSubmatch(c.Message, -1) {
		n, _ := strconv.Atoi(m[2])
		f.DaemonSets.Set(append(f.DaemonSets.Value(), m[1]), c.Item())
		f.Awaiting.Set(max(f.Awaiting.Value(), n), c.Item())
	}
	for _, m := range hangs.FindAllStringSubmatch(c.Message, -1) {
		f.Hung.Set(append(f.Hung.Value(), m[1]), c.Item())
	}
}
