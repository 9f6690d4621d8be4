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
	Error     facts.Field[string]   `cel:"error"`     // the step that failed, an errorClass; "" when HTTP came back
	NoName    facts.Field[bool]     `cel:"noName"`    // the name has no address on the node, or no name server answers it
	Addresses facts.Field[[]string] `cel:"addresses"` // what the name resolves to there
	Asked     facts.Field[int64]    `cel:"asked"`     // VIPs and control-plane hosts that the node was told to ask, too
	Others    facts.Field[[]string] `cel:"others"`    // of them, those that answer
}

var hostFact = facts.Define("api-from-host", fault.Host, "what api-int answers to the node of --probe-from, by name as its kubelet asks", needs, readFromHost)

func readFromHost(ctx context.Context, w *facts.World, s fault.Subject) (fromHost, error) {
	var f fromHost
	l, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	asked := int64(0)
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
		asked++
		if up {
			others = append(others, r.Where())
		}
		facts.Prove(r.item(), &f.Asked, &f.Others)
	}
	if f.Server.Value() == "" {
		return f, facts.NotApplicable("the API was not asked from this host")
	}
	f.Asked.Set(asked)
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
	f.Error.Set(string(r.ErrorClass), r.item())
	f.NoName.Set(r.ErrorClass == probe.ErrDNS, r.item())
	f.Addresses.Set(append(f.Addresses.Value(), r.Addresses...), r.item())
}
