package paste

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

var clock = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, text string) *Source {
	t.Helper()
	return Read("paste.txt", []byte(text), clock)
}

// objects lists what was read of a resource, and holds that it is never all.
func objects(t *testing.T, s *Source, r evidence.Resource) []evidence.Object {
	t.Helper()
	list, err := s.List(t.Context(), r, "")
	u, ok := evidence.AsUnavailable(err)
	if !ok || u.Why != evidence.NotCollected {
		t.Fatalf("%s: a part of the objects is given as all of them: %v", r, err)
	}
	if len(list) > 0 && !u.Fields {
		t.Errorf("%s: objects without all fields are given as whole", r)
	}
	return list
}

const tables = `[root@bastion ~]# oc get nodes
NAME                     STATUS                        ROLES                  AGE     VERSION
master-0.lab.local       Ready                         control-plane,master   3d22h   v1.29.10+67d3387
worker-0.lab.local       NotReady,SchedulingDisabled   worker                 14m     v1.29.10+67d3387

$ oc get csr
NAME        AGE    SIGNERNAME                                    REQUESTOR                                                                   REQUESTEDDURATION   CONDITION
csr-2kx9d   3m1s   kubernetes.io/kube-apiserver-client-kubelet   system:serviceaccount:openshift-machine-config-operator:node-bootstrapper   <none>              Pending
csr-7hgtr   58s    kubernetes.io/kubelet-serving                 system:node:worker-0.lab.local                                              <none>              Approved,Issued
$ oc get mcp
NAME     CONFIG                   UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT   UPDATEDMACHINECOUNT   DEGRADEDMACHINECOUNT   AGE
master   rendered-master-1a2b3c   False     True       True       3              0                   0                     3                      3h22m
worker                            False     True       False      0              0                   0                     0                      3h22m
$ oc get co etcd
NAME   VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE   MESSAGE
etcd   4.16.20   True        True          True       12m     NodeControllerDegraded: the master nodes not ready: node "m1" not ready
$ oc get bmh -A
NAMESPACE               NAME       STATE         CONSUMER                   ONLINE   ERROR                AGE
openshift-machine-api   worker-0   registering                              true     registration error   42m
openshift-machine-api   worker-1   provisioned   lab-8xk2p-worker-0-qwert   true                          42m
$ oc get machines -n openshift-machine-api
NAME                       PHASE         TYPE   REGION   ZONE   AGE
lab-8xk2p-worker-0-qwert   Provisioned                          3d22h
`

func TestTables(t *testing.T) {
	s := read(t, tables)
	if !s.Mixed() {
		t.Error("a copy of a terminal is taken for the file of a program")
	}
	for _, tt := range []struct {
		resource evidence.Resource
		index    int
		path     []string
		want     any
	}{
		{evidence.Nodes, 0, []string{"metadata", "name"}, "master-0.lab.local"},
		{evidence.Nodes, 0, []string{"status", "nodeInfo", "kubeletVersion"}, "v1.29.10+67d3387"},
		{evidence.Nodes, 0, []string{"metadata", "creationTimestamp"}, clock.Add(-94 * time.Hour).Format(time.RFC3339)},
		{evidence.Nodes, 1, []string{"spec", "unschedulable"}, true},
		{evidence.CSRs, 0, []string{"spec", "signerName"}, "kubernetes.io/kube-apiserver-client-kubelet"},
		{evidence.CSRs, 0, []string{"status", "conditions"}, nil},
		{evidence.MachineConfigPools, 0, []string{"status", "degradedMachineCount"}, int64(3)},
		{evidence.MachineConfigPools, 0, []string{"status", "configuration", "name"}, "rendered-master-1a2b3c"},
		{evidence.MachineConfigPools, 1, []string{"status", "configuration"}, nil},
		{evidence.BareMetalHosts, 0, []string{"status", "errorType"}, "registration error"},
		{evidence.BareMetalHosts, 0, []string{"metadata", "namespace"}, "openshift-machine-api"},
		{evidence.BareMetalHosts, 1, []string{"status", "errorType"}, nil},
		{evidence.BareMetalHosts, 1, []string{"spec", "consumerRef", "name"}, "lab-8xk2p-worker-0-qwert"},
		{evidence.Machines, 0, []string{"status", "phase"}, "Provisioned"},
	} {
		list := objects(t, s, tt.resource)
		if len(list) <= tt.index {
			t.Errorf("%s: %d objects", tt.resource, len(list))
			continue
		}
		if got := evidence.Field(list[tt.index].Content, tt.path...); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s %d %v: %v, want %v", tt.resource, tt.index, tt.path, got, tt.want)
		}
	}
	if line := objects(t, s, evidence.Nodes)[1].Loc.Line; line != 4 {
		t.Errorf("the node is said to be at line %d", line)
	}
}

func TestTablesAreReadByBlanks(t *testing.T) {
	s := read(t, "NAME STATUS ROLES AGE VERSION\nmaster-0 Ready control-plane,master 3d22h v1.29.10\nthis is not a row of it\n")
	if list := objects(t, s, evidence.Nodes); len(list) != 1 || list[0].Name != "master-0" {
		t.Errorf("read %v", list)
	}
	s = read(t, "NAME STATE CONSUMER ONLINE ERROR AGE\nworker-0 available true 3d\n")
	if list := objects(t, s, evidence.BareMetalHosts); len(list) != 1 || evidence.Field(list[0].Content, "spec", "consumerRef") != nil {
		t.Errorf("read %v", list)
	}
	s = read(t, "NAME CLUSTER DESIRED NODES CURRENT NODES\npool-a lark 3\n")
	if list := objects(t, s, evidence.NodePools); len(list) != 0 {
		t.Errorf("a row whose cells cannot be told apart is read: %v", list)
	}
}

func TestObjects(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker0\nstatus:\n  conditions:\n  - type: Ready\n    status: \"False\"\n    lastTransitionTime: \"2026-11-20T10:00:00Z\"\n"
	indented := "   " + strings.TrimSuffix(strings.ReplaceAll(node, "\n", "\n   "), "   ")
	list := "apiVersion: v1\nitems:\n- " + strings.TrimSuffix(strings.ReplaceAll(node, "\n", "\n  "), "  ") + "kind: List\nmetadata: {}\n"
	for name, text := range map[string]string{
		"one":              node,
		"below a command":  "$ oc get node worker0 -o yaml\n" + node + "$ exit\n",
		"indented":         indented,
		"a list":           list,
		"items of a list":  strings.TrimPrefix(list, "apiVersion: v1\nitems:\n"),
		"cut in a field":   node + "    mess",
		"cut in a quote":   node + "    message: \"container runtime is\n",
		"behind sentences": "here is what I see, any idea?\n\n" + node + "\nthanks!\n",
		"json":             `{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker0"},"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-11-20T10:00:00Z"}]}}` + "\n",
		"with CRLF":        strings.ReplaceAll(node, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, text)
			list := objects(t, s, evidence.Nodes)
			if len(list) != 1 || list[0].Name != "worker0" || evidence.Field(list[0].Content, "status", "conditions") == nil {
				t.Fatalf("read %v", list)
			}
			if d, _ := s.Describe(t.Context()); !d.Now.Equal(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)) {
				t.Errorf("the text is of %s", d.Now)
			}
		})
	}
}

func TestWholeObjectBeatsRow(t *testing.T) {
	whole := "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-0.lab.local\n  uid: 0b1f\n  labels:\n    a: b\n"
	for _, text := range []string{tables + whole, whole + tables} {
		for _, o := range objects(t, read(t, text), evidence.Nodes) {
			if v, _ := o.Label("a"); o.Name == "worker-0.lab.local" && v != "b" {
				t.Error("a row hides the object")
			}
		}
	}
}

func TestTexts(t *testing.T) {
	s := read(t, `Nov 20 03:11:01 worker0 kubenswrapper[2112]: E1120 03:11:01.1 2112 kubelet.go:2475] "Error getting node"
Nov 20 03:11:02 worker0 crio[99]: time="2026-11-20" level=error
Nov 20 03:11:03 localhost ignition[812]: GET error
$ oc logs -n openshift-machine-config-operator machine-config-daemon-x1 -c machine-config-daemon --tail 5
I1120 03:11:01.1 1 start.go:1] Version
$ oc -n openshift-etcd logs deploy/etcd-operator
I1120 03:11:01.1 1 other.go:1] of a pod that nobody names
level=error msg=Bootstrap failed to complete
`)
	got := map[string]string{}
	texts, err := s.Texts(t.Context(), evidence.TextQuery{})
	if _, ok := evidence.AsUnavailable(err); !ok {
		t.Errorf("lines of a text are given as all of it: %v", err)
	}
	for _, x := range texts {
		in, err := x.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(in)
		got[strings.Join([]string{string(x.Kind), x.Namespace, x.Pod, x.Container, x.Host, x.Unit}, " ")] = fmt.Sprintf("%d lines, %.20s", strings.Count(string(raw), "\n"), strings.TrimSpace(string(raw)))
	}
	for key, want := range map[string]string{
		"journal    worker0 kubelet": "1 lines, Nov 20 03:11:01 work",
		"journal    worker0 crio":    "2 lines, Nov 20 03:11:02 work",
		"journal     ignition":       "3 lines, Nov 20 03:11:03 loca",
		"log openshift-machine-config-operator machine-config-daemon-x1 machine-config-daemon  ": "5 lines, I1120 03:11:01.1 1 s",
		"installer     ": "8 lines, level=error msg=Boot",
	} {
		if got[key] != want {
			t.Errorf("%q: %q, want %q", key, got[key], want)
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("also read: %v", got)
	}
	named, err := s.List(t.Context(), evidence.NamedHosts, "")
	if err != nil || len(named) != 1 || named[0].Name != "worker0" {
		t.Errorf("hosts %v, %v", named, err)
	}
}

func TestNothing(t *testing.T) {
	s := read(t, "my cluster is broken\nplease help\n")
	if s.Parts() != 0 || s.Mixed() {
		t.Errorf("%d parts", s.Parts())
	}
}

// Foreign bytes never stop the reading, and what is read has the name that stands there.
func FuzzRead(f *testing.F) {
	f.Add([]byte(tables))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n"))
	f.Add([]byte("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[{\"metadata\":{}}]}\n- apiVersion: v1\n"))
	f.Add([]byte("NAME STATUS ROLES AGE VERSION\n\x00\xff a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := Read("f", text, clock)
		for r, list := range s.objects {
			for _, o := range list {
				if o.Name == "" || o.Resource != r {
					t.Errorf("%s without a name", r)
				}
			}
		}
		for _, x := range s.texts {
			in, err := x.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, in)
		}
		if d, _ := s.Describe(t.Context()); d.Now.After(clock) {
			t.Errorf("it is of %s", d.Now)
		}
	})
}

// TestYear: lines without a year are of the year that their text shows, not of the latest one that fits the clock.
func TestYear(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the line above a journal": {"-- Journal begins at Sat 2021-05-08 00:49:10 CEST, ends at Sun 2021-05-09 02:17:15 CEST. --\nMay 09 02:00:00 s1 x[1]: y\n", "2021-05-09T02:00:00Z"},
		"a followed one":           {"-- Logs begin at Mon 2022-08-08 12:04:20 UTC. --\nAug 08 12:31:19 bootstrap bootkube.sh[2434]: bootkube.service complete\n", "2022-08-08T12:31:19Z"},
		"podman's line":            {"Oct 20 10:21:38 b1 podman[1]: 2020-10-20 10:21:38.06 +0000 UTC m=+0.28 container init 66c2\nOct 20 10:21:39 b1 x[1]: y\n", "2020-10-20T10:21:39Z"},
		"in brackets":              {"[2026-02-16 04:46:34 UTC] Logging started.\n[2026-02-16 04:47:32 UTC] x\nNAME STATUS\n", "2026-02-16T04:47:32Z"},
	} {
		if got := newest([]byte(c.text), time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)).Format(time.RFC3339); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Before Kubernetes 1.18 oc printed no SIGNERNAME. Who joins asks for a client certificate;
// what a node asks for under its own name stays open.
func TestRequestsWithoutSigner(t *testing.T) {
	for requester, want := range map[string]string{
		"system:serviceaccount:openshift-machine-config-operator:node-bootstrapper": "kubernetes.io/kube-apiserver-client-kubelet",
		"system:node:w4.lab.example.com":                                            "",
	} {
		o, _ := csrRow(map[string]string{"REQUESTOR": requester, "CONDITION": "Pending"}, time.Time{})
		if got := evidence.String(o, "spec", "signerName"); got != want {
			t.Errorf("%s: %q, want %q", requester, got, want)
		}
	}
}

// A ticket prints commands, names and cells as code or in bold.
func TestMarkdown(t *testing.T) {
	s := read(t, "**$ oc get `bmh` -n openshift-machine-api**\n"+
		"NAME      STATE                    CONSUMER           ONLINE   ERROR                AGE\n"+
		"`r1-u4`   externally provisioned   vega-master-0      true                          3d\n"+
		"**r1-u5** `provisioning`           vega-worker-0-ab   true     provisioning error   3d\n"+
		"`$ oc get nodes`\n"+
		"`r1-u4`   Ready   master   3d   v1.30.4\n")
	names := map[string]string{}
	for _, o := range objects(t, s, evidence.BareMetalHosts) {
		names[o.Name] = evidence.String(o.Content, "status", "provisioning", "state")
	}
	want := map[string]string{"r1-u4": "externally provisioned", "r1-u5": "provisioning"}
	for name, state := range want {
		if names[name] != state {
			t.Errorf("BareMetalHost %s is %q, want %q: %v", name, names[name], state, names)
		}
	}
	if list := objects(t, s, evidence.Nodes); len(list) != 1 || list[0].Name != "r1-u4" {
		t.Errorf("nodes: %v, want r1-u4", list)
	}
}
