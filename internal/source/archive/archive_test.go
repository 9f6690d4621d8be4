package archive

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
)

// tree makes a file system of a txtar text.
func tree(t testing.TB, text string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(text)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o600}
	}
	return fsys
}

func open(t testing.TB, text string) *Source {
	t.Helper()
	s, err := FS(tree(t, text), "dir/a")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func names(t testing.TB, s evidence.Source, r evidence.Resource, namespace string) []string {
	t.Helper()
	list, err := s.List(t.Context(), r, namespace)
	if err != nil {
		t.Fatalf("List(%s, %q): %v", r, namespace, err)
	}
	var out []string
	for _, o := range list {
		out = append(out, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
	}
	return out
}

func why(t testing.TB, err error) evidence.Why {
	t.Helper()
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		t.Fatalf("the error is %v, want an Unavailable", err)
	}
	if u.Supply.IsZero() {
		t.Errorf("%v does not say what would supply it", u)
	}
	return u.Why
}

func allText(t testing.TB, s *Source, q evidence.TextQuery) string {
	t.Helper()
	texts, err := s.Texts(t.Context(), q)
	if err != nil {
		t.Fatalf("Texts(%s): %v", q, err)
	}
	var b strings.Builder
	for _, x := range texts {
		in, err := x.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatalf("read %s: %v", x.Path, err)
		}
		b.Write(raw)
	}
	return b.String()
}

func isKind(t testing.TB, s *Source, kind, now string) {
	t.Helper()
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := ""
	if !d.Now.IsZero() {
		at = d.Now.Format(time.RFC3339)
	}
	if d.Kind != kind || at != now {
		t.Errorf("it is %q as of %q, want %q as of %q", d.Kind, at, kind, now)
	}
}

// TestKindOfNotes: what only lies next to an inspect tree does not make a must-gather of it,
// however it is called.
func TestKindOfNotes(t *testing.T) {
	const tree = `
-- inspect.local.1/cluster-scoped-resources/core/nodes/a.yaml --
apiVersion: v1
kind: Node
metadata: {name: a}
`
	for _, name := range []string{"notes.txt", "must-gather.txt", "must-gather-notes/call.md", "must-gather-notes/a.png"} {
		if d, err := open(t, tree+"-- "+name+" --\nnotes\n").Describe(t.Context()); err != nil || d.Kind != "inspect" {
			t.Errorf("with %s it is %q, %v", name, d.Kind, err)
		}
	}
}

const mustGather = `
-- must-gather.local.1/quay-io-x-sha256-0/version --
openshift/must-gather
v4.12.0
-- must-gather.local.1/quay-io-x-sha256-0/timestamp --
2026-01-02 10:00:00.5 +0000 UTC m=+0.8
2026-01-02 12:10:00.25 +0200 CEST m=+9.6
-- must-gather.local.1/quay-io-x-sha256-0/cluster-scoped-resources/core/nodes/control1.yaml --
---
apiVersion: v1
kind: Node
metadata:
  name: control1
  uid: u1
  resourceVersion: "7"
status:
  capacity: {pods: 250}
-- must-gather.local.1/quay-io-x-sha256-0/cluster-scoped-resources/certificates.k8s.io/certificatesigningrequests/system:openshift:a.yaml --
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: "system:openshift:a"}
-- must-gather.local.1/quay-io-x-sha256-0/cluster-scoped-resources/config.openshift.io/clusteroperators.yaml --
---
apiVersion: config.openshift.io/v1
items:
- apiVersion: config.openshift.io/v1
  kind: ClusterOperator
  metadata:
    name: etcd
    uid: e
    resourceVersion: "10"
- apiVersion: config.openshift.io/v1
  metadata:
    name: dns
    uid: d
    resourceVersion: "11"
kind: ClusterOperatorList
metadata: {}
-- must-gather.local.1/quay-io-x-sha256-0/cluster-scoped-resources/config.openshift.io/clusteroperators/etcd.yaml --
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata:
  name: etcd
  uid: e
  resourceVersion: "9"
-- must-gather.local.1/quay-io-x-sha256-0/cluster-scoped-resources/config.openshift.io/clusteroperators/dns.yaml --
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata:
  name: dns
  uid: d
  resourceVersion: "11"
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/openshift-etcd.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: openshift-etcd}
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/core/configmaps.yaml --
---
apiVersion: v1
items: null
kind: ConfigMapList
metadata:
  resourceVersion: "1"
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/core/pods.yaml --
---
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: etcd-1
    annotations:
      note: |
        - not: an item
        # nor a comment
  spec: {}
- apiVersion: v1
  kind: Pod
  metadata:
    name: etcd-2
kind: PodList
metadata: {}
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/pods/etcd-3/etcd-3.yaml --
apiVersion: v1
kind: Pod
metadata: {name: etcd-3, namespace: openshift-etcd}
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/pods/etcd-3/etcd/etcd/logs/current.log --
2026-01-02T10:09:59.000000000Z line
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/pods/etcd-3/etcd/etcd/logs/previous.log --
-- must-gather.local.1/quay-io-x-sha256-0/namespaces/openshift-etcd/pods/etcd-4/etcd/etcd/logs/current.log --
-- must-gather.local.1/quay-io-x-sha256-0/host_service_logs/masters/kubelet_service.log --
Jan 02 10:09:58 control1 hyperkube[1]: line
`

func TestMustGather(t *testing.T) {
	s := open(t, mustGather)
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := evidence.Description{Kind: mustgather.MustGather, Name: "dir/a", File: true, Whole: true, Now: time.Date(2026, 1, 2, 10, 10, 0, 25e7, time.UTC)}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("Describe (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		r    evidence.Resource
		ns   string
		want []string
	}{
		{evidence.Nodes, "", []string{"control1"}},
		{evidence.CSRs, "", []string{"system:openshift:a"}},
		{evidence.ClusterOperators, "", []string{"dns", "etcd"}},
		{evidence.Namespaces, "", []string{"openshift-etcd"}},
		{evidence.Pods, "openshift-etcd", []string{"openshift-etcd/etcd-1", "openshift-etcd/etcd-2", "openshift-etcd/etcd-3"}},
		{evidence.Pods, "", []string{"openshift-etcd/etcd-1", "openshift-etcd/etcd-2", "openshift-etcd/etcd-3"}},
		{evidence.ConfigMaps, "openshift-etcd", nil},
	} {
		if diff := cmp.Diff(c.want, names(t, s, c.r, c.ns)); diff != "" {
			t.Errorf("List(%s, %q) (-want +got):\n%s", c.r, c.ns, diff)
		}
	}
	operators, _ := s.List(t.Context(), evidence.ClusterOperators, "")
	if got := operators[0].Loc.Path; !strings.HasSuffix(got, "clusteroperators/dns.yaml") {
		t.Errorf("dns is read from %s, want the file that holds it alone", got)
	}
	if got := operators[1].Loc.Path; !strings.HasSuffix(got, "clusteroperators.yaml") {
		t.Errorf("etcd is read from %s, want the List with the newer copy", got)
	}
	nodes, _ := s.List(t.Context(), evidence.Nodes, "")
	if got := evidence.Field(nodes[0].Content, "status", "capacity", "pods"); got != int64(250) {
		t.Errorf("a whole number is %T, want int64", got)
	}
}

func TestNotCollected(t *testing.T) {
	s := open(t, mustGather)
	for _, n := range []evidence.Need{
		evidence.Objects(evidence.MachineConfigPools, ""),
		evidence.Objects(evidence.Machines, "openshift-machine-api"),
		evidence.Objects(evidence.Secrets, "openshift-etcd"),
		evidence.Objects(evidence.ConfigMaps, "openshift-config"),
		evidence.Objects(evidence.MCSProbes, ""),
	} {
		list, err := s.List(t.Context(), n.Resource, n.Namespace)
		if list != nil || why(t, err) != evidence.NotCollected {
			t.Errorf("List(%s) = %v, %v, want not collected", n, list, err)
		}
	}
	for _, q := range []evidence.TextQuery{
		{Kind: evidence.ContainerLog, Namespace: "openshift-machine-config-operator", Container: "machine-config-server"},
		{Kind: evidence.Journal, Unit: "crio"},
		{Kind: evidence.Console, Host: "control1"},
	} {
		if _, err := s.Texts(t.Context(), q); why(t, err) != evidence.NotCollected {
			t.Errorf("Texts(%s): %v, want not collected", q, err)
		}
	}
}

func TestTexts(t *testing.T) {
	s := open(t, mustGather)
	logs, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-etcd", Container: "etcd"})
	if err != nil || len(logs) != 2 {
		t.Fatalf("Texts = %d, %v, want the logs of two pods and no empty previous.log", len(logs), err)
	}
	if got := content(t, logs[0]); got != "2026-01-02T10:09:59.000000000Z line\n" {
		t.Errorf("the log reads %q", got)
	}
	if _, err := logs[1].Open(t.Context()); err == nil {
		t.Error("an empty current.log opens like silence")
	}
	journals, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet", Host: "control1"})
	if err != nil || len(journals) != 1 {
		t.Fatalf("Texts = %v, %v, want the journal of all masters", journals, err)
	}
}

func content(t testing.TB, text evidence.Text) string {
	t.Helper()
	in, err := text.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	raw, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestForeign(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "foreign": "-- a/README.md --\nhello\n", "only a stamp": "-- timestamp --\n",
	} {
		_, err := FS(tree(t, text), "here")
		if err == nil || !strings.Contains(err.Error(), "no object or log of a cluster found in here") ||
			!strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
