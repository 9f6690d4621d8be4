package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/lab/host"
)

// followed is a trouble, the remedy that the screen shows for it, and the steps of that
// remedy as requests and as what a person does at a host.
type followed struct {
	trouble string
	fault   string // a root; "": nothing is wrong, and the screen has somebody wait
	remedy  string // the first one that the root has
	waits   string // HOST:STAGE at which a host may still wait at the end, as it does for longer than a test
	console string // a host whose screen somebody has to look at for that
	flags   []string
	// follow does the steps that change something, in their order. What a person has to
	// find out by a step that only looks, it finds out by the same request.
	follow func(*testing.T, *world)
}

// follows is every remedy that is carried out by hand here. What rollcall fix does is in
// TestRepair.
var follows = []followed{
	{trouble: "pool-paused", fault: "pool-paused", remedy: "unpause-pool", follow: func(t *testing.T, w *world) {
		w.merge(t, poolResource, "", "worker", `{"spec":{"paused":false}}`)
	}},
	{trouble: "render-degraded", fault: "pool-render-degraded", remedy: "correct-machineconfig", follow: func(t *testing.T, w *world) {
		w.merge(t, configResource, "", w.unsupported(t), `{"spec":{"config":{"ignition":{"version":"3.4.0"}}}}`)
	}},
	// Nothing re-creates the pods of this application, so that none may be required.
	{trouble: "drain-held-by-budget", fault: "drain-held", remedy: "let-node-drain", follow: func(t *testing.T, w *world) {
		w.merge(t, budgetResource, "shop", "cart", `{"spec":{"minAvailable":0}}`)
	}},
	{trouble: "controller-config-missing", fault: "mcs-controllerconfig-missing", remedy: "let-operator-write-controllerconfig", console: "worker22", follow: func(t *testing.T, w *world) {
		w.merge(t, deploymentResource, "openshift-machine-config-operator", "machine-config-operator", `{"spec":{"replicas":1}}`)
	}},
	{trouble: "controller-down", fault: "mcc-not-running", remedy: "start-machine-config-controller", follow: func(t *testing.T, w *world) {
		w.merge(t, deploymentResource, "openshift-machine-config-operator", "machine-config-controller", `{"spec":{"replicas":1}}`)
	}},
	{trouble: "config-drift", fault: "config-drift", remedy: "restore-drifted-file", follow: restoreFile},
	{trouble: "etcd-manifest-moved", fault: "etcd-operand-gone", remedy: "put-etcd-manifest-back", follow: func(t *testing.T, w *world) {
		found := w.find(t, "control2", "etcd-pod.yaml")
		if err := os.Rename(found, w.disk("control2", "/etc/kubernetes/manifests/etcd-pod.yaml")); err != nil {
			t.Fatal(err)
		}
	}},
	{trouble: "etcd-member-down", fault: "etcd-member-unhealthy", remedy: "return-etcd-member", follow: func(t *testing.T, w *world) {
		if err := os.Remove(w.disk("control2", host.UnreadyFile)); err != nil { // what keeps the member from answering
			t.Fatal(err)
		}
	}},
	{trouble: "csr-no-machine", fault: "csr-no-machine-for-node", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) { w.approveHost(t, "worker11", "worker11") }},
	{trouble: "csr-machine-too-old", fault: "csr-outside-window", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) { w.approveHost(t, "worker8", "worker8") }},
	{trouble: "kubelet-certificate-lost", fault: "csr-node-exists", remedy: "approve-request-for-existing-node", follow: func(t *testing.T, w *world) { w.approveHost(t, "control2", "control2", "--rebuild") }},
	{trouble: "csr-machine-no-addresses", fault: "csr-machine-no-addresses", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) {
		w.approveHost(t, "worker9", "worker9")
	}},
	{trouble: "csr-machine-other-name", fault: "csr-name-mismatch", remedy: "approve-expected-csrs", follow: func(t *testing.T, w *world) {
		w.approveHost(t, "worker10", "worker10.lab.example.com")
	}},
	// The second remedy is what the first one finds: the pointer of the host is old.
	{trouble: "worker-old-ca", fault: "ignition-tls-untrusted", remedy: "compare-served-certificate", console: "worker2", follow: func(t *testing.T, w *world) {
		w.atHost(t, "worker2", "reinstall")
	}},
	{trouble: "firstboot-pull-refused", fault: "image-pull-unauthorized", remedy: "correct-pull-secret", console: "worker6", follow: correctPullSecret},
	{trouble: "hostname-localhost", fault: "hostname-not-assigned", remedy: "give-host-a-name", console: "worker7", follow: func(t *testing.T, w *world) {
		w.outside(t, "dhcp", "worker7")
		w.atHost(t, "worker7", "restart")
	}},
	{trouble: "mcs-certificate-expired", fault: "mcs-certificate-expired", remedy: "renew-mcs-certificate", flags: []string{"--probe"}, follow: func(t *testing.T, w *world) {
		w.merge(t, secretResource, "openshift-machine-config-operator", "machine-config-server-tls",
			`{"metadata":{"annotations":{"auth.openshift.io/certificate-not-after":"force-regeneration"}}}`)
	}},
	// The clocks agree, so that the certificate is wrong: the screen continues with the remedy of
	// an expired one.
	{trouble: "mcs-certificate-not-yet-valid", fault: "mcs-certificate-not-yet-valid", remedy: "wait-until-certificate-begins", flags: []string{"--probe"}, follow: func(t *testing.T, w *world) {
		w.merge(t, secretResource, "openshift-machine-config-operator", "machine-config-server-tls",
			`{"metadata":{"annotations":{"auth.openshift.io/certificate-not-after":"force-regeneration"}}}`)
	}},
	{trouble: "rendered-config-pruned", fault: "rendered-config-missing", remedy: "recreate-missing-render", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("rendered-config-missing"), "--yes")
	}},
	{trouble: "mcs-tls-deleted-no-machinesets", fault: "mcs-tls-secret-missing", remedy: "regenerate-mcs-certificate", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("mcs-tls-secret-missing"), "--yes")
	}},
	{trouble: "mcs-tls-deleted-4.14", fault: "mcs-tls-secret-missing", remedy: "regenerate-mcs-certificate", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("mcs-tls-secret-missing"), "--yes")
	}},
	{trouble: "kcm-no-leader", fault: "kcm-no-leader", remedy: "redeploy-controller-manager", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("kcm-no-leader"), "--yes")
		w.atHost(t, "worker1", "on")
	}},
	{trouble: "etcd-quorum-lost", fault: "api-not-ready", remedy: "start-api-servers", follow: func(t *testing.T, w *world) {
		w.outside(t, "etcd", "")
	}},
	{trouble: "csr-flood", fault: "csr-flood-guard", remedy: "stop-request-flood", follow: func(t *testing.T, w *world) {
		w.deleteRequests(t, "retired3")
		w.restartApprover(t)
	}},
	{trouble: "rogue-csr-master", fault: "csr-name-claimed-by-stranger", remedy: "find-identity-stranger", follow: func(t *testing.T, w *world) {
		w.deny(t, "csr-x7w2f-control0")
	}},
	{trouble: "rogue-csr-worker", fault: "csr-name-claimed-by-stranger", remedy: "find-identity-stranger", follow: func(t *testing.T, w *world) {
		w.deny(t, "csr-x7w2f-worker0")
	}},
	{trouble: "node-past-its-certificates", fault: "csr-node-exists", remedy: "approve-request-for-existing-node", follow: func(t *testing.T, w *world) {
		w.deleteRequests(t, "worker1")
		w.approve(t, "worker1", "worker1", false, "--rebuild")
	}},
	{trouble: "cluster-off-40-days", fault: "certificates-ended-while-silent", remedy: "approve-expired-nodes", follow: approveExpired},
	{trouble: "kubelet-as-admin", fault: "kubelet-admin-kubeconfig", remedy: "return-node-identity", follow: returnIdentity},
	{trouble: "mcs-refused-on-vip", fault: "mcs-refused", remedy: "pass-machine-config-port", console: "worker5", follow: func(t *testing.T, w *world) {
		w.outside(t, "firewall", "control0")
	}},
	{trouble: "vip-outside-machine-network", fault: "vip-not-in-machine-network", remedy: "append-machine-network", follow: restoreIngress},
	{trouble: "bmc-password-wrong", fault: "bmc-credentials-refused", remedy: "correct-bmc-credentials", follow: func(t *testing.T, w *world) {
		w.merge(t, secretResource, machineAPI, "spare1-bmc", `{"stringData":{"username":"lab","password":"not-a-password\n"}}`)
	}},
	{trouble: "inspection-silent", fault: "inspection-ramdisk-failed", remedy: "find-inspection-failure", follow: func(t *testing.T, w *world) {
		w.outside(t, "boot-medium", "spare2")
		w.merge(t, bareMetalHosts, machineAPI, "spare2", `{"metadata":{"annotations":{"inspect.metal3.io":""}}}`)
	}},
	{trouble: "mac-duplicate", fault: "mac-address-conflict", remedy: "correct-boot-mac", follow: correctMAC},
	{trouble: "host-paused", fault: "bmh-paused", remedy: "unpause-host", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("bmh-paused"), "--yes")
	}},
	{trouble: "host-detached", fault: "bmh-detached", remedy: "attach-host", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("bmh-detached"), "--yes")
	}},
	{trouble: "host-held-off", fault: "bmh-power-mismatch", remedy: "release-held-host", follow: func(t *testing.T, w *world) {
		w.merge(t, bareMetalHosts, machineAPI, "worker1", `{"metadata":{"annotations":{"reboot.metal3.io/firmware-update":null}}}`)
	}},
	{trouble: "power-stuck", fault: "bmh-power-error", remedy: "reset-bmc", follow: func(t *testing.T, w *world) {
		w.outside(t, "bmc", "spare6")
	}},
	{trouble: "hosted-stale-token", fault: "user-data-copy-outdated", remedy: "recreate-worker-with-fresh-user-data", console: "guest1", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.atHost(t, "guest1", "reinstall")
	}},
	{trouble: "hosted-name-not-in-certificate", fault: "ignition-tls-name", remedy: "use-published-ignition-name", console: "guest3", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.atHost(t, "guest3", "reinstall")
	}},
	{trouble: "hosted-user-data-outdated", fault: "user-data-outdated", remedy: "let-operator-rewrite-user-data", console: "guest2", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.outside(t, "hypershift-operator", "")
		eventually(t, 2*time.Minute, func() string {
			d := parse(t, w.live(append([]string{"diagnose", "-o", "json"}, ofGuest...)...))
			if strings.Contains(d.present(), "user-data-outdated") {
				return "the user-data is still outdated"
			}
			return ""
		})
		w.atHost(t, "guest2", "reinstall")
	}},
	{trouble: "hosted-payload-failing", fault: "ignition-payload-failed", remedy: "fix-payload-input", console: "guest4", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.outside(t, "registry", "")
	}},
	{trouble: "hosted-release-missing", fault: "nodepool-release-invalid", remedy: "make-release-readable", flags: ofGuest, follow: nameRelease},
	{trouble: "hosted-pod-security", fault: "hosted-pod-security-refused", remedy: "allow-baseline-pods", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.merge(t, hostedClusterResource, "clusters", "guest", `{"metadata":{"annotations":{"hypershift.openshift.io/pod-security-admission-label-override":"baseline"}}}`)
	}},
	{trouble: "bmc-address-wrong", fault: "bmc-address-wrong", remedy: "correct-bmc-address", follow: correctAddress},
	{trouble: "host-switched-off", fault: "bmh-switched-off", remedy: "switch-host-on", follow: func(t *testing.T, w *world) {
		w.must(t, 0, "fix", "apply", w.change("bmh-switched-off"), "--yes")
	}},
	{trouble: "mcs-tls-deleted", follow: wait},
	{trouble: "metal3-runs", follow: wait},
	{trouble: "roll-out", follow: wait},
	{trouble: "healthy", follow: wait},
	// Its kubelet has its serving certificate, so that it asks for none. That is known half an
	// hour after the Node was created.
	{trouble: "node-deleted", fault: "node-deleted", remedy: "register-node-again", waits: "worker1:serving-cert", follow: func(t *testing.T, w *world) {
		w.atHost(t, "worker1", "restart")
	}},
	{trouble: "controller-manager-certificate-expired", fault: "control-plane-crash-certificates", remedy: "regenerate-expired-leaf", follow: regenerateExpired},
	{trouble: "etcd-member-dead", fault: "node-lease-stale", remedy: "bring-host-back", follow: returnMember},
	{trouble: "hosted-config-replaced", fault: "user-data-copy-outdated", remedy: "recreate-worker-with-fresh-user-data", console: "guest12", flags: ofGuest, follow: func(t *testing.T, w *world) {
		w.atHost(t, "guest12", "reinstall")
	}},
	// The build ends: what it waits for is outside of the cluster.
	{trouble: "hosted-cold-cache", console: "guest10", flags: ofGuest, follow: func(t *testing.T, w *world) { w.outside(t, "registry", "") }},
	{trouble: "hosted-payload-building", console: "guest11", flags: ofGuest, follow: func(t *testing.T, w *world) { w.outside(t, "registry", "") }},
}

// wait is what there is to do where nothing is wrong.
func wait(*testing.T, *world) {}

// ofGuest asks for the hosted cluster.
var ofGuest = scenario{hosted: true}.hostedFlags()

// followedTogether are the troubles that are followed on one cluster.
var followedTogether = []string{
	"config-drift+etcd-manifest-moved+csr-no-machine",
	"render-degraded+etcd-member-down+csr-machine-too-old",
	"pool-paused",
	"controller-down",
	"drain-held-by-budget",
	"kubelet-certificate-lost",
	"worker-old-ca+firstboot-pull-refused+hostname-localhost+csr-machine-no-addresses+csr-machine-other-name",
	"bmc-password-wrong+inspection-silent+mac-duplicate+host-paused+host-detached+host-held-off+power-stuck",
	"mcs-certificate-expired",
	"mcs-refused-on-vip+vip-outside-machine-network",
	"mcs-certificate-not-yet-valid",
	"rendered-config-pruned",
	"rogue-csr-master+rogue-csr-worker",
	"kcm-no-leader",
	"etcd-quorum-lost",
	"mcs-tls-deleted-no-machinesets",
	"mcs-tls-deleted-4.14",
	"csr-flood",
	"node-past-its-certificates",
	"cluster-off-40-days",
	"kubelet-as-admin",
	"hosted-stale-token+hosted-name-not-in-certificate",
	"hosted-user-data-outdated",
	"hosted-payload-failing",
	"hosted-release-missing",
	"controller-config-missing",
	"hosted-pod-security",
	"bmc-address-wrong+host-switched-off+mcs-tls-deleted+metal3-runs",
	"node-deleted",
	"controller-manager-certificate-expired",
	"etcd-member-dead",
	"hosted-config-replaced",
	"hosted-cold-cache",
	"hosted-payload-building",
	"roll-out",
	"healthy",
}

// TestFollow does what the screen says, and nothing else: the remedy that the tool names
// first for each cause leads to a cluster without it, in which every host has passed
// every stage. Without ROLLCALL_LAB_FULL the first cluster only.
func TestFollow(t *testing.T) {
	if testing.Short() {
		t.Skip("brings labs up")
	}
	t.Parallel()
	for i, name := range followedTogether {
		if i >= 1 && os.Getenv(full) == "" {
			break // a lab for each: the rest is seen in .ci/run full
		}
		t.Run(name, func(t *testing.T) {
			w := up(t, name, false)
			var rows []followed
			for trouble := range strings.SplitSeq(name, "+") {
				i := slices.IndexFunc(follows, func(f followed) bool { return f.trouble == trouble })
				if i < 0 {
					t.Fatalf("no row %s", trouble)
				}
				rows = append(rows, follows[i])
			}
			before := parse(t, w.live(slices.Concat([]string{"diagnose", "-o", "json"}, flagsOf(rows), consolesOf(w, rows))...))
			for _, f := range rows {
				f.shown(t, before)
			}
			for _, f := range rows {
				f.follow(t, w)
			}
			w.mended(t, rows)
		})
	}
}

// flagsOf is what the question needs besides: each flag once.
func flagsOf(rows []followed) []string {
	var flags []string
	for _, f := range rows {
		if len(f.flags) > 0 && !slices.Contains(flags, f.flags[0]) {
			flags = append(flags, f.flags...)
		}
	}
	return flags
}

func consolesOf(w *world, rows []followed) []string {
	var flags []string
	for _, f := range rows {
		if f.console != "" {
			flags = append(flags, "--console", f.console+"="+w.consoleFile(f.console))
		}
	}
	return flags
}

// shown says whether the tool names the fault as a cause, with the remedy first.
func (f followed) shown(t *testing.T, d diagnosis) {
	t.Helper()
	if f.fault == "" {
		if class := d.Verdict.Class; class != "healthy" && class != "settling" && len(d.Roots) == 0 {
			t.Errorf("%s: nothing is wrong, and the verdict is %s: %s", f.trouble, class, d.Verdict.Reason)
		}
		return
	}
	for _, r := range d.Roots {
		if r.Fault == f.fault {
			if len(r.Remedies) == 0 || r.Remedies[0].ID != f.remedy {
				t.Errorf("%s: remedies %v, want %s first", f.fault, r.Remedies, f.remedy)
			}
			return
		}
	}
	t.Errorf("%s is no cause; roots: %s", f.fault, d.roots())
}

// repaired waits until the tool says that nothing is wrong.
func (w *world) mended(t *testing.T, rows []followed) {
	t.Helper()
	eventually(t, 6*time.Minute, func() string {
		r := w.live(append([]string{"diagnose", "-o", "json"}, flagsOf(rows)...)...)
		d := parse(t, r)
		for _, f := range rows {
			if f.fault == "" {
				continue
			}
			if i := slices.IndexFunc(d.Findings, func(g finding) bool { return g.Fault == f.fault && g.Outcome == "present" }); i >= 0 {
				return fmt.Sprintf("%s is still present: %s", f.fault, d.present())
			}
		}
		late := slices.ContainsFunc(d.Hosts, func(h struct{ Name, Stage, State string }) bool {
			return h.State != "passed" && h.State != "not-applicable" &&
				!slices.ContainsFunc(rows, func(f followed) bool { return h.State == "waiting" && h.Name+":"+h.Stage == f.waits })
		})
		if r.code != 0 || len(d.Roots) > 0 || late {
			return fmt.Sprintf("exit %d, verdict %s (%s), roots %q, hosts %s, present %s", r.code, d.Verdict.Class, d.Verdict.Reason, d.roots(), d.hosts(), d.present())
		}
		return ""
	})
}
