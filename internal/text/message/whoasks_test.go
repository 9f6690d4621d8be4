package message

import (
	"fmt"
	"strings"
	"testing"
)

// first is what a text shows first: its sentence, and the next command.
func first(r *Report) (says, next string) {
	switch {
	case len(r.Matches) > 0:
		return r.Matches[0].Fault, r.Matches[0].Next
	case len(r.Symptoms) > 0:
		return r.Symptoms[0].Fault + r.Symptoms[0].Failure, r.Symptoms[0].Next
	case len(r.Errors) > 0:
		return "unknown: " + r.Errors[0].Says, r.Errors[0].Next
	}
	return "", ""
}

// TestWhoAsksWhom: an error with a server is about that server and about who asked it.
func TestWhoAsksWhom(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, says, next string }{
		"a route asked of the cluster DNS": {"RouteHealthDegraded: failed to GET route: Get \"https://console.apps.c.example.com\": dial tcp: lookup " +
			"console.apps.c.example.com on 172.30.0.10:53: no such host\n", "", ""},
		"the login route": {"OAuthServerRouteEndpointAccessibleControllerAvailable: Get \"https://oauth-openshift.apps.c.example.com/healthz\": dial tcp: lookup " +
			"oauth-openshift.apps.c.example.com on 172.30.0.10:53: no such host\n", "oauth-openshift.apps.c.example.com: the name does not resolve", "*.apps"},
		"a load balancer of the API": {"error: Get \"https://a1b2.elb.example.com:6443/api?timeout=32s\": dial tcp: lookup a1b2.elb.example.com on 172.30.0.10:53: " +
			"no such host\n", "a1b2.elb.example.com: the name does not resolve", "dig +short a1b2.elb.example.com"},
		"the update service": {"  Message: Unable to retrieve available updates: Get https://api.openshift.com/api/upgrades_info/v1/graph?channel=stable-4.9: " +
			"dial tcp 192.0.2.7:443: connect: connection timed out\n", "the update service at api.openshift.com:443", "httpsProxy"},
		"a service of Red Hat": {"Get \"https://api.openshift.com/api/accounts_mgmt/v1/certificates\": dial tcp 192.0.2.7:443: i/o timeout\n",
			"a service of Red Hat at api.openshift.com:443", "httpsProxy"},
		"the cluster DNS itself": {"error looking up self: lookup _etcd._tcp.c.example.com on 172.31.0.10:53: read udp 10.9.0.12:44974->172.31.0.10:53: i/o timeout\n",
			"the cluster DNS at 172.31.0.10", "openshift-dns"},
		"a certificate of the cloud": {"May 08 13:46:37 m1 kubelet[10978]: E0508 13:46:37.520984   10978 openstack_instances.go:75] Failed to find flavors: Get " +
			"https://nova.example.com:8774/v2/40c2/flavors/detail: x509: certificate has expired or is not yet valid\n",
			"the compute API of OpenStack (nova) at nova.example.com:8774", "openssl s_client -connect nova.example.com:8774"},
		"a certificate without a server": {"error: x509: certificate has expired or is not yet valid\n", "a certificate has expired, or the clock is ahead", "HOST:PORT"},
		"a proxy that is down": {"Unable to register node with API server: Post https://192.0.2.9:8443/api/v1/nodes: proxyconnect tcp: dial tcp 127.0.0.1:7890: " +
			"connection refused\n", "the HTTP proxy at 127.0.0.1:7890: nothing listens there", "put 192.0.2.9"},
		"a proxy that answers": {"FATAL failed waiting for Kubernetes API: Get \"https://api.c.example.com:6443/version?timeout=32s\": Service Unavailable\n",
			"a proxy answers instead of the API server at api.c.example.com:6443", "no_proxy"},
		"the API of the bootstrap": {"Jun 21 05:20:12 b1 bootkube.sh[10615]: E0621 05:20:12.530557       1 reflector.go:134] pkg/start/status.go:66: Failed to list " +
			"*v1.Pod: Get \"https://localhost:6443/api/v1/pods\":\n", "the API server of the bootstrap host at localhost:6443", "crictl ps"},
		"a header without its message": {"Dec 24 09:35:03 m0 kubenswrapper[1680]: E1224 09:35:03.193155 1680 certificate_manager.go:385] \nFailed while requesting " +
			"a signed certificate: cannot create certificate signing request: Post https://api-int.c.example.com:6443/apis/certificates.k8s.io/v1/certificatesigningrequests: EOF\n" +
			"Dec 24 09:35:04 m0 kubenswrapper[1680]: E1224 09:35:04.175362 1680 bootstrap.go:264] \nPart of the existing bootstrap client certificate is expired: 2020-12-23 03:40:12 +0000 UTC\n",
			"the API server at api-int.c.example.com:6443: the other side closes the connection", "nothing can be approved yet"},
	} {
		if says, next := first(readText(t, x, c.text)); !strings.Contains(says, c.says) || !strings.Contains(next, c.next) {
			t.Errorf("%s: %q, %q\nwant %q, %q", name, says, next, c.says, c.next)
		}
	}
}

// The tables of etcdctl and crictl of a test.
const (
	healthHead = "sh-5.1# etcdctl endpoint health --cluster -w table\n+---+---+---+---+\n|         ENDPOINT          | HEALTH |     TOOK     |           ERROR           |\n+---+---+---+---+\n"
	statusHead = "[root@m2 /]# etcdctl endpoint status -w table\n"
	well1      = "| https://192.0.2.1:2379 |   true |  11.411896ms |                           |\n"
	well2      = "| https://192.0.2.2:2379 |   true |  11.411896ms |                           |\n"
	down3      = "| https://192.0.2.3:2379 |  false | 5.001203643s | context deadline exceeded |\n"
	noAnswer   = "Failed to get the status of endpoint https://192.0.2.1:2379 (context deadline exceeded)\nFailed to get the status of endpoint https://192.0.2.3:2379 (context deadline exceeded)\n"
	leaderless = "| https://192.0.2.2:2379 | eea27a29a8df8033 |  3.5.16 |  228 MB |     false |      false |        96 |   38419686 |           38419686 | etcdserver: no leader |\n"
	haproxy    = "4d32597d22be1       99df6b1b3e6eda8b479846e1e03b768f9bdc94f97f8b338fd771ebdb050476cb  2 minutes ago  STATE  haproxy  N  ca54e3db58ede\n"
	refused    = "$ oc get node\nThe connection to the server api.c.example.com:6443 was refused - did you specify the right host or port?\n"
)

// TestHostsOfControlPlane: what a host of the control plane shows by itself comes before what is seen of the API from afar.
func TestHostsOfControlPlane(t *testing.T) {
	x := builtIn(t)
	row := func(state, attempt string) string {
		return strings.NewReplacer("STATE", state, "  N  ", "  "+attempt+"  ").Replace(haproxy)
	}
	for name, c := range map[string]struct{ text, says, next string }{
		"one of three members": {healthHead + well1 + well2 + down3 + "Error: unhealthy cluster\n", "1 of 3 members of etcd does not answer: 192.0.2.3; the others keep", "192.0.2.3"},
		"no leader":            {refused + "Unable to connect to the server: EOF\n" + statusHead + noAnswer + leaderless, "etcd-no-quorum", ""},
		"haproxy crash-loops": {refused + "[core@m1 ~]$ sudo crictl ps -a|grep haproxy\n" + row("Exited", "1077"),
			"the container haproxy of m1 crash-loops: it was restarted 1077 times", "sudo crictl logs --tail 50 4d32597d22be1"},
		"haproxy runs": {refused + "[core@m1 ~]$ sudo crictl ps -a|grep haproxy\n" + row("Running", "5") + row("Exited", "4"), "api-connection-refused", ""},
		"not added": {"etcd-m4   3/4   CrashLoopBackOff   40 (54s ago)   168m\n      member \"https://192.0.2.14:2380\" not found in member list, check operator " +
			"logs for possible scaling problems\n", "etcd of 192.0.2.14 is not in the member list", "etcd-operator"},
	} {
		if says, next := first(readText(t, x, c.text)); !strings.Contains(says, c.says) || !strings.Contains(next, c.next) {
			t.Errorf("%s: %q, %q\nwant %q, %q", name, says, next, c.says, c.next)
		}
	}
	full := strings.NewReplacer("true", "false", "                          |", "Active Alarm(s): NOSPACE  |")
	if r := readText(t, x, healthHead+full.Replace(well1+well2)+full.Replace(strings.Replace(well1, "0.2.1", "0.2.3", 1))); strings.Contains(fmt.Sprint(r.Matches, r.Symptoms), "quorum") {
		t.Errorf("members with an alarm answer: %+v %+v", r.Matches, r.Symptoms)
	}
	if r := readText(t, x, healthHead+well1+well2); r.Result != Absent {
		t.Errorf("all members answer: %+v", r)
	}
}

// TestExcluded: a candidate that a line of the text rules out is not first.
func TestExcluded(t *testing.T) {
	x := builtIn(t)
	const missing = "pool master is degraded because nodes fail with \"1 nodes are reporting degraded status on sync\": \"Node m1 is reporting: " +
		"\\\"machineconfig.machineconfiguration.openshift.io \\\\\\\"rendered-master-8bd6f27c8029fb358c8835dabc9b4b54\\\\\\\" not found\\\"\"\n"
	for text, want := range map[string]string{
		"Failed to resync 4.4.0 because: configuration status for pool master is empty: " + missing: "bootstrap-mc-mismatch",
		"Failed to resync 4.4.0 because: " + missing:                                                "rendered-config-missing",
	} {
		if says, _ := first(readText(t, x, text)); says != want {
			t.Errorf("%s: %q, want %q", text, says, want)
		}
	}
	const describe = "\tName:               w0.example.com\n\tRoles:              worker\n\tAnnotations:        a: b\n" +
		"\t                    machineconfiguration.openshift.io/reason: unexpected on-disk state validating against rendered-worker-3499\n"
	if says, _ := first(readText(t, x, describe)); !strings.Contains(says, "w0.example.com") {
		t.Errorf("the node of a describe block is not named: %q", says)
	}
}

// TestMessageInTheLine: what the line has is not asked for again.
func TestMessageInTheLine(t *testing.T) {
	x := builtIn(t)
	const row = "NAME             VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE   MESSAGE\nimage-registry   4.13.2    True        True          True       4d      "
	for message, want := range map[string]string{
		"Degraded: Registry deployment has timed out: ReplicaSet \"image-registry-76db78f4d5\" has timed out progressing.\n": "oc describe replicaset image-registry-76db78f4d5",
		"DaemonSet \"/openshift-multus/multus\" rollout is not making progress - pods are not ready\n":                       "oc describe daemonset multus -n openshift-multus",
		"Unable to apply resources: the storage account is not there yet at all\n":                                           "oc describe co image-registry",
		"\n": "oc get co image-registry -o yaml",
	} {
		found := false
		for _, m := range readText(t, x, row+message).Symptoms {
			found = found || strings.Contains(m.Next, want)
		}
		if !found {
			t.Errorf("%s: no next has %q: %+v", message, want, readText(t, x, row+message).Symptoms)
		}
	}
}

// TestOtherSystem: a text of another distribution gets no commands that only OpenShift has.
func TestOtherSystem(t *testing.T) {
	x := builtIn(t)
	const taint = "  Warning  FailedScheduling  3m19s  default-scheduler  0/4 nodes are available: 4 node(s) had untolerated taint " +
		"{node.cloudprovider.kubernetes.io/uninitialized: true}.\n"
	r := readText(t, x, taint+"k taint node rke2-master1 x=y:NoSchedule-\n")
	if _, next := first(r); r.System != "RKE2" || !strings.Contains(next, "kubectl -n kube-system get pods") || strings.Contains(next, "oc ") {
		t.Errorf("%q: %q", r.System, next)
	}
	if r := readText(t, x, taint+"oc -n openshift-machine-api get machines; formerly k3s\n"); r.System != "" {
		t.Errorf("a text of OpenShift: %q", r.System)
	}
	for text, want := range map[string]string{
		"w1   NotReady   <none>   88m   v1.30.11+k3s1\n":       "K3s",
		"w1   Ready   <none>   88m   v1.29.4-eks-036c24b\n":    "EKS",
		"w1   Ready   <none>   88m   v1.30.5-gke.1014001\n":    "GKE",
		"w1   Ready   <none>   88m   v1.30.11\n":               "",
		"POST https://192.168.49.2:8443/api/v1/nodes failed\n": "minikube",
		"k0s[1]: v1.31.2+k0s.0\n":                              "k0s",
		"no attribute 'metalk8s-2.6.0'\n":                      "MetalK8s",
		"pod=agent_cattle-system(1)\n":                         "Kubernetes of Rancher",
		"rancher/hyperkube:v1.19.4-rancher1   kubelet\n":       "Kubernetes of Rancher",
		"[preflight] kubeadm join 192.0.2.7:6443\n":            "Kubernetes of kubeadm",
		`"Kubelet version" kubeletVersion="v1.34.3"`:           "plain Kubernetes",
		`"Kubelet version" kubeletVersion="v1.31.6+1b8dafd"`:   "",
		"the password of kubeadmin is in auth\n":               "",
		"cattle-system   Active\nopenshift-etcd   Active\n":    "", // Rancher looks after a cluster of OpenShift
	} {
		if got := systemOf([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestOtherSystemOfFiles: of several texts one that names another distribution is enough, unless another one is of OpenShift; and a pod
// of a Deployment is no static pod of the bootstrap host.
func TestOtherSystemOfFiles(t *testing.T) {
	x := builtIn(t)
	const back = `E0120 11:43:31.787674    4787 pod_workers.go:191] Error syncing pod f44e45ba-5293-44de-8b83-e28bdd200d68 ("NAME_kube-system(f44e)"), ` +
		`skipping: failed to "StartContainer" for "metrics" with CrashLoopBackOff: "back-off 20s restarting failed container=metrics ` +
		`pod=NAME_kube-system(f44e45ba-5293-44de-8b83-e28bdd200d68)"` + "\n"
	nextOf := func(name, beside string) (system, next string) {
		texts := []*Report{readText(t, x, "cattle-system\n"), readText(t, x, strings.ReplaceAll(back, "NAME", name))}
		if beside != "" {
			texts = append(texts, readText(t, x, beside))
		}
		r := Merge(texts)
		if len(r.Symptoms) == 0 {
			t.Fatalf("%s: no symptom: %+v", name, r)
		}
		return r.System, r.Symptoms[0].Next
	}
	if system, next := nextOf("metrics-8449844bf-s2dtd", ""); system == "" || !strings.HasPrefix(next, "kubectl -n kube-system logs metrics-8449844bf-s2dtd") {
		t.Errorf("%q: %q", system, next)
	}
	if system, next := nextOf("metrics-m0", ""); system == "" || strings.Contains(next, "bootstrap") || strings.Contains(next, "oc ") || next == "" {
		t.Errorf("a static pod: %q: %q", system, next)
	}
	if system, next := nextOf("metrics-8449844bf-s2dtd", "ns/openshift-etcd\n"); system != "" || !strings.HasPrefix(next, "oc ") {
		t.Errorf("next to a text of OpenShift: %q: %q", system, next)
	}
}
