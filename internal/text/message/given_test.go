package message

import (
	"slices"
	"strings"
	"testing"
)

// What a text has is not asked for again, and what only holds for one wording is not said of another.
func TestNotAskedAgain(t *testing.T) {
	x := builtIn(t)
	for name, tt := range map[string]struct {
		text     string
		lead     string
		has, not []string
	}{
		"the reason of a node": {"Name:               w9.example.com\nAnnotations:        machineconfiguration.openshift.io/reason: unexpected on-disk state validating against rendered-worker-77\n" +
			"                    machineconfiguration.openshift.io/state: Degraded\n",
			"a file or the system of the node", []string{"k8s-app=machine-config-daemon"}, []string{"and paste it", "the end of the line", "drain-blocked", "bootstrap-mc-mismatch"}},
		"the message of an operator": {"ERROR Cluster operator storage Degraded is True with RolloutFailed: waiting for Deployment openshift-cluster-storage-operator/csi to have 2 replicas, got 1\n",
			"ClusterOperator storage is Degraded", []string{"oc get pods -n openshift-cluster-storage-operator"}, []string{"paste its conditions"}},
		"a bundle that was gathered": {"level=info msg=Waiting up to 20m0s (until 1:23PM) for the Kubernetes API at https://api.x.example.com:6443/...\n" +
			"level=error msg=Attempted to gather ClusterOperator status after installation failure: listing ClusterOperator objects: Get \"https://api.x.example.com:6443/apis\": dial tcp 10.3.1.4:6443: connect: connection refused\n" +
			"level=info msg=Bootstrap gather logs captured here \"/srv/x/log-bundle-20260102030405.tar.gz\"\n",
			"", []string{"--from log-bundle-20260102030405.tar.gz"}, []string{"openshift-install gather bootstrap"}},
		"a host that never changed its OS": {"E0320 19:04:43.142669    8911 writer.go:119] Marking Degraded due to: parsing booted osImageURL: parsing reference: \"<not pivoted>\": invalid reference format\n",
			"the host still runs the OS", []string{"rpm-ostree status"}, []string{"osImageURL of a MachineConfig"}},
		"a stage that is refused": {"Jun 01 11:16:32 h1 installer[13540]: time=\"2021-06-01T11:16:32Z\" level=error msg=\"Failed to update node installation stage, Reason: Stages Joined isn't available for host role master bootstrap true\"\n" +
			"Jun 01 15:52:48 h1 kubenswrapper[1992]: E0601 15:52:48.947525    1992 kubelet_node_status.go:497] \"Error updating node status, will retry\" err=\"error getting node \\\"h1\\\": Get \\\"https://api-int.c.example.com:6443/api/v1/nodes/h1\\\": dial tcp 10.9.9.9:6443: connect: connection refused\"\n",
			"kubenswrapper does not reach the API server", nil, []string{"discovery image", "different versions\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			said := ""
			for _, m := range append(slices.Clone(r.Matches), r.Symptoms...) {
				said += m.Failure + "\n" + m.Next + "\n" + strings.Join(m.Candidates, " ") + "\n"
			}
			if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, tt.lead) {
				t.Errorf("the first is not %q: %s", tt.lead, said)
			}
			for _, has := range tt.has {
				if !strings.Contains(said, has) {
					t.Errorf("%q is missing in %s", has, said)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(said, not) {
					t.Errorf("%q is in %s", not, said)
				}
			}
		})
	}
}

// TestInstallLog: the log file of openshift-install is told from what it prints on a terminal.
func TestInstallLog(t *testing.T) {
	const message = `level=debug msg="module.network: Creating..."` + "\n"
	if !settingOf([]byte(`time="2026-01-02T03:04:05Z" `+message)).InstallLog || settingOf([]byte(message)).InstallLog {
		t.Error("the log file is not told from the lines of a terminal")
	}
}
