package repair

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// covers reports whether a right of the list allows a request.
func (a Access) covers(b Access) bool {
	return a.Verb == b.Verb && a.Sub == b.Sub && a.Ref.Group == b.Ref.Group && a.Ref.Resource == b.Ref.Resource &&
		(a.Ref.Namespace == b.Ref.Namespace || a.Ref.Namespace == "") &&
		(a.Ref.Name == "" || a.Ref.Name == b.Ref.Name)
}

// TestRights: what each repair asks of the API, from its plan to its undo, is in the list that
// can-i asks for.
func TestRights(t *testing.T) {
	desyncs := []string{"adopt-spec-config", "approve-expected-csrs", "recreate-missing-render", "align-annotations"}
	for _, a := range targets() {
		t.Run(a.name, func(t *testing.T) {
			var allowed []Access
			remedies := desyncs
			if _, text, _ := strings.Cut(a.name, ": "); !strings.Contains(text, "desync") {
				name, _, _ := strings.Cut(text, ",")
				remedies = []string{name}
			}
			for _, id := range remedies {
				if !slices.Contains(RemedyIDs(), id) {
					t.Fatalf("%q is no remedy", id)
				}
				allowed = append(allowed, Rights(id)...)
			}
			r, p := a.make(t)
			if _, err := r.exec.Apply(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			_ = failure(r.exec.Undo(t.Context(), p.ID)) // what stays is another test's
			if len(r.asked) == 0 {
				t.Fatal("nothing was asked")
			}
			for _, b := range r.asked {
				if b.Ref.Group == memberGroup { // outside of tests this is a command in a pod
					b = Access{Verb: "create", Ref: podRef(openshift.EtcdNamespace, ""), Sub: "exec"}
				}
				if b.Ref.Resource == "etcdbackups" {
					continue // without it the plan says that no backup is known
				}
				if !slices.ContainsFunc(allowed, func(a Access) bool { return a.covers(b) }) {
					t.Errorf("not in the list: %s %s/%s in %q", b.Verb, b.Ref.Resource, b.Sub, b.Ref.Namespace)
				}
			}
		})
	}
}
