package certs

import (
	"context"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// signerSecret is the Secret with which the controller manager signs the certificates of kubelets
// (openshift/cluster-kube-controller-manager-operator:pkg/operator/targetconfigcontroller).
const signerSecret = "csr-signer"

// Signer is the fact csr-signer.
type Signer struct {
	Exists   facts.Field[bool]      `cel:"exists"`
	NotAfter facts.Field[time.Time] `cel:"notAfter"`
}

// SignerFact is the fact csr-signer.
func SignerFact() facts.Fact {
	return facts.Define("csr-signer", fault.Cluster, "the certificate with which the controller manager signs those of kubelets",
		[]evidence.Need{evidence.Objects(evidence.Secrets, openshift.ControllerManagerNamespace)}, readSigner)
}

var signerUnread = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, openshift.ControllerManagerNamespace), Why: evidence.NotAsked,
	Detail: "the contents of Secret " + signerSecret + " were not read, and its annotations do not tell",
	Supply: evidence.Supply{Kind: evidence.SupplySecrets, Namespace: openshift.ControllerManagerNamespace},
}

func readSigner(ctx context.Context, w *facts.World, _ fault.Subject) (Signer, error) {
	var f Signer
	o, ok, err := w.Get(ctx, evidence.Secrets, openshift.ControllerManagerNamespace, signerSecret)
	if err != nil {
		return f, err
	}
	if !ok {
		f.Exists.Set(false, evidence.Listed(evidence.Secrets, openshift.ControllerManagerNamespace, "no Secret "+signerSecret))
		return f, facts.Miss(signerUnread, &f.NotAfter)
	}
	f.Exists.Set(true, evidence.Item{Locator: o.Loc, Excerpt: "Secret " + signerSecret + " exists", Time: o.Created()})
	if text := evidence.String(o.Content, "data", "tls.crt"); text != "" && !sanitize.Redacted(text) {
		chain, err := fromBase64(o, text)
		if err != nil {
			return f, facts.Miss(err, &f.NotAfter)
		}
		item := o.Shows("data.tls.crt", valid(chain[0].NotBefore, chain[0].NotAfter), time.Time{})
		f.NotAfter.Set(chain[0].NotAfter.UTC(), item)
		return f, nil
	}
	v := noted(o)
	if !v.ok {
		return f, facts.Miss(signerUnread, &f.NotAfter)
	}
	f.NotAfter.Set(v.after, v.item)
	return f, nil
}
