package apiaccess

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// fromHost is what the API answers to a node that was told to ask. A kubelet asks
// api-int (openshift/installer:pkg/asset/manifests/utils.go getInternalAPIServerURL);
// from outside the name and the path to it may be others.
type fromHost struct {
	Server    facts.Field[string]   `cel:"server"`    // api-int and its port
	Answers   facts.Field[bool]     `cel:"answers"`   // an API server answers there, below 500
	How       facts.Field[string]   `cel:"how"`       // what came back instead
	Addresses facts.Field[[]string] `cel:"addresses"` // what the name resolves to there
	Others    facts.Field[[]string] `cel:"others"`    // of them, those that answer
}

var hostFact = facts.Define("api-from-host", fault.Host, "what api-int answers to the node of --probe-from, by name as its kubelet asks", needs, readFromHost)

func readFromHost(ctx context.Context, w *facts.World, s fault.Subject) (fromHost, error) {
	var f fromHost
	l, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	var others []string
	for _, r := range l.rest {
		if r.Vantage != probe.TargetNode+s.Name || r.isMCS() {
			continue
		}
		status := r.Status("/readyz")
		up := status > 0 && status < 500
		if r.Target == probe.TargetAPIInt {
			f.apiInt(r, up)
			continue
		}
		if up {
			others = append(others, r.Where())
		}
		facts.Prove(r.item(), &f.Others)
	}
	if f.Server.Value() == "" {
		return f, facts.NotApplicable("the API was not asked from this host")
	}
	f.Others.Set(others)
	return f, nil
}

func (f *fromHost) apiInt(r checkedEndpoint, up bool) {
	how := ""
	if !up {
		how = r.outcome()
	}
	f.Server.Set(r.Where(), r.item())
	f.Answers.Set(up, r.item())
	f.How.Set(how, r.item())
	f.Addresses.Set(append(f.Addresses.Value(), r.Addresses...), r.item())
}
