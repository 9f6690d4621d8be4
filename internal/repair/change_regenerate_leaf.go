package repair

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	leafRemedy = "regenerate-leaf"
	// forceRegeneration is no date, so that the operator issues the certificate again
	// (openshift/library-go: pkg/operator/certrotation/target.go needNewTargetCertKeyPair;
	// openshift/oc: pkg/cli/admin/ocpcertificates/certregen/leavesregen.go writes the same).
	forceRegeneration = "force-regeneration"
)

var (
	certificateEnds   = pointer("metadata", "annotations", openshift.CertificateNotAfterAnnotation)
	certificateBegins = pointer("metadata", "annotations", openshift.CertificateNotBeforeAnnotation)
	certificateIssuer = pointer("metadata", "annotations", openshift.CertificateIssuerAnnotation)
	// leafName is a Secret where an operator of the control plane issues certificates. Those in
	// the namespaces of the pods are copies, which are written back, and those of etcd have
	// signers of their own (openshift/cluster-kube-apiserver-operator:
	// pkg/operator/certrotationcontroller/certrotationcontroller.go).
	leafName = regexp.MustCompile(`^(?:openshift-config-managed|openshift-kube-apiserver-operator|openshift-kube-apiserver)/[a-z0-9][-a-z0-9.]*$`)
)

// regenerateLeaf has an operator issue one certificate of the control plane again.
func regenerateLeaf() fieldChange {
	return fieldChange{
		remedy: leafRemedy,
		target: changeTarget{ref: func(name string) Ref { return secretRef("", name) }, named: true},
		reads:  []string{"/metadata/uid", certificateEnds, certificateBegins, certificateIssuer},
		set:    markLeaf,
		valid: func(v string) error {
			if !leafName.MatchString(v) || len(v) > 200 {
				return errors.New("it is not NAMESPACE/NAME of a Secret that an operator of the control plane rotates")
			}
			return nil
		},
		flag:  "leaf",
		usage: "have the operator issue the certificate in this Secret, `NAMESPACE/NAME`, again",
		since: "4.14",
		taken: func(o Object) string {
			if v, _ := fieldAt(o, certificateEnds); v == forceRegeneration {
				return openshift.CertificateNotAfterAnnotation
			}
			return ""
		},
		guards: func(string) []Guard { return []Guard{{Guard: EtcdQuorum}, {Guard: OthersAtRest}} },
		keeps: func(o Object) string {
			if v, _ := fieldAt(o, certificateEnds); v != forceRegeneration {
				return "the operator has issued another certificate"
			}
			return ""
		},
		risk:     fault.RiskRestart,
		riskText: "the pods that use this certificate load the new one, or restart",
		proof:    Simulated,
		title:    "have the operator issue the certificate in Secret %s again",
		oc:       "oc adm ocp-certificates regenerate-leaf -n NAMESPACE secret/%s   # VALUE",
		inverse:  "write the old date back, until the operator has acted",
		expect:   "the operator has issued the certificate in %s again",
		takes:    10,
		settles:  30,
	}
}

// markLeaf refuses what `oc adm ocp-certificates regenerate-leaf` passes over: a Secret that no
// operator rotates, a copy that belongs to a revision, a signer.
func markLeaf(o Object, in input) (map[string]any, error) {
	set := map[string]any{certificateEnds: forceRegeneration, planMark: in.plan}
	if mark, _ := fieldAt(o, planMark); mark == in.plan {
		return set, nil
	}
	for _, path := range []string{certificateIssuer, certificateBegins} {
		if v, _ := fieldAt(o, path); v == nil || v == "" {
			path := splitPointer(path)
			return nil, fmt.Errorf("it has no annotation %s: no operator rotates it", path[len(path)-1])
		}
	}
	owners, _ := fieldAt(o, "/metadata/ownerReferences")
	list, _ := owners.([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		if name, _ := m["name"].(string); m["kind"] == "ConfigMap" && strings.HasPrefix(name, "revision-status-") {
			return nil, errors.New("it is the copy of one revision")
		}
	}
	raw, err := base64.StdEncoding.DecodeString(stringAt(o, "data", "tls.crt"))
	block, _ := pem.Decode(raw)
	if err != nil || block == nil {
		return nil, errors.New("it has no certificate in tls.crt")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("its certificate cannot be read: %w", err)
	}
	if c.IsCA || c.Subject.String() == c.Issuer.String() {
		return nil, errors.New("it holds a signer, which is not regenerated here")
	}
	return set, nil
}
