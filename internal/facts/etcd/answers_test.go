package etcd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
)

func answer(v any) evidence.Object {
	return evidence.Object{Content: map[string]any{"answer": v}}
}

type object = map[string]any

func TestAlarms(t *testing.T) {
	names := map[string]string{"961661703505595398": "m0", "12438974592719204410": "m1"}
	raised := func(member any, kind any) object { return object{"memberID": member, "alarm": kind} }
	tests := []struct {
		name  string
		o     evidence.Object
		known bool
		want  Answers
	}{
		{"none", answer(object{}), true, Answers{}},
		{"no space, as a number", answer(object{"alarms": []any{raised(int64(961661703505595398), int64(1))}}), true, Answers{Alarm: "NOSPACE", On: "m0"}},
		{"an ID beyond int64, as a word", answer(object{"alarms": []any{raised("12438974592719204410", "NOSPACE")}}), true, Answers{Alarm: "NOSPACE", On: "m1"}},
		{"corrupt goes first, and names its own members", answer(object{"alarms": []any{raised(int64(961661703505595398), int64(1)), raised("7", int64(2))}}), true,
			Answers{Alarm: "CORRUPT", On: "member 7"}},
		{"an alarm that is none", answer(object{"alarms": []any{raised("7", int64(0)), "x", nil}}), true, Answers{}},
		{"an error", answer(object{"error": "context deadline exceeded"}), false, Answers{}},
		{"a list", answer([]any{}), false, Answers{}},
		{"nothing", evidence.Object{}, false, Answers{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got Answers
			var p facts.Proof
			if known := got.alarms(tt.o, names, &p); known != tt.known {
				t.Errorf("known is %t", known)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersOfEtcd(t *testing.T) {
	var a Answers
	var p facts.Proof
	names, ok := a.listed(answer(object{"members": []any{
		object{"ID": "12438974592719204410", "name": "m1"},
		object{"ID": int64(5), "peerURLs": []any{"https://192.0.2.12:2380"}},
		"no member",
	}}), &p)
	if want := []string{"NAME-PENDING-https://192.0.2.12:2380", "m1"}; !ok || cmp.Diff(want, a.Members) != "" || names["12438974592719204410"] != "m1" {
		t.Errorf("%v, %q, %v", ok, a.Members, names)
	}
	if a.health(answer([]any{object{"endpoint": "https://192.0.2.10:2379", "health": false, "error": "deadline"},
		object{"endpoint": "unixs://192.0.2.10:0", "health": false}, object{"endpoint": "https://192.0.2.11:2379", "health": true}}), &p); cmp.Diff([]string{"https://192.0.2.10:2379"}, a.Unhealthy) != "" {
		t.Errorf("%q", a.Unhealthy)
	}
	if ok := a.sizes(answer([]any{object{"Status": object{"dbSize": int64(105885696)}}, object{"Status": object{"dbSize": int64(8589934592)}}}), &p); !ok || a.LargestMB != 8589 {
		t.Errorf("%d MB", a.LargestMB)
	}
}
