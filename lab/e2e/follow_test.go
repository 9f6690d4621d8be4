package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// followed is a trouble, the remedy that the screen shows for it, and the steps of that
// remedy as requests and as what a person does at a host.
type followed struct {
	trouble string
	fault   string // a root
	remedy  string // the first one that the root has
	// follow does the steps that change something, in their order. What a person has to
	// find out by a step that only looks, it finds out by the same request.
	follow func(*testing.T, *world)
}

// follows is every remedy that is carried out by hand here. What rollcall fix does is in
// TestRepair.
var follows = []followed{
	{"pool-paused", "pool-paused", "unpause-pool", func(t *testing.T, w *world) {
		w.merge(t, poolResource, "", "worker", `{"spec":{"paused":false}}`)
	}},
	{"render-degraded", "pool-render-degraded", "correct-machineconfig", func(t *testing.T, w *world) {
		w.merge(t, configResource, "", w.unsupported(t), `{"spec":{"config":{"ignition":{"version":"3.4.0"}}}}`)
	}},
	// Nothing re-creates the pods of this application, so that none may be required.
	{"drain-held-by-budget", "drain-held", "let-node-drain", func(t *testing.T, w *world) {
		w.merge(t, budgetResource, "shop", "cart", `{"spec":{"minAvailable":0}}`)
	}},
	{"controller-down", "mcc-not-running", "start-machine-config-controller", func(t *testing.T, w *world) {
		w.merge(t, deploymentResource, "openshift-machine-config-operator", "machine-config-controller", `{"spec":{"replicas":1}}`)
	}},
	{"config-drift", "config-drift", "restore-drifted-file", restoreFile},
	{"etcd-manifest-moved", "etcd-operand-gone", "put-etcd-manifest-back", func(t *testing.T, w *world) {
		found := w.find(t, "control2", "etcd-pod.yaml")
		if err := os.Rename(found, w.disk("control2", "/etc/kubernetes/manifests/etcd-pod.yaml")); err != nil {
			t.Fatal(err)
		}
	}},
	{"etcd-member-down", "etcd-member-unhealthy", "return-etcd-member", func(t *testing.T, w *world) {
		if err := os.Remove(w.disk("control2", host.UnreadyFile)); err != nil { // what keeps the member from answering
			t.Fatal(err)
		}
	}},
	{"csr-no-machine", "csr-no-machine-for-node", "approve-expected-csrs", func(t *testing.T, w *world) { w.approveHost(t, "worker11") }},
	{"csr-machine-too-old", "csr-outside-window", "approve-expected-csrs", func(t *testing.T, w *world) { w.approveHost(t, "worker8") }},
	{"kubelet-certificate-lost", "csr-node-exists", "approve-expected-csrs", func(t *testing.T, w *world) { w.approveHost(t, "control2", "--rebuild") }},
}

// followedTogether are the troubles that are followed on one cluster.
var followedTogether = []string{
	"config-drift+etcd-manifest-moved+csr-no-machine",
	"render-degraded+etcd-member-down+csr-machine-too-old",
	"pool-paused",
	"controller-down",
	"drain-held-by-budget",
	"kubelet-certificate-lost",
}

// TestFollow does what the screen says, and nothing else: the remedy that the tool names
// first for each cause leads to a cluster without it, in which every host has passed
// every stage. Without ROLLCALL_LAB_FULL the first clusters only.
func TestFollow(t *testing.T) {
	if testing.Short() {
		t.Skip("brings labs up")
	}
	t.Parallel()
	for i, name := range followedTogether {
		if i >= 2 && os.Getenv(full) == "" {
			break // a lab for each: the rest is seen in .ci/run full
		}
		t.Run(name, func(t *testing.T) {
			w := up(t, name, false)
			before := parse(t, w.live("diagnose", "-o", "json"))
			var rows []followed
			for trouble := range strings.SplitSeq(name, "+") {
				i := slices.IndexFunc(follows, func(f followed) bool { return f.trouble == trouble })
				if i < 0 {
					t.Fatalf("no row %s", trouble)
				}
				rows = append(rows, follows[i])
				follows[i].shown(t, before)
			}
			for _, f := range rows {
				f.follow(t, w)
			}
			w.mended(t, rows)
		})
	}
}

// shown says whether the tool names the fault as a cause, with the remedy first.
func (f followed) shown(t *testing.T, d diagnosis) {
	t.Helper()
	for _, r := range d.Roots {
		if r.Fault == f.fault {
			if len(r.Remedies) == 0 || r.Remedies[0].ID != f.remedy {
				t.Errorf("%s: remedies %v, want %s first", f.fault, r.Remedies, f.remedy)
			}
			return
		}
	}
	t.Errorf("%s is no cause; roots: %s", f.fault, d.roots())
}

// mended waits until the tool says that nothing is wrong.
func (w *world) mended(t *testing.T, rows []followed) {
	t.Helper()
	eventually(t, 6*time.Minute, func() string {
		r := w.live("diagnose", "-o", "json")
		d := parse(t, r)
		for _, f := range rows {
			if i := slices.IndexFunc(d.Findings, func(g finding) bool { return g.Fault == f.fault && g.Outcome == "present" }); i >= 0 {
				return fmt.Sprintf("%s is still present: %s", f.fault, d.present())
			}
		}
		late := slices.ContainsFunc(d.Hosts, func(h struct{ Name, Stage, State string }) bool { return h.State != "passed" })
		if r.code != 0 || len(d.Roots) > 0 || late {
			return fmt.Sprintf("exit %d, verdict %s (%s), roots %q, hosts %s, present %s", r.code, d.Verdict.Class, d.Verdict.Reason, d.roots(), d.hosts(), d.present())
		}
		return ""
	})
}

var (
	configResource     = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}
	budgetResource     = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	deploymentResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// merge is oc patch --type merge.
func (w *world) merge(t *testing.T, res schema.GroupVersionResource, namespace, name, patch string) {
	t.Helper()
	_, err := w.client(t).Resource(res).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("patch %s %s: %v", res.Resource, name, err)
	}
}

// unsupported is the one MachineConfig with a version of Ignition that the pool's message
// does not list. The message names no MachineConfig.
func (w *world) unsupported(t *testing.T) string {
	t.Helper()
	pool, err := w.client(t).Resource(poolResource).Get(t.Context(), "worker", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(pool.Object, "status", "conditions")
	var message string
	for _, c := range conditions {
		if m, _ := c.(map[string]any); m["type"] == "RenderDegraded" {
			message = fmt.Sprint(m["message"])
		}
	}
	_, versions, _ := strings.Cut(message, "Supported spec versions: ")
	list, err := w.client(t).Resource(configResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, mc := range list.Items {
		version, _, _ := unstructured.NestedString(mc.Object, "spec", "config", "ignition", "version")
		if minor := strings.Join(strings.Split(version, ".")[:min(2, strings.Count(version, ".")+1)], "."); version != "" && !strings.Contains(versions, minor) {
			names = append(names, mc.GetName())
		}
	}
	if len(names) != 1 {
		t.Fatalf("MachineConfigs whose version is not in %q: %v", message, names)
	}
	return names[0]
}

// disk is the place of a host's file.
func (w *world) disk(name, path string) string {
	return filepath.Join(w.dir, "hosts", name, "root", path)
}

// atHost does what a person at the machine does.
func (w *world) atHost(t *testing.T, name, verb string) {
	t.Helper()
	if r := w.lab("host", name, verb); r.code != 0 {
		t.Fatal(r)
	}
}

// find is the file that find -name prints, of those outside the directory of the
// operator's own copies.
func (w *world) find(t *testing.T, name, file string) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(w.disk(name, "/"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Name() == file && !strings.Contains(path, "static-pod-resources") {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) != 1 {
		t.Fatalf("find %s on %s: %v, %v", file, name, found, err)
	}
	return found[0]
}

// restoreFile takes the file that the daemon's reason names from another node of the pool.
func restoreFile(t *testing.T, w *world) {
	node, err := w.kubernetes(t).CoreV1().Nodes().Get(t.Context(), "worker0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reason := node.Annotations["machineconfiguration.openshift.io/reason"]
	_, path, ok := strings.Cut(reason, `content mismatch for file "`)
	path, _, _ = strings.Cut(path, `"`)
	if !ok {
		t.Fatalf("the reason names no file: %q", reason)
	}
	right, err := os.ReadFile(w.disk("worker1", path))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := os.ReadFile(w.disk("worker0", path))
	if err != nil || bytes.Equal(right, wrong) {
		t.Fatalf("%s is the same on both nodes: %v", path, err)
	}
	if err := os.WriteFile(w.disk("worker0", path), right, 0o644); err != nil {
		t.Fatal(err)
	}
}

// approveHost approves the requests of one host: that for the client certificate, and the
// one that follows for the serving certificate. The trouble has stood for longer than an
// hour, and so has the request, so that the screen has the kubelet restarted first. Here
// that alone brings no new request (package host, "Limits"); the old one is deleted, too.
func (w *world) approveHost(t *testing.T, name string, flags ...string) {
	t.Helper()
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	pending := func() ([]certificatesv1.CertificateSigningRequest, error) {
		list, err := requests.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(list.Items, func(r certificatesv1.CertificateSigningRequest) bool {
			return len(r.Status.Conditions) > 0 || lab.CommonName(&r) != "system:node:"+name
		}), nil
	}
	old, err := pending()
	if err != nil || len(old) == 0 {
		t.Fatalf("no request of %s is pending: %v", name, err)
	}
	for _, r := range old {
		if err := requests.Delete(t.Context(), r.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.atHost(t, name, "restart")
	approved := 0
	eventually(t, 3*time.Minute, func() string {
		now, err := pending()
		if err != nil {
			return err.Error()
		}
		for _, r := range now {
			args := append([]string{"csr", "approve", r.Name, "--expect", name + "=" + w.address(name), "--booted-after", "20m", "--yes"}, flags...)
			if res := w.live(args...); res.code != 0 {
				return res.String()
			}
			approved++
		}
		node, err := w.kubernetes(t).CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return fmt.Sprintf("approved %d; %v", approved, err)
		}
		ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if ready && approved > 0 {
			return ""
		}
		return name + " is not Ready"
	})
}

func (w *world) kubernetes(t *testing.T) kubernetes.Interface {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(w.lab("kubeconfig").out))
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
