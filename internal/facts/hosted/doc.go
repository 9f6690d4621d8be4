// Package hosted reads what the join of a worker to a hosted cluster depends on and
// what lies in its management cluster: the HostedCluster, its NodePools, the token
// and user-data Secrets, the ignition server, the machines and the parts of the
// control plane that answer a new node.
//
// Every fact is not applicable where no hosted cluster is looked at. Claims are from
// openshift/hypershift (api/hypershift/v1beta1, hypershift-operator/controllers/
// nodepool, ignition-server, control-plane-operator), 4.12 to 4.21.
//
// Invariants:
//   - Tokens and pointers are compared by the digests of the sanitizer. Secrets that
//     were not read make the comparison unknown, never equal.
//   - Conditions of a NodePool on the platform None that speak of Machines mean
//     nothing: there are none.
//   - Events and log lines of the ignition server are hints: whoever reaches it
//     chooses the names in them.
package hosted

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Facts returns the facts of this area.
func Facts() []facts.Fact {
	return []facts.Fact{apiFact(), namesFact(), clusterFact(), certFact(), serverFact(), logFact(), workloadsFact(), eventsFact(), workersFact(),
		poolFact(), poolMachinesFact(), tokenFact(), userDataFact(), hostFact(), requestFact()}
}

// none is the platform without Machines.
const none = "None"

// requireHosted returns the hosted cluster that is looked at; without one a fact has no
// meaning.
func requireHosted(ctx context.Context, w *facts.World) (*evidence.Hosted, error) {
	h, err := w.Hosted(ctx)
	if err == nil && h == nil {
		err = facts.NotApplicable("no hosted cluster is looked at")
	}
	return h, err
}

// hostedCluster returns the HostedCluster object.
func hostedCluster(ctx context.Context, w *facts.World) (evidence.Object, error) {
	h, err := requireHosted(ctx, w)
	if err != nil {
		return evidence.Object{}, err
	}
	need := evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace)
	list, err := w.List(ctx, need.Resource, need.Namespace)
	for _, o := range list {
		if o.Name == h.Name {
			return o, nil
		}
	}
	if err == nil {
		err = &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "there is no HostedCluster " + h.String()}
	}
	return evidence.Object{}, err
}

// findPool returns the NodePool of a subject.
func findPool(ctx context.Context, w *facts.World, s fault.Subject) (inventory.NodePool, error) {
	if _, err := requireHosted(ctx, w); err != nil {
		return inventory.NodePool{}, err
	}
	list, err := inventory.NodePools(ctx, w)
	if err != nil {
		return inventory.NodePool{}, err
	}
	for _, p := range list {
		if p.Name == s.Name {
			return p, nil
		}
	}
	return inventory.NodePool{}, facts.NotApplicable("there is no NodePool %s", s.Name)
}

// part is a sentence and a time that some conditions decide: the first of the types whose
// status is the bad one. The sentence is "" where all are well.
type part struct {
	text  *facts.Field[string]
	since *facts.Field[time.Time]
	bad   string
	types []string
	// always: a controller reports at least one of the types, so that none of them means
	// that it has not looked yet. Without it their absence is normal.
	always bool
}

// read sets the fields from an object's conditions.
func (p part) read(o evidence.Object) {
	list := conditions.Of(o)
	var found []conditions.Condition
	for _, t := range p.types {
		found = append(found, conditions.Named(list, t)...)
	}
	found = slices.DeleteFunc(found, func(c conditions.Condition) bool { return ArchFalseAlarm(c.Type, c.Message) })
	if i := slices.IndexFunc(found, func(c conditions.Condition) bool { return c.Status == p.bad }); i >= 0 {
		p.text.Set(conditionText(found[i]), found[i].Item())
		p.since.Set(found[i].Since, found[i].Item())
		return
	}
	if i := slices.IndexFunc(found, func(c conditions.Condition) bool { return c.Status == "Unknown" }); i >= 0 {
		u := conditions.NotReported(o.Resource, o.Name, found[i].Type)
		u.Detail = found[i].Item().Excerpt
		_ = facts.Miss(u, p.text, p.since)
		return
	}
	if len(found) == 0 && p.always {
		_ = facts.Miss(conditions.NotReported(o.Resource, o.Name, p.types[0]), p.text, p.since)
		return
	}
	p.text.Set("")
	p.since.Set(time.Time{})
	for _, c := range found {
		facts.Prove(c.Item(), p.text, p.since)
	}
	if len(found) == 0 {
		facts.Prove(o.Shows("status.conditions", fmt.Sprintf("none of the %d conditions is %s", len(list), p.types[0]), time.Time{}), p.text, p.since)
	}
}

// conditionText is a condition's message, else its reason, else its type.
func conditionText(c conditions.Condition) string {
	for _, s := range []string{c.Message, c.Reason} {
		if s != "" {
			return s
		}
	}
	return fmt.Sprintf("%s is %s", c.Type, c.Status)
}

// listRead is a list that was read whole as a piece of evidence.
func listRead(path, said string) evidence.Item {
	return evidence.Item{Locator: evidence.Locator{Cluster: evidence.Management, Path: path}, Excerpt: said}
}
