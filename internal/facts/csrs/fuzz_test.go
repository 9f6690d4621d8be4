package csrs

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// FuzzJudge: whatever a request holds, it is read without a panic, and is never
// approved unless it has the shape of a kubelet's and a Machine stands for it.
func FuzzJudge(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"), openshift.NodeBootstrapper, "system:authenticated", "client auth", true)
	f.Add([]byte("-----BEGIN??\n"), openshift.NodeUserPrefix+"panda", openshift.NodesGroup, "server auth", false)
	f.Fuzz(func(t *testing.T, request []byte, user, group, usage string, client bool) {
		signer := certificatesv1.KubeletServingSignerName
		if client {
			signer = certificatesv1.KubeAPIServerClientKubeletSignerName
		}
		r := FromAPI(&certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{Name: "csr-fuzz", CreationTimestamp: metav1.NewTime(born.Add(time.Minute))},
			Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: signer, Username: user, Groups: []string{group, openshift.NodesGroup},
				Usages: []certificatesv1.KeyUsage{certificatesv1.KeyUsage(usage), "digital signature"}, Request: request},
			Status: certificatesv1.CertificateSigningRequestStatus{Certificate: request},
		})
		got := judge(r, with())
		if got.Approves == Passed {
			t.Errorf("approved without any Machine: %+v", r)
		}
		if r.Broken != "" && len(got.refusals()) == 0 && got.Approves != NotApplicable {
			t.Errorf("a request that cannot be read is not refused: %+v", got)
		}
	})
}
