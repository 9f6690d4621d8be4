package pools

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// nodes groups the nodes of a pool by the config that they name.
type nodes struct {
	Total         facts.Field[int64]     `cel:"total"`
	Missing       facts.Field[int64]     `cel:"missing"`       // nodes whose currentConfig is not in the cluster
	MissingNodes  facts.Field[[]string]  `cel:"missingNodes"`  // their names
	MissingName   facts.Field[string]    `cel:"missingName"`   // the config that most of them name
	Complaining   facts.Field[int64]     `cel:"complaining"`   // nodes whose daemon is Degraded and reports that the config which the node names does not exist
	Final         facts.Field[bool]      `cel:"final"`         // stuck nodes whose daemons name both renders use up maxUnavailable
	BootstrapMode facts.Field[int64]     `cel:"bootstrapMode"` // of these, how many have never finished their first run
	Stuck         facts.Field[int64]     `cel:"stuck"`         // degraded, not at the pool's config, and with no other config asked of them
	AtSpec        facts.Field[int64]     `cel:"atSpec"`        // nodes that run the pool's config and are Done
	Since         facts.Field[time.Time] `cel:"since"`         // creation of the oldest node that names a missing config
}

var nodesFact = facts.Define("pool-nodes", fault.Pool, "the nodes of a pool, by the config that they name",
	[]evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.MachineConfigPools, ""),
		evidence.Texts(DaemonLogs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace),
	}, readNodes)

func readNodes(ctx context.Context, w *facts.World, s fault.Subject) (nodes, error) {
	var v nodes
	list, err := nodeConfigs(ctx, w, s.Name)
	if err != nil {
		return v, err
	}
	v.Total.Set(int64(len(list)), evidence.Listed(evidence.Nodes, "", fmt.Sprintf("%d nodes of pool %s", len(list), s.Name)))
	v.complaining(list)
	missing, err := v.missing(ctx, w, list)
	blind := err != nil
	if err := facts.Miss(err, &v.Missing, &v.MissingNodes, &v.MissingName, &v.Since, &v.BootstrapMode); err != nil {
		return v, err
	}
	if err := facts.Miss(v.target(ctx, w, s.Name, list), &v.Stuck, &v.AtSpec, &v.Final); err != nil {
		return v, err
	}
	if !blind {
		err = facts.Miss(v.bootstrap(ctx, w, missing), &v.BootstrapMode)
	} else {
		err = nil
	}
	facts.Complete(&v)
	return v, err
}

// complaining counts what the daemons themselves found to be missing when they asked the API.
func (v *nodes) complaining(list []nodeConfig) {
	var proof []evidence.Item
	for _, n := range list {
		if n.configMissing() {
			proof = append(proof, n.complaint())
		}
	}
	v.Complaining.Set(int64(len(proof)), proof...)
}

// missing finds the nodes whose config is not in the cluster.
func (v *nodes) missing(ctx context.Context, w *facts.World, list []nodeConfig) ([]nodeConfig, error) {
	configs, err := configNames(ctx, w)
	if err != nil {
		return nil, err
	}
	var missing []nodeConfig
	var names []string
	var most string
	var since time.Time
	var proof []evidence.Item
	exist := evidence.Listed(evidence.MachineConfigs, "", fmt.Sprintf("none of %d nodes names a config that is not in the cluster", len(list)))
	count := map[string]int{}
	for _, n := range list {
		o, ok := configs[n.current]
		if ok {
			exist = evidence.Item{Locator: o.Loc, Excerpt: fmt.Sprintf("MachineConfig %s, which %s names, exists", n.current, n.object.Name), Time: o.Created()}
		}
		if ok || n.current == "" {
			continue
		}
		missing = append(missing, n)
		names = append(names, n.object.Name)
		proof = append(proof, n.item())
		if count[n.current]++; count[n.current] > count[most] || most == "" {
			most = n.current
		}
		if at := n.object.Created(); since.IsZero() || at.Before(since) {
			since = at
		}
	}
	if len(missing) == 0 {
		proof = []evidence.Item{exist}
	} else {
		proof = append(proof, configNotFound(configs, most))
	}
	v.Missing.Set(int64(len(missing)), proof...)
	v.MissingNodes.Set(names, proof...)
	v.MissingName.Set(most, proof...)
	v.Since.Set(since, proof...)
	return missing, nil
}

// target compares the nodes with the pool's config. A degraded node whose
// currentConfig equals its desiredConfig is not failing in the controller's eyes
// but unavailable, and keeps the place of those that could be updated
// (pkg/controller/common/layered_node_state.go IsNodeMCDFailing, pkg/controller/node/node_controller.go
// getAllCandidateMachines).
func (v *nodes) target(ctx context.Context, w *facts.World, name string, list []nodeConfig) error {
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", name)
	if err != nil || !ok {
		return err
	}
	pool, err := evidence.Decode[apitypes.MachineConfigPool](o)
	if err != nil {
		return err
	}
	spec := pool.Spec.Configuration.Name
	atSpec, stuck, both := 0, 0, 0
	for _, n := range list {
		switch {
		case n.current == spec && n.desired == spec && n.state == "Done":
			atSpec++
		case n.degraded() && n.current == n.desired && n.current != spec:
			stuck++
			facts.Prove(n.item(), &v.Stuck)
			if n.class == bootstrapMismatch {
				both++
				v.Final.Prove(n.complaint())
			}
		}
	}
	item := o.Shows("spec.configuration.name", fmt.Sprintf("%d of %d nodes run %s and are Done", atSpec, len(list), spec), time.Time{})
	v.AtSpec.Set(int64(atSpec), item)
	v.Stuck.Set(int64(stuck), item)
	v.Final.Set(both > 0 && int64(stuck) >= maxUnavailable(&pool), item)
	return nil
}

// bootstrap counts the nodes that have not finished their first run: the daemon
// logs it, and from 4.19 on its complaint says it. Its last word decides, so a log that
// was not read to its end says nothing.
func (v *nodes) bootstrap(ctx context.Context, w *facts.World, missing []nodeConfig) error {
	logs, err := daemonLines(ctx, w)
	proven := 0
	for _, n := range missing {
		if n.class == bootstrapMismatch || n.class == bootstrapNoDisk {
			proven++
			v.BootstrapMode.Prove(n.complaint())
			continue
		}
		name := n.object.Name
		if gap := logs.gap(ctx, w, name); gap != nil {
			err = cmp.Or(err, gap)
			continue
		}
		var d daemon
		d.follow(logs.lines[name])
		if item, ok := d.proof[inBootstrap]; ok {
			proven++
			v.BootstrapMode.Prove(item)
		}
	}
	if len(missing) == 0 {
		v.BootstrapMode.Prove(v.Missing.Proof()...)
		err = nil
	}
	v.BootstrapMode.Set(int64(proven))
	if proven == len(missing) {
		return nil // nothing that could not be read would add to it
	}
	return err
}
