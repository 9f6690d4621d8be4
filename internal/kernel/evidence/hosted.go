package evidence

// A hosted cluster has its control plane in the namespaces of another one, its
// management cluster. Where both are read, the hosted cluster is the one that is
// looked at: its Nodes, requests and operators are asked for as ever. What lies in
// the management cluster is another kind of object: Resource.Cluster and
// TextQuery.Cluster say Management, and so do the locators, so that two objects of
// one name are never taken for one.
//
// Needs are declared before it is known which hosted cluster is meant. The
// namespaces of the management cluster have therefore fixed names in needs; the
// source that reads both clusters puts the real ones instead. Objects and
// texts carry the real ones.

// Management is the cluster in which the control plane of a hosted cluster runs.
const Management = "management"

// The namespaces of the management cluster, as needs name them.
const (
	HostedNamespace       = "<hosted cluster>"       // of the HostedCluster and its NodePools
	ControlPlaneNamespace = "<hosted control plane>" // of the control plane's pods, the Machines and the token Secrets
	AgentsNamespace       = "<agents>"               // of the Agents and BareMetalHosts of the platform Agent
)

// Hosted names a hosted cluster as its management cluster knows it.
type Hosted struct {
	Namespace    string `json:"namespace"` // of the HostedCluster
	Name         string `json:"name"`
	ControlPlane string `json:"controlPlane"`     // namespace of its control plane
	Agents       string `json:"agents,omitempty"` // namespace of its Agents; "" where its platform has none
}

// String returns "namespace/name".
func (h Hosted) String() string { return h.Namespace + "/" + h.Name }
