package baremetal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// provisioningName is the only Provisioning that is looked at
// (openshift/cluster-baremetal-operator:api/v1alpha1/provisioning_types.go ProvisioningSingletonName).
const provisioningName = "provisioning-configuration"

// Provisioning is the fact provisioning.
type Provisioning struct {
	Exists   facts.Field[bool]      `cel:"exists"`
	Managed  facts.Field[int]       `cel:"managed"` // BareMetalHosts that have a BMC
	Degraded facts.Field[bool]      `cel:"degraded"`
	Message  facts.Field[string]    `cel:"message"`
	Waits    facts.Field[bool]      `cel:"waits"`   // the operator says that it waits for the resource
	Invalid  facts.Field[bool]      `cel:"invalid"` // the operator refuses what the resource says
	Since    facts.Field[time.Time] `cel:"since"`
}

// ProvisioningFact is the fact provisioning.
func ProvisioningFact() facts.Fact {
	return facts.Define("provisioning", fault.Cluster, "the configuration of bare metal provisioning, and what operator baremetal says of it",
		needs(evidence.Objects(evidence.Provisionings, ""), evidence.Objects(evidence.ClusterOperators, "")), readProvisioning)
}

func readProvisioning(ctx context.Context, w *facts.World, _ fault.Subject) (Provisioning, error) {
	var f Provisioning
	list, err := all(ctx, w)
	if err != nil {
		return f, Elsewhere(ctx, w, err)
	}
	if len(list) == 0 {
		return f, facts.NotApplicable("there are no BareMetalHosts")
	}
	managed := 0
	for _, h := range list {
		if h.BMH.API.Spec.BMC.Address != "" {
			managed++
		}
	}
	f.Managed.Set(managed, evidence.Listed(evidence.BareMetalHosts, openshift.MachineAPINamespace, fmt.Sprintf("%d hosts with a BMC", managed)))
	o, ok, err := w.Get(ctx, evidence.Provisionings, "", provisioningName)
	switch {
	case err != nil:
		if err := facts.Miss(err, &f.Exists); err != nil {
			return f, err
		}
	case ok:
		network := evidence.String(o.Content, "spec", "provisioningNetwork")
		item := o.Shows("spec.provisioningNetwork", fmt.Sprintf("provisioningNetwork %s, %d hosts with a BMC", network, managed), o.Created())
		f.Exists.Set(true, item)
	default:
		item := evidence.Listed(evidence.Provisionings, "", fmt.Sprintf("there is none, and %d hosts have a BMC", managed))
		f.Exists.Set(false, item)
	}
	if err := f.operator(ctx, w); err != nil {
		return f, err
	}
	facts.Complete(&f)
	return f, nil
}

// operator reads the reasons of openshift/cluster-baremetal-operator:controllers/clusteroperator.go.
func (f *Provisioning) operator(ctx context.Context, w *facts.World) error {
	co, ok, err := w.Get(ctx, evidence.ClusterOperators, "", "baremetal")
	if err != nil {
		return facts.Miss(err, &f.Degraded, &f.Message, &f.Waits, &f.Invalid, &f.Since)
	}
	if !ok {
		return facts.Miss(notReported, &f.Degraded, &f.Message, &f.Waits, &f.Invalid, &f.Since)
	}
	list := conditions.Of(co)
	waits := slices.IndexFunc(list, func(c conditions.Condition) bool { return c.Reason == "WaitingForProvisioningCR" })
	if waits >= 0 {
		f.Waits.Set(true, list[waits].Item())
	}
	c := conditions.Find(list, "Degraded")
	if c.Type == "" {
		if waits < 0 {
			f.Waits.Miss(notReported)
		}
		return facts.Miss(notReported, &f.Degraded, &f.Message, &f.Invalid, &f.Since)
	}
	item := c.Item()
	item.Excerpt = short(item.Excerpt)
	degraded := c.Status == "True"
	f.Degraded.Set(degraded, item)
	f.Invalid.Set(degraded && c.Reason == "InvalidConfiguration", item)
	f.Message.Set(short(c.Message), item)
	f.Since.Set(c.Since, item)
	if waits < 0 {
		f.Waits.Set(false, item)
	}
	return nil
}

// notReported is why nothing is known of what the operator says.
var notReported = conditions.NotReported(evidence.ClusterOperators, "baremetal", "Degraded")
