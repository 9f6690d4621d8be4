package fault

import "slices"

// ControlPlane says in which clusters a fault can be, by where their control plane
// runs. A hosted cluster has no masters, no machine-config-operator, no static pods
// and no BareMetalHosts of its own: what can be wrong with those does not apply there.
type ControlPlane string

// Where the control plane runs.
const (
	OwnControlPlane    ControlPlane = "own"    // on masters of the cluster itself
	HostedControlPlane ControlPlane = "hosted" // in a management cluster, both are read
	AnyControlPlane    ControlPlane = "any"
	AloneControlPlane  ControlPlane = "alone" // wherever it runs, but not where the management cluster is read, too
)

// ownLayers are the layers of the catalog whose faults need an own control plane
// unless they say otherwise.
var ownLayers = []string{"baremetal", "certificates", "control-plane", "etcd", "machine-config"}

// apiLayer is the layer of the network path to the API of the kubeconfig: with a hosted cluster
// that is the management cluster's, which is not checked.
const apiLayer = "api"

// preflightLayers are the layers of what is looked for before hosts boot: mistakes of a plan,
// and of the machines that their BMCs show.
var preflightLayers = []string{"plan", "hardware"}

// Preflight reports whether an entry is the page of a check of preflight, which decides about
// it: the entry has no condition.
func Preflight(f *Fault) bool { return f.When == "" && slices.Contains(preflightLayers, f.Layer) }

// hostedLayer is the layer whose faults are those of hosted clusters.
const hostedLayer = "hosted"

// ControlPlaneOf returns where a fault can be: what it says itself, else what its
// layer says.
func ControlPlaneOf(f *Fault) ControlPlane {
	switch {
	case f.Runs != "":
		return f.Runs
	case f.Layer == hostedLayer:
		return HostedControlPlane
	case f.Layer == apiLayer:
		return AloneControlPlane
	case slices.Contains(ownLayers, f.Layer):
		return OwnControlPlane
	}
	return AnyControlPlane
}
