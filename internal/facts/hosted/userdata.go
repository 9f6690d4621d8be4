package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// userData is the fact hosted-user-data: whether a machine that is made now would be
// answered. Where it would, a machine that is answered with 511 brings something else.
type userData struct {
	Known facts.Field[bool] `cel:"known"` // the tokens of all NodePools' user-data are ones that payloads were built for, and a server runs
	// Started is when the youngest ready pod of the server did. Its cache is memory: it then
	// builds the payloads again, and knows no token until it has.
	Started facts.Field[time.Time] `cel:"started"`
}

func userDataFact() facts.Fact {
	return facts.Define("hosted-user-data", fault.Cluster, "whether the ignition server knows the tokens that machines made now would bring", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
		evidence.Objects(evidence.HostedPods, evidence.ControlPlaneNamespace),
	}, readUserData)
}

func readUserData(ctx context.Context, w *facts.World, s fault.Subject) (userData, error) {
	var f userData
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	server, err := readServer(ctx, w, s)
	if err != nil {
		return f, err
	}
	pools, err := inventory.NodePools(ctx, w)
	if err != nil {
		return f, err
	}
	known := server.Ready.Value() > 0 && len(pools) > 0
	f.Known.Prove(server.Ready.Proof()...)
	f.Started = server.Started
	for _, n := range pools {
		tok, err := readToken(ctx, w, fault.Subject{Kind: fault.NodePool, Namespace: n.Namespace, Name: n.Name})
		if errors.Is(err, facts.ErrNotApplicable) {
			continue // it has given nothing to machines yet
		}
		if err != nil {
			return f, err
		}
		matches, err := tok.Matches.Get()
		if matches == "" {
			err = notRead
		}
		for _, e := range []error{err, why(tok.Stage), why(tok.Expired), why(tok.WrongSource)} {
			if e != nil {
				return f, facts.Miss(e, &f.Known)
			}
		}
		known = known && (matches == "current" || matches == "old") && tok.Stage.Value() == "AsExpected" && !tok.Expired.Value() && !tok.WrongSource.Value()
		for _, item := range slices.Concat(tok.Matches.Proof(), tok.Stage.Proof()) {
			item.Excerpt = fmt.Sprintf("NodePool %s: %s", n.Name, item.Excerpt)
			f.Known.Prove(item)
		}
	}
	f.Known.Set(known)
	return f, nil
}

// why returns why a field is unknown.
func why[T any](f facts.Field[T]) error {
	_, err := f.Get()
	return err
}
