package csrs

import (
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

func TestStrangers(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	roll := &inventory.Inventory{Hosts: []inventory.Host{{Name: "w0", Node: &inventory.Node{}, Claims: []inventory.Claim{{Name: "csr-w0"}}}}}
	all := []Request{{Name: "csr-w0", Kind: Client, NodeName: "w0", State: Issued, Created: now.Add(-30 * time.Minute)}}
	for i := range 50 {
		name := fmt.Sprintf("csr-%02d", i)
		node := fmt.Sprintf("n%02d.example.com", i)
		roll.Hosts = append(roll.Hosts, inventory.Host{Name: node, Claims: []inventory.Claim{{Name: name}}})
		all = append(all, Request{Name: name, Kind: Client, NodeName: node, State: Issued, Requester: openshift.NodeBootstrapper,
			Approval: Mark{Reason: "KubectlApprove", At: now.Add(-time.Duration(55-i) * time.Minute)}})
	}
	all = append(all, Request{Name: "csr-00", Kind: Client, NodeName: "n00.example.com", Requester: "system:node:n00.example.com", CN: "system:node:n00.example.com", State: Issued})
	f := unknownNamesOf(unknownNames(all, roll, now))
	if f.Count.Value() != 40 { // the last 10 may still register
		t.Errorf("%d names, want 40", f.Count.Value())
	}
	if want := "n00.example.com, n01.example.com, n02.example.com and 37 more"; f.Names.Value() != want {
		t.Errorf("names %q, want %q", f.Names.Value(), want)
	}
	if f.Approver.Value() != "KubectlApprove" || f.Requester.Value() != openshift.NodeBootstrapper || f.Window.Value() != "39m" || len(f.Names.Proof()) != mostShown {
		t.Errorf("approver %q, requester %q, window %q, %d pieces of evidence", f.Approver.Value(), f.Requester.Value(), f.Window.Value(), len(f.Names.Proof()))
	}
}

// TestRenamed: names that were replaced in the text of an archive alone are told by the
// requests of kubelets that have a certificate; a single request for another name is not.
func TestRenamed(t *testing.T) {
	serving := func(requester, name string, state State) Request {
		return Request{Kind: Serving, Requester: openshift.NodeUserPrefix + requester, CN: openshift.NodeUserPrefix + name, State: state}
	}
	for name, tt := range map[string]struct {
		all  []Request
		want bool
	}{
		"nothing":               {nil, false},
		"its own name":          {[]Request{serving("w0", "w0", Issued)}, false},
		"two of other names":    {[]Request{serving("node-a", "w0", Issued), serving("node-b", "w1", Issued)}, true},
		"the same one twice":    {[]Request{serving("node-a", "w0", Issued), serving("node-a", "w1", Issued)}, false},
		"one of its own name":   {[]Request{serving("node-a", "w0", Issued), serving("node-b", "w1", Issued), serving("w2", "w2", Issued)}, false},
		"not issued":            {[]Request{serving("node-a", "w0", Pending), serving("node-b", "w1", Denied)}, false},
		"requests not read":     {[]Request{{Requester: openshift.NodeUserPrefix + "node-a", State: Issued}, {Requester: openshift.NodeUserPrefix + "node-b", State: Issued}}, false},
		"before they had names": {[]Request{{Kind: Client, Requester: openshift.NodeBootstrapper, CN: openshift.NodeUserPrefix + "w0", State: Issued}}, false},
	} {
		if got := renamed(tt.all); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
