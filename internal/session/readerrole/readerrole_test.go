package readerrole_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
)

// TestRolesRead: the roles read, and nothing else: no Secret, no exec, no kubelet, no identity of another.
func TestRolesRead(t *testing.T) {
	subject := readerrole.Subject{Kind: "ServiceAccount", Name: "reader", Namespace: "rollcall"}
	list := readerrole.Roles("rollcall-reader", subject)
	bound, pods := 0, false
	for _, o := range list {
		if o.RoleRef != nil {
			if bound++; o.RoleRef.Name != "rollcall-reader" || !slices.Equal(o.Subjects, []readerrole.Subject{subject}) {
				t.Errorf("%s in %q binds %v to %v", o.Kind, o.Metadata.Namespace, o.RoleRef, o.Subjects)
			}
			continue
		}
		for _, r := range o.Rules {
			for _, verb := range r.Verbs {
				if !slices.Contains([]string{"get", "list", "watch"}, verb) {
					t.Errorf("%v in %q permits %s", r.Resources, o.Metadata.Namespace, verb)
				}
			}
			for _, resource := range r.Resources {
				pods = pods || resource == "pods"
				switch name, sub, _ := strings.Cut(resource, "/"); {
				case name == "secrets", name == "users", name == "groups", name == "serviceaccounts" && sub != "", strings.Contains(resource, "*"):
					t.Errorf("%s in %q", resource, o.Metadata.Namespace)
				case sub != "" && sub != "log" && sub != "status":
					t.Errorf("%s in %q is more than an object or a log", resource, o.Metadata.Namespace)
				}
			}
		}
	}
	if bound == 0 || 2*bound != len(list) || !pods {
		t.Errorf("%d of %d are bindings; pods are read: %t", bound, len(list), pods)
	}
}

// TestRolesAlso: what else somebody reads is permitted, where it is.
func TestRolesAlso(t *testing.T) {
	const kind, namespace = "kites", "toys"
	need := evidence.Objects(evidence.Resource{Group: "example.com", Name: kind}, namespace)
	for _, o := range readerrole.Roles("r", readerrole.Subject{}, need) {
		for _, r := range o.Rules {
			if slices.Contains(r.Resources, kind) {
				if o.Kind != "Role" || o.Metadata.Namespace != namespace || !slices.Equal(r.APIGroups, []string{"example.com"}) {
					t.Errorf("%s is in a %s of %q, group %v", kind, o.Kind, o.Metadata.Namespace, r.APIGroups)
				}
				return
			}
		}
	}
	t.Error("it is in no role")
}
