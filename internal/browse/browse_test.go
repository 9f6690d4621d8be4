package browse

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

var update = flag.Bool("update", false, "write the golden files")

func same(s string) string { return s }

// open opens an archive of files.
func open(t *testing.T, files map[string]string) *Archive {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, err := archive.FS(tree, "mg")
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), []evidence.Source{s}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// get prints what an archive has of a kind: the table, then what is missing.
func (a *Archive) table(ctx context.Context, word string, q Query) (string, error) {
	var err error
	if q.Kind, err = a.Find(ctx, word); err != nil {
		return "", err
	}
	f, err := a.Get(ctx, q)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if len(f.Objects) > 0 {
		if err := a.Print(&b, f, true, same); err != nil {
			return "", err
		}
	}
	if err := a.Missing(f); err != nil {
		fmt.Fprintf(&b, "! %v\n", err)
	}
	return b.String(), nil
}

// TestTables prints every kind of the embedded archives, wide.
func TestTables(t *testing.T) {
	set, err := demo.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		d, err := set.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := set.Archive(d)
		if err != nil {
			t.Fatal(err)
		}
		s, err := archive.Bytes(t.Context(), raw, name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Open(t.Context(), []evidence.Source{s}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, r := range s.Resources() {
			text, err := a.table(t.Context(), r.String(), Query{Wide: true})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "== %s\n%s", r, text)
		}
		golden(t, name+".txt", b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); `go test -update` writes it:\n%s", name, diff)
	}
}

// someFiles is a small must-gather with what makes a difference.
var someFiles = map[string]string{
	"mg/timestamp": "2026-01-02 10:00:00.0 +0000 UTC m=+0.1\n2026-01-02 12:00:00.0 +0000 UTC m=+99\n",
	"mg/cluster-scoped-resources/core/nodes/control0.yaml": "apiVersion: v1\nkind: Node\nmetadata:\n  creationTimestamp: \"2026-01-02T10:00:00Z\"\n  name: control0\n" +
		"  labels:\n    node-role.kubernetes.io/master: \"\"\nstatus:\n  conditions:\n  - status: \"True\"\n    type: Ready\n",
	"mg/namespaces/empty/core/pods.yaml": "apiVersion: v1\nitems: []\nkind: PodList\n",
	"mg/namespaces/ns/core/pods.yaml": "apiVersion: v1\nitems:\n- metadata:\n    name: a\n    namespace: ns\n    labels:\n      app: x\n  spec:\n    containers:\n    - name: c\n" +
		"  status:\n    phase: Running\n- metadata:\n    name: b\n    namespace: ns\n  status:\n    phase: Pending\nkind: PodList\n",
	"mg/namespaces/ns/apps/deployments.yaml": "apiVersion: apps/v1\nitems:\n- metadata:\n    name: d\n    namespace: ns\n  spec:\n    selector:\n      matchLabels:\n" +
		"        app: x\n- metadata:\n    name: gone\n    namespace: ns\n  spec:\n    selector:\n      matchLabels:\n        app: gone\nkind: DeploymentList\n",
	"mg/namespaces/ns/core/secrets.yaml": "apiVersion: v1\nitems:\n- data:\n    password: cGxhbnRlZC1zZWNyZXQ=\n  kind: Secret\n  metadata:\n    name: s\n    namespace: ns\n" +
		"  type: Opaque\nkind: SecretList\n",
	"mg/namespaces/cut/core/configmaps.yaml": "apiVersion: v1\nitems:\n- data:\n    a: b\n  metadata:\n    name: whole\n    namespace: cut\n- data:\n    a",
	"mg/cluster-scoped-resources/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com.yaml": "apiVersion: apiextensions.k8s.io/v1\n" +
		"kind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.com\nspec:\n  group: example.com\n  names:\n    kind: Widget\n    plural: widgets\n" +
		"    shortNames:\n    - wd\n    singular: widget\n  scope: Namespaced\n  versions:\n  - additionalPrinterColumns:\n    - jsonPath: .spec.size\n      name: Size\n" +
		"      type: integer\n    - jsonPath: .metadata.creationTimestamp\n      name: Age\n      type: date\n    - jsonPath: .spec.more\n      name: More\n      priority: 1\n" +
		"    name: v1\n    schema:\n      openAPIV3Schema:\n        type: object\n    served: true\n    storage: true\n",
	"mg/namespaces/ns/example.com/widgets/w.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  creationTimestamp: \"2026-01-01T12:00:00Z\"\n  name: w\n" +
		"  namespace: ns\nspec:\n  size: 3\n",
	"mg/namespaces/ns/pods/a/c/c/logs/current.log":       "first\npassword=planted-secret\nlast\n",
	"mg/namespaces/ns/pods/a/c/c/logs/previous.log":      "before\n",
	"mg/namespaces/ns/pods/a/d/d/logs/current.log":       "other\n",
	"mg/namespaces/ns/pods/b/c/c/logs/current.log":       "",
	"mg/namespaces/ns/pods/b/c/c/logs/rotated/0.log.1":   "older\n",
	"mg/host_service_logs/masters/kubelet_service.log":   "Jan 02 11:00:00 control0.example kubelet[1]: a\nJan 02 11:00:01 control1 kubelet[1]: b\nmore of b\n",
	"mg/host_service_logs/masters/crio_service.log":      "Jan 02 11:00:00 control0.example crio[1]: c\n",
	"mg/cluster-scoped-resources/core/nodes/broken.yaml": "",
}

// TestGet: what is there, what is not, and what is not known.
func TestGet(t *testing.T) {
	a := open(t, someFiles)
	for _, c := range []struct {
		word, name, namespace, selector string
		want                            string
	}{
		{"pods", "", "ns", "", "NAME   READY   STATUS    RESTARTS   AGE\na      0/1     Running   0          <unknown>\nb      0/0     Pending   0          <unknown>\n"},
		{"po", "", "", "app=x", "NAMESPACE   NAME   READY   STATUS    RESTARTS   AGE\nns          a      0/1     Running   0          <unknown>\n"},
		{"Pod", "b", "ns", "", "NAME   READY   STATUS    RESTARTS   AGE\nb      0/0     Pending   0          <unknown>\n"},
		{"pods", "", "empty", "", ""},
		{"pods", "", "nowhere", "", "! pods -n nowhere: not collected: nothing in the must-gather shows that it was looked for\n"},
		{"pods", "z", "ns", "", "! pods z -n ns: not found: the must-gather has the list, and it is not in it\n"},
		{"node", "control0", "any", "", "NAME       STATUS   ROLES    AGE    VERSION\ncontrol0   Ready    master   120m\n"},
		{"no", "", "", "", "NAME       STATUS   ROLES    AGE    VERSION\ncontrol0   Ready    master   120m\n" +
			"! not all nodes of the must-gather are here: damaged: mg/cluster-scoped-resources/core/nodes/broken.yaml: the file is empty\n"},
		{"cm", "", "cut", "", "NAME    DATA   AGE\nwhole   1      <unknown>\n" +
			"! not all configmaps -n cut of the must-gather are here: damaged: mg/namespaces/cut/core/configmaps.yaml: cut off after 1 items\n"},
		{"bmh", "", "", "", "! baremetalhosts.metal3.io: not collected: nothing in the must-gather shows that it was looked for\n"},
		{"widgets", "", "", "", "NAMESPACE   NAME   SIZE   AGE\nns          w      3      24h\n"},
		{"wd", "", "ns", "", "NAME   SIZE   AGE\nw      3      24h\n"},
		{"widgets.example.com", "w", "", "", "NAMESPACE   NAME   SIZE   AGE\nns          w      3      24h\n"},
		{"widget", "x", "", "", "! widgets.example.com x: not collected: it is not among the 1 of its kind that are there; the archive has no list that shows whether it existed\n"},
		{"secrets", "", "", "", "NAMESPACE   NAME   TYPE     DATA   AGE\nns          s      Opaque   1      <unknown>\n"},
	} {
		got, err := a.table(t.Context(), c.word, Query{Name: c.name, Namespace: c.namespace, Selector: c.selector})
		if err != nil {
			t.Errorf("%s %s: %v", c.word, c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s -n %s -l %s (-want +got):\n%s", c.word, c.name, c.namespace, c.selector, diff)
		}
	}
	if _, err := a.Find(t.Context(), "widgts"); err == nil || !strings.Contains(err.Error(), "did you mean widgets?") {
		t.Errorf("a kind that does not exist: %v", err)
	}
	if _, err := a.Get(t.Context(), Query{Kind: Kinds()[0], Selector: "a=="}); err != nil {
		t.Errorf("an empty value: %v", err)
	}
	if _, err := a.Get(t.Context(), Query{Kind: Kinds()[0], Selector: "a in b"}); err == nil {
		t.Error("a wrong selector is no error")
	}
}

// TestChosen: by fields, in an order, with other columns.
func TestChosen(t *testing.T) {
	a := open(t, someFiles)
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{FieldSelector: "status.phase=Pending"}, "NAME   READY   STATUS    RESTARTS   AGE\nb      0/0     Pending   0          <unknown>\n"},
		{Query{FieldSelector: "status.phase!=Pending,metadata.name=b"}, ""},
		{Query{SortBy: "{.status.phase}", Columns: "NAME:.metadata.name,PHASE:status.phase,C:.spec.containers[*].name"},
			"NAME   PHASE     C\nb      Pending   <none>\na      Running   c\n"},
		{Query{SortBy: "spec.containers[0].name", Columns: "ALL:.metadata.labels.app"}, "ALL\n<none>\nx\n"},
		{Query{ShowLabels: true, Name: "a"}, "NAME   READY   STATUS    RESTARTS   AGE         LABELS\na      0/1     Running   0          <unknown>   app=x\n"},
	} {
		c.q.Namespace = "ns"
		if got, err := a.table(t.Context(), "pods", c.q); err != nil || got != c.want {
			t.Errorf("%+v: %v (-want +got):\n%s", c.q, err, cmp.Diff(c.want, got))
		}
	}
	for _, q := range []Query{{FieldSelector: "a"}, {SortBy: ".a["}, {Columns: "A"}, {Columns: "A:.b["}} {
		q.Kind = Kinds()[0]
		if _, err := a.Get(t.Context(), q); err == nil {
			t.Errorf("%+v is no error", q)
		}
	}
}

// TestTemplate: of one object and of a list; a secret stays hidden in each.
func TestTemplate(t *testing.T) {
	a := open(t, someFiles)
	for _, c := range []struct{ kind, name, template, want string }{
		{"pods", "", "{.items[*].metadata.name}", "a b"},
		{"pods", "", `{range .items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}`, "a\tRunning\nb\tPending\n"},
		{"pod", "a", "{.metadata.labels.app} {.spec.none}", "x "},
		{"secret", "s", "{.type}", "Opaque"},
	} {
		k, err := a.Find(t.Context(), c.kind)
		if err != nil {
			t.Fatal(err)
		}
		f, err := a.Get(t.Context(), Query{Kind: k, Name: c.name, Namespace: "ns", Whole: true})
		if err != nil {
			t.Fatal(err)
		}
		of, err := ParseTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := of.Of(Document(f)); err != nil || got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.template, got, c.want, err)
		}
		if of, err = ParseTemplate("{.data}{.items[*].data}{..password}"); err != nil {
			t.Fatal(err)
		}
		if got, err := of.Of(Document(f)); err != nil || strings.Contains(got, "cGxhbnRlZC1zZWNyZXQ") || strings.Contains(got, "planted") {
			t.Errorf("%s: %q, %v", c.kind, got, err)
		}
	}
	for _, bad := range []string{"", "{.a", "{.items[}"} {
		if _, err := ParseTemplate(bad); err == nil {
			t.Errorf("%q is a template", bad)
		}
	}
}

// TestWhole: a document has every field, and no secret.
func TestWhole(t *testing.T) {
	a := open(t, someFiles)
	k, err := a.Find(t.Context(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Get(t.Context(), Query{Kind: k, Name: "s", Whole: true})
	if err != nil || len(f.Objects) != 1 {
		t.Fatal(f, err)
	}
	got := fmt.Sprint(Document(f))
	if !strings.Contains(got, "redacted") || strings.Contains(got, "cGxhbnRlZC1zZWNyZXQ") || strings.Contains(got, "planted") {
		t.Error(got)
	}
	if got := fmt.Sprint(Document(Found{})); !strings.Contains(got, "kind:List") || !strings.Contains(got, "items:[]") {
		t.Error(got)
	}
}

// TestLines: one log, or which there are.
func TestLines(t *testing.T) {
	a := open(t, someFiles)
	for _, c := range []struct {
		name string
		log  Log
		want string // the lines, and what is missing behind them
	}{
		{"a container", Log{Pod: "a", Container: "c", Namespace: "ns"}, "1 first|2 password=[redacted]|3 last"},
		{"in any namespace", Log{Pod: "a", Container: "d"}, "1 other"},
		{"the last lines", Log{Pod: "a", Container: "c", Tail: 1}, "3 last"},
		{"before the restart", Log{Pod: "a", Container: "c", Previous: true}, "1 before"},
		{"of several containers", Log{Pod: "a"}, "! log of pod a: several logs: name the container with -c, or take --all-containers; there are: c, d"},
		{"of all containers", Log{Pod: "a", AllContainers: true, Tail: 1}, "pod/a/c 3 last|pod/a/d 1 other"},
		{"of labels", Log{Selector: "app=x", Container: "d"}, "1 other"},
		{"of a deployment", Log{Owner: "deploy/d", AllContainers: true, Tail: 1}, "pod/a/c 3 last|pod/a/d 1 other"},
		{"of a deployment elsewhere", Log{Owner: "deployment/d", Namespace: "other"},
			"! deployments.apps d -n other: not collected: nothing in the must-gather shows that it was looked for"},
		{"of none", Log{Owner: "deployment/e", Namespace: "ns"}, "! deployments.apps e -n ns: not found: the must-gather has the list, and it is not in it"},
		{"of a deployment without pods", Log{Owner: "deployment/gone", Namespace: "ns"}, "! deployment/gone: not found: none of the 2 pods of the must-gather is one of it"},
		{"of what has no pods", Log{Owner: "widget/w", Namespace: "ns"}, "! widget/w has no selector of pods: name a pod, or labels with -l"},
		{"no such container", Log{Pod: "a", Container: "x"}, "! log of pod a -c x: not collected; there are the containers c, d"},
		{"no such pod", Log{Pod: "q"}, "! log of pod q: not collected: the must-gather has none; there are logs of ns/a, ns/b"},
		{"an empty log", Log{Pod: "b"}, "! mg/namespaces/ns/pods/b/c/c/logs/current.log: 0 bytes: the container wrote nothing, or the collector could not read it"},
		{"no previous log", Log{Pod: "b", Previous: true},
			"! log of pod b: there is no previous log with a line: the container was not restarted, or it was not collected"},
		{"a rotated log", Log{Pod: "b", Rotated: true}, "1 older"},
		{"a unit of a host", Log{Host: "control0", Unit: "kubelet"}, "1 Jan 02 11:00:00 control0.example kubelet[1]: a"},
		{"lines that go on", Log{Host: "control1", Unit: "kubelet", Tail: 2}, "2 Jan 02 11:00:01 control1 kubelet[1]: b|3 more of b"},
		{"of several units", Log{Host: "control0"}, "! journal of host control0: several logs: name the unit with -u, one of: crio, kubelet"},
		{"no such host", Log{Host: "w", Unit: "kubelet"}, "! journal of host w -u kubelet: not collected: the must-gather has journals of control0.example, control1"},
		{"no such unit", Log{Host: "w", Unit: "chronyd"}, "! journal of host w -u chronyd: not collected: no such text is in the must-gather"},
	} {
		var got []string
		err := a.Lines(t.Context(), c.log, func(l Line) error {
			text := l.Text
			if i := strings.Index(text, "[redacted"); i >= 0 {
				text = text[:i] + "[redacted]"
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", l.Of, l.Number, text)))
			return nil
		})
		if err != nil {
			got = append(got, "! "+err.Error())
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if unclear := strings.Contains(c.want, "several"); errors.Is(err, ErrUnclear) != unclear {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestKindsOnce: a word stands for one kind of a group, and each path of a column can be read.
func TestKindsOnce(t *testing.T) {
	var words []string
	for _, k := range Kinds() {
		words = append(words, k.Resource.String())
		for _, c := range k.table(true) {
			if len(c.fields) == 0 || c.cell(object{content: map[string]any{}}) == "?" {
				t.Errorf("%s: column %s reads nothing, or its path cannot be read", k.Resource, c.name)
			}
		}
	}
	slices.Sort(words)
	for i := 1; i < len(words); i++ {
		if words[i] == words[i-1] {
			t.Errorf("%s is there twice", words[i])
		}
	}
}
