package bmc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

const installConfig = `apiVersion: v1
baseDomain: example.com
controlPlane: {name: master, architecture: arm64}
platform:
  bareMetal:
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      bootMode: legacy
      bmc:
        address: redfish-virtualmedia://planted-a:planted-b@10.1.1.1/redfish/v1/Systems/1
        username: planted-user
        password: planted-pass
        disableCertificateVerification: true
      rootDeviceHints: {minSizeGigabytes: 200, rotational: false}
    - {name: m1, role: master, bmc: {address: "ipmi://10.1.1.2", username: planted-u2, password: planted-p2}}
    - {name: m2, role: master}
`

func planTargets(t *testing.T, files ...string) ([]Target, Credentials) {
	t.Helper()
	s, err := plan.Open(files, now)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := s.List(t.Context(), evidence.Plans, "")
	if err != nil {
		t.Fatal(err)
	}
	var c Credentials
	list, err := PlanTargets(files, objects, &c)
	if err != nil {
		t.Fatal(err)
	}
	return list, c
}

// TestPlanTargets: address, place and wishes of each host, and its credential apart.
func TestPlanTargets(t *testing.T) {
	p := file(t, "install-config.yaml", installConfig)
	list, c := planTargets(t, p)
	no := false
	want := []Target{
		{Host: "m0", Role: "master", Address: "redfish-virtualmedia://10.1.1.1/redfish/v1/Systems/1", Off: true, MACs: []string{"52:54:00:00:00:01"}, BootMode: "legacy",
			Hints: &metal3.RootDeviceHints{MinSizeGigabytes: 200, Rotational: &no}, Architecture: "arm64", File: filepath.ToSlash(p), Field: "platform.bareMetal.hosts[0].bmc.address", Line: 12, Column: 18},
		{Host: "m1", Role: "master", Address: "ipmi://10.1.1.2", Architecture: "arm64", File: filepath.ToSlash(p), Field: "platform.bareMetal.hosts[1].bmc.address", Line: 17, Column: 47},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
	if got, ok := c.For(list[0]); !ok || got.user != "planted-user" || got.pass != "planted-pass" || got.From != FromPlan {
		t.Errorf("credential of m0: %v, %v", got, ok)
	}
	c.UseEnvironment("e", "f")
	if got, _ := c.For(Target{Host: "x", Address: "redfish://10.9.9.9"}); got.From != FromEnvironment {
		t.Errorf("credential of a stranger: %v", got)
	}
	if err := c.UseFile(file(t, "c.yaml", "hosts: {m0: {username: a, password: b}}\n")); err != nil {
		t.Fatal(err)
	}
	if got, _ := c.For(list[0]); got.From != FromFile {
		t.Errorf("the file does not come first: %v", got)
	}
	if got, _ := c.For(list[1]); got.From != FromPlan {
		t.Errorf("m1: %v", got)
	}
}

// TestAgentTargets: hosts of agent-config take the BMC of the same host of install-config.
func TestAgentTargets(t *testing.T) {
	list, c := planTargets(t, file(t, "install-config.yaml", installConfig), file(t, "agent-config.yaml", `rendezvousIP: 192.0.2.1
hosts:
- hostname: other
  role: master
  interfaces: [{name: eno1, macAddress: "52:54:00:00:00:01"}]
- hostname: m9
  interfaces: [{name: eno1, macAddress: "52:54:00:00:00:09"}]
`))
	if len(list) != 1 || list[0].Host != "other" || !list[0].ByAgent || list[0].Line != 12 || list[0].BootMode != "" {
		t.Fatalf("%+v", list)
	}
	if got, ok := c.For(list[0]); !ok || got.user != "planted-user" {
		t.Errorf("credential: %v, %v", got, ok)
	}
}

func TestListTargets(t *testing.T) {
	list, err := ListTargets(file(t, "l", "# BMCs\n\nm0 10.0.0.1 master\n[fd00::1]:8443\nw0 idrac-virtualmedia://h/redfish/v1/Systems/x worker disableCertificateVerification # x\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range list {
		got = append(got, strings.Join([]string{x.Host, x.Address, x.Role, map[bool]string{true: "off"}[x.Off]}, " "))
	}
	want := []string{"m0 redfish://10.0.0.1 master ", "fd00::1 redfish://[fd00::1]:8443  ", "w0 idrac-virtualmedia://h/redfish/v1/Systems/x worker off"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for text, says := range map[string]string{"": "names none", "a b c d\n": "too much", "m0 redfish://planted:planted@h\n": "holds a user", "m0 $x\n": "not an address"} {
		_, err := ListTargets(file(t, "l", text))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// TestCredentialFile: what is wrong with a file is said without its contents.
func TestCredentialFile(t *testing.T) {
	for _, text := range []string{"planted", "default: planted\n", "default: {username: planted}\n", "hosts: {a: {user: planted, password: b}}\n", "{}\n", "default: {username: a, password: planted: x}\n"} {
		var c Credentials
		if err := c.UseFile(file(t, "c", text)); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%q: %v", text, err)
		}
	}
	open := file(t, "c", "default: {username: a, password: b}\n")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	var c Credentials
	if err := c.UseFile(open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

func TestMAC(t *testing.T) {
	for text, want := range map[string]string{
		"52:54:00:AA:BB:01": "52:54:00:aa:bb:01", "00620B4C284E": "00:62:0b:4c:28:4e", "88e9:a4ff:ff87:42c8": "88:e9:a4:87:42:c8", "52-54-00-aa-bb-01": "52:54:00:aa:bb:01",
		"": "", "00:00:00:00:00:00": "", "ff:ff:ff:ff:ff:ff": "", "x": "", "52:54:00:aa:bb": "",
	} {
		if got := MAC(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestRolesOfHosts: the label of the installer, else the Machine, says what a host is. One
// without a Machine is no master where Machines were read.
func TestRolesOfHosts(t *testing.T) {
	host := func(label, consumer string) evidence.Object {
		metadata := map[string]any{"name": "h", "namespace": "n"}
		if label != "" {
			metadata["labels"] = map[string]any{openshift.HostRoleLabel: label}
		}
		spec := map[string]any{"bmc": map[string]any{"address": "redfish://10.0.0.1/redfish/v1/Systems/1"}}
		if consumer != "" {
			spec["consumerRef"] = map[string]any{"namespace": "n", "name": consumer}
		}
		return evidence.Object{Resource: evidence.BareMetalHosts, Namespace: "n", Name: "h", Content: map[string]any{"metadata": metadata, "spec": spec}}
	}
	machines := []evidence.Object{{Namespace: "n", Name: "m0", Content: map[string]any{"metadata": map[string]any{"labels": map[string]any{openshift.MachineRoleLabel: "master"}}}}}
	for _, c := range []struct {
		label, consumer, want string
		machines              []evidence.Object
	}{
		{"control-plane", "", "master", nil}, {"", "m0", "master", machines}, {"", "gone", "worker", machines}, {"", "", "worker", machines}, {"", "", "", nil}, {"worker", "m0", "worker", machines},
	} {
		list, err := HostTargets([]evidence.Object{host(c.label, c.consumer)}, nil, c.machines)
		if err != nil || len(list) != 1 || list[0].Role != c.want {
			t.Errorf("label %q, consumer %q: %+v, %v, want role %q", c.label, c.consumer, list, err, c.want)
		}
	}
}
