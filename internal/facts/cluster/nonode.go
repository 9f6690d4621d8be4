package cluster

import (
	"context"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// noNodes is what the scheduler writes to a pod while there is no Node at all; where there
// is one it counts them
// (kubernetes/kubernetes:pkg/scheduler/schedule_one.go ErrNoNodesAvailable, FitError).
const noNodes = "no nodes available to schedule pods"

// schedulable are the namespaces of the first pods of an installation.
var schedulable = []string{openshift.MachineConfigNamespace, openshift.MachineApproverNamespace, openshift.MachineAPINamespace}

// withoutNode reports that the scheduler found no Node: it says so of a pod, and none of
// these pods is on one. An archive that has a file for each object has none for the Nodes
// then, and does not show that it looked for them.
func withoutNode(ctx context.Context, w *facts.World) (bool, error) {
	said := false
	for _, ns := range schedulable {
		pods, err := w.List(ctx, evidence.Pods, ns)
		if err := tolerate(err); err != nil {
			return false, err
		}
		for _, p := range pods {
			if evidence.String(p.Content, "spec", "nodeName") != "" {
				return false, nil
			}
			said = said || sawNoNode(p)
		}
	}
	return said, nil
}

func sawNoNode(pod evidence.Object) bool {
	list, _ := evidence.Field(pod.Content, "status", "conditions").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "PodScheduled" && evidence.String(c, "status") == "False" {
			return strings.HasPrefix(evidence.String(c, "message"), noNodes)
		}
	}
	return false
}
