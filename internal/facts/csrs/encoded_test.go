package csrs

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// stringTags are the string types that a value of a name may have, and OCTET STRING.
var stringTags = []int{4, 12, 18, 19, 20, 22, 26, 27, 28, 30}

// valueOf encodes an ASCII text in a string type.
func valueOf(tag int, text string) asn1.RawValue {
	width := map[int]int{28: 4, 30: 2}[tag]
	var raw []byte
	for _, b := range []byte(text) {
		for range width - 1 {
			raw = append(raw, 0)
		}
		raw = append(raw, b)
	}
	return asn1.RawValue{Tag: tag, Bytes: raw}
}

// subjects are subjects in which something is encoded in another way than a kubelet does,
// under what they are.
func subjects() map[string]pkix.RDNSequence {
	name := func(id asn1.ObjectIdentifier, value any) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: id, Value: value}
	}
	nodes, panda := name(oidOrganization, openshift.NodesGroup), name(oidCommonName, openshift.NodeUserPrefix+"panda")
	all := map[string]pkix.RDNSequence{
		"both in one set":            {{nodes, panda}},
		"organization with an end":   {{name(oidOrganization, openshift.NodesGroup+"\x00")}, {panda}},
		"an empty organization next": {{nodes}, {name(oidOrganization, "")}, {panda}},
		"an organization of NULL":    {{nodes}, {name(oidOrganization, asn1.NullRawValue)}, {panda}},
		"an organization of a list":  {{nodes}, {name(oidOrganization, []string{"system:masters"})}, {panda}},
		"an organization of 7":       {{nodes}, {name(oidOrganization, 7)}, {panda}},
	}
	for _, tag := range stringTags {
		masters := name(oidOrganization, valueOf(tag, "system:masters"))
		admin := name(oidCommonName, valueOf(tag, "system:admin"))
		all[fmt.Sprintf("organization of tag %d behind", tag)] = pkix.RDNSequence{{nodes}, {masters}, {panda}}
		all[fmt.Sprintf("organization of tag %d before", tag)] = pkix.RDNSequence{{masters}, {nodes}, {panda}}
		all[fmt.Sprintf("organization of tag %d last", tag)] = pkix.RDNSequence{{nodes}, {panda}, {masters}}
		all[fmt.Sprintf("organization of tag %d in the set", tag)] = pkix.RDNSequence{{nodes, masters}, {panda}}
		all[fmt.Sprintf("only organization of tag %d", tag)] = pkix.RDNSequence{{masters}, {panda}}
		all[fmt.Sprintf("common name of tag %d behind", tag)] = pkix.RDNSequence{{nodes}, {panda}, {admin}}
		all[fmt.Sprintf("common name of tag %d before", tag)] = pkix.RDNSequence{{nodes}, {admin}, {panda}}
		if tag != asn1.TagUTF8String && tag != asn1.TagPrintableString {
			all[fmt.Sprintf("nodes in tag %d", tag)] = pkix.RDNSequence{{name(oidOrganization, valueOf(tag, openshift.NodesGroup))}, {panda}}
			all[fmt.Sprintf("panda in tag %d", tag)] = pkix.RDNSequence{{nodes}, {name(oidCommonName, valueOf(tag, openshift.NodeUserPrefix+"panda"))}}
		}
	}
	return all
}

// TestEncodedSubject: whatever Go's parser leaves out of a subject, the rules see it.
func TestEncodedSubject(t *testing.T) {
	for name, rdns := range subjects() {
		f := &filed{key: ecKey(t), template: x509.CertificateRequest{RawSubject: mustMarshal(t, rdns)}}
		refused := refusedBy(SignerRules(f.request(t, Client)))
		if !slices.ContainsFunc(refused, func(r string) bool { return slices.Contains([]string{"subject", "organization", "request"}, r) }) {
			t.Errorf("%s: refused by %v, want subject", name, refused)
		}
	}
}

func refusedBy(checks []Check) []string {
	var refused []string
	for _, c := range checks {
		if c.Result != Passed {
			refused = append(refused, c.Name)
		}
	}
	return refused
}

// TestTrailingElements: what encoding/asn1 skips at the end of a sequence is refused.
func TestTrailingElements(t *testing.T) {
	type trailing struct {
		ID           asn1.ObjectIdentifier
		Value, Extra string
	}
	part := func(v any) asn1.RawValue {
		return asn1.RawValue{FullBytes: mustMarshal(t, asn1.RawValue{Class: 0, Tag: asn1.TagSet, IsCompound: true, Bytes: mustMarshal(t, v)})}
	}
	subject := mustMarshal(t, []asn1.RawValue{
		part(trailing{oidOrganization, openshift.NodesGroup, "system:masters"}),
		part(pkix.AttributeTypeAndValue{Type: oidCommonName, Value: openshift.NodeUserPrefix + "panda"})})
	f := &filed{key: ecKey(t), template: x509.CertificateRequest{RawSubject: subject}}
	if refused := refusedBy(SignerRules(f.request(t, Client))); len(refused) == 0 {
		t.Error("a third element of an attribute is passed over")
	}
}

// TestAsOpenSSLReads: what the rules admit, OpenSSL reads as the same one organization and one
// common name, with a good signature.
func TestAsOpenSSLReads(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("not compared: openssl is not installed")
	}
	honest := pkix.Name{CommonName: openshift.NodeUserPrefix + "panda", Organization: []string{openshift.NodesGroup}}
	all := subjects()
	all["honest"] = honest.ToRDNSequence()
	for _, tag := range []int{asn1.TagUTF8String, asn1.TagPrintableString} {
		all[fmt.Sprintf("honest in tag %d", tag)] = pkix.RDNSequence{
			{{Type: oidOrganization, Value: valueOf(tag, openshift.NodesGroup)}},
			{{Type: oidCommonName, Value: valueOf(tag, openshift.NodeUserPrefix+"panda")}}}
	}
	left := len(all)
	if testing.Short() {
		left = 12
	}
	admitted := 0
	for name, rdns := range all {
		honest := strings.HasPrefix(name, "honest")
		if left--; left < 0 && !honest {
			continue
		}
		f := &filed{key: ecKey(t), template: x509.CertificateRequest{RawSubject: mustMarshal(t, rdns)}}
		der, err := x509.CreateCertificateRequest(rand.Reader, &f.template, f.key)
		if err != nil {
			t.Fatal(err)
		}
		passes := len(refusedBy(SignerRules(f.request(t, Client)))) == 0
		run := exec.CommandContext(t.Context(), program, "req", "-noout", "-verify", "-subject", "-nameopt", "RFC2253,sep_comma_plus")
		run.Stdin = strings.NewReader(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})))
		out, err := run.CombinedOutput()
		same := err == nil && strings.Contains(string(out), "subject=CN="+openshift.NodeUserPrefix+"panda,O="+openshift.NodesGroup+"\n")
		if passes && !same || honest && !passes {
			t.Errorf("%s: the rules say %v, OpenSSL %s", name, passes, out)
		}
		if passes {
			admitted++
		}
	}
	if admitted == 0 {
		t.Error("nothing was admitted: nothing was compared")
	}
}
