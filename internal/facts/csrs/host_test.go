package csrs

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestAdminIsOver: what a kubelet asked as an administrator no longer counts once it has got
// a client certificate as itself. The old requests stay in the cluster for an hour.
func TestAdminIsOver(t *testing.T) {
	admin := ask(t, Client, "w1", func(c *certificatesv1.CertificateSigningRequest) {
		c.Spec.Username, c.Spec.Groups = "system:admin", []string{"system:masters", Authenticated}
	})
	admin.State = Issued
	own := func(s State) Request {
		r := ask(t, Client, "w1", func(*certificatesv1.CertificateSigningRequest) {})
		r.State = s
		return r
	}
	tests := []struct {
		name string
		list []Request
		want int
	}{
		{"as an administrator", []Request{admin}, 1},
		{"then as itself, and it waits", []Request{admin, own(Pending)}, 1},
		{"then as itself, and it was denied", []Request{admin, own(Denied)}, 1},
		{"then as itself, and it got a certificate", []Request{admin, own(Issued)}, 0},
		{"as itself, then as an administrator", []Request{own(Issued), admin}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c hostRequests
			for _, r := range tt.list {
				c.add(r)
			}
			f := c.fields(evidence.Item{Excerpt: "none"})
			if got, err := f.AsAdmin.Get(); got != tt.want || err != nil {
				t.Errorf("asAdmin %d (%v), want %d", got, err, tt.want)
			}
			if len(f.AsAdmin.Proof()) == 0 {
				t.Error("it has no evidence")
			}
		})
	}
}
