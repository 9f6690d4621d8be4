package csr_test

import (
	"net/url"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
)

// edits makes several changes to one request.
func edits(list ...func(*csrtest.Request)) func(*csrtest.Request) {
	return func(r *csrtest.Request) {
		for _, edit := range list {
			edit(r)
		}
	}
}

func organizationsOf(list ...string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.Template.Subject.Organization = list }
}

func signerOf(name string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.API.Spec.SignerName = name }
}

func emailOf(r *csrtest.Request) { r.Template.EmailAddresses = []string{"foo@no-reply.example"} }

func uriOf(r *csrtest.Request) { r.Template.URIs = []*url.URL{{Scheme: "spiffe", Host: "example.com"}} }

// apiNames are what a certificate would need to stand in for the API server.
var apiNames = edits(namesOf("kubernetes", "kubernetes.default.svc", "api-int.cluster.example"), addressesOf("172.30.0.1", "192.0.2.5"))

// k0sApprover are the cases of k0sproject/k0s@0116238a:pkg/component/controller/csrapprover_test.go
// TestCSRApprover. It asks the API server whether the requester may create requests; here the requester must be the node.
// Its gaps are those of csrapprover.go at 07f14aa6 isNodeServingCert, which compares no address with the Node.
var k0sApprover = []peerCase{
	{name: "node requesting its own certificate", make: serving, peer: true, ours: true},
	{name: "SubjectAccessReview not allowed", make: serving, edit: groupsOf()},
	{name: "certificate that is not a kubelet-serving certificate", make: serving, edit: organizationsOf()},
	{name: "its own gap at 07f14aa6: any address and any name", make: serving, edit: apiNames, peer: true,
		why: "it compares no address and no name with the Node"},
}

// deckhouseApprover are the cases of deckhouse/deckhouse@06eec106:modules/040-node-manager/hooks/kubelet_csr_approver_test.go
// and the rules of kubelet_csr_approver.go at 0cb0c900 nodeServingCert.
var deckhouseApprover = []peerCase{
	{name: "IPAddresses and DNSNames", make: serving, edit: usagesOf("digital signature", "key encipherment", "server auth"), peer: true, ours: true},
	{name: "without UsageKeyEncipherment", make: serving, peer: true, ours: true},
	{name: "IPAddresses and without DNSNames", make: serving, edit: namesOf(), peer: true, ours: true},
	{name: "without IPAddresses and with DNSNames", make: serving, edit: addressesOf(), peer: true, ours: true},
	{name: "another signer", make: client, edit: edits(organizationsOf("system:masters"), nameOf("kubernetes-admin"),
		signerOf("kubernetes.io/kube-apiserver-client"))},
	{name: "its own gap at 0cb0c900: another signer", make: client, edit: edits(organizationsOf("system:masters"), nameOf("kubernetes-admin"),
		signerOf("kubernetes.io/kube-apiserver-client")), peer: true, why: "csrFilterFunc looks only into requests for the serving signer, and takes the others"},
	{name: "Organization must match 'system:nodes'", make: serving, edit: organizationsOf("foobar")},
	{name: "CommonName must start with 'system:node:'", make: serving, edit: nameOf("otter")},
	{name: "field IPAddresses or DNSNames must be set", make: serving, edit: edits(namesOf(), addressesOf())},
	{name: "field EmailAddresses is present", make: serving, edit: emailOf},
	{name: "field URIs is present", make: serving, edit: uriOf},
	{name: "its own gap: any name", make: serving, edit: namesOf("node1"), peer: true, why: "it compares no name with the Node"},
}

// ekco are the cases of replicatedhq/ekco@2e58ce62:pkg/ekcoops/csr_test.go
// TestReconcileCertificateSigningRequests, and what it approved before them (operator.go at 029a6f0b).
var ekco = []peerCase{
	{name: "valid kubelet-serving CSR from the node itself", make: serving, edit: usagesOf("digital signature", "key encipherment", "server auth"),
		peer: true, ours: true},
	{name: "valid ECDSA kubelet-serving CSR", make: serving, peer: true, ours: true},
	{name: "extra usage", make: serving, edit: usagesOf("digital signature", "key encipherment", "server auth", "client auth")},
	{name: "ServiceAccount requesting API server names for a node", make: serving, edit: edits(userOf("system:serviceaccount:default:pwn"), apiNames)},
	{name: "bootstrap token requesting kubelet-serving", make: serving, edit: edits(userOf("system:bootstrap:token"), groupsOf("system:bootstrappers"))},
	{name: "wrong subject organization", make: serving, edit: organizationsOf("system:foo")},
	{name: "requester name not matching CommonName", make: serving, edit: userOf("system:node:koala")},
	{name: "SAN not belonging to the node", make: serving, edit: apiNames},
	{name: "a non-existent node", make: serving, edit: edits(nameOf("system:node:ghost"), userOf("system:node:ghost"), namesOf("ghost"))},
	{name: "EmailAddresses", make: serving, edit: emailOf},
	{name: "URIs", make: serving, edit: uriOf},
	{name: "a different signer", make: serving, edit: signerOf("kubernetes.io/kube-apiserver-client")},
	{name: "already-approved CSR is left alone", make: serving, edit: func(r *csrtest.Request) { r.Answered(certificatesv1.CertificateApproved, "x") }},
	{name: "its own gap at 029a6f0b: every request for the signer", make: serving, edit: edits(userOf("system:serviceaccount:default:pwn"), apiNames),
		peer: true, why: "it looked at the signer's name alone"},
}

// servingCertApprover are the cases of alex1989hu/kubelet-serving-cert-approver@08865ef4:
// controller/certificatesigningrequest/helper_test.go, with its rule for usages as of 6de5b6ca.
var servingCertApprover = []peerCase{
	{name: "PEM Block Type must be CERTIFICATE REQUEST", make: serving, edit: func(r *csrtest.Request) { r.PEM = func([]byte) []byte { return nil } }},
	{name: "missing block", make: serving, edit: func(r *csrtest.Request) {
		r.PEM = func([]byte) []byte {
			return []byte("\n-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n")
		}
	}},
	{name: "organization does not match", make: serving, edit: organizationsOf("invalid")},
	{name: "Common Name does not start with 'system:node'", make: serving, edit: nameOf("bad:prefix:node:otter")},
	{name: "Common Name does not match with Username", make: serving, edit: nameOf("system:node:ottermismatch")},
	{name: "emailAddress", make: serving, edit: edits(namesOf(), addressesOf(), emailOf)},
	{name: "URI", make: serving, edit: edits(namesOf(), addressesOf(), uriOf)},
	{name: "emailAddress and URI", make: serving, edit: edits(namesOf(), addressesOf(), emailOf, uriOf)},
	{name: "DNS Names and IP Addresses are missing", make: serving, edit: edits(namesOf(), addressesOf())},
	{name: "code signing besides", make: serving, edit: usagesOf("server auth", "digital signature", "key encipherment", "code signing")},
	{name: "code signing instead", make: serving, edit: usagesOf("key encipherment", "digital signature", "code signing")},
	{name: "Only DNSNames present", make: serving, edit: addressesOf(), peer: true, ours: true},
	{name: "Only IPAddresses present", make: serving, edit: namesOf(), peer: true, ours: true},
	{name: "its own gap: any name and any address", make: serving, edit: apiNames, peer: true, why: "it compares neither with the Node"},
	{name: "its own gap at 6de5b6ca: usages that are missing", make: serving, edit: usagesOf("digital signature"), peer: true,
		why: "hasExactUsages refuses others, and asks for none"},
}

// forged are what the tables above have in common: each is refused for a host that has just asked honestly, too. Of two
// requests for one host neither is approved.
var forged = []peerCase{
	{name: "a stranger's key next to the host's", make: client, scene: func(p *csr.Snapshot, _ *csr.Expectation) {
		other, err := csrtest.Scene(csrtest.Client("panda").Named("stranger"))
		if err != nil {
			panic(err) // the values are literals of this file
		}
		for _, r := range other.Requests {
			if r.Name == "stranger" {
				p.Requests = append(p.Requests, r)
			}
		}
	}},
	{name: "the bootstrapper asks for a control-plane host", make: client, edit: nameOf(openshift.NodeUserPrefix + "master0")},
}
