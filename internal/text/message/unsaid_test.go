package message

import (
	"slices"
	"strings"
	"testing"
)

// TestNoAllClear: texts in which only one line reports trouble, in a form that no program gives a level.
func TestNoAllClear(t *testing.T) {
	x := builtIn(t)
	const head = "   Loaded: loaded (/etc/systemd/system/UNIT.service; enabled; vendor preset: enabled)\n"
	for name, c := range map[string]struct {
		text string
		want Result
	}{
		"a kubelet that was not started":   {"● kubelet.service - Kubernetes Kubelet\n" + head + "   Active: inactive (dead)\n", Unknown},
		"a runtime that was not started":   {"○ crio.service - Container Runtime Interface for OCI (CRI-O)\n" + head + "     Active: inactive (dead)\n", Unknown},
		"and started later":                {"● crio.service - CRI-O\n   Active: inactive (dead)\n\n● crio.service - CRI-O\n   Active: active (running) since Tue 2026-03-10 16:06:14 UTC; 3s ago\n", Absent},
		"a unit that runs once":            {"● nodeip-configuration.service - Writes IP address configuration\n" + head + "   Active: inactive (dead)\n", Absent},
		"a program that names itself":      {"dracut: FATAL: Don't know how to handle 'root=kite'\n", Unknown},
		"a command and its status":         {"      Message:   sbin/kite --wait]: exit status 3: kite v1.8: it is odd\n", Unknown},
		"a command that ended well":        {"      Message:   sbin/kite --wait: exit status 0: kite v1.8\n", Absent},
		"the result of a task":             {"    \"msg\": \"Could not lay the lark\",\n", Unknown},
		"the result of a task that passed": {"    \"msg\": \"All items completed\",\n", Absent},
	} {
		if r := readText(t, x, c.text); r.Result != c.want {
			t.Errorf("%s: %s, want %s: %+v %+v", name, r.Result, c.want, r.Symptoms, r.Errors)
		}
	}
}

// TestCutRow: a row of nothing but a name, with which a text ends, says nothing of its operator.
func TestCutRow(t *testing.T) {
	x := builtIn(t)
	const (
		rows  = operatorHead + "dns                       4.17.0    True        False         False      1d\n"
		blank = "machine-api                                                               \n"
	)
	for name, c := range map[string]struct {
		text string
		want Result
	}{
		"cut":                        {rows + "machine-api\n", Absent},
		"cut, without a line end":    {rows + "kite", Absent},
		"cut, in a block":            {"```\n" + rows + "control-plane-machine-set\n```\n\n", Absent},
		"with the blanks of columns": {rows + strings.Replace(strings.TrimPrefix(rows, operatorHead), "dns", "etc", 1) + blank, Unknown},
		"not the last one":           {rows + "machine-api\n" + strings.Replace(strings.TrimPrefix(rows, operatorHead), "dns", "etc", 1), Unknown},
	} {
		if r := readText(t, x, c.text); r.Result != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, r.Result, c.want, r.Symptoms)
		}
	}
}

// TestWhoseEtcd: the name in the line decides which etcd does not answer.
func TestWhoseEtcd(t *testing.T) {
	x := builtIn(t)
	const by = "Jan 30 18:38:46 b bootkube.sh[2802]: "
	for line, want := range map[string]string{
		by + "https://localhost:2379 is unhealthy: failed to commit proposal: context deadline exceeded":                                          "etcd of the bootstrap host does not answer",
		by + "https://127.0.0.1:2379 is unhealthy: failed to connect: dial tcp 127.0.0.1:2379: connect: connection refused":                       "etcd of the bootstrap host does not answer",
		by + "https://etcd-0.kite.example.net:2379 is unhealthy: failed to commit proposal: context deadline exceeded":                            "etcd of the control-plane hosts",
		by + "https://etcd-2.kite.example.net:2379 is unhealthy: failed to connect: dial tcp 192.0.2.4:2379: connect: connection refused":         "etcd of the control-plane hosts",
		by + "https://192.0.2.4:2379 is unhealthy: failed to commit proposal: context deadline exceeded":                                          "a member of etcd that does not answer",
		"https://localhost:2379 is unhealthy: failed to commit proposal: context deadline exceeded":                                               "etcd of the host on which etcdctl runs",
		"https://etcd-0.kite.example.net:2379 is unhealthy: failed to commit proposal: context deadline exceeded":                                 "etcd-member-unhealthy",
		"ERROR Cluster operator authentication Degraded is True with RouteHealthDegradedFailedGet: RouteHealthDegraded: failed to GET route: EOF": "the route of the login server",
		"RouteHealthDegraded: failed to GET route (https://console-openshift-console.apps.kite.example.net/health): EOF":                          "the route of the console",
		"RouteHealthDegraded: failed to GET route: EOF":                                                                                           "of the console or of the login server",
	} {
		r := readText(t, x, line+"\n")
		all := append(slices.Clone(r.Matches), r.Symptoms...)
		if len(all) == 0 || !strings.Contains(all[0].Fault+all[0].Failure, want) {
			t.Errorf("%s: %+v, want %s first", line, all, want)
		}
	}
}

// TestNoRemedyOnDiscoveryImage: the signature policy of an ISO is not changed in a cluster.
func TestNoRemedyOnDiscoveryImage(t *testing.T) {
	x := builtIn(t)
	const rejected = "Jan 20 13:06:14 w1 podman[277]: Error: Source image rejected: A signature was required, but no signature exists\n"
	iso := readText(t, x, rejected+"Jan 20 13:06:14 w1 systemd[1]: agent.service: Failed with result 'exit-code'.\n")
	if len(iso.Matches) > 0 || iso.Result != Unknown {
		t.Errorf("on the discovery image: %+v", iso.Matches)
	}
	if r := readText(t, x, rejected); len(r.Matches) != 1 || r.Matches[0].Fault != "image-pull-rejected" {
		t.Errorf("on a node: %+v", r.Matches)
	}
}

// TestReasonOfNodeReport: where a node reports a reason that none of the known causes gives, none of them is listed.
func TestReasonOfNodeReport(t *testing.T) {
	x := builtIn(t)
	for text, want := range map[string]int{
		"Node w1 is reporting: \"the kite could not be written to the disk of the lark\"\n": 0,
		"Node w1 is reporting: \"oh\"\n": 6,
	} {
		r := readText(t, x, text)
		if len(r.Symptoms) != 1 || len(r.Symptoms[0].Candidates) != want {
			t.Errorf("%s: %+v", text, r.Symptoms)
		}
	}
}

// TestFolded: a message that YAML has over several lines is read whole, and ends where the next key begins.
func TestFolded(t *testing.T) {
	const text = "  - lastTransitionTime: \"2025-04-18T08:01:49Z\"\n" +
		"    message: 'Node worker-17.kite.example.net is reporting: \"failed\n" +
		"      to retrieve file ownership for file \\\"/etc/kite.conf\\\":\n" +
		"      failed to retrieve GroupID for group: larks\"'\n" +
		"    reason: 1 nodes are reporting degraded status on sync\n    status: \"True\"\n    type: NodeDegraded\n"
	r := readText(t, builtIn(t), text)
	if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, "worker-17.kite.example.net: a file of a MachineConfig has an owner") {
		t.Fatalf("%+v", r.Symptoms)
	}
	if line := r.Symptoms[0].Lines[0].Text; !strings.Contains(line, "for group: larks") || strings.Contains(line, "reason:") {
		t.Errorf("the message is %q", line)
	}
}

// TestEachFailedUnit: each unit of a login banner is named.
func TestEachFailedUnit(t *testing.T) {
	r := readText(t, builtIn(t), "[systemd]\nFailed Units: 2\n  kite.service\n  lark.service\n[core@w1 ~]$ ls\n  wren.service\n")
	says := ""
	for _, m := range r.Symptoms {
		says += m.Failure + "\n"
	}
	if !strings.Contains(says, "kite") || !strings.Contains(says, "lark") || strings.Contains(says, "wren") {
		t.Errorf("%s", says)
	}
}

// TestTerraformExplains: what Terraform writes below each of its reports is no error.
func TestTerraformExplains(t *testing.T) {
	const text = "ERROR Error: Error applying plan:\nERROR\nERROR Terraform does not automatically rollback in the face of errors.\n" +
		"ERROR Instead, your Terraform state file has been partially updated with\n"
	for _, e := range readText(t, builtIn(t), text).Errors {
		if strings.Contains(e.Says, "rollback") || strings.Contains(e.Says, "state file") {
			t.Errorf("%+v", e)
		}
	}
}

// TestForeignRouter: another group with the same router ID is the reason, and not a host without a VIP.
func TestForeignRouter(t *testing.T) {
	x := builtIn(t)
	const get = "GET error: Get https://192.0.2.44:22623/config/master: dial tcp 192.0.2.44:22623: connect: no route to host\n"
	r := readText(t, x, get+"(kite_API): received an invalid passwd!\nbogus VRRP packet received on ens3 !!!\nVRRP_Instance(kite_API) ignoring received advertisment...\n")
	if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Failure, "not of this cluster and has the same router ID") || !r.Symptoms[0].Reason {
		t.Errorf("%+v", r.Symptoms)
	}
	if r := readText(t, x, get); len(r.Matches) == 0 || r.Matches[0].Fault != "mcs-no-route" {
		t.Errorf("without keepalived: %+v", r.Matches)
	}
}

// TestUpdateThatFailedBefore: a host that stays on its image after a failed update is no reason to boot it into another one.
func TestUpdateThatFailedBefore(t *testing.T) {
	x := builtIn(t)
	const other = "Marking Degraded due to: unexpected on-disk state validating against rendered-worker-1: expected target osImageURL \"a@sha256:1\", have \"a@sha256:2\"\n"
	r := readText(t, x, "Rolling back applied changes to OS due to error: failed to execute rpm-ostree [\"update\" \"--uninstall\" \"kite\"] : exit status 1\n"+other)
	if len(r.Matches) > 0 {
		t.Errorf("%+v", r.Matches)
	}
	if r := readText(t, x, other); len(r.Matches) == 0 || r.Matches[0].Fault != "os-update-incomplete" {
		t.Errorf("alone: %+v", r.Matches)
	}
}

// TestRootless: the storage below a home is of podman on a host.
func TestRootless(t *testing.T) {
	x := builtIn(t)
	const text = "Error: crun: make `/home/kite/.local/share/containers/storage/overlay/1/merged` private: Permission denied: OCI permission denied\n"
	if r := readText(t, x, text); !r.Setting.WithoutKubernetes() {
		t.Errorf("%+v", r.Setting)
	}
	if r := readText(t, x, text+"$ openshift-install create cluster\n"); r.Setting.WithoutKubernetes() {
		t.Errorf("of OpenShift: %+v", r.Setting)
	}
}
