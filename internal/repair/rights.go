package repair

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

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
func Rights(id string) []Access {
	all := remedies()
	var r remedy
	if i := slices.IndexFunc(all, func(r remedy) bool { return r.id == id }); i >= 0 {
		r = all[i]
	}
	var list []Access
	for _, a := range append(commonRights(r.hosted), r.rights...) {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// commonRights are what every repair needs: the identity of the cluster, and the journal's copy. Those
// for a hosted cluster are in the management cluster, in all namespaces: which one the HostedCluster
// is in is not known here.
func commonRights(hosted bool) []Access {
	if hosted {
		return append(access(hostedClusterRef(""), "", "get"), access(configMapRef("", ""), "", "get", "create", "patch")...)
	}
	return append(access(clusterVersionRef(), "", "get"), access(configMapRef(openshift.MachineConfigNamespace, ""), "", "get", "create", "patch")...)
}

// poolRights are those of the remedies of a pool, which are planned together.
func poolRights() []Access {
	return slices.Concat(access(poolRef(""), "", "get"), access(nodeRef(""), "", "get", "list"), access(etcdRef(), "", "get"))
}

// access are rights to the same resource.
func access(ref Ref, sub string, verbs ...string) (list []Access) {
	for _, v := range verbs {
		list = append(list, Access{Verb: v, Ref: ref, Sub: sub})
	}
	return list
}
