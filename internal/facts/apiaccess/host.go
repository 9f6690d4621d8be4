package apiaccess

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// FromHost is what the API answers to a node that was told to ask. A kubelet asks
// api-int (openshift/installer:pkg/asset/manifests/utils.go getInternalAPIServerURL);
// from outside the name and the way to it may be others.
type FromHost struct {
	Server    string   `cel:"server"`    // api-int and its port
	Answers   bool     `cel:"answers"`   // an API server answers there, below 500
	How       string   `cel:"how"`       // what came back in its place
	Error     string   `cel:"error"`     // the step that failed, an errorClass; "" when HTTP came back
	NoName    bool     `cel:"noName"`    // the name has no address on the node, or no name server answers it
	Addresses []string `cel:"addresses"` // what the name resolves to there
	Asked     int64    `cel:"asked"`     // virtual addresses and control-plane hosts that the node was told to ask, too
	Others    []string `cel:"others"`    // of them, those that answer
}

var hostFact = facts.DefinePlain("api-from-host", fault.Host, "what api-int answers to the node of --probe-from, by name as its kubelet asks", needs, readFromHost)

func readFromHost(ctx context.Context, w *facts.World, s fault.Subject) (FromHost, facts.Proof, error) {
	f := FromHost{Addresses: []string{}, Others: []string{}}
	var p facts.Proof
	l, err := read(ctx, w)
	if err != nil {
		return f, p, err
	}
	asked := false
	for _, r := range l.rest {
		if r.Vantage != probe.TargetNode+s.Name || r.isMCS() {
			continue
		}
		status := r.Status("/readyz")
		up := status > 0 && status < 500
		if r.Target == probe.TargetAPIInt {
			asked = true
			f.Server, f.Answers, f.Error, f.NoName = r.Where(), up, string(r.ErrorClass), r.ErrorClass == probe.ErrDNS
			f.Addresses = append(f.Addresses, r.Addresses...)
			if !up {
				f.How = r.outcome()
			}
			r.prove(&p, "server", "answers", "how", "error", "noName", "addresses")
			continue
		}
		f.Asked++
		if up {
			f.Others = append(f.Others, r.Where())
		}
		r.prove(&p, "asked", "others")
	}
	if !asked {
		return f, p, facts.NotApplicable("the API was not asked from this host")
	}
	return f, p, nil
}
