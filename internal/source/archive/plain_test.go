package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
)

const nodeList = `apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: control1
- apiVersion: config.openshift.io/v1
  kind: ClusterOperator
  metadata:
    name: dns
kind: List
metadata:
  resourceVersion: ""
`

func TestPlainFiles(t *testing.T) {
	const list = `{"kind": "List", "apiVersion": "v1", "items": [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "control1"}},
{"kind": "ClusterOperator", "apiVersion": "config.openshift.io/v1", "metadata": {"name": "dns"}}]}`
	const flow = "kind: List\napiVersion: v1\nitems: [{kind: Node, apiVersion: v1, metadata: {name: control1}}, " +
		"{kind: ClusterOperator, apiVersion: config.openshift.io/v1, metadata: {name: dns}}]\n"
	for name, raw := range map[string]string{"yaml": nodeList, "json": list, "flow": flow, "packed": string(gz(t, []byte(nodeList)))} {
		s, err := openFile(t, "answer", []byte(raw))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		isKind(t, s, loose.Kind, "")
		for r, want := range map[evidence.Resource]string{evidence.Nodes: "control1", evidence.ClusterOperators: "dns"} {
			if got := names(t, s, r, ""); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %s are %v, want %s", name, r, got, want)
			}
		}
		if _, err := s.List(t.Context(), evidence.CSRs, ""); why(t, err) != evidence.NotCollected {
			t.Errorf("%s: what is not in the file is %v", name, err)
		}
	}
}

func TestPlainSingles(t *testing.T) {
	s := open(t, `
-- a.yaml --
apiVersion: v1
kind: Node
metadata:
  name: control1
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns}
-- sub/b.json --
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "control2"}}
-- csrs.json --
{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequestList", "items": []}
-- install-config.yaml --
apiVersion: v1
metadata: {name: c}
-- README.txt --
kind: of text
`)
	list, err := s.List(t.Context(), evidence.Nodes, "")
	if len(list) != 2 || why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "single objects") {
		t.Errorf("List = %d objects, %v; want two, and that there may be more", len(list), err)
	}
	if list, err := s.List(t.Context(), evidence.CSRs, ""); err != nil || len(list) != 0 {
		t.Errorf("an empty List of requests gives %v, %v, want none", list, err)
	}
}

func TestPlainDamaged(t *testing.T) {
	for name, raw := range map[string]string{
		"yaml": nodeList[:len(nodeList)-60], "json": `{"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "a"}}, {"meta`,
	} {
		s, err := openFile(t, "answer", []byte(raw))
		if err == nil {
			_, err = s.List(t.Context(), evidence.Nodes, "")
		}
		if err == nil {
			t.Errorf("%s: what is cut off reads as whole", name)
		}
	}
}

func TestPlainLines(t *testing.T) {
	s, err := openFile(t, ".openshift_install.log", []byte("time=\"2026-01-02T10:00:00-05:00\" level=debug msg=\"OpenShift Installer 4.20.1\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	isKind(t, s, loose.Kind, "2026-01-02T15:00:00Z")
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.Installer}); !strings.Contains(got, "4.20.1") {
		t.Errorf("the installer says %q", got)
	}
	s, err = openFile(t, "kubelet.log", []byte("Jan 02 10:00:00 control1 kubenswrapper[1]: at 2026-01-02T10:00:00Z\nJan 02 10:00:09 control1 "+
		"kubenswrapper[1]: later\n"))
	if err != nil {
		t.Fatal(err)
	}
	isKind(t, s, loose.Kind, "2026-01-02T10:00:09Z")
	if got := allText(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet", Host: "control1"}); !strings.Contains(got, "later") {
		t.Errorf("the kubelet says %q", got)
	}
}

// TestNewEvents holds that Events of events.k8s.io read as those of the core group.
func TestNewEvents(t *testing.T) {
	s := open(t, `
-- namespaces/ns/events.k8s.io/events/a.yaml --
apiVersion: events.k8s.io/v1
kind: Event
metadata: {name: a, namespace: ns}
note: it did
regarding: {kind: Pod, name: p}
deprecatedCount: 3
deprecatedLastTimestamp: "2026-01-02T10:00:00Z"
`)
	list, err := s.List(t.Context(), evidence.Events, "ns")
	if err != nil || len(list) != 1 {
		t.Fatalf("List = %v, %v", list, err)
	}
	e := list[0].Content
	if evidence.String(e, "message") != "it did" || evidence.String(e, "involvedObject", "name") != "p" || evidence.Int(e, "count") != 3 ||
		evidence.Time(e, "lastTimestamp").IsZero() || e["note"] != nil {
		t.Errorf("the event is %v", e)
	}
}

// FuzzPlain holds that no file hangs or crashes the reader.
func FuzzPlain(f *testing.F) {
	f.Add([]byte(nodeList))
	f.Add([]byte(`{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}`))
	f.Add([]byte("time=\"x\" level=info msg=\"y\"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Bytes(t.Context(), raw, "a")
		if err != nil {
			return
		}
		if len(s.ix.Objects) == 0 && len(s.ix.Texts) == 0 {
			t.Error("a file without content is no error")
		}
		everything(t, s)
	})
}

// TestFilesInReverse: in a packed tar files are read in the order in which they lie
// there, whatever their names are.
func TestFilesInReverse(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	const files = 100
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		junk := make([]byte, 20<<10)
		for k := range junk {
			junk[k] = "0123456789abcdef"[noise.IntN(16)]
		}
		content := fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: n%03d, uid: same}\nspec: {a: %q}\n", i, junk)
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%03d.yaml", files-i), Mode: 0o600, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw := gz(t, packed.Bytes())
	counted := &countedReaderAt{r: bytes.NewReader(raw)}
	s, err := fromBytes(t.Context(), counted, int64(len(raw)), "x.tar.gz", optionsOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != files || why(t, err) != evidence.NotCollected {
		t.Errorf("%d objects, %v", len(list), err)
	}
	if _, err := s.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if passes := counted.n / int64(len(raw)); passes > 6 {
		t.Errorf("the archive was read %d times", passes)
	}
}

type countedReaderAt struct {
	r io.ReaderAt
	n int64
}

func (c *countedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// TestListOfNamespace: a List that somebody saved says nothing of namespaces that it may not be of.
func TestListOfNamespace(t *testing.T) {
	const (
		pod  = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "%s"}}`
		bare = `{"metadata": {"name": "p", "namespace": "kube-system"}}`
		yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels:\n      namespace: other\n    name: p\n" +
			"    namespace: kube-system\nkind: List\n"
		flow = "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: kube-system}}]\n"
	)
	list := func(items ...string) string {
		return `{"apiVersion": "v1", "kind": "PodList", "items": [` + strings.Join(items, ",") + `]}`
	}
	of := func(namespace string) string { return fmt.Sprintf(pod, "p", namespace) }
	for name, tt := range map[string]struct {
		files, namespace string
		count            int
		unknown          string // "" where the answer is whole
	}{
		"of this namespace":             {in("a.json", list(of("kube-system"))), "kube-system", 1, ""},
		"of another":                    {in("a.json", list(of("kube-system"))), "openshift-etcd", 0, "only the files that were named"},
		"of one, all are asked for":     {in("a.json", list(of("kube-system"))), "", 1, "a.json lists namespace kube-system only"},
		"of one, without kinds":         {in("a.json", list(bare)), "", 1, "a.json lists namespace kube-system only"},
		"of one, in YAML":               {in("a.yaml", yaml), "", 1, "a.yaml lists namespace kube-system only"},
		"of one, in flow style":         {in("a.yaml", flow), "", 1, "a.yaml lists namespace kube-system only"},
		"of several, all are asked for": {in("a.json", list(of("kube-system"), of("default"))), "", 2, ""},
		"of two files":                  {in("a.json", list(of("x"))) + in("b.json", list(of("y"))), "", 2, "a.json lists namespace x only"},
		"empty":                         {in("a.json", list()) + in("b.json", list(of("kube-system"))), "openshift-etcd", 0, "only the files that were named"},
		"empty, next to this one":       {in("a.json", list()) + in("b.json", list(of("kube-system"))), "kube-system", 1, ""},
		"empty, in YAML":                {in("a.yaml", "apiVersion: v1\nitems: []\nkind: PodList\n"), "", 0, "only the files that were named"},
		"empty, with an object": {in("a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\n---\n"+
			"apiVersion: v1\nitems: []\nkind: PodList\n"), "x", 1, ""},
		"items without a name space": {in("a.json", list(`{"metadata": {"name": "p"}}`)), "", 1, ""},
		"only empty":                 {in("a.json", list()), "", 0, "only the files that were named"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(t, tt.files).List(t.Context(), evidence.Pods, tt.namespace)
			if len(got) != tt.count {
				t.Errorf("%d pods, want %d", len(got), tt.count)
			}
			switch {
			case tt.unknown == "" && err != nil:
				t.Error(err)
			case tt.unknown != "" && (why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), tt.unknown)):
				t.Errorf("%v, want %q", err, tt.unknown)
			}
		})
	}
}
