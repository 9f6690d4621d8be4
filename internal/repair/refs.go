package repair

const (
	mcoGroup     = "machineconfiguration.openshift.io"
	mcoNamespace = "openshift-machine-config-operator"
)

func poolRef(name string) Ref {
	return Ref{Group: mcoGroup, Version: "v1", Resource: "machineconfigpools", Name: name}
}

func configRef(name string) Ref {
	return Ref{Group: mcoGroup, Version: "v1", Resource: "machineconfigs", Name: name}
}

func nodeRef(name string) Ref { return Ref{Version: "v1", Resource: "nodes", Name: name} }

func csrRef(name string) Ref {
	return Ref{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests", Name: name}
}

func clusterVersionRef() Ref {
	return Ref{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions", Name: "version"}
}

func etcdRef() Ref {
	return Ref{Group: "operator.openshift.io", Version: "v1", Resource: "etcds", Name: "cluster"}
}

// Annotations of the machine-config-operator
// (openshift/machine-config-operator:pkg/daemon/constants/constants.go,
// pkg/controller/common/constants.go).
const (
	currentConfigKey  = mcoGroup + "/currentConfig"
	desiredConfigKey  = mcoGroup + "/desiredConfig"
	stateKey          = mcoGroup + "/state"
	generatedByKey    = mcoGroup + "/generated-by-controller-version"
	releaseVersionKey = mcoGroup + "/release-image-version"
	roleLabel         = mcoGroup + "/role"
)

// bareMetalNamespace is where OpenShift keeps its BareMetalHosts
// (openshift/cluster-baremetal-operator: controllers/provisioning_controller.go, ComponentNamespace).
const bareMetalNamespace = "openshift-machine-api"

func bareMetalHostRef(name string) Ref {
	return Ref{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts", Namespace: bareMetalNamespace, Name: name}
}

func machineRef(name string) Ref {
	return Ref{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines", Namespace: bareMetalNamespace, Name: name}
}

func infrastructureRef() Ref {
	return Ref{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures", Name: "cluster"}
}

func podRef(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "pods", Namespace: namespace, Name: name}
}

func secretRef(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "secrets", Namespace: namespace, Name: name}
}

func configMapRef(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "configmaps", Namespace: namespace, Name: name}
}

// Members of etcd are no objects of the API: see kube_etcdctl.go.
const (
	memberGroup   = "etcd"
	etcdNamespace = "openshift-etcd"
)

func memberRef(id string) Ref {
	return Ref{Group: memberGroup, Version: "v3", Resource: "members", Name: id}
}

const (
	hypershiftGroup   = "hypershift.openshift.io"
	hypershiftVersion = "v1beta1"
	// operatorNamespace is where the HyperShift operator is installed by default
	// (openshift/hypershift: cmd/install/install.go, --namespace).
	operatorNamespace = "hypershift"
)

func hostedClusterRef(name string) Ref {
	return Ref{Group: hypershiftGroup, Version: hypershiftVersion, Resource: "hostedclusters", Name: name}
}

func nodePoolRef(name string) Ref {
	return Ref{Group: hypershiftGroup, Version: hypershiftVersion, Resource: "nodepools", Name: name}
}

func hypershiftOperatorRef() Ref {
	return Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: operatorNamespace, Name: "operator"}
}
