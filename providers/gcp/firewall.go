package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"google.golang.org/api/iterator"
	"google.golang.org/protobuf/proto"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// need is a range of ports that workers of a hosted cluster open to each other.
type need struct {
	protocol string
	from, to int
	what     string
}

// needs are the ports between workers (openshift/hypershift: pull request 9640, the rule
// INFRA-internal-cluster). Without Geneve Nodes are Ready, and pods reach no pod of another
// Node.
var needs = []need{
	{"tcp", 10250, 10250, "kubelet"},
	{"tcp", 9000, 9999, "host services"},
	{"udp", 9000, 9999, "host services"},
	{"tcp", 30000, 32767, "node ports"},
	{"udp", 30000, 32767, "node ports"},
	{"udp", 6081, 6081, "Geneve, the pod network"},
}

func (n need) ports() string {
	if n.from == n.to {
		return strconv.Itoa(n.from)
	}
	return fmt.Sprintf("%d-%d", n.from, n.to)
}

func (n need) String() string { return fmt.Sprintf("%s %s (%s)", n.protocol, n.ports(), n.what) }

func ruleName(o provider.Order) string { return tagOf(o) + "-internal" }

// ruleMark is the description of the rule that is ours. A rule without it is never changed or
// deleted.
func ruleMark(o provider.Order) string {
	return fmt.Sprintf("Made by rollcall for the workers of hosted cluster %s; deleted with the last of them.", o.Hosted)
}

// ensureRule makes the rule between the workers of the hosted cluster, by their own tag.
func (g *gcp) ensureRule(ctx context.Context, p options, o provider.Order) error {
	if have, err := g.rule(ctx, p, o); err != nil || have {
		return err
	}
	rule := &computepb.Firewall{
		Name: proto.String(ruleName(o)), Description: proto.String(ruleMark(o)), Network: proto.String(p.network), Direction: proto.String("INGRESS"),
		SourceTags: []string{tagOf(o)}, TargetTags: []string{tagOf(o)},
	}
	for _, protocol := range []string{"tcp", "udp"} {
		a := &computepb.Allowed{IPProtocol: proto.String(protocol)}
		for _, n := range needs {
			if n.protocol == protocol {
				a.Ports = append(a.Ports, n.ports())
			}
		}
		rule.Allowed = append(rule.Allowed, a)
	}
	id := requestID(provider.Order{Run: o.Run, Hosted: o.Hosted, Attempt: o.Attempt}, "firewall", p.network)
	err := act(ctx, func() (*compute.Operation, error) {
		return g.api.firewalls.Insert(ctx, &computepb.InsertFirewallRequest{Project: p.project, FirewallResource: rule, RequestId: proto.String(id)})
	})
	if status(err) == http.StatusConflict { // another worker of the run made it
		_, err = g.rule(ctx, p, o)
	}
	if err != nil {
		return fmt.Errorf("make firewall rule %s: %w", ruleName(o), err)
	}
	return nil
}

// rule reports whether our rule is there. One of that name without our mark is an error.
func (g *gcp) rule(ctx context.Context, p options, o provider.Order) (bool, error) {
	have, err := g.api.firewalls.Get(ctx, &computepb.GetFirewallRequest{Project: p.project, Firewall: ruleName(o)})
	switch {
	case notFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read firewall rule %s: %w", ruleName(o), err)
	case have.GetDescription() != ruleMark(o):
		return false, fmt.Errorf("firewall rule %s is not one of rollcall's for this hosted cluster: it stays as it is; make the ports yourself and "+
			"leave firewall=create out", ruleName(o))
	}
	return true, nil
}

// dropRule deletes our rule when no machine of the hosted cluster is left.
func (g *gcp) dropRule(ctx context.Context, p options, o provider.Order) error {
	filter := fmt.Sprintf("labels.%s = %q", labelCluster, labelValue(o.Hosted))
	list := g.api.instances.AggregatedList(ctx, &computepb.AggregatedListInstancesRequest{Project: p.project, Filter: proto.String(filter)})
	for {
		pair, err := list.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return fmt.Errorf("look for machines that need firewall rule %s: %w", ruleName(o), err)
		}
		if len(pair.Value.GetInstances()) > 0 || pair.Value.GetWarning().GetCode() == "UNREACHABLE" {
			return nil
		}
	}
	have, err := g.rule(ctx, p, o)
	if err != nil || !have {
		return err
	}
	id := requestID(provider.Order{Run: o.Run, Hosted: o.Hosted, Attempt: o.Attempt}, "firewall delete")
	err = act(ctx, func() (*compute.Operation, error) {
		return g.api.firewalls.Delete(ctx, &computepb.DeleteFirewallRequest{Project: p.project, Firewall: ruleName(o), RequestId: proto.String(id)})
	})
	if err != nil && !notFound(err) {
		return fmt.Errorf("delete firewall rule %s: %w", ruleName(o), err)
	}
	return nil
}

// checkRules looks whether the workers reach each other, and whether the world reaches them.
// Rules of others are read and never changed.
func (g *gcp) checkRules(ctx context.Context, p options, o provider.Order, subnetwork netip.Prefix) []provider.Check {
	var rules []*computepb.Firewall
	list := g.api.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: p.project})
	for {
		r, err := list.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			return []provider.Check{{Outcome: provider.Unknown, Text: "firewall rules: " + err.Error()}}
		}
		if sameResource(r.GetNetwork(), p.network) && r.GetDirection() != "EGRESS" && !r.GetDisabled() &&
			applies(r.GetTargetTags(), r.GetTargetServiceAccounts(), p.tags) {
			rules = append(rules, r)
		}
	}
	var missing, checks = []string{}, []provider.Check{}
	for _, n := range needs {
		if !slices.ContainsFunc(rules, func(r *computepb.Firewall) bool { return allows(r, n) && fromWorkers(r, p, subnetwork) }) {
			missing = append(missing, n.String())
		}
	}
	switch {
	case len(missing) == 0:
		checks = append(checks, provider.Check{Outcome: provider.Passed, Text: "firewall rules of VPC network let the workers reach each other; " +
			"hierarchical policies were not read"})
	case p.firewall == "create":
		checks = append(checks, provider.Check{Outcome: provider.Passed, Text: "firewall rule " + ruleName(o) + " will be made, for the tag " +
			tagOf(o) + " only"})
	default:
		checks = append(checks, provider.Check{Outcome: provider.Warning, Text: "no firewall rule was found that opens between " +
			"the workers: " + strings.Join(missing, ", ") +
			"; with --option firewall=create one is made for the tag " + tagOf(o)})
	}
	for _, r := range rules {
		if slices.Contains(r.GetSourceRanges(), "0.0.0.0/0") && len(r.GetAllowed()) > 0 {
			checks = append(checks, provider.Check{Outcome: provider.Warning, Text: "firewall rule " + r.GetName() +
				" opens the workers to all addresses; it is not rollcall's, and stays"})
		}
	}
	return checks
}

// applies reports whether a rule is about machines with these tags and no service account.
func applies(targets, accounts, tags []string) bool {
	if len(accounts) > 0 {
		return false
	}
	return len(targets) == 0 || slices.ContainsFunc(targets, func(t string) bool { return slices.Contains(tags, t) })
}

// fromWorkers reports whether a rule lets the workers in: by their tag, or by a range that has
// the whole of their subnetwork.
func fromWorkers(r *computepb.Firewall, p options, subnetwork netip.Prefix) bool {
	if slices.ContainsFunc(r.GetSourceTags(), func(t string) bool { return slices.Contains(p.tags, t) }) {
		return true
	}
	return slices.ContainsFunc(r.GetSourceRanges(), func(text string) bool {
		c, err := netip.ParsePrefix(text)
		return err == nil && subnetwork.IsValid() && c.Bits() <= subnetwork.Bits() && c.Contains(subnetwork.Addr())
	})
}

func allows(r *computepb.Firewall, n need) bool {
	return slices.ContainsFunc(r.GetAllowed(), func(a *computepb.Allowed) bool {
		protocol := strings.ToLower(a.GetIPProtocol())
		if protocol == "all" {
			return true
		}
		if protocol != n.protocol && protocol != map[string]string{"tcp": "6", "udp": "17"}[n.protocol] {
			return false
		}
		return len(a.GetPorts()) == 0 || slices.ContainsFunc(a.GetPorts(), func(text string) bool {
			low, high, isRange := strings.Cut(text, "-")
			from, err := strconv.Atoi(low)
			to := from
			if isRange && err == nil {
				to, err = strconv.Atoi(high)
			}
			return err == nil && from <= n.from && n.to <= to
		})
	})
}

// sameResource compares names of resources, as paths or as URLs.
func sameResource(a, b string) bool {
	short := func(s string) string {
		if _, rest, ok := strings.Cut(s, "/projects/"); ok {
			return "projects/" + rest
		}
		return s
	}
	return short(a) == short(b)
}
