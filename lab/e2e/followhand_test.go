package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
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

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

var (
	configResource        = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigs"}
	budgetResource        = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	secretResource        = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	infraResource         = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	deploymentResource    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	nodePoolResource      = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "nodepools"}
	hostedClusterResource = schema.GroupVersionResource{Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedclusters"}
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

// nameRelease gives the NodePool the release of its HostedCluster; the remedy lists both.
func nameRelease(t *testing.T, w *world) {
	t.Helper()
	o, err := w.client(t).Resource(hostedClusterResource).Namespace("clusters").Get(t.Context(), "guest", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	image, _, _ := unstructured.NestedString(o.Object, "spec", "release", "image")
	w.merge(t, nodePoolResource, "clusters", "guest", `{"spec":{"release":{"image":"`+image+`"}}}`)
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
	var nic struct{ MACAddress string }
	if w.redfish(t, system+"/EthernetInterfaces/NIC1", &nic); nic.MACAddress == "" {
		t.Fatalf("%s: no MACAddress", system)
	}
	return nic.MACAddress
}

// redfish reads a resource of a BMC.
func (w *world) redfish(t *testing.T, path string, into any) {
	t.Helper()
	// The lab's BMCs sign their certificates themselves, on loopback.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("lab", "not-a-password")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
}

// approveHost approves the requests of one host: that for the client certificate, and the
// one that follows for the serving certificate. The trouble has stood for longer than an
// hour, and so has the request, so that the screen has the kubelet restarted first. It asks
// again.
func (w *world) approveHost(t *testing.T, machine, node string, flags ...string) {
	t.Helper()
	w.atHost(t, machine, "restart")
	w.approve(t, machine, node, true, flags...)
}

// approve approves the requests of a host that are younger than the trouble. serves says
// that the kubelet needs a serving certificate as well.
func (w *world) approve(t *testing.T, machine, node string, wantServing bool, flags ...string) {
	t.Helper()
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	approved := 0
	eventually(t, 8*time.Minute, func() string {
		list, err := requests.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		serves := !wantServing
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

// correctAddress asks the BMC of spare7 for its systems, and gives the plan the address with
// the path of the one that it has.
func correctAddress(t *testing.T, w *world) {
	old := w.bareMetal(t, "spare7", "spec", "bmc", "address")
	scheme, rest, _ := strings.Cut(old, "://")
	host, _, _ := strings.Cut(rest, "/")
	var systems struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	w.redfish(t, host+"/redfish/v1/Systems", &systems)
	if len(systems.Members) != 1 {
		t.Fatalf("the BMC has the systems %v", systems.Members)
	}
	plan := filepath.Join(t.TempDir(), "address.yaml")
	w.must(t, 0, "fix", "plan", "--root", "bmc-address-wrong", "--bmc-address", scheme+"://"+host+strings.TrimSuffix(systems.Members[0].ID, "/"), "--to", plan)
	w.must(t, 0, "fix", "apply", plan, "--yes")
}

// regenerateExpired reads the certificates of the Secrets themselves: the annotation of the
// expired one has a date to come. oc adm ocp-certificates is not here; the screen names
// rollcall for the same.
func regenerateExpired(t *testing.T, w *world) {
	var expired []string
	for _, ns := range []string{"openshift-config-managed", "openshift-kube-apiserver-operator", "openshift-kube-apiserver"} {
		list, err := w.kubernetes(t).CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "type=kubernetes.io/tls"})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Items {
			block, _ := pem.Decode(s.Data[corev1.TLSCertKey])
			if block == nil {
				continue
			}
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil && time.Now().After(cert.NotAfter) {
				expired = append(expired, ns+"/"+s.Name)
			}
		}
	}
	if len(expired) != 1 {
		t.Fatalf("Secrets whose certificate has expired: %v", expired)
	}
	plan := filepath.Join(t.TempDir(), "leaf.yaml")
	w.must(t, 0, "fix", "plan", "--root", "control-plane-crash-certificates@host/control0", "--leaf", expired[0], "--to", plan)
	w.must(t, 0, "fix", "apply", plan, "--yes")
}

// returnMember switches the host on, and then, as its kubelet would, starts the member on it:
// that is what the second answer asks for.
func returnMember(t *testing.T, w *world) {
	w.atHost(t, "control2", "on")
	eventually(t, 3*time.Minute, func() string {
		if d := parse(t, w.live("diagnose", "-o", "json")); !strings.Contains(d.roots(), "etcd-member-unhealthy") {
			return "roots: " + d.roots()
		}
		return ""
	})
	w.outside(t, "etcd", "")
}
