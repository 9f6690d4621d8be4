package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

const hostAddObjects = `
- resource: provisionings
  object: {apiVersion: metal3.io/v1alpha1, kind: Provisioning, metadata: {name: provisioning-configuration}, spec: {provisioningNetwork: Disabled}}
- resource: deployments
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: metal3, namespace: openshift-machine-api}, status: {availableReplicas: 1}}
- resource: deployments
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: machine-approver, namespace: openshift-cluster-machine-approver}, status: {availableReplicas: 1}}
- resource: machinesets
  object:
    apiVersion: machine.openshift.io/v1beta1
    kind: MachineSet
    metadata: {name: lark-x7k2p-worker-0, namespace: openshift-machine-api, generation: 1}
    spec:
      replicas: 2
      selector: {matchLabels: {set: lark}}
      template:
        metadata: {labels: {set: lark, machine.openshift.io/cluster-api-machine-role: worker}}
        spec: {providerSpec: {value: {kind: BareMetalMachineProviderSpec, hostSelector: {}, userData: {name: worker-user-data-managed}}}}
`

// metalCluster is a cluster with metal3. What is created in it happens at once: a host becomes available, and a Machine
// of a MachineSet that is scaled takes it, up to a Ready Node.
type metalCluster struct {
	*clitest.Cluster
	dir, kubeconfig string
	bodies          []string // of writes
	noNode          bool
	served          clitest.Object // the request of the kubelet for its serving certificate, issued
}

func newMetalCluster(t *testing.T) *metalCluster {
	t.Helper()
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	m := &metalCluster{Cluster: cluster, dir: t.TempDir(), served: servingRequest(t, "w3")}
	var list []struct {
		Resource string
		Object   clitest.Object
	}
	if err := yaml.Unmarshal([]byte(hostAddObjects), &list); err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		m.Put(x.Resource, x.Object)
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.kubeconfig = filepath.Join(m.dir, "kubeconfig")
	if err := clitest.WriteKubeconfig(m.kubeconfig, server.URL); err != nil {
		t.Fatal(err)
	}
	return m
}

// servingRequest is a request for a serving certificate that was approved and issued.
func servingRequest(t *testing.T, node string) clitest.Object {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	subject := pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject, DNSNames: []string{node}}, key)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotBefore: clitest.Now.Add(-time.Hour), NotAfter: clitest.Now.Add(24 * time.Hour)}
	issued, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, raw []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
	}
	return clitest.Object{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
		"metadata": clitest.Object{"name": "csr-serving", "creationTimestamp": "2026-03-01T12:00:30Z"},
		"spec": clitest.Object{"signerName": "kubernetes.io/kubelet-serving", "username": "system:node:" + node, "groups": []any{"system:nodes", "system:authenticated"},
			"usages": []any{"digital signature", "server auth"}, "request": encode("CERTIFICATE REQUEST", request)},
		"status": clitest.Object{"certificate": encode("CERTIFICATE", issued), "conditions": []any{clitest.Object{"type": "Approved", "status": "True",
			"reason": "NodeCSRApprove", "lastTransitionTime": "2026-03-01T12:00:30Z"}}}}
}

func (m *metalCluster) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	path := clitest.ParseAPIPath(q.URL.Path)
	if q.URL.Query().Get("watch") != "" { // nothing happens
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
		return
	}
	if q.Method != http.MethodGet {
		body, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		m.bodies = append(m.bodies, string(body))
	}
	m.Cluster.ServeHTTP(w, q)
	if q.Method == http.MethodGet || q.URL.Query().Get("dryRun") != "" {
		return
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	host := m.Objects["baremetalhosts/openshift-machine-api/w3"]
	switch {
	case q.Method == http.MethodPost && path.Resource == "baremetalhosts":
		host["status"] = clitest.Object{"operationalStatus": "OK", "poweredOn": true, "provisioning": clitest.Object{"state": "available"},
			"hardware": clitest.Object{"hostname": "w3", "nics": []any{clitest.Object{"ip": "192.0.2.33", "mac": "52:54:00:bb:00:33", "name": "enp1s0"}}}}
	case q.Method == http.MethodPatch && path.Resource == "machinesets" && host != nil && !strings.Contains(m.bodies[len(m.bodies)-1], `"value":2`):
		m.join(host)
	case q.Method == http.MethodPatch && path.Resource == "machinesets":
		delete(m.Objects, "machines/openshift-machine-api/lark-x7k2p-worker-0-new")
		delete(host["spec"].(clitest.Object), "consumerRef")
		m.Put("baremetalhosts", host)
	}
}

func (m *metalCluster) join(host clitest.Object) {
	const machine = "lark-x7k2p-worker-0-new"
	uid, _ := host["metadata"].(clitest.Object)["uid"].(string)
	id := "baremetalhost:///openshift-machine-api/w3/" + uid
	host["spec"].(clitest.Object)["consumerRef"] = clitest.Object{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "name": machine,
		"namespace": "openshift-machine-api"}
	host["status"].(clitest.Object)["provisioning"] = clitest.Object{"state": "provisioned"}
	m.Put("baremetalhosts", host)
	made := clitest.Clone(m.Objects["machines/openshift-machine-api/lark-x7k2p-worker-0"])
	made["metadata"] = clitest.Object{"name": machine, "namespace": "openshift-machine-api", "creationTimestamp": "2026-03-01T12:00:30Z",
		"annotations": clitest.Object{"metal3.io/BareMetalHost": "openshift-machine-api/w3"},
		"labels":      clitest.Object{"set": "lark", "machine.openshift.io/cluster-api-machine-role": "worker", "machine.openshift.io/cluster-api-machine-type": "worker"}}
	made["spec"] = clitest.Object{"providerID": id}
	made["status"] = clitest.Object{"phase": "Provisioned"}
	if !m.noNode {
		made["status"] = clitest.Object{"phase": "Running", "nodeRef": clitest.Object{"kind": "Node", "name": "w3"}, "addresses": []any{
			clitest.Object{"address": "192.0.2.33", "type": "InternalIP"}, clitest.Object{"address": "w3", "type": "Hostname"},
			clitest.Object{"address": "w3", "type": "InternalDNS"}}}
		node := clitest.Clone(m.Objects["nodes//w0"])
		meta := node["metadata"].(clitest.Object)
		meta["name"], meta["uid"], meta["creationTimestamp"] = "w3", "33333333-0000-4000-8000-fedcba987654", "2026-03-01T12:00:30Z"
		meta["labels"].(clitest.Object)["kubernetes.io/hostname"] = "w3"
		meta["annotations"].(clitest.Object)["machine.openshift.io/machine"] = "openshift-machine-api/" + machine
		node["spec"] = clitest.Object{"providerID": id}
		node["status"].(clitest.Object)["addresses"] = []any{clitest.Object{"address": "192.0.2.33", "type": "InternalIP"},
			clitest.Object{"address": "w3", "type": "Hostname"}}
		m.Put("nodes", node)
		m.Put("certificatesigningrequests", m.served)
	}
	m.Put("machines", made)
}

const (
	bmcUser     = "PLANTEDoperator"
	bmcPassword = "PLANTEDhunter2-of-the-bmc"
)

func (m *metalCluster) run(t *testing.T, args ...string) (out string, code cmdutil.ExitCode) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"rollcall", "host", args[0], "--kubeconfig", m.kubeconfig, "--state-dir", filepath.Join(m.dir, "state")}, args[1:]...)
	if args[2] == "list" {
		args = slices.Delete(args, 3, 5)
	}
	env := map[string]string{"ROLLCALL_BMC_USERNAME": bmcUser, "ROLLCALL_BMC_PASSWORD": bmcPassword, "HOME": m.dir}
	code = Main(t.Context(), args, cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(name string) string { return env[name] }, Clock: func() time.Time { return clitest.Now }})
	all := stdout.String() + stderr.String()
	if strings.Contains(all, "PLANTED") {
		t.Errorf("the credentials are on the screen:\n%s", all)
	}
	return all, code
}

var addW3 = []string{"add", "w3", "--bmc", "redfish-virtualmedia://198.51.100.33/redfish/v1/Systems/1", "--boot-mac", "52:54:00:bb:00:33"}

func TestHostAddPlan(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		change func(*metalCluster)
		code   cmdutil.ExitCode
		want   []string
	}{
		{"the plan", []string{"--dry-run=server", "--ip", "192.0.2.33"}, nil, cmdutil.ExitOK, []string{"BareMetalHost w3 in openshift-machine-api, of a cluster of version 4.20.6",
			"Secret w3-bmc-secret with user and password of the BMC, which are shown nowhere", "MachineSet lark-x7k2p-worker-0 from 2 to 3",
			"192.0.2.33 is the address of no Node", "would accept it (dry run): BareMetalHost w3", "with 3 replicas", "spec.bootMACAddress 52:54:00:bb:00:33"}},
		{"the name is taken", nil, func(m *metalCluster) {
			m.Put("baremetalhosts", clitest.Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": clitest.Object{"name": "w3", "namespace": "openshift-machine-api"}})
		}, cmdutil.ExitFault, []string{"BareMetalHost w3 exists", "Nothing was changed"}},
		{"no terminal", nil, nil, cmdutil.ExitFailed, []string{"nothing was done: there is no terminal to ask at; add --yes"}},
		{"no metal3", nil, func(m *metalCluster) { delete(m.Objects, "provisionings//provisioning-configuration") }, cmdutil.ExitFault,
			[]string{"cannot be given a host by a BareMetalHost", "Rollcall does not do the steps below for you",
				"oc adm node-image create --mac-address=52:54:00:bb:00:33 --hostname=w3 --dir=w3", "node-image monitor --ip-addresses IP",
				"csr approve CSR --expect w3=IP --booted-after 30m"}},
		{"no metal3 before 4.17", []string{"--root-device-hint", "deviceName=/dev/vda"}, func(m *metalCluster) {
			delete(m.Objects, "provisionings//provisioning-configuration")
			m.Objects["clusterversions//version"]["status"].(clitest.Object)["desired"] = clitest.Object{"version": "4.14.9"}
		}, cmdutil.ExitFault, []string{"secret/worker-user-data-managed --keys=userData", "coreos-installer install /dev/vda --ignition-file worker.ign"}},
		{"manifest with a stop", []string{"--dry-run=server", "-o", "yaml", "--boot-mac", "52:54:00:bb:00:00"}, nil, cmdutil.ExitFault, []string{"is that of BareMetalHost w0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMetalCluster(t)
			if tt.change != nil {
				tt.change(m)
			}
			out, code := m.run(t, append(slices.Clone(addW3), tt.args...)...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(oneLine(out), want) {
					t.Errorf("want %q\n%s", want, out)
				}
			}
			if len(m.Written) > 0 {
				t.Errorf("something was written: %v", m.Written)
			}
			if _, err := os.Stat(filepath.Join(m.dir, "state")); err == nil {
				t.Error("a journal was begun")
			}
		})
	}
}

// TestHostAdd: from nothing to the Ready Node, whose host can then not be rolled back.
func TestHostAdd(t *testing.T) {
	m := newMetalCluster(t)
	out, code := m.run(t, append(slices.Clone(addW3), "--yes", "--timeout", "1m")...)
	for _, want := range []string{"Secret w3-bmc-secret made", "BareMetalHost w3 made", "available: the host can be taken by a Machine", "is scaled from 2 to 3",
		"Machine lark-x7k2p-worker-0-new has taken the host", "Node w3 is Ready", "Host w3 is Node w3 and Ready", "watch node/w3 --until joined --smoke-pod"} {
		if !strings.Contains(oneLine(out), want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() || code != cmdutil.ExitOK {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if want := []string{"POST secrets/", "POST baremetalhosts/", "PATCH machinesets/lark-x7k2p-worker-0"}; !slices.Equal(m.Written, want) {
		t.Errorf("written: %v", m.Written)
	}
	run := oneLine(out)[strings.Index(oneLine(out), "Run h-")+4:][:12]
	if out, code := m.run(t, "list"); code != cmdutil.ExitOK || !strings.Contains(out, run) || !strings.Contains(out, "joined as Node w3") {
		t.Errorf("list: %d %s", code, out)
	}
	if out, code := m.run(t, "rollback", run, "--timeout", "5s"); code != cmdutil.ExitFault || !strings.Contains(out, "Nothing was taken away") ||
		!strings.Contains(oneLine(out), "annotate machine lark-x7k2p-worker-0-new machine.openshift.io/delete-machine=true") {
		t.Errorf("rollback: %d %s", code, out)
	}
	if out, code := m.run(t, "resume", run); code != cmdutil.ExitOK || !strings.Contains(out, "Host w3 is Node w3") {
		t.Errorf("resume: %d %s", code, out)
	}
	m.Objects["clusterversions//version"]["spec"].(clitest.Object)["clusterID"] = "another"
	if out, code := m.run(t, "resume", run); code != cmdutil.ExitFailed || !strings.Contains(out, "and this is another") {
		t.Errorf("another cluster: %d %s", code, out)
	}
}

// TestHostAddLate: a host that does not join in time is rolled back.
func TestHostAddLate(t *testing.T) {
	m := newMetalCluster(t)
	m.noNode = true
	out, code := m.run(t, append(slices.Clone(addW3), "--yes", "--timeout", "3s")...)
	if code != cmdutil.ExitUndecided || !strings.Contains(out, "not ready in time: its Node is not Ready") || !strings.Contains(out, "host rollback h-") {
		t.Fatalf("%d\n%s", code, out)
	}
	run := oneLine(out)[strings.Index(oneLine(out), "Run h-")+4:][:12]
	if out, code := m.run(t, "rollback", run, "--timeout", "1m"); code != cmdutil.ExitOK || !strings.Contains(out, "what it made is taken away") {
		t.Fatalf("rollback: %d\n%s", code, out)
	}
	for _, key := range []string{"baremetalhosts/openshift-machine-api/w3", "secrets/openshift-machine-api/w3-bmc-secret",
		"machines/openshift-machine-api/lark-x7k2p-worker-0-new"} {
		if m.Objects[key] != nil {
			t.Errorf("%s is left", key)
		}
	}
	if out, code := m.run(t, "resume", run); code != cmdutil.ExitFailed || !strings.Contains(out, "is being rolled back") {
		t.Errorf("resume: %d %s", code, out)
	}
}

// TestHostAddNoScale ends with a host that is available.
func TestHostAddNoScale(t *testing.T) {
	m := newMetalCluster(t)
	out, code := m.run(t, append(slices.Clone(addW3), "--yes", "--no-scale", "--timeout", "1m")...)
	if code != cmdutil.ExitOK || !strings.Contains(oneLine(out), "Host w3 is available. No Machine has been asked for") {
		t.Errorf("%d\n%s", code, out)
	}
	if want := []string{"POST secrets/", "POST baremetalhosts/"}; !slices.Equal(m.Written, want) {
		t.Errorf("written: %v", m.Written)
	}
}
