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
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
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

// Topology returns the topology of the control plane: HighlyAvailable, SingleReplica,
// External, ... The field came with 4.8, and from then on the API fills it in: before, every
// control plane was highly available (openshift/api:config/v1/types_infrastructure.go
// InfrastructureStatus, release-4.7 and release-4.8).
func Topology(ctx context.Context, w *facts.World) (Value, error) {
	v, err := read(ctx, w, evidence.Infrastructures, "infrastructure", "status.controlPlaneTopology", "status", "controlPlaneTopology")
	if _, empty := evidence.AsUnavailable(err); empty && v.Object.Content != nil && before(w.Version, 8) {
		return Value{Text: highlyAvailable, Object: v.Object, field: "status.controlPlaneTopology"}, nil
	}
	return v, err
}

const highlyAvailable = "HighlyAvailable"

// before reports whether a release is known to be one before 4.minor.
func before(version string, minor int) bool {
	var major, have int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &have)
	return n == 2 && major == 4 && have < minor
}

// read returns the object without the text, and an error, where the field is not filled in.
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
		return Value{Object: o}, &missing
	}
	return Value{Text: text, Object: o, field: field}, nil
}
