package command

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestJoining(t *testing.T) {
	host := func(name string, stage fault.Stage, state diagnosis.StageOutcome, expected bool) diagnosis.HostState {
		return diagnosis.HostState{Name: name, Role: "master", Stage: stage, State: state, Expected: expected}
	}
	d := &diagnosis.Diagnosis{Hosts: []diagnosis.HostState{
		host("done", fault.ConfigDone, diagnosis.StagePassed, true),
		host("degraded", fault.ConfigDone, diagnosis.StageFailed, true),
		host("fetches", fault.IgnitionFetched, diagnosis.StageFailed, true),
		host("registers", fault.Registered, diagnosis.StageWaiting, true),
		host("claimed", fault.ClientCert, diagnosis.StageWaiting, false),
	}}
	var names []string
	for _, h := range joining(d) {
		names = append(names, h.Name)
	}
	if want := []string{"fetches", "registers"}; !slices.Equal(names, want) {
		t.Errorf("still to join: %v, want %v", names, want)
	}
}

// A request is planned for where its host is known by more than the request's own claim.
func TestConcernsRequest(t *testing.T) {
	requests := []csrs.Request{{Name: "csr-1", NodeName: "worker8"}, {Name: "csr-2", NodeName: "worker11"}}
	for _, tt := range []struct {
		request string
		host    diagnosis.HostState
		want    bool
	}{
		{"csr-1", diagnosis.HostState{Name: "worker8", Role: "worker"}, true},
		{"csr-1", diagnosis.HostState{Name: "worker9", Role: "worker"}, false},
		{"csr-2", diagnosis.HostState{Name: "worker11"}, false},
		{"csr-3", diagnosis.HostState{Name: "worker8", Role: "worker"}, false},
	} {
		root := diagnosis.Case{Key: fault.Key{Subject: fault.Subject{Kind: fault.CSR, Name: tt.request}}}
		if got := concerns(requests, root, tt.host); got != tt.want {
			t.Errorf("%s asks for %s of role %q: %v, want %v", tt.request, tt.host.Name, tt.host.Role, got, tt.want)
		}
	}
}

func TestConcerns(t *testing.T) {
	h := diagnosis.HostState{Name: "control0", Role: "master"}
	for s, want := range map[fault.Subject]bool{
		{Kind: fault.Pool, Name: "master"}: true, {Kind: fault.Pool, Name: "worker"}: false,
		{Kind: fault.Host, Name: "control0"}: true, {Kind: fault.Host, Name: "control1"}: false,
		{Kind: fault.Cluster}: true, {Kind: fault.Operator, Name: "etcd"}: false,
	} {
		if got := concerns(nil, diagnosis.Case{Key: fault.Key{Subject: s}}, h); got != want {
			t.Errorf("a cause at %s concerns %s of %s: %v, want %v", s, h.Name, h.Role, got, want)
		}
	}
}

// Words that stand for a host without a name are no argument of a command.
func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{"worker8": true, "(2 of 2 of MachineSet crane-worker, no Machine yet)": false,
		"(worker 1 of 3, not named by any object)": false} {
		if got := (diagnosis.HostState{Name: name}).Named(); got != want {
			t.Errorf("%q is a name: %v, want %v", name, got, want)
		}
	}
}
