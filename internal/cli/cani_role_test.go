package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

const readerFile = "../../deploy/reader.yaml"

// TestReaderRoles: the roles permit each read of a diagnosis, and nothing else.
func TestReaderRoles(t *testing.T) {
	out, errs, code := call(nil, "can-i", "--role", "group:rollcall-readers")
	if code != cmdutil.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var list readerrole.List
	if err := yaml.UnmarshalStrict([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	permits := func(a live.Access) bool {
		resource := a.Resource.Name
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		return slices.ContainsFunc(list.Items, func(o readerrole.Object) bool {
			return (o.Metadata.Namespace == "" || o.Metadata.Namespace == a.Namespace) && slices.ContainsFunc(o.Rules, func(r readerrole.Rule) bool {
				return slices.Contains(r.APIGroups, a.Resource.Group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, a.Verb)
			})
		})
	}
	own, _ := readerrole.Needs(alsoRead()...)
	asked := 0
	for _, n := range own {
		for _, a := range live.AccessesOf(n) {
			if asked++; !permits(a) && !strings.HasPrefix(a.Namespace, "<") {
				t.Errorf("%+v is not permitted", a)
			}
		}
	}
	if asked < 50 {
		t.Errorf("%d reads were looked at", asked)
	}
	roles, bindings := 0, 0
	for _, o := range list.Items {
		if o.RoleRef != nil {
			bindings++
			if o.RoleRef.Name != readerName || len(o.Subjects) != 1 || o.Subjects[0].Name != "rollcall-readers" {
				t.Errorf("%+v", o)
			}
			continue
		}
		roles++
		for _, r := range o.Rules {
			for _, verb := range r.Verbs {
				if verb != "get" && verb != "list" && verb != "watch" {
					t.Errorf("%s of %v", verb, r.Resources)
				}
			}
			for _, resource := range r.Resources {
				if resource == "secrets" || strings.HasSuffix(resource, "/exec") || strings.HasSuffix(resource, "/proxy") || strings.Contains(resource, "*") {
					t.Errorf("%s is among what may be read", resource)
				}
			}
		}
	}
	if roles != bindings || roles < 3 {
		t.Errorf("%d roles, %d bindings", roles, bindings)
	}
	if *update {
		if err := os.WriteFile(readerFile, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(readerFile)
	if diff := cmp.Diff(string(have), out); err != nil || diff != "" {
		t.Errorf("%s is behind (go test ./internal/cli -run TestReaderRoles -update): %v\n%s", readerFile, err, diff)
	}
}

func TestSubjectOfRole(t *testing.T) {
	for who, want := range map[string]readerrole.Subject{
		"jane":             {APIGroup: readerrole.Group, Kind: "User", Name: "jane"},
		"jane@example.com": {APIGroup: readerrole.Group, Kind: "User", Name: "jane@example.com"},
		"group:sre":        {APIGroup: readerrole.Group, Kind: "Group", Name: "sre"},
		"ops/rollcall":     {Kind: "ServiceAccount", Name: "rollcall", Namespace: "ops"},
	} {
		if got, err := subjectOfRole(who); err != nil || got != want {
			t.Errorf("%s: %+v, %v", who, got, err)
		}
	}
	for _, who := range []string{"", "group:", "/x", "x/", "a/b/c"} {
		if got, err := subjectOfRole(who); err == nil {
			t.Errorf("%q: %+v", who, got)
		}
	}
}
