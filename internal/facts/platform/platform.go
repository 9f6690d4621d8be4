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
// External, ... The field came with 4.8, and from then on the API fills it in. Before, a control plane was
// highly available unless somebody overrode that in the etcd operator, so an empty field says nothing
// (openshift/api:config/v1/types_infrastructure.go InfrastructureStatus, release-4.7 and release-4.8;
// openshift/cluster-etcd-operator:pkg/operator/ceohelpers/unsupported_override.go,
// useUnsupportedUnsafeNonHANonProductionUnstableEtcd).
func Topology(ctx context.Context, w *facts.World) (Value, error) {
	return read(ctx, w, evidence.Infrastructures, "infrastructure", "status.controlPlaneTopology", "status", "controlPlaneTopology")
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
