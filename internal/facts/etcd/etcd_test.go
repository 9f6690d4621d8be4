package etcd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
)

func TestMembersAreCountedFromTheOperatorsWords(t *testing.T) {
	tests := []struct {
		name, message string
		want          Etcd
	}{
		{"all", "3 members are available", Etcd{Available: 3, Members: 3, Quorum: 2, Quorate: true, Tolerant: true}},
		{"one of three is unhealthy", "2 of 3 members are available, control2.lark.example.com is unhealthy",
			Etcd{Available: 2, Members: 3, Quorum: 2, Quorate: true, Unhealthy: []string{"control2.lark.example.com"}}},
		{"two of three", "1 of 3 members are available, m1 is unhealthy, m2 is unhealthy",
			Etcd{Available: 1, Members: 3, Quorum: 2, Unhealthy: []string{"m1", "m2"}}},
		{"not started", "3 of 4 members are available, NAME-PENDING-192.0.2.12 has not started",
			Etcd{Available: 3, Members: 4, Quorum: 3, Quorate: true, NotStarted: []string{"NAME-PENDING-192.0.2.12"}}},
		{"two members only", "2 members are available", Etcd{Available: 2, Members: 2, Quorum: 2, Quorate: true}},
		{"one of one", "1 members are available", Etcd{Available: 1, Members: 1, Quorum: 1, Quorate: true}},
		{"five with one down", "4 of 5 members are available, m4 is unhealthy",
			Etcd{Available: 4, Members: 5, Quorum: 3, Quorate: true, Tolerant: true, Unhealthy: []string{"m4"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Etcd
			var p facts.Proof
			got.members([]conditions.Condition{{Type: "EtcdMembersAvailable", Status: "True", Message: tt.message}}, &p)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("members of %q (-want +got):\n%s", tt.message, diff)
			}
			if len(p.Unknown) > 0 {
				t.Errorf("unknown: %v", p.Unknown)
			}
		})
	}
}

func TestSilenceIsNotHealth(t *testing.T) {
	var e Etcd
	var p facts.Proof
	e.members([]conditions.Condition{{Type: "EtcdMembersDegraded", Status: "False", Message: "No unhealthy members found"}}, &p)
	for _, f := range []string{"available", "members", "quorate", "tolerant", "unhealthy"} {
		if p.Unknown[f] == "" {
			t.Errorf("%s is known though no number was said", f)
		}
	}
}

func TestUnsafeIsReadAsTheOperatorDoes(t *testing.T) {
	for value, want := range map[any]bool{true: true, "true": true, "T": true, "1": true, false: false, "no": false, "": false, 1: false} {
		o := evidence.Object{Content: map[string]any{"spec": map[string]any{"unsupportedConfigOverrides": map[string]any{unsafeKey: value}}}}
		if got := unsafe(o); got != want {
			t.Errorf("unsafe with %v = %t, want %t", value, got, want)
		}
	}
}
