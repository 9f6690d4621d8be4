package pools

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Config is what a Node says of its machine config.
type Config struct {
	Annotated      bool      `cel:"annotated"` // the daemon has ever written to the Node
	Current        string    `cel:"current"`
	Desired        string    `cel:"desired"`
	State          string    `cel:"state"`          // Done, Working, Degraded, Unreconcilable
	Reason         string    `cel:"reason"`         // the daemon's complaint, cut
	Class          string    `cel:"class"`          // of the complaint; see Class
	CurrentMissing bool      `cel:"currentMissing"` // the config that it names is not in the cluster
	DesiredMissing bool      `cel:"desiredMissing"`
	Pool           string    `cel:"pool"`
	PoolSpec       string    `cel:"poolSpec"` // what the pool wants
	AtPoolSpec     bool      `cel:"atPoolSpec"`
	DrainPending   bool      `cel:"drainPending"` // the daemon asked for a drain or uncordon that has not been done
	Ready          bool      `cel:"ready"`        // the Node's condition
	Created        time.Time `cel:"created"`      // of the Node
	PoolSince      time.Time `cel:"poolSince"`    // since when the pool reports degraded nodes; zero where it does not
}

var configFact = facts.DefinePlain("host-config", fault.Host, "what the Node says of its machine config",
	[]evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.MachineConfigPools, ""),
	}, readConfig)

func readConfig(ctx context.Context, w *facts.World, s fault.Subject) (Config, facts.Proof, error) {
	var c Config
	var p facts.Proof
	o, ok, err := w.Get(ctx, evidence.Nodes, "", s.Name)
	if err != nil {
		return c, p, err
	}
	if !ok {
		return c, p, facts.NotApplicable("%s is not a Node yet", s.Name)
	}
	n := configOf(o)
	c = Config{
		Annotated: n.current != "" || n.state != "", Current: n.current, Desired: n.desired, State: n.state, Reason: firstLine(n.cause),
		Class: string(n.class), Pool: n.pool, Created: o.Created(), Ready: ready(o),
		DrainPending: o.Annotation(desiredDrain) != "" && o.Annotation(desiredDrain) != o.Annotation(lastDrain),
	}
	n.prove(&p, "current", "desired", "state", "annotated", "currentMissing", "desiredMissing", "atPoolSpec")
	if n.cause != "" {
		p.Add(o.Loc.At("metadata.annotations."+reasonAnnotation), c.Reason, time.Time{}, "reason", "class", "currentMissing")
	}
	if c.DrainPending {
		p.Add(o.Loc.At("metadata.annotations."+desiredDrain), fmt.Sprintf("desiredDrain: %s, lastAppliedDrain: %s",
			o.Annotation(desiredDrain), o.Annotation(lastDrain)), time.Time{}, "drainPending")
	}
	if err := c.lookUp(ctx, w, n, &p); err != nil {
		return c, p, err
	}
	err = c.pool(ctx, w, &p)
	return c, p, err
}

// lookUp finds out whether the named configs exist. Where MachineConfigs could
// not be read, the daemon's own complaint still proves that its config is missing.
func (c *Config) lookUp(ctx context.Context, w *facts.World, n nodeConfig, p *facts.Proof) error {
	configs, err := configNames(ctx, w)
	if _, ok := evidence.AsUnavailable(err); ok {
		p.Miss("desiredMissing", err)
		if c.CurrentMissing = n.class.missing(); !c.CurrentMissing {
			p.Miss("currentMissing", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if _, ok := configs[c.Current]; !ok && c.Current != "" {
		c.CurrentMissing = true
		p.Add(evidence.Locator{Path: "machineconfigs"}, fmt.Sprintf("no MachineConfig %s among the %d in the cluster", c.Current, len(configs)), time.Time{}, "currentMissing")
	}
	if _, ok := configs[c.Desired]; !ok && c.Desired != "" {
		c.DesiredMissing = true
		if c.Desired != c.Current {
			p.Add(evidence.Locator{Path: "machineconfigs"}, fmt.Sprintf("no MachineConfig %s among the %d in the cluster", c.Desired, len(configs)), time.Time{}, "desiredMissing")
		}
	}
	return nil
}

// pool reads what the node's pool wants.
func (c *Config) pool(ctx context.Context, w *facts.World, p *facts.Proof) error {
	served, proof, err := PoolServed(ctx, w, c.Pool)
	if err != nil {
		if _, ok := evidence.AsUnavailable(err); ok {
			for _, f := range []string{"poolSpec", "atPoolSpec", "poolSince"} {
				p.Miss(f, err)
			}
			return nil
		}
		return ignoreNotApplicable(err)
	}
	c.PoolSpec = served.SpecName
	c.AtPoolSpec = c.Current == served.SpecName && c.Desired == served.SpecName
	if served.NodeMessage != "" {
		c.PoolSince = served.Since
	}
	for _, item := range proof.Items {
		for _, f := range item.Fields {
			if f == "specName" {
				item.Fields = []string{"poolSpec", "atPoolSpec"}
				p.Items = append(p.Items, item)
				break
			}
		}
	}
	return nil
}
