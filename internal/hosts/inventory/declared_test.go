package inventory_test

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// TestDeclared: what a kubelet says of itself declares nothing, be it addresses, names
// or another host's Machine that it would be joined with.
func TestDeclared(t *testing.T) {
	const node = "-- patch:cluster-scoped-resources/core/nodes/w0.yaml --\nstatus: {addresses: [{type: InternalIP, address: 198.51.100.66}, {type: Hostname, address: api.example}]}\n"
	const rogue = "-- cluster-scoped-resources/core/nodes/rogue.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: rogue}\n" +
		"status: {addresses: [{type: InternalIP, address: 192.0.2.21}, {type: Hostname, address: w1}]}\n"
	list, err := inventory.Declared(t.Context(), factstest.World(t, metal, node+rogue))
	if err != nil || len(list) == 0 {
		t.Fatalf("%d hosts, %v", len(list), err)
	}
	for _, h := range list {
		names := append([]string{h.Name}, h.Aliases...)
		if h.Node != nil || slices.Contains(names, "rogue") || slices.Contains(names, "api.example") || slices.Contains(h.Addresses, "198.51.100.66") {
			t.Errorf("%s rests on its Node: %v, %v", h.Name, names, h.Addresses)
		}
	}
	for _, r := range []evidence.Resource{evidence.Machines, evidence.BareMetalHosts} {
		w := factstest.World(t, metal, "", evidence.Objects(r, openshift.MachineAPINamespace))
		if list, err := inventory.Declared(t.Context(), w); err == nil {
			t.Errorf("without %s there are %d declared hosts", r, len(list))
		}
	}
}
