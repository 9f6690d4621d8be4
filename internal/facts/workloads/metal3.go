package workloads

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The Deployments of metal3
// (openshift/cluster-baremetal-operator:provisioning/baremetal_pod.go baremetalDeploymentName,
// provisioning/bmo_pod.go). Up to 4.12 the operator is a container of the first.
const (
	metal3Deployment   = "metal3"
	operatorDeployment = "metal3-baremetal-operator"
)

// bareMetal is read to know whether metal3 has anything to do.
var bareMetal = evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace)

// Metal3Fact is the fact metal3-workload.
func Metal3Fact() facts.Fact {
	return facts.Define("metal3-workload", fault.Cluster,
		"how far the Deployment of metal3 (ironic and its web server) got: controller, ReplicaSet, scheduler, node",
		append(needs(openshift.MachineAPINamespace), bareMetal, evidence.Objects(evidence.Infrastructures, "")),
		func(ctx context.Context, w *facts.World, _ fault.Subject) (Chain, error) {
			if err := managed(ctx, w); err != nil {
				return Chain{}, err
			}
			return readChain(ctx, w, openshift.MachineAPINamespace, metal3Deployment)
		})
}

// operatorFact is the fact baremetal-operator-workload.
func operatorFact() facts.Fact {
	return facts.Define("baremetal-operator-workload", fault.Cluster,
		"how far the Deployment of the bare metal operator got: controller, ReplicaSet, scheduler, node",
		append(needs(openshift.MachineAPINamespace), bareMetal, evidence.Objects(evidence.Infrastructures, "")),
		func(ctx context.Context, w *facts.World, _ fault.Subject) (Chain, error) {
			if err := managed(ctx, w); err != nil {
				return Chain{}, err
			}
			c, err := readChain(ctx, w, openshift.MachineAPINamespace, operatorDeployment)
			if err == nil && !c.Exists.Value() {
				return c, facts.NotApplicable("there is no Deployment %s: the operator is a container of metal3, or was never made", operatorDeployment)
			}
			return c, err
		})
}

// managed is an error where no host has a BMC: metal3 has nothing to do then.
func managed(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.BareMetalHosts, openshift.MachineAPINamespace)
	if err != nil {
		return baremetal.Elsewhere(ctx, w, err)
	}
	for _, o := range list {
		if evidence.String(o.Content, "spec", "bmc", "address") != "" {
			return nil
		}
	}
	return facts.NotApplicable("no BareMetalHost has a BMC")
}
