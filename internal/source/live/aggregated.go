package live

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupList is what is read of an APIGroupDiscoveryList of apidiscovery.k8s.io/v2 and
// v2beta1 (kubernetes/api:apidiscovery/v2/types.go).
type groupList struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string          `json:"version"`
			Freshness string          `json:"freshness"`
			Resources []groupResource `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

// groupResource is a resource of a version. What has no kind is the mere parent of
// subresources.
type groupResource struct {
	Resource     string `json:"resource"`
	ResponseKind *struct {
		Kind string `json:"kind"`
	} `json:"responseKind"`
	Scope string   `json:"scope"`
	Verbs []string `json:"verbs"`
}

// split makes what one of the two documents of aggregated discovery has into groups
// and the resources of their versions. A version that an aggregated server should
// serve and has not answered for is stale: it is failed and in no list. The order of
// versions is the group's own order of preference. Subresources are not kept: nothing
// lists them.
// (kubernetes/client-go:discovery/aggregated_discovery.go SplitGroupsAndResources does the
// same for clients of every group, and its package links the types of all.)
func split(list groupList) discovered {
	d := discovered{lists: map[schema.GroupVersion]*metav1.APIResourceList{}, failed: map[schema.GroupVersion]error{}}
	for _, g := range list.Items {
		group := metav1.APIGroup{Name: g.Metadata.Name}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Metadata.Name, Version: v.Version}
			if v.Freshness == "Stale" {
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

// resources leaves out what has no kind.
func resources(list []groupResource) []metav1.APIResource {
	out := make([]metav1.APIResource, 0, len(list))
	for _, r := range list {
		if kind := r.ResponseKind; kind != nil && kind.Kind != "" {
			out = append(out, metav1.APIResource{
				Name: r.Resource, Namespaced: r.Scope == "Namespaced", Kind: kind.Kind, Verbs: r.Verbs,
			})
		}
	}
	return out
}
