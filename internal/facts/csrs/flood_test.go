package csrs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// TestCountFlood mirrors TestRecentlyPendingNodeBootstrapperCSRs of the approver.
func TestCountFlood(t *testing.T) {
	now := born.Add(3 * time.Hour)
	at := func(d time.Duration, more func(*certificatesv1.CertificateSigningRequest)) func(*certificatesv1.CertificateSigningRequest) {
		return func(c *certificatesv1.CertificateSigningRequest) {
			c.CreationTimestamp = metav1.NewTime(now.Add(d))
			if more != nil {
				more(c)
			}
		}
	}
	condition := func(kind certificatesv1.RequestConditionType) func(*certificatesv1.CertificateSigningRequest) {
		return func(c *certificatesv1.CertificateSigningRequest) {
			c.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: kind, Status: "True"}}
		}
	}
	tests := []struct {
		name string
		r    Request
		want int
	}{
		{"pending, of the bootstrapper", ask(t, Client, "panda", at(-time.Minute, nil)), 1},
		{"pending, of a node", ask(t, Serving, "panda", at(-time.Minute, nil)), 1},
		{"of somebody else", ask(t, Client, "panda", at(-time.Minute, func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Username = "tiger" })), 0},
		{"of the network plugin", ask(t, Client, "panda", at(-time.Minute, func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
		})), 0},
		{"serving without the nodes' group", ask(t, Serving, "panda", at(-time.Minute, func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Groups = []string{Authenticated} })), 0},
		{"approved", ask(t, Client, "panda", at(-time.Minute, condition(certificatesv1.CertificateApproved))), 0},
		{"denied still counts", ask(t, Client, "panda", at(-time.Minute, condition(certificatesv1.CertificateDenied))), 1},
		{"just young enough", ask(t, Client, "panda", at(-time.Hour+time.Second, nil)), 1},
		{"an hour old", ask(t, Client, "panda", at(-time.Hour, nil)), 0},
		{"a little in the future", ask(t, Client, "panda", at(9*time.Second, nil)), 1},
		{"in the future", ask(t, Client, "panda", at(10*time.Second, nil)), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := countFlood([]Request{tt.r}, 0, 0, now, "").Pending; got != tt.want {
				t.Errorf("counted %d, want %d", got, tt.want)
			}
		})
	}
}

// TestCountFloodOfOldReleases: up to 4.15 the guard looked at who asked only.
func TestCountFloodOfOldReleases(t *testing.T) {
	network := func(cn string) Request {
		return ask(t, Client, "panda", func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.SignerName, c.Spec.Username = certificatesv1.KubeAPIServerClientSignerName, openshift.NodeUserPrefix+"panda"
			c.Spec.Request = pemRequest(t, ecKey(t), cn, nil, nil, nil)
		})
	}
	ovn, multus := network("system:ovn-node:panda"), network("system:multus:panda")
	for version, want := range map[string]int{"4.14.3": 1, "4.15.9": 1, "4.16.0": 0, "4.20.1": 0} {
		if got := countFlood([]Request{ovn, multus}, 0, 0, born.Add(11*time.Minute), version).Pending; got != want {
			t.Errorf("%s counts %d of the network plugins' requests, want %d", version, got, want)
		}
	}
}

func TestFloodLimit(t *testing.T) {
	var all []Request
	for i := range 104 {
		r := ask(t, Client, "panda", nil)
		r.Name, r.Created = fmt.Sprint("csr-", i), born
		all = append(all, r)
	}
	for _, tt := range []struct {
		machines, nodes int
		exceeded        bool
	}{{3, 1, true}, {4, 1, false}, {0, 4, false}, {0, 0, true}} {
		f := countFlood(all, tt.machines, tt.nodes, born.Add(time.Minute), "4.20.1")
		if f.exceeded() != tt.exceeded {
			t.Errorf("104 requests, %d machines, %d nodes: limit %d, exceeded %t", tt.machines, tt.nodes, f.Limit, f.exceeded())
		}
	}
}

func TestLoudest(t *testing.T) {
	var all []Request
	for i := range 9 {
		r := ask(t, Client, []string{"panda", "koala", "koala"}[i%3], nil)
		r.Name, r.Created = fmt.Sprint("csr-", i), born
		if i == 8 {
			r.State = Issued // no longer waits
		}
		all = append(all, r)
	}
	if node, n := mostRequests(all, born.Add(time.Minute), "4.20.1"); node != "koala" || n != 5 {
		t.Errorf("loudest: %s with %d, want koala with 5", node, n)
	}
	if node, n := mostRequests(all, born.Add(2*time.Hour), "4.20.1"); node != "" || n != 0 {
		t.Errorf("of requests that no longer count %s has %d", node, n)
	}
	if names := pendingOf(all, "koala"); !slices.Equal(names, []string{"csr-1", "csr-2", "csr-4", "csr-5", "csr-7"}) {
		t.Errorf("pending requests for koala: %v", names)
	}
	if names := pendingOf(all, ""); len(names) != 0 {
		t.Errorf("pending requests for no node: %v", names)
	}
}

func TestAmong(t *testing.T) {
	one := ask(t, Client, "panda", nil)
	one.Name, one.Created = "csr-1", born
	issued := ask(t, Client, "panda", nil)
	issued.Name, issued.Created, issued.State = "csr-2", born.Add(15*time.Minute), Issued
	three := ask(t, Client, "panda", nil)
	three.Name, three.Created = "csr-3", born.Add(30*time.Minute)
	four := ask(t, Client, "panda", nil)
	four.Name, four.Created = "csr-4", born.Add(45*time.Minute)
	other := ask(t, Client, "koala", nil)
	other.Name, other.Created = "csr-5", born.Add(50*time.Minute)
	all := []Request{one, issued, three, four, other}

	if p := siblingsOf(all, four); !p.newest || p.siblings != 2 || !p.first.Equal(three.Created) {
		t.Errorf("%+v; want the wait to begin after the issued one", p)
	}
	if p := siblingsOf(all, one); p.newest {
		t.Errorf("the oldest: %+v", p)
	}
}
