package paste

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// People copy the rows that matter, and not the heading.
func TestRowsWithoutHeading(t *testing.T) {
	const text = `w3.lab.example   NotReady,SchedulingDisabled   <none>   188d   v1.31.6+abc
csr-5vbnq   2h57m   kubernetes.io/kube-apiserver-client-kubelet   system:serviceaccount:openshift-machine-config-operator:node-bootstrapper   <none>   Pending
csr-7hgtr   58s     kubernetes.io/kubelet-serving   system:node:w3   Approved,Issued
worker   rendered-worker-0aa1    True      False      False      4              4                   4                     1                      220d
etcd   4.16.20   True   True   True   12m   NodeControllerDegraded: the master nodes not ready
openshift-machine-api   rack3-07   provisioning  hub-7k2xx-worker-0-5ghzz     true     provisioning error   12d
rack3-08   externally provisioned   true   12d
hub-7k2xx-worker-0-5ghzz   Provisioned                          12d
openshift-multus     multus-7rr2k     0/1     CrashLoopBackOff   41 (2m10s ago)   3h9m   10.0.0.3   w3.lab.example   <none>   <none>
no-space-7rr2k     1/1     Running   0   3h9m
this line says Ready and v1.2 and is no row
`
	s := read(t, text)
	for _, tt := range []struct {
		resource evidence.Resource
		count    int
		path     []string
		want     any // of the first one
	}{
		{evidence.Nodes, 1, []string{"status", "conditions"}, []any{condition("Ready", "False")}},
		{evidence.CSRs, 2, []string{"spec", "signerName"}, "kubernetes.io/kube-apiserver-client-kubelet"},
		{evidence.MachineConfigPools, 1, []string{"status", "degradedMachineCount"}, int64(1)},
		{evidence.ClusterOperators, 1, []string{"metadata", "name"}, "etcd"},
		{evidence.BareMetalHosts, 2, []string{"status", "errorType"}, "provisioning error"},
		{evidence.Machines, 1, []string{"status", "phase"}, "Provisioned"},
		{evidence.Pods, 1, []string{"spec", "nodeName"}, "w3.lab.example"},
	} {
		list := objects(t, s, tt.resource)
		if len(list) != tt.count {
			t.Errorf("%s: %d objects, want %d: %v", tt.resource, len(list), tt.count, list)
			continue
		}
		if got := evidence.Field(list[0].Content, tt.path...); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s %v: %v, want %v", tt.resource, tt.path, got, tt.want)
		}
	}
}

func TestNodePoolTable(t *testing.T) {
	s := read(t, `NAMESPACE   NAME    CLUSTER   DESIRED NODES   CURRENT NODES   AUTOSCALING   AUTOREPAIR   VERSION   UPDATINGVERSION   UPDATINGCONFIG   MESSAGE
clusters    np-a    mango     3               1               False         False        4.17.9    False             True             Scaling up
`)
	list := objects(t, s, evidence.NodePools)
	if len(list) != 1 {
		t.Fatalf("read %v", list)
	}
	for _, tt := range []struct {
		path []string
		want any
	}{
		{[]string{"spec", "replicas"}, int64(3)}, {[]string{"status", "replicas"}, int64(1)}, {[]string{"status", "version"}, "4.17.9"},
		{[]string{"metadata", "namespace"}, "clusters"},
	} {
		if got := evidence.Field(list[0].Content, tt.path...); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.path, got, tt.want)
		}
	}
}

// A log without its command is known by what only its program prints.
func TestLogsWithoutCommand(t *testing.T) {
	s := read(t, `E0313 16:16:16.161616       1 api.go:183] couldn't get config for req: {machineConfigPool:edge version:0xc0001}, error: could not fetch config , err: resource name may not be empty
E0419 19:00:41.550102       1 csr_check.go:269] csr-kk2zd: failed to find machine for node edge17, cannot approve
{"level":"warn","ts":"2025-02-18T16:20:13.114Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"2.211s","expected-duration":"1s"}
I0313 16:16:16.161616       1 main.go:1] nobody knows whose this is
`)
	have := map[string]bool{}
	for _, x := range s.texts {
		have[x.Container] = true
	}
	if len(s.texts) != 3 || !have["machine-config-server"] || !have["machine-approver-controller"] || !have["etcd"] {
		t.Errorf("read the logs of %v", have)
	}
}

// TestQuoted: who answers in a mail or an issue quotes each line.
func TestQuoted(t *testing.T) {
	const table = "NAME   VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE   MESSAGE\netcd   4.16.4    True        False         True       3d\n"
	for _, mark := range []string{"", ">", "> ", ">> "} {
		s := read(t, mark+strings.Join(strings.SplitAfter(table, "\n")[:2], mark))
		if list := objects(t, s, evidence.ClusterOperators); len(list) != 1 || list[0].Name != "etcd" {
			t.Errorf("behind %q: read %v, want etcd", mark, list)
		}
	}
}
