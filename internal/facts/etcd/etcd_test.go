package etcd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

func TestMembersAreCountedFromTheOperatorsWords(t *testing.T) {
	tests := []struct {
		name, message     string
		want              counts
		quorate, tolerant bool
	}{
		{"all", "3 members are available", counts{available: 3, members: 3}, true, true},
		{"one of three is unhealthy", "2 of 3 members are available, control2.lark.example.com is unhealthy",
			counts{available: 2, members: 3, unhealthy: []string{"control2.lark.example.com"}}, true, false},
		{"two of three", "1 of 3 members are available, m1 is unhealthy, m2 is unhealthy",
			counts{available: 1, members: 3, unhealthy: []string{"m1", "m2"}}, false, false},
		{"not started", "3 of 4 members are available, NAME-PENDING-192.0.2.12 has not started",
			counts{available: 3, members: 4, notStarted: []string{"NAME-PENDING-192.0.2.12"}}, true, false},
		{"two members only", "2 members are available", counts{available: 2, members: 2}, true, false},
		{"one of one", "1 members are available", counts{available: 1, members: 1}, true, false},
		{"five with one down", "4 of 5 members are available, m4 is unhealthy",
			counts{available: 4, members: 5, unhealthy: []string{"m4"}}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got counts
			if !got.read(tt.message) {
				t.Fatalf("%q has no numbers", tt.message)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(counts{})); diff != "" {
				t.Errorf("members of %q (-want +got):\n%s", tt.message, diff)
			}
			var e Etcd
			e.members([]conditions.Condition{{Type: "EtcdMembersAvailable", Status: "True", Message: tt.message}})
			if !e.Quorate.Equal(facts.Known(tt.quorate)) || !e.Tolerant.Equal(facts.Known(tt.tolerant)) {
				t.Errorf("quorate %v, tolerant %v", e.Quorate, e.Tolerant)
			}
		})
	}
}

func TestSilenceIsNotHealth(t *testing.T) {
	var e Etcd
	e.members([]conditions.Condition{{Type: "EtcdMembersDegraded", Status: "False", Message: "No unhealthy members found"}})
	facts.Complete(&e)
	for name, f := range map[string]fmt.Stringer{"available": e.Available, "members": e.Members, "quorate": e.Quorate, "tolerant": e.Tolerant, "unhealthy": e.Unhealthy} {
		if !strings.HasPrefix(f.String(), "unknown") {
			t.Errorf("%s is %v though the operator reports no number", name, f)
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
