package browse

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Kind is a kind of object that can be asked for.
type Kind struct {
	Resource evidence.Resource
	Kind     string   // as objects have it: "Pod"; "" where it is not known
	Short    []string // as `oc api-resources` lists them
	Cluster  bool     // it has no namespaces

	columns []column // nil: those of its CustomResourceDefinition, else NAME and AGE
}

// Kinds are those whose names or columns are known without a CustomResourceDefinition. Of several
// of one name the first one that is in an archive is meant.
func Kinds() []Kind {
	return slices.Concat(coreKinds(), workloadKinds(), platformKinds(), hostKinds(), otherKinds())
}

func core(name, kind string, columns []column, short ...string) Kind {
	return Kind{Resource: evidence.Resource{Name: name}, Kind: kind, Short: short, columns: columns}
}

func in(group, name, kind string, columns []column, short ...string) Kind {
	return Kind{Resource: evidence.Resource{Group: group, Name: name}, Kind: kind, Short: short, columns: columns}
}

// clusterWide marks kinds without namespaces.
func clusterWide(list ...Kind) []Kind {
	for i := range list {
		list[i].Cluster = true
	}
	return list
}

func coreKinds() []Kind {
	return append([]Kind{
		core("pods", "Pod", podColumns(), "po"),
		core("services", "Service", serviceColumns(), "svc"),
		core("endpoints", "Endpoints", nil, "ep"),
		core("events", "Event", eventColumns(), "ev"),
		core("configmaps", "ConfigMap", configMapColumns(), "cm"),
		core("secrets", "Secret", secretColumns()),
		core("serviceaccounts", "ServiceAccount", nil, "sa"),
		core("persistentvolumeclaims", "PersistentVolumeClaim", claimColumns(), "pvc"),
		core("replicationcontrollers", "ReplicationController", nil, "rc"),
		core("limitranges", "LimitRange", nil, "limits"),
		core("resourcequotas", "ResourceQuota", nil, "quota"),
	}, clusterWide(
		core("nodes", "Node", nodeColumns(), "no"),
		core("namespaces", "Namespace", namespaceColumns(), "ns", "project", "projects"), // a Project is the view of a Namespace
		core("persistentvolumes", "PersistentVolume", volumeColumns(), "pv"),
	)...)
}

func workloadKinds() []Kind {
	return append([]Kind{
		in("apps", "deployments", "Deployment", deploymentColumns(), "deploy"),
		in("apps", "daemonsets", "DaemonSet", daemonSetColumns(), "ds"),
		in("apps", "statefulsets", "StatefulSet", statefulSetColumns(), "sts"),
		in("apps", "replicasets", "ReplicaSet", replicaSetColumns(), "rs"),
		in("batch", "jobs", "Job", nil),
		in("batch", "cronjobs", "CronJob", nil, "cj"),
		in("policy", "poddisruptionbudgets", "PodDisruptionBudget", budgetColumns(), "pdb"),
		in("autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler", nil, "hpa"),
		in("networking.k8s.io", "networkpolicies", "NetworkPolicy", nil, "netpol"),
		in("networking.k8s.io", "ingresses", "Ingress", nil, "ing"),
		in(openshift.CoordinationGroup, "leases", "Lease", leaseColumns()),
		in("rbac.authorization.k8s.io", "roles", "Role", nil),
		in("rbac.authorization.k8s.io", "rolebindings", "RoleBinding", nil),
	}, clusterWide(
		in(openshift.CertificatesGroup, "certificatesigningrequests", "CertificateSigningRequest", requestColumns(), "csr"),
		in("storage.k8s.io", "storageclasses", "StorageClass", nil, "sc"),
		in("storage.k8s.io", "volumeattachments", "VolumeAttachment", nil),
		in("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", nil),
		in("rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding", nil),
		in("apiregistration.k8s.io", "apiservices", "APIService", nil),
		in(crdResource.Group, crdResource.Name, "CustomResourceDefinition", createdAtColumns(), "crd", "crds"),
		in("admissionregistration.k8s.io", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", nil),
		in("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", nil),
		in("scheduling.k8s.io", "priorityclasses", "PriorityClass", nil, "pc"),
	)...)
}

// platformKinds have the columns of their definitions in openshift/api (config/v1, machine/v1beta1,
// machineconfiguration/v1; the +kubebuilder:printcolumn lines of their types).
func platformKinds() []Kind {
	const config, mco, machine = openshift.ConfigGroup, openshift.MachineConfigGroup, openshift.MachineGroup
	return append([]Kind{
		in(machine, "machines", "Machine", machineColumns()),
		in(machine, "machinesets", "MachineSet", machineSetColumns()),
		in(machine, "machinehealthchecks", "MachineHealthCheck", nil, "mhc", "mhcs"),
		in(machine, "controlplanemachinesets", "ControlPlaneMachineSet", nil),
		in("autoscaling.openshift.io", "machineautoscalers", "MachineAutoscaler", nil, "ma"),
		in("route.openshift.io", "routes", "Route", nil),
		in("apps.openshift.io", "deploymentconfigs", "DeploymentConfig", nil, "dc"),
		in("image.openshift.io", "imagestreams", "ImageStream", nil, "is"),
		in(openshift.OperatorGroup, "ingresscontrollers", "IngressController", nil),
	}, clusterWide(
		in(config, "clusteroperators", "ClusterOperator", operatorColumns(), "co"),
		in(config, "clusterversions", "ClusterVersion", versionColumns()),
		in(mco, "machineconfigpools", "MachineConfigPool", poolColumns(), "mcp"),
		in(mco, "machineconfigs", "MachineConfig", machineConfigColumns(), "mc"),
		in(mco, "controllerconfigs", "ControllerConfig", nil),
		in(mco, "kubeletconfigs", "KubeletConfig", nil),
		in(mco, "containerruntimeconfigs", "ContainerRuntimeConfig", nil, "ctrcfg"),
		in(config, "infrastructures", "Infrastructure", nil),
		in(config, "networks", "Network", nil),
		in(config, "ingresses", "Ingress", nil),
		in(config, "dnses", "DNS", nil),
		in(config, "proxies", "Proxy", nil),
		in(config, "apiservers", "APIServer", nil),
		in(config, "imagedigestmirrorsets", "ImageDigestMirrorSet", nil, "idms"),
		in(config, "imagetagmirrorsets", "ImageTagMirrorSet", nil, "itms"),
		in(openshift.OperatorGroup, "etcds", "Etcd", nil),
		in(openshift.OperatorGroup, "kubeapiservers", "KubeAPIServer", nil),
	)...)
}

// hostKinds are those of bare metal and of hosted clusters. The columns are those of
// metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go and of
// openshift/hypershift:api/hypershift/v1beta1 (hostedcluster_types.go, nodepool_types.go).
func hostKinds() []Kind {
	const metal, hyper, capi = openshift.Metal3Group, openshift.HyperShiftGroup, openshift.ClusterAPIGroup
	return append([]Kind{
		in(metal, "baremetalhosts", "BareMetalHost", hostColumns(), "bmh", "bmhost"),
		in(metal, "hostfirmwaresettings", "HostFirmwareSettings", nil, "hfs"),
		in(metal, "hostfirmwarecomponents", "HostFirmwareComponents", nil, "hfc"),
		in(metal, "preprovisioningimages", "PreprovisioningImage", nil, "ppimg"),
		in(metal, "hardwaredata", "HardwareData", nil, "hd"),
		in(hyper, "hostedclusters", "HostedCluster", hostedClusterColumns(), "hc", "hcs"),
		in(hyper, "nodepools", "NodePool", nodePoolColumns(), "np", "nps"),
		in(hyper, "hostedcontrolplanes", "HostedControlPlane", nil, "hcp", "hcps"),
		in(capi, "machines", "Machine", nil, "ma"),
		in(capi, "machinesets", "MachineSet", nil, "ms"),
		in(capi, "machinedeployments", "MachineDeployment", nil, "md"),
		in(openshift.AgentInstallGroup, "agents", "Agent", nil),
		in(openshift.AgentInstallGroup, "infraenvs", "InfraEnv", nil),
		in(openshift.AgentClusterInstallGroup, "agentclusterinstalls", "AgentClusterInstall", nil, "aci"),
	}, clusterWide(in(metal, "provisionings", "Provisioning", nil))...)
}

func otherKinds() []Kind {
	const olm = "operators.coreos.com"
	return []Kind{
		in(olm, "subscriptions", "Subscription", nil, "sub", "subs"),
		in(olm, "clusterserviceversions", "ClusterServiceVersion", nil, "csv", "csvs"),
		in(olm, "installplans", "InstallPlan", nil, "ip"),
		in(olm, "catalogsources", "CatalogSource", nil, "catsrc"),
		in(olm, "operatorgroups", "OperatorGroup", nil, "og"),
	}
}

// crdResource are the definitions of kinds.
var crdResource = evidence.Resource{Group: "apiextensions.k8s.io", Name: "customresourcedefinitions"}

// named reports whether a word stands for a kind: its plural, its singular, a short name, each also
// with its group behind a dot, in any case.
func (k Kind) named(word string) bool {
	word, group, grouped := strings.Cut(strings.ToLower(word), ".")
	if grouped && !strings.HasPrefix(k.Resource.Group, group) && !withVersion(group, k.Resource.Group) {
		return false
	}
	return word == k.Resource.Name || k.Kind != "" && word == strings.ToLower(k.Kind) || slices.Contains(k.Short, word)
}

// withVersion reports whether a word is a group behind a version: "v1.apps".
func withVersion(word, group string) bool {
	version, rest, _ := strings.Cut(word, ".")
	return strings.HasPrefix(version, "v") && group != "" && rest == group
}

// Names are the words for kinds: for who completes them.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Resource.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
