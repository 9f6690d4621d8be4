package repair

import "github.com/rollcall-project/rollcall/internal/kernel/fault"

const unsafeEtcd = "/spec/unsupportedConfigOverrides/useUnsupportedUnsafeNonHANonProductionUnstableEtcd"

// removeEtcdOverride has the etcd operator protect the quorum again.
func removeEtcdOverride() fieldChange {
	return fieldChange{
		remedy:        "remove-etcd-override",
		target:        singleTarget(etcdRef()),
		reads:         []string{unsafeEtcd},
		set:           func(Object, input) (map[string]any, error) { return map[string]any{unsafeEtcd: nil}, nil },
		guards:        func(string) []Guard { return []Guard{{Guard: EtcdMembers, Count: leastMembers}} },
		mayCostMember: func(string) bool { return true },
		risk:          fault.RiskReversible,
		riskText:      "the etcd operator holds back rollouts that could cost the quorum again",
		proof:         Simulated,
		title:         "remove useUnsupportedUnsafeNonHANonProductionUnstableEtcd from etcd %s",
		oc:            `oc patch etcd %s --type=json -p '[{"op":"remove","path":"` + unsafeEtcd + `"}]'`,
		inverse:       "write the override back with its value",
		expect:        "etcd %s has no such override",
		takes:         2,
	}
}
