package check

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

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
		{"healthy", "ssh core@w0 sudo wipefs -a /dev/sda", Person, "gone for good"},
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
