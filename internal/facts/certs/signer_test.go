package certs_test

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const signer = "namespaces/openshift-kube-controller-manager/core/secrets/csr-signer.yaml --\n"

func TestSigner(t *testing.T) {
	read := func(changes string) certs.Signer {
		return factstest.Fields[certs.Signer](t, factstest.World(t, factstest.Metal, changes), certs.SignerFact(), factstest.Cluster())
	}
	if s := read(""); !s.Exists.Value() || !s.NotAfter.Equal(facts.Known(time.Date(2026, 3, 31, 8, 0, 0, 0, time.UTC))) {
		t.Errorf("by its annotations: %+v", s)
	}
	for name, changes := range map[string]string{
		"neither contents nor annotations": "-- patch:" + signer + "metadata: {annotations: null}\n",
		"annotations that are no times":    "-- patch:" + signer + "metadata: {annotations: {auth.openshift.io/certificate-not-after: soon}}\n",
		"contents that are no certificate": "-- patch:" + signer + "data: {tls.crt: aGVsbG8=}\nmetadata: {annotations: null}\n",
	} {
		s := read(changes)
		if _, err := s.NotAfter.Get(); err == nil || !s.Exists.Value() {
			t.Errorf("%s: %+v", name, s)
		}
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Secrets, "openshift-kube-controller-manager"))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, certs.SignerFact(), factstest.Cluster())); !ok {
		t.Error("Secrets that could not be read are no Unavailable")
	}
}
