package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	console string // a host whose screen somebody has to look at for that
	flags   []string
	// follow does the steps that change something, in their order. What a person has to
	// find out by a step that only looks, it finds out by the same request.
	follow func(*testing.T, *world)
}

// follows is every remedy that is carried out by hand here. What rollcall fix does is in
// TestRepair.
var follows = []followed{
	{trouble: "pool-paused", fault: "pool-paused", remedy: "unpause-pool", follow: func(t *testing.T, w *world) {
		w.merge(t, poolResource, "", "worker", `{"spec":{"paused":false}}`)
	}},
	{trouble: "render-degraded", fault: "pool-render-degraded", remedy: "correct-machineconfig", follow: func(t *testing.T, w *world) {
		w.merge(t, configResource, "", w.unsupported(t), `{"spec":{"config":{"ignition":{"version":"3.4.0"}}}}`)
	}},
	// Nothing re-creates the pods of this application, so that none may be required.
	{trouble: "drain-held-by-budget", fault: "drain-held", remedy: "let-node-drain", follow: func(t *testing.T, w *world) {
		w.merge(t, budgetResource, "shop", "cart", `{"spec":{"minAvailable":0}}`)
	}},
	{trouble: "controller-down", fault: "mcc-not-running", remedy: "start-machine-config-controller", follow: func(t *testing.T, w *world) {
		w.merge(t, deploymentResource, "openshift-machine-config-operator", "machine-config-controller", `{"spec":{"replicas":1}}`)
	}},
	{trouble: "config-drift", fault: "config-drift", remedy: "restore-drifted-file", follow: restoreFile},
	{trouble: "etcd-manifest-moved", fault: "etcd-operand-gone", remedy: "put-etcd-manifest-back", follow: func(t *testing.T, w *world) {
		found := w.find(t, "control2", "etcd-pod.yaml")
		if err := os.Rename(found, w.disk("control2", "/etc/kubernetes/manifests/etcd-pod.yaml")); err != nil {
			t.Fatal(err)
		}
	}},
	{trouble: "etcd-member-down", fault: "etcd-member-unhealthy", remedy: "return-etcd-member", follow: func(t *testing.T, w *world) {
		if err := os.Remove(w.disk("control2", host.UnreadyFile)); err != nil { // what keeps the member from answering
			t.Fatal(err)
		}
	}},
	{trouble: "csr-no-machine", fault: "csr-no-machine-for-node", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) { w.approveHost(t, "worker11", "worker11") }},
	{trouble: "csr-machine-too-old", fault: "csr-outside-window", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) { w.approveHost(t, "worker8", "worker8") }},
	{trouble: "kubelet-certificate-lost", fault: "csr-node-exists", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) { w.approveHost(t, "control2", "control2", "--rebuild") }},
	{trouble: "csr-machine-no-addresses", fault: "csr-machine-no-addresses", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) {
		w.approveHost(t, "worker9", "worker9")
	}},
	{trouble: "csr-machine-other-name", fault: "csr-name-mismatch", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) {
		w.approveHost(t, "worker10", "worker10.lab.example.com")
	}},
	// The second remedy is what the first one finds: the pointer of the host is old.
	{trouble: "worker-old-ca", fault: "ignition-tls-untrusted", remedy: "compare-served-certificate", console: "worker2", follow: func(t *testing.T, w *world) {
		w.atHost(t, "worker2", "reinstall")
	}},
	{trouble: "firstboot-pull-refused", fault: "image-pull-unauthorized", remedy: "correct-pull-secret", console: "worker6", follow: correctPullSecret},
	{trouble: "hostname-localhost", fault: "hostname-not-assigned", remedy: "give-host-a-name", console: "worker7", follow: func(t *testing.T, w *world) {
		w.outside(t, "dhcp", "worker7")
		w.atHost(t, "worker7", "restart")
	}},
	{trouble: "mcs-certificate-expired", fault: "mcs-certificate-expired", remedy: "renew-mcs-certificate", flags: []string{"--probe"}, follow: func(t *testing.T, w *world) {
		w.merge(t, secretResource, "openshift-machine-config-operator", "machine-config-server-tls",
			`{"metadata":{"annotations":{"auth.openshift.io/certificate-not-after":"force-regeneration"}}}`)
	}},
	{trouble: "mcs-refused-on-vip", fault: "mcs-refused", remedy: "pass-machine-config-port", console: "worker5", follow: func(t *testing.T, w *world) {
		w.outside(t, "firewall", "control0")
	}},
	{trouble: "vip-outside-machine-network", fault: "vip-not-in-machine-network", remedy: "append-machine-network", follow: restoreIngress},
	{trouble: "bmc-password-wrong", fault: "bmc-credentials-refused", remedy: "correct-bmc-credentials", follow: func(t *testing.T, w *world) {
		w.merge(t, secretResource, machineAPI, "spare1-bmc", `{"stringData":{"username":"lab","password":"not-a-password\n"}}`)
	}},
	{trouble: "inspection-silent", fault: "inspection-ramdisk-failed", remedy: "find-inspection-failure", follow: func(t *testing.T, w *world) {
		w.outside(t, "boot-medium", "spare2")
		w.merge(t, bareMetalHosts, machineAPI, "spare2", `{"metadata":{"annotations":{"inspect.metal3.io":""}}}`)
	}},
	{trouble: "mac-duplicate", fault: "mac-address-conflict", remedy: "correct-boot-mac", follow: correctMAC},
	{trouble: "host-paused", fault: "bmh-paused", remedy: "unpause-host", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("bmh-paused"), "--yes")
	}},
	{trouble: "host-detached", fault: "bmh-detached", remedy: "attach-host", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("bmh-detached"), "--yes")
	}},
	{trouble: "host-held-off", fault: "bmh-power-mismatch", remedy: "release-held-host", follow: func(t *testing.T, w *world) {
		w.merge(t, bareMetalHosts, machineAPI, "worker1", `{"metadata":{"annotations":{"reboot.metal3.io/firmware-update":null}}}`)
	}},
	{trouble: "power-stuck", fault: "bmh-power-error", remedy: "reset-bmc", follow: func(t *testing.T, w *world) {
		w.outside(t, "bmc", "spare6")
	}},
	{trouble: "hosted-stale-token", fault: "user-data-copy-outdated", remedy: "recreate-worker-with-fresh-user-data", console: "guest1", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.atHost(t, "guest1", "reinstall")
	}},
	{trouble: "hosted-name-not-in-certificate", fault: "ignition-tls-name", remedy: "use-published-ignition-name", console: "guest3", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.atHost(t, "guest3", "reinstall")
	}},
	{trouble: "hosted-user-data-outdated", fault: "user-data-outdated", remedy: "let-operator-rewrite-user-data", console: "guest2", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.outside(t, "hypershift-operator", "")
		eventually(t, 2*time.Minute, func() string {
			d := parse(t, w.live(append([]string{"diagnose", "-o", "json"}, ofGuest...)...))
			if strings.Contains(d.present(), "user-data-outdated") {
				return "the user-data is still outdated"
			}
			return ""
		})
		w.atHost(t, "guest2", "reinstall")
	}},
	{trouble: "hosted-payload-failing", fault: "ignition-payload-failed", remedy: "fix-payload-input", console: "guest4", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.outside(t, "registry", "")
	}},
}

// ofGuest asks for the hosted cluster.
var ofGuest = scenario{hosted: true}.hostedFlags()

// followedTogether are the troubles that are followed on one cluster.
var followedTogether = []string{
	"config-drift+etcd-manifest-moved+csr-no-machine",
	"render-degraded+etcd-member-down+csr-machine-too-old",
	"pool-paused",
	"controller-down",
	"drain-held-by-budget",
	"kubelet-certificate-lost",
	"worker-old-ca+firstboot-pull-refused+hostname-localhost+csr-machine-no-addresses+csr-machine-other-name",
	"bmc-password-wrong+inspection-silent+mac-duplicate+host-paused+host-detached+host-held-off+power-stuck",
	"mcs-certificate-expired",
	"mcs-refused-on-vip+vip-outside-machine-network",
	"hosted-stale-token+hosted-name-not-in-certificate",
	"hosted-user-data-outdated",
	"hosted-payload-failing",
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
			var rows []followed
			for trouble := range strings.SplitSeq(name, "+") {
				i := slices.IndexFunc(follows, func(f followed) bool { return f.trouble == trouble })
				if i < 0 {
					t.Fatalf("no row %s", trouble)
				}
				rows = append(rows, follows[i])
			}
			before := parse(t, w.live(slices.Concat([]string{"diagnose", "-o", "json"}, flagsOf(rows), consolesOf(w, rows))...))
			for _, f := range rows {
				f.shown(t, before)
			}
			for _, f := range rows {
				f.follow(t, w)
			}
			w.mended(t, rows)
		})
	}
}

// flagsOf is what the question needs besides: each flag once.
func flagsOf(rows []followed) []string {
	var flags []string
	for _, f := range rows {
		if len(f.flags) > 0 && !slices.Contains(flags, f.flags[0]) {
			flags = append(flags, f.flags...)
		}
	}
	return flags
}

func consolesOf(w *world, rows []followed) []string {
	var flags []string
	for _, f := range rows {
		if f.console != "" {
			flags = append(flags, "--console", f.console+"="+w.consoleFile(f.console))
		}
	}
	return flags
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
		r := w.live(append([]string{"diagnose", "-o", "json"}, flagsOf(rows)...)...)
		d := parse(t, r)
		for _, f := range rows {
			if i := slices.IndexFunc(d.Findings, func(g finding) bool { return g.Fault == f.fault && g.Outcome == "present" }); i >= 0 {
				return fmt.Sprintf("%s is still present: %s", f.fault, d.present())
			}
		}
		late := slices.ContainsFunc(d.Hosts, func(h struct{ Name, Stage, State string }) bool {
			return h.State != "passed" && h.State != "not-applicable"
		})
		if r.code != 0 || len(d.Roots) > 0 || late {
			return fmt.Sprintf("exit %d, verdict %s (%s), roots %q, hosts %s, present %s", r.code, d.Verdict.Class, d.Verdict.Reason, d.roots(), d.hosts(), d.present())
		}
		return ""
	})
}

var (
	configResource     = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}
	budgetResource     = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	secretResource     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	infraResource      = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	deploymentResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

const machineAPI = "openshift-machine-api"

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

// outside sets something right that is neither in the cluster nor on a host.
func (w *world) outside(t *testing.T, name, host string) {
	t.Helper()
	if r := w.lab("outside", name, host); r.code != 0 {
		t.Fatal(r)
	}
}

// correctPullSecret adds a credential to the cluster's pull secret, waits until the real
// controller has brought it to the pool, and installs the host that was given the old one.
func correctPullSecret(t *testing.T, w *world) {
	secrets := w.kubernetes(t).CoreV1().Secrets("openshift-config")
	secret, err := secrets.Get(t.Context(), "pull-secret", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old, ok := strings.CutSuffix(strings.TrimSpace(string(secret.Data[corev1.DockerConfigJsonKey])), "}}")
	if !ok {
		t.Fatalf("the pull secret ends in another way than with its list of registries")
	}
	secret.Data[corev1.DockerConfigJsonKey] = []byte(old + `,"quay.io":{"auth":"bGFiOm5ldw=="}}}`)
	pool := func() *unstructured.Unstructured {
		p, err := w.client(t).Resource(poolResource).Get(t.Context(), "worker", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before, _, _ := unstructured.NestedString(pool().Object, "status", "configuration", "name")
	if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 4*time.Minute, func() string {
		now, _, _ := unstructured.NestedString(pool().Object, "status", "configuration", "name")
		if now == before {
			return "the pool still has " + now
		}
		return ""
	})
	w.atHost(t, "worker6", "reinstall")
}

// restoreIngress writes the ingress address of status back to spec.
func restoreIngress(t *testing.T, w *world) {
	infra, err := w.client(t).Resource(infraResource).Get(t.Context(), "cluster", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addresses, _, _ := unstructured.NestedStringSlice(infra.Object, "status", "platformStatus", "baremetal", "ingressIPs")
	if len(addresses) != 1 {
		t.Fatalf("status has the addresses %q", addresses)
	}
	w.merge(t, infraResource, "", "cluster", fmt.Sprintf(`{"spec":{"platformSpec":{"baremetal":{"ingressIPs":[%q]}}}}`, addresses[0]))
}

// correctMAC creates spare3 and its Secret again, with the address that its BMC shows.
func correctMAC(t *testing.T, w *world) {
	hosts, secrets := w.client(t).Resource(bareMetalHosts).Namespace(machineAPI), w.kubernetes(t).CoreV1().Secrets(machineAPI)
	saved, err := hosts.Get(t.Context(), "spare3", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := secrets.Get(t.Context(), "spare3-bmc", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := hosts.Delete(t.Context(), "spare3", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 2*time.Minute, func() string {
		_, host := hosts.Get(t.Context(), "spare3", metav1.GetOptions{})
		_, owned := secrets.Get(t.Context(), "spare3-bmc", metav1.GetOptions{})
		if !apierrors.IsNotFound(host) || !apierrors.IsNotFound(owned) {
			return fmt.Sprintf("the host or its Secret is still there: %v, %v", host, owned)
		}
		return ""
	})
	again := &unstructured.Unstructured{Object: map[string]any{"apiVersion": saved.GetAPIVersion(), "kind": saved.GetKind(), "spec": saved.Object["spec"]}}
	again.SetName("spare3")
	if err := unstructured.SetNestedField(again.Object, w.macAtBMC(t, saved), "spec", "bootMACAddress"); err != nil {
		t.Fatal(err)
	}
	secret.ObjectMeta = metav1.ObjectMeta{Name: secret.Name, Labels: secret.Labels}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.Create(t.Context(), again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// macAtBMC is the address of the one NIC that a host's BMC shows.
func (w *world) macAtBMC(t *testing.T, bmh *unstructured.Unstructured) string {
	t.Helper()
	address, _, _ := unstructured.NestedString(bmh.Object, "spec", "bmc", "address")
	_, system, _ := strings.Cut(address, "://")
	// The lab's BMCs sign their certificates themselves, on loopback.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+system+"/EthernetInterfaces/NIC1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("lab", "not-a-password")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var nic struct{ MACAddress string }
	if err := json.NewDecoder(resp.Body).Decode(&nic); err != nil || nic.MACAddress == "" {
		t.Fatalf("%s: no MACAddress, %v", resp.Status, err)
	}
	return nic.MACAddress
}

// approveHost approves the requests of one host: that for the client certificate, and the
// one that follows for the serving certificate. The trouble has stood for longer than an
// hour, and so has the request, so that the screen has the kubelet restarted first. It asks
// again.
func (w *world) approveHost(t *testing.T, machine, node string, flags ...string) {
	t.Helper()
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	w.atHost(t, machine, "restart")
	approved := 0
	eventually(t, 3*time.Minute, func() string {
		list, err := requests.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		serves := false
		for _, r := range list.Items {
			if lab.CommonName(&r) != "system:node:"+node || time.Since(r.CreationTimestamp.Time) > time.Hour {
				continue
			}
			if len(r.Status.Conditions) > 0 {
				serves = serves || r.Spec.SignerName == certificatesv1.KubeletServingSignerName
				continue
			}
			args := append([]string{"csr", "approve", r.Name, "--expect", node + "=" + w.address(machine), "--booted-after", "20m", "--yes"}, flags...)
			if res := w.live(args...); res.code != 0 {
				return res.String()
			}
			approved++
		}
		n, err := w.kubernetes(t).CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
		if err != nil {
			return fmt.Sprintf("approved %d; %v", approved, err)
		}
		ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if ready && serves {
			return ""
		}
		return fmt.Sprintf("%s is not Ready, or has no serving certificate; approved %d", node, approved)
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
