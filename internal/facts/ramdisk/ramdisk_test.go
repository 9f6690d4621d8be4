package ramdisk

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func play(t testing.TB, text string) ramdisk {
	t.Helper()
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for i, s := range strings.Split(text, "\n") {
		for _, h := range set.Find([]byte(s)) {
			if !slices.Contains(messages, h.ID) {
				continue
			}
			lines = append(lines, line{id: h.ID, Match: evidence.Match{Groups: h.Groups, Line: evidence.Line{Text: s, Loc: evidence.Locator{Path: "x", Line: i + 1}}}})
		}
	}
	api := metal3.BareMetalHost{}
	api.Spec.BootMACAddress = "52:54:00:AA:00:01"
	return readBoot(lines).fields(inventory.Host{Name: "w0", BMH: &inventory.BMH{API: api}})
}

func TestFollow(t *testing.T) {
	const (
		kernel = "[    0.0] Linux version 5.14.0 (test)\n"
		live   = "[    0.0] Command line: coreos.live.rootfs_url=http://192.0.2.1:6180/i\n"
		other  = "W Failed looking up node with addresses '52:54:00:aa:00:02,52:54:00:aa:00:03' at https://192.0.2.1:6385. Check if inspection has completed? Error 404: \n"
		lookup = "W Error detected while attempting to perform lookup with https://[2001:db8::1]:6385, retrying. Error: [Errno 111] Connection refused\n"
		done   = "I Lookup succeeded, node UUID is 1\n"
	)
	for _, c := range []struct{ name, text, cause, class, endpoint, driver, module string }{
		{"MAC unknown", other, causeMAC, "", "", "", ""},
		{"refused", lookup, causeIronic, "refused", "[2001:db8::1]:6385", "", ""},
		{"no NIC is the reason for what follows", "W No valid network interfaces found.\n" + lookup, causeNIC, "", "", "", ""},
		{"went on", other + done, "", "", "", "", ""},
		{"another boot", other + kernel, "?", "", "", "", ""},
		{"emergency", live + "Failed to start X.\nYou are in emergency mode", causeBoot, "", "", "", ""},
		{"emergency of another system", "Failed to start X.\nYou are in emergency mode", "?", "", "", "", ""},
		{"a conflict is no failure", "ConflictError heartbeating to agent API: locked", "?", "", "", "", ""},
		{"a name", "ironic_python_agent.errors.HeartbeatError: Error heartbeating to agent API: HTTPSConnectionPool(host='i.example.com', port=6385): [Errno -2] Name or service not known", causeIronic, "dns", "i.example.com:6385", "", ""},
		{"driver, older kernel", "[1.0] mlx5_core: probe of 0000:3b:00.0 failed with error -110", "?", "", "", "mlx5_core", ""},
		{"driver, newer kernel", "[1.0] ice 0000:3b:00.0: probe with driver ice failed with error -5", "?", "", "", "ice", ""},
		{"driver of something else", "[1.0] ipmi_si: probe of IPI0001:00 failed with error -16", "?", "", "", "", ""},
		{"module, the one that tells more", "[1.0] mlx5_core 0000:b1:00.1: f:1:(pid 2): query_mcia_reg failed: status: 0x3\n[1.1] mlx5_core 0000:17:00.0: f:1:(pid 2): query_mcia_reg failed: status: 0x9", "?", "", "", "", "0000:17:00.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := play(t, c.text)
			cause, err := f.Cause.Get()
			if err != nil {
				cause = "?"
			}
			got := [...]string{cause, f.Class.Value(), f.Endpoint.Value(), f.Driver.Value(), f.Module.Value()}
			if want := [...]string{c.cause, c.class, c.endpoint, c.driver, c.module}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestMACAbsent(t *testing.T) {
	for text, want := range map[string]bool{
		"Failed looking up node with addresses '52:54:00:aa:00:02' at u": true,
		"Failed looking up node with addresses '52:54:00:aa:00:01' at u": false,
		"Failed looking up node with addresses '' at u":                  false,
	} {
		if f := play(t, text); f.MACAbsent.Value() != want {
			t.Errorf("%s: %t, want %t", text, f.MACAbsent.Value(), want)
		}
	}
}

func TestOfHost(t *testing.T) {
	h := inventory.Host{BMH: &inventory.BMH{}}
	h.BMH.API.Name = "w0"
	match := func(text string) evidence.Match { return evidence.Match{Line: evidence.Line{Text: text}} }
	for text, want := range map[string]bool{
		"1_openshift-machine-api~w0_2026-03-01-10-20-00.tar.gz: x": true,
		"z 1_w0_2026.tar.gz: x":                      true,
		"1_openshift-machine-api~w01_2026.tar.gz: x": false,
		"a line of the watcher itself":               false,
	} {
		if got := ofHost(h)(match(text)); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
	h.BMH.API.Status.Provisioning.ID = "2"
	if ofHost(h)(match("1_openshift-machine-api~w0_2026.tar.gz: x")) {
		t.Error("another node of ironic")
	}
}

func FuzzFollow(f *testing.F) {
	f.Add("Failed looking up node with addresses\nmlx5_core 0000:b1:00.1: query_mcia_reg failed: status: 0x3")
	f.Fuzz(func(t *testing.T, text string) { play(t, text) })
}
