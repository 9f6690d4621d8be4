package csrs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

var born = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// pemRequest makes a real PKCS #10 request.
func pemRequest(t *testing.T, key crypto.Signer, cn string, orgs, dns, ips []string) []byte {
	t.Helper()
	template := x509.CertificateRequest{Subject: pkix.Name{CommonName: cn, Organization: orgs}, DNSNames: dns}
	for _, ip := range ips {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func ecKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// ask builds a request as the API shows it; edit changes what a test is about.
func ask(t *testing.T, kind Kind, node string, edit func(*certificatesv1.CertificateSigningRequest)) Request {
	t.Helper()
	csr := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "csr-x", CreationTimestamp: metav1.NewTime(born.Add(10 * time.Minute))},
	}
	switch kind {
	case Client:
		csr.Spec = certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName, Username: openshift.NodeBootstrapper,
			Groups:  slices.Clone(BootstrapperGroups),
			Usages:  []certificatesv1.KeyUsage{"digital signature", "client auth"},
			Request: pemRequest(t, ecKey(t), openshift.NodeUserPrefix+node, []string{openshift.NodesGroup}, nil, nil),
		}
	case Serving:
		csr.Spec = certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeletServingSignerName, Username: openshift.NodeUserPrefix + node,
			Groups:  []string{openshift.NodesGroup, Authenticated},
			Usages:  []certificatesv1.KeyUsage{"digital signature", "server auth"},
			Request: pemRequest(t, ecKey(t), openshift.NodeUserPrefix+node, []string{openshift.NodesGroup}, []string{node}, []string{"192.0.2.21"}),
		}
	}
	if edit != nil {
		edit(csr)
	}
	return FromAPI(csr)
}

func machineOf(node string) machine {
	return machine{Name: "m-" + node, Created: born, DNS: []string{node}, ExtDNS: []string{node}, IPs: []string{"192.0.2.21"}}
}

func linked(m machine, node string) machine { m.NodeRef = node; return m }

func with(machines ...machine) surroundings {
	return surroundings{
		FlowDisabled: facts.Known(false), NodeExists: facts.Known(false), Candidate: facts.Known(""), Machines: facts.Known(machines), Serving: facts.Known[*renewal](nil),
	}
}

func TestJudgeClient(t *testing.T) {
	type edit = func(*certificatesv1.CertificateSigningRequest)
	subject := func(cn string, orgs, dns, ips []string) edit {
		return func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.Request = pemRequest(t, ecKey(t), cn, orgs, dns, ips)
		}
	}
	nodes := []string{openshift.NodesGroup}
	at := func(d time.Duration) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.CreationTimestamp = metav1.NewTime(born.Add(d)) }
	}
	usages := func(u ...certificatesv1.KeyUsage) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Usages = u }
	}
	groups := func(g ...string) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Groups = g }
	}
	trailing := machineOf("panda")
	trailing.DNS = []string{"panda."}
	upper := machineOf("panda")
	upper.DNS = []string{"PANDA"}
	full := machineOf("panda")
	full.DNS = []string{"panda.example.com"}
	bare := machine{Name: "panda", Created: born}
	ipsOnly := machine{Name: "panda", Created: born, IPs: []string{"192.0.2.21"}}
	foreign := machine{Name: "rack-7", Created: born, DNS: []string{"inspected-name"}}

	tests := []struct {
		name  string
		edit  edit
		in    surroundings
		want  Result
		waits waits
		check string // a check that refuses
	}{
		{name: "good", in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "good with legacy usages", edit: usages("key encipherment", "digital signature", "client auth"), in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "good with an RSA key", edit: func(c *certificatesv1.CertificateSigningRequest) {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			c.Spec.Request = pemRequest(t, key, openshift.NodeUserPrefix+"panda", nodes, nil, nil)
		}, in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "upper case DNS", in: with(upper), want: Passed, waits: waitsNothing},
		{name: "trailing dot in DNS", in: with(trailing), want: Passed, waits: waitsNothing},
		{name: "request is no PEM", edit: func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Request = []byte("-----BEGIN??\n") }, in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "request"},
		{name: "extra organisation", edit: subject(openshift.NodeUserPrefix+"panda", []string{"bamboo", openshift.NodesGroup}, nil, nil), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "organisation"},
		{name: "no organisation", edit: subject(openshift.NodeUserPrefix+"panda", nil, nil, nil), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "organisation"},
		{name: "with DNS", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"banana"}, nil), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "no-names"},
		{name: "with IP", edit: subject(openshift.NodeUserPrefix+"panda", nodes, nil, []string{"192.0.2.1"}), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "no-names"},
		{name: "extra usage", edit: usages("digital signature", "client auth", "server auth"), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "wrong usage", edit: usages("digital signature", "server auth"), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "missing usage", edit: usages("client auth"), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "wrong common name", edit: subject("system:notnode:panda", nodes, nil, nil), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "common-name"},
		{name: "empty name", edit: subject(openshift.NodeUserPrefix, nodes, nil, nil), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "common-name"},
		{name: "wrong user", edit: func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Username = "tiger" }, in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "requester"},
		{name: "asked by system:admin", edit: func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.Username, c.Spec.Groups = "system:admin", []string{"system:masters", Authenticated}
		}, in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "requester"},
		{name: "a group is missing", edit: groups("system:serviceaccounts:openshift-machine-config-operator", Authenticated), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "requester-groups"},
		{name: "an extra group", edit: groups(append(slices.Clone(BootstrapperGroups), "bear")...), in: with(machineOf("panda")), want: Refused, waits: WaitsShape, check: "requester-groups"},
		{name: "groups in another order", edit: groups(BootstrapperGroups[2], BootstrapperGroups[0], BootstrapperGroups[1]), in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "node exists", in: func() surroundings { s := with(machineOf("panda")); s.NodeExists = facts.Known(true); return s }(), want: Refused, waits: waitsNodeExists, check: "node-absent"},
		{name: "node not readable", in: func() surroundings {
			s := with(machineOf("panda"))
			s.NodeExists = facts.Unknown[bool](errors.New("forbidden"))
			return s
		}(), want: Unknown, waits: waitsUnknown},
		{name: "no machines", in: with(), want: Refused, waits: waitsNoMachine, check: "machine"},
		{name: "machines not readable", in: func() surroundings {
			s := with()
			s.Machines = facts.Unknown[[]machine](errors.New("not collected"))
			return s
		}(), want: Unknown, waits: waitsUnknown},
		{name: "machine without addresses", in: with(bare), want: Refused, waits: waitsNoAddresses, check: "machine"},
		{name: "machine with addresses but no name", in: with(ipsOnly), want: Refused, waits: waitsNoAddresses, check: "machine"},
		{name: "only other machines", in: with(foreign, machineOf("koala")), want: Refused, waits: waitsNoMachine, check: "machine"},
		{name: "machine lists the full name", in: with(full), want: Refused, waits: waitsName, check: "machine"},
		{name: "machine known by other signs", in: func() surroundings { s := with(foreign); s.Candidate = facts.Known("rack-7"); return s }(), want: Refused, waits: waitsName, check: "machine"},
		{name: "whether a machine should is not known", in: func() surroundings {
			s := with(foreign)
			s.Candidate = facts.Unknown[string](errors.New("forbidden"))
			return s
		}(), want: Refused, waits: waitsUnknown, check: "machine"},
		{name: "machine has node ref", in: with(linked(machineOf("panda"), "panda")), want: Refused, waits: waitsNodeRef, check: "machine-unlinked"},
		{name: "flow is disabled", in: func() surroundings { s := with(machineOf("panda")); s.FlowDisabled = facts.Known(true); return s }(), want: Refused, waits: waitsFlowDisabled, check: "flow-enabled"},
		{name: "just in time", edit: at(2*time.Hour - time.Second), in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "too late", edit: at(2 * time.Hour), in: with(machineOf("panda")), want: Refused, waits: waitsWindow, check: "window"},
		{name: "a little early", edit: at(-9 * time.Second), in: with(machineOf("panda")), want: Passed, waits: waitsNothing},
		{name: "too early", edit: at(-10 * time.Second), in: with(machineOf("panda")), want: Refused, waits: waitsWindow, check: "window"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := judge(ask(t, Client, "panda", tt.edit), tt.in)
			verify(t, got, tt.want, tt.waits, tt.check)
		})
	}
}

func verify(t *testing.T, got judgement, want Result, waits waits, check string) {
	t.Helper()
	if got.Approves != want || got.Waits != waits {
		t.Errorf("approves %s, waits %q (%s); want %s, %q", got.Approves, got.Waits, got.Why, want, waits)
	}
	if check != "" && !slices.Contains(got.refusals(), check) {
		t.Errorf("refusals are %v, want %s among them", got.refusals(), check)
	}
	if check == "" && len(got.refusals()) > 0 && want == Passed && !slices.Contains(got.refusals(), "renewal") {
		t.Errorf("passed with refusals %v", got.refusals())
	}
}

func TestJudgeServing(t *testing.T) {
	type edit = func(*certificatesv1.CertificateSigningRequest)
	subject := func(cn string, orgs, dns, ips []string) edit {
		return func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.Request = pemRequest(t, ecKey(t), cn, orgs, dns, ips)
		}
	}
	groups := func(g ...string) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Groups = g }
	}
	usages := func(u ...certificatesv1.KeyUsage) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Usages = u }
	}
	user := func(u string) edit {
		return func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Username = u }
	}
	nodes := []string{openshift.NodesGroup}
	good := linked(machineOf("panda"), "panda")
	trailing := good
	trailing.ExtDNS, trailing.DNS = []string{"panda.example.com."}, []string{"panda"}
	serves := func(r renewal) surroundings {
		s := with()
		s.Serving = facts.Known(&r)
		return s
	}
	same := renewal{CN: openshift.NodeUserPrefix + "panda", DNSNames: []string{"panda"}, IPs: []string{"192.0.2.21"}, NotAfter: born.Add(time.Hour)}
	other := func(f func(*renewal)) surroundings { r := same; f(&r); return serves(r) }

	tests := []struct {
		name  string
		edit  edit
		in    surroundings
		want  Result
		waits waits
		check string
	}{
		{name: "good", in: with(good), want: Passed, waits: waitsNothing},
		{name: "good with legacy usages", edit: usages("digital signature", "key encipherment", "server auth"), in: with(good), want: Passed, waits: waitsNothing},
		{name: "bad request", edit: func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Request = nil }, in: with(good), want: Refused, waits: WaitsShape, check: "request"},
		{name: "requester without prefix", edit: user("panda"), in: with(good), want: Refused, waits: WaitsShape, check: "requester"},
		{name: "requester is only the prefix", edit: user(openshift.NodeUserPrefix), in: with(good), want: Refused, waits: WaitsShape, check: "requester"},
		{name: "no nodeRef yet", in: with(machineOf("panda")), want: Refused, waits: waitsNotLinked, check: "machine"},
		{name: "no machine", in: with(linked(machineOf("koala"), "koala")), want: Refused, waits: waitsNoMachine, check: "machine"},
		{name: "group authenticated is missing", edit: groups(openshift.NodesGroup), in: with(good), want: Refused, waits: WaitsShape, check: "requester-groups"},
		{name: "group nodes is missing", edit: groups(Authenticated, "other"), in: with(good), want: Refused, waits: WaitsShape, check: "requester-groups"},
		{name: "extra group", edit: groups(openshift.NodesGroup, Authenticated, "foo-bar"), in: with(good), want: Passed, waits: waitsNothing},
		{name: "no usages", edit: usages(), in: with(good), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "usage server auth is missing", edit: usages("digital signature", "key encipherment"), in: with(good), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "usage extra", edit: usages("digital signature", "key encipherment", "server auth", "client auth"), in: with(good), want: Refused, waits: WaitsShape, check: "usages"},
		{name: "common name of another node", edit: subject(openshift.NodeUserPrefix+"foobar", nodes, []string{"panda"}, nil), in: with(good), want: Refused, waits: WaitsShape, check: "common-name"},
		{name: "common name without prefix", edit: subject("panda", nodes, []string{"panda"}, nil), in: with(good), want: Refused, waits: WaitsShape, check: "common-name"},
		{name: "no organisation", edit: subject(openshift.NodeUserPrefix+"panda", nil, []string{"panda"}, nil), in: with(good), want: Refused, waits: WaitsShape, check: "organisation"},
		{name: "extra address", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"panda"}, []string{"192.0.2.21", "198.51.100.1"}), in: with(good), want: Refused, waits: waitsNames, check: "machine"},
		{name: "asks for the API VIP", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"panda"}, []string{"192.0.2.21", "192.0.2.2"}), in: with(good), want: Refused, waits: waitsNames, check: "machine"},
		{name: "DNS mismatch", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"bear"}, []string{"192.0.2.21"}), in: with(good), want: Refused, waits: waitsNames, check: "machine"},
		{name: "DNS with trailing period on the machine", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"panda.example.com"}, []string{"192.0.2.21"}), in: with(trailing), want: Passed, waits: waitsNothing},
		{name: "DNS in upper case", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"PANDA"}, []string{"192.0.2.21"}), in: with(good), want: Passed, waits: waitsNothing},
		{name: "renewal may do without a machine", in: serves(same), want: Unknown, waits: waitsNoMachine},
		{name: "renewal: the certificate ended", in: other(func(r *renewal) { r.NotAfter = born.Add(time.Minute) }), want: Refused, waits: waitsNoMachine, check: "renewal"},
		{name: "renewal: other names", in: other(func(r *renewal) { r.DNSNames = []string{"panda", "more"} }), want: Refused, waits: waitsNoMachine, check: "renewal"},
		{name: "renewal: other addresses", in: other(func(r *renewal) { r.IPs = nil }), want: Refused, waits: waitsNoMachine, check: "renewal"},
		{name: "renewal: another node's certificate", in: other(func(r *renewal) { r.CN = openshift.NodeUserPrefix + "bear" }), want: Refused, waits: waitsNoMachine, check: "renewal"},
		{name: "renewal not known, machine refuses", edit: subject(openshift.NodeUserPrefix+"panda", nodes, []string{"panda"}, []string{"198.51.100.1"}), in: func() surroundings {
			s := with(good)
			s.Serving = facts.Unknown[*renewal](errors.New("no issued request is left"))
			return s
		}(), want: Unknown, waits: waitsNames},
		{name: "nothing readable", in: surroundings{Machines: facts.Unknown[[]machine](errors.New("forbidden")), Serving: facts.Unknown[*renewal](errors.New("forbidden"))}, want: Unknown, waits: waitsUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verify(t, judge(ask(t, Serving, "panda", tt.edit), tt.in), tt.want, tt.waits, tt.check)
		})
	}
}

func TestJudgeLeavesToOthers(t *testing.T) {
	ovn := ask(t, Client, "panda", func(c *certificatesv1.CertificateSigningRequest) {
		c.Spec.SignerName, c.Spec.Username = certificatesv1.KubeAPIServerClientSignerName, openshift.NodeUserPrefix+"panda"
		c.Spec.Request = pemRequest(t, ecKey(t), "system:ovn-node:panda", []string{"system:ovn-nodes"}, nil, nil)
	})
	if ovn.Kind != Network || ovn.NodeName != "panda" {
		t.Errorf("kind %s for node %q, want network for panda", ovn.Kind, ovn.NodeName)
	}
	renewal := ask(t, Client, "panda", func(c *certificatesv1.CertificateSigningRequest) {
		c.Spec.Username, c.Spec.Groups = openshift.NodeUserPrefix+"panda", []string{openshift.NodesGroup, Authenticated}
	})
	for _, r := range []Request{ovn, renewal} {
		if got := judge(r, with(machineOf("panda"))); got.Approves != NotApplicable || got.Waits != waitsOtherApprover {
			t.Errorf("%s request: approves %s, waits %s", r.Kind, got.Approves, got.Waits)
		}
	}
}

func TestWordingFollowsTheRelease(t *testing.T) {
	for version, want := range map[string]string{
		"4.14.20": "failed to find machine for node panda, cannot approve",
		"4.19.1":  "failed to find machine for node panda, cannot approve",
		"4.20.3":  "failed to find machine with InternalDNS matching panda, cannot approve",
		"":        "failed to find machine with InternalDNS matching panda, cannot approve",
	} {
		in := with()
		in.Version = version
		got := judge(ask(t, Client, "panda", nil), in)
		last := got.Checks[len(got.Checks)-1]
		if !strings.HasSuffix(last.Wording, want) {
			t.Errorf("%q: wording %q, want it to end with %q", version, last.Wording, want)
		}
	}
}

func TestKeyDigestTellsKeysApart(t *testing.T) {
	a, b := ask(t, Client, "panda", nil), ask(t, Client, "panda", nil)
	if a.KeyDigest == "" || a.KeyDigest == b.KeyDigest {
		t.Errorf("two keys have the digests %q and %q", a.KeyDigest, b.KeyDigest)
	}
}
