package live

import (
	"fmt"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// split makes what one of the two documents of aggregated discovery has into groups
// and the resources of their versions. A version that an aggregated server should
// serve and has not answered for is stale: it is failed and in no list. The order of
// versions is the group's own order of preference. Subresources are not kept: nobody
// lists them. (kubernetes/kubernetes:staging/src/k8s.io/client-go/discovery/aggregated_discovery.go
// SplitGroupsAndResources does the same for clients of every group, and its package
// links the types of all.)
func split(list apidiscoveryv2.APIGroupDiscoveryList) discovered {
	d := discovered{lists: map[schema.GroupVersion]*metav1.APIResourceList{}, failed: map[schema.GroupVersion]error{}}
	for _, g := range list.Items {
		group := metav1.APIGroup{Name: g.Name}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				d.failed[gv] = fmt.Errorf("its discovery of %v is stale", gv)
				continue
			}
			one := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version}
			if group.Versions = append(group.Versions, one); len(group.Versions) == 1 {
				group.PreferredVersion = one
			}
			d.lists[gv] = &metav1.APIResourceList{GroupVersion: gv.String(), APIResources: resources(v.Resources)}
		}
		d.groups = append(d.groups, group)
	}
	return d
}

// resources leaves out what has no kind: the mere parent of subresources.
func resources(list []apidiscoveryv2.APIResourceDiscovery) []metav1.APIResource {
	out := make([]metav1.APIResource, 0, len(list))
	for _, r := range list {
		if kind := r.ResponseKind; kind != nil && *kind != (metav1.GroupVersionKind{}) {
			out = append(out, metav1.APIResource{
				Name: r.Resource, Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, Kind: kind.Kind, Verbs: r.Verbs,
			})
		}
	}
	return out
}
