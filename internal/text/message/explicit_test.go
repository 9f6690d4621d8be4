package message

import (
	"slices"
	"strings"
	"testing"
)

// TestNoFailureIsNoSign: what says that it failed is never a text without a sign of trouble, in whatever form it is.
func TestNoFailureIsNoSign(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, says string }{
		"a process that failed": {"    Process: 812 ExecStart=/usr/local/bin/up.sh (code=exited, status=3/NOTIMPLEMENTED)\n", "status=3"},
		"an errno by its name":  {"mount of /var: EROFS\n", "EROFS"},
		"an errno by number":    {"the write ended with [Errno 28]\n", "Errno 28"},
		"an operator":           {"dns=True\nnetwork=False\n", "network=False"},
		"a LoadBalancer": {"$ oc get svc -n openshift-ingress\nNAME             TYPE           CLUSTER-IP    EXTERNAL-IP   PORT(S)        AGE\n" +
			"router-default   LoadBalancer   172.30.9.17   <pending>     80:30614/TCP   52m\n", "nothing gives its LoadBalancer an address"},
		"a warning of what is tried again": {"Events:\n  Type     Reason                  Age                 From                Message\n" +
			"  ----     ------                  ----                ----                -------\n" +
			"  Normal   EnsuringLoadBalancer    2m (x14 over 44m)   service-controller  Ensuring load balancer\n" +
			"  Warning  SyncLoadBalancerFailed  2m (x14 over 44m)   service-controller  Error syncing load balancer: no suitable subnets\n", "no suitable subnets"},
		"a resource of Pacemaker": {"Failed Resource Actions:\n  * etcd 30s-interval monitor on cp-0 returned 'error' at Tue May  5 19:52:45 2026\n", "Pacemaker"},
	} {
		r := readText(t, x, c.text)
		said := slices.ContainsFunc(r.Symptoms, func(m Match) bool { return strings.Contains(m.Failure, c.says) }) ||
			slices.ContainsFunc(r.Errors, func(e UnknownError) bool { return strings.Contains(e.Says, c.says) })
		if r.Result != Unknown || !said {
			t.Errorf("%s: %s: %+v %+v", name, r.Result, r.Symptoms, r.Errors)
		}
	}
	for name, text := range map[string]string{
		"a process that ended well":  "    Process: 812 ExecStart=/usr/local/bin/up.sh (code=exited, status=0/SUCCESS)\n",
		"no errno":                   "errno: 0\n",
		"a flag that is not set":     "paused=False\nunschedulable: False\n",
		"a LoadBalancer that begins": "NAME             TYPE           CLUSTER-IP    EXTERNAL-IP   PORT(S)        AGE\nrouter-default   LoadBalancer   172.30.9.17   <pending>     80:30614/TCP   20s\n",
		"fencing that was repeated":  "  * reboot of cp-1 by cp-0 for pacemaker-controld.5@cp-0 last failed at 2026-05-05 19:50:11Z (a later attempt from cp-0 succeeded)\n",
	} {
		if r := readText(t, x, text); r.Result != Absent {
			t.Errorf("%s: %s: %+v %+v", name, r.Result, r.Symptoms, r.Errors)
		}
	}
}

// TestOneMechanismIsOneCause: what a line also shows as the effect of a cause, or only as a failure with candidates, is no
// second cause.
func TestOneMechanismIsOneCause(t *testing.T) {
	r := readText(t, builtIn(t), "Feb 09 13:08:32 boot0 release-image-download.sh[44]: Error: initializing source docker://quay.io/example/release@sha256:"+
		strings.Repeat("1", 64)+": pinging container registry quay.io: Get \"https://quay.io/v2/\": dial tcp: lookup quay.io on [::1]:53: "+
		"read udp [::1]:46964->[::1]:53: read: connection refused\n")
	if len(r.Matches) == 0 || r.Matches[0].Fault != "dns-resolver-wrong" {
		t.Fatalf("got %+v", r.Matches)
	}
	for _, m := range r.Matches[1:] {
		if !r.Matches[0].Tells(m) {
			t.Errorf("%s is a second cause", m.Fault)
		}
	}
	for _, m := range r.Symptoms {
		if slices.Contains(m.Candidates, "image-pull-name-unresolved") && m.Fault == "" {
			t.Errorf("%q still asks which of %v it is", m.Failure, m.Candidates)
		}
	}
}

// TestTheErrorLeadsBeforeAWarning: a cause that is only possible, and that a warning shows, does not lead where the same
// program ends with an error.
func TestTheErrorLeadsBeforeAWarning(t *testing.T) {
	r := readText(t, builtIn(t), `time="2025-03-19T09:27:36Z" level=warning msg="Host cp-2: updated status from pending-for-input to insufficient `+
		`(Host cannot be installed due to following failing validation(s): No connectivity to the majority of hosts in the cluster)"`+"\n"+
		`time="2025-03-19T10:58:33Z" level=error msg="Bootstrap Kube API never initialized"`+"\n")
	if len(r.Matches) != 0 || len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, "never reached the API") {
		t.Errorf("got %+v, then %+v", r.Matches, r.Symptoms)
	}
	r = readText(t, builtIn(t), `level=warning msg="Condition SubnetsReady has status: \"False\", reason: \"SubnetsReconciliationFailed\", message: `+
		`\"failed to create subnet: InvalidSubnet.Range: The CIDR is invalid.\""`+"\n"+
		`level=error msg="failed to fetch Cluster: failed to generate asset \"Cluster\": failed to create cluster: infrastructure was not ready within 15m0s"`+"\n")
	if len(r.Symptoms) == 0 || !r.Symptoms[0].Reason || !strings.Contains(r.Symptoms[0].Own, "InvalidSubnet.Range") {
		t.Errorf("got %+v, then %+v", r.Matches, r.Symptoms)
	}
}

// TestLastWordsOfAProgram: what a program logs as fatal right before its unit fails is why.
func TestLastWordsOfAProgram(t *testing.T) {
	x := builtIn(t)
	r := readText(t, x, "Jan 07 16:02:45 w1 crio[1460]: time=\"2026-01-07 16:02:45.120993833Z\" level=fatal msg=\"no default routes found in \\\"/proc/net/route\\\"\"\n"+
		"Jan 07 16:02:45 w1 systemd[1]: crio.service: Main process exited, code=exited, status=1/FAILURE\n"+
		"Jan 07 16:02:45 w1 systemd[1]: crio.service: Failed with result 'exit-code'.\n")
	if len(r.Symptoms) == 0 || r.Symptoms[0].Fault != "container-runtime-stopped" || !strings.Contains(r.Symptoms[0].Own, "no default routes") {
		t.Errorf("got %+v", r.Symptoms)
	}
	r = readText(t, x, "$ systemctl --failed\n  UNIT              LOAD   ACTIVE SUB    DESCRIPTION\n● crio-wipe.service loaded failed failed CRI-O Auto Update Script\n")
	if len(r.Symptoms) == 0 || r.Symptoms[0].Own != "" {
		t.Errorf("the name of a unit is no reason: %+v", r.Symptoms)
	}
	r = readText(t, x, `level=error msg=Error: Error waiting for instance to create: The zone 'projects/p/zones/us-central1-c' does not have enough resources `+
		`available to fulfill the request. '(resource type:compute)'.`+"\n")
	if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, "no such machine left") || !strings.Contains(r.Symptoms[0].Next, "install-config.yaml") {
		t.Errorf("got %+v %+v", r.Symptoms, r.Errors)
	}
}
