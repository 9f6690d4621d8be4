package cluster

import (
	"context"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// reportsWithin is the longest that a kubelet whose Node stays Ready leaves between two
// heartbeats: nodeStatusReportFrequency is 5 minutes, the kubelet adds up to half of it so
// that nodes do not report together, and one write may fail
// (openshift/machine-config-operator:templates/master/01-master-kubelet/_base/files/kubelet.yaml,
// kubernetes/kubernetes:pkg/kubelet/kubelet_node_status.go calculateDelay).
const reportsWithin = 10 * time.Minute

// readBy is the latest time at which a source was read that does not say when: each kubelet
// whose Node is Ready has reported within the last minutes, so the Node whose heartbeat is the
// oldest bounds it best. Without that Node the bound is later, and less is known. Zero where no
// Node bounds it, or where something in the source is younger than that: then the parts were
// read at different times. Parts of which nothing shows that are taken for read together.
func readBy(ctx context.Context, w *facts.World) (time.Time, error) {
	if !w.AtLeast {
		return time.Time{}, nil
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err := tolerate(err); err != nil {
		return time.Time{}, err
	}
	var oldest time.Time
	for _, n := range nodes {
		list, _ := evidence.Field(n.Content, "status", "conditions").([]any)
		for _, e := range list {
			c, _ := e.(map[string]any)
			if evidence.String(c, "type") != "Ready" || evidence.String(c, "status") != "True" {
				continue
			}
			if at := evidence.Time(c, "lastHeartbeatTime"); !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	until := oldest.Add(reportsWithin)
	if oldest.IsZero() || w.Now.After(until) {
		return time.Time{}, nil
	}
	return until, nil
}
