// Package platform says where a cluster runs: its platform, its network plugin and the
// topology of its control plane.
//
// Invariants:
//   - Each cluster has these objects, and the installer fills them in. One that is not
//     there, or that lacks the field, was not read: it gives no answer, and never "another
//     platform".
package platform

import (
	"context"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
)

// Value is what an object says of the cluster, and the object.
type Value struct {
	Text   string
	Object evidence.Object
	field  string
}

// Item is the value as a piece of evidence.
func (v Value) Item() evidence.Item { return v.Object.Shows(v.field, v.field+": "+v.Text, time.Time{}) }

// Type returns the platform: BareMetal, VSphere, None, ...
// (openshift/api:config/v1/types_infrastructure.go PlatformStatus).
func Type(ctx context.Context, w *facts.World) (Value, error) {
	return read(ctx, w, evidence.Infrastructures, "infrastructure", "status.platformStatus.type", "status", "platformStatus", "type")
}

// Network returns the network plugin: OVNKubernetes, OpenShiftSDN, ... The network operator
// fills it in (openshift/api:config/v1/types_network.go NetworkStatus).
func Network(ctx context.Context, w *facts.World) (Value, error) {
	return read(ctx, w, evidence.NetworkConfigs, "network", "status.networkType", "status", "networkType")
}

func read(ctx context.Context, w *facts.World, r evidence.Resource, kind, field string, path ...string) (Value, error) {
	missing := evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.NotCollected,
		Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: kind, Name: "cluster"}}
	o, ok, err := w.Get(ctx, r, "", "cluster")
	if err != nil {
		return Value{}, err
	}
	if !ok {
		return Value{}, &missing
	}
	text := evidence.String(o.Content, path...)
	if text == "" {
		missing.Detail = field + " is not filled in"
		return Value{}, &missing
	}
	return Value{Text: text, Object: o, field: field}, nil
}
