package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// UserData is the fact hosted-user-data: whether a machine that is made now would be
// answered. Where it would, a machine that is answered with 511 brings something else.
type UserData struct {
	Known bool `cel:"known"` // the tokens of all NodePools' user-data are ones that the running server has built payloads for
}

// warm is how long the ignition server may take to build the payloads again after a
// start: its cache is memory.
const warm = 15 * time.Minute

func userDataFact() facts.Fact {
	return facts.DefinePlain("hosted-user-data", fault.Cluster, "whether the ignition server knows the tokens that machines made now would bring", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
		evidence.Objects(evidence.HostedPods, evidence.ControlPlaneNamespace),
	}, readUserData)
}

func readUserData(ctx context.Context, w *facts.World, s fault.Subject) (UserData, facts.Proof, error) {
	var f UserData
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	server, _, err := readServer(ctx, w, s)
	if err != nil {
		return f, p, err
	}
	pools, err := hosts.NodePools(ctx, w)
	if err != nil {
		return f, p, err
	}
	f.Known = server.Ready > 0 && w.Now.Sub(server.Started) > warm && len(pools) > 0
	for _, n := range pools {
		tok, proof, err := readToken(ctx, w, fault.Subject{Kind: fault.NodePool, Namespace: n.Namespace, Name: n.Name})
		if errors.Is(err, facts.ErrNotApplicable) {
			continue // it has given nothing to machines yet
		}
		if err != nil {
			return f, p, err
		}
		if tok.Matches == "" {
			p.Miss("known", notRead)
			return f, p, nil
		}
		f.Known = f.Known && (tok.Matches == "current" || tok.Matches == "old") && tok.Stage == "AsExpected" && !tok.Expired && !tok.WrongSource
		for _, item := range proof.Items {
			if !slices.Contains(item.Fields, "matches") && !slices.Contains(item.Fields, "stage") {
				continue
			}
			p.Add(item.Locator, fmt.Sprintf("NodePool %s: %s", n.Name, item.Excerpt), item.Time, "known")
		}
	}
	return f, p, nil
}
