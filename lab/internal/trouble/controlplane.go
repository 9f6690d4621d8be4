package trouble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// controlPlane are the troubles of etcd and of the controller manager.
var controlPlane = []lab.Trouble{
	{
		Name: "kcm-no-leader",
		About: "no controller manager leads: worker1 is off and stays Ready, a Deployment that was restarted stays as it was, worker13 waits for its " +
			"certificate",
		Break:  loseLeader,
		Steady: all(approved("worker13"), stillReady("worker1")),
		Stands: 30 * time.Minute,
	},
	{
		Name: "controller-manager-certificate-expired",
		About: "somebody restored the controller manager's certificate from an old copy, without its annotations: it has expired, and the operator " +
			"that rotates it judges by these",
		Break:  expireController,
		Keep:   func(ctx context.Context, l *lab.Lab) error { return l.SyncControllerCertificate(ctx) },
		Steady: crashLoops("control0", "control1", "control2"),
		Stands: 30 * time.Minute,
	},
	{
		Name:   "etcd-member-down",
		About:  "the member of etcd on control2 runs and does not answer",
		Break:  silenceMember,
		Steady: etcdSays("EtcdMembersDegraded"),
	},
	{
		Name:   "etcd-member-dead",
		About:  "etcd has three real members; control2 and the member on it are gone for good",
		Break:  loseMember,
		Steady: all(etcdSays("EtcdMembersDegraded"), func(ctx context.Context, l *lab.Lab) (string, error) { return notReady(ctx, l, "control2") }),
	},
	{
		Name:   "etcd-manifest-moved",
		About:  "somebody moved etcd's manifest away on control2, to restart it: the node is Ready and the operand is missed",
		Break:  moveManifest,
		Steady: etcdSays("GuardControllerDegraded"),
	},
	{
		Name:   "etcd-quorum-lost",
		About:  "etcd has lost its quorum: the API server runs and can read and write nothing",
		Break:  func(_ context.Context, l *lab.Lab) error { l.Procs().Stop("etcd"); return nil },
		Stands: -1, // there is nothing that time could be read from
	},
}

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	leases      = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	etcds       = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "etcds"}
)

// silenceMember lets the probe of a member's container fail, as the kubelet of a host
// sees it that cannot reach it.
func silenceMember(_ context.Context, l *lab.Lab) error {
	file := filepath.Join(l.Disk("control2"), host.UnreadyFile)
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("openshift-etcd/etcd\n"), 0o600))
}

// loseMember lets a host with a real member of etcd lose its power.
func loseMember(ctx context.Context, l *lab.Lab) error {
	if err := l.GrowEtcd(ctx); err != nil {
		return err
	}
	l.StopMember("control2")
	return l.PowerOff("control2")
}

// loseLeader stops the controller manager, and what the lab writes instead of
// its controllers. Its lease was renewed until then; it runs out when three minutes
// have passed.
func loseLeader(ctx context.Context, l *lab.Lab) error {
	l.Procs().Stop("kube-controller-manager")
	l.Stop(lab.PartWorkloads)
	if err := runOut(ctx, l, "kube-system", "kube-controller-manager"); err != nil {
		return err
	}
	restart := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, time.Now().UTC().Format(time.RFC3339))
	if err := l.Patch(ctx, deployments, lab.MCONamespace, "machine-config-controller", restart); err != nil {
		return err
	}
	if err := l.PowerOff("worker1"); err != nil {
		return err
	}
	if err := silent(ctx, l, "worker1"); err != nil {
		return err
	}
	return addWorker(ctx, l, worker(unsignedWorker))
}

// expireController lets the lease of the controller manager run out, too: it renews none.
func expireController(ctx context.Context, l *lab.Lab) error {
	if err := l.ExpireControllerCertificate(ctx); err != nil {
		return err
	}
	return runOut(ctx, l, "kube-system", "kube-controller-manager")
}

// crashLoops says whether the pods of the controller manager on these hosts show that it ends
// again and again.
func crashLoops(hosts ...string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		for _, host := range hosts {
			pod, err := l.Kube().CoreV1().Pods("openshift-kube-controller-manager").Get(ctx, "kube-controller-manager-"+host, metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			if !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
				return c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff"
			}) {
				return pod.Name + " does not crash-loop", nil
			}
		}
		return "", nil
	}
}

// silence is for how long no one has heard of who has just been stopped: longer
// than a lease lasts, and than a heartbeat counts as fresh when time passes.
const silence = 10 * time.Minute

// runOut lets a lease, whose holder is gone, run out.
func runOut(ctx context.Context, l *lab.Lab, namespace, name string) error {
	last := time.Now().UTC().Add(-silence).Format(metav1.RFC3339Micro)
	return l.Patch(ctx, leases, namespace, name, fmt.Sprintf(`{"spec":{"renewTime":%q}}`, last))
}

// silent lets the last word of a node that is off be a while ago.
func silent(ctx context.Context, l *lab.Lab, name string) error {
	nodes := l.Kube().CoreV1().Nodes()
	// The controller manager writes its conditions at the same time.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range node.Status.Conditions {
			node.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(time.Now().Add(-silence))
		}
		_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("write the last heartbeat of %s: %w", name, err)
	}
	return runOut(ctx, l, "kube-node-lease", name)
}

// approved says whether a host's request for a client certificate was approved and
// has no certificate.
func approved(host string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		list, err := l.Kube().CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, req := range list.Items {
			if lab.CommonName(&req) == "system:node:"+host && req.Spec.SignerName == certificatesv1.KubeAPIServerClientKubeletSignerName &&
				len(req.Status.Conditions) > 0 {
				if len(req.Status.Certificate) > 0 {
					return host + " has a certificate", nil
				}
				return "", nil
			}
		}
		return "no request of " + host + " is approved", nil
	}
}

// stillReady says whether no one has judged a node that is off.
func stillReady(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if !isReady(node) {
			return name + " is not Ready", nil
		}
		return "", nil
	}
}

func moveManifest(_ context.Context, l *lab.Lab) error {
	from := filepath.Join(l.Disk("control2"), "etc", "kubernetes", "manifests", "etcd-pod.yaml")
	to := filepath.Join(l.Disk("control2"), "home", "core", "etcd-pod.yaml")
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to))
}

// etcdSays says whether a condition of the etcd operator's object is True.
func etcdSays(kind string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		obj, err := l.Get(ctx, etcds, "", "cluster")
		if err != nil {
			return "", err
		}
		status, _ := obj.Object["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == kind && m["status"] == "True" {
				return "", nil
			}
		}
		return "etcd does not say " + kind, nil
	}
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
