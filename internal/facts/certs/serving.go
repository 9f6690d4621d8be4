package certs

import (
	"context"
	"crypto/x509"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Serving is the certificate that booting hosts meet at the machine config server.
type Serving struct {
	Chain []*x509.Certificate // leaf first
	Kept  []*x509.Certificate // what the Secret holds: served after a restart; nil where it was not read
	Loc   evidence.Locator
}

// ServingNeeds is what ReadServing reads.
func ServingNeeds() []evidence.Need {
	return []evidence.Need{evidence.Objects(evidence.Secrets, openshift.MachineConfigNamespace), evidence.Objects(evidence.MCSProbes, "")}
}

// ReadServing returns what the servers showed a probe, else what the Secret holds.
// Where neither could be read the error is an *evidence.Unavailable.
func ReadServing(ctx context.Context, w *facts.World) (Serving, error) {
	return facts.Memo(ctx, w, "certs.serving", func(ctx context.Context, w *facts.World) (Serving, error) {
		var m mcs
		kept, err := m.secret(ctx, w)
		if err != nil {
			return Serving{}, err
		}
		served, err := m.served(ctx, w, kept.chain)
		switch {
		case err != nil:
			return Serving{}, err
		case len(served.chain) > 0:
			return Serving{served.chain, kept.chain, served.loc}, nil
		case len(kept.chain) > 0:
			return Serving{kept.chain, kept.chain, kept.loc}, nil
		}
		return Serving{}, kept.why
	})
}
