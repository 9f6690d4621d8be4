package etcd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func answer(v any) evidence.Object {
	return evidence.Object{Content: map[string]any{"answer": v}}
}

type object = map[string]any

func TestAlarms(t *testing.T) {
	names := map[string]string{"961661703505595398": "m0", "12438974592719204410": "m1"}
	raised := func(member any, kind any) object { return object{"memberID": member, "alarm": kind} }
	tests := []struct {
		name      string
		o         evidence.Object
		known     bool
		alarm, on string
	}{
		{"none", answer(object{}), true, "", ""},
		{"no space, as a number", answer(object{"alarms": []any{raised(int64(961661703505595398), int64(1))}}), true, "NOSPACE", "m0"},
		{"an ID beyond int64, as a word", answer(object{"alarms": []any{raised("12438974592719204410", "NOSPACE")}}), true, "NOSPACE", "m1"},
		{"corrupt goes first, and names its own members", answer(object{"alarms": []any{raised(int64(961661703505595398), int64(1)), raised("7", int64(2))}}), true,
			"CORRUPT", "member 7"},
		{"an alarm that is none", answer(object{"alarms": []any{raised("7", int64(0)), "x", nil}}), true, "", ""},
		{"an error", answer(object{"error": "context deadline exceeded"}), false, "", ""},
		{"a list", answer([]any{}), false, "", ""},
		{"nothing", evidence.Object{}, false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got answers
			if known := got.alarms(tt.o, names); known != tt.known {
				t.Errorf("known is %t", known)
			}
			if got.Alarm.Value() != tt.alarm || got.On.Value() != tt.on {
				t.Errorf("alarm %v on %v, want %q on %q", got.Alarm, got.On, tt.alarm, tt.on)
			}
		})
	}
}

func TestMembersOfEtcd(t *testing.T) {
	var a answers
	names, ok := a.listed(answer(object{"members": []any{
		object{"ID": "12438974592719204410", "name": "m1"},
		object{"ID": int64(5), "peerURLs": []any{"https://192.0.2.12:2380"}},
		"no member",
	}}))
	if want := []string{"NAME-PENDING-https://192.0.2.12:2380", "m1"}; !ok || cmp.Diff(want, a.Members.Value()) != "" || names["12438974592719204410"] != "m1" {
		t.Errorf("%v, %q, %v", ok, a.Members, names)
	}
	if a.health(answer([]any{object{"endpoint": "https://192.0.2.10:2379", "health": false, "error": "deadline"},
		object{"endpoint": "unixs://192.0.2.10:0", "health": false}, object{"endpoint": "https://192.0.2.11:2379", "health": true}})); cmp.Diff([]string{"https://192.0.2.10:2379"}, a.Unhealthy.Value()) != "" {
		t.Errorf("%q", a.Unhealthy.Value())
	}
	if a.Healthy.Value() != 1 {
		t.Errorf("%s endpoints are healthy, want 1", a.Healthy)
	}
	if ok := a.sizes(answer([]any{object{"Status": object{"dbSize": int64(105885696)}}, object{"Status": object{"dbSize": int64(8589934592)}}})); !ok || a.LargestMB.Value() != 8589 {
		t.Errorf("%v MB", a.LargestMB)
	}
}
