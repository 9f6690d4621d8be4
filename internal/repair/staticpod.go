package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// What the actions on the operators of static pods have in common.

// availableRevision is the newest revision that an operator of static pods has made.
const availableRevision = "/status/latestAvailableRevision"

// operands are the resources of the operators that run static pods.
var operands = map[string]string{
	"etcd": "etcds", openshift.APIServer: "kubeapiservers", openshift.ControllerManager: "kubecontrollermanagers", openshift.Scheduler: "kubeschedulers",
}

func operandNames() []string { return slices.Sorted(maps.Keys(operands)) }

// operandRef is the resource of the operator; one that runs no static pods has none.
func operandRef(operator string) Ref {
	return Ref{Group: openshift.OperatorGroup, Version: "v1", Resource: operands[operator], Name: "cluster"}
}

// operatorOf is the operator whose pods are in the namespace; "" for others.
func operatorOf(namespace string) string {
	name, _ := strings.CutPrefix(namespace, "openshift-")
	if operands[name] == "" || name == namespace {
		return ""
	}
	return name
}

// redeployGuards: where etcd itself restarts, all its members must be healthy.
func redeployGuards(operator string) []Guard {
	if operator == "etcd" {
		return []Guard{{Guard: EtcdMembers, Count: leastMembers}, {Guard: OthersAtRest}}
	}
	return []Guard{{Guard: EtcdQuorum}, {Guard: OthersAtRest}}
}

// nodeStatuses are the revisions of the nodes, as an operator of static pods reports them.
func nodeStatuses(operator Object) []Object {
	v, _ := fieldAt(operator, "/status/nodeStatuses")
	list, _ := v.([]any)
	out := make([]Object, 0, len(list))
	for _, n := range list {
		o, _ := n.(map[string]any)
		out = append(out, o)
	}
	return out
}

// behindNewest returns which node does not run the newest revision, "" where all do. Without
// any node it is not known, and counts as rolling out.
func behindNewest(operator Object) string {
	nodes := nodeStatuses(operator)
	newest := intAt(operator, "status", "latestAvailableRevision")
	if len(nodes) == 0 || newest == 0 {
		return "status shows no revisions"
	}
	for _, n := range nodes {
		if current, target := intAt(n, "currentRevision"), intAt(n, "targetRevision"); current != newest || target != 0 && target != current {
			return fmt.Sprintf("%.80v is at revision %d of %d", n["nodeName"], current, newest)
		}
	}
	return ""
}
