package archive

import (
	"io"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
	"github.com/rollcall-project/rollcall/internal/source/lean"
)

const collectionTree = `
-- c/rollcall.yaml --
apiVersion: rollcall.dev/v1alpha1
kind: Collection
now: "2026-01-02T10:00:00Z"
source: live
vantage: laptop
objects:
- resource: pods
  objects:
  - {namespace: a, name: p, file: namespaces/a/pods/p/p.yaml, source: live, path: pods/p, readAt: "2026-01-02T09:59:59Z"}
  - {namespace: b, name: q, file: namespaces/b/pods/q/q.yaml, source: live, path: pods/q}
- resource: nodes
- resource: machines.machine.openshift.io
  namespace: openshift-machine-api
  missing: {why: forbidden, detail: no, supply: a role}
- resource: events
  namespace: a
  objects:
  - {namespace: a, name: gone, file: namespaces/a/core/events/gone.yaml}
texts:
- query: {kind: journal, unit: crio}
  missing: {why: unreachable}
- query: {kind: console}
  texts:
  - {kind: console, host: h, path: "console:h", file: consoles/h.log, failed: it broke}
  - {kind: console, host: i, path: "console:i", failed: closed}
-- c/namespaces/a/pods/p/p.yaml --
kind: Pod
metadata: {name: p, namespace: a}
-- c/namespaces/b/pods/q/q.yaml --
kind: Pod
metadata: {name: q, namespace: b}
-- c/cluster-scoped-resources/core/nodes/planted-later.yaml --
kind: Node
metadata: {name: planted-later}
-- c/consoles/h.log --
seen
`

// TestLean: what a diagnosis reads of a collection and of a must-gather is what facts read.
func TestLean(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a, managedFields: []}\nspec: {nodeName: node1, dnsPolicy: x}\n"
	for name, text := range map[string]string{
		"collection":  strings.ReplaceAll(collectionTree, "kind: Pod\nmetadata: {name: p, namespace: a}\n", pod),
		"must-gather": in("namespaces/a/pods/p/p.yaml", pod),
	} {
		for _, kept := range []bool{false, true} {
			s := open(t, text)
			if kept {
				s.Lean(func() Keep { return lean.NewDecoder().Object })
			}
			list, err := s.List(t.Context(), evidence.Pods, "a")
			if err != nil || len(list) != 1 {
				t.Fatalf("%s: %v, %v", name, list, err)
			}
			o := list[0].Content
			if evidence.String(o, "spec", "nodeName") != "node1" || o["kind"] != "Pod" || (evidence.String(o, "spec", "dnsPolicy") == "") != kept {
				t.Errorf("%s, lean %t: %v", name, kept, o)
			}
		}
	}
}

// TestReplayKeepsToTheHeader holds that a collection answers what its run was
// answered: the header decides, not what lies in the tree.
func TestReplayKeepsToTheHeader(t *testing.T) {
	s := open(t, collectionTree)
	d, err := s.Describe(t.Context())
	if err != nil || d.Kind != Collection || d.Vantage != "laptop" || !d.Now.Equal(at(t, "2026-01-02T10:00:00Z")) {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	if got := names(t, s, evidence.Nodes, ""); got != nil {
		t.Errorf("the nodes are %v, the run found none", got)
	}
	if got := names(t, s, evidence.Pods, ""); len(got) != 2 {
		t.Errorf("the pods are %v", got)
	}
	list, err := s.List(t.Context(), evidence.Pods, "a") // from the question about all namespaces
	if err != nil || len(list) != 1 || list[0].Loc != (evidence.Locator{Source: "live", Path: "pods/p"}) ||
		!list[0].ReadAt.Equal(at(t, "2026-01-02T09:59:59Z")) {
		t.Errorf("List(pods -n a) = %+v, %v", list, err)
	}
	for _, c := range []struct {
		n    evidence.Need
		want evidence.Why
	}{
		{evidence.Objects(evidence.Machines, "openshift-machine-api"), evidence.Forbidden},
		{evidence.Objects(evidence.Machines, ""), evidence.NotCollected},
		{evidence.Objects(evidence.CSRs, ""), evidence.NotCollected},
		{evidence.Objects(evidence.Events, "a"), evidence.Damaged}, // its file is gone
	} {
		if list, err := s.List(t.Context(), c.n.Resource, c.n.Namespace); list != nil || why(t, err) != c.want {
			t.Errorf("List(%s) = %v, %v, want %s", c.n, list, err, c.want)
		}
	}
	if _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}); why(t, err) != evidence.NotCollected {
		t.Errorf("a text that was not asked for: %v", err)
	}
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console})
	if err != nil || len(texts) != 2 {
		t.Fatalf("Texts = %v, %v", texts, err)
	}
	in, err := texts[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if raw, err := io.ReadAll(in); string(raw) != "seen\n" || err == nil || err.Error() != "it broke" {
		t.Errorf("a text that broke reads %q, %v", raw, err)
	}
	if _, err := texts[1].Open(t.Context()); err == nil || err.Error() != "closed" {
		t.Errorf("a text that did not open: %v", err)
	}
}

func TestBadHeaders(t *testing.T) {
	const good = "apiVersion: rollcall.dev/v1alpha1\nkind: Collection\nnow: \"2026-01-02T10:00:00Z\"\nobjects: []\ntexts: []\n"
	for header, want := range map[string]string{
		strings.Replace(good, "v1alpha1", "v9", 1): "use the rollcall that wrote it, or a newer one",
		strings.Replace(good, "objects: []", "objects:\n- resource: nodes\n  objects: [{name: a, file: ../../etc/passwd}]", 1): "not inside the " +
			"collection",
		strings.Replace(good, "texts: []", "texts:\n- query: {kind: console}\n  texts: [{kind: console, path: x, file: /etc/passwd}]", 1): "not inside the " +
			"collection",
		good + "extra: 1\n": "unknown field",
		strings.Replace(good, "objects: []", "objects:\n- resource: nodes\n  objects: [{name: a, file: x}, {name: b, file: x}]", 1): "named for two objects",
		strings.Replace(good, "objects: []", "objects:\n- resource: nodes\n  objects: [{name: a, file: x}, {name: a, file: x}]", 1): "named for two objects",
		"{": "rollcall.yaml",
		strings.Replace(good, "objects: []", "objects:\n- {resource: &a "+strings.Repeat("x", 1<<20)+"}\n"+strings.Repeat("- {resource: *a}\n", 500), 1): "aliases",
	} {
		_, err := FS(tree(t, in("rollcall.yaml", header)), "c")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", header, err, want)
		}
	}
	if _, err := FS(tree(t, in("a/rollcall.yaml", good)+in("b/rollcall.yaml", good)), "c"); err == nil || !strings.Contains(err.Error(), "several collections") {
		t.Errorf("two collections in one: %v", err)
	}
}

// TestForeignAdvice: a collection cannot make Rollcall advise what Rollcall never does.
func TestForeignAdvice(t *testing.T) {
	pods, probes := evidence.Objects(evidence.Pods, "a"), evidence.Objects(evidence.APIProbes, "")
	inspect := evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods", Namespace: "a"}
	read := func(text string) *evidence.Supply {
		s := &evidence.Supply{}
		if err := s.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct {
		n      evidence.Need
		record collection.MissingRecord
		want   evidence.Unavailable
	}{
		"a role": {pods, collection.MissingRecord{Why: "forbidden", Detail: "x", Supply: read("role verb=list resource=pods " +
			"namespace=a")}, evidence.Unavailable{Why: evidence.Forbidden, Supply: evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "pods",
			Namespace: "a"}}},
		"nothing": {pods, collection.MissingRecord{Why: "forbidden", Detail: "x", Supply: nil}, evidence.Unavailable{Why: evidence.Forbidden}},
		"words": {pods, collection.MissingRecord{Why: "forbidden", Detail: "x", Supply: read("oc adm must-gather")},
			evidence.Unavailable{Why: evidence.Forbidden, Supply: inspect}},
		"for a probe": {probes, collection.MissingRecord{Why: "not asked", Detail: "x", Supply: read("words")}, evidence.Unavailable{Why: evidence.NotAsked,
			Supply: evidence.Supply{Kind: evidence.SupplyProbe}}},
		"a reason unknown": {pods, collection.MissingRecord{Why: "fine", Detail: "x", Supply: nil}, evidence.Unavailable{Why: evidence.Damaged}},
		"no reason":        {pods, collection.MissingRecord{}, evidence.Unavailable{Why: evidence.Damaged}},
	} {
		if u := unavailable(c.record, c.n); u.Why != c.want.Why || u.Supply != c.want.Supply {
			t.Errorf("%s: %s, %q", name, u.Why, u.Supply)
		}
	}
	notes := ownNotes([]evidence.Coverage{{Need: "a", State: evidence.Partial}, {Need: "b", State: "fine"}})
	if notes[0].State != evidence.Partial || notes[1].State != evidence.Missing {
		t.Errorf("%+v", notes)
	}
}
