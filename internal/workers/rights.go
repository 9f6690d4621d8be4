package workers

import (
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
)

// Right is something that workers and NodePools need in a cluster.
type Right struct {
	What        string // for a person: "list Nodes"
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string // "" is the whole cluster
	Name        string
}

// Attributes are the resourceAttributes of a SelfSubjectAccessReview.
func (r Right) Attributes() map[string]any {
	all := map[string]any{"verb": r.Verb, "resource": r.Resource}
	for key, v := range map[string]string{"group": r.Group, "subresource": r.Subresource, "namespace": r.Namespace, "name": r.Name} {
		if v != "" {
			all[key] = v
		}
	}
	return all
}

// JoinRights are what every run does in the hosted cluster.
var JoinRights = []Right{
	{What: "list Nodes", Verb: "list", Resource: "nodes"},
	{What: "list requests", Verb: "list", Group: openshift.CertificatesGroup, Resource: "certificatesigningrequests"},
	{What: "update the approval of requests", Verb: "update", Group: openshift.CertificatesGroup, Resource: "certificatesigningrequests",
		Subresource: "approval"},
	{What: "approve client certificates of kubelets", Verb: "approve", Group: openshift.CertificatesGroup, Resource: "signers",
		Name: certificatesv1.KubeAPIServerClientKubeletSignerName},
	{What: "approve serving certificates of kubelets", Verb: "approve", Group: openshift.CertificatesGroup, Resource: "signers",
		Name: certificatesv1.KubeletServingSignerName},
}

// DrainRights are what takes workers away there.
var DrainRights = []Right{
	{What: "list pods", Verb: "list", Resource: "pods"},
	{What: "evict pods", Verb: "create", Resource: "pods", Subresource: "eviction"},
	{What: "cordon Nodes", Verb: "patch", Resource: "nodes"},
	{What: "delete Nodes", Verb: "delete", Resource: "nodes"},
}

// SmokeRights are what a pod that is tried on each worker takes there.
var SmokeRights = []Right{
	{What: "read the DaemonSet whose pod is tried", Verb: "get", Group: "apps", Resource: "daemonsets", Namespace: openshift.NetworkDiagnosticsNamespace},
	{What: "create pods in " + openshift.NetworkDiagnosticsNamespace, Verb: "create", Resource: "pods", Namespace: openshift.NetworkDiagnosticsNamespace},
	{What: "delete them", Verb: "delete", Resource: "pods", Namespace: openshift.NetworkDiagnosticsNamespace},
	{What: "ask them through the API server", Verb: "get", Resource: "pods", Subresource: "proxy", Namespace: openshift.NetworkDiagnosticsNamespace},
}

// ManagementRights are what NodePools and workers need in the management cluster: in the namespace of the
// HostedCluster and in that of its control plane.
func ManagementRights(namespace, controlPlane string) []Right {
	var list []Right
	for _, verb := range []string{"get", "list", "create", "patch", "delete"} {
		list = append(list, Right{What: verb + " NodePools", Verb: verb, Group: openshift.HyperShiftGroup, Resource: "nodepools", Namespace: namespace})
	}
	return append(list,
		Right{What: "read HostedClusters", Verb: "get", Group: openshift.HyperShiftGroup, Resource: "hostedclusters", Namespace: namespace},
		Right{What: "read Secrets of the control plane", Verb: "get", Resource: "secrets", Namespace: controlPlane},
		Right{What: "list Secrets of the control plane", Verb: "list", Resource: "secrets", Namespace: controlPlane},
		Right{What: "list pods of the control plane", Verb: "list", Resource: "pods", Namespace: controlPlane},
		Right{What: "list Machines of the control plane", Verb: "list", Group: openshift.ClusterAPIGroup, Resource: "machines", Namespace: controlPlane},
		Right{What: "list Nodes", Verb: "list", Resource: "nodes"},
	)
}
