package repair

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const bmcPassword = "bmcPassword-hunter2-password"

// putRig is a cluster in which a Secret is missing or wrong.
func putRig(t *testing.T, remedy string) *changeRig {
	host := bareMetalHostRef("worker-1")
	c := changeCase{remedy: remedy, subject: fault.Subject{Kind: fault.Host, Name: "worker-1.example.com"}, object: host,
		content: bareMetalHost(nil, map[string]any{"online": true, "bmc": map[string]any{"credentialsName": "worker-1-bmc", "address": "redfish://192.0.2.7/x"}},
			map[string]any{"errorType": "registration error", "provisioning": map[string]any{"state": "registering"}}),
		broken: func(o Object) bool { return stringAt(o, "status", "errorType") != "" }}
	leaf := secretRef(openshift.MachineConfigNamespace, openshift.MCSCertificate)
	if remedy == mcsCertificate {
		c.subject, c.object = fault.Subject{Kind: fault.Cluster}, podRef(openshift.MachineConfigNamespace, "machine-config-server-a")
		c.content = serverPod
		c.broken = func(Object) bool { return false }
	}
	r := newChangeRig(t, c)
	if remedy == mcsCertificate {
		r.c.broken = func(Object) bool { return r.objects[keyOf(leaf)] == nil }
		r.put(infrastructureRef(), Object{"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "status": map[string]any{
			"apiServerInternalURI": "https://api-int.c.example.com:6443",
			"platformStatus":       map[string]any{"baremetal": map[string]any{"apiServerInternalIPs": []any{"192.0.2.5"}}}}})
	}
	r.exec.Clock = follower{r, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.still {
			return
		}
		if s := r.objects[keyOf(secretRef(openshift.MachineAPINamespace, "worker-1-bmc"))]; s != nil && remedy == bmcCredentials {
			pass, _ := base64.StdEncoding.DecodeString(stringAt(s, "data", "password"))
			if string(pass) == bmcPassword {
				r.edit(host, "metal3", func(o Object) {
					o["status"] = map[string]any{"provisioning": map[string]any{"state": "available"},
						"goodCredentials": map[string]any{"credentialsVersion": stringAt(s, "metadata", "resourceVersion")}}
				})
			}
		}
		if remedy == mcsCertificate && r.objects[keyOf(c.object)] == nil {
			r.put(podRef(openshift.MachineConfigNamespace, "machine-config-server-b"), serverPod())
		}
	}}
	return r
}

// follower lets a controller work while somebody waits.
type follower struct {
	*changeRig
	work func()
}

func (f follower) Now() time.Time { return clock{f.world}.Now() }

func (f follower) Sleep(ctx context.Context, d time.Duration) error {
	err := clock{f.world}.Sleep(ctx, d)
	f.work()
	return err
}

func serverPod() Object {
	return clone(Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"labels": map[string]any{"k8s-app": "machine-config-server"}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
}

func (r *changeRig) putPlan(t *testing.T, ask Ask) (*Plan, error) {
	t.Helper()
	d, err := r.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask.Diagnosis, ask.Catalog, ask.Root, ask.Context = d, r.exec.Catalog, r.key(), "admin"
	ask.Cluster = ClusterID{ID: "the-cluster", Server: "https://api:6443", CA: "ca"}
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Key: testKey}).Plan(t.Context(), ask)
	if err == nil {
		_, err = p.Issue(r.dir, ".yaml")
	}
	return p, err
}

// testKeys are made once for all tests: a key takes long to make. Those of plans are used
// in turn, so that a CA and its certificate have different ones.
var testKeys = sync.OnceValues(func() (keys [4]*rsa.PrivateKey, err error) {
	for i := range keys {
		if keys[i], err = newKey(); err != nil {
			return keys, err
		}
	}
	return keys, nil
})

var keysGiven atomic.Int64

func testKey() (*rsa.PrivateKey, error) {
	keys, err := testKeys()
	return keys[int(keysGiven.Add(1))%len(keys)], err
}

// oneAuthority is the same for all clusters of the tests. Its key is its own.
var oneAuthority = sync.OnceValues(func() (pair, error) { return newCA(newKey, time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)) })

func (r *changeRig) withAuthority(t *testing.T) pair {
	t.Helper()
	ca, err := oneAuthority()
	if err != nil {
		t.Fatal(err)
	}
	r.trusts(t, ca)
	return ca
}

// trusts gives the cluster a CA of the machine config server.
func (r *changeRig) trusts(t *testing.T, ca pair) {
	t.Helper()
	r.put(secretRef(openshift.MachineConfigNamespace, openshift.MCSCA), newContent(t, "secrets", map[string]string{"tls.crt": ca.cert, "tls.key": ca.key}))
	r.put(Ref{Version: "v1", Resource: "configmaps", Namespace: openshift.MachineConfigNamespace, Name: openshift.MCSCA}, newContent(t, "configmaps",
		map[string]string{"ca-bundle.crt": ca.cert}))
}

func newContent(t *testing.T, resource string, data map[string]string) Object {
	t.Helper()
	return clone(content{Data: data}.object(Ref{Resource: resource}, ""))
}

var (
	bmcAsk = Ask{BMC: &Credentials{User: "admin", Password: bmcPassword}}
	noAsk  = Ask{}
)

// leaks lists the places below the state directory, outside of the store, that hold a secret.
func (r *changeRig) leaks(t *testing.T) (found []string) {
	t.Helper()
	look := func(where, text string) {
		for _, s := range []string{bmcPassword, base64.StdEncoding.EncodeToString([]byte(bmcPassword)), "RSA PRIVATE KEY",
			base64.StdEncoding.EncodeToString([]byte("-----BEGIN RSA PRIVATE"))[:20]} {
			if strings.Contains(text, s) {
				found = append(found, where)
			}
		}
	}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, storeDir) {
			return err
		}
		raw, err := os.ReadFile(path)
		look(path, string(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	look("what was said", strings.Join(r.said, "\n"))
	for key, o := range r.objects {
		if strings.Contains(key, "/configmaps/") {
			look(key, fmt.Sprint(o))
		}
	}
	return found
}

// The credentials of a BMC are created or changed, taken by metal3, undone; they are nowhere
// but in the store and the cluster.
func TestBMCCredentials(t *testing.T) {
	ref := secretRef(openshift.MachineAPINamespace, "worker-1-bmc")
	for _, exists := range []bool{false, true} {
		r := putRig(t, bmcCredentials)
		if exists {
			r.put(ref, newContent(t, "secrets", map[string]string{"username": "root", "password": "old"}))
		}
		p, err := r.putPlan(t, bmcAsk)
		if err != nil || fmt.Sprint(actionNames(p)) != "[put-content verify]" {
			t.Fatalf("Plan: %v, %v", err, p)
		}
		o, err := r.exec.Apply(t.Context(), p)
		if err != nil || o.State != Repaired {
			t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
		}
		if l := r.leaks(t); len(l) > 0 {
			t.Errorf("a secret is in %v", l)
		}
		r.still = true
		if _, err := r.exec.Undo(t.Context(), p.ID); err != nil {
			t.Fatalf("Undo: %v", err)
		}
		if got := r.get(ref); exists != (got != nil) || exists && stringAt(got, "data", "password") != base64.StdEncoding.EncodeToString([]byte("old")) {
			t.Errorf("exists %t, undone: %v", exists, got)
		}
	}
	r := putRig(t, bmcCredentials)
	if _, err := r.putPlan(t, noAsk); !errors.Is(err, ErrNothingToDo) || !strings.Contains(err.Error(), "--bmc-user") {
		t.Errorf("without credentials: %v", err)
	}
}

// The certificate of the machine config server is issued by the CA of the cluster;
// without one only when asked for; a kept copy only where hosts would accept it.
func TestServerCertificate(t *testing.T) {
	r := putRig(t, mcsCertificate)
	ca := r.withAuthority(t)
	p, err := r.putPlan(t, noAsk)
	if err != nil || fmt.Sprint(actionNames(p)) != "[put-content restart-server verify]" {
		t.Fatalf("Plan: %v, %v", err, p)
	}
	o, err := r.exec.Apply(t.Context(), p)
	if err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
	}
	names := []string{"api-int.c.example.com", "192.0.2.5"}
	made := r.get(secretRef(openshift.MachineConfigNamespace, openshift.MCSCertificate))
	if err := pairOf(made).checkServer(names, ca.cert, r.exec.Clock.Now()); err != nil || stringAt(made, "type") != "kubernetes.io/tls" {
		t.Errorf("the certificate: %v", err)
	}
	if l := r.leaks(t); len(l) > 0 {
		t.Errorf("a secret is in %v", l)
	}
	other := putRig(t, mcsCertificate)
	stranger, err := newCA(newKey, r.exec.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	other.trusts(t, stranger)
	kept := []byte(fmt.Sprintf("kind: Secret\ndata: {tls.crt: %s, tls.key: %s}\n", stringAt(made, "data", "tls.crt"), stringAt(made, "data", "tls.key")))
	if _, err := other.putPlan(t, Ask{MCS: CertificateAsk{Kept: kept}}); !errors.Is(err, ErrNothingToDo) || !strings.Contains(err.Error(),
		"not accepted with the CA") {
		t.Errorf("a copy of another authority: %v", err)
	}
	none := putRig(t, mcsCertificate)
	none.put(Ref{Version: "v1", Resource: "configmaps", Namespace: "kube-system", Name: "root-ca"}, newContent(t, "configmaps",
		map[string]string{"ca.crt": ca.cert}))
	if p, err := none.putPlan(t, Ask{MCS: CertificateAsk{Kept: kept}}); err != nil || !strings.Contains(strings.Join(p.Notes, " "),
		"every saved pointer stays valid") {
		t.Errorf("a copy that fits: %v", err)
	}
	if _, err := none.putPlan(t, noAsk); !errors.Is(err, ErrNothingToDo) || !strings.Contains(err.Error(), "--new-mcs-authority") {
		t.Errorf("no authority, and none asked for: %v", err)
	}
	none.put(secretRef(openshift.MachineAPINamespace, "worker-user-data"), newContent(t, "secrets",
		map[string]string{"userData": `{"ignition":{"version":"3.2.0","security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}}}}`}))
	none.put(secretRef(openshift.MachineAPINamespace, "blue-user-data"), newContent(t, "secrets", map[string]string{"userData": "#cloud-config"}))
	p, err = none.putPlan(t, Ask{MCS: CertificateAsk{NewCA: true}})
	if err != nil || fmt.Sprint(actionNames(p)) != "[put-content put-content put-content put-content restart-server verify]" ||
		!strings.Contains(strings.Join(p.Notes, " "), "blue-user-data") {
		t.Fatalf("a new authority: %v, %v", err, p)
	}
	if o, err := none.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(none.said, "\n"))
	}
	for _, w := range append(r.writes, none.writes...) {
		if strings.HasPrefix(w, "delete") && !strings.HasPrefix(w, "delete pods/") || strings.Contains(w, "root-ca") {
			t.Errorf("written: %s", w)
		}
	}
}

// TestRestartNotReady: a server on a node that is not Ready is neither restarted nor waited
// for, and the plan shows it; the same where the node is lost after the plan was made.
func TestRestartNotReady(t *testing.T) {
	far := podRef(openshift.MachineConfigNamespace, "machine-config-server-far")
	make := func(ready string) *changeRig {
		r := putRig(t, mcsCertificate)
		r.withAuthority(t)
		r.put(nodeRef("control2"), readyNode(ready))
		pod := serverPod()
		pod["spec"] = map[string]any{"nodeName": "control2"}
		pod["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["status"] = ready
		r.put(far, pod)
		return r
	}
	r := make("Unknown")
	p, err := r.putPlan(t, noAsk)
	if err != nil || fmt.Sprint(actionNames(p)) != "[put-content restart-server verify]" || !strings.Contains(strings.Join(p.Notes, " "),
		"control2 is not Ready") {
		t.Fatalf("Plan: %v, %v", err, p)
	}
	if o, err := r.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
	}
	late := make("True")
	if p, err = late.putPlan(t, noAsk); err != nil || fmt.Sprint(actionNames(p)) != "[put-content restart-server restart-server verify]" {
		t.Fatalf("Plan: %v, %v", err, p)
	}
	late.put(nodeRef("control2"), readyNode("Unknown"))
	lost := late.get(far)
	lost["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["status"] = "False"
	late.put(far, lost)
	if o, err := late.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(late.said, "\n"))
	}
	for _, w := range append(r.writes, late.writes...) {
		if strings.Contains(w, far.Name) {
			t.Errorf("written: %s", w)
		}
	}
}

func readyNode(status string) Object {
	return clone(Object{"apiVersion": "v1", "kind": "Node", "status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status}}}})
}
