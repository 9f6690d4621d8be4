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
//   - Tokens and pointers are compared by the digests of the sanitiser. Secrets that
//     were not read make the comparison unknown, never equal.
//   - Conditions of a NodePool on the platform None that speak of Machines mean
//     nothing: there are none.
//   - Events and log lines of the ignition server are hints: whoever reaches it
//     chooses the names in them.
package hosted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Facts returns the facts of this area.
func Facts() []facts.Fact {
	return []facts.Fact{apiFact(), clusterFact(), certFact(), serverFact(), logFact(), workloadsFact(), eventsFact(), workersFact(),
		poolFact(), poolMachinesFact(), tokenFact(), userDataFact(), hostFact(), requestFact()}
}

// none is the platform without Machines.
const none = "None"

// looked returns the hosted cluster that is looked at; without one a fact has no
// meaning.
func looked(ctx context.Context, w *facts.World) (*evidence.Hosted, error) {
	h, err := w.Hosted(ctx)
	if err == nil && h == nil {
		err = facts.NotApplicable("no hosted cluster is looked at")
	}
	return h, err
}

// hostedCluster returns the HostedCluster object.
func hostedCluster(ctx context.Context, w *facts.World) (evidence.Object, error) {
	h, err := looked(ctx, w)
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
func findPool(ctx context.Context, w *facts.World, s fault.Subject) (hosts.NodePool, error) {
	if _, err := looked(ctx, w); err != nil {
		return hosts.NodePool{}, err
	}
	list, err := hosts.NodePools(ctx, w)
	if err != nil {
		return hosts.NodePool{}, err
	}
	for _, p := range list {
		if p.Name == s.Name {
			return p, nil
		}
	}
	return hosts.NodePool{}, facts.NotApplicable("there is no NodePool %s", s.Name)
}

// trouble is the first condition of some that is not as it must be.
type trouble struct {
	text  string // "ValidMachineConfig: ..."; "" where all are well
	since time.Time
}

// wrong looks for the first of the types whose status is the bad one, and proves it.
func wrong(o evidence.Object, bad string, p *facts.Proof, fields []string, types ...string) trouble {
	list := conditions.Of(o)
	for _, t := range types {
		c := conditions.Find(list, t)
		if c.Status != bad {
			continue
		}
		text := c.Type + "=" + c.Status
		if c.Reason != "" {
			text += " " + c.Reason
		}
		if c.Message != "" {
			text += ": " + c.Message
		}
		p.Add(c.Loc, text, c.Since, fields...)
		return trouble{said(c), c.Since}
	}
	return trouble{}
}

// said is a condition's message, else its reason, else its type.
func said(c conditions.Condition) string {
	for _, s := range []string{c.Message, c.Reason} {
		if s != "" {
			return s
		}
	}
	return fmt.Sprintf("%s is %s", c.Type, c.Status)
}

// miss marks fields as unknown where something could not be read; other errors are
// passed on.
func miss(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok || errors.Is(err, facts.ErrNotApplicable) {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}
