package message

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestFactsJoined: what several lines show only together.
func TestFactsJoined(t *testing.T) {
	x := builtIn(t)
	table := func(text string) string { return strings.ReplaceAll(text, " | ", "      ") }
	nodes := "$ oc get nodes\nNAME | STATUS | ROLES | AGE | VERSION\ncp0.lab | Ready | control-plane | 50m | v1.31.3+0a1b2c3\n\n"
	machines := "$ oc get machines -n openshift-machine-api\nNAME | PHASE | TYPE | REGION | ZONE | AGE\n" +
		"lab-cp0 | Running | big | east | east-a | 50m\nlab-w0 | Provisioned | big | east | east-a | AGE0\n"
	address := func(host, ip string) string {
		return "[core@" + host + " ~]$ ip -4 addr show br-ex\n5: br-ex: <UP> mtu 1500\n    inet " + ip + "/24 brd 192.0.2.255 scope global br-ex\n"
	}
	klog := "bootkube.sh[7]: F0302 10:21:54.875723 1 image.go:32] error: error: Unknown name requested, could not find some-operator in UpdatePayload\n"
	pull := "Mar DD 13:08:32 boot0 release-image-download.sh[8]: Error: initializing source docker://quay.io/a/b@sha256:0: pinging container registry quay.io: " +
		"Get \"https://quay.io/v2/\": dial tcp: lookup quay.io on [::1]:53: read udp [::1]:4->[::1]:53: read: connection refused\n"
	for name, tt := range map[string]struct {
		text  string
		want  Result
		first string
	}{
		"a Machine without a Node for long":    {table(nodes + strings.ReplaceAll(machines, "AGE0", "25m")), Unknown, "has no Node, 25m after"},
		"a Machine that was just made":         {table(nodes + strings.ReplaceAll(machines, "AGE0", "4m")), Absent, ""},
		"no list of nodes":                     {table(strings.ReplaceAll(machines, "AGE0", "25m")), Absent, ""},
		"one address on two hosts":             {address("cp0", "192.0.2.9") + address("cp1", "192.0.2.9"), Unknown, "192.0.2.9 is on two hosts at once: cp0 and cp1"},
		"two addresses":                        {address("cp0", "192.0.2.9") + address("cp1", "192.0.2.10"), Absent, ""},
		"the same host twice":                  {address("cp0", "192.0.2.9") + address("cp0", "192.0.2.9"), Absent, ""},
		"asked over ssh":                       {"$ ssh core@cp0 ip -br a\nens3   UP   192.0.2.9/24\n$ ssh core@cp1 ip -br a\nens3   UP   192.0.2.9/24\n", Unknown, "192.0.2.9 is on two hosts"},
		"a bridge that each host has":          {strings.ReplaceAll(address("cp0", "10.88.0.1")+address("cp1", "10.88.0.1"), "br-ex", "podman0"), Absent, ""},
		"a server whose name is a boolean":     {"E0301 08:00:00.1 9 reflector.go:205] Failed to list *v1.Node: Get https://null:6443/api/v1/nodes: dial tcp: lookup null on 192.0.2.1:53: no such host\n", Unknown, `the name of the server is "null"`},
		"the ClusterVersion is refused":        {"The ClusterVersion \"version\" is invalid:\n* status.capabilities.known[0]: Unsupported value: \"x\": supported values: \"y\"\n", Unknown, "status.capabilities.known[0] is not valid"},
		"only the control plane has nodes":     {"0/3 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }. preemption: 0/3 nodes are available", Unknown, "no worker has joined"},
		"not all nodes are of the control one": {"0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }.", Unknown, "the scheduler finds no node"},
		"an error of a day before":             {klog + strings.ReplaceAll(pull, "DD", "01"), Unknown, "the release image has no image of the name"},
		"an error of the same day":             {klog + strings.ReplaceAll(pull, "DD", "02"), Present, "a host asks no name server"},
	} {
		r := readText(t, x, tt.text)
		first := ""
		if len(r.Matches) > 0 {
			f, _ := x.catalog.Fault(r.Matches[0].Fault)
			first = fault.TitleOf(f, r.Matches[0].Names)
		} else if len(r.Symptoms) > 0 {
			first = r.Symptoms[0].Failure
		}
		if r.Result != tt.want || !strings.Contains(first, tt.first) {
			t.Errorf("%s: %v, want %v; first %q, want %q; %+v", name, r.Result, tt.want, first, tt.first, r.Errors)
		}
	}
}

// TestErrorsOfPlatforms: errors that say themselves what they are, and those that were cut.
func TestErrorsOfPlatforms(t *testing.T) {
	x := builtIn(t)
	for line, want := range map[string]string{
		`level=fatal msg=failed to fetch Cluster: failed to load quota limits: googleapi: Error 403: Permission denied to list quota on service [compute.googleapis.com]`: "the platform does not allow the account (Permission denied to list quota",
		`level=error msg=Error: error waiting for vm (0a1b) to create: error_detail: INTERNAL_ERROR: Internal Server Error., progress_message: create_vm`:                 "the platform failed with an error of its own (INTERNAL_ERROR)",
		`level=error msg=failed to create vpc: Provided Name (lab-vpc) is not unique`:                                                                                     "the platform has a resource of this name already (lab-vpc)",
		`level=error msg=failed to create network: googleapi: Error 409: The resource 'projects/p/global/networks/lab' already exists, alreadyExists`:                     "the platform has a resource of this name already (projects/p/global/networks/lab)",
		`level=error msg=failed to list regions: The system is currently unable to fulfill the request. Please retry.`:                                                    "the platform failed with an error of its own",
		`ERROR Error: failed to upload: Post "https://esx.example.org/nfc/disk.vmdk": dial tcp 192.0.2.7:443: connect: connection timed`:                                  "443: no answer comes (timeout)",
	} {
		r := readText(t, x, line+"\n")
		if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, want) {
			t.Errorf("%s: want %q, have %+v %+v", line, want, r.Symptoms, r.Errors)
		}
	}
}
