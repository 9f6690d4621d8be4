package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bareMetalRows are the troubles of BMCs and of metal3. A host that no Machine
// asked for is in stock: it has findings, and no place on the roll.
var bareMetalRows = []scenario{
	{name: "metal3-runs", verdict: "healthy", onlyIf: alone}, // as in "healthy", where it runs from the start
	{
		name:  "bmc-password-wrong",
		roots: []string{"bmc-credentials-refused host/spare1"},
		also:  nobodyTalksToBMCs,
	},
	{
		name: "inspection-silent", long: true,
		roots: []string{"inspection-ramdisk-failed host/spare2"},
	},
	{
		name:  "mac-duplicate",
		roots: []string{"mac-address-conflict host/spare3"},
	},
	{
		name:  "host-paused",
		roots: []string{"bmh-paused host/spare4"},
	},
	{
		name:  "host-detached",
		roots: []string{"bmh-detached host/spare5"},
	},
	{
		name:  "host-held-off",
		roots: []string{"bmh-power-mismatch host/worker1"},
		hosts: []string{"worker1:ready:failed"},
	},
	{
		name:  "power-stuck",
		roots: []string{"bmh-power-error host/spare6"},
	},
	{
		name:  "bmc-address-wrong",
		roots: []string{"bmc-address-wrong host/spare7"},
	},
	{
		name:  "host-switched-off",
		roots: []string{"bmh-switched-off host/worker0"},
		hosts: []string{"worker0:ready:failed"},
	},
}

// nobodyTalksToBMCs: whatever the tool is asked, only Ironic has talked to the BMCs.
func nobodyTalksToBMCs(t *testing.T, w *world) {
	for _, args := range [][]string{{}, {"diagnose"}, {"diagnose", "host/spare1"}, {"csr", "list"}} {
		if r := w.live(args...); r.code < 0 || r.code == 1 || r.code > 3 {
			t.Errorf("the tool did not answer: %s", r)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.dir, "logs", "bmc.log"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) < 10 {
		t.Fatalf("the BMCs have seen too little to tell:\n%s", data)
	}
	for _, line := range lines {
		if !strings.HasSuffix(line, `"lab-ironic"`) {
			t.Errorf("somebody else talked to a BMC: %s", line)
		}
	}
}
