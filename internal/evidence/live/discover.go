package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/evidence"
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
// the aggregated form (OpenShift 4.14 and later), else one more for each group
// that is needed.
func (s *Source) discovery(ctx context.Context) (*apis, error) {
	return s.apis.get(ctx, func(ctx context.Context) (*apis, error) {
		a, err := s.readAPIs(ctx)
		return a, err
	})
}

func (s *Source) readAPIs(caller context.Context) (*apis, error) {
	need := evidence.Need{Resource: evidence.Resource{Name: "apis"}}
	right := Access{Verb: "get", Resource: evidence.Resource{Name: "/apis"}}
	for attempt := 1; ; attempt++ {
		ctx, cancel := s.bound(caller, s.opts.RequestTimeout)
		groups, lists, failed, err := s.discover.GroupsAndMaybeResourcesWithContext(ctx)
		again := attempt == 1 && passing(ctx, err)
		err = s.unavailable(caller, ctx, need, right, err)
		cancel()
		if again && s.pause(caller) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.index(groups, lists, failed)
	}
}

// pause waits before a further attempt. False: the caller's time is over.
func (s *Source) pause(ctx context.Context) bool {
	t := time.NewTimer(s.opts.RetryPause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Source) index(groups *metav1.APIGroupList, lists map[schema.GroupVersion]*metav1.APIResourceList,
	failed map[schema.GroupVersion]error) (*apis, error) {
	a := &apis{
		groups: map[string][]string{}, failed: failed, names: map[string]int{},
		lists: map[schema.GroupVersion]*lazy[*metav1.APIResourceList]{},
	}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if v.Version == g.PreferredVersion.Version {
				a.groups[g.Name] = slices.Insert(a.groups[g.Name], 0, v.Version)
				continue
			}
			a.groups[g.Name] = append(a.groups[g.Name], v.Version)
		}
	}
	if len(a.groups[""]) == 0 {
		return nil, &evidence.Unavailable{
			Need: evidence.Need{Resource: evidence.Resource{Name: "apis"}}, Why: evidence.Unreachable,
			Detail: s.host + ": " + garbage("it serves no core group").Error(),
		}
	}
	seen := map[evidence.Resource]bool{}
	for gv, l := range lists {
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
				Supply: "oc get apiservices",
			}
		}
	}
	return served{}, errNotServed
}

// resourcesOf returns what a version of a group has; an API server without
// aggregated discovery is asked for it.
func (s *Source) resourcesOf(ctx context.Context, a *apis, gv schema.GroupVersion) (*metav1.APIResourceList, error) {
	cell := memo(&a.mu, a.lists, gv)
	return cell.get(ctx, func(caller context.Context) (*metav1.APIResourceList, error) {
		ctx, cancel := s.bound(caller, s.opts.RequestTimeout)
		defer cancel()
		l, err := s.discover.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
		if apierrors.IsNotFound(err) {
			return &metav1.APIResourceList{}, nil
		}
		right := Access{Verb: "get", Resource: evidence.Resource{Name: "/apis/" + gv.String()}}
		return l, s.unavailable(caller, ctx, evidence.Need{Resource: evidence.Resource{Name: gv.String()}}, right, err)
	})
}
