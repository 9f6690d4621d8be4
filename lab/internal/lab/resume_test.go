package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRestore: a snapshot that was made in another directory names this one
// afterwards, and a directory that is none is refused.
func TestRestore(t *testing.T) {
	base := t.TempDir()
	made, kept, here := Dir(filepath.Join(base, "made")), Dir(filepath.Join(base, "kept")), Dir(filepath.Join(base, "here"))
	pki := filepath.Join("hosts", "worker0", "root", "var", "lib", "kubelet", "pki")
	if err := os.MkdirAll(made.file(pki), 0o700); err != nil {
		t.Fatal(err)
	}
	cert := filepath.Join(pki, "kubelet-client-2026.pem")
	for path, data := range map[string]string{
		cert: "pem", filepath.Join(pki, "..", "kubeconfig"): "client-certificate: " + made.file(pki) + "/kubelet-client-current.pem\n",
	} {
		if err := os.WriteFile(made.file(path), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(made.file(cert), made.file(pki, "kubelet-client-current.pem")); err != nil {
		t.Fatal(err)
	}
	if err := made.writeState(State{Scenario: "healthy", Stage: Ready, FirstRender: "rendered-master-1"}); err != nil {
		t.Fatal(err)
	}
	if err := made.CopyTo(kept); err != nil {
		t.Fatal(err)
	}
	if err := here.Restore(kept); err == nil {
		t.Fatal("a lab that is no snapshot was restored")
	}
	if err := kept.MarkSnapshot(string(made)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(string(made)); err != nil {
		t.Fatal(err)
	}
	if err := here.Restore(kept); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(here.file(pki, "kubelet-client-current.pem")); err != nil || string(data) != "pem" {
		t.Errorf("the current certificate: %q, %v", data, err)
	}
	if data, err := os.ReadFile(here.file(pki, "..", "kubeconfig")); err != nil || string(data) != "client-certificate: "+here.file(pki)+"/kubelet-client-current.pem\n" {
		t.Errorf("kubeconfig %q, %v", data, err)
	}
	if s, err := here.ReadState(); err != nil || s.Stage != Starting {
		t.Errorf("state %+v, %v", s, err)
	}
	if s, err := readState(here.file(snapshotFile)); err != nil || s.FirstRender != "rendered-master-1" {
		t.Errorf("snapshot's state %+v, %v", s, err)
	}
}
