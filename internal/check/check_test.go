package check

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

const unsafeEtcd = `{"spec":{"unsupportedConfigOverrides":{"useUnsupportedUnsafeNonHANonProductionUnstableEtcd":true}}}`

// TestPowerNotMeasured: a BareMetalHost whose power nothing measures is not taken for one that is off.
func TestPowerNotMeasured(t *testing.T) {
	const host = "must-gather.local.1/quay-io-example-must-gather/namespaces/openshift-machine-api/metal3.io/baremetalhosts/m2.yaml"
	for _, c := range []struct {
		name      string
		from, to  string
		command   string
		want      Verdict
		why, nope string
	}{
		{"it is off", "", "", "oc delete bmh m2 -n openshift-machine-api", Person, "is switched off already", ""},
		{"unmanaged", "state: externally provisioned", "state: unmanaged", "oc delete bmh m2 -n openshift-machine-api", Unsafe, "it has no BMC", "switched off"},
		{"unmanaged", "state: externally provisioned", "state: unmanaged", "oc delete node m2", Unsafe, "", "is off"},
		{"unmanaged", "state: externally provisioned", "state: unmanaged",
			"oc adm taint node m2 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", Unknown, "is not known", ""},
		{"unmanaged", "state: externally provisioned", "state: unmanaged",
			`oc patch bmh m2 -n openshift-machine-api --type merge -p '{"spec":{"online":false}}'`, Safe, "switches nothing", ""},
		{"unmanaged", "state: externally provisioned", "state: unmanaged",
			`oc patch machine lark-x7k2p-master-2 -n openshift-machine-api --type merge -p '{"metadata":{"finalizers":null}}'`, Person, "is not known", ""},
		{"paused", "metadata:", "metadata:\n  annotations: {baremetalhost.metal3.io/paused: \"\"}", "oc delete bmh m2 -n openshift-machine-api", Unsafe, "(paused)", ""},
	} {
		files := stateFS(t, "member")
		if f := files[host]; f == nil || !strings.Contains(string(f.Data), c.from) {
			t.Fatalf("%s: %s is not in %s", c.name, c.from, host)
		} else {
			f.Data = []byte(strings.Replace(string(f.Data), c.from, c.to, 1))
		}
		q := question(t, files)
		q.Text = c.command
		r, err := Answer(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.want || !strings.Contains(r.Why, c.why) || c.nope != "" && strings.Contains(r.Why, c.nope) {
			t.Errorf("%s: %s: %s: %s", c.name, c.command, r.Verdict, r.Why)
		}
	}
}

// TestOthers: commands that are not in the table.
func TestOthers(t *testing.T) {
	for _, c := range []struct {
		state, command string
		verdict        Verdict
		why            string
	}{
		{"healthy", "oc adm drain w0 --ignore-daemonsets --disable-eviction", Unsafe, "--disable-eviction"},
		{"healthy", "oc adm drain m1 --ignore-daemonsets", Safe, ""},
		{"member", "oc adm drain m1 --ignore-daemonsets", Unsafe, "m2 is unhealthy"},
		{"member", "oc delete node m1", Unsafe, "m2 is unhealthy"},
		{"healthy", "oc delete node m1", Unsafe, "its kubelet runs"},
		{"healthy", "oc delete node --all", Unsafe, "its kubelet runs"},
		{"healthy", "for n in w0 w1; do oc delete node $n; done", Unsafe, "its kubelet runs"},
		{"healthy", "oc delete node $NODE", Unknown, "not in its text"},
		{"healthy", "oc delete pods -n openshift-ingress --all", Unsafe, "no other pod"},
		{"healthy", "oc get pods -n openshift-ingress -o name | xargs oc delete -n openshift-ingress", Unknown, ""},
		{"healthy", "oc patch mcp master --type merge -p '{\"spec\":{\"maxUnavailable\":2}}'", Unsafe, "several control-plane nodes"},
		{"healthy", "oc patch mcp worker --type merge -p '{\"spec\":{\"paused\":true}}'", Safe, "no further node begins"},
		{"healthy", "oc apply -f x.yaml", Unknown, "file"},
		{"healthy", "oc replace --force -f x.yaml", Unsafe, "deletes the object"},
		{"healthy", "oc delete node w0 --dry-run=server", Reads, ""},
		{"healthy", "oc edit mcp worker", Unknown, ""},
		{"healthy", "oc delete namespace shop", Person, "volumes"},
		{"healthy", "oc adm certificate approve csr-nobody", Unknown, "there is no pending"},
		{"rogue", "oc adm certificate approve csr-who", Unsafe, "claims the running node w1"},
		{"member", "oc adm taint node m2 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", Safe, "is off"},
		{"healthy", "oc adm taint node m2 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute", Unsafe, "switched on"},
		{"update", "oc adm uncordon w1", Unsafe, "is being updated"},
		{"healthy", "ssh core@w0 sudo systemctl stop kubelet", Unsafe, "40 s"},
		{"healthy", "sudo systemctl reboot", Unknown, "give the command with the host"},
		{"healthy", "ssh core@w0 sudo reboot", Unsafe, "is not drained"},
		{"healthy", "ssh core@w0 'sudo rm -rf /var/lib/kubelet/pki'", Unsafe, "reports"},
		{"certificate", "ssh core@w1 'sudo mv /var/lib/kubelet/pki/* /root/'", Person, "has not reported"},
		{"healthy", "ssh core@w0 sudo wipefs -a /dev/sda", Person, "gone for good. w0 reports and runs"},
		{"certificate", "ssh core@w1 sudo mkfs.xfs -f /dev/sdb", Person, "w1 has not reported"},
		{"healthy", "ssh core@m0 sudo wipefs -a /dev/sda", Unsafe, "m0 is a control-plane node that reports"},
		{"healthy", "dd if=/dev/zero of=/dev/sda", Person, "On which host it runs is not in its text"},
		{"healthy", "oc delete pods --all", Unknown, "current project"},
		{"healthy", "oc delete pods -A -l k8s-app=machine-config-server", Safe, "machine-config-server-tls and node-bootstrapper-token exist"},
		{"mcs", "oc delete pods -A -l k8s-app=machine-config-server", Unsafe, "machine-config-server-tls is missing"},
		{"healthy", "oc delete ns kube-system", Safe, "refuses"},
		{"healthy", "oc delete ns shop openshift-etcd", Unsafe, "the CA bundle"},
		{"healthy", "oc delete ns openshift-ingress", Unsafe, "its 2 pods stop"},
		{"healthy", "oc delete ns openshift-kube-apiserver", Unsafe, "static pods run on"},
		{"healthy", "oc delete ns $NS", Person, "not in its text"},
		{"healthy", "oc delete pvc data-db-0 -n shop", Person, "reclaim policy"},
		{"healthy", "oc delete all --all -n shop", Person, "1 pod and what would create them again"},
		{"healthy", "oc delete all --all", Unknown, "current project"},
		{"healthy", "oc delete all --all -A", Unsafe, "every namespace"},
		{"healthy", "oc delete crd baremetalhosts.metal3.io", Unsafe, "BareMetalHosts"},
		{"healthy", "oc delete crd widgets.example.com", Person, "every object of the kind"},
		{"healthy", "oc label node w0 node-role.kubernetes.io/master=", Unsafe, "becomes a control-plane node"},
		{"healthy", "oc label node w0 node-role.kubernetes.io/worker-", Unsafe, "leaves pool worker"},
		{"healthy", "oc label node w0 node-role.kubernetes.io/worker=", Safe, "nothing changes"},
		{"healthy", "oc label node w0 node-role.kubernetes.io/infra=", Unknown, "no pool picks"},
		{"healthy", "oc label node w0 example.com/rack=7", Safe, "pods that run stay"},
		{"healthy", "oc label nodes w0 w1 example.com/rack=7 --overwrite", Safe, "pods that run stay"},
		{"healthy", "oc label node w0 kubernetes.io/hostname-", Unknown, "which DaemonSets"},
		{"healthy", "oc label node w0 kubernetes.io/hostname=x --overwrite", Unknown, "which DaemonSets"},
		{"healthy", "oc label node nobody example.com/rack=7", Unknown, "there is no node"},
		{"healthy", "oc patch etcd cluster --type merge -p '" + unsafeEtcd + "'", Unsafe, "adds no member"},
		{"member", "oc patch etcd cluster --type merge -p '" + unsafeEtcd + "'", Person, "step of a replacement"},
		{"healthy", `oc patch etcd/cluster --type merge -p '{"spec":{"unsupportedConfigOverrides":null}}'`, Safe, "keeps its own rules"},
		{"healthy", `oc patch kubeapiserver cluster --type merge -p '{"spec":{"unsupportedConfigOverrides":{"x":1}}}'`, Unsafe, "lets no update"},
		{"healthy", "oc patch storage cluster --type merge -p '{}'", Unknown, "not judged"},
		{"healthy", "oc edit mcp worker", Unknown, "in the editor"},
		{"healthy", "ssh core@w0 sudo podman system prune -a", Unsafe, "one store"},
		{"healthy", "ssh core@w0 sudo crictl rmi --prune", Unsafe, "one store"},
		{"healthy", "virsh destroy lark-x7k2p-bootstrap", Safe, "is complete"},
		{"mismatch", "virsh destroy bootstrap", Unsafe, "only on the bootstrap host"},
		{"mismatch", "virsh start bootstrap", Safe, "starts the bootstrap host"},
		{"nothing", "virsh destroy bootstrap", Unknown, "bootstrap host"},
		{"healthy", "ssh core@bootstrap.lab.local sudo reboot", Unknown, "never becomes a node"},
		{"healthy", "curl -k https://api-int:22623/config/master", Reads, "pull secret"},
		{"healthy", "curl -skI -H 'Accept: x' https://api-int:22623/config/master", Reads, "it sends a request"},
		{"healthy", "curl -sk -o /dev/null -w '%{http_code}' https://api-int:22623/config/master", Reads, "it sends a request"},
		{"healthy", "oc get secret pull-secret -n openshift-config -o yaml", Reads, "base64 hides nothing"},
		{"healthy", "oc get secret -n openshift-config", Reads, "it lists objects"},
		{"healthy", "oc delte node w0", Unknown, "did you mean oc delete?"},
		{"healthy", "oc adm drian w0", Unknown, "did you mean oc adm drain?"},
		{"healthy", "oc expose svc x", Unknown, "not known here"},
		{"healthy", "oc", Unknown, "give the whole command"},
		{"healthy", "oc annotate mc 99-worker-ssh force-refresh=1", Safe, "pointless"},
		{"healthy", "oc annotate mc 00-worker machineconfiguration.openshift.io/generated-by-controller-version=x --overwrite", Unsafe, "stops rendering"},
		{"healthy", "ssh core@m0 sudo rm /etc/kubernetes/manifests/kube-apiserver-pod.yaml", Unsafe, "stops on m0"},
		{"healthy", "ssh core@m0 sudo chronyc makestep", Unsafe, "clock"},
		{"healthy", "ssh core@w0 sudo rpm-ostree install strace", Unsafe, "owns the operating system"},
		{"healthy", "ssh core@m0 sudo crictl rm -f 1a2b", Unsafe, "kubelet owns"},
		{"healthy", "oc -n openshift-etcd rsh etcd-m0 etcdctl put a b", Person, "past the API"},
		{"healthy", "etcdctl snapshot save /tmp/x", Safe, "writes a file"},
		{"healthy", "virsh destroy m1", Safe, "2 of 3"},
		{"member", "virsh destroy m1", Unsafe, "m2 is unhealthy"},
		{"healthy", "virsh undefine m1 --remove-all-storage", Person, "deletes the definition"},
		{"healthy", "oc scale machineset lark-x7k2p-worker-0 -n openshift-machine-api --replicas=3", Safe, "0 are available"},
		{"mcs", "oc scale machineset lark-x7k2p-worker-0 -n openshift-machine-api --replicas=3", Unsafe, "no new host can boot"},
		{"healthy", "oc patch bmh w0 -n openshift-machine-api --type merge -p '{\"spec\":{\"online\":false}}'", Unsafe, "without a drain"},
		{"healthy", "systemctl stop kubelet", Unknown, "on which host it runs is not in its text: give"},
		{"healthy", "sudo rm -rf /var/lib/etcd", Person, "whether this host has an etcd member is not known"},
		{"healthy", "frobnicate --all", Unknown, ""},
	} {
		q := *stateQuestion(t, c.state)
		q.Text = c.command
		r, err := Answer(t.Context(), &q)
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		if r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s in %s:\n\tgot  %s: %s\n\twant %s: %s", c.command, c.state, r.Verdict, r.Why, c.verdict, c.why)
		}
	}
}

// TestUndo: what stays off is not said to come back, and a command without its host is one sentence.
func TestUndo(t *testing.T) {
	for _, c := range []struct{ command, undo string }{
		{"virsh destroy m1", "virsh start m1"},
		{"virsh shutdown w0", "virsh start w0"},
		{"virsh reboot w0", comesBack},
		{"virsh reset m1", comesBack},
		{"ssh core@w0 sudo reboot", comesBack},
		{"ssh core@w0 sudo reboot -p", "switches it on again"},
		{"ssh core@w0 sudo systemctl reboot", comesBack},
		{"ssh core@w0 sudo shutdown -r now", comesBack},
		{"ssh core@w0 sudo shutdown -h now", "switches it on again"},
		{"ssh core@w0 sudo shutdown -c", "order the shutdown again"},
		{"ssh core@w0 sudo poweroff", "switches it on again"},
		{"ssh core@w0 sudo halt", "switches it on again"},
		{"oc debug node/m1 -- chroot /host systemctl poweroff", "switches it on again"},
		{"ssh core@w0 sudo systemctl stop kubelet", "systemctl start kubelet"},
		{"ssh core@w0 sudo systemctl restart kubelet", "none needed"},
		{"ssh core@w0 sudo systemctl stop crio", "systemctl start crio kubelet"},
		{"ssh core@w0 sudo systemctl restart crio", comesBack},
		{"ipmitool -I lanplus -H 198.51.100.11 -U a -P b chassis power off", "switches it on again"},
		{"ipmitool -I lanplus -H 198.51.100.11 -U a -P b chassis power cycle", comesBack},
		{`curl -k -u a:b -X POST https://198.51.100.11/redfish/v1/Systems/1/Actions/ComputerSystem.Reset -d '{"ResetType":"ForceOff"}'`, "switches it on again"},
		{`curl -k -u a:b -X POST https://198.51.100.11/redfish/v1/Systems/1/Actions/ComputerSystem.Reset -d '{"ResetType":"ForceRestart"}'`, comesBack},
		{"oc patch bmh w0 -n openshift-machine-api --type merge -p '{\"spec\":{\"online\":false}}'", "online: true"},
		{"oc adm cordon w0", "oc adm uncordon w0"},
		{"oc adm drain w0 --ignore-daemonsets", "oc adm uncordon w0"},
	} {
		q := *stateQuestion(t, "healthy")
		q.Text = c.command
		r, err := Answer(t.Context(), &q)
		if err != nil || len(r.Steps) != 1 || !strings.Contains(r.Steps[0].Undo, c.undo) || c.undo != comesBack && strings.Contains(r.Steps[0].Undo, comesBack) {
			t.Errorf("%s: %v: %q, want %q", c.command, err, r.Steps[0].Undo, c.undo)
		}
	}
}

// TestTakenAway: without what decides, nothing is safe.
// TestInsteadOfAMaster holds that nothing is recommended in place of a deletion that stops etcd.
func TestInsteadOfAMaster(t *testing.T) {
	for command, drains := range map[string]bool{"oc delete node m1": false, "oc delete node w0": true} {
		q := *stateQuestion(t, "member")
		q.Text = command
		r, err := Answer(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Instead, " "), "adm drain"); got != drains {
			t.Errorf("%s: instead %q", command, r.Instead)
		}
	}
}

func TestTakenAway(t *testing.T) {
	for command, needs := range map[string][]string{
		"oc debug node/m1 -- chroot /host systemctl reboot": {"/etcds/|/clusteroperators/etcd|etcd_info", "/nodes/"},
		"oc adm drain w0": {"/poddisruptionbudgets/", "/leases/w", "/nodes/"},
		"oc delete pod router-default-0aaaa -n openshift-ingress":                             {"/router-default-1bbbb", "/leases/w"},
		"oc delete pod -n openshift-machine-config-operator -l k8s-app=machine-config-server": {"/core/secrets/", "/machine-config-server-"},
		"oc get csr -o name | xargs oc adm certificate approve":                               {"/certificatesigningrequests"},
		"oc -n openshift-etcd rsh etcd-m0 etcdctl defrag --cluster": {"/etcds/|/clusteroperators/etcd|etcd_info",
			"/clusterversions/"},
		"oc adm ocp-certificates regenerate-leaf -n x secrets/y": {"/clusteroperators/", "/clusterversions/", "/infrastructures/"},
		"oc adm cordon w0":                                                    {"/nodes/"},
		"ssh core@w0 sudo systemctl restart kubelet":                          {"/certificatesigningrequests", "/nodes/"},
		"oc patch mcp worker --type merge -p '{\"spec\":{\"paused\":false}}'": {"/machineconfigpools/"},
		"oc delete pod -n openshift-etcd etcd-guard-m1":                       {"/etcds/|/clusteroperators/etcd|etcd_info", "/nodes/"},
	} {
		for _, need := range needs {
			files := stateFS(t, "healthy")
			for name := range files {
				for part := range strings.SplitSeq(need, "|") {
					if strings.Contains(name, part) {
						delete(files, name)
					}
				}
			}
			q := question(t, files)
			q.Text = command
			r, err := Answer(t.Context(), q)
			if err != nil {
				t.Errorf("%s without %s: %v", command, need, err)
				continue
			}
			if r.Verdict == Safe || r.Verdict == Reads {
				t.Errorf("%s without %s: %s: %s", command, need, r.Verdict, r.Why)
			}
		}
	}
}

// TestPartOfTheCluster: an archive does not show that nothing else holds a drain.
func TestPartOfTheCluster(t *testing.T) {
	q := *stateQuestion(t, "healthy")
	q.Text, q.Whole = "oc adm drain w0", false
	if r, err := Answer(t.Context(), &q); err != nil || r.Verdict != Unknown {
		t.Errorf("%v, %s: %s", err, r.Verdict, r.Why)
	}
}

// TestJudgments: each has an id of its own, a source, and a kind of command.
func TestJudgments(t *testing.T) {
	seen := map[string]bool{}
	for _, j := range Judgments() {
		if j.ID == "" || seen[j.ID] || j.Commands == "" || j.Matches == nil || j.Decide == nil || len(j.Sources) == 0 {
			t.Errorf("judgment %q is not whole, or there twice", j.ID)
		}
		seen[j.ID] = true
		if j.Matches(&shellcommand.Call{}) {
			t.Errorf("judgment %s is about nothing", j.ID)
		}
	}
}
