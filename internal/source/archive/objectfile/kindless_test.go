package objectfile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// keptKinds takes the kinds of objects.
type keptKinds struct{ kinds []string }

func (k *keptKinds) Object(content map[string]any, _ bool) {
	k.kinds = append(k.kinds, evidence.String(content, "apiVersion")+" "+evidence.String(content, "kind"))
}
func (k *keptKinds) List()                {}
func (k *keptKinds) Empty(string, string) {}
func (k *keptKinds) Damage(error)         { k.kinds = append(k.kinds, "damage") }

// TestListWithoutKind: a typed List that a Go program has written names no kind.
func TestListWithoutKind(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want []string
	}{
		"by the path of the list": {`{"metadata":{"selfLink":"/api/v1/nodes"},"items":[{"metadata":{"name":"w0"}},{"metadata":{"name":"w1"}}]}`,
			[]string{"v1 Node", "v1 Node"}},
		"in a namespace": {`{"metadata":{"selfLink":"/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machines"},"items":[{"metadata":{"name":"a"}}]}`,
			[]string{"machine.openshift.io/v1beta1 Machine"}},
		"by the paths of the items": {`{"metadata":{},"items":[{"metadata":{"name":"a","selfLink":"/api/v1/namespaces/x/pods/a"}}]}`, []string{"v1 Pod"}},
		"by the kinds of the items": {`{"metadata":{"resourceVersion":"7"},"items":[{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"dns"}}]}`,
			[]string{"config.openshift.io/v1 ClusterOperator"}},
		"by fields": {`{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"w0"},"status":{"nodeInfo":{"kubeletVersion":"v1.31.0"}}}]}`,
			[]string{"v1 Node"}},
		"no object of an API":  {`{"items":[{"id":1,"status":"ok"}],"metadata":"page 1"}`, []string{" "}},
		"one of another kind":  {`{"metadata":{},"items":[{"metadata":{"name":"w0"},"status":{"nodeInfo":{"kubeletVersion":"v1"}}},{"metadata":{"name":"x"}}]}`, []string{" "}},
		"without any item":     {`{"metadata":{"resourceVersion":"7"},"items":[]}`, []string{" "}},
		"a resource not known": {`{"metadata":{"selfLink":"/apis/example.com/v1/nodes"},"items":[{"metadata":{"name":"w0"}}]}`, []string{" "}},
	} {
		var k keptKinds
		Read([]byte(c.raw), &Budget{}, &k)
		if !slices.Equal(k.kinds, c.want) {
			t.Errorf("%s: read %q, want %q", name, k.kinds, c.want)
		}
		kinds, err := Kinds([]byte(c.raw))
		if known := c.want[0] != " "; err != nil || (len(kinds) == 1) != known {
			t.Errorf("%s: kinds %v, %v", name, kinds, err)
		}
		for r, held := range kinds {
			if !held.List || held.Single {
				t.Errorf("%s: %s is held as %+v", name, r, held)
			}
		}
		var typed struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(Typed([]byte(c.raw)), &typed); err != nil || (typed.Kind != "") != (c.want[0] != " ") {
			t.Errorf("%s: made a list of kind %q, %v", name, typed.Kind, err)
		}
	}
}
