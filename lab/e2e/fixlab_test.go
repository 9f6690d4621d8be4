package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/lab/host"
)

// fixed is a repair that rollcall fix carries out: the fault is present, a plan, its end, and
// what the undo does.
type fixed struct {
	fault string
	at    string // @KIND/NAME of one of its cases, where there are several
	flags []string
	also  []string // of apply and undo
	undo  int      // exit code of undo: 0, or 5 where what depends on it is named
	first func(*testing.T, *world)
}

// fix makes the plan, applies it, wants its faults absent, and undoes it.
func (w *world) fix(t *testing.T, f fixed) {
	t.Helper()
	if f.first != nil {
		f.first(t, w)
	}
	if d := parse(t, w.live(append([]string{"diagnose", "-o", "json"}, f.also...)...)); !strings.Contains(d.roots(), f.fault) {
		t.Fatalf("%s is no cause: %s", f.fault, d.roots())
	}
	plan := filepath.Join(t.TempDir(), f.fault+".yaml")
	w.must(t, 0, append(append([]string{"fix", "plan", "--root", f.fault + f.at, "--to", plan}, f.flags...), f.also...)...)
	w.must(t, 0, append([]string{"fix", "apply", plan, "--yes"}, f.also...)...)
	eventually(t, 2*time.Minute, func() string {
		if d := parse(t, w.live(append([]string{"diagnose", "-o", "json"}, f.also...)...)); strings.Contains(d.present(), f.fault) {
			return "still present: " + d.present()
		}
		return ""
	})
	w.must(t, f.undo, append([]string{"fix", "undo", planID(t, plan), "--yes", "--wait", "1s"}, f.also...)...)
}

// carriedOut are the remedies that `rollcall fix` carries out here, each with the test that has it do so.
func carriedOut() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"adopt-spec-config":           TestRepair,
		"allow-baseline-pods":         TestFixHostedPods,
		"append-machine-network":      TestFixServerCertificate,
		"attach-host":                 TestFixBareMetal,
		"correct-bmc-address":         TestFixBareMetal,
		"correct-bmc-credentials":     TestFixBareMetal,
		"inspect-host-again":          TestFixBareMetal,
		"redeploy-controller-manager": TestFixControllerManager,
		"regenerate-leaf":             TestFixLeaf,
		"regenerate-mcs-certificate":  TestFixServerCertificate,
		"remove-dead-etcd-member":     TestFixDeadMember,
		"remove-etcd-override":        TestFixServerCertificate,
		"resume-nodepool":             TestFixHostedUserData,
		"start-hypershift-operator":   TestFixHostedUserData,
		"switch-host-on":              TestFixBareMetal,
	}
}

// TestTriedAsSaid: a remedy whose page says that it was tried on real servers is followed or
// carried out here, and what is followed or carried out here says so.
func TestTriedAsSaid(t *testing.T) {
	here := map[string]bool{"": true} // nothing is wrong in some rows
	for _, f := range follows {
		here[f.remedy] = true
	}
	for id := range carriedOut() {
		here[id] = true
	}
	dir := filepath.Join("..", "..", "catalog", "remedies")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(file.Name(), ".yaml")
		if says := strings.Contains(string(raw), "\ntried: servers\n"); says != here[id] {
			t.Errorf("%s says that it was tried on servers: %t; a test here does so: %t", id, says, here[id])
		}
		delete(here, id)
	}
	if len(here) != 1 {
		t.Errorf("%v are no remedies", here)
	}
}

// host reads a BareMetalHost.
func (w *world) bareMetal(t *testing.T, name string, path ...string) string {
	t.Helper()
	o, err := w.client(t).Resource(bareMetalHosts).Namespace(machineAPI).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// TestFixBareMetal: credentials, address, power, attaching and inspecting under the real
// baremetal-operator. No password is anywhere but in the store.
func TestFixBareMetal(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("five minutes; in .ci/run full")
	}
	w := up(t, "bmc-password-wrong+inspection-silent+host-detached+bmc-address-wrong+host-switched-off", true)
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("not-a-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.Replace(w.bareMetal(t, "spare7", "spec", "bmc", "address"), "/Managers/1/Systems", "/Systems/1", 1)
	for _, f := range []fixed{
		{fault: "bmh-detached"},
		{fault: "bmh-switched-off", undo: 5},
		{fault: "bmc-credentials-refused", flags: []string{"--bmc-user", "lab", "--bmc-password-file", secret}},
		{fault: "bmc-address-wrong", flags: []string{"--bmc-address", address}, undo: 5},
		{fault: "inspection-ramdisk-failed", undo: 5, flags: []string{"--inspect-again", "spare2"}, first: func(t *testing.T, w *world) { w.outside(t, "boot-medium", "spare2") }},
	} {
		t.Run(f.fault, func(t *testing.T) { w.fix(t, f) })
	}
	for _, name := range []string{"spare2", "spare7"} {
		eventually(t, 2*time.Minute, func() string {
			if state := w.bareMetal(t, name, "status", "provisioning", "state"); state != "available" {
				return name + " is " + state
			}
			return ""
		})
	}
	w.nowhereBut(t, "pre-images", "not-a-password")
}

// nowhere fails where a file of the tool's state has the text.
func (w *world) nowhere(t *testing.T, text string) {
	t.Helper()
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), text) {
			t.Errorf("%s has the secret, or cannot be read: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// nowhereBut fails where a file of the tool's state outside of a directory has the text.
func (w *world) nowhereBut(t *testing.T, dir, text string) {
	t.Helper()
	kept := 0
	err := filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		switch {
		case err != nil || !strings.Contains(string(raw), text):
		case filepath.Base(filepath.Dir(path)) == dir:
			kept++
		default:
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil || kept == 0 {
		t.Errorf("%d files in %s have it: %v", kept, dir, err)
	}
}

// TestFixServerCertificate: the certificate that expired is issued again, the servers restart,
// and the host that refused it continues by itself; the network operator is simulated.
func TestFixServerCertificate(t *testing.T) {
	w := up(t, "mcs-certificate-expired+vip-outside-machine-network", true)
	w.fix(t, fixed{fault: "etcd-unsafe-override", first: func(t *testing.T, w *world) {
		w.merge(t, etcdResource, "", "cluster", `{"spec":{"unsupportedConfigOverrides":{"useUnsupportedUnsafeNonHANonProductionUnstableEtcd":true}}}`)
	}})
	w.merge(t, etcdResource, "", "cluster", `{"spec":{"unsupportedConfigOverrides":null}}`) // the undo wrote it back
	w.fix(t, fixed{fault: "vip-not-in-machine-network", flags: []string{"--machine-network", "203.0.113.0/24"}})
	w.fix(t, fixed{fault: "mcs-certificate-expired", also: []string{"--probe"}, undo: 5})
	eventually(t, 2*time.Minute, func() string {
		if screen := w.lab("console", "worker3").out; !strings.Contains(screen, "GET result: OK") {
			return "worker3 has not got its config"
		}
		return ""
	})
	w.nowhereBut(t, "pre-images", "RSA PRIVATE KEY")
}

// TestFixNewAuthority: certificate and authority of the machine config server are gone. After
// the repair the real server answers a client that trusts only what the pointer in
// worker-user-data has.
func TestFixNewAuthority(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("two minutes; in .ci/run full")
	}
	w := up(t, "mcs-tls-deleted-no-machinesets", true)
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	err := w.client(t).Resource(secrets).Namespace("openshift-machine-config-operator").Delete(t.Context(), "machine-config-server-ca", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	w.must(t, 0, "fix", "plan", "--root", "mcs-tls-secret-missing", "--new-mcs-authority", "--to", plan)
	w.must(t, 0, "fix", "apply", plan, "--yes")
	o, err := w.client(t).Resource(secrets).Namespace(machineAPI).Get(t.Context(), "worker-user-data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := unstructured.NestedString(o.Object, "data", "userData")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var pointer struct {
		Ignition struct {
			Config   struct{ Merge []struct{ Source string } }
			Security struct {
				TLS struct {
					CertificateAuthorities []struct{ Source string }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &pointer); err != nil || len(pointer.Ignition.Config.Merge) != 1 || len(pointer.Ignition.Security.TLS.CertificateAuthorities) != 1 {
		t.Fatalf("worker-user-data: %v", err)
	}
	_, encoded, _ := strings.Cut(pointer.Ignition.Security.TLS.CertificateAuthorities[0].Source, "base64,")
	ca, err := base64.StdEncoding.DecodeString(encoded)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(ca) {
		t.Fatalf("the pointer's authority: %v", err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	eventually(t, time.Minute, func() string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, pointer.Ignition.Config.Merge[0].Source, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1")
		resp, err := client.Do(req)
		if err != nil {
			return err.Error()
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return resp.Status
		}
		return ""
	})
	w.nowhereBut(t, "pre-images", "PRIVATE KEY")
}

// TestFixDeadMember removes the dead one of three real members of etcd, through etcdctl in the
// pod of another one. It is refused without a backup, for a member that answers, and for a name
// that no member has.
func TestFixDeadMember(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("three minutes; in .ci/run full")
	}
	w := up(t, "etcd-member-dead", true)
	d := parse(t, w.live("diagnose", "-o", "json"))
	if !strings.Contains(d.roots(), "node-lease-stale host/control2") || !strings.Contains(d.present(), "etcd-member-unhealthy cluster/") {
		t.Fatalf("roots %s, present %s", d.roots(), d.present())
	}
	dir := t.TempDir()
	backup := filepath.Join(dir, "snapshot_"+time.Now().UTC().Format("2006-01-02_150405")+".db")
	w.etcdctl(t, "snapshot", "save", backup)
	refused := func(reason string, flags ...string) {
		t.Helper()
		r := w.live(append([]string{"fix", "plan", "--to", filepath.Join(dir, "refused.yaml")}, flags...)...)
		if r.code == 0 || !strings.Contains(r.err, reason) {
			t.Errorf("not refused with %q: %s", reason, r)
		}
	}
	refused("make a backup now", "--remove-member", "control2")
	refused("etcd has no member nobody", "--remove-member", "nobody", "--etcd-backup", backup)
	refused("(control", "--remove-member", "control1", "--etcd-backup", backup) // which of the two it names depends on their order

	plan := filepath.Join(dir, "plan.yaml")
	w.must(t, 0, "fix", "plan", "--remove-member", "control2", "--etcd-backup", backup, "--to", plan)
	// The host stays away, so that the cause stays: partly done.
	w.must(t, 6, "fix", "apply", plan, "--yes", "--wait", "1s")
	if list := w.etcdctl(t, "member", "list"); strings.Contains(list, "control2") || strings.Count(list, "started") != 2 {
		t.Errorf("members:\n%s", list)
	}
	if d := parse(t, w.live("diagnose", "-o", "json")); strings.Contains(d.present(), "etcd-member-unhealthy") {
		t.Errorf("still present: %s", d.present())
	}
	w.must(t, 5, "fix", "undo", planID(t, plan), "--yes", "--wait", "1s")
}

// etcdctl runs the lab's etcdctl as the container of that name does.
func (w *world) etcdctl(t *testing.T, args ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, "hosts", "control0", "root", host.EtcdctlFile))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	cmd := exec.CommandContext(t.Context(), lines[0], args...)
	cmd.Env = lines[1:]
	for i, e := range cmd.Env {
		if all, ok := strings.CutPrefix(e, "ETCDCTL_ENDPOINTS="); ok && args[0] == "snapshot" { // it takes one
			first, _, _ := strings.Cut(all, ",")
			cmd.Env[i] = "ETCDCTL_ENDPOINTS=" + first
		}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("etcdctl %v: %v", args, err)
	}
	return string(out)
}

// TestFixControllerManager: no controller manager leads. Its operator rolls out a new revision,
// after which the host that waited for its certificate joins by itself. The operator is
// simulated.
func TestFixControllerManager(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("two minutes; in .ci/run full")
	}
	w := up(t, "kcm-no-leader", true)
	w.fix(t, fixed{fault: "kcm-no-leader", undo: 5})
	w.atHost(t, "worker1", "on")
	w.mended(t, nil)
}

// TestFixLeaf: the certificate of the controller manager has expired, and its operator does not
// see that. Marked, library-go's rotation issues it again, and the real controller manager leads
// with it. The sync of the certificate to the hosts is simulated.
func TestFixLeaf(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("two minutes; in .ci/run full")
	}
	w := up(t, "controller-manager-certificate-expired", true)
	w.fix(t, fixed{fault: "control-plane-crash-certificates", at: "@host/control0", flags: []string{"--leaf", "openshift-config-managed/kube-controller-manager-client-cert-key"}, undo: 5})
	w.mended(t, nil)
	w.nowhere(t, "PRIVATE KEY")
}
