package message

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Where a text shows the reason of its first symptom, the reason leads; what is of another object does not.
func TestReasonOfSameObject(t *testing.T) {
	x := builtIn(t)
	const (
		pods    = "NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE\nopenshift-dns   dns-7x   0/2   Pending   0   3h\n\n"
		head    = "LAST SEEN   TYPE      REASON             OBJECT       MESSAGE\n"
		other   = head + "2m8s        Warning   FailedScheduling   pod/dns-9y   0/1 nodes are available: 1 Insufficient cpu.\n"
		ports   = head + "2m8s        Warning   FailedScheduling   pod/dns-7x   0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.\n"
		cut     = head + "9h          Warning   FailedScheduling   pod/dns-7x   0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.\n"
		again   = "2m8s        Warning   FailedScheduling   pod/dns-7x   0/1 nodes are available: 1 node(s) didn'"
		nodes   = "$ oc get nodes\nNAME                STATUS     ROLES    AGE   VERSION\nw7.lab.example.com   NotReady   worker   67m   v1.31.2\n\n"
		status  = "[core@w7 ~]$ sudo systemctl status kubelet\n● kubelet.service - Kubernetes Kubelet\n   Loaded: loaded (/etc/systemd/system/kubelet.service; enabled)\n"
		stopped = "   Active: inactive (dead) since Tue 2026-03-10 16:05:14 UTC; 33s ago\n"
		running = "   Active: active (running) since Tue 2026-03-10 16:06:14 UTC; 3s ago\n"
		never   = "   Active: inactive (dead)\n"
	)
	for name, tt := range map[string]struct {
		text  string
		words string // of the first symptom
		why   bool
	}{
		"a pod that waits, and its event":            {pods + ports, "free ports", true},
		"the event of another pod":                   {pods + other, "STATUS is Pending", false},
		"an event that was cut, and an earlier one":  {pods + cut + again, "free ports", true},
		"a node, and its kubelet that is stopped":    {nodes + status + stopped, "unit kubelet: it is stopped on w7", true},
		"its kubelet runs":                           {nodes + status + running, "is not Ready", false},
		"its kubelet was started again":              {nodes + status + stopped + "\n" + status + running, "is not Ready", false},
		"a unit that never ran":                      {nodes + status + never, "is not Ready", false},
		"the kubelet of another node":                {nodes + strings.ReplaceAll(status, "w7", "w8") + stopped, "is not Ready", false},
		"a rollout, and what ends its container":     {"DaemonSet \"/openshift-ovn-kubernetes/ovnkube-node\" rollout is not making progress - last change 2026-02-10T00:14:10Z\nF0210 00:44:15.910041 9 ovnkube.go:137] failed to run ovnkube: failed to find kubelet cgroup path: %!w(<nil>)\n", "finds no cgroup", true},
		"a row of the first second, and a container": {"NAME   VERSION   KUBECONFIG   PROGRESS   AVAILABLE   REASON   MESSAGE\nh1     x   y   Partial   False   UnhealthyControlPlaneComponents   h1 load balancer is not provisioned; 2s since creation.\n\nNAME     READY   STATUS             RESTARTS   AGE\nign-5d   0/1     CrashLoopBackOff   3          66s\n\nError: unknown command \"serve\" for \"cpo\"\n", "does not know the command", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure+r.Symptoms[0].Fault, strings.ReplaceAll(tt.words, "is not Ready", "")) || r.Symptoms[0].Reason != tt.why {
				t.Errorf("%+v", r.Symptoms)
			}
		})
	}
}

// A command that somebody mistypes has nothing to do with a container.
func TestMistypedCommand(t *testing.T) {
	r := readText(t, builtIn(t), "$ oc gett nodes\nerror: unknown command \"gett\" for \"oc\"\n\nign-5d   0/1     CrashLoopBackOff   3          66s\n")
	if slices.ContainsFunc(r.Symptoms, func(m Match) bool { return strings.Contains(m.Failure, "does not know the command") }) {
		t.Errorf("%+v", r.Symptoms)
	}
}

// What the scheduler says decides what to look at.
func TestNextOfScheduling(t *testing.T) {
	x := builtIn(t)
	for says, want := range map[string]string{
		"0/2 nodes are available: 2 node(s) were not ready.":                                                               "oc describe node of one that is not ready",
		"0/2 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.":                       "oc describe node of one that is not ready",
		"0/2 nodes are available: 2 Insufficient memory.":                                                                  "lower the requests",
		"0/6 nodes are available: 3 Insufficient cpu, 3 node(s) had untolerated taint {node-role.kubernetes.io/master: }.": "lower the requests",
		"0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.":                                    "nodeSelector",
	} {
		text := "$ oc -n odd describe pod p1\nEvents:\n  Type     Reason            Age                  From               Message\n" +
			"  ----     ------            ----                 ----               -------\n  Warning  FailedScheduling  4m (x701 over 3h)    default-scheduler  " + says + "\n"
		r := readText(t, x, text)
		if len(r.Symptoms) != 1 || !strings.Contains(r.Symptoms[0].Next, want) || !strings.HasPrefix(r.Symptoms[0].Failure, "pod p1: ") {
			t.Errorf("%s: %+v", says, r.Symptoms)
		}
	}
}

// The machine-config-daemon goes on only after a pull that passed.
func TestPullThatPassedLater(t *testing.T) {
	x := builtIn(t)
	const (
		line   = "Feb 12 14:54:11 m1 machine-config-daemon[3269]: "
		fails  = line + "Error: error pulling image \"registry.example.com/os@sha256:8c40\": unable to pull registry.exam>\n"
		again  = line + "W0212 14:54:10.735823    3268 run.go:40] podman failed: exit status 125; retrying...\n"
		try    = line + "I0212 14:55:30.736241    3268 run.go:16] Running: podman pull -q registry.example.com/os@sha256:8c40\n"
		gotOn  = line + "I0212 15:04:09.788565    3269 update.go:577] Updating files\n"
		kubelt = "Feb 12 14:54:11 m1 hyperkube[9]: E0212 14:54:10.7 9 a.go:1] Failed to pull image \"registry.example.com/os@sha256:8c40\": unable to pull\n"
	)
	for name, tt := range map[string]struct {
		text string
		want Result
	}{
		"tried again, and it got on":    {fails + again + try + gotOn, Absent},
		"tried again, end not shown":    {fails + again + try, Unknown},
		"the last try failed, too":      {fails + again + try + fails + again + gotOn, Unknown},
		"it got on before the next try": {fails + again + gotOn + try, Unknown},
		"a pull of another program":     {kubelt + try + gotOn, Unknown},
		"another host got on":           {fails + again + strings.ReplaceAll(try+gotOn, " m1 ", " m2 "), Unknown},
		"the operators were read later": {"E0827 15:04:47.890906   29 reflector.go:153] k8s.io/client-go/tools/watch/informerwatcher.go:146: Failed to list *v1.ConfigMap: Get \"https://api.c.example.com:6443/api/v1/x\": EOF\nERROR Cluster operator dns Degraded is True with DNSDegraded: it is odd\n", Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if r.Result != tt.want {
				t.Errorf("%s, want %s: %+v", r.Result, tt.want, r)
			}
			if len(r.Symptoms) > 0 && strings.Contains(r.Symptoms[0].Failure, "6443") {
				t.Errorf("a request that was answered later leads: %+v", r.Symptoms)
			}
		})
	}
}

// The rest of an error stands in the next line each time that the error comes again.
func TestErrorInTwoLines(t *testing.T) {
	const two = "2026-02-20T10:23:14.635223358+00:00 stderr F E0220 10:23:14.635191       1 controller.go:239] check \"w1\" failed: odd thing: \n" +
		"2026-02-20T10:23:14.635223358+00:00 stderr F Error getting the flux: the reason is a long one\n"
	r := readText(t, builtIn(t), two+strings.ReplaceAll(two, "w1", "w2")+strings.ReplaceAll(two, "w1", "w3"))
	if len(r.Errors) != 1 || r.Errors[0].Count != 3 || !strings.Contains(r.Errors[0].Says, "the reason is a long one") {
		t.Errorf("%+v", r.Errors)
	}
}

// TestRowsAreSaidOnce: rows that facts know are one symptom with a number, and what to look at stays.
func TestRowsAreSaidOnce(t *testing.T) {
	x := builtIn(t)
	text := "$ oc get nodes\nNAME   STATUS     ROLES    AGE   VERSION\n"
	var seen []Seen
	for i, name := range []string{"q0", "q1", "q2", "q3", "q4"} {
		text += name + "     NotReady   master   24h   v1.31.6\n"
		seen = append(seen, Seen{Fault: "node-not-ready", Subject: "host/" + name, Shows: fault.ShowsPossible,
			Evidence: []evidence.Item{{Excerpt: "node " + name + " is not Ready", Locator: evidence.Locator{Line: i + 3}}}})
	}
	r := readText(t, x, text)
	before := r.Symptoms
	x.Join(r, seen)
	if len(before) != 1 || len(r.Symptoms) != 1 || r.Symptoms[0].Others != 4 || !strings.Contains(r.Symptoms[0].Lines[0].Text, "NotReady") || r.Symptoms[0].Next == "" || r.Symptoms[0].Next != before[0].Next {
		t.Errorf("%+v, before %+v", r.Symptoms, before)
	}
}

// TestReasonInTheLine: where a line gives its reason, or another failure of the same line is nearer to it, nothing else is
// offered as what can be behind it.
func TestReasonInTheLine(t *testing.T) {
	x := builtIn(t)
	const register = "Nov 30 01:00:01 w1 kubenswrapper[2211]: E1130 01:00:01.000000    2211 kubelet_node_status.go:95] " +
		"\"Unable to register node with API server\" err=\"Post \\\"https://api-int.c8.lab:6443/api/v1/nodes\\\": dial tcp: lookup api-int.c8.lab on " +
		"192.0.2.53:53: no such host\" node=\"w1\"\n"
	for text, lists := range map[string]int{
		register: 0,
		"Nov 30 01:00:01 w1 kubenswrapper[2211]: E1130 01:00:01.000000    2211 kubelet_node_status.go:95] \"Unable to register node with API server\" err=\"x\"\n": 1,
		"\"Failed to get power state for node 6a0a4e56-3a3f-4a6d-8f2f-1f5f1ed2c1b0. Error: IPMI call failed: power status.\"\n":                                    1,
	} {
		r, n := readText(t, x, text), 0
		for _, m := range r.Symptoms {
			if len(m.Candidates) > 0 {
				n++
			}
		}
		if n != lists || len(r.Symptoms) == 0 {
			t.Errorf("%s: %d lists of causes, want %d: %+v", text, n, lists, r.Symptoms)
		}
	}
}

// TestConfigNotFound: "not found" does not show whether a config was deleted, or was never in the cluster.
func TestConfigNotFound(t *testing.T) {
	r := readText(t, builtIn(t), "I0129 18:03:11.214408 12877 daemon.go:847] got: machineconfigs.machineconfiguration.openshift.io "+
		"\"master-5fd1a1d8c2ce4b9a98d6b51ff3a7be20\" not found. Retrying...\n")
	if r.Result != Unknown || len(r.Matches) != 1 || !slices.Contains(r.Matches[0].Candidates, "bootstrap-mc-mismatch") {
		t.Errorf("%s: %+v", r.Result, r.Matches)
	}
}
