package message

import (
	"strings"
	"testing"
)

// TestRowsAreNamed: what a row of a table shows is said of the object of the row, in the sentence and
// in the next command.
func TestRowsAreNamed(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ table, says, next string }{
		"a pool": {"$ oc get mcp\nNAME     CONFIG              UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT   UPDATEDMACHINECOUNT   DEGRADEDMACHINECOUNT   AGE\n" +
			"worker   rendered-worker-a   False     True       True       4              2                   2                     1                      120d\n",
			"MachineConfigPool worker is degraded", "oc describe mcp worker"},
		"a pod": {"$ oc get pods -n openshift-dns\nNAME            READY   STATUS             RESTARTS      AGE\ndns-default-7   1/2     CrashLoopBackOff   12 (2m ago)   9d\n",
			"pod dns-default-7: a container crash-loops", "oc -n openshift-dns logs dns-default-7 -c"},
		"the pod of an etcd": {"$ oc get pods -n openshift-etcd\nNAME            READY   STATUS             RESTARTS      AGE\netcd-master-1   3/4     CrashLoopBackOff   12 (2m ago)   9d\n",
			"pod etcd-master-1: the etcd of a control-plane host crash-loops", "oc -n openshift-etcd logs etcd-master-1 -c etcd"},
		"an image": {"NAMESPACE        NAME      READY   STATUS             RESTARTS   AGE\nopenshift-etcd   etcd-m1   0/1     ImagePullBackOff   0          30m\n",
			"pod etcd-m1: a container image cannot be pulled", "oc -n openshift-etcd describe pod etcd-m1"},
		"operators": {"NAME             VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE\nauthentication             False       True          True       48m\n" +
			"monitoring                 False       True          True       40m\n", "ClusterOperator authentication is not Available, and 1 more", "oc get co authentication -o yaml"},
		"the version": {"NAME      VERSION   AVAILABLE   PROGRESSING   SINCE   STATUS\nversion   4.14.20   True        True          5h2m    Unable to apply 4.15.3: the cluster operator " +
			"machine-config is not available\n", "ClusterOperator machine-config is not Available", "oc get co machine-config -o yaml"},
		"a MachineSet": {"NAME   DESIRED   CURRENT   READY   AVAILABLE   AGE\nw-0    2         2                             5h18m\n",
			"machineset w-0: 0 of 2 are READY, and it is 5h18m old", "oc describe machineset w-0"},
		"a NodePool": {"$ oc get nodepool -n clusters\nNAME   CLUSTER   DESIRED NODES   CURRENT NODES   AUTOSCALING   AUTOREPAIR   VERSION   UPDATINGVERSION   UPDATINGCONFIG   MESSAGE\n" +
			"hc1    hc1       2               0               False         False                                                    \n",
			"nodepool hc1: it has 0 of 2 nodes", "oc describe nodepool hc1 -n clusters"},
		"an Agent": {"$ oc get agents -n spoke\nNAME    CLUSTER   APPROVED   ROLE     STAGE\nagent1   spoke     false      worker   \nagent2   spoke     true       worker   Done\n",
			"agent agent1: APPROVED is false", "oc describe agent agent1 -n spoke"},
		"a Machine of Cluster API": {"NAME         CLUSTER   NODENAME   PROVIDERID   PHASE          AGE     VERSION\nspoke-cp-0   spoke                             Provisioning   4h11m   v1.29.0\n",
			"machines.cluster.x-k8s.io spoke-cp-0: PHASE is Provisioning", "oc describe machines.cluster.x-k8s.io spoke-cp-0"},
		"a node": {"NAME   STATUS     ROLES    AGE   VERSION\nsno    NotReady   master   4h    v1.29.10\n", "node sno is not Ready", "oc describe node sno"},
	} {
		r := readText(t, x, c.table)
		found := false
		for _, m := range r.Symptoms {
			found = found || strings.Contains(m.Failure, c.says) && strings.Contains(m.Next, c.next)
		}
		if !found {
			t.Errorf("%s: %+v, want %q, %q", name, r.Symptoms, c.says, c.next)
		}
	}
	for name, table := range map[string]string{
		"a MachineSet that is young": "NAME   DESIRED   CURRENT   READY   AVAILABLE   AGE\nw-0    2         2                             12m\n",
		"one of none":                "NAME   DESIRED   CURRENT   READY   AVAILABLE   AGE\nw-0    0         0                             5h\n",
		"a NodePool that scales":     "NAME   CLUSTER   DESIRED NODES   CURRENT NODES   AUTOSCALING\nhc1    hc1                       2               True\n",
		"an Agent without a cluster": "NAME     CLUSTER   APPROVED   ROLE          STAGE\nagent1             false      auto-assign   \n",
		"operators that are well":    "NAME   VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE\ndns    4.10.3    True        False         False      46m\n",
	} {
		if r := readText(t, x, table); r.Result != Absent {
			t.Errorf("%s: %+v %+v", name, r.Symptoms, r.Errors)
		}
	}
}

// TestBootsEndWhatWasBefore: a unit that starts after a reboot has failed in the past, and one that
// fails again has not.
func TestBootsEndWhatWasBefore(t *testing.T) {
	x := builtIn(t)
	failed := "[   10.2] systemd[1]: crio.service: Failed with result 'exit-code'.\n[   10.3] systemd[1]: Failed to start Container Runtime Interface for OCI (CRI-O).\n"
	boot := "[    0.000000] Linux version 5.14.0-427.el9.x86_64\n"
	for name, c := range map[string]struct {
		text string
		want Result
	}{
		"then the boot is done":     {failed + boot + "[   13.0] systemd[1]: Reached target Multi-User System.\n", Absent},
		"then a login prompt":       {"[FAILED] Failed to start Kubernetes Kubelet.\n" + boot + "[  OK  ] Started Kubernetes Kubelet.\n\nw7 login:\n", Absent},
		"then nothing":              {failed + boot, Unknown},
		"then it fails again":       {failed + boot + failed + "[   13.0] systemd[1]: Reached target Multi-User System.\n", Unknown},
		"the login prompt of today": {"[FAILED] Failed to start Wait for Network to be Online.\n\nw7 login:\n", Unknown},
		"the journal of two boots":  {"May 04 10:00:02 w1 systemd[1]: kubelet.service: Failed with result 'exit-code'.\n-- Boot 8e6a3a7a6b8a --\nMay 04 10:08:33 w1 systemd[1]: Reached target Multi-User System.\n", Absent},
		"a service that is started again and again": {"Aug 10 12:00:00 m0 systemd[1]: Started Bootstrap a Kubernetes cluster.\nAug 10 12:01:00 m0 systemd[1]: bootkube.service: Failed with result 'exit-code'.\n" +
			"Aug 10 12:01:00 m0 systemd[1]: Failed to start Bootstrap a Kubernetes cluster.\nAug 10 12:01:05 m0 systemd[1]: Started Bootstrap a Kubernetes cluster.\n", Unknown},
	} {
		if r := readText(t, x, c.text); r.Result != c.want {
			t.Errorf("%s: %s, want %s: %+v %+v", name, r.Result, c.want, r.Symptoms, r.Errors)
		}
	}
}

// A line that is too long loses its middle: how it begins says what was tried, how it ends says why it failed.
func TestShort(t *testing.T) {
	line := "Failed to pull: " + strings.Repeat("a: ", maxText) + "manifest unknown"
	got := short(line)
	whole := strings.HasPrefix(got, "Failed to pull: ") && strings.HasSuffix(got, ": manifest unknown")
	if n := len([]rune(got)); n > maxText || !whole || !strings.Contains(got, "…") {
		t.Errorf("%d characters: %q", n, got)
	}
	stacked := `{"error":"no such host","stacktrace":"` + strings.Repeat("main.go:1 ", maxText/5) + `"}`
	if got := short(stacked); got != `{"error":"no such host"…` {
		t.Errorf("%q", got)
	}
	if same := "a line that fits"; short(same) != same {
		t.Errorf("%q", short(same))
	}
}
