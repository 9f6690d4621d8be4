package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// destroying are commands that people type at night, and words of what they destroy.
var destroying = map[string][]string{
	"oc delete pod -n openshift-etcd etcd-master-0":        {"This is a static pod", "restarts nothing on the node"},
	"oc -n openshift-etcd delete pods --all":               {"This is a static pod", "guard and installer pods"},
	"oc delete pod -n openshift-etcd":                      {"This is a static pod"},
	"delete node master-2":                                 {"oc delete node master-2", "The etcd member stays"},
	"upgrade --force":                                      {"oc adm upgrade --force", "without all preconditions"},
	"ipmitool power":                                       {"loses its power at once"},
	"oc delete node":                                       {"deleted without a drain"},
	"oc delete machine":                                    {"deprovisioned and switched off"},
	"kubectl drain w1":                                     {"evicts its pods"},
	"restart kubelet":                                      {"systemctl restart kubelet", "Containers go on"},
	"oc delete pod web-0 -n shop --force --grace-period=0": {"a StatefulSet starts a second one"},
	"oc delete node master-2":                              {"The etcd member stays", "without Machines of the control plane never"},
	"kubectl delete node/gcp-worker-1":                     {"deleted without a drain", "MachineHealthCheck"},
	"oc adm upgrade --to-image quay.io/x@sha256:0 --force": {"without all preconditions", "an update is not undone"},
	"oc adm upgrade --force":                               {"without all preconditions"},
	"oc adm upgrade --allow-explicit-upgrade --to-image x": {"would not start"},
	"ipmitool -I lanplus -H 192.0.2.9 -U admin power off":  {"loses its power at once", "goes on again"},
	"ipmitool -H bmc -U a chassis power cycle":             {"loses its power at once", "without a member to spare the quorum"},
	"curl -X POST https://bmc/redfish/v1/Systems/1/Actions/ComputerSystem.Reset": {"loses its power at once"},
	"oc delete csr --all":                                             {"Certificates that were issued stay valid", "files a new request by itself"},
	"oc adm certificate approve $(oc get csr -o name)":                {"cannot be revoked", "approve-all-csrs"},
	"oc delete mc rendered-worker-0a1b":                               {"does not come back by itself", "oc adm prune renderedmachineconfigs"},
	"oc delete machineconfig 99-worker-custom":                        {"drained and rebooted", "Save it first"},
	"oc delete mcp infra":                                             {"fall back to pool worker"},
	"rm -rf /var/lib/etcd":                                            {"removes the data of an etcd member", "on the last one the cluster"},
	"ssh core@192.0.2.1 sudo rm -rf /var/lib/etcd/member":             {"removes the data of an etcd member"},
	"etcdctl member remove 8e9e05c52164694d":                          {"Remove one only when", "no member to spare"},
	"oc exec -n openshift-etcd etcd-m0 -- etcdctl member remove 8e9e": {"Remove one only when"},
	`oc patch etcd cluster --type merge -p '{"spec":{"unsupportedConfigOverrides":{"useUnsupportedUnsafeNonHANonProductionUnstableEtcd":true}}}'`: {
		"protection of the quorum", "remove-etcd-override"},
	`oc patch mcp worker --type merge -p '{"spec":{"paused":true}}'`:  {"no other one begins", "waits for this pool"},
	`oc patch mcp/master --type merge -p '{"spec":{"paused":false}}'`: {"starts all that has waited"},
	"oc edit mcp worker": {"spec.paused", "two etcd members"},
	"oc adm drain worker-1 --force --delete-emptydir-data --ignore-daemonsets": {"emptyDir is gone for good", "stays cordoned until uncordon"},
	"openshift-install destroy cluster --dir mycluster":                        {"keep running, with their disks", "corrected in the plan", "explain repeat-installation"},
	"virsh destroy master-0":                                                {"power switch", "its disks stay"},
	"virsh undefine master-0 --remove-all-storage":                          {"deletes the definition", "virsh dumpxml"},
	"wipefs -a /dev/sda":                                                    {"for good", "serial number or WWN"},
	"dd if=/dev/zero of=/dev/nvme0n1 bs=1M count=10":                        {"for good"},
	"oc delete bmh worker-0 -n openshift-machine-api":                       {"switched off", "wiped", "delete-provisioned-bmh"},
	"oc delete machine ocp-worker-0 -n openshift-machine-api":               {"deprovisioned and switched off", "this wait does not end"},
	"oc scale machineset ocp-worker -n openshift-machine-api --replicas=1":  {"delete-machine"},
	"systemctl restart kubelet":                                             {"Containers go on", "brings no missing certificate back"},
	"oc debug node/w1 -- chroot /host systemctl restart crio":               {"the kubelet with it"},
	"sudo systemctl restart NetworkManager":                                 {"br-ex"},
	"sudo systemctl reboot":                                                 {"without a drain"},
	"oc debug node/m0 -- chroot /host reboot":                               {"without a drain"},
	`oc patch machine x --type merge -p '{"metadata":{"finalizers":null}}'`: {"stays powered on"},
	"oc delete hostedcluster prod -n clusters":                              {"etcd of the hosted cluster"},
	"oc delete nodepool prod-workers -n clusters":                           {"user-data Secrets at once"},
	"oc adm ocp-certificates remove-old-trust":                              {"cut off"},
}

// TestExplainDestroys: a command that changes something says what it changes, what is lost,
// when it is safe, and what to do instead.
func TestExplainDestroys(t *testing.T) {
	var out bytes.Buffer
	a := newApp("rollcall", cmdutil.IO{Cache: shared, Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now})
	for words, want := range destroying {
		out.Reset()
		if err := a.explain(t.Context(), "text", words); err != nil {
			t.Errorf("%q: %v\n%s", words, err, &out)
		}
		if heads := []string{"What it changes", "What is lost", "When it is safe", "Instead", "Source"}; !strings.Contains(out.String(), "common unsafe advice") {
			want = append(want, heads...)
		} else {
			want = append(want, "What happens", "When it is safe after all", "Do instead", "Source")
		}
		shown := strings.Join(strings.Fields(out.String()), " ")
		for _, part := range want {
			if !strings.Contains(shown, part) {
				t.Errorf("%q: want %q in\n%s", words, part, &out)
			}
		}
		if strings.Contains(shown, "only reads") || strings.Contains(shown, "does not know whether") {
			t.Errorf("%q:\n%s", words, &out)
		}
	}
	out.Reset()
	if err := a.explain(t.Context(), "json", "oc delete node master-2"); err != nil {
		t.Fatal(err)
	}
	var page commandPage
	if err := json.Unmarshal(out.Bytes(), &page); err != nil || len(page.Destroys) != 1 || page.Destroys[0].Lost == "" || len(page.Destroys[0].Sources) == 0 {
		t.Errorf("%v: %s", err, &out)
	}
}

// TestDestroysNot: what only reads, or tries, destroys nothing.
func TestDestroysNot(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"drain blocked pdb", "node deleted", "upgrade stuck", "delete pod web-0", "power off host",
		"oc get nodes", "oc delete node worker-1 --dry-run=server", "oc adm upgrade", "oc adm upgrade status", "ipmitool -H b power status",
		"ipmitool -H b chassis power status", "oc get mcp", "oc get csr", "virsh list --all", "virsh dumpxml m0", "virsh net-destroy default",
		"etcdctl member list", "systemctl status kubelet", "wipefs /dev/sda", "lsblk", "oc adm drain w1 --dry-run=client", "oc adm certificate approve csr-x",
		"oc describe node master-0", "oc get machines", "curl -k https://bmc/redfish/v1/Systems/1", "oc delete pod web-1 -n shop", "ls /var/lib/etcd",
		"oc logs -n openshift-etcd etcd-master-0", "oc adm prune renderedmachineconfigs", "oc delete pod -n openshift-machine-api metal3-6d",
	} {
		typed, ok := shellcommand.WithProgram(words)
		if !ok {
			typed = words
		}
		for _, n := range shellcommand.Notes(typed, c.Commands) {
			if n.Destroys != nil {
				t.Errorf("%q: %s", words, n.Destroys.Changes)
			}
		}
	}
	for _, file := range c.Commands {
		for _, n := range file.Notes {
			for _, next := range n.Next {
				if id, ok := strings.CutPrefix(next, "rollcall explain "); ok {
					if _, ok := entryOf(c, id); !ok {
						t.Errorf("%s: there is no page %s", file.Topic, id)
					}
				}
			}
		}
	}
}
