// Package readerrole makes the roles that permit a diagnosis, from what its facts need.
//
// Invariant: no Secret, no exec, no access to kubelets is among it, and nothing that writes.
package readerrole

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// The objects of rbac.authorization.k8s.io/v1 that are written (kubernetes/api: rbac/v1/types.go).
type (
	// List is a list of them, as one document.
	List struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Items      []Object `json:"items"`
	}
	// Object is a role or a binding.
	Object struct {
		APIVersion string    `json:"apiVersion"`
		Kind       string    `json:"kind"`
		Metadata   Meta      `json:"metadata"`
		Rules      []Rule    `json:"rules,omitempty"`
		RoleRef    *RoleRef  `json:"roleRef,omitempty"`
		Subjects   []Subject `json:"subjects,omitempty"`
	}
	// Meta names an object.
	Meta struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	// Rule permits verbs.
	Rule struct {
		APIGroups     []string `json:"apiGroups,omitempty"`
		Resources     []string `json:"resources,omitempty"`
		ResourceNames []string `json:"resourceNames,omitempty"`
		URLs          []string `json:"nonResourceURLs,omitempty"`
		Verbs         []string `json:"verbs"`
	}
	// RoleRef is the role of a binding.
	RoleRef struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
		Name     string `json:"name"`
	}
	// Subject is who gets it.
	Subject struct {
		APIGroup  string `json:"apiGroup,omitempty"`
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
)

// Group is the API group of roles.
const Group = "rbac.authorization.k8s.io"

// Needs lists what the facts read, and what else is asked for, each need once; Secrets only where the
// user named their namespaces, because they are not read otherwise. What lies in a
// management cluster is read with --hosted only.
func Needs(also ...evidence.Need) (own, management []evidence.Need) {
	for _, n := range slices.Concat(facts.Needs(all.All()), also) {
		list := &own
		if n.Resource.Cluster == evidence.Management || n.Text.Cluster == evidence.Management {
			list = &management
		}
		optional := n.Resource.Name == evidence.Secrets.Name && n.Resource.Group == "" || n.Text.Kind == evidence.Journal
		if !optional && !slices.Contains(*list, n) {
			*list = append(*list, n)
		}
	}
	return own, management
}

// Roles are the roles of a name with which somebody may read all that a diagnosis reads in a cluster, and what binds them
// to him: cluster-wide what is read of the whole cluster, in each namespace what is read there. Also is what else he reads.
func Roles(name string, subject Subject, also ...evidence.Need) []Object {
	own, _ := Needs(also...)
	byNamespace := map[string][]live.Access{}
	for _, n := range own {
		for _, access := range live.AccessesOf(n) {
			if !strings.HasPrefix(access.Namespace, "<") { // of a hosted cluster, which this role is not for
				byNamespace[access.Namespace] = append(byNamespace[access.Namespace], access)
			}
		}
	}
	var list []Object
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		list = append(list, Bound(Meta{Name: name, Namespace: namespace}, rulesOf(byNamespace[namespace]), subject)...)
	}
	return list
}

// Bound are a role, of the whole cluster where meta has no namespace, and its binding.
func Bound(meta Meta, rules []Rule, subject Subject) []Object {
	kind := "Role"
	if meta.Namespace == "" {
		kind = "ClusterRole"
	}
	return []Object{
		{APIVersion: Group + "/v1", Kind: kind, Metadata: meta, Rules: rules},
		{APIVersion: Group + "/v1", Kind: kind + "Binding", Metadata: meta, RoleRef: &RoleRef{Group, kind, meta.Name}, Subjects: []Subject{subject}},
	}
}

// rulesOf are accesses as rules, one for each API group and kind of access. Who may list may also get
// and watch, as in the roles of Kubernetes itself: `watch` is then told of changes.
func rulesOf(list []live.Access) []Rule {
	type key struct{ group, verbs string }
	resources := map[key][]string{}
	for _, a := range list {
		k, name := key{a.Resource.Group, "get list watch"}, a.Resource.Name
		if a.Subresource != "" {
			k.verbs, name = a.Verb, name+"/"+a.Subresource
		}
		if !slices.Contains(resources[k], name) {
			resources[k] = append(resources[k], name)
		}
	}
	var rules []Rule
	for _, k := range slices.SortedFunc(maps.Keys(resources), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.verbs, b.verbs))
	}) {
		rules = append(rules, Rule{APIGroups: []string{k.group}, Resources: slices.Sorted(slices.Values(resources[k])), Verbs: strings.Fields(k.verbs)})
	}
	return rules
}
