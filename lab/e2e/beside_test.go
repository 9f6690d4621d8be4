package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// machineApproverBin names the variable with the path of the product's own machine approver.
// The Go proxy does not serve its module, so that nothing here can build it: build it in a
// clone of openshift/cluster-machine-approver with `go build -mod=vendor -o FILE .`.
const machineApproverBin = "ROLLCALL_MACHINE_APPROVER"

const (
	clientSigner  = certificatesv1.KubeAPIServerClientKubeletSignerName
	servingSigner = certificatesv1.KubeletServingSignerName
	approverSpace = "openshift-cluster-machine-approver"
	machineReason = "NodeCSRApprove" // openshift/cluster-machine-approver: pkg/controller/controller.go approve
)

// sideBySide is a lab in which both approvers run.
type sideBySide struct {
	*world
	kube  kubernetes.Interface
	cfg   *rest.Config
	boot  kubernetes.Interface // as the bootstrapper of new hosts
	ours  *replica
	other *replica
	// addresses are those of the hosts of this test, by name.
	addresses map[string]string
}

// TestBesideMachineApprover runs `csr serve` and the product's machine approver against one API
// server: hosts that both expect, that one of them expects, and that no one expects, 4,000
// requests at once, then serving certificates. None of them may deny, undo or repeat what the
// other does.
func TestBesideMachineApprover(t *testing.T) {
	bin := os.Getenv(machineApproverBin)
	if bin == "" {
		t.Skip("the machine approver is not built: see " + machineApproverBin)
	}
	b := &sideBySide{world: up(t, "cluster", true)}
	b.connect(t)
	b.stopStandIn(t)
	both, oursOnly, theirsOnly := hostNames("both", 40), hostNames("ours", 5), hostNames("theirs", 5)
	const twice = "twice1"
	b.addresses = map[string]string{}
	for i, name := range slices.Concat(both, oursOnly, theirsOnly, []string{twice}) {
		b.addresses[name] = fmt.Sprintf("198.51.100.%d", i+1)
	}
	for _, name := range slices.Concat(both, theirsOnly, []string{twice}) {
		b.addMachineObject(t, name)
	}
	b.startOurs(t, slices.Concat(both, oursOnly, []string{twice}))
	b.startTheirs(t, bin)

	t.Log("race: 40 hosts that both expect, at once")
	began := time.Now()
	b.ask(t, both)
	b.until(t, 2*time.Minute, both, clientSigner, approvedBy("RollcallApprove", machineReason))
	t.Logf("after %.1f s: %v", time.Since(began).Seconds(), b.tally(t, both, clientSigner))

	t.Log("flood: 3,985 strangers, 5 hosts that only the inventory expects, 5 that only Machines expect, one with two keys")
	strangers := hostNames("stranger", 3985)
	b.ask(t, strangers[:2000])
	b.ask(t, theirsOnly)
	b.ask(t, []string{twice, twice})
	began = time.Now()
	b.ask(t, oursOnly)
	b.until(t, 2*time.Minute, oursOnly, clientSigner, approvedBy("RollcallApprove"))
	t.Logf("the 5 hosts of the inventory were approved %.1f s after they asked", time.Since(began).Seconds())
	b.ask(t, strangers[2000:])
	time.Sleep(45 * time.Second)
	t.Logf("45 s after the last of %d requests: theirs %v, two keys %v, strangers %v", len(b.requests(t)),
		b.tally(t, theirsOnly, clientSigner), b.tally(t, []string{twice}, clientSigner), b.tally(t, strangers, clientSigner))
	if got := b.tally(t, strangers, clientSigner); len(got) != 1 || got["pending"] != len(strangers) {
		t.Errorf("strangers: %v", got)
	}

	t.Log("the strangers' requests are deleted; the others are touched, which has the machine approver look again")
	b.forget(t, "stranger")
	b.touch(t, slices.Concat(theirsOnly, []string{twice}))
	// It has one worker, and asks for Nodes and Machines for each request of its queue.
	began = time.Now()
	b.until(t, 15*time.Minute, theirsOnly, clientSigner, approvedBy(machineReason))
	t.Logf("the machine approver was through after %.0f s", time.Since(began).Seconds())
	time.Sleep(20 * time.Second)
	t.Logf("theirs %v, two keys %v", b.tally(t, theirsOnly, clientSigner), b.tally(t, []string{twice}, clientSigner))

	t.Log("serving certificates of the 40")
	for _, name := range both {
		b.addNode(t, name)
	}
	began = time.Now()
	for _, name := range both {
		r := cluster.Request{Signer: servingSigner, CN: "system:node:" + name, O: "system:nodes", DNS: []string{name}, IPs: []net.IP{net.ParseIP(b.addresses[name])}}
		if _, err := r.File(t.Context(), b.as(t, "system:node:"+name, "system:nodes", "system:authenticated")); err != nil {
			t.Fatal(err)
		}
	}
	b.until(t, 2*time.Minute, both, servingSigner, approvedBy("RollcallApprove", machineReason))
	t.Logf("after %.1f s: %v", time.Since(began).Seconds(), b.tally(t, both, servingSigner))

	before := b.versions(t)
	time.Sleep(time.Minute)
	if after := b.versions(t); after != before {
		t.Errorf("a minute later something was written again:\n%s\n%s", before, after)
	}
	b.peace(t)
}

func hostNames(word string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s%d", word, i+1))
	}
	return list
}

func (b *sideBySide) connect(t *testing.T) {
	cfg, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(b.lab("kubeconfig").out))
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.Burst, cfg.UserAgent = 1000, 1000, "e2e-beside"
	b.cfg = cfg
	if b.kube, err = kubernetes.NewForConfig(cfg); err != nil {
		t.Fatal(err)
	}
	const group = "system:serviceaccounts"
	b.boot = b.as(t, "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper", group+":openshift-machine-config-operator", group, "system:authenticated")
}

// as is a client as somebody else.
func (b *sideBySide) as(t *testing.T, user string, groups ...string) kubernetes.Interface {
	cfg := rest.CopyConfig(b.cfg)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stopStandIn scales the lab's own machine approver to nothing, and waits for its lease.
func (b *sideBySide) stopStandIn(t *testing.T) {
	_, err := b.kube.AppsV1().Deployments(approverSpace).Patch(t.Context(), "machine-approver", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 2*time.Minute, func() string {
		lease, err := b.kube.CoordinationV1().Leases(approverSpace).Get(t.Context(), "cluster-machine-approver-leader", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if h := lease.Spec.HolderIdentity; h != nil && *h != "" {
			return *h + " still leads"
		}
		return ""
	})
}

// addMachineObject makes a Machine with an address and its name, as the machine API leaves it.
func (b *sideBySide) addMachineObject(t *testing.T, name string) {
	machines := b.client(t).Resource(schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}).Namespace(machineAPI)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
		"metadata": map[string]any{"name": name, "namespace": machineAPI, "labels": map[string]any{"machine.openshift.io/cluster-api-machine-role": "worker"}},
		"spec":     map[string]any{},
	}}
	made, err := machines.Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Object["status"] = map[string]any{"phase": "Provisioned", "addresses": []any{
		map[string]any{"type": "InternalIP", "address": b.addresses[name]},
		map[string]any{"type": "InternalDNS", "address": name}, map[string]any{"type": "Hostname", "address": name},
	}}
	if _, err := machines.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// addNode makes the Node, as the kubelet and the node link controller would.
func (b *sideBySide) addNode(t *testing.T, name string) {
	node, err := b.kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/worker": ""}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := fmt.Sprintf(`{"status":{"addresses":[{"type":"InternalIP","address":%q},{"type":"Hostname","address":%q}]}}`, b.addresses[name], name)
	if _, err := b.kube.CoreV1().Nodes().Patch(t.Context(), name, types.StrategicMergePatchType, []byte(addresses), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	patch := fmt.Sprintf(`{"status":{"nodeRef":{"apiVersion":"v1","kind":"Node","name":%q,"uid":%q}}}`, name, node.UID)
	machines := b.client(t).Resource(schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}).Namespace(machineAPI)
	if _, err := machines.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

func (b *sideBySide) startOurs(t *testing.T, expected []string) {
	b.applyApprover(t)
	b.setSwitch(t, "true")
	now := time.Now().UTC()
	text := "hosts:\n"
	for _, name := range expected {
		text += fmt.Sprintf("- name: %s\n  role: worker\n  ips: [%s]\n  expect: {from: %s, until: %s}\n", name, b.addresses[name],
			now.Add(-10*time.Minute).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339))
	}
	hosts := filepath.Join(t.TempDir(), "hosts.yaml")
	if err := os.WriteFile(hosts, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b.ours = b.serveRequests(t, "ours", hosts, "--rate", "1000")
}

func (b *sideBySide) startTheirs(t *testing.T, bin string) {
	log, err := os.Create(filepath.Join(t.TempDir(), "theirs.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	kubeconfig := strings.TrimSpace(b.lab("kubeconfig").out)
	cmd := exec.CommandContext(context.Background(), bin, "--management-cluster-kubeconfig", kubeconfig, "--workload-cluster-kubeconfig", kubeconfig, "--disable-status-controller")
	cmd.Env = append(os.Environ(), "METRICS_BIND_ADDRESS=127.0.0.1", "METRICS_PORT=0")
	cmd.Stderr, cmd.Stdout = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.other = &replica{cmd: cmd, path: log.Name()}
	t.Cleanup(func() {
		if log := b.other.log(); t.Failed() {
			t.Logf("the machine approver's last lines:\n%s", log[max(0, len(log)-3000):])
		}
		b.other.kill()
	})
	eventually(t, 2*time.Minute, func() string {
		if !strings.Contains(b.other.log(), "Starting workers") {
			return "the machine approver has not started:\n" + b.other.log()
		}
		return ""
	})
}

// ask files the first request of each host.
func (b *sideBySide) ask(t *testing.T, names []string) {
	var wait sync.WaitGroup
	next := make(chan string)
	for range 16 {
		wait.Go(func() {
			for name := range next {
				r := cluster.Request{Signer: clientSigner, CN: "system:node:" + name, O: "system:nodes"}
				if _, err := r.File(t.Context(), b.boot); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, name := range names {
		next <- name
	}
	close(next)
	wait.Wait()
}

func (b *sideBySide) requests(t *testing.T) []certificatesv1.CertificateSigningRequest {
	list, err := b.kube.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// tally counts the requests of the hosts by how they stand.
func (b *sideBySide) tally(t *testing.T, names []string, signer string) map[string]int {
	wanted, counts := map[string]bool{}, map[string]int{}
	for _, n := range names {
		wanted["system:node:"+n] = true
	}
	for _, r := range b.requests(t) {
		if r.Spec.SignerName != signer || !wanted[lab.CommonName(&r)] {
			continue
		}
		state := "pending"
		for i, c := range r.Status.Conditions {
			if i == 0 {
				state = c.Reason
			} else {
				state += "+" + c.Reason
			}
		}
		counts[state]++
	}
	return counts
}

func approvedBy(reasons ...string) func(map[string]int) int {
	return func(counts map[string]int) int {
		n := 0
		for _, r := range reasons {
			n += counts[r]
		}
		return n
	}
}

func (b *sideBySide) until(t *testing.T, within time.Duration, names []string, signer string, count func(map[string]int) int) {
	t.Helper()
	eventually(t, within, func() string {
		if got := b.tally(t, names, signer); count(got) != len(names) {
			return fmt.Sprintf("of %d: %v", len(names), got)
		}
		return ""
	})
}

// forget deletes the requests of the hosts whose names begin so.
func (b *sideBySide) forget(t *testing.T, word string) {
	var wait sync.WaitGroup
	next := make(chan string)
	for range 16 {
		wait.Go(func() {
			for name := range next {
				if err := b.kube.CertificatesV1().CertificateSigningRequests().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, r := range b.requests(t) {
		if strings.HasPrefix(lab.CommonName(&r), "system:node:"+word) {
			next <- r.Name
		}
	}
	close(next)
	wait.Wait()
}

// touch writes a label, an event for whoever watches.
func (b *sideBySide) touch(t *testing.T, names []string) {
	for _, r := range b.requests(t) {
		if name, _ := strings.CutPrefix(lab.CommonName(&r), "system:node:"); slices.Contains(names, name) {
			_, err := b.kube.CertificatesV1().CertificateSigningRequests().Patch(t.Context(), r.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"e2e":"again"}}}`), metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// versions is what every request has been written to.
func (b *sideBySide) versions(t *testing.T) string {
	var list []string
	for _, r := range b.requests(t) {
		list = append(list, r.Name+"@"+r.ResourceVersion)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// peace looks for a quarrel: a denial, a second condition, an approval that was refused, errors.
func (b *sideBySide) peace(t *testing.T) {
	for _, r := range b.requests(t) {
		if len(r.Status.Conditions) > 1 || slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
			return c.Type != certificatesv1.CertificateApproved
		}) {
			t.Errorf("%s (%s): %v", r.Name, lab.CommonName(&r), r.Status.Conditions)
		}
	}
	raw, err := os.ReadFile(filepath.Join(b.dir, "logs", "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			UserAgent      string
			Verb           string
			RequestURI     string
			ObjectRef      struct{ Resource, Subresource string }
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ObjectRef.Resource != "certificatesigningrequests" || e.ObjectRef.Subresource != "approval" || strings.Contains(e.RequestURI, "dryRun") {
			continue
		}
		program, _, _ := strings.Cut(e.UserAgent, " ")
		writes[fmt.Sprintf("%s %s %d", program, e.Verb, e.ResponseStatus.Code)]++
	}
	t.Logf("writes of approvals: %v", writes)
	errors := regexp.MustCompile(`(?m)^.*level=ERROR.*$`).FindAllString(b.ours.log(), -1)
	if len(errors) > 0 {
		t.Errorf("csr serve: %d errors, e.g. %s", len(errors), errors[0])
	}
	refused := regexp.MustCompile(`(?m)^.*Unable to approve CSR.*$`).FindAllString(b.other.log(), -1)
	approved := regexp.MustCompile(`(?m)CSR \S+ approved$`).FindAllString(b.other.log(), -1)
	t.Logf("the machine approver: %d approved, %d approvals refused%s, %d times it ignored all for too many pending", len(approved), len(refused),
		firstOf(refused), strings.Count(b.other.log(), "Ignoring all CSRs as too many recent pending CSRs seen"))
	t.Logf("csr serve: %d approved, %d overtaken", strings.Count(b.ours.log(), "decision=approved"), strings.Count(b.ours.log(), "overtaken"))
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + list[0] + ")"
}
