package inventory

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// TestPerhapsNodes: a row of a Machine is not a further host where a Node without a Machine may be it.
func TestPerhapsNodes(t *testing.T) {
	node := func(name, role string) *Host {
		return &Host{Name: name, Node: &Node{API: corev1.Node{}}, Role: role}
	}
	machine := func(name, phase string, part bool) *Host {
		h := &Host{Name: name, Machine: &Machine{part: part}}
		h.Machine.API = apitypes.Machine{}
		h.Machine.API.Name, h.Machine.API.Status.Phase = name, &phase
		return h
	}
	b := &builder{list: []*Host{
		node("cp1.lab", "master"), node("w1.lab", "worker"), node("w2.lab", "worker"),
		machine("c-master-0", "Failed", true), machine("c-master-1", "Failed", true), // of one of them there is a Node
		machine("c-worker-a", "Provisioned", true), // it has no Node yet
		machine("c-worker-b", "Running", true),
		machine("c-worker-c", "Failed", false), // an object, without a nodeRef
	}}
	b.markPerhapsNodes()
	var got []string
	for _, h := range b.list {
		if h.PerhapsNode {
			got = append(got, h.Name)
		}
	}
	if want := []string{"c-master-0", "c-worker-b"}; !slices.Equal(got, want) {
		t.Errorf("may be Nodes that are there: %v, want %v", got, want)
	}
}
