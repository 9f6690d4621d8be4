package certs

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// The Secret with which the controller manager signs the certificates of kubelets
// (openshift/cluster-kube-controller-manager-operator:pkg/operator/targetconfigcontroller).
const (
	managerNamespace = "openshift-kube-controller-manager"
	signerSecret     = "csr-signer"
)

// Signer is the fact csr-signer.
type Signer struct {
	Exists    bool      `cel:"exists"`
	NotBefore time.Time `cel:"notBefore"`
	NotAfter  time.Time `cel:"notAfter"`
	Subject   string    `cel:"subject"`
}

// SignerFact is the fact csr-signer.
func SignerFact() facts.Fact {
	return facts.DefinePlain("csr-signer", fault.Cluster, "the certificate with which the controller manager signs those of kubelets",
		[]evidence.Need{evidence.Objects(evidence.Secrets, managerNamespace)}, readSigner)
}

var signerUnread = &evidence.Unavailable{
	Need: evidence.Objects(evidence.Secrets, managerNamespace), Why: evidence.NotAsked,
	Detail: "the contents of Secret " + signerSecret + " were not read, and its annotations do not tell",
	Supply: "--read-secrets " + managerNamespace + " (certificates are kept, keys are not)",
}

func readSigner(ctx context.Context, w *facts.World, _ fault.Subject) (Signer, facts.Proof, error) {
	var f Signer
	var p facts.Proof
	o, ok, err := w.Get(ctx, evidence.Secrets, managerNamespace, signerSecret)
	if err != nil {
		return f, p, err
	}
	if f.Exists = ok; !ok {
		p.Add(evidence.Locator{Path: "secrets -n " + managerNamespace}, "no Secret "+signerSecret, time.Time{}, "exists")
		err = miss(&p, signerUnread, "notBefore", "notAfter", "subject")
		return f, p, err
	}
	p.Add(o.Loc, "Secret "+signerSecret+" exists", o.Created(), "exists")
	loc := o.Loc.At("data.tls.crt")
	if text := evidence.String(o.Content, "data", "tls.crt"); text != "" && !sanitize.Redacted(text) {
		chain, err := fromBase64(o, text)
		if err != nil {
			err = miss(&p, err, "notBefore", "notAfter", "subject")
			return f, p, err
		}
		f.NotBefore, f.NotAfter, f.Subject = chain[0].NotBefore.UTC(), chain[0].NotAfter.UTC(), chain[0].Subject.String()
	} else {
		var m MCS
		if m.annotations(o); m.From == "" {
			err = miss(&p, signerUnread, "notBefore", "notAfter", "subject")
			return f, p, err
		}
		f.NotBefore, f.NotAfter, loc = m.NotBefore, m.NotAfter, o.Loc.At("metadata.annotations")
		_ = miss(&p, signerUnread, "subject")
	}
	p.Add(loc, fmt.Sprintf("valid from %s to %s", f.NotBefore.Format(time.RFC3339), f.NotAfter.Format(time.RFC3339)), time.Time{}, "notBefore", "notAfter", "subject")
	return f, p, nil
}
