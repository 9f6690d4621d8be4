package plan

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func open(t *testing.T, name, text string) (evidence.Object, error) {
	t.Helper()
	s, err := FS(fstest.MapFS{name: {Data: []byte(text), Mode: 0o600}}, ".", "test", now)
	if err != nil {
		return evidence.Object{}, err
	}
	list, err := s.List(t.Context(), evidence.Plans, "")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d plans, %v", len(list), err)
	}
	return list[0], nil
}

func mustOpen(t *testing.T, name, text string) evidence.Object {
	t.Helper()
	o, err := open(t, name, text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSecretsStay: nothing that is a credential gets out of the file, in any of its forms.
func TestSecretsStay(t *testing.T) {
	const text = `
baseDomain: example.com
pullSecret: '{"auths":{"quay.io":{"auth":"cGxhbnRlZC11c2VyOnBsYW50ZWQtMQ==","email":"planted-2@example.com"}}}'
sshKey: |
  -----BEGIN OPENSSH PRIVATE KEY-----
  planted-3
  -----END OPENSSH PRIVATE KEY-----
proxy:
  httpProxy: http://planted-4:planted-5@proxy.example.com:3128
  httpsProxy: "https://planted 6:pl@anted-7@proxy.example.com"
platform:
  vsphere:
    password: planted-8
    vcenters: [{server: vc, user: planted-9, password: [planted-10]}]
  baremetal:
    hosts:
    - bmc: {address: "redfish://planted-11:planted-12@10.0.0.1/redfish/v1/Systems/1", username: planted-13, PASSWORD: planted-14}
      networkConfig:
        interfaces: [{name: eno1, 802.1x: {identity: a, password: planted-15, private-key-password: planted-16}}]
    - bmc: &b {username: planted-17, password: &p planted-18}
    - bmc: *b
    - bmc: {password: *p}
PULLSECRET: '{"auths":{"quay.io":{"auth":"cGxhbnRlZC11c2VyOnBsYW50ZWQtMjA="}}}'
additionalTRUSTBundle: |
  -----BEGIN PRIVATE KEY-----
  cGxhbnRlZC0xOQ==
  -----END PRIVATE KEY-----
`
	o := mustOpen(t, installFile, text)
	raw, err := json.Marshal(o.Content)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(raw), "planted"); i >= 0 {
		t.Errorf("a secret leaves the file: %s", raw[max(0, i-60):min(len(raw), i+60)])
	}
	for _, encoded := range []string{"cGxhbnRlZ", "pl@anted", "anted-7"} {
		if strings.Contains(string(raw), encoded) {
			t.Errorf("%q leaves the file", encoded)
		}
	}
	other, err := json.Marshal(mustOpen(t, installFile, "baseDomain: x\nSSHKEY: planted-21\n").Content)
	if err != nil || strings.Contains(string(other), "planted") {
		t.Errorf("a key in other letters: %s, %v", other, err)
	}
	// What is shown of them is their form, and the sanitizer leaves it as it is.
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	clean.Object(o.Resource.Group, o.Resource.Name, o.Content)
	form, _ := o.Content["form"].(map[string]any)
	if ssh, _ := form["ssh"].([]any); len(ssh) != 1 || ssh[0] != "private" {
		t.Errorf("sshKey is %v", form["ssh"])
	}
	pulls, _ := form["pulls"].(map[string]any)
	if registries, _ := pulls["registries"].(map[string]any); registries["quay.io"] != "ok" {
		t.Errorf("the pull secret is %v", pulls)
	}
}

// TestFencing: the list of credentials and who they are of are shown, and nothing else of them.
func TestFencing(t *testing.T) {
	o := mustOpen(t, installFile, `
baseDomain: example.com
x: &x {username: planted-1, other: [planted-2], hostName: m1, address: "redfish+https://planted-3:planted-4@10.0.0.2/redfish/v1/Systems/1"}
controlPlane:
  fencing:
    credentials:
    - {hostName: m0, Address: "redfish+https://10.0.0.1/redfish/v1/Systems/1", username: planted-5, password: planted-6, pasword: planted-7, certificateVerification: Disabled}
    - {<<: *x, password: {planted-8: planted-9}}
    - {hostName: [planted-10], address: {a: planted-11}}
compute:
- fencing: {credentials: [{hostName: planted-12}]}
platform:
  vsphere:
    vcenters: [{server: vc, credentials: [{address: planted-13, user: planted-14}]}]
    failureDomains: [{name: a, credentials: {address: planted-15}}]
  baremetal:
    hosts: [{name: m0, bmc: {address: 10.0.0.1, credentials: [{hostName: planted-16, address: planted-17}], credentialsName: a}}]
credentials: [{hostName: planted-18}]
`)
	list, _ := evidence.Field(o.Content, "config", "controlPlane", "fencing", "credentials").([]any)
	if len(list) != 3 {
		t.Fatalf("%d credentials, want 3", len(list))
	}
	first, _ := list[0].(map[string]any)
	second, _ := list[1].(map[string]any)
	if first["hostName"] != "m0" || first["Address"] != "redfish+https://10.0.0.1/redfish/v1/Systems/1" || first["password"] != hidden || first["certificateVerification"] != "Disabled" ||
		second["hostName"] != "m1" || second["address"] != "redfish+https://10.0.0.2/redfish/v1/Systems/1" || second["username"] != hidden {
		t.Errorf("the credentials are %v", list)
	}
	config, _ := o.Content["config"].(map[string]any)
	delete(config, "x") // outside of the list a block is as before
	all := []any{config}
	for _, text := range []string{"planted-19", "[planted-19]", "[{hostName: m0}, planted-19]", "{hostName: planted-19}"} {
		all = append(all, mustOpen(t, installFile, "baseDomain: x\ncontrolPlane: {fencing: {credentials: "+text+"}}\n").Content["config"])
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(string(raw), "planted"); i >= 0 {
		t.Errorf("a secret leaves the file: %s", raw[max(0, i-60):min(len(raw), i+60)])
	}
}

// TestBrokenURL: of a password that breaks a URL its place is kept, and nothing of it.
func TestBrokenURL(t *testing.T) {
	for text, want := range map[string]bool{
		"http://u:planted@proxy:3128": false, "http://u:pl%23anted@proxy:3128": false, "http://u:pl@nted@proxy:3128": false, "http://planted@proxy": false, "planted:planted@proxy:3128": false,
		"http://u:pl#nted@proxy:3128": true, "http://u:pl/nted@proxy:3128": true, "http://u:pl?nted@proxy:3128": true, "http://u:pl%nted@proxy:3128": true, "http://u:pl[nted@proxy:3128": true,
		"http://u:pl nted@proxy:3128": true, "http://u:pl@nted/pl@proxy:3128": true, "http://u:8/nted@proxy:3128": true, "http://u:8#nted@proxy:3128": true, "http://u:8?nted@proxy:3128": true,
		"http://u:p@[::1": false, "nted@http://u:pl@proxy": false,
	} {
		o := mustOpen(t, installFile, "baseDomain: x\nproxy:\n  httpProxy: '"+text+"'\n")
		raw, err := json.Marshal(o.Content)
		if err != nil || strings.Contains(string(raw), "nted") || strings.Contains(string(raw), "u:") {
			t.Errorf("%s: a secret leaves the file: %s, %v", text, raw, err)
		}
		form, _ := o.Content["form"].(map[string]any)
		list, _ := form["users"].([]any)
		if got := slices.Contains(list, any("proxy.httpProxy")); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	long := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, c := range []struct{ name, text, want string }{
		{"not YAML", "a: b: c", "install-config.yaml: it is not YAML, and openshift-install does not read it either"},
		{"nothing of a plan", "kind: Pod\n", ""},
		{"too deep", "baseDomain: example.com\nplatform: " + long, "deeper"},
		{"a key that is a list", "baseDomain: x\n? [a]\n: b\n", "YAML"},
		{"aliases without end", "a: &a [b]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\nbaseDomain: [*h,*h,*h]\n", ""},
	} {
		_, err := open(t, installFile, c.text)
		switch {
		case c.want == "" && c.name == "nothing of a plan":
			if err != nil { // the name says what it is to be
				t.Errorf("%s: %v", c.name, err)
			}
		case err == nil:
			t.Errorf("%s: no error", c.name)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := FS(fstest.MapFS{}, ".", "empty", now); !errors.Is(err, ErrNoPlan) {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestOpen: files of any name are told apart by what they say; two plans of one kind are
// those of two clusters.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	install := write("a.yaml", "baseDomain: example.com\nplatform: {none: {}}\n")
	agent := write("b.yaml", "rendezvousIP: 192.0.2.1\n")
	other := write("c.yaml", "---\nkind: ConfigMap\n---\nbaseDomain: example.org\n")
	none := write("d.yaml", "kind: Pod\n")
	s, err := Open([]string{install, agent}, now)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), evidence.Plans, "")
	if err != nil || len(list) != 2 || list[0].Content["type"] != InstallConfig || list[1].Content["type"] != AgentConfig {
		t.Fatalf("%v, %v", list, err)
	}
	if at, _ := list[0].Content["at"].(map[string]any); at["platform.none"] != place(2, 18) {
		t.Errorf("platform.none is at %v", at["platform.none"])
	}
	for _, wrong := range [][]string{{install, other}, {none}, {filepath.Join(dir, "missing.yaml")}, {dir}} {
		if _, err := Open(wrong, now); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}

// TestTwice: a field that is there twice is kept with both of its places.
func TestTwice(t *testing.T) {
	o := mustOpen(t, installFile, "baseDomain: a.example.com\nplatform: {}\nbaseDomain: b.example.com\n")
	twice, _ := o.Content["twice"].([]any)
	if len(twice) != 1 {
		t.Fatalf("twice: %v", twice)
	}
	if m, _ := twice[0].(map[string]any); m["path"] != "baseDomain" || m["first"] != 1 {
		t.Errorf("twice: %v", m)
	}
}

func TestSSHType(t *testing.T) {
	const good = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGn0bWFkZS11cC1rZXktZm9yLXRoaXMtdGVzdC1vbmx5 a@example.com"
	for text, want := range map[string][]any{
		good:                            {"ssh-ed25519"},
		"# a comment\n" + good + "\n\n": {"ssh-ed25519"},
		`command="x y" ` + good:         {"ssh-ed25519"},
		"ssh-rsa YOUR_KEY":              {"unreadable"},
		"ssh-rsa " + good[12:]:          {"unreadable"}, // of another type than it says
		"":                              nil,
	} {
		if got := sshKeys(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzAdd(f *testing.F) {
	for _, text := range []string{
		"baseDomain: example.com\nplatform: {none: {}}\n", "a: &a {b: *a}\nbaseDomain: x\n", "<<: {baseDomain: x}\nplatform: 1\n",
		"pullSecret: '{\"auths\": 7}'\nbaseDomain: x\n", "sshKey: [a]\nbaseDomain: x\nadditionalTrustBundle: '-----BEGIN X-----'\n", "baseDomain: 2001-01-01\nplatform: 1e999\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &Source{now: now}
		if err := s.add(installFile, raw); err != nil {
			return
		}
		for _, o := range s.objects {
			if _, err := json.Marshal(o.Content); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestPipe: to open a pipe would be to wait forever, and no signal ends that.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, installFile)
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, open := range []func() (*Source, error){
		func() (*Source, error) { return Open([]string{pipe}, now) },
		func() (*Source, error) { return FS(os.DirFS(dir), ".", dir, now) },
	} {
		done := make(chan error, 1)
		go func() {
			_, err := open()
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "it is not a file") {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it waits for who writes to the pipe")
		}
	}
}
