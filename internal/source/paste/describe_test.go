package paste

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func TestDescribe(t *testing.T) {
	raw, err := os.ReadFile("testdata/describe.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, string(raw))
	for _, tt := range []struct {
		resource evidence.Resource
		path     []string
		want     string
	}{
		{evidence.Nodes, []string{"metadata", "name"}, "w1"},
		{evidence.Nodes, []string{"metadata", "creationTimestamp"}, "2025-03-03T10:01:22Z"},
		{evidence.Nodes, []string{"metadata", "labels", "node-role.kubernetes.io/worker"}, ""},
		{evidence.Nodes, []string{"metadata", "annotations", "machineconfiguration.openshift.io/state"}, "Degraded"},
		{evidence.Nodes, []string{"status", "conditions", "1", "reason"}, "NodeStatusUnknown"},
		{evidence.Nodes, []string{"status", "conditions", "1", "message"}, "Kubelet stopped posting node status."},
		{evidence.Nodes, []string{"status", "conditions", "1", "lastTransitionTime"}, "2025-11-20T07:11:32Z"},
		{evidence.Nodes, []string{"status", "addresses", "0", "address"}, "10.0.0.21"},
		{evidence.Nodes, []string{"status", "nodeInfo", "kubeletVersion"}, "v1.33.5"},
		{evidence.Leases, []string{"spec", "renewTime"}, "2025-11-20T07:10:44.000000Z"},
		{evidence.ClusterOperators, []string{"status", "conditions", "0", "message"},
			"NodeControllerDegraded: The master nodes not ready: node \"m1\" not ready\nEtcdMembersDegraded: 2 of 3 members are available, m1 is unhealthy"},
		{evidence.ClusterOperators, []string{"status", "conditions", "1", "type"}, "Available"},
		{evidence.BareMetalHosts, []string{"status", "errorCount"}, "3"},
		{evidence.BareMetalHosts, []string{"status", "provisioning", "state"}, "inspecting"},
		{evidence.BareMetalHosts, []string{"spec", "bmc", "credentialsName"}, "rack3-02-bmc"},
		{evidence.BareMetalHosts, []string{"spec", "online"}, "true"},
		{evidence.MachineConfigPools, []string{"status", "degradedMachineCount"}, "1"},
		{evidence.MachineConfigPools, []string{"status", "configuration", "name"}, "rendered-worker-aaa"},
		{evidence.Machines, []string{"status", "phase"}, "Provisioned"},
		{evidence.CSRs, []string{"spec", "signerName"}, "kubernetes.io/kube-apiserver-client-kubelet"},
		{evidence.Pods, []string{"status", "containerStatuses", "0", "state", "waiting", "reason"}, "CrashLoopBackOff"},
		{evidence.Pods, []string{"status", "containerStatuses", "0", "lastState", "terminated", "exitCode"}, "1"},
		{evidence.Pods, []string{"spec", "nodeName"}, "w1"},
	} {
		list := objects(t, s, tt.resource)
		if len(list) != 1 {
			t.Errorf("%s: %d objects", tt.resource, len(list))
			continue
		}
		if got := fmt.Sprint(at(list[0].Content, tt.path)); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.resource, tt.path, got, tt.want)
		}
		if list[0].Annotation(evidence.PartMark) == "" {
			t.Errorf("%s: a description is given as a whole object", tt.resource)
		}
	}
	if len(s.bad) > 0 {
		t.Errorf("spoiled: %v", s.bad)
	}
}

// at walks through objects and lists.
func at(v any, path []string) any {
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i := int(key[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		}
	}
	return v
}

// Cut anywhere, a description gives no more than the whole one, and never panics.
func TestDescribeCut(t *testing.T) {
	raw, err := os.ReadFile("testdata/describe.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole := read(t, string(raw)).Parts()
	lines := strings.SplitAfter(string(raw), "\n")
	for n := range lines {
		if got := read(t, strings.Join(lines[:n], "")).Parts(); got > whole {
			t.Errorf("cut after line %d: %d parts, the whole has %d", n, got, whole)
		}
		read(t, strings.Join(lines[n:], ""))
	}
}
