package archive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

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
		"whole":                 {whole, []string{"a/a", "a/b"}, ""},
		"indented items":        {"kind: PodList\nitems:\n  - metadata: {name: a}\n    spec:\n    - x\n  - metadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"kind List":             {"kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n", []string{"a/a"}, ""},
		"JSON":                  {`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}`, []string{"a/a"}, ""},
		"flow items":            {"kind: PodList\nitems: [{metadata: {name: a}}]\n", []string{"a/a"}, ""},
		"one object":            {"kind: Pod\nmetadata: {name: a}\n", []string{"a/a"}, ""},
		"two documents":         {"kind: Pod\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"CRLF":                  {strings.ReplaceAll(whole, "\n", "\r\n"), []string{"a/a", "a/b"}, ""},
		"comments":              {"# x\nkind: PodList\nitems:\n# y\n- metadata: {name: a}\n\n# z\n- metadata: {name: b}\n", []string{"a/a", "a/b"}, ""},
		"items null":            {"apiVersion: v1\nitems: null\nkind: PodList\n", nil, ""},
		"items empty":           {"apiVersion: v1\nitems: []\nkind: PodList\n", nil, ""},
		"JSON empty":            {`{"kind":"PodList","items":[]}`, nil, ""},
		"of another namespace":  {"kind: PodList\nitems:\n- metadata: {name: a, namespace: a}\n- metadata: {name: z, namespace: z}\n", []string{"a/a"}, ""},
		"0 bytes":               {"", nil, "the file is empty"},
		"cut in an item":        {"apiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {na", []string{"a/a"}, "cut off after 1 items"},
		"cut between lines":     {"apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\n", []string{"a/a"}, "cut off after 1 items"},
		"cut behind null":       {"apiVersion: v1\nitems: null\n", nil, "cut off"},
		"one broken item":       {"items:\n- metadata: {name: a}\n- metadata: {name: \n- metadata: {name: c}\nkind: PodList\n", []string{"a/a", "a/c"}, "item 2"},
		"a quote to the left":   {"items:\n- 'metadata': {name: a, labels: {x: 'b\n- metadata: c'}}\n- metadata: {name: b}\nkind: PodList\n", []string{"a/a", "a/b"}, ""},
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
		return fmt.Sprintf("kind: Pod\nmetadata:\n  name: p\n  namespace: a\n  uid: %s\n  resourceVersion: %q\n  creationTimestamp: %q\nspec: {mark: %s}\n", uid, version, created, mark)
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

func TestDecodeIsBounded(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		p := string(c - 1)
		bomb += fmt.Sprintf("%c: &%c [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	for name, raw := range map[string]string{
		"aliases":    bomb,
		"one alias":  `a: &a "` + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 1500) + "]\n",
		"deep flow":  "a: " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000),
		"open flow":  strings.Repeat("{a: ", 100000),
		"deep block": deepBlock(1000),
		"deep JSON":  strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		"large":      "a: " + strings.Repeat("x", maxObject),
		"a list":     "- a\n",
		"a scalar":   "x\n",
		"merge loop": "a: &a\n  <<: *a\n",
	} {
		if got, err := decode([]byte(raw)); err == nil {
			t.Errorf("%s: decodes to %.80v", name, got)
		}
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// FuzzList holds that a split List has the items of the decoded List.
func FuzzList(f *testing.F) {
	for _, s := range []string{
		"apiVersion: v1\nitems:\n- a: 1\n- b: |\n    - x\n    y\nkind: L\n", "items:\n  - a: 1\n  - - b\nkind: L\n", "items:\n-\n  a: 1\n- b\n", "items:\n", "items: []\nkind: L",
		"items:\n- a: 'x\n\n    - y'\n- \"b\": c\n# z\nkind: L\n", "items:\n- a\n---\nkind: L\n", "items:\n-   a: 1\n    b: 2\n-   c: 3\nkind: L\n", "items:\n- ? a\n  : b\nkind: L\n",
		"items:\n-\r0: \nkind: 0", "items:\r\n- a: 1\r\n- b\r\nkind: L\r\n", "items:\n- a: \u2028- b: 1\nkind: L\n", "items:\n- a: 1\u0085- b: 1\nkind: L\n", "items:\n- '\n- 0: 0'\n-\nkind: 0",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for doc := range documents(raw) {
			h := scanHeader(doc)
			if h.items == 0 || h.kind == "" {
				continue
			}
			items, ok := splitItems(doc[h.items:])
			if !ok {
				continue
			}
			var whole struct {
				Items []any `json:"items"`
			}
			if len(doc) > 1<<16 || yaml.UnmarshalStrict(doc, &whole) != nil && yaml.Unmarshal(doc, &whole) != nil {
				continue // nothing to compare with
			}
			if slices.ContainsFunc(items, func(item []byte) bool { _, err := decode(item); return err != nil }) {
				continue // decoded as a whole, or reported as damage
			}
			for i, item := range items {
				got, err := decode(item)
				if err != nil || i >= len(whole.Items) {
					continue
				}
				want, _ := whole.Items[i].(map[string]any)
				if fmt.Sprint(got) != fmt.Sprint(renumber(want)) {
					t.Errorf("item %d of %q is %v, decoded as a whole %v", i, doc, got, want)
				}
			}
		}
	})
}

// renumber brings the numbers of a loose decoder into the form of decode.
func renumber(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = renumber(v[k])
		}
	case []any:
		for i := range v {
			v[i] = renumber(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// FuzzDecode holds that foreign YAML neither hangs nor crashes the decoder.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("a: &x {b: [1, 2.5, ~]}\nc: *x\n"))
	f.Add([]byte(`{"a":{"b":[1,null]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decode(raw)
		if (v == nil) == (err == nil) {
			t.Errorf("decode(%q) = %v, %v", raw, v, err)
		}
		scanHeader(raw)
	})
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

// TestSpending: the objects of one answer are bounded together, however small each is.
func TestSpending(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	for name, c := range map[string]struct {
		raw  string
		want int // objects that fit into 2000 bytes
	}{
		"texts":    {`"` + strings.Repeat("x", 900) + `"`, 2},
		"no texts": {"[0,0,0,0,0,0,0]", 4},
		"few":      {"{}", 10},
	} {
		cost, got := spending{limit: 2000}, 0
		for range 10 {
			if _, err := cost.decode([]byte(`{"a": `+c.raw+"}"), decode); err == nil {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	var items jsonItems
	if err := json.Unmarshal([]byte("["+strings.Repeat("0,", maxObjects+3)+"0]"), &items); err != nil || len(items.list) != maxObjects || !items.more {
		t.Errorf("%d items, %v", len(items.list), err)
	}
}

// TestManyKinds: a file that holds more kinds than any API may hold all that is asked for.
func TestManyKinds(t *testing.T) {
	for n, want := range map[int]evidence.Why{100: evidence.NotCollected, maxKinds + 1: evidence.Damaged} {
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
