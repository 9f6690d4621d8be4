package repair

import "slices"

// Access is a right that a repair requires: a verb on a resource; Ref.Name is empty for all
// objects of it.
type Access struct {
	Verb string
	Ref  Ref
	Sub  string // subresource
}

// Rights lists what the user of the kubeconfig must be allowed for a remedy: to plan, apply,
// resume and undo it, in addition to what a diagnosis reads. A test compares the list with the
// requests that each repair makes.
func Rights(remedy string) []Access {
	if c, ok := changeOf(remedy); ok && c.hosted {
		return hostedRights(c)
	}
	list := []Access{{Verb: "get", Ref: clusterVersionRef()}}
	configMaps := Ref{Version: "v1", Resource: "configmaps", Namespace: MirrorNamespace}
	list = append(list, on(configMaps, "", "get", "create", "patch")...) // the journal's copy
	secrets := secretRef(bareMetalNamespace, "")
	switch c, ok := changeOf(remedy); {
	case ok:
		for _, name := range c.names() {
			list = append(list, on(c.object(name), "", "get", "patch")...)
		}
		for _, g := range guardsOf(c) {
			list = append(list, guardRights(g)...)
		}
		if ref := c.object(""); ref.Resource == bareMetalHostRef("").Resource {
			list = append(list, findHost()...)
		}
		if remedy == bmcAddressRemedy {
			list = append(list, on(secrets, "", "get", "patch")...)
		}
	case remedy == bmcCredentials:
		list = append(list, findHost()...)
		list = append(list, on(bareMetalHostRef(""), "", "get")...)
		list = append(list, on(secrets, "", "get", "create", "patch", "delete")...)
	case remedy == replaceInstaller:
		list = append(list, installerRights()...)
	case remedy == removeMember:
		list = append(list, memberRights()...)
	case remedy == mcsCertificate:
		list = append(list, certificateRights()...)
	default:
		list = append(list, poolRights(remedy)...)
	}
	return distinct(list)
}

// hostedRights are those in the management cluster, in all namespaces: which one the HostedCluster is in
// is not known here.
func hostedRights(c change) []Access {
	list := on(hostedClusterRef(""), "", "get")
	list = append(list, on(Ref{Version: "v1", Resource: "configmaps"}, "", "get", "create", "patch")...)
	return distinct(append(list, on(c.object(""), "", "get", "patch")...))
}

func on(ref Ref, sub string, verbs ...string) (list []Access) {
	for _, v := range verbs {
		list = append(list, Access{Verb: v, Ref: ref, Sub: sub})
	}
	return list
}

func distinct(list []Access) (out []Access) {
	for _, a := range list {
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

// names are the objects that may be changed; "" stands for all of a resource.
func (c change) names() []string {
	if c.operands {
		return operandNames()
	}
	return []string{""}
}

// guardsOf are the guards of a change; of a pool those of the control plane, which has most.
func guardsOf(c change) []Guard {
	if c.guards == nil {
		return nil
	}
	return c.guards("master")
}

func guardRights(g Guard) []Access {
	switch g.Guard {
	case EtcdQuorum, EtcdMembers:
		return on(etcdRef(), "", "get")
	case OthersAtRest, PoolNotPaused, OneAtATime:
		return append(on(nodeRef(""), "", "list"), on(poolRef(""), "", "get")...)
	case RenderExists, NoFurtherDrift:
		return on(configRef(""), "", "get")
	}
	return nil
}

// findHost is how the BareMetalHost of a host is found.
func findHost() []Access {
	return append(on(machineRef(""), "", "list"), on(bareMetalHostRef(""), "", "list")...)
}

func certificateRights() []Access {
	list := on(infrastructureRef(), "", "get")
	list = append(list, on(secretRef(MirrorNamespace, ""), "", "get", "create", "patch")...)
	list = append(list, on(secretRef(bareMetalNamespace, ""), "", "list", "get", "patch")...)
	list = append(list, on(Ref{Version: "v1", Resource: "configmaps", Namespace: "kube-system", Name: "root-ca"}, "", "get")...)
	list = append(list, on(nodeRef(""), "", "list")...)
	return append(list, on(podRef(MirrorNamespace, ""), "", "list", "get", "delete")...)
}

func installerRights() []Access {
	list := append(on(nodeRef(""), "", "get", "list"), on(etcdRef(), "", "get")...)
	for _, name := range operandNames() {
		list = append(list, on(operandRef(name), "", "get")...)
		list = append(list, on(podRef("openshift-"+name, ""), "", "list", "get", "delete")...)
	}
	return list
}

// memberRights: members are asked and removed by etcdctl in a pod of etcd.
func memberRights() []Access {
	list := append(on(nodeRef(""), "", "get", "list"), on(etcdRef(), "", "get")...)
	list = append(list, findHost()...)
	list = append(list, on(podRef(etcdNamespace, ""), "", "list")...)
	return append(list, on(podRef(etcdNamespace, ""), "exec", "create")...)
}

// poolRights are those of the remedies of the desync, which are planned together.
func poolRights(remedy string) []Access {
	list := append(on(poolRef(""), "", "get"), on(nodeRef(""), "", "get", "list")...)
	list = append(list, on(etcdRef(), "", "get")...)
	switch remedy {
	case "adopt-spec-config":
		list = append(list, on(poolRef(""), "status", "patch")...)
		list = append(list, on(configRef(""), "", "get")...)
	case "approve-expected-csrs":
		requests := csrRef("")
		list = append(list, on(requests, "", "get", "list")...)
		for _, r := range []Ref{machineRef(""), {Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}, {Group: "config.openshift.io", Version: "v1", Resource: "networks"},
			{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Namespace: "kube-node-lease"}} {
			list = append(list, on(r, "", "list")...) // what a request is judged by (internal/csr)
		}
		list = append(list, on(requests, "approval", "patch")...)
		// The API server asks for this right of whoever approves
		// (k8s.io/kubernetes: plugin/pkg/admission/certificates/approval/admission.go).
		for _, signer := range []string{"kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"} {
			list = append(list, Access{Verb: "approve", Ref: Ref{Group: "certificates.k8s.io", Resource: "signers", Name: signer}})
		}
	case "recreate-missing-render":
		list = append(list, on(configRef(""), "", "get", "create", "delete")...)
		list = append(list, Access{Verb: "list", Ref: podRef(MirrorNamespace, "")}, Access{Verb: "create", Ref: podRef(MirrorNamespace, ""), Sub: "exec"})
	case "align-annotations":
		list = append(list, on(configRef(""), "", "get")...)
		list = append(list, on(nodeRef(""), "", "patch")...)
		list = append(list, Access{Verb: "list", Ref: podRef(MirrorNamespace, "")}, Access{Verb: "create", Ref: podRef(MirrorNamespace, ""), Sub: "exec"})
	}
	return list
}
