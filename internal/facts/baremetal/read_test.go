package baremetal_test

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const hostFiles = "namespaces/openshift-machine-api/metal3.io/baremetalhosts/"

// TestObfuscatedPeers: a MAC or an address that was obfuscated is the same as no other
// and differs from no other.
func TestObfuscatedPeers(t *testing.T) {
	patch := func(host, mac, bmc string) string {
		return "-- patch:" + hostFiles + host + ".yaml --\nspec: {bootMACAddress: \"" + mac + "\", bmc: {address: \"" + bmc + "\"}}\n"
	}
	const real = "52:54:00:BB:00:00"
	for name, c := range map[string]struct {
		changes          string
		mac, bmc, shared bool // known; shared: the MAC is another host's, too
	}{
		"as they are":            {"", true, true, false},
		"the same MAC":           {patch("w0", real, "redfish://10.9.9.1/redfish/v1/Systems/1") + patch("w1", real, "redfish://10.9.9.2/redfish/v1/Systems/1"), true, true, true},
		"its own were replaced":  {patch("w1", "x-mac-0000000001-x", "redfish://x-ipv4-0000000001-x/redfish/v1/Systems/1"), false, false, false},
		"all were":               {patch("w0", "xx:xx:xx:xx:xx:xx", "redfish://xxx.xxx.xxx.xxx/redfish/v1/Systems/1") + patch("w1", "xx:xx:xx:xx:xx:xx", "redfish://xxx.xxx.xxx.xxx/redfish/v1/Systems/1"), false, false, false},
		"those of another host":  {patch("w0", "x-mac-0000000001-x", "redfish://x-ipv4-0000000001-x/redfish/v1/Systems/1"), false, false, false},
		"the same, one replaced": {patch("m0", "x-mac-0000000001-x", "redfish://10.9.9.3/redfish/v1/Systems/1") + patch("w0", real, "") + patch("w1", real, ""), true, true, true},
	} {
		w := factstest.World(t, factstest.Metal, c.changes)
		f := factstest.Fields[baremetal.Peers](t, w, baremetal.PeersFact(), factstest.Host("w1"))
		same, err := f.SameMAC.Get()
		if (err == nil) != c.mac || (len(same) > 0) != c.shared {
			t.Errorf("%s: same MAC %v", name, f.SameMAC)
		}
		if _, err := f.SameBMC.Get(); (err == nil) != c.bmc {
			t.Errorf("%s: same BMC %v", name, f.SameBMC)
		}
	}
}

// TestHostUnread: what is said by a list is unknown without the list, and a status that
// was never written says nothing of power.
func TestHostUnread(t *testing.T) {
	read := func(changes string, without ...evidence.Need) baremetal.Host {
		t.Helper()
		w := factstest.World(t, factstest.Metal, changes, without...)
		return factstest.Fields[baremetal.Host](t, w, baremetal.HostFact(), factstest.Host("w1"))
	}
	whole := read("")
	if !whole.PoweredOn.Equal(facts.Known(true)) || !whole.Joined.Equal(facts.Known(true)) || !whole.ConsumerGone.Equal(facts.Known(false)) {
		t.Errorf("powered on %v, joined %v, consumer gone %v", whole.PoweredOn, whole.Joined, whole.ConsumerGone)
	}
	if f := read("", evidence.Objects(evidence.Machines, openshift.MachineAPINamespace)); f.ConsumerGone.Equal(facts.Known(false)) {
		t.Error("without Machines the consumer is known to be there")
	}
	if f := read("", evidence.Objects(evidence.Nodes, "")); f.Joined.Equal(facts.Known(false)) {
		t.Error("without Nodes it has not joined")
	}
	again := "-- patch:" + hostFiles + "w1.yaml --\nstatus: {provisioning: {state: preparing}, errorCount: 2, lastUpdated: \"2026-03-01T11:50:00Z\", poweredOn: null}\n"
	f := read(again, evidence.Objects(evidence.Events, openshift.MachineAPINamespace))
	if _, err := f.Failing.Get(); err == nil {
		t.Errorf("without events, after two failures: failing %v", f.Failing)
	}
	if _, err := f.PoweredOn.Get(); err == nil {
		t.Errorf("powered on %v, though no status says it", f.PoweredOn)
	}
}

// TestOperatorUnread: what operator baremetal has not reported is not well.
func TestOperatorUnread(t *testing.T) {
	const operator = "cluster-scoped-resources/config.openshift.io/clusteroperators/baremetal.yaml"
	for name, c := range map[string]struct {
		changes string
		without []evidence.Need
	}{
		"no operators":         {"", []evidence.Need{evidence.Objects(evidence.ClusterOperators, "")}},
		"nothing reported yet": {"-- patch:" + operator + " --\nstatus: {conditions: []}\n", nil},
		"no such operator":     {"-- delete:" + operator + " --\n", nil},
	} {
		w := factstest.World(t, factstest.Metal, c.changes, c.without...)
		f := factstest.Fields[baremetal.Provisioning](t, w, baremetal.ProvisioningFact(), factstest.Cluster())
		if slices.ContainsFunc([]facts.Field[bool]{f.Degraded, f.Waits, f.Invalid}, func(x facts.Field[bool]) bool { return x.Equal(facts.Known(false)) }) {
			t.Errorf("%s: degraded %v, waits %v, invalid %v", name, f.Degraded, f.Waits, f.Invalid)
		}
	}
}
