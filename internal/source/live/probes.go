package live

import (
	"context"
	"net"
	"net/url"
	"slices"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// probeTarget is one server to ask.
type probeTarget struct{ target, host string }

// askMCS asks the machine config server of every control-plane node, the one
// behind api-int and the ones behind the API's VIPs for the config
// of every pool. Each question leaves one line in the log of a server.
func (s *Source) askMCS(ctx context.Context) ([]evidence.Object, error) {
	if !s.opts.Probes {
		return nil, &evidence.Unavailable{Why: evidence.NotAsked, Detail: "probes are off", Supply: evidence.Supply{Kind: evidence.SupplyProbe}}
	}
	targets, err := s.mcsTargets(ctx)
	if err != nil {
		return nil, err
	}
	pools, err := s.List(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return nil, because(err, "the names of the pools are not known")
	}
	names := make([]string, 0, len(pools))
	for _, p := range pools {
		names = append(names, p.Name)
	}
	asked, cancel := s.withTimeout(ctx, s.opts.RunTimeout)
	defer cancel()
	answers := make([][]probe.MCSAnswer, len(targets))
	var group crash.Group
	group.SetLimit(16)
	for i, t := range targets {
		group.Go(func() error {
			answers[i] = s.askHost(asked, t, names)
			return nil
		})
	}
	_ = group.Wait()                    // every failure is an answer
	if err := asked.Err(); err != nil { // what is left are answers to questions that were not asked
		return nil, s.unavailable(ctx, asked, evidence.Objects(evidence.MCSProbes, ""), Access{}, err)
	}
	var list []evidence.Object
	for _, a := range slices.Concat(answers...) {
		o, err := a.Object()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// because adds to an Unavailable why it matters here.
func because(err error, why string) error {
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return err
	}
	c := *u
	c.Detail = why + ": " + u.Error()
	return &c
}

// mcsTargets finds whom to ask. The nodes must be known, for a missing answer of
// a node would look like a node that was not asked about; api-int and the VIPs are
// asked where the Infrastructure can be read.
func (s *Source) mcsTargets(ctx context.Context) ([]probeTarget, error) {
	nodes, err := s.List(ctx, evidence.Nodes, "")
	if err != nil {
		return nil, because(err, "the control-plane nodes are not known")
	}
	var targets []probeTarget
	for _, n := range nodes {
		for _, ip := range probe.ControlPlaneIPs(n) {
			targets = append(targets, probeTarget{probe.TargetNode + n.Name, ip})
		}
	}
	infras, err := s.List(ctx, evidence.Infrastructures, "")
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return nil, err
	}
	for _, i := range infras {
		if evidence.String(i.Content, "status", "controlPlaneTopology") == "External" {
			return nil, &evidence.Unavailable{Why: evidence.NotServed,
				Detail: "the control plane is hosted elsewhere: this cluster has no machine config server"}
		}
		targets = append(targets, frontTargets(i.Content)...)
	}
	if len(targets) == 0 {
		return nil, &evidence.Unavailable{Why: evidence.NotCollected, Detail: "no control-plane node with an InternalIP"}
	}
	return targets, nil
}

// frontTargets are api-int and the API's VIPs. Platforms with such
// addresses are found by the field, not by their names
// (openshift/api:config/v1/types_infrastructure.go apiServerInternalIPs).
func frontTargets(infra map[string]any) []probeTarget {
	var targets []probeTarget
	if u, err := url.Parse(evidence.String(infra, "status", "apiServerInternalURI")); err == nil && u.Hostname() != "" {
		targets = append(targets, probeTarget{probe.TargetAPIInt, u.Hostname()})
	}
	platforms, _ := evidence.Field(infra, "status", "platformStatus").(map[string]any)
	var vips []string
	for _, p := range platforms {
		m, ok := p.(map[string]any)
		if !ok {
			continue
		}
		list, _ := m["apiServerInternalIPs"].([]any)
		for _, v := range append(list, m["apiServerInternalIP"]) { // the single one is the older field
			if ip, _ := v.(string); net.ParseIP(ip) != nil && !slices.Contains(vips, ip) {
				vips = append(vips, ip)
			}
		}
	}
	slices.Sort(vips)
	for _, ip := range vips {
		targets = append(targets, probeTarget{probe.TargetVIP, ip})
	}
	return targets
}

// askHost asks one server for every pool. When no connection can be made, the
// other pools would end the same way at the same step; they are recorded as such
// and not asked, so that a dead host costs one timeout.
func (s *Source) askHost(ctx context.Context, t probeTarget, pools []string) []probe.MCSAnswer {
	var answers []probe.MCSAnswer
	for _, pool := range pools {
		q := probe.MCSAnswer{Target: t.target, Host: t.host, Port: s.mcsPort, Pool: pool, Vantage: s.opts.Vantage}
		if n := len(answers); n > 0 && answers[n-1].Stage == probe.StageNone {
			first := answers[0]
			q.At, q.Millis, q.ErrorClass = first.At, first.Millis, first.ErrorClass
			q.Error = first.Error + " (seen for pool " + first.Pool + ", not asked again)"
			answers = append(answers, q)
			continue
		}
		answers = append(answers, s.askPool(ctx, q))
	}
	return answers
}

// pathOf is the path of a pool's config. Pool names are DNS labels; anything else
// is escaped so that it stays the last element.
func pathOf(pool string) string { return "/config/" + url.PathEscape(pool) }
