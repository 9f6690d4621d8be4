package controlplane

import (
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// noNodeFits is what the scheduler says of a pod that fits on no node, as an operator repeats it
// (kubernetes/kubernetes:pkg/scheduler/framework/types.go FitError,
// openshift/cluster-ingress-operator:pkg/operator/controller/ingress/status.go computeDeploymentPodsScheduledCondition).
var noNodeFits = regexp.MustCompile(`(?:[Pp]od "([^"]+)" cannot be scheduled: )?(\d+/\d+ nodes are available: .+?)\.?(?:\.\)|\. Make sure|\. preemption:|\.?$)`)

// unscheduled returns the scheduler's words in the message of a condition, "" where there are none. Operators put
// them behind their own, which only repeat that something is degraded.
func unscheduled(message string) string {
	m := noNodeFits.FindStringSubmatch(strings.Join(strings.Fields(message), " "))
	if m == nil {
		return ""
	}
	const most = 300
	said := m[2]
	if m[1] != "" {
		said = "pod " + m[1] + " cannot be scheduled: " + said
	}
	return evidence.Shorten(said, most)
}
