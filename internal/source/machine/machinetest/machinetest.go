// Package machinetest makes machines for tests: a directory in the layout of RHCOS and
// the output of the programs that run there.
package machinetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Now is the time of every machine.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Planted are secrets of the machine. None of them may appear anywhere.
const (
	PlantedToken  = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJub2RlLWJvb3RzdHJhcHBlciJ9.cGxhbnRlZA"
	PlantedPull   = "cGxhbnRlZDpwdWxsc2VjcmV0"
	PlantedConfig = "planted-content-of-a-config"
)

// Machine is one machine in a directory.
type Machine struct {
	Root     string
	Commands Commands
	Key      []byte // the kubelet's private key, PEM
	CA       []byte // the CA of the API, PEM
	t        testing.TB
	caKey    *ecdsa.PrivateKey
	caCert   *x509.Certificate
}

// New makes a healthy control-plane machine named m1 that runs: its /proc is that of
// this boot.
func New(t testing.TB) *Machine {
	t.Helper()
	m := &Machine{Root: t.TempDir(), Commands: Commands{}, t: t}
	m.authority()
	m.Put("/etc/hostname", "m1\n")
	m.Put("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")
	m.Put("/etc/resolv.conf", "search lark.example.com\nnameserver 192.0.2.53\n")
	m.Put("/etc/hosts", "127.0.0.1 localhost\n192.0.2.5 api-int.lark.example.com\n")
	m.Put("/etc/kubernetes/ca.crt", string(m.CA))
	m.Put("/etc/kubernetes/kubelet-ca.crt", string(m.CA))
	m.Put("/etc/kubernetes/kubeconfig", m.Kubeconfig("https://api-int.lark.example.com:6443", "token: "+PlantedToken))
	m.Put("/var/lib/kubelet/kubeconfig", m.Kubeconfig("https://api-int.lark.example.com:6443",
		"client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem\n    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem"))
	m.Put("/var/lib/kubelet/config.json", `{"auths":{"quay.example.com":{"auth":"`+PlantedPull+`"}}}`)
	m.Certificate("system:node:m1", "system:nodes", Now.Add(-4*time.Hour), Now.Add(20*time.Hour))
	m.Put("/etc/ignition-machine-config-encapsulated.json.bak", `{}`)
	m.Put("/etc/mcs-machine-config-content.json", machineConfig("rendered-master-1"))
	m.Put("/etc/machine-config-daemon/currentconfig", machineConfig("rendered-master-1"))
	m.Put("/etc/machine-config-daemon/node-annotation.json.bak", `{}`)
	m.Put("/etc/kubernetes/manifests/etcd-pod.yaml", "metadata: {name: etcd, namespace: openshift-etcd}\nspec: {containers: [{name: etcd}]}\n")
	m.Put("/etc/kubernetes/manifests/coredns.yaml", "metadata: {name: coredns, namespace: openshift-kni-infra}\nspec: {containers: [{name: coredns}]}\n")
	m.running()
	m.commands()
	return m
}

// running makes the directory look like the root of the machine that runs the test.
func (m *Machine) running() {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		m.t.Skipf("no /proc to imitate: %v", err)
	}
	m.Put("/proc/sys/kernel/random/boot_id", string(id))
	m.Put("/proc/cmdline", "BOOT_IMAGE=(hd0,gpt3)/ostree/rhcos-1/vmlinuz ostree=/ostree/boot.1/rhcos/1/0 rw\n")
	m.Link("/sysroot/ostree", "../ostree")
	m.Link("/ostree/boot.1/rhcos/1/0", "../../../deploy/rhcos/deploy/0f0f.0")
	m.Put("/ostree/deploy/rhcos/deploy/0f0f.0/usr/lib/os-release", "ID=rhcos\n")
	m.Put("/ostree/deploy/rhcos/deploy/0f0f.0.origin", "[origin]\ncontainer-image-reference=ostree-unverified-registry:"+Image+"\n")
	m.Put("/proc/1/mountinfo", "20 1 8:4 / / ro,relatime shared:1 - xfs /dev/sda4 rw\n21 20 8:4 /ostree/deploy/rhcos/var /var rw,relatime shared:2 - "+
		"xfs /dev/sda4 rw\n22 20 8:4 /ostree/etc /etc rw,relatime shared:3 - xfs /dev/sda4 rw\n")
	m.Link("/sys/dev/block/8:4", "../../devices/pci0/block/sda/sda4")
	m.Put("/sys/devices/pci0/block/sda/sda4/partition", "4\n")
	m.Put("/sys/devices/pci0/block/sda/queue/rotational", "0\n")
	m.Put("/sys/devices/pci0/block/sda/device/model", "NVMe 1T\n")
	m.Put("/sys/devices/pci0/block/sda/device/vendor", "ACME\n")
	m.Put("/sys/class/rtc/rtc0/since_epoch", fmt.Sprintf("%d\n", Now.Unix()))
	m.Put("/var/lib/etcd/member/wal/0.wal", "x")
	for _, ns := range []string{"net"} {
		if to, err := os.Readlink("/proc/self/ns/" + ns); err == nil {
			m.Link("/proc/1/ns/"+ns, to)
		}
	}
}

// Image is what the machine booted.
var Image = "quay.example.com/os@sha256:" + strings.Repeat("ab", 32)

// machineConfig is a rendered config in a file, with secrets in it.
func machineConfig(name string) string {
	return fmt.Sprintf(`{"kind":"MachineConfig","metadata":{"name":%q},"spec":{"osImageURL":%q,`+
		`"config":{"storage":{"files":[{"path":"/x","contents":{"source":"data:,%s"}}]}}}}`, name, Image, PlantedConfig)
}

func (m *Machine) commands() {
	m.Commands["/usr/bin/systemctl"] = Units(map[string]string{
		"kubelet.service": "active running", "crio.service": "active running", "chronyd.service": "active running",
		"machine-config-daemon-firstboot.service": "inactive dead",
	})
	m.Commands["/usr/bin/chronyc tracking"] = "C0000278,192.0.2.120,3,1772366380.1,0.000013000,0.000005,0.000012,1.1,0.0,0.01,0.002,0.0005,64.2,Normal\n"
	m.Commands["/usr/bin/chronyc sources"] = "^,*,192.0.2.120,2,6,377,35,0.000001,0.000001,0.0003\n^,-,192.0.2.121,2,6,377,35,0.000001,0.000001,0.0003\n"
	m.Commands["/usr/bin/crictl"] = Containers("openshift-etcd etcd-m1 etcd RUNNING", "openshift-kni-infra coredns-m1 coredns RUNNING")
	m.Commands["/usr/bin/journalctl"] = Journal(
		Entry("kubelet.service", "kubenswrapper", Now.Add(-time.Minute),
			`I0301 11:59:00.000001    3100 bootstrap.go:101] "Current kubeconfig file contents are still valid, no bootstrap necessary"`),
	)
}

// Units is what systemctl prints of units: name -> "ACTIVE SUB [more properties]".
func Units(states map[string]string) string {
	var b strings.Builder
	for name, s := range states {
		f := strings.Fields(s)
		fmt.Fprintf(&b, "Id=%s\nLoadState=loaded\nActiveState=%s\nSubState=%s\nResult=success\nUnitFileState=enabled\nConditionResult=yes\n"+
			"NRestarts=0\nExecMainStatus=0\nStateChangeTimestamp=Sun 2026-03-01 08:10:00 UTC\n%s\n\n",
			name, f[0], f[1], strings.Join(f[2:], "\n"))
	}
	return b.String()
}

// Containers is what crictl prints: "NAMESPACE POD CONTAINER STATE".
func Containers(list ...string) string {
	var rows []string
	for _, c := range list {
		f := strings.Fields(c)
		rows = append(rows, fmt.Sprintf(`{"metadata":{"name":%q,"attempt":2},"state":"CONTAINER_%s","createdAt":"%d",`+
			`"labels":{"io.kubernetes.pod.namespace":%q,"io.kubernetes.pod.name":%q}}`,
			f[2], f[3], Now.Add(-2*time.Hour).UnixNano(), f[0], f[1]))
	}
	return `{"containers":[` + strings.Join(rows, ",") + `]}`
}

// Entry is one entry of a journal in export format.
func Entry(unit, identifier string, at time.Time, message string) string {
	e := fmt.Sprintf("__REALTIME_TIMESTAMP=%d\n_HOSTNAME=m1\nSYSLOG_IDENTIFIER=%s\n_SYSTEMD_UNIT=%s\n_PID=3100\n", at.UnixMicro(), identifier, unit)
	if !strings.Contains(message, "\n") {
		return e + "MESSAGE=" + message + "\n\n"
	}
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(len(message)))
	return e + "MESSAGE\n" + string(size[:]) + message + "\n\n"
}

// Journal joins entries.
func Journal(entries ...string) string { return strings.Join(entries, "") }

// Put writes a file of the machine.
func (m *Machine) Put(name, content string) {
	m.t.Helper()
	p := filepath.Join(m.Root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chtimes(p, Now.Add(-3*time.Hour), Now.Add(-3*time.Hour)); err != nil {
		m.t.Fatal(err)
	}
}

// Link makes a link of the machine.
func (m *Machine) Link(name, to string) {
	m.t.Helper()
	p := filepath.Join(m.Root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		m.t.Fatal(err)
	}
	_ = os.Remove(p) // a link that a test replaces
	if err := os.Symlink(to, p); err != nil {
		m.t.Fatal(err)
	}
}

// Remove removes a file or directory of the machine.
func (m *Machine) Remove(names ...string) {
	m.t.Helper()
	for _, n := range names {
		if err := os.RemoveAll(filepath.Join(m.Root, n)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// Copy turns the machine into a copy of its files: nothing of it runs here.
func (m *Machine) Copy() { m.Remove("/proc", "/sys") }

// Kubeconfig is a kubeconfig with one user.
func (m *Machine) Kubeconfig(server, user string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: local
  cluster:
    server: %s
    certificate-authority-data: %s
contexts:
- name: kubelet
  context: {cluster: local, user: kubelet}
current-context: kubelet
users:
- name: kubelet
  user:
    %s
`, server, base64.StdEncoding.EncodeToString(m.CA), user)
}

func (m *Machine) authority() {
	m.t.Helper()
	var err error
	if m.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		m.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "kube-apiserver-lb-signer"},
		NotBefore:             Now.Add(-5 * time.Hour),
		NotAfter:              Now.AddDate(10, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &m.caKey.PublicKey, m.caKey)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.caCert, err = x509.ParseCertificate(der); err != nil {
		m.t.Fatal(err)
	}
	m.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Certificate gives the kubelet a client certificate, as its store lays it out: a
// dated file and an absolute link.
func (m *Machine) Certificate(name, organization string, from, to time.Time) {
	m.t.Helper()
	cert, key := m.Issue(name, organization, from, to)
	m.Key = key
	const dir = "/var/lib/kubelet/pki/"
	m.Put(dir+"kubelet-client-2026-03-01-08-06-00.pem", string(cert)+string(key))
	m.Link(dir+"kubelet-client-current.pem", dir+"kubelet-client-2026-03-01-08-06-00.pem")
}

// Issue makes a certificate and its key.
func (m *Machine) Issue(name, organization string, from, to time.Time) (cert, key []byte) {
	m.t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		m.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: name, Organization: []string{organization}},
		NotBefore:    from,
		NotAfter:     to,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, m.caCert, &k.PublicKey, m.caKey)
	if err != nil {
		m.t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		m.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
}

// Commands answer programs with what is kept under their name, or under the name and
// one word of their arguments. It implements host.Runner.
type Commands map[string]string

// Start implements host.Runner.
func (c Commands) Start(ctx context.Context, program string, args ...string) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, a := range args {
		if out, ok := c[program+" "+a]; ok {
			return io.NopCloser(bytes.NewReader([]byte(out))), nil
		}
	}
	if out, ok := c[program]; ok {
		return io.NopCloser(bytes.NewReader([]byte(out))), nil
	}
	return nil, &fs.PathError{Op: "fork/exec", Path: program, Err: fs.ErrNotExist}
}
