package shellcommand_test

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]shellcommand.Effect{
		"oc get csr": shellcommand.Reads,
		"$ kubectl describe node worker-1 | grep -A5 Conditions":        shellcommand.Reads,
		"[root@bastion ~]# oc -n openshift-etcd get pods":               shellcommand.Reads,
		"[ ] watch oc get baremetalhost w1":                             shellcommand.Reads,
		"oc delete pods -n x -l k8s-app=y --force":                      shellcommand.Changes,
		"oc get pods -o name | xargs oc delete":                         shellcommand.Changes,
		"oc delete secret x --dry-run=client":                           shellcommand.Reads,
		"sudo systemctl restart kubelet":                                shellcommand.Changes,
		"systemctl status kubelet":                                      shellcommand.Reads,
		"oc adm certificate approve csr-abc12":                          shellcommand.Changes,
		"oc debug node/m0 -- chroot /host systemctl status x":           shellcommand.Changes,
		"ssh core@192.0.2.1 sudo journalctl -u kubelet":                 shellcommand.Reads,
		"ssh core@192.0.2.1 sudo rm -rf /var/lib/etcd":                  shellcommand.Changes,
		"curl -kv https://192.0.2.1:22623/healthz":                      shellcommand.Reads,
		"curl -X DELETE https://bmc/redfish/v1/Sessions/1":              shellcommand.Changes,
		"echo | openssl s_client -connect a:22623 2>/dev/null":          shellcommand.Reads,
		"rollcall csr list":                                             shellcommand.Reads,
		"rollcall csr approve csr-x --expect worker-1=192.0.2.1":        shellcommand.Reads,
		"rollcall csr approve csr-x --expect worker-1=192.0.2.1 --yes":  shellcommand.Changes,
		"rollcall fix apply p-1":                                        shellcommand.Changes,
		"oc frobnicate":                                                 shellcommand.Unknown,
		"KUBECONFIG=/tmp/k oc get nodes":                                shellcommand.Reads,
		"/usr/bin/etcdctl member remove 8e9e05c52164694d":               shellcommand.Changes,
		"oc get \\\n  nodes":                                            shellcommand.Reads,
		"for n in $(oc get nodes -o name); do oc annotate $n a=b; done": shellcommand.Changes,
		"X=$(oc get mcp master -o name)\noc patch $X -p '{\"a\":\n1}'":  shellcommand.Changes,
		"# look\noc get nodes; oc get co && oc get mcp":                 shellcommand.Reads,
		"export ETCDCTL_API=3\netcdctl member list -w table":            shellcommand.Reads,
		"for h in a b; do\n  curl -k https://$h/redfish/v1\ndone":       shellcommand.Reads,
		"./fix.sh --yes":        shellcommand.Unknown,
		"python3 recover.py -a": shellcommand.Unknown,
		"host api.example.com":  shellcommand.Reads,
		"sudo reboot":           shellcommand.Changes,
		"mount /dev/sda1 /mnt":  shellcommand.Reads,
		"date -u":               shellcommand.Reads,
	} {
		got, ok := shellcommand.Parse(text)
		if !ok || got.Effect != want {
			t.Errorf("%q: %v %+v, want %s", text, ok, got, want)
		}
	}
	for _, text := range []string{"", "the node is not ready", "host stuck provisioning", "mount failed", "reboot loop", "E0408 12:00:00.1 1 kubelet.go:1] Error getting node", "GET error: x509"} {
		if c, ok := shellcommand.Parse(text); ok {
			t.Errorf("%q is no command: %+v", text, c)
		}
	}
}

func TestFragment(t *testing.T) {
	for text, want := range map[string]bool{
		"for bmc in $BMC_IPS; do": true, "cd ~/install-dir": true, "while read h; do": true,
		"for h in a b; do reboot; done": false, "oc get nodes": false, "": false, "done": false, "for security reasons": false,
	} {
		if shellcommand.Fragment(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
}

func TestRefused(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"oc get csr -o name | xargs oc adm certificate approve":                                                                                 "approve-all-csrs",
		"kubectl get csr --no-headers | awk '{print $1}' | xargs kubectl certificate approve":                                                   "approve-all-csrs",
		"for i in `oc get csr --no-headers | grep -i pending | awk '{ print $1 }'`; do oc adm certificate approve $i; done":                     "approve-all-csrs",
		"oc adm certificate approve $(oc get csr -o name)":                                                                                      "approve-all-csrs",
		"oc adm certificate approve csr-x7k2p":                                                                                                  "",
		"oc get csr":                                                                                                                            "",
		"oc -n openshift-machine-config-operator delete secret/machine-config-server-tls":                                                       "delete-mcs-tls",
		"oc get secret machine-config-server-tls -n openshift-machine-config-operator -o yaml":                                                  "",
		`oc patch $worker -n openshift-machine-api --type merge -p '{"spec":{"online":false}}'`:                                                 "power-cycle-all-hosts",
		`oc patch bmh worker-3 -n openshift-machine-api --type merge -p '{"spec":{"online":false}}'`:                                            "",
		"oc annotate node m0 machineconfiguration.openshift.io/currentConfig=rendered-master-1":                                                 "patch-annotations-blindly",
		"oc get node m0 -o jsonpath='{.metadata.annotations.machineconfiguration\\.openshift\\.io/currentConfig}'":                              "",
		"sudo mv /etc/kubernetes/manifests/etcd-pod.yaml /root/":                                                                                "move-etcd-manifest",
		"cp /etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig /etc/kubernetes/kubeconfig": "kubelet-localhost-kubeconfig",
		"export KUBECONFIG=/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig":             "",
		"oc delete bmh worker-0 -n openshift-machine-api":                                                                                       "delete-provisioned-bmh",
		"openshift-install destroy cluster --dir=.":                                                                                             "",
		"openshift-install create cluster --dir=.":                                                                                              "",
		"oc get mc | grep rendered-master | head -1":                                                                                            "first-rendered-found",
		"sudo vi /etc/containers/policy.json":                                                                                                   "hand-edit-policy-or-static-certs",
		"cat /etc/containers/policy.json":                                                                                                       "",
	} {
		got := shellcommand.Refused(text, c.Refused)
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%q is refused as %s", text, got[0].ID)
		case want != "" && !slices.ContainsFunc(got, func(r *fault.RefusedRemedy) bool { return r.ID == want }):
			t.Errorf("%q is not refused as %s", text, want)
		}
	}
}
