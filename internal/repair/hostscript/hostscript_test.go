package hostscript

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sandbox is the root directory of a host, with commands that only note that they were called.
type sandbox struct {
	t      *testing.T
	root   string
	script string
	api    string
	calls  string
	bin    string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	for _, tool := range []string{"bash", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on this machine", tool)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // stands for api-int
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &sandbox{t: t, root: t.TempDir(), bin: t.TempDir(), api: "https://" + l.Addr().String()}
	s.calls = filepath.Join(s.bin, "calls")
	s.write("proc/sys/kernel/hostname", "control1\n", 0o644)
	s.command("hostname", "echo control1 # where the file is missing")
	s.write("var/lib/kubelet/pki/kubelet-server-current.pem", "serving", 0o600)
	s.write("root/.keep", "", 0o600)
	s.write("etc/kubernetes/kubeconfig", s.kubeconfig(s.api, "token: abc"), 0o600)
	s.command("systemctl", `echo "systemctl $*" >>"$CALLS"; if [ "$1" = "${FAIL_AT:-none}" ]; then exit 1; fi`)
	s.command("chronyc", `echo "Leap status     : ${LEAP:-Normal}"`)
	text, err := KubeletIdentity{Node: "control1.example.com", API: s.api, ID: "kubelet-20260501"}.Script()
	if err != nil {
		t.Fatal(err)
	}
	s.script = filepath.Join(s.bin, "script.sh")
	if err := os.WriteFile(s.script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sandbox) write(name, text string, mode fs.FileMode) string {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	_ = os.Remove(path)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *sandbox) command(name, body string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/bash\n"+body+"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) kubeconfig(server, user string) string {
	return fmt.Sprintf("apiVersion: v1\nclusters:\n- cluster:\n    server: %s\n  name: local\nusers:\n- name: u\n  user:\n    %s\n", server, user)
}

// certificate returns a certificate with its key.
func certificate(t *testing.T, cn, org string, from, until time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: cn, Organization: []string{org}}, NotBefore: from, NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) + string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
}

const node = "system:node:control1.example.com"

// client gives the kubelet a client certificate, as the kubelet keeps it: behind a link.
func (s *sandbox) client(pem string) {
	s.t.Helper()
	s.write("var/lib/kubelet/pki/kubelet-client-2026.pem", pem, 0o600)
	link := filepath.Join(s.root, "var/lib/kubelet/pki/kubelet-client-current.pem")
	_ = os.Remove(link)
	if err := os.Symlink("kubelet-client-2026.pem", link); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) ofNode() {
	now := time.Now()
	s.client(certificate(s.t, node, "system:nodes", now.Add(-time.Hour), now.Add(time.Hour)))
	s.write("var/lib/kubelet/kubeconfig", s.kubeconfig(s.api, "client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem"), 0o600)
}

// asAdmin is a kubelet that was given localhost.kubeconfig.
func (s *sandbox) asAdmin() {
	now := time.Now()
	admin := certificate(s.t, "system:admin", "system:masters", now.Add(-time.Hour), now.Add(time.Hour))
	s.client(admin)
	s.write("var/lib/kubelet/kubeconfig", s.kubeconfig("https://localhost:6443",
		"client-certificate-data: "+base64.StdEncoding.EncodeToString([]byte(admin))), 0o600)
}

func (s *sandbox) run(env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), "bash", append([]string{s.script}, args...)...)
	cmd.Env = append([]string{"PATH=" + s.bin + ":" + os.Getenv("PATH"), "ROLLCALL_ROOT=" + s.root, "CALLS=" + s.calls}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tree lists files with their content, and links with their targets, below /var/lib/kubelet and /etc.
func (s *sandbox) tree() string {
	var b strings.Builder
	for _, dir := range []string{"etc", "var/lib/kubelet"} {
		_ = filepath.WalkDir(filepath.Join(s.root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, _ := os.ReadFile(path)
			link, _ := os.Readlink(path)
			info, _ := d.Info()
			fmt.Fprintf(&b, "%s %v %s %q\n", strings.TrimPrefix(path, s.root), info.Mode(), link, text)
			return nil
		})
	}
	return b.String()
}

func (s *sandbox) called() string {
	raw, _ := os.ReadFile(s.calls)
	return strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", "; ")
}

func (s *sandbox) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(s.root, name))
	return err == nil
}

// breaks are hosts whose kubelet has no identity of its own.
func breaks() map[string]func(*sandbox) {
	now := time.Now()
	return map[string]func(*sandbox){
		"the certificate is missing": func(s *sandbox) {
			s.ofNode()
			_ = os.Remove(filepath.Join(s.root, "var/lib/kubelet/pki/kubelet-client-current.pem"))
		},
		"the certificate is a link to nothing": func(s *sandbox) {
			s.ofNode()
			_ = os.Remove(filepath.Join(s.root, "var/lib/kubelet/pki/kubelet-client-2026.pem"))
		},
		"the certificate has expired": func(s *sandbox) {
			s.ofNode()
			s.client(certificate(s.t, node, "system:nodes", now.Add(-2*time.Hour), now.Add(-time.Hour)))
		},
		"the certificate is not yet valid": func(s *sandbox) {
			s.ofNode()
			s.client(certificate(s.t, node, "system:nodes", now.Add(time.Hour), now.Add(2*time.Hour)))
		},
		"the certificate is of another node": func(s *sandbox) {
			s.ofNode()
			s.client(certificate(s.t, node+"x", "system:nodes", now.Add(-time.Hour), now.Add(time.Hour)))
		},
		"the certificate is damaged":  func(s *sandbox) { s.ofNode(); s.client("-----BEGIN CERTIFICATE-----\nx") },
		"the kubeconfig is missing":   func(s *sandbox) { s.ofNode(); _ = os.Remove(filepath.Join(s.root, "var/lib/kubelet/kubeconfig")) },
		"it runs as an administrator": (*sandbox).asAdmin,
		"it leads to another cluster": func(s *sandbox) {
			s.ofNode()
			s.write("var/lib/kubelet/kubeconfig", s.kubeconfig("https://api-int.other:6443", "x: y"), 0o600)
		},
	}
}

func TestApplyAndUndo(t *testing.T) {
	for name, makeBroken := range breaks() {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			makeBroken(s)
			before := s.tree()
			if out, err := s.run(nil, "check"); err != nil || s.tree() != before || s.called() != "" {
				t.Fatalf("check: %v\n%s\ncalled %s", err, out, s.called())
			}
			out, err := s.run(nil, "apply")
			if err != nil || s.called() != "systemctl stop kubelet; systemctl start kubelet" {
				t.Fatalf("apply: %v\n%s\ncalled %s", err, out, s.called())
			}
			if s.exists("var/lib/kubelet/kubeconfig") || !s.exists("var/lib/kubelet/pki/kubelet-server-current.pem") {
				t.Errorf("after apply:\n%s", s.tree())
			}
			if info, _ := os.Stat(filepath.Join(s.root, "root/rollcall-kubelet-20260501")); info.Mode().Perm() != 0o700 {
				t.Errorf("the backup has mode %v", info.Mode())
			}
			if out, err := s.run(nil, "apply"); err == nil || !strings.Contains(out, "apply ran before") {
				t.Errorf("apply again: %v\n%s", err, out)
			}
			if out, err := s.run(nil, "finish"); err == nil {
				t.Errorf("finish without an identity:\n%s", out)
			}
			if out, err := s.run(nil, "undo"); err != nil || s.tree() != before {
				t.Errorf("undo: %v\n%s\nbefore:\n%s\nafter:\n%s", err, out, before, s.tree())
			}
		})
	}
}

// Without the file the command is asked, and nothing is printed about it.
func TestHostname(t *testing.T) {
	s := newSandbox(t)
	s.asAdmin()
	if err := os.Remove(filepath.Join(s.root, "proc/sys/kernel/hostname")); err != nil {
		t.Fatal(err)
	}
	if out, err := s.run(nil, "check"); err != nil || strings.Contains(out, "No such file") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The kubelet keeps a certificate that is good: only what is wrong is moved.
func TestKeepsGoodCertificate(t *testing.T) {
	s := newSandbox(t)
	s.ofNode()
	s.write("var/lib/kubelet/kubeconfig", s.kubeconfig("https://localhost:6443", "x: y"), 0o600)
	if out, err := s.run(nil, "apply"); err != nil || !s.exists("var/lib/kubelet/pki/kubelet-client-current.pem") || s.exists("var/lib/kubelet/kubeconfig") {
		t.Errorf("apply: %v\n%s\n%s", err, out, s.tree())
	}
}

func TestFinish(t *testing.T) {
	s := newSandbox(t)
	s.asAdmin()
	if out, err := s.run(nil, "apply"); err != nil {
		t.Fatal(err, out)
	}
	s.ofNode() // the request was approved
	if out, err := s.run(nil, "undo"); err == nil || !strings.Contains(out, "undo would take it away") {
		t.Errorf("undo with an identity: %v\n%s", err, out)
	}
	if out, err := s.run(nil, "finish"); err != nil || s.exists("root/rollcall-kubelet-20260501") {
		t.Errorf("finish: %v\n%s", err, out)
	}
}

func TestNewBootstrap(t *testing.T) {
	s := newSandbox(t)
	s.asAdmin()
	_ = os.Remove(filepath.Join(s.root, "etc/kubernetes/kubeconfig"))
	before := s.tree()
	if out, err := s.run(nil, "apply"); err == nil || !strings.Contains(out, "missing or empty") || s.tree() != before {
		t.Errorf("apply without a credential: %v\n%s", err, out)
	}
	file := s.write("new", s.kubeconfig(s.api, "token: secret-token"), 0o600)
	out, err := s.run(nil, "apply", file)
	if err != nil || strings.Contains(out, "secret-token") {
		t.Fatalf("apply: %v\n%s", err, out)
	}
	if info, err := os.Stat(filepath.Join(s.root, "etc/kubernetes/kubeconfig")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("bootstrap kubeconfig: %v", err)
	}
	if out, err := s.run(nil, "undo"); err != nil || s.tree() != before {
		t.Errorf("undo: %v\n%s\n%s", err, out, s.tree())
	}
}

// What makes it unsafe or pointless refuses, and nothing has changed.
func TestRefused(t *testing.T) {
	for want, c := range map[string]struct {
		change func(*sandbox)
		env    []string
		args   []string
	}{
		"there is nothing to do": {change: (*sandbox).ofNode},
		"this host is other":     {change: func(s *sandbox) { s.write("proc/sys/kernel/hostname", "other\n", 0o644) }},
		"is not synchronized":    {env: []string{"LEAP=Not synchronised"}},
		"has no credential":      {change: func(s *sandbox) { s.write("etc/kubernetes/kubeconfig", s.kubeconfig(s.api, "x: y"), 0o600) }},
		"leads to https://localhost": {change: func(s *sandbox) {
			s.write("etc/kubernetes/kubeconfig", s.kubeconfig("https://localhost:6443", "token: x"), 0o600)
		}},
		"is an administrator's file": {change: func(s *sandbox) {
			admin := certificate(s.t, "system:admin", "system:masters", time.Now(), time.Now().Add(time.Hour))
			s.write("etc/kubernetes/kubeconfig", s.kubeconfig(s.api, "client-certificate-data: "+base64.StdEncoding.EncodeToString([]byte(admin))), 0o600)
		}},
		"others may read": {change: func(s *sandbox) { s.write("new", s.kubeconfig(s.api, "token: x"), 0o644) }, args: []string{"new"}},
		"no regular file": {args: []string{"absent"}},
		"this is no node": {change: func(s *sandbox) { _ = os.RemoveAll(filepath.Join(s.root, "var/lib/kubelet")) }},
		"does not answer from": {change: func(s *sandbox) {
			text, _ := KubeletIdentity{Node: "control1", API: "https://127.0.0.1:1", ID: "x"}.Script()
			_ = os.WriteFile(s.script, []byte(text), 0o700)
		}},
	} {
		t.Run(want, func(t *testing.T) {
			s := newSandbox(t)
			s.asAdmin()
			if c.change != nil {
				c.change(s)
			}
			before := s.tree()
			args := []string{"apply"}
			for _, a := range c.args {
				args = append(args, filepath.Join(s.root, a))
			}
			out, err := s.run(c.env, args...)
			if err == nil || !strings.Contains(out, want) || s.tree() != before || s.called() != "" {
				t.Errorf("%v\n%s\ncalled %q", err, out, s.called())
			}
		})
	}
}

// A failure after the kubelet was stopped restores everything and starts it.
func TestFailsInBetween(t *testing.T) {
	s := newSandbox(t)
	s.asAdmin()
	before := s.tree()
	s.command("sync", `if [ -e "$CALLS" ]; then exit 1; fi`) // only the second one, after the files were moved
	out, err := s.run(nil, "apply")
	if err == nil || s.tree() != before || s.called() != "systemctl stop kubelet; systemctl start kubelet" {
		t.Errorf("%v\n%s\ncalled %s\nbefore:\n%s\nafter:\n%s", err, out, s.called(), before, s.tree())
	}
	if _, err := os.Stat(filepath.Join(s.root, "root/rollcall-kubelet-20260501/sums")); err != nil {
		t.Error("the backup is gone")
	}
}

func TestDamagedBackup(t *testing.T) {
	s := newSandbox(t)
	s.asAdmin()
	if out, err := s.run(nil, "apply"); err != nil {
		t.Fatal(err, out)
	}
	s.write("root/rollcall-kubelet-20260501/files/kubeconfig", "x", 0o600)
	before := s.tree()
	if out, err := s.run(nil, "undo"); err == nil || !strings.Contains(out, "is damaged") || s.tree() != before {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestValues(t *testing.T) {
	good := KubeletIdentity{Node: "control1", API: "https://api-int.example.com:6443", ID: "x"}
	for name, k := range map[string]KubeletIdentity{
		"node":   {Node: "a'; rm -rf /; '", API: good.API, ID: "x"},
		"api":    {Node: "a", API: "https://a:6443/'$(id)'", ID: "x"},
		"user":   {Node: "a", API: "https://u@a:6443", ID: "x"},
		"scheme": {Node: "a", API: "http://a:6443", ID: "x"},
		"id":     {Node: "a", API: good.API, ID: "../x"},
	} {
		if _, err := k.Script(); err == nil {
			t.Errorf("%s: %+v is accepted", name, k)
		}
	}
	text, err := good.Script()
	if err != nil || strings.Contains(text, "@NODE@") || !strings.Contains(text, "node='control1'") {
		t.Errorf("%v\n%.300s", err, text)
	}
}

func TestShellcheck(t *testing.T) {
	tool, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not on this machine")
	}
	text, err := KubeletIdentity{Node: "control1", API: "https://api-int.example.com:6443", ID: "x"}.Script()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
