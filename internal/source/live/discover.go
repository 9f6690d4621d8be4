package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// errNotServed says that the API does not know a resource.
var errNotServed = errors.New("the API does not serve it")

// served is how the API serves a resource: the first version of the group's own
// order of preference that has it.
type served struct {
	Resource   evidence.Resource
	Version    string
	Kind       string
	Namespaced bool
	Alone      bool // no other group has a resource of this name, or this is the core group
}

func (v served) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: v.Resource.Group, Version: v.Version}
}

// path returns the URL path of the resource's list, or of an object below it.
func (v served) path(namespace string, rest ...string) []string {
	p := []string{"apis", v.Resource.Group, v.Version}
	if v.Resource.Group == "" {
		p = []string{"api", v.Version}
	}
	if namespace != "" {
		p = append(p, "namespaces", namespace)
	}
	return append(append(p, v.Resource.Name), rest...)
}

// locator names an object as `oc get` takes it.
func (v served) locator(namespace, name string) evidence.Locator {
	path := v.Resource.String() + "/" + name
	if v.Alone {
		path = v.Resource.Name + "/" + name
	}
	if namespace != "" {
		path = "-n " + namespace + " " + path
	}
	return evidence.Locator{Source: SourceName, Path: path}
}

// apis is what the API said that it serves, read once.
type apis struct {
	groups map[string][]string                                    // versions by group, the preferred first
	failed map[schema.GroupVersion]error                          // served by an aggregated server that does not answer
	mu     sync.Mutex                                             // guards lists
	lists  map[schema.GroupVersion]*lazy[*metav1.APIResourceList] // what each version has
	names  map[string]int                                         // how many groups have a resource of that name
}

// discovery asks once what the API serves: two requests where the server knows
// the aggregated form (Kubernetes 1.26 and later), else one more for each group
// that is needed.
func (s *Source) discovery(ctx context.Context) (*apis, error) {
	return s.apis.get(ctx, func(ctx context.Context) (*apis, error) {
		a, err := s.readAPIs(ctx)
		return a, err
	})
}

func (s *Source) readAPIs(ctx context.Context) (*apis, error) {
	core, err := s.readGroups(ctx, "/api")
	if err != nil {
		return nil, err
	}
	named, err := s.readGroups(ctx, "/apis")
	if err != nil {
		return nil, err
	}
	return s.index(core, named)
}

// discovered is what one of the two discovery documents says. lists is nil where
// the server does not know the aggregated form.
type discovered struct {
	groups []metav1.APIGroup
	lists  map[schema.GroupVersion]*metav1.APIResourceList
	failed map[schema.GroupVersion]error
}

// Forms of discovery: aggregated, and what servers without it have.
const acceptDiscovery = mediaJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	mediaJSON + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + mediaJSON

// readGroups reads /api or /apis. client-go's own discovery client is not used: it
// tries ten times with pauses when a load balancer without a backend closes the
// connection, and that is a usual state of the clusters that are looked at.
func (s *Source) readGroups(ctx context.Context, path string) (discovered, error) {
	body, media, err := s.document(ctx, path, acceptDiscovery)
	if err != nil {
		return discovered{}, err
	}
	var kind struct {
		Kind     string   `json:"kind"`
		Versions []string `json:"versions"`
	}
	if err := json.Unmarshal(body, &kind); err != nil {
		return discovered{}, s.notAnAPI(garbage("%s: %s", media, wire.Clip(string(body[:min(len(body), 2000)]))))
	}
	switch kind.Kind {
	case "APIGroupDiscoveryList":
		var list groupList // v2beta1 has the same fields
		if err := json.Unmarshal(body, &list); err != nil {
			return discovered{}, s.notAnAPI(garbage("%s: %v", path, err))
		}
		return split(list), nil
	case "APIVersions":
		g := metav1.APIGroup{}
		for _, v := range kind.Versions {
			g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
		}
		return discovered{groups: []metav1.APIGroup{g}}, nil
	case "APIGroupList":
		var list metav1.APIGroupList
		if err := json.Unmarshal(body, &list); err != nil {
			return discovered{}, s.notAnAPI(garbage("%s: %v", path, err))
		}
		return discovered{groups: list.Groups}, nil
	}
	return discovered{}, s.notAnAPI(garbage("%s is of kind %q", path, wire.Clip(kind.Kind)))
}

func (s *Source) notAnAPI(err error) error {
	return &evidence.Unavailable{Need: evidence.Need{Resource: evidence.Resource{Name: "apis"}}, Why: evidence.Unreachable,
		Detail: s.happened(err)}
}

// document reads one document that is not a list. Every failure is
// Unavailable.
func (s *Source) document(caller context.Context, path, accept string) (body []byte, media string, err error) {
	right := Access{Verb: "get", Resource: evidence.Resource{Name: path}}
	for try := (attempts{s: s}); ; {
		ctx, cancel := s.withTimeout(caller, s.opts.RequestTimeout)
		body, media, err = s.api.Do(ctx, kube.Request{Path: []string{path}, Accept: accept})
		pause, again := try.next(ctx, err)
		err = try.failed(s.unavailable(caller, ctx, evidence.Need{Resource: right.Resource}, right, err))
		cancel()
		if again && s.pause(caller, pause) {
			continue
		}
		return body, media, err
	}
}

func (s *Source) index(core, named discovered) (*apis, error) {
	a := &apis{
		groups: map[string][]string{}, failed: named.failed, names: map[string]int{},
		lists: map[schema.GroupVersion]*lazy[*metav1.APIResourceList]{},
	}
	for _, g := range slices.Concat(core.groups, named.groups) {
		for _, v := range g.Versions {
			if v.Version == g.PreferredVersion.Version {
				a.groups[g.Name] = slices.Insert(a.groups[g.Name], 0, v.Version)
				continue
			}
			a.groups[g.Name] = append(a.groups[g.Name], v.Version)
		}
	}
	if len(a.groups[""]) == 0 {
		return nil, s.notAnAPI(garbage("it serves no core group"))
	}
	seen := map[evidence.Resource]bool{}
	all := map[schema.GroupVersion]*metav1.APIResourceList{}
	maps.Copy(all, core.lists)
	maps.Copy(all, named.lists)
	for gv, l := range all {
		cell := &lazy[*metav1.APIResourceList]{v: l, made: true}
		a.lists[gv] = cell
		for _, r := range l.APIResources {
			if key := (evidence.Resource{Group: gv.Group, Name: r.Name}); !seen[key] {
				seen[key] = true
				a.names[r.Name]++
			}
		}
	}
	return a, nil
}

// resolve finds how the API serves a resource. errNotServed: it does not.
func (s *Source) resolve(ctx context.Context, r evidence.Resource) (served, error) {
	a, err := s.discovery(ctx)
	if err != nil {
		return served{}, err
	}
	for _, version := range a.groups[r.Group] {
		gv := schema.GroupVersion{Group: r.Group, Version: version}
		l, err := s.resourcesOf(ctx, a, gv)
		if err != nil {
			return served{}, err
		}
		for _, one := range l.APIResources {
			if one.Name == r.Name && slices.Contains(one.Verbs, "list") {
				return served{
					Resource: r, Version: version, Kind: one.Kind, Namespaced: one.Namespaced,
					Alone: r.Group == "" || a.names[r.Name] == 1,
				}, nil
			}
		}
	}
	for gv, why := range a.failed {
		if gv.Group == r.Group {
			return served{}, &evidence.Unavailable{
				Need: evidence.Objects(r, ""), Why: evidence.Unreachable,
				Detail: fmt.Sprintf("the aggregated API server of %s does not answer (%v)", gv, why),
				Supply: evidence.Supply{Kind: evidence.SupplyAPIServices},
			}
		}
	}
	return served{}, errNotServed
}

// resourcesOf returns what a version of a group has; an API server without
// aggregated discovery is asked for it.
func (s *Source) resourcesOf(ctx context.Context, a *apis, gv schema.GroupVersion) (*metav1.APIResourceList, error) {
	cell := memo(&a.mu, a.lists, gv)
	return cell.get(ctx, func(ctx context.Context) (*metav1.APIResourceList, error) {
		path := "/apis/" + gv.String()
		if gv.Group == "" {
			path = "/api/" + gv.Version
		}
		body, _, err := s.document(ctx, path, mediaJSON)
		if err != nil {
			return nil, err
		}
		l := &metav1.APIResourceList{}
		if err := json.Unmarshal(body, l); err != nil || l.Kind != "APIResourceList" {
			return nil, s.notAnAPI(garbage("%s: %s", path, wire.Clip(string(body[:min(len(body), 2000)]))))
		}
		return l, nil
	})
}
