package message

import (
	"slices"
	"strings"
	"testing"
)

// firstOf is what a text shows first: its cause, its failure or its unknown error.
func firstOf(r *Report) string {
	switch {
	case len(r.Matches) > 0:
		return r.Matches[0].Fault
	case len(r.Symptoms) > 0:
		return r.Symptoms[0].Fault + r.Symptoms[0].Failure
	case len(r.Errors) > 0:
		return "unknown: " + r.Errors[0].Says
	}
	return ""
}

// TestNamesOfLogLines: units and pods of one message are told apart, and the answer names each of them.
func TestNamesOfLogLines(t *testing.T) {
	x := builtIn(t)
	const (
		unit     = "Jun 03 04:05:06 h7 systemd[1]: NAME.service: Failed with result 'exit-code'.\n"
		loop     = "Jun 03 04:05:07 h7 kubenswrapper[9]: E0603 04:05:07.000001 9 pod_workers.go:1298] \"Error syncing pod, skipping\" err=\"failed to \\\"StartContainer\\\" for \\\"CONT\\\" with CrashLoopBackOff: \\\"back-off 1m20s restarting failed container=CONT pod=NAME_NS(aaaabbbb-0000-1111-2222-ccccddddeeee)\\\"\" pod=\"NS/NAME\" podUID=\"aaaabbbb-0000-1111-2222-ccccddddeeee\"\n"
		wrapped  = "E0603 04:05:07.000001 9 pod_workers.go:191] Error syncing pod 0f1e2d (\"x\"), skipping: failed\nto \"StartContainer\" for \"kube-scheduler\" with CrashLoopBackOff: \"back-off 5m0s restarting failed\ncontainer=kube-scheduler\npod=bootstrap-kube-scheduler-b4.lab_kube-system(daffd628b85147b99baa533a31992b96)\"\n"
		gathered = "level=warning msg=bootstrap had failing or restarting systemd units: kubelet.service\nlevel=warning msg=● kubelet.service - Kubernetes Kubelet\n" +
			"level=warning msg=   Active: activating (auto-restart) (Result: exit-code) since Thu 2023-11-05 22:15:35 UTC; 3s ago\n"
	)
	of := func(line, name, ns, container string) string {
		return strings.NewReplacer("NAME", name, "NS", ns, "CONT", container).Replace(line)
	}
	for name, c := range map[string]struct{ text, says, next string }{
		"two units":               {of(unit, "afterburn", "", "") + of(unit, "zincati", "", ""), "a systemd unit failed: zincati", "-u zincati"},
		"the first of two":        {of(unit, "afterburn", "", "") + of(unit, "zincati", "", ""), "a systemd unit failed: afterburn", "-u afterburn"},
		"a pod of the cluster":    {of(loop, "multus-7x", "openshift-multus", "kube-multus"), "pod multus-7x: a container crash-loops", "oc -n openshift-multus logs multus-7x -c kube-multus"},
		"the second of two":       {of(loop, "a-1", "n-1", "c") + of(loop, "b-2", "n-2", "d"), "pod b-2: a container crash-loops", "oc -n n-2 logs b-2 -c d"},
		"a pod of the bootstrap":  {wrapped, "pod bootstrap-kube-scheduler-b4.lab: a container crash-loops", "crictl ps -a --name kube-scheduler"},
		"a unit of gathered logs": {gathered, "started again and again: kubelet", "-u kubelet"},
	} {
		r, found := readText(t, x, c.text), false
		for _, m := range r.Symptoms {
			found = found || strings.Contains(m.Failure, c.says) && strings.Contains(m.Next, c.next)
		}
		if !found {
			t.Errorf("%s: %+v, want %q, %q", name, r.Symptoms, c.says, c.next)
		}
	}
	done := "Jun 03 04:06:06 h7 systemd[1]: Started zincati.service - Zincati.\n"
	if r := readText(t, x, of(unit, "afterburn", "", "")+of(unit, "zincati", "", "")+done); len(r.Symptoms) != 1 || len(r.Over) != 1 {
		t.Errorf("one of two units is over: %+v, over %+v", r.Symptoms, r.Over)
	}
}

// TestWhatComesFirst: an effect, a former try and a step do not go before what leads to them.
func TestWhatComesFirst(t *testing.T) {
	x := builtIn(t)
	const (
		noNode  = "Mar 01 01:00:00 w9 kubenswrapper[7]: E0301 01:00:00.000001 7 kubelet.go:2190] node \"w9\" not found\n"
		noCloud = "Mar 01 01:00:01 w9 kubenswrapper[7]: I0301 01:00:01.000001 7 cloud_request_manager.go:115] Node addresses from cloud provider for node \"w9\" not collected: no such instance\n"
		other   = "Mar 01 01:00:01 w9 kubenswrapper[7]: I0301 01:00:01.000001 7 x.go:9] leases.coordination.k8s.io \"w9\" is forbidden: User \"system:node:OTHER\" cannot get resource \"leases\" in API group \"coordination.k8s.io\": can only\n"
		failed  = "Mar 01 01:00:02 b1 bootkube.sh[3]: /usr/local/bin/bootkube.sh: line 9: podman: command not found\nMar 01 01:00:02 b1 systemd[1]: bootkube.service: Failed with result 'exit-code'.\n"
		again   = "Mar 01 01:00:09 b1 systemd[1]: bootkube.service: Scheduled restart job, restart counter is at 12.\n"
		needed  = "Mar 01 01:00:19 b1 systemd[1]: release-image.service: Failed with result 'exit-code'.\n"
		vrrp    = "(c8_API): received an invalid passwd!\nbogus VRRP packet received on eno1 !!!\n(c8_API) ignoring received advertisment...\n"
		noRoute = "GET error: Get \"https://192.0.2.7:22623/config/worker\": dial tcp 192.0.2.7:22623: connect: no route to host\n"
	)
	for name, c := range map[string]struct{ text, first string }{
		"no addresses, no Node":         {noNode + noCloud, "the kubelet gets no addresses from the platform"},
		"the name of another host":      {noNode + strings.ReplaceAll(other, "OTHER", "w3.lab"), "kubelet-name-changed"},
		"its own name":                  {noNode + strings.ReplaceAll(other, "OTHER", "w9"), "a kubelet is refused its Node"},
		"the unit that it needs":        {failed + again + needed, "a systemd unit failed: release-image"},
		"nothing else failed":           {failed + again, "the command podman does not exist"},
		"it fails again":                {failed + again + needed + failed, "the command podman does not exist"},
		"a foreign router and no route": {vrrp + noRoute, "keepalived gets VRRP of a router that is not of this cluster"},
		"no route alone":                {noRoute, "mcs-no-route"},
		"no login in the first boot": {"[   88.13] ignition[12]: GET error: Get \"https://api-int.c8.lab:22623/config/worker\": x509: certificate has " +
			"expired or is not yet valid: current time 2021-01-01T00:03:11Z is before 2026-11-29T10:00:00Z\n", "ignition-tls-time"},
		"a foreign router is not a cause": {"(c8_API) received an invalid passwd!\n", "keepalived gets VRRP of a router that is not of this cluster"},
	} {
		if got := firstOf(readText(t, x, c.text)); !strings.Contains(got, c.first) {
			t.Errorf("%s: %q, want %q", name, got, c.first)
		}
	}
}

// TestIgnitionLeadsToNoLogin: nobody can log in to a host in its first boot. What Ignition logs leads to no fault of the
// machine whose steps need that.
func TestIgnitionLeadsToNoLogin(t *testing.T) {
	x := builtIn(t)
	seen := 0
	for i := range x.rules {
		r := &x.rules[i]
		if r.program != "ignition" {
			continue
		}
		seen++
		ids := []string{r.Fault}
		for _, cause := range r.Causes {
			ids = append(ids, cause.Fault)
		}
		for _, id := range ids {
			if f, ok := x.catalog.Fault(id); ok && f.Layer == "machine" && slices.Contains(f.Remedies, "set-clock-by-ntp") {
				t.Errorf("%q leads to %s, whose steps run on a host that is up", r.Text, id)
			}
		}
	}
	if seen == 0 {
		t.Error("no message of Ignition was tried")
	}
}

// TestReasonsOfLists: the errors of a list are read and what is around them is not, and what stands in two lines is
// one error.
func TestReasonsOfLists(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, first string }{
		"one, as Terraform 0.12 prints it": {"Error: Error applying plan:\n\n1 error occurred:\n\t* vsphere_folder.f: ServerFaultCode: The operation is not supported on the object.\n\n",
			"the platform cannot do the operation with this object (vsphere_folder.f)"},
		"nested":                {"2 errors occurred:\n\t* module.a: 1 error occurred:\n\t* module.b.thing: frobnication was rejected\n", "unknown: module.b.thing: frobnication was rejected"},
		"a value, in two lines": {"level=error msg=Error: creating X: InvalidParameterValue: Value (r-1) for parameter launchTemplate is invalid.\nlevel=error msg=\tstatus code: 400, request id: 1-2\n", "the platform does not accept a value that it was given (r-1 for launchTemplate)"},
		"what does not exist":   {"ERROR failed to create: InvalidSubnetID.NotFound: The subnet ID 'subnet-1' does not exist\n", "the platform does not accept a value that it was given (InvalidSubnetID.NotFound)"},
		"a unit":                {"E0101 01:01:01.000001 7 writer.go:226] Marking Degraded due to: error enabling units: Failed to enable unit: Unit file nfs-x.socket does not exist.\n", "the unit nfs-x.socket does not exist on the host"},
		"a record of the kernel": {"[   12.000001] ignition[7]: error at line 2, column 9\n[   12.000001] invalid frob\n[   13.000001] systemd[1]: Reached target x.\n",
			"Ignition refuses its config"},
	} {
		r := readText(t, x, c.text)
		if got := firstOf(r); !strings.Contains(got, c.first) {
			t.Errorf("%s: %q, want %q", name, got, c.first)
		}
		if n := len(r.Errors); n > 1 {
			t.Errorf("%s: %d errors that nobody knows: %+v", name, n, r.Errors)
		}
	}
	r := readText(t, x, "[   12.000001] ignition[7]: error at line 2, column 9\n[   12.000001] invalid frob here\n[   13.000001] x\n")
	if len(r.Symptoms) != 1 || !strings.HasSuffix(r.Symptoms[0].Own, "invalid frob here") {
		t.Errorf("the reason is in the next line: %+v", r.Symptoms)
	}
}

// TestCandidatesThatALineExcludes: a line that shows its reason lists no cause that would have said another one.
func TestCandidatesThatALineExcludes(t *testing.T) {
	x := builtIn(t)
	const degraded = "E0101 01:01:01.000001 7 writer.go:226] Marking Degraded due to: "
	for name, c := range map[string]struct {
		text string
		want string // in the candidates, of the failure
		not  string
	}{
		"a reason that nobody knows": {degraded + "the moon is in the wrong phase today\n", "", "config-drift"},
		"no reason":                  {degraded + "unexpected\n", "config-drift", ""},
		"the API closes":             {"ERROR Bootstrap failed to complete: Get \"https://api.c9.lab:6443/version\": EOF\n", "bootstrap-service-failed", "installer-name-not-resolved"},
		"the name":                   {"ERROR Bootstrap failed to complete: Get \"https://api.c9.lab:6443/version\": dial tcp: lookup api.c9.lab: no such host\n", "", "api-connection-refused"},
		"bootstrap, no reason":       {"ERROR Bootstrap failed to complete: timed out waiting for the condition\n", "installer-name-not-resolved", ""},
	} {
		got := ""
		for _, m := range readText(t, x, c.text).Symptoms {
			got += strings.Join(m.Candidates, " ") + " "
		}
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q, want %q and not %q", name, got, c.want, c.not)
		}
	}
}

// TestUnnamedConditions: the reason of a condition, which names no operator, is not said beside its message, which does.
func TestUnnamedConditions(t *testing.T) {
	x := builtIn(t)
	r := readText(t, x, "Failing=True:\n\n  Reason: ClusterOperatorNotAvailable\n  Message: Cluster operator ingress is not available\n")
	for _, m := range r.Symptoms {
		if m.Failure == "ClusterOperator is not Available" {
			t.Errorf("without its name: %+v", m)
		}
	}
	if r = readText(t, x, "  Reason: ClusterOperatorNotAvailable\n"); len(r.Symptoms) != 1 {
		t.Errorf("alone it counts: %+v", r.Symptoms)
	}
}

// TestModesOfFiles: a text that lists a file which may not be read shows why, and one whose mode lets its owner read
// it does not.
func TestModesOfFiles(t *testing.T) {
	x := builtIn(t)
	const denied = "cat: /etc/x/y.conf: Permission denied\n"
	for name, c := range map[string]struct {
		row, says, next string
	}{
		"600 in decimal": {"---x-wx---. 1 root root 9 Jan  1 10:00 y.conf\n", "its mode is ---x-wx---, so its owner root may not read it", "mode 0600 is 384"},
		"no usual mode":  {"-----w-r--. 1 app  app  9 Jan  1 10:00 y.conf\n", "so its owner app may not read it", "a template, and not only on the host"},
		"readable":       {"-rw-------. 1 root root 9 Jan  1 10:00 y.conf\n", "no permission for /etc/x/y.conf", "ls -lZ"},
		"another file":   {"--w----r--. 1 root root 9 Jan  1 10:00 z.conf\n", "no permission for /etc/x/y.conf", "ls -lZ"},
	} {
		r := readText(t, x, c.row+denied)
		if len(r.Symptoms) != 1 || !strings.Contains(r.Symptoms[0].Failure, c.says) || !strings.Contains(r.Symptoms[0].Next, c.next) {
			t.Errorf("%s: %+v, want %q, %q", name, r.Symptoms, c.says, c.next)
		}
	}
}

// TestRelease3: the node service of OpenShift 3 is known by its name.
func TestRelease3(t *testing.T) {
	x := builtIn(t)
	const line = "Dec 02 07:08:42 n1 NAME[5]: E1202 07:08:42.224397 5 bootstrap.go:195] Part of the existing bootstrap client certificate is expired: 2019-06-15 11:22:08 +0000 UTC\n"
	for name, old := range map[string]bool{"origin-node": true, "atomic-openshift-node": true, "kubenswrapper": false} {
		if r := readText(t, x, strings.ReplaceAll(line, "NAME", name)); r.Release3 != old {
			t.Errorf("%s: %v", name, r.Release3)
		}
	}
}
