package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// readerName is the name of the roles that permit a diagnosis.
const readerName = "rollcall-reader"

// The objects of rbac.authorization.k8s.io/v1 that are written (kubernetes/api: rbac/v1/types.go).
type (
	roleList struct {
		APIVersion string       `json:"apiVersion"`
		Kind       string       `json:"kind"`
		Items      []roleObject `json:"items"`
	}
	roleObject struct {
		APIVersion string        `json:"apiVersion"`
		Kind       string        `json:"kind"`
		Metadata   roleMeta      `json:"metadata"`
		Rules      []roleRule    `json:"rules,omitempty"`
		RoleRef    *roleRef      `json:"roleRef,omitempty"`
		Subjects   []roleSubject `json:"subjects,omitempty"`
	}
	roleMeta struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	roleRule struct {
		APIGroups []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	}
	roleRef struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
		Name     string `json:"name"`
	}
	roleSubject struct {
		APIGroup  string `json:"apiGroup,omitempty"`
		Kind      string `json:"kind"`
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
)

const rbacGroup = "rbac.authorization.k8s.io"

// readerRoles are the roles with which somebody may read all that a diagnosis reads in a cluster, and
// what binds them to him: cluster-wide what is read of the whole cluster, in each namespace what is
// read there. No Secret, no exec, no access to kubelets is among it, and nothing that writes.
func (a *app) readerRoles(who string) (roleList, error) {
	subject, err := subjectOfRole(who)
	if err != nil {
		return roleList{}, err
	}
	own, _ := a.needed()
	byNamespace := map[string][]live.Access{}
	for _, n := range own {
		for _, access := range live.AccessesOf(n) {
			if !strings.HasPrefix(access.Namespace, "<") { // of a hosted cluster, which this role is not for
				byNamespace[access.Namespace] = append(byNamespace[access.Namespace], access)
			}
		}
	}
	list := roleList{APIVersion: "v1", Kind: "List"}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		kind := "Role"
		if namespace == "" {
			kind = "ClusterRole"
		}
		meta := roleMeta{Name: readerName, Namespace: namespace}
		list.Items = append(list.Items,
			roleObject{APIVersion: rbacGroup + "/v1", Kind: kind, Metadata: meta, Rules: rulesOf(byNamespace[namespace])},
			roleObject{APIVersion: rbacGroup + "/v1", Kind: kind + "Binding", Metadata: meta,
				RoleRef: &roleRef{rbacGroup, kind, readerName}, Subjects: []roleSubject{subject}})
	}
	return list, nil
}

// rulesOf are accesses as rules, one for each API group and kind of access. Who may list may also get
// and watch, as in the roles of Kubernetes itself: `watch` is then told of changes.
func rulesOf(list []live.Access) []roleRule {
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
	var rules []roleRule
	for _, k := range slices.SortedFunc(maps.Keys(resources), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.verbs, b.verbs))
	}) {
		rules = append(rules, roleRule{[]string{k.group}, slices.Sorted(slices.Values(resources[k])), strings.Fields(k.verbs)})
	}
	return rules
}

// subjectOfRole reads who gets the roles: USER, group:NAME, or NAMESPACE/NAME of a ServiceAccount.
func subjectOfRole(who string) (roleSubject, error) {
	if name, ok := strings.CutPrefix(who, "group:"); ok && name != "" {
		return roleSubject{APIGroup: rbacGroup, Kind: "Group", Name: name}, nil
	}
	namespace, name, isAccount := strings.Cut(who, "/")
	switch {
	case isAccount && (namespace == "" || name == "" || strings.Contains(name, "/")), who == "", strings.HasPrefix(who, "group:"):
		return roleSubject{}, session.Usagef("--role %q: want USER, group:NAME, or NAMESPACE/NAME of a ServiceAccount", who)
	case isAccount:
		return roleSubject{Kind: "ServiceAccount", Name: name, Namespace: namespace}, nil
	}
	return roleSubject{APIGroup: rbacGroup, Kind: "User", Name: who}, nil
}
