package pools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// nodeConfig is what one Node names.
type nodeConfig struct {
	object                         evidence.Object
	pool                           string
	current, desired, state, cause string
	class                          class
}

func configOf(o evidence.Object) nodeConfig {
	n := nodeConfig{
		object: o, current: o.Annotation(openshift.CurrentConfigAnnotation), desired: o.Annotation(openshift.DesiredConfigAnnotation),
		state: o.Annotation(openshift.ConfigStateAnnotation), cause: o.Annotation(openshift.ConfigReasonAnnotation),
	}
	n.class = classOf(n.cause)
	n.pool = inventory.PoolOfNode(o)
	return n
}

// nodeConfigs reads what all Nodes of a pool name.
func nodeConfigs(ctx context.Context, w *facts.World, pool string) ([]nodeConfig, error) {
	list, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return nil, err
	}
	var nodes []nodeConfig
	for _, o := range list {
		if n := configOf(o); n.pool == pool {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// item is what the Node names, as evidence.
func (n nodeConfig) item() evidence.Item {
	return n.object.Shows("metadata.annotations."+openshift.CurrentConfigAnnotation,
		fmt.Sprintf("currentConfig: %s, desiredConfig: %s, state: %s", n.current, n.desired, n.state), time.Time{})
}

// complaint is what its daemon gives as the reason, as evidence.
func (n nodeConfig) complaint() evidence.Item {
	return n.object.Shows("metadata.annotations."+openshift.ConfigReasonAnnotation, quote(n.cause), time.Time{})
}

// degraded reports whether the daemon has marked the Node.
func (n nodeConfig) degraded() bool { return n.state == "Degraded" || n.state == "Unreconcilable" }

// configMissing reports whether the daemon is Degraded as the config that the Node names is missing.
func (n nodeConfig) configMissing() bool {
	return n.class.missing() && n.degraded() && n.current != "" && strings.Contains(n.cause, n.current)
}

// nodeReady reads the Node's condition Ready. One that was never reported is unknown.
func nodeReady(o evidence.Object) (bool, evidence.Item, error) {
	conditions, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range conditions {
		m, _ := raw.(map[string]any)
		if evidence.String(m, "type") == "Ready" {
			status := evidence.String(m, "status")
			return status == "True", o.Shows("status.conditions[Ready]", "Ready: "+status, evidence.Time(m, "lastTransitionTime")), nil
		}
	}
	return false, evidence.Item{}, &evidence.Unavailable{Need: evidence.Objects(evidence.Nodes, ""), Why: evidence.NotCollected,
		Detail: "condition Ready of " + o.Name + ": not reported yet"}
}
