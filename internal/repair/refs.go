package repair

import (
	"github.com/rollcall-project/rollcall/internal/openshift"
)

func poolRef(name string) Ref {
	return Ref{Group: openshift.MachineConfigGroup, Version: "v1", Resource: "machineconfigpools", Name: name}
}

func configRef(name string) Ref {
	return Ref{Group: openshift.MachineConfigGroup, Version: "v1", Resource: "machineconfigs", Name: name}
}

func nodeRef(name string) Ref { return Ref{Version: "v1", Resource: "nodes", Name: name} }

func csrRef(name string) Ref {
	return Ref{Group: openshift.CertificatesGroup, Version: "v1", Resource: "certificatesigningrequests", Name: name}
}

func clusterVersionRef() Ref {
	return Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "clusterversions", Name: "version"}
}

func etcdRef() Ref {
	return Ref{Group: openshift.OperatorGroup, Version: "v1", Resource: "etcds", Name: "cluster"}
}

func bareMetalHostRef(name string) Ref {
	return Ref{Group: openshift.Metal3Group, Version: "v1alpha1", Resource: "baremetalhosts", Namespace: openshift.MachineAPINamespace, Name: name}
}

func machineRef(name string) Ref {
	return Ref{Group: openshift.MachineGroup, Version: "v1beta1", Resource: "machines", Namespace: openshift.MachineAPINamespace, Name: name}
}

func infrastructureRef() Ref {
	return Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "infrastructures", Name: "cluster"}
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
	memberGroup = "etcd"
)

func memberRef(id string) Ref {
	return Ref{Group: memberGroup, Version: "v3", Resource: "members", Name: id}
}

const (
	hypershiftVersion = "v1beta1"
	// operatorNamespace is where the HyperShift operator is installed by default
	// (openshift/hypershift: cmd/install/install.go, --namespace).
	operatorNamespace = "hypershift"
)

func hostedClusterRef(name string) Ref {
	return Ref{Group: openshift.HyperShiftGroup, Version: hypershiftVersion, Resource: "hostedclusters", Name: name}
}

func nodePoolRef(name string) Ref {
	return Ref{Group: openshift.HyperShiftGroup, Version: hypershiftVersion, Resource: "nodepools", Name: name}
}

func hypershiftOperatorRef() Ref {
	return Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: operatorNamespace, Name: "operator"}
}
