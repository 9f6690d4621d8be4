package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

var born = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

type request = certificatesv1.CertificateSigningRequest

// request makes a request as a kubelet does, signed by a key of its own.
func newRequest(t *testing.T, signer, user string, groups []string, usages []certificatesv1.KeyUsage, csr x509.CertificateRequest) *request {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &csr, key)
	if err != nil {
		t.Fatal(err)
	}
	return &request{
		ObjectMeta: metav1.ObjectMeta{Name: "csr-x", ResourceVersion: "1", CreationTimestamp: metav1.NewTime(born.Add(time.Minute))},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: signer, Username: user, Groups: groups, Usages: usages,
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		},
	}
}

func nodeName(name string) pkix.Name {
	return pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}}
}

func clientRequest(t *testing.T, name string) *request {
	return newRequest(t, certificatesv1.KubeAPIServerClientKubeletSignerName, pki.Bootstrapper,
		[]string{"system:serviceaccounts", "system:serviceaccounts:" + pki.BootstrapperNamespace, "system:authenticated"},
		[]certificatesv1.KeyUsage{"digital signature", "client auth"}, x509.CertificateRequest{Subject: nodeName(name)})
}

func servingRequest(t *testing.T, name string) *request {
	return newRequest(t, certificatesv1.KubeletServingSignerName, "system:node:"+name,
		[]string{"system:nodes", "system:authenticated"}, []certificatesv1.KeyUsage{"digital signature", "server auth"},
		x509.CertificateRequest{Subject: nodeName(name), DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 20)}})
}

func machineOf(node string, addresses ...corev1.NodeAddress) approverMachine {
	var m approverMachine
	m.Name, m.CreationTimestamp = "lab-master-0", metav1.NewTime(born)
	m.Status.Addresses = addresses
	if node != "" {
		m.Status.NodeRef = &corev1.ObjectReference{Kind: "Node", Name: node}
	}
	return m
}

func address(kind corev1.NodeAddressType, value string) corev1.NodeAddress {
	return corev1.NodeAddress{Type: kind, Address: value}
}

// TestAuthorize: each rule of the approver's, and the line that tells it.
func TestAuthorize(t *testing.T) {
	dns := address(corev1.NodeInternalDNS, "Control0.")
	change := func(r *request, do func(*request)) *request { do(r); return r }
	for _, tc := range []struct {
		name     string
		req      *request
		machines []approverMachine
		nodes    []string
		disabled bool
		ok, fail bool
		line     string
	}{
		{"approved", clientRequest(t, "control0"), []approverMachine{machineOf("", dns)}, nil, false, true, false, ""},
		{"machine without addresses", clientRequest(t, "control0"), []approverMachine{machineOf("")}, nil, false, false, true,
			"csr-x: failed to find machine with InternalDNS matching control0, cannot approve"},
		{"other kind of address", clientRequest(t, "control0"), []approverMachine{machineOf("", address(corev1.NodeHostName, "control0"))}, nil, false, false, true,
			"csr-x: failed to find machine with InternalDNS matching control0"},
		{"node exists", clientRequest(t, "control0"), []approverMachine{machineOf("", dns)}, []string{"control0"}, false, false, false,
			"csr-x: node control0 already exists, cannot approve"},
		{"node ref", clientRequest(t, "control0"), []approverMachine{machineOf("other", dns)}, nil, false, false, false, "already has node ref, cannot approve"},
		{"too late", change(clientRequest(t, "control0"), func(r *request) { r.CreationTimestamp = metav1.NewTime(born.Add(2 * time.Hour)) }),
			[]approverMachine{machineOf("", dns)}, nil, false, false, false, "csr-x: CSR creation time "},
		{"too early", change(clientRequest(t, "control0"), func(r *request) { r.CreationTimestamp = metav1.NewTime(born.Add(-10 * time.Second)) }),
			[]approverMachine{machineOf("", dns)}, nil, false, false, false, "not in range ("},
		{"one group more", change(clientRequest(t, "control0"), func(r *request) { r.Spec.Groups = append(r.Spec.Groups, "x") }),
			[]approverMachine{machineOf("", dns)}, nil, false, false, false, "does not appear to be a valid node bootstrapper client cert request"},
		{"one usage more", change(clientRequest(t, "control0"), func(r *request) { r.Spec.Usages = append(r.Spec.Usages, "server auth") }),
			[]approverMachine{machineOf("", dns)}, nil, false, false, false, "does not appear to be client csr"},
		{"no name", clientRequest(t, ""), []approverMachine{machineOf("", dns)}, nil, false, false, false, "does not appear to be a valid node"},
		{"switched off", clientRequest(t, "control0"), []approverMachine{machineOf("", dns)}, nil, true, false, true, "csr-x: CSR rejected as the flow is disabled"},
		{"not PEM", change(clientRequest(t, "control0"), func(r *request) { r.Spec.Request = []byte("x") }), nil, nil, false, false, true, "csr-x: Failed to parse csr: "},
		{"serving approved", servingRequest(t, "control0"),
			[]approverMachine{machineOf("control0", dns, address(corev1.NodeInternalIP, "192.0.2.20"))}, []string{"control0"}, false, true, false, ""},
		{"serving without machine", servingRequest(t, "control0"), []approverMachine{machineOf("")}, []string{"control0"}, false, false, true,
			`csr-x: Serving Cert: No target machine for node "control0"`},
		{"serving, other name", servingRequest(t, "control0"), []approverMachine{machineOf("control0")}, nil, false, false, true,
			"csr-x: DNS name 'control0' not in machine names: "},
		{"serving, other address", servingRequest(t, "control0"), []approverMachine{machineOf("control0", dns, address(corev1.NodeExternalIP, "192.0.2.9"))}, nil, false, false, true,
			"csr-x: IP address '192.0.2.20' not in machine addresses: 192.0.2.9"},
		{"serving for another", change(servingRequest(t, "control0"), func(r *request) { r.Spec.Username = "system:node:control1" }), nil, nil, false, false, false,
			"csr-x: Unrecoverable serving cert error, cannot approve: mismatched CommonName"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var said []string
			r := approverRules{machines: tc.machines, nodes: map[string]bool{}, disabled: tc.disabled,
				say: func(_ byte, _, format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
			for _, n := range tc.nodes {
				r.nodes[n] = true
			}
			ok, err := r.authorize(tc.req)
			if ok != tc.ok || (err != nil) != tc.fail {
				t.Errorf("authorize: %t, %v; want %t, error %t", ok, err, tc.ok, tc.fail)
			}
			if !slices.ContainsFunc(said, func(l string) bool { return strings.Contains(l, tc.line) }) && tc.line != "" {
				t.Errorf("said %q, want %q", said, tc.line)
			}
			if refused := slices.Contains(said, "csr-x: CSR not authorized"); refused == tc.ok && tc.name != "not PEM" {
				t.Errorf("said %q with ok %t", said, ok)
			}
		})
	}
}

// TestFlood: above the limit all requests are ignored; those that are old,
// approved or somebody else's do not count.
func TestFlood(t *testing.T) {
	said := ""
	r := approverRules{nodes: map[string]bool{"a": true}, say: func(_ byte, _, format string, args ...any) { said = fmt.Sprintf(format, args...) }}
	now := born.Add(2 * time.Minute)
	var all []request
	for range 101 {
		all = append(all, *clientRequest(t, "control0"))
	}
	old, approved, other := clientRequest(t, "b"), clientRequest(t, "b"), clientRequest(t, "b")
	old.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
	approved.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Message: approverMessage, LastTransitionTime: metav1.NewTime(now)}}
	other.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
	all = append(all, *old, *approved, *other)
	if r.flooded("csr-x", all, now) {
		t.Errorf("101 pending requests with one Node are ignored: %s", said)
	}
	if !r.flooded("csr-x", append(all, *clientRequest(t, "c")), now) || !strings.HasPrefix(said, "csr-x: Pending CSRs: 102; Max pending allowed: 101.") {
		t.Errorf("102 pending requests with one Node are not ignored: %q", said)
	}
}

// TestQueue: a request is decided on when it appears and when it changes; after
// an error ever more rarely, after a plain refusal not again.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &machineApprover{queue: map[string]*attempt{}}
		all := []request{*clientRequest(t, "control0")}
		due := func() int { return len(a.due(all, time.Now())) }
		if due() != 1 || due() != 0 {
			t.Fatal("a new request is not due once")
		}
		a.done("csr-x", nil)
		time.Sleep(time.Hour)
		if due() != 0 {
			t.Error("a refused request came again by itself")
		}
		all[0].ResourceVersion = "2"
		if due() != 1 {
			t.Error("a changed request is not due")
		}
		for i := range 20 {
			a.done("csr-x", errors.New("no machine"))
			wait := min(approverFirstDelay<<i, approverMaxDelay)
			if time.Sleep(wait - time.Nanosecond); due() != 0 {
				t.Fatalf("attempt %d came before %s", i, wait)
			}
			if time.Sleep(time.Nanosecond); due() != 1 {
				t.Fatalf("attempt %d did not come after %s", i, wait)
			}
		}
		all = nil
		if due() != 0 || len(a.queue) != 0 {
			t.Error("a request that is gone is kept")
		}
	})
}

// TestLease: a lease is taken when it is free, given back or run out, never from
// a living leader.
func TestLease(t *testing.T) {
	one, two := &machineApprover{id: "control1_x"}, &machineApprover{id: "control2_y"}
	var s coordinationv1.LeaseSpec
	if !one.takes(&s, born) || *s.HolderIdentity != one.id || *s.LeaseDurationSeconds != 137 || *s.LeaseTransitions != 0 {
		t.Fatalf("a free lease: %+v", s)
	}
	if two.takes(&s, born.Add(136*time.Second)) || !one.takes(&s, born.Add(136*time.Second)) || !s.AcquireTime.Time.Equal(born) {
		t.Fatalf("a living leader's lease: %+v", s)
	}
	if !two.takes(&s, born.Add(300*time.Second)) || *s.HolderIdentity != two.id || *s.LeaseTransitions != 1 {
		t.Fatalf("a lease that ran out: %+v", s)
	}
	nobody := ""
	s.HolderIdentity = &nobody
	if !one.takes(&s, born.Add(301*time.Second)) || *s.LeaseTransitions != 2 {
		t.Fatalf("a lease that was given back: %+v", s)
	}
}
