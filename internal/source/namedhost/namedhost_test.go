package namedhost

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestSource(t *testing.T) {
	s := New(Host{Name: "w1", By: Console, Console: true}, Host{Name: "w2", By: Expect},
		Host{Name: "W1", Addresses: []string{"192.0.2.1"}, By: Expect}, Host{Name: "w1", Addresses: []string{"192.0.2.1", "192.0.2.2"}, By: Expect})
	list, err := s.List(t.Context(), evidence.NamedHosts, "")
	if err != nil || len(list) != 2 {
		t.Fatalf("List = %v, %v", list, err)
	}
	h, err := Of(list[0])
	if err != nil || h.Name != "w1" || h.By != Expect || !h.Console || !slices.Equal(h.Addresses, []string{"192.0.2.1", "192.0.2.2"}) {
		t.Errorf("Of = %+v, %v", h, err)
	}
	if list[1].Loc.Source != Expect || list[1].Loc.Path != "--expect w2" {
		t.Errorf("Loc = %+v", list[1].Loc)
	}
	for _, err := range []error{
		func() error { _, err := s.List(t.Context(), evidence.Nodes, ""); return err }(),
		func() error { _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console}); return err }(),
	} {
		if u, ok := evidence.AsUnavailable(err); !ok || u.Why != evidence.NotCollected {
			t.Errorf("%v, want not collected", err)
		}
	}
}

func TestIsBootstrap(t *testing.T) {
	for name, want := range map[string]bool{
		"bootstrap": true, "ocp-x7k2p-bootstrap": true, "Bootstrap.lab.example.com": true, "bootstrap-0": false, "w1": false, "": false,
		"w1.bootstrap.example.com": false,
	} {
		if IsBootstrap(name) != want {
			t.Errorf("IsBootstrap(%q) = %v", name, !want)
		}
	}
}
