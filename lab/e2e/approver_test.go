package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// approverManifests are the documented rights of the approver.
const approverManifests = "../../docs/approver/rbac.yaml"

// TestApprover runs `csr serve` as the documented ServiceAccount, twice, in addition to the lab's
// machine approver. worker11 was booted by hand and has no Machine, so that the machine
// approver refuses it; only the approver's inventory expects it. The replica that approves
// is killed between the host's two requests. Somebody with the bootstrap credential asks
// for worker0 meanwhile.
func TestApprover(t *testing.T) {
	const host = "worker11"
	w := up(t, "csr-no-machine+rogue-csr-worker", false)
	kube := w.kubernetes(t)
	w.applyApprover(t)
	w.setSwitch(t, "false")
	hosts := filepath.Join(t.TempDir(), "hosts.yaml")
	now := time.Now().UTC()
	text := fmt.Sprintf("hosts:\n- name: %s\n  role: worker\n  ips: [%s]\n  expect: {from: %s, until: %s}\n", host, w.address(host),
		now.Add(-10*time.Minute).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339))
	if err := os.WriteFile(hosts, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := w.serveRequests(t, "a", hosts), w.serveRequests(t, "b", hosts)
	w.restartAsking(t, host)
	of := func(signer string) string { // the state of the host's newest request
		state := "none"
		list, err := kube.CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		slices.SortFunc(list.Items, func(a, b certificatesv1.CertificateSigningRequest) int {
			return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		})
		for _, r := range list.Items {
			if lab.CommonName(&r) == "system:node:"+host && r.Spec.SignerName == signer {
				if state = "pending"; len(r.Status.Conditions) > 0 {
					state = r.Status.Conditions[0].Reason
				}
			}
		}
		return state
	}
	const client, serving = certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.KubeletServingSignerName
	eventually(t, 3*time.Minute, func() string {
		if got := of(client); got != "pending" {
			return "the client request is " + got
		}
		if !strings.Contains(first.log()+second.log(), "approval is paused") {
			return "no replica says that it is paused"
		}
		return ""
	})
	time.Sleep(5 * time.Second)
	if got := of(client); got != "pending" {
		t.Fatalf("the switch is off, and the client request is %s", got)
	}
	w.setSwitch(t, "true")
	eventually(t, 2*time.Minute, func() string { return want(of(client), "RollcallApprove") })
	leader, other := first, second
	if strings.Contains(second.log(), "decision=approved") {
		leader, other = second, first
	}
	leader.kill()
	eventually(t, 3*time.Minute, func() string { return want(of(serving), "RollcallApprove") })
	eventually(t, 3*time.Minute, func() string {
		node, err := kube.CoreV1().Nodes().Get(t.Context(), host, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			return host + " is not Ready"
		}
		return ""
	})
	rogue, err := kube.CertificatesV1().CertificateSigningRequests().Get(t.Context(), "csr-x7w2f-worker0", metav1.GetOptions{})
	if err != nil || len(rogue.Status.Conditions) > 0 {
		t.Errorf("the stranger's request for worker0: %v, %v", rogue.Status.Conditions, err)
	}
	events, err := kube.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	approved := 0
	for _, e := range events.Items {
		if e.ReportingController == "rollcall.dev/csr-serve" && e.Reason == "CSRApproved" && e.Regarding.Kind == "CertificateSigningRequest" {
			approved++
		}
	}
	if approved == 0 {
		t.Error("no event records an approval")
	}
	for name, log := range map[string]string{"killed": leader.log(), "other": other.log()} {
		if strings.Contains(log, "level=ERROR") || strings.Contains(log, "orbidden") {
			t.Errorf("the %s replica had an error:\n%s", name, log)
		}
	}
	t.Logf("the replica that went on:\n%s", other.log())
}

func want(got, want string) string {
	if got != want {
		return "it is " + got + ", want " + want
	}
	return ""
}

// restartAsking makes a host ask again, its old requests being gone: see approveHost.
func (w *world) restartAsking(t *testing.T, host string) {
	t.Helper()
	requests := w.kubernetes(t).CertificatesV1().CertificateSigningRequests()
	list, err := requests.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Items {
		if lab.CommonName(&r) == "system:node:"+host {
			if err := requests.Delete(t.Context(), r.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.atHost(t, host, "restart")
}

// applyApprover creates what the documented manifest has, by server-side apply.
func (w *world) applyApprover(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(approverManifests)
	if err != nil {
		t.Fatal(err)
	}
	rest := w.kubernetes(t).CoreV1().RESTClient()
	for _, doc := range strings.Split(string(raw), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		path := "/api/v1"
		if version := o["apiVersion"].(string); version != "v1" {
			path = "/apis/" + version
		}
		meta := o["metadata"].(map[string]any)
		if namespace, ok := meta["namespace"].(string); ok {
			ensureNamespace(t, w, namespace)
			path += "/namespaces/" + namespace
		}
		path += "/" + strings.ToLower(o["kind"].(string)) + "s/" + meta["name"].(string)
		err := rest.Patch(types.ApplyYAMLPatchType).AbsPath(path).Param("fieldManager", "e2e").Body([]byte(doc)).Do(t.Context()).Error()
		if err != nil {
			t.Fatalf("apply %s: %v", path, err)
		}
	}
}

func ensureNamespace(t *testing.T, w *world, name string) {
	t.Helper()
	spaces := w.kubernetes(t).CoreV1().Namespaces()
	if _, err := spaces.Get(t.Context(), name, metav1.GetOptions{}); err == nil {
		return
	}
	if _, err := spaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) setSwitch(t *testing.T, value string) {
	t.Helper()
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"switch","namespace":"rollcall-approver"},"data":{"approve":"` + value + `"}}`
	err := w.kubernetes(t).CoreV1().RESTClient().Patch(types.ApplyYAMLPatchType).AbsPath("/api/v1/namespaces/rollcall-approver/configmaps/switch").
		Param("fieldManager", "e2e").Param("force", "true").Body([]byte(body)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}

// replica is a running `csr serve`.
type replica struct {
	cmd  *exec.Cmd
	path string
	once sync.Once
}

func (r *replica) log() string {
	raw, _ := os.ReadFile(r.path)
	return string(raw)
}

// kill ends the process as a node does that loses power.
func (r *replica) kill() {
	r.once.Do(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
}

// serveRequests starts a replica with a token of the documented ServiceAccount.
func (w *world) serveRequests(t *testing.T, name, hosts string, flags ...string) *replica {
	t.Helper()
	token, err := w.kubernetes(t).CoreV1().ServiceAccounts("rollcall-approver").CreateToken(t.Context(), "csr-approver", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(strings.TrimSpace(w.lab("kubeconfig").out))
	if err != nil {
		t.Fatal(err)
	}
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(context.Background(), rollcallBin, append([]string{"csr", "serve", "--kubeconfig", kubeconfig, "--inventory", "file:" + hosts,
		"--switch", "rollcall-approver/switch", "--lease", "rollcall-approver/csr-approver", "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Stderr, cmd.Stdout = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &replica{cmd: cmd, path: log.Name()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replica %s:\n%s", name, r.log())
		}
		r.kill()
	})
	return r
}
