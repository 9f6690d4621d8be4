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

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// VIPs is the fact vips.
type VIPs struct {
	Platform    string   `cel:"platform"`
	All         []string `cel:"all"` // virtual addresses of API and ingress
	Networks    []string `cel:"networks"`
	Outside     []string `cel:"outside"`     // virtual addresses in none of the networks
	Checked     bool     `cel:"checked"`     // there are networks to compare with
	UserManaged bool     `cel:"userManaged"` // the load balancer is outside the cluster
	Said        bool     `cel:"said"`        // the network operator says so, too
}

// VIPsFact is the fact vips.
func VIPsFact() facts.Fact {
	return facts.DefinePlain("vips", fault.Cluster, "the virtual addresses of API and ingress against the machine networks",
		[]evidence.Need{evidence.Objects(evidence.Infrastructures, ""), evidence.Objects(evidence.ClusterOperators, "")}, readVIPs)
}

// readVIPs does the check of openshift/cluster-network-operator:
// pkg/controller/infrastructureconfig/validations.go over the spec, which carries
// these fields since 4.16.
func readVIPs(ctx context.Context, w *facts.World, _ fault.Subject) (VIPs, facts.Proof, error) {
	var f VIPs
	var p facts.Proof
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.Infrastructures, ""), Why: evidence.NotCollected, Supply: "oc get infrastructure cluster -o yaml"}
	}
	if err != nil {
		return f, p, err
	}
	f.Platform = evidence.String(infra.Content, "status", "platformStatus", "type")
	key := map[string]string{"BareMetal": "baremetal", "VSphere": "vsphere", "OpenStack": "openstack", "Nutanix": "nutanix"}[f.Platform]
	if key == "" {
		return f, p, facts.NotApplicable("platform %s has no virtual addresses of its own", f.Platform)
	}
	f.UserManaged = evidence.String(infra.Content, "status", "platformStatus", key, "loadBalancer", "type") == "UserManaged"
	spec := []string{"spec", "platformSpec", key}
	f.Networks = texts(evidence.Field(infra.Content, append(spec, "machineNetworks")...))
	f.All = append(texts(evidence.Field(infra.Content, append(spec, "apiServerInternalIPs")...)), texts(evidence.Field(infra.Content, append(spec, "ingressIPs")...))...)
	f.Checked = len(f.Networks) > 0 && len(f.All) > 0
	for _, vip := range f.All {
		if f.Checked && !inside(vip, f.Networks) {
			f.Outside = append(f.Outside, vip)
		}
	}
	p.Add(infra.Loc.At(strings.Join(spec, ".")), fmt.Sprintf("virtual addresses %s, machineNetworks %s", strings.Join(f.All, " "), strings.Join(f.Networks, " ")), time.Time{},
		"all", "networks", "outside", "checked", "userManaged")
	err = f.operator(ctx, w, &p)
	return f, p, err
}

func (f *VIPs) operator(ctx context.Context, w *facts.World, p *facts.Proof) error {
	o, _, err := w.Get(ctx, evidence.ClusterOperators, "", "network")
	if err != nil {
		return miss(p, err, "said")
	}
	c := conditions.Find(conditions.Of(o), "Degraded")
	if f.Said = c.Status == "True" && vipMessage.MatchString(c.Message); f.Said {
		p.Add(c.Loc, c.Reason+": "+c.Message, c.Since, "said")
	}
	return nil
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
	Degraded   bool      `cel:"degraded"`
	Available  bool      `cel:"available"`
	Reason     string    `cel:"reason"`
	Message    string    `cel:"message"`
	Level      string    `cel:"level"` // infrastructure, rollout, pods, render, other; "" when not degraded
	DaemonSets []string  `cel:"daemonSets"`
	Awaiting   int       `cel:"awaiting"` // nodes without a ready pod of the worst of them
	Hung       []string  `cel:"hung"`     // whose rollout does not get on
	Since      time.Time `cel:"since"`
}

// OperatorFact is the fact network-operator.
func OperatorFact() facts.Fact {
	return facts.DefinePlain("network-operator", fault.Operator, "what ClusterOperator network says: which level fails, which DaemonSets wait for how many nodes",
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

func readOperator(ctx context.Context, w *facts.World, s fault.Subject) (Operator, facts.Proof, error) {
	var f Operator
	var p facts.Proof
	if s.Name != "network" {
		return f, p, facts.NotApplicable("operator %s is not the network operator", s.Name)
	}
	o, ok, err := w.Get(ctx, evidence.ClusterOperators, "", s.Name)
	if err != nil {
		return f, p, err
	}
	if !ok {
		return f, p, facts.NotApplicable("there is no ClusterOperator network")
	}
	f.Available = true
	for _, c := range conditions.Of(o) {
		switch {
		case c.Type == "Degraded":
			f.Degraded, f.Reason, f.Message, f.Since = c.Status == "True", c.Reason, c.Message, c.Since
		case c.Type == "Available":
			f.Available = c.Status == "True"
		case c.Type != "Progressing":
			continue
		}
		f.workloads(c.Message)
		p.Add(c.Loc, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), c.Since,
			"degraded", "available", "reason", "message", "level", "daemonSets", "awaiting", "hung", "since")
	}
	if f.Degraded {
		f.Level = "other"
		for _, l := range levels {
			if l.reason.MatchString(f.Reason) {
				f.Level = l.level
				break
			}
		}
	}
	return f, p, nil
}

func (f *Operator) workloads(message string) {
	for _, m := range awaits.FindAllStringSubmatch(message, -1) {
		n, _ := strconv.Atoi(m[2])
		f.DaemonSets, f.Awaiting = append(f.DaemonSets, m[1]), max(f.Awaiting, n)
	}
	for _, m := range hangs.FindAllStringSubmatch(message, -1) {
		f.Hung = append(f.Hung, m[1])
	}
}
