package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// deleteRequests is rollcall csr list --node NODE -o name | xargs oc delete; without a node
// it deletes every request that waits.
func (w *world) deleteRequests(t *testing.T, node string) {
	t.Helper()
	args := []string{"csr", "list", "-o", "name"}
	if node != "" {
		args = append(args, "--node", node)
	}
	names := strings.Fields(w.must(t, 0, args...).out)
	if len(names) == 0 {
		t.Fatalf("no request of %q waits", node)
	}
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	for _, name := range names {
		_, name, _ = strings.Cut(name, "/")
		if err := requests.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("delete request %s: %v", name, err)
		}
	}
}

// restartApprover is oc delete pod -l app=machine-approver.
func (w *world) restartApprover(t *testing.T) {
	t.Helper()
	pods := w.kubernetes(t).CoreV1().Pods("openshift-cluster-machine-approver")
	if err := pods.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=machine-approver"}); err != nil {
		t.Fatalf("delete the pods of the machine approver: %v", err)
	}
}

// deny is oc adm certificate deny.
func (w *world) deny(t *testing.T, name string) {
	t.Helper()
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	r, err := requests.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue, Reason: "KubectlDeny", Message: "This CSR was denied by kubectl certificate deny.",
	})
	if _, err := requests.UpdateApproval(t.Context(), name, r, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("deny %s: %v", name, err)
	}
}

// approveExpired approves first the client and then the serving certificates of all nodes.
// No object has the masters' addresses.
func approveExpired(t *testing.T, w *world) {
	w.deleteRequests(t, "")
	infra, err := w.client(t).Resource(infraResource).Get(t.Context(), "cluster", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	status, _ := infra.Object["status"].(map[string]any)
	name, _ := status["infrastructureName"].(string)
	args := []string{"csr", "approve", "--expired-nodes", "--cluster", name}
	nodes := []string{"control0", "control1", "control2", "worker0", "worker1"}
	eventually(t, 3*time.Minute, func() string {
		if r := w.live(args...); r.code != 0 || !strings.Contains(r.out, "is approved") {
			return r.String()
		}
		return ""
	})
	for _, n := range nodes {
		args = append(args, "--expect", n+"="+w.address(n))
	}
	eventually(t, 3*time.Minute, func() string {
		if r := w.live(args...); r.code != 0 {
			return r.String()
		}
		return w.notServing(t, nodes)
	})
}

// notServing says which of the nodes is not Ready, or that a request for a serving
// certificate of one waits.
func (w *world) notServing(t *testing.T, nodes []string) string {
	t.Helper()
	list, err := w.kubernetes(t).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for _, n := range list.Items {
		if slices.Contains(nodes, n.Name) && !slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			return n.Name + " is not Ready"
		}
	}
	requests, err := w.kubernetes(t).CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for _, r := range requests.Items {
		if node := strings.TrimPrefix(lab.CommonName(&r), "system:node:"); slices.Contains(nodes, node) && len(r.Status.Conditions) == 0 {
			return r.Name + " of " + node + " waits"
		}
	}
	return ""
}

// returnIdentity moves the kubelet's kubeconfig and certificates of control1 away, deletes
// what was asked as system:admin, and approves what the kubelet then asks for.
func returnIdentity(t *testing.T, w *world) {
	const node = "control1"
	w.atHost(t, node, "off")
	old := w.disk(node, "/root/kubelet-old")
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	moved, err := filepath.Glob(w.disk(node, "/var/lib/kubelet/pki/kubelet-client-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(moved, w.disk(node, "/var/lib/kubelet/kubeconfig")) {
		if err := os.Rename(path, filepath.Join(old, filepath.Base(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	w.deleteRequests(t, node)
	w.atHost(t, node, "on")
	w.approve(t, node, node, true, "--rebuild")
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
}
