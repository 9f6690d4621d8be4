package serve

import (
	"fmt"
	"strings"
)

// The faults about requests for certificates that wait beyond their time or were denied (catalog/csr).
const csrFaults = "csr-client-pending|csr-serving-pending|csr-renewal-not-approved|csr-denied"

// staleAfter is the age of an answer from which on it is no answer about the present. It is longer than the longest pause
// between two readings (pace.OfServer) and a rollout of the API servers together.
const staleAfter = "900"

// alert is one rule of Prometheus. There are no others, and none that calls a person at night at once: whatever Rollcall
// finds is not a loss of the whole cluster within minutes (openshift/enhancements:
// enhancements/monitoring/alerting-consistency.md).
type alert struct {
	name, expr, wait     string
	summary, description string
}

// gap is how long a series may be away without the alert starting anew: while another replica takes over.
const gap = "[5m]"

// alerts are the rules for the metrics of a namespace.
func alerts(namespace string) []alert {
	in := `namespace="` + namespace + `"`
	most := func(by, metric string, labels ...string) string {
		return fmt.Sprintf("max by (%s) (max_over_time(%s{%s}%s))", by, metric, strings.Join(append([]string{in}, labels...), ","), gap)
	}
	return []alert{
		{
			name: "RollcallHostNotJoined", wait: "15m",
			expr:    most("namespace, role", "rollcall_hosts", `state="failed"`) + " > 0",
			summary: "Expected hosts do not join the cluster.",
			description: "At least {{ $value }} expected host(s) of role {{ $labels.role }} failed at a stage of the join path and did not pass it for " +
				"15 minutes. rollcall_host_stage_info names them. Run: rollcall diagnose",
		},
		{
			name: "RollcallRootProven", wait: "15m",
			expr:        most("namespace, fault", "rollcall_root_info", `confidence="proven"`, `severity="error"`) + " == 1",
			summary:     "The cause of a failure is proven and does not pass by itself.",
			description: "The fault {{ $labels.fault }} is proven for 15 minutes. Run: rollcall explain {{ $labels.fault }}, then: rollcall diagnose",
		},
		{
			name: "RollcallCSRRefused", wait: "15m",
			expr:    most("namespace, fault", "rollcall_findings", `fault=~"`+csrFaults+`"`, `outcome="present"`) + " > 0",
			summary: "Requests of kubelets for certificates are not approved, or were denied.",
			description: "{{ $value }} request(s) show the fault {{ $labels.fault }} for 15 minutes. Look at who asks before you approve. " +
				"Run: rollcall csr list",
		},
		{
			name: "RollcallNotEvaluating", wait: "10m",
			expr: "time() - max by (namespace) (rollcall_last_run_timestamp_seconds{" + in + "}) > " + staleAfter +
				" or absent(rollcall_last_run_timestamp_seconds{" + in + "})",
			summary: "Rollcall does not read the cluster.",
			description: "No reading of the cluster succeeded for 15 minutes: the other alerts of Rollcall show an old state, or none. The log of the " +
				"pod has the reason: oc -n " + namespace + " logs deployment/rollcall",
		},
	}
}

// rules are the alerts as the groups of a rule file, and of a PrometheusRule.
func rules(namespace string) object {
	var list []any
	for _, a := range alerts(namespace) {
		list = append(list, object{"alert": a.name, "expr": a.expr, "for": a.wait, "labels": object{"severity": "warning"},
			"annotations": object{"summary": a.summary, "description": a.description}})
	}
	return object{"groups": []any{object{"name": "rollcall", "rules": list}}}
}
