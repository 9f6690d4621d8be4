package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// controlPlaneRows are the troubles of etcd and of the controller manager.
var controlPlaneRows = []scenario{
	{
		name: "kcm-no-leader",
		// That worker1 is off is true by itself; that no one notices is not.
		roots: []string{"kcm-no-leader cluster/", "node-lease-stale host/worker1"},
		hosts: []string{"worker1:ready:failed", "worker13:client-cert:waiting"},
	},
	{
		name: "controller-manager-certificate-expired", onlyIf: full,
		roots: []string{
			"control-plane-crash-certificates host/control0", "control-plane-crash-certificates host/control1",
			"control-plane-crash-certificates host/control2", "kcm-no-leader cluster/",
		},
	},
	{name: "vip-outside-machine-network", roots: []string{"vip-not-in-machine-network cluster/"}},
	{name: "etcd-member-down", roots: []string{"etcd-member-unhealthy cluster/"}, hosts: []string{"control2:etcd-member:waiting"}},
	{name: "etcd-manifest-moved", roots: []string{"etcd-operand-gone operator/etcd"}, hosts: []string{"control2:etcd-member:waiting"}},
}

// TestQuorumLost: an API server that can read nothing is the diagnosis, and in
// bounded time; nothing of the cluster is said that was not read. There is no
// must-gather of such a cluster.
func TestQuorumLost(t *testing.T) {
	w := up(t, "etcd-quorum-lost", false)
	d := quorumLost(t, w.live("diagnose", "-o", "json"))
	bundle := filepath.Join(t.TempDir(), "bundle")
	if r := w.live("collect", "--to", bundle); r.code != 1 { // nothing but the network path to the API could be read
		t.Fatal(r)
	}
	if again := quorumLost(t, w.rollcall("diagnose", "--from", bundle, "-o", "json")); again.roots() != d.roots() {
		t.Errorf("from the collection roots %q, live %q", again.roots(), d.roots())
	}
}

func quorumLost(t *testing.T, r result) diagnosis {
	t.Helper()
	d := parse(t, r)
	if got := d.roots(); r.code != 2 || !strings.HasPrefix(got, "api-not-ready cluster/ ") || strings.Contains(got, ",") {
		t.Errorf("exit %d, roots %q, want api-not-ready alone", r.code, got)
	}
	if len(d.Hosts) > 0 {
		t.Errorf("hosts are spoken of that nobody could read: %s", d.hosts())
	}
	return d
}
