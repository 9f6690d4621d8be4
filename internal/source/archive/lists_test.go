package archive

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// in puts one file where its objects are looked for.
func in(path, content string) string { return "-- " + path + " --\n" + content + "\n" }

const podList = "namespaces/a/core/pods.yaml"

// TestDamage holds that what is whole is kept, and that the rest is never silence.
func TestDamage(t *testing.T) {
	whole := "apiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\nkind: PodList\nmetadata: {}\n"
	for name, c := range map[string]struct {
		content string
		want    []string
		detail  string // "" for an error-free answer
	}{
		"whole":                {whole, []string{"a/a", "a/b"}, ""},
		"indented items":       {"kind: PodList\nitems:\n  - metadata: {name: a}\n    spec:\n    - x\n  - metadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"kind List":            {"kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n", []string{"a/a"}, ""},
		"JSON":                 {`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`, []string{"a/a"}, ""},
		"flow items":           {"kind: PodList\nitems: [{metadata: {name: a}}]\n", []string{"a/a"}, ""},
		"one object":           {"kind: Pod\nmetadata: {name: a}\n", []string{"a/a"}, ""},
		"two documents":        {"kind: Pod\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"CRLF":                 {strings.ReplaceAll(whole, "\n", "\r\n"), []string{"a/a", "a/b"}, ""},
		"comments":             {"# x\nkind: PodList\nitems:\n# y\n- metadata: {name: a}\n\n# z\n- metadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"items null":           {"apiVersion: v1\nitems: null\nkind: PodList\n", nil, ""},
		"items empty":          {"apiVersion: v1\nitems: []\nkind: PodList\n", nil, ""},
		"JSON empty":           {`{"kind":"PodList","items":[]}`, nil, ""},
		"of another namespace": {"kind: PodList\nitems:\n- metadata: {name: a, namespace: a}\n- metadata: {name: z, namespace: z}\n", []string{"a/a"}, ""},
		"0 bytes":              {"", nil, "the file is empty"},
		"cut in an item":       {"apiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {na", []string{"a/a"}, "cut off after 1 items"},
		"cut between lines":    {"apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\n", []string{"a/a"}, "cut off after 1 items"},
		"cut behind null":      {"apiVersion: v1\nitems: null\n", nil, "cut off"},
		"one broken item":      {"items:\n- metadata: {name: a}\n- metadata: {name: \n- metadata: {name: c}\nkind: PodList\n", []string{"a/a", "a/c"}, "item 2"},
		"a quote to the left": {"items:\n- 'metadata': {name: a, labels: {x: 'b\n- metadata: c'}}\n- metadata: {name: b}\nkind: PodList\n", []string{"a/a",
			"a/b"}, ""},
		"old ends of lines":     {"items:\n- metadata: {name: a}\r- metadata: {name: b}\nkind: PodList\n", []string{"a/a", "a/b"}, ""},
		"an item without name":  {"items:\n- metadata: {name: a}\n- spec: {}\nkind: PodList\n", []string{"a/a"}, "without metadata.name"},
		"an error of the API":   {"apiVersion: v1\nkind: Status\nmessage: pods is forbidden\nmetadata: {}\n", nil, "pods is forbidden"},
		"text":                  {"error: connection refused", nil, "no metadata.name"},
		"tabs":                  {"kind: Pod\n\tmetadata: {}\n", nil, "line"},
		"items are no list":     {"kind: PodList\nitems: {a: b}\n", nil, "items is not a list"},
		"an item is no object":  {"kind: PodList\nitems: [a]\n", nil, "item 1 is not an object"},
		"aliases between items": {"kind: PodList\nitems:\n- &x\n  metadata: {name: a}\n- *x\n", []string{"a/a"}, ""},
	} {
		s := open(t, in(podList, c.content)+in("namespaces/a/core/events.yaml", "kind: EventList\nitems: []"))
		list, err := s.List(t.Context(), evidence.Pods, "a")
		var got []string
		for _, o := range list {
			got = append(got, o.Namespace+"/"+o.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the objects are %v, want %v", name, got, c.want)
		}
		switch {
		case c.detail == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.detail != "" && why(t, err) != evidence.Damaged:
			t.Errorf("%s: %v, want damaged", name, err)
		case c.detail != "" && name != "text" && !strings.Contains(err.Error(), c.detail),
			c.detail != "" && !strings.Contains(err.Error(), podList):
			t.Errorf("%s: %v does not say %q and where", name, err, c.detail)
		}
	}
}

// TestItemsWithoutKind gives items the kind that their List implies.
func TestItemsWithoutKind(t *testing.T) {
	s := open(t, in(podList, "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}"))
	list, err := s.List(t.Context(), evidence.Pods, "a")
	if err != nil || len(list) != 1 {
		t.Fatalf("List = %v, %v", list, err)
	}
	want := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a"}}
	if diff := cmp.Diff(want, list[0].Content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhichCopyCounts(t *testing.T) {
	pod := func(uid, version, created, mark string) string {
		return fmt.Sprintf("kind: Pod\nmetadata:\n  name: p\n  namespace: a\n  uid: %s\n  resourceVersion: %q\n  creationTimestamp: %q\nspec: {mark: %s}\n", uid,
			version, created, mark)
	}
	const early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
	list := func(object string) string {
		return "kind: PodList\nitems:\n- " + strings.ReplaceAll(strings.TrimSuffix(object, "\n"), "\n", "\n  ") + "\n"
	}
	for name, c := range map[string]struct{ list, single string }{
		"the newer one in the List":       {list(pod("u", "11", early, "want")), pod("u", "9", early, "other")},
		"the newer one alone":             {list(pod("u", "9", early, "other")), pod("u", "11", early, "want")},
		"both alike":                      {list(pod("u", "9", early, "other")), pod("u", "9", early, "want")},
		"no versions":                     {list(pod("u", "", early, "other")), pod("u", "", early, "want")},
		"made again, the List is younger": {list(pod("v", "5", late, "want")), pod("u", "9", early, "other")},
		"made again, the List is older":   {list(pod("v", "9", early, "other")), pod("u", "5", late, "want")},
	} {
		for _, roots := range [][2]string{{"", ""}, {"x/", "y/"}, {"y/deep/", "x/"}} {
			s := open(t, in(roots[0]+podList, c.list)+in(roots[1]+"namespaces/a/pods/p/p.yaml", c.single))
			got, err := s.List(t.Context(), evidence.Pods, "a")
			if err != nil || len(got) != 1 || evidence.String(got[0].Content, "spec", "mark") != "want" {
				t.Errorf("%s, roots %q: %v, %v", name, roots, got, err)
			}
		}
	}
}

func TestSeveralClusters(t *testing.T) {
	infra := func(name string) string {
		return "kind: Infrastructure\nmetadata: {name: cluster}\nstatus: {infrastructureName: " + name + "}\n"
	}
	const file = "cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml"
	_, err := FS(tree(t, in("one/"+file, infra("c-1"))+in("two/"+file, infra("c-2"))), "x")
	if err == nil || !strings.Contains(err.Error(), `"c-1" in one, "c-2" in two; name the directory`) {
		t.Errorf("the error is %v", err)
	}
	open(t, in("one/"+file, infra("c-1"))+in("two/"+file, infra("c-1"))+in("three/"+podList, "kind: PodList\nitems: []"))
}

// TestMuchDamage: of damage endlessly the first is told, and how much it is.
func TestMuchDamage(t *testing.T) {
	s := open(t, in(podList, "kind: Pod\nmetadata: {name: a}\n"+strings.Repeat("---\na\n", 5000)))
	list, err := s.List(t.Context(), evidence.Pods, "a")
	u, ok := evidence.AsUnavailable(err)
	if !ok || len(list) != 1 || !strings.HasSuffix(u.Detail, "; and 4997 more") || len(u.Detail) > 1000 {
		t.Errorf("%d objects, %v", len(list), err)
	}
}

// TestManyKinds: a file that holds more kinds than any API may hold all that is asked for.
func TestManyKinds(t *testing.T) {
	for n, want := range map[int]evidence.Why{100: evidence.NotCollected, 1001: evidence.Damaged} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "apiVersion: v1\nkind: K%d\nmetadata: {name: a}\n---\n", i)
		}
		s := open(t, in("a.yaml", b.String())+in("b.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"))
		if _, err := s.List(t.Context(), evidence.Pods, ""); why(t, err) != want {
			t.Errorf("%d kinds: %v", n, err)
		}
	}
}
