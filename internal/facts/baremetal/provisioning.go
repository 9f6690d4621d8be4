package baremetal

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// provisioningName is the only Provisioning that is looked at
// (openshift/cluster-baremetal-operator:api/v1alpha1/provisioning_types.go ProvisioningSingletonName).
const provisioningName = "provisioning-configuration"

// Provisioning is the fact provisioning.
type Provisioning struct {
	Exists   bool      `cel:"exists"`
	Network  string    `cel:"network"` // Managed, Unmanaged, Disabled
	Managed  int       `cel:"managed"` // BareMetalHosts that have a BMC
	Reported bool      `cel:"reported"`
	Degraded bool      `cel:"degraded"`
	Reason   string    `cel:"reason"` // of operator baremetal
	Message  string    `cel:"message"`
	Waits    bool      `cel:"waits"`   // the operator says that it waits for the resource
	Invalid  bool      `cel:"invalid"` // the operator refuses what the resource says
	Since    time.Time `cel:"since"`
}

// ProvisioningFact is the fact provisioning.
func ProvisioningFact() facts.Fact {
	return facts.DefinePlain("provisioning", fault.Cluster, "the configuration of bare metal provisioning, and what operator baremetal says of it",
		needs(evidence.Objects(evidence.Provisionings, ""), evidence.Objects(evidence.ClusterOperators, "")), readProvisioning)
}

func readProvisioning(ctx context.Context, w *facts.World, _ fault.Subject) (Provisioning, facts.Proof, error) {
	var f Provisioning
	var p facts.Proof
	list, err := all(ctx, w)
	if err != nil {
		return f, p, Elsewhere(ctx, w, err)
	}
	if len(list) == 0 {
		return f, p, facts.NotApplicable("there are no BareMetalHosts")
	}
	for _, h := range list {
		if h.BMH.API.Spec.BMC.Address != "" {
			f.Managed++
		}
	}
	o, ok, err := w.Get(ctx, evidence.Provisionings, "", provisioningName)
	if err := miss(&p, err, "exists", "network"); err != nil {
		return f, p, err
	}
	if f.Exists = ok; ok {
		f.Network = evidence.String(o.Content, "spec", "provisioningNetwork")
		p.Add(o.Loc.At("spec.provisioningNetwork"), fmt.Sprintf("provisioningNetwork %s, %d hosts with a BMC", f.Network, f.Managed), o.Created(), "exists", "network", "managed")
	} else if err == nil {
		p.Add(evidence.Locator{Path: "provisionings"}, fmt.Sprintf("there is none, and %d hosts have a BMC", f.Managed), time.Time{}, "exists", "managed")
	}
	co, ok, err := w.Get(ctx, evidence.ClusterOperators, "", "baremetal")
	if err != nil {
		err = miss(&p, err, "reported", "degraded", "reason", "message", "waits", "invalid", "since")
		return f, p, err
	}
	f.Reported = ok
	f.operator(conditions.Of(co), &p)
	return f, p, nil
}

// operator reads the reasons of openshift/cluster-baremetal-operator:controllers/clusteroperator.go.
func (f *Provisioning) operator(list []conditions.Condition, p *facts.Proof) {
	fields := []string{"reported", "degraded", "reason", "message", "waits", "invalid", "since"}
	for _, c := range list {
		f.Waits = f.Waits || c.Reason == "WaitingForProvisioningCR"
		if c.Type != "Degraded" {
			continue
		}
		f.Degraded = c.Status == "True"
		f.Invalid = f.Degraded && c.Reason == "InvalidConfiguration"
		f.Reason, f.Message, f.Since = c.Reason, short(c.Message), c.Since
		p.Add(c.Loc, fmt.Sprintf("Degraded=%s %s: %s", c.Status, c.Reason, short(c.Message)), c.Since, fields...)
	}
}
