package trouble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// identity are the troubles of kubelets that have been members and lost their
// certificates.
var identity = []lab.Trouble{
	{
		Name:   "kubelet-certificate-lost",
		About:  "somebody emptied /var/lib/kubelet/pki on the master control2 and restarted it",
		Break:  loseCertificate,
		Steady: all(lost("control2"), asks("control2")),
	},
	{
		Name: "kubelet-as-admin",
		About: "after that somebody copied localhost.kubeconfig over the kubelet's: it runs as system:admin, and OVN and multus of control1 get no " +
			"certificates",
		Break:  becomeAdmin,
		Keep:   networkIdentity,
		Steady: all(denied("system:ovn-node:control1", "system:multus:control1"), stillReady("control1")),
		Stands: 40 * time.Minute,
	},
	{
		Name:   "node-past-its-certificates",
		About:  "worker1 was off for 40 days; its certificates expired meanwhile",
		Break:  func(ctx context.Context, l *lab.Lab) error { return offFor(ctx, l, 40*24*time.Hour, "worker1") },
		Steady: all(lost("worker1"), asks("worker1")),
	},
	{
		Name:  "node-deleted",
		About: "somebody deleted the Node worker1; its kubelet runs on, and registers only when it is started again",
		// k8s.io/kubernetes:pkg/kubelet/kubelet_node_status.go registerWithAPIServer:
		// registrationCompleted is never undone.
		Break: func(ctx context.Context, l *lab.Lab) error {
			return l.Kube().CoreV1().Nodes().Delete(ctx, "worker1", metav1.DeleteOptions{})
		},
		Steady: nothingLeft("worker1"),
	},
	{
		Name:  "cluster-off-40-days",
		About: "the whole cluster was off for 40 days; every kubelet's certificates expired meanwhile",
		Break: func(ctx context.Context, l *lab.Lab) error {
			return offFor(ctx, l, 40*24*time.Hour, "control0", "control1", "control2", "worker0", "worker1")
		},
		Steady: all(lost("control0", "control1", "control2", "worker0", "worker1"), asks("control0", "control1", "control2", "worker0", "worker1")),
	},
}

// nothingLeft says whether Node, Lease and pods of a host are gone.
func nothingLeft(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		if _, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return "the Node " + name + " is there", err
		}
		if _, err := l.Kube().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return "the Lease of " + name + " is there", err
		}
		pods, err := l.Kube().CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
		if err != nil {
			return "", err
		}
		if len(pods.Items) > 0 {
			return pods.Items[0].Name + " is still bound to " + name, nil
		}
		return "", nil
	}
}

func pkiOf(l *lab.Lab, host string) string {
	return filepath.Join(l.Disk(host), "var", "lib", "kubelet", "pki")
}

func kubeconfigOf(l *lab.Lab, host string) string {
	return filepath.Join(l.Disk(host), "var", "lib", "kubelet", "kubeconfig")
}

// onAgain switches a host of the base on again.
func onAgain(ctx context.Context, l *lab.Lab, name string) error {
	for _, h := range append(l.Values().Hosts, l.Values().Workers...) {
		if h.Name == name {
			return l.PowerOn(ctx, lab.Machine{Host: h})
		}
	}
	return fmt.Errorf("switch %s on: no such host", name)
}

func loseCertificate(ctx context.Context, l *lab.Lab) error {
	if err := l.PowerOff("control2"); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(pkiOf(l, "control2")), os.Remove(kubeconfigOf(l, "control2"))); err != nil {
		return err
	}
	return onAgain(ctx, l, "control2")
}

// offFor lets hosts be off while time passes and their certificates run out.
func offFor(ctx context.Context, l *lab.Lab, d time.Duration, hosts ...string) error {
	for _, host := range hosts {
		if err := l.PowerOff(host); err != nil {
			return err
		}
		if err := errors.Join(expire(l, host), silent(ctx, l, host)); err != nil {
			return err
		}
	}
	if err := l.Age(ctx, d); err != nil {
		return err
	}
	for _, host := range hosts {
		if err := onAgain(ctx, l, host); err != nil {
			return err
		}
	}
	return nil
}

// expire replaces a kubelet's certificates by the same ones of the same signer
// that have run out: a certificate cannot be aged.
func expire(l *lab.Lab, host string) error {
	name := pki.Name{CN: "system:node:" + host, O: []string{"system:nodes"}}
	for _, kind := range []string{"client", "server"} {
		current := filepath.Join(pkiOf(l, host), "kubelet-"+kind+"-current.pem")
		old, err := l.PKI().KubeletSigner.KubeletUntil(name, time.Now().Add(-10*24*time.Hour))
		if err != nil {
			return err
		}
		file, err := filepath.EvalSymlinks(current)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, slices.Concat(old.Cert, old.Key), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// asks says whether each host's kubelet waits for a client certificate.
func asks(hosts ...string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		list, err := l.Kube().CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		waiting := map[string]bool{}
		for _, req := range list.Items {
			if req.Spec.SignerName == certificatesv1.KubeAPIServerClientKubeletSignerName && len(req.Status.Conditions) == 0 {
				waiting[lab.CommonName(&req)] = true
			}
		}
		for _, host := range hosts {
			if !waiting["system:node:"+host] {
				return host + " has not asked for a certificate", nil
			}
		}
		return "", nil
	}
}

// becomeAdmin puts system:admin's kubeconfig, as localhost.kubeconfig holds it,
// instead of the kubelet's, and restarts the host. The kubelet finds a
// valid certificate and uses it; with rotateCertificates it asks at once for its
// own, as system:admin, and the controller manager approves that by itself
// (k8s.io/kubernetes:pkg/controller/certificates/approver/sarapprove.go). The
// network pods take the kubelet's kubeconfig as their bootstrap credential
// (openshift/cluster-network-operator:bindata/network/ovn-kubernetes/common/008-script-lib.yaml)
// and ask with it.
func becomeAdmin(ctx context.Context, l *lab.Lab) error {
	const host = adminHost
	before, err := l.Kube().CoreV1().Nodes().Get(ctx, host, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := l.PowerOff(host); err != nil {
		return err
	}
	admin, err := os.ReadFile(l.Dir().Kubeconfig())
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(pkiOf(l, host)), os.WriteFile(kubeconfigOf(l, host), admin, 0o600)); err != nil {
		return err
	}
	if err := onAgain(ctx, l, host); err != nil {
		return err
	}
	// It seems to have worked: the node is Ready. What fails comes later.
	err = l.Await(ctx, 2*time.Minute, host+" is not Ready again", func(ctx context.Context) (bool, error) {
		node, err := l.Kube().CoreV1().Nodes().Get(ctx, host, metav1.GetOptions{})
		return err == nil && isReady(node) && node.Status.NodeInfo.BootID != before.Status.NodeInfo.BootID, err
	})
	if err != nil {
		return err
	}
	// The requests are made with what lies on the disk, as whom it says.
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfigOf(l, host))
	if err != nil {
		return fmt.Errorf("read the kubeconfig of %s: %w", host, err)
	}
	kubelet, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	own := cluster.Request{Name: "csr-" + host, Signer: certificatesv1.KubeAPIServerClientKubeletSignerName, CN: "system:node:" + host, O: "system:nodes"}
	if _, err := own.File(ctx, kubelet); err != nil {
		return err
	}
	return askForNetwork(ctx, kubelet, "csr-")
}

// adminHost is the host whose kubelet is given an administrator's kubeconfig.
const adminHost = "control1"

// askForNetwork makes the requests of OVN and multus of adminHost with a client. Those that
// exist already stay as they are.
func askForNetwork(ctx context.Context, client kubernetes.Interface, prefix string) error {
	for of, org := range map[string]string{"system:ovn-node": "system:ovn-nodes", "system:multus": "system:multus"} {
		r := cluster.Request{
			Name: prefix + strings.TrimPrefix(of, "system:") + "-" + adminHost, Signer: certificatesv1.KubeAPIServerClientSignerName,
			CN: of + ":" + adminHost, O: org, Expires: 24 * time.Hour,
		}
		if _, err := r.File(ctx, client); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// askAgain does what the network pods do whose requests were denied: they ask again, with
// the kubeconfig that the kubelet has now. Before that is the node's own, the answer would
// be the same, and nothing is asked.
func askAgain(ctx context.Context, l *lab.Lab) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfigOf(l, adminHost))
	if err != nil {
		return nil // the kubelet has none at the moment
	}
	kubelet, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil // its certificate is not there yet
	}
	me, err := kubelet.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || me.Status.UserInfo.Username != "system:node:"+adminHost {
		return nil
	}
	return askForNetwork(ctx, kubelet, "csr-again-")
}

// networkIdentity is the approver of ovnkube-identity for the requests of OVN and
// multus: it refuses who is neither the node nor the component itself
// (ovn-org/ovn-kubernetes:go-controller/pkg/csrapprover/approver.go validateCSR, denyCSR).
func networkIdentity(ctx context.Context, l *lab.Lab) error {
	if err := askAgain(ctx, l); err != nil {
		return err
	}
	requests := l.Kube().CertificatesV1().CertificateSigningRequests()
	list, err := requests.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, req := range list.Items {
		if req.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName || len(req.Status.Conditions) > 0 {
			continue
		}
		prefix, node, ok := cutLast(lab.CommonName(&req))
		if !ok || (prefix != "system:ovn-node" && prefix != "system:multus") {
			continue
		}
		c := certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AutoApproved",
			Message: fmt.Sprintf("Auto-approved CSR %q", req.Name),
		}
		if user := req.Spec.Username; user != "system:node:"+node && user != prefix+":"+node {
			c.Type, c.Reason, c.Message = certificatesv1.CertificateDenied, "CSRDenied",
				fmt.Sprintf("CSR %q was created by an unexpected user: %q", req.Name, user)
		}
		req.Status.Conditions = append(req.Status.Conditions, c)
		if _, err := requests.UpdateApproval(ctx, req.Name, &req, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("decide on %s: %w", req.Name, err)
		}
	}
	return nil
}

func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndex(name, ":")
	if i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// denied says whether the requests for these names were denied.
func denied(names ...string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		list, err := l.Kube().CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if !slices.ContainsFunc(list.Items, func(req certificatesv1.CertificateSigningRequest) bool {
				return lab.CommonName(&req) == name && slices.ContainsFunc(req.Status.Conditions,
					func(c certificatesv1.CertificateSigningRequestCondition) bool {
						return c.Type == certificatesv1.CertificateDenied
					})
			}) {
				return "the request for " + name + " is not denied", nil
			}
		}
		return "", nil
	}
}
