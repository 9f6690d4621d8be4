package pools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Nodes groups the nodes of a pool by the config that they name.
type Nodes struct {
	Total         int64     `cel:"total"`
	Missing       int64     `cel:"missing"`       // nodes whose currentConfig is not in the cluster
	MissingNodes  []string  `cel:"missingNodes"`  // their names
	MissingName   string    `cel:"missingName"`   // the config that most of them name
	MissingSame   bool      `cel:"missingSame"`   // all of them name that one
	BootstrapMode int64     `cel:"bootstrapMode"` // of these, how many have never finished their first run
	Stuck         int64     `cel:"stuck"`         // degraded, not at the pool's config, and with no other config asked of them
	StuckNodes    []string  `cel:"stuckNodes"`
	AtSpec        int64     `cel:"atSpec"` // nodes that run the pool's config and say Done
	Since         time.Time `cel:"since"`  // creation of the oldest node that names a missing config
}

var nodesFact = facts.DefinePlain("pool-nodes", fault.Pool, "the nodes of a pool, by the config that they name",
	[]evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.MachineConfigPools, ""),
		evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, mcs.Namespace),
	}, readNodes)

func readNodes(ctx context.Context, w *facts.World, s fault.Subject) (Nodes, facts.Proof, error) {
	var v Nodes
	var p facts.Proof
	list, err := nodeConfigs(ctx, w, s.Name)
	if err != nil {
		return v, p, err
	}
	v.Total = int64(len(list))
	missing, err := v.missing(ctx, w, list, &p)
	blind := err != nil
	if err := missOrFail(&p, err, "missing", "missingNodes", "missingName", "missingSame", "since", "bootstrapMode"); err != nil {
		return v, p, err
	}
	if err := missOrFail(&p, v.target(ctx, w, s.Name, list, &p), "stuck", "stuckNodes", "atSpec"); err != nil {
		return v, p, err
	}
	if blind {
		return v, p, nil
	}
	err = missOrFail(&p, v.bootstrap(ctx, w, missing, &p), "bootstrapMode")
	return v, p, err
}

// missing finds the nodes whose config is not in the cluster.
func (v *Nodes) missing(ctx context.Context, w *facts.World, list []nodeConfig, p *facts.Proof) ([]nodeConfig, error) {
	configs, err := configNames(ctx, w)
	if err != nil {
		return nil, err
	}
	var missing []nodeConfig
	count := map[string]int{}
	for _, n := range list {
		if n.current == "" {
			continue
		}
		if o, ok := configs[n.current]; ok {
			if len(missing) == 0 {
				p.Add(o.Loc, fmt.Sprintf("MachineConfig %s, which %s names, exists", n.current, n.object.Name), o.Created(), "missing")
			}
			continue
		}
		missing = append(missing, n)
		v.MissingNodes = append(v.MissingNodes, n.object.Name)
		if count[n.current]++; count[n.current] > count[v.MissingName] || v.MissingName == "" {
			v.MissingName = n.current
		}
		if at := n.object.Created(); v.Since.IsZero() || at.Before(v.Since) {
			v.Since = at
		}
	}
	v.Missing = int64(len(missing))
	v.MissingSame = len(count) == 1
	if len(missing) == 0 {
		return nil, nil
	}
	p.Items = nil // the nodes whose config exists prove nothing any more
	for _, n := range missing {
		n.prove(p, "missing", "missingNodes", "missingName", "missingSame")
	}
	p.Add(evidence.Locator{Path: "machineconfigs"}, fmt.Sprintf("no MachineConfig %s among the %d in the cluster", v.MissingName, len(configs)),
		time.Time{}, "missing", "missingNodes", "missingName")
	return missing, nil
}

// target compares the nodes with the pool's config. A degraded node whose
// currentConfig equals its desiredConfig is not failing in the controller's eyes
// but unavailable, and keeps the place of those that could be updated
// (pkg/controller/common/layered_node_state.go IsNodeMCDFailing, pkg/controller/node/node_controller.go
// getAllCandidateMachines).
func (v *Nodes) target(ctx context.Context, w *facts.World, pool string, list []nodeConfig, p *facts.Proof) error {
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", pool)
	if err != nil || !ok {
		return err
	}
	spec := evidence.String(o.Content, "spec", "configuration", "name")
	for _, n := range list {
		degraded := n.state == "Degraded" || n.state == "Unreconcilable"
		switch {
		case n.current == spec && n.desired == spec && n.state == "Done":
			v.AtSpec++
		case degraded && n.current == n.desired && n.current != spec:
			v.Stuck++
			v.StuckNodes = append(v.StuckNodes, n.object.Name)
			n.prove(p, "stuck", "stuckNodes")
		}
	}
	p.Add(o.Loc.At("spec.configuration.name"), fmt.Sprintf("%d of %d nodes run %s and are Done", v.AtSpec, v.Total, spec), time.Time{}, "atSpec", "total", "stuck")
	return nil
}

// bootstrap counts the nodes that have not finished their first run: the daemon
// logs it, and from 4.19 on its complaint says it.
func (v *Nodes) bootstrap(ctx context.Context, w *facts.World, missing []nodeConfig, p *facts.Proof) error {
	lines, err := daemonLines(ctx, w)
	proven := 0
	for _, n := range missing {
		if n.class == BootstrapMismatch || n.class == BootstrapNoDisk {
			proven++
			p.Add(n.object.Loc.At("metadata.annotations."+reasonAnnotation), firstLine(n.cause), time.Time{}, "bootstrapMode")
			continue
		}
		name := n.object.Name
		if cut := w.Cut(ctx, DaemonLogs, func(t evidence.Text) bool { return t.Host == "" || t.Host == name }); cut != nil {
			err = cmp.Or(err, cut) // the end of its first run may stand in the rest
			continue
		}
		var d Daemon
		var proof facts.Proof
		d.follow(lines[name], &proof)
		if !d.BootstrapMode {
			continue
		}
		proven++
		for _, item := range proof.Items {
			if slices.Contains(item.Fields, "bootstrapMode") {
				p.Items = append(p.Items, item)
			}
		}
	}
	v.BootstrapMode = int64(proven)
	if proven == len(missing) && proven > 0 {
		return nil // nothing that could not be read would add to it
	}
	return err
}
