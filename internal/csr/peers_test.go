package csr_test

import (
	"net"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// peerCase is a case of another approver's tests, played in the scene: peer is its answer,
// ours is this package's. Where they differ, why says so.
type peerCase struct {
	name       string
	make       func() *csrtest.Request
	edit       func(*csrtest.Request)
	scene      func(*csr.Snapshot, *csr.Expectation)
	peer, ours bool
	why        string
}

func groupsOf(list ...string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.API.Spec.Groups = list }
}

func usagesOf(list ...certificatesv1.KeyUsage) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.API.Spec.Usages = list }
}

func nameOf(name string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.Template.Subject.CommonName = name }
}

func userOf(name string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.API.Spec.Username = name }
}

func namesOf(list ...string) func(*csrtest.Request) {
	return func(r *csrtest.Request) { r.Template.DNSNames = list }
}

func addressesOf(list ...string) func(*csrtest.Request) {
	return func(r *csrtest.Request) {
		r.Template.IPAddresses = nil
		for _, ip := range list {
			r.Template.IPAddresses = append(r.Template.IPAddresses, net.ParseIP(ip))
		}
	}
}

func serving() *csrtest.Request { return csrtest.Serving("otter", "192.0.2.23") }
func client() *csrtest.Request  { return csrtest.Client("panda") }

// machineApprover are the named cases of openshift/cluster-machine-approver@a9edd695
// (main, 2026-03):pkg/controller/csr_check_test.go Test_authorizeCSR. Its renewals are
// TestRenewal of internal/workers/approver; its flood guard (TestRecentlyPendingNodeBootstrapperCSRs,
// TestGetMaxPending) is that of internal/facts/csrs.
var machineApprover = []peerCase{
	{name: "ok", make: serving, peer: true, ours: true},
	{name: "bad-csr", make: serving, edit: func(r *csrtest.Request) { r.PEM = func([]byte) []byte { return []byte("bad") } }},
	{name: "no-node-prefix", make: serving, edit: userOf("otter")},
	{name: "only-node-prefix", make: serving, edit: userOf("system:node:")},
	{name: "no-machine-status-ref", make: serving, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.Name = "other" }},
	{name: "missing-groups-1", make: serving, edit: groupsOf(csrs.Authenticated)},
	{name: "missing-groups-2", make: serving, edit: groupsOf(openshift.NodesGroup)},
	{name: "extra-group", make: serving, edit: groupsOf(openshift.NodesGroup, csrs.Authenticated, "foo-group"), peer: true,
		why: "a kubelet has exactly two groups; another one is not a kubelet's credential"},
	{name: "wrong-group", make: serving, edit: groupsOf(csrs.Authenticated, "foo-group")},
	{name: "usages-missing", make: serving, edit: usagesOf()},
	{name: "usages-missing-1", make: serving, edit: usagesOf("digital signature", "key encipherment")},
	{name: "usage-missing-2", make: serving, edit: usagesOf("server auth", "key encipherment")},
	{name: "usage-extra", make: serving, edit: usagesOf("digital signature", "key encipherment", "server auth", "client auth")},
	{name: "csr-cn", make: serving, edit: nameOf("foo")},
	{name: "csr-cn-2", make: serving, edit: nameOf("system:node:foo")},
	{name: "csr-no-o", make: serving, edit: func(r *csrtest.Request) { r.Template.Subject.Organization = nil }},
	{name: "csr-extra-addr", make: serving, edit: addressesOf("192.0.2.23", "99.0.1.1")},
	{name: "csr-san-ip-mismatch", make: serving, edit: addressesOf("10.0.0.2")},
	{name: "csr-san-dns-mismatch", make: serving, edit: namesOf("node2", "node2.local")},
	{name: "csr-san-dns-trailing-period", make: serving, edit: namesOf("otter", "otter."), peer: true,
		why: "a trailing dot is no DNS name of a kubelet; the inventory has to list it as it is asked for, which no DNS name may"},
	{name: "client good", make: client, peer: true, ours: true},
	{name: "client good with upper case DNS", make: client, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.DNS = []string{"PANDA"} }, peer: true,
		ours: true},
	{name: "client good with trailing dot in DNS", make: client, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.DNS = []string{"panda."} },
		peer: true, ours: true},
	{name: "client extra O", make: client, edit: func(r *csrtest.Request) { r.Template.Subject.Organization = []string{"bamboo", "system:nodes"} }},
	{name: "client with DNS", make: client, edit: namesOf("bamboo")},
	{name: "client good but extra usage", make: client, edit: usagesOf("key encipherment", "digital signature", "client auth", "server auth")},
	{name: "client good but wrong usage", make: client, edit: usagesOf("key encipherment", "digital signature", "server auth")},
	{name: "client good but missing usage", make: client, edit: usagesOf("key encipherment", "client auth")},
	{name: "client good but wrong CN", make: client, edit: nameOf("system:notnode:panda")},
	{name: "client good but wrong user", make: client, edit: userOf(openshift.NodeBootstrapper + "-not")},
	{name: "client good but wrong user group", make: client, edit: groupsOf("system:serviceaccounts",
		"system:serviceaccounts:openshift-machine-config-operator-not", csrs.Authenticated)},
	{name: "client good but empty name", make: client, edit: nameOf("system:node:")},
	{name: "client good but node exists", make: client, scene: func(p *csr.Snapshot, _ *csr.Expectation) {
		p.Nodes = append(p.Nodes, csr.Node{Name: "panda", Renewed: p.Now})
	}},
	{name: "client good but missing machine", make: client, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.Name = "other" }},
	{name: "client good but machine has node ref", make: client, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.Joined = "tigers" }},
	{name: "client good with proper timing", make: client, edit: func(r *csrtest.Request) { r.At(csrtest.Noon.Add(-9 * time.Minute)) }, peer: true, ours: true},
	{name: "client good with proper timing 2 (10 s before)", make: client,
		edit: func(r *csrtest.Request) { r.At(csrtest.Noon.Add(-10*time.Minute - 10*time.Second)) }, peer: true, ours: true},
	{name: "client good but CSR too early", make: client, edit: func(r *csrtest.Request) { r.At(csrtest.Noon.Add(-11 * time.Minute)) }},
	{name: "client good but CSR too late", make: client, scene: func(_ *csr.Snapshot, e *csr.Expectation) { e.NotAfter = csrtest.Noon.Add(-2 * time.Minute) }},
	{name: "successfull fallback to fresh approval", make: serving, scene: func(p *csr.Snapshot, _ *csr.Expectation) {
		p.Served = map[string]csr.Served{"otter": {Why: "connection refused"}}
	}, peer: true, ours: true},
	{name: "CSR extra address not in egress IPs", make: serving, edit: addressesOf("192.0.2.23", "99.0.1.1")},
	{name: "CSR extra address in egress IPs", make: serving, edit: addressesOf("192.0.2.23", "99.0.1.1"), peer: true,
		why: "egress IPs of OpenShift SDN, which is gone in 4.17: name the address in the inventory"},
	{name: "CSR extra address in egress CIDRs", make: serving, edit: addressesOf("192.0.2.23", "99.0.1.2"), peer: true,
		why: "as above"},
}

// kubeletCSRApprover are the cases of postfinance/kubelet-csr-approver@993754f
// (v1.2.14):internal/controller/csr_controller_test.go. It knows names by DNS and a regular
// expression; here the inventory stands instead. It denies where this package
// refuses.
var kubeletCSRApprover = []peerCase{
	{name: "ValidCsrApproved", make: serving, peer: true, ours: true},
	{name: "WrongSignerCsr", make: serving, edit: func(r *csrtest.Request) { r.API.Spec.SignerName = "example.com/not-kubelet-serving" }},
	{name: "SkipDenyFlag", make: serving, edit: namesOf("fishing-test.google.com")},
	{name: "NonMatchingCommonNameUsername", make: serving, edit: nameOf("funny-common-name")},
	{name: "RegexCheckActiveWithBypass", make: serving, edit: namesOf("otter.test.ch,auth.evil.io")},
	{name: "InvalidDNSName", make: serving, edit: namesOf("phishingpage.company.ch")},
	{name: "InvalidRegexName", make: serving, edit: namesOf("otter.phishingpage.org")},
	{name: "UnresolvedDNSName", make: serving, edit: namesOf("otter.unresolved.test.ch")},
	{name: "MismatchedResolvedIpsSANIps", make: serving, edit: addressesOf("192.168.8.11")},
	{name: "ExpirationSecondsTooLarge", make: serving, edit: func(r *csrtest.Request) { s := int32(368 * 24 * 3600); r.API.Spec.ExpirationSeconds = &s }},
	{name: "SANCheckedEvenWithDNSResolutionBypassed", make: serving, edit: namesOf("san.is.bad")},
	{name: "X509CRIPAddressesWithDNSBypass (#253)", make: serving, edit: addressesOf("9.9.9.9")},
	{name: "BypassDNSResolution", make: serving, edit: namesOf("otter.nonexisting.ch"), peer: true,
		why: "nothing replaces the inventory: a name that it lacks is refused"},
	{name: "IPv4NotWhitelisted", make: serving, edit: addressesOf("9.9.9.9")},
	{name: "IPv6NotWhitelisted", make: serving, edit: addressesOf("2001:db8::9")},
	{name: "IPv6WithoutDNSNotWhitelisted", make: serving, edit: func(r *csrtest.Request) { namesOf()(r); addressesOf("2001:db8::9")(r) }},
	{name: "its own gap: an address without a name passes (README, DNSCheck)", make: serving,
		edit: func(r *csrtest.Request) { namesOf()(r); addressesOf("192.0.2.5")(r) },
		peer: true, why: "the API's VIP; a request without a name passes its DNS check"},
	{name: "its own gap: a name that begins with the node's", make: serving, edit: namesOf("otter.company.example"), peer: true,
		why: "HasPrefix lets node auth have auth.company.com"},
}

func TestPeers(t *testing.T) {
	for peer, cases := range map[string][]peerCase{"machine approver": machineApprover, "kubelet-csr-approver": kubeletCSRApprover, "k0s": k0sApprover,
		"deckhouse": deckhouseApprover, "ekco": ekco, "kubelet-serving-cert-approver": servingCertApprover, "all": forged} {
		for _, tt := range cases {
			t.Run(peer+"/"+tt.name, func(t *testing.T) {
				r := tt.make().Named("case")
				if tt.edit != nil {
					tt.edit(r)
				}
				p, err := csrtest.Scene(r)
				if err != nil {
					t.Fatal(err)
				}
				parsed, _ := csrs.Find(p.Requests, "case")
				host := "otter"
				if tt.make().API.Spec.Username == openshift.NodeBootstrapper {
					host = "panda"
				}
				e := csr.For(csrtest.Expected(), host)
				if tt.scene != nil {
					tt.scene(&p, e)
				}
				d := csr.Judge(parsed, e, p)
				if d.Approve != tt.ours {
					t.Errorf("approve %t, want %t: %s", d.Approve, tt.ours, d.Why)
				}
				if (tt.peer != tt.ours) != (tt.why != "") {
					t.Errorf("the peer answers %t, this package %t, and the reason is %q", tt.peer, tt.ours, tt.why)
				}
			})
		}
	}
}
