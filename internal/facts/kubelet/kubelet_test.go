package kubelet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
)

const (
	journal = "-- append:host_service_logs/masters/kubelet_service.log --\n"
	node    = "-- patch:cluster-scoped-resources/core/nodes/m1.yaml --\n"
	lease   = "-- patch:namespaces/kube-node-lease/coordination.k8s.io/leases/m1.yaml --\n"
)

func TestNode(t *testing.T) {
	read := func(changes string, without ...evidence.Need) (kubelet.Node, facts.Proof) {
		return factstest.Read[kubelet.Node](t, factstest.World(t, factstest.Metal, changes, nil, without...), kubelet.NodeFact(), factstest.Host("m1"))
	}
	if n, _ := read(""); !n.Exists || !n.Ready || !n.ControlPlane || n.LeaseStale || !n.LeaseFound {
		t.Errorf("%+v", n)
	}
	if n, _ := read(lease + "spec: {renewTime: \"2026-03-01T11:57:00.000000Z\"}\n"); !n.LeaseStale {
		t.Errorf("a lease three minutes behind is not stale: %s", n.LeaseBehind)
	}
	if n, _ := read(node + "status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown}]}\n"); n.Ready || !n.StoppedPosting || n.NetworkNotReady {
		t.Errorf("%+v", n)
	}
	if n, _ := read(node + "status: {conditions: [{type: Ready, status: \"False\", message: \"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady\"}]}\n"); !n.NetworkNotReady || n.StoppedPosting {
		t.Errorf("%+v", n)
	}
	if n, _ := read(node + "status: {conditions: null}\n"); n.Ready || n.ReadyStatus != "" {
		t.Errorf("without a condition: %+v", n)
	}
	if n, _ := read(node + "spec: {taints: [{key: node.cloudprovider.kubernetes.io/uninitialized, value: \"true\", effect: NoSchedule}]}\n"); !n.WaitsForCloudInit {
		t.Errorf("taints %v", n.Taints)
	}
	if n, _ := read("-- delete:cluster-scoped-resources/core/nodes/m1.yaml --\n"); n.Exists || n.Ready {
		t.Errorf("a host without a Node: %+v", n)
	}
	if n, p := read("", evidence.Objects(evidence.Leases, "kube-node-lease")); p.Unknown["leaseStale"] == "" || !n.Ready {
		t.Errorf("without leases: %+v, unknown %v", n, p.Unknown)
	}
	if n, _ := read("-- delete:namespaces/kube-node-lease/coordination.k8s.io/leases/m1.yaml --\n"); n.LeaseFound || n.LeaseStale {
		t.Errorf("without its lease: %+v", n)
	}
	w := factstest.World(t, factstest.Metal, "", nil, evidence.Objects(evidence.Nodes, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, kubelet.NodeFact(), factstest.Host("m1"))); !ok {
		t.Error("Nodes that could not be read are no Unavailable")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, "", nil), kubelet.NodeFact(), factstest.Host("nobody")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func line(at, text string) string {
	return "Mar 01 " + at + ".000001 m1 kubenswrapper[3100]: E0301 " + at + ".000001    3100 x.go:1] " + text + "\n"
}

func TestIdentity(t *testing.T) {
	const (
		anonymous = `failed to ensure lease exists: leases.coordination.k8s.io "m1" is forbidden: User "system:anonymous" cannot get resource`
		valid     = "Current kubeconfig file contents are still valid, no bootstrap necessary"
	)
	tests := []struct {
		name, lines string
		check       func(kubelet.Identity) bool
	}{
		{"nothing said", "", func(i kubelet.Identity) bool { return i.Anonymous+i.Expired+i.NotLoaded+i.NoBootstrap == 0 }},
		{"anonymous", line("11:50:00", anonymous) + line("11:51:00", anonymous), func(i kubelet.Identity) bool { return i.Anonymous == 2 && i.LastAnonymous.Minute() == 51 }},
		{"anonymous, in quotes", line("11:50:00", `err="User \"system:anonymous\" cannot create"`), func(i kubelet.Identity) bool { return i.Anonymous == 1 }},
		{"well again since", line("11:50:00", anonymous) + line("11:55:00", valid), func(i kubelet.Identity) bool { return i.Anonymous == 0 && i.Valid > 0 }},
		{"ill again since", line("11:50:00", valid) + line("11:55:00", anonymous), func(i kubelet.Identity) bool { return i.Anonymous == 1 }},
		{"expired", line("11:50:00", "The currently active client certificate has expired and the server is responsive, exiting."), func(i kubelet.Identity) bool { return i.Expired == 1 && i.NotLoaded == 0 }},
		{"not loaded", line("11:50:00", "unable to load TLS configuration from existing bootstrap client config read from /var/lib/kubelet/kubeconfig: no such file"), func(i kubelet.Identity) bool { return i.NotLoaded == 1 }},
		{"no bootstrap kubeconfig", line("11:50:00", "failed to run Kubelet: unable to load bootstrap kubeconfig: stat /etc/kubernetes/kubeconfig: no such file or directory"), func(i kubelet.Identity) bool { return i.NoBootstrap == 1 }},
		{"its credential is refused", line("11:50:00", `Failed while requesting a signed certificate from the control plane" err="cannot create certificate signing request: Unauthorized"`), func(i kubelet.Identity) bool { return i.Unauthorized == 1 }},
		{"the way to the API is closed", line("11:50:00", `Failed while requesting a signed certificate from the control plane" err="dial tcp: connection refused"`), func(i kubelet.Identity) bool { return i.Unauthorized == 0 }},
		{"another name", line("11:50:00", "Current certificate CN (system:node:m9) does not match requested CN (system:node:m1)"), func(i kubelet.Identity) bool { return i.WrongName == 1 }},
		{"of another host", strings.ReplaceAll(line("11:50:00", anonymous), " m1 ", " m0 "), func(i kubelet.Identity) bool { return i.Anonymous == 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := ""
			if tt.lines != "" {
				changes = journal + tt.lines
			}
			i, p := factstest.Read[kubelet.Identity](t, factstest.World(t, factstest.Metal, changes, kubelet.Signatures()), kubelet.IdentityFact(), factstest.Host("m1"))
			if !tt.check(i) {
				t.Errorf("%+v, unknown %v", i, p.Unknown)
			}
		})
	}
}

// TestIdentityUnknown: a journal that is not there says nothing, good or bad.
func TestIdentityUnknown(t *testing.T) {
	sigs := append(kubelet.Signatures(), hosts.Signatures()...)
	query := evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"})
	noConsole := factstest.World(t, factstest.Metal, "-- delete:consoles/m1.log --\n", sigs, query)
	if _, ok := evidence.AsUnavailable(factstest.Err(t, noConsole, kubelet.IdentityFact(), factstest.Host("m1"))); !ok {
		t.Error("without journal and console it is no Unavailable")
	}
	i, p := factstest.Read[kubelet.Identity](t, factstest.World(t, factstest.Metal, "", sigs, query), kubelet.IdentityFact(), factstest.Host("m1"))
	if p.Unknown["anonymous"] == "" || p.Unknown["expired"] == "" {
		t.Errorf("a console proves that nothing was said: %+v, unknown %v", i, p.Unknown)
	}
	other := factstest.World(t, factstest.Metal, "-- delete:consoles/w1.log --\n-- delete:host_service_logs/workers --\n", sigs)
	_, p = factstest.Read[kubelet.Identity](t, other, kubelet.IdentityFact(), factstest.Host("w1"))
	if p.Unknown["anonymous"] == "" {
		t.Error("the journals of the masters stand for a worker's")
	}
}

func TestSilence(t *testing.T) {
	leases := func(times ...string) string {
		var b strings.Builder
		for i, at := range times {
			fmt.Fprintf(&b, "-- patch:namespaces/kube-node-lease/coordination.k8s.io/leases/%s.yaml --\nspec: {renewTime: %q}\n", []string{"m0", "m1", "m2", "w0", "w1"}[i], at+".000000Z")
		}
		return b.String()
	}
	const a, b, c = "2026-02-01T09:00:00", "2026-02-01T09:05:00", "2026-02-01T12:00:00"
	for name, tt := range map[string]struct {
		changes string
		all     bool
		silent  int
	}{
		"none":                   {"", false, 0},
		"all at once":            {leases(a, b, a, b, a), true, 5},
		"all, hours apart":       {leases(a, b, a, b, c), false, 5},
		"all but one":            {leases(a, b, a, b), false, 4},
		"one":                    {leases(a), false, 1},
		"read a quarter earlier": {leases("2026-03-01T11:50:00", "2026-03-01T11:50:00", "2026-03-01T11:50:00", "2026-03-01T11:50:00", "2026-03-01T11:50:00"), false, 0},
	} {
		s, _ := factstest.Read[kubelet.Silence](t, factstest.World(t, factstest.Metal, tt.changes, nil), kubelet.SilenceFact(), factstest.Cluster())
		if s.All != tt.all || s.Silent != tt.silent || s.Nodes != 5 || s.Asking != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	_, p := factstest.Read[kubelet.Silence](t, factstest.World(t, factstest.Metal, "", nil, evidence.Objects(evidence.CSRs, "")), kubelet.SilenceFact(), factstest.Cluster())
	if p.Unknown["asking"] == "" {
		t.Error("requests could not be read, and nobody is said to ask")
	}
	for _, ns := range []string{"kube-system", "kube-node-lease"} {
		w := factstest.World(t, factstest.Metal, "", nil, evidence.Objects(evidence.Leases, ns))
		if _, ok := evidence.AsUnavailable(factstest.Err(t, w, kubelet.SilenceFact(), factstest.Cluster())); !ok {
			t.Errorf("leases of %s that could not be read are no Unavailable", ns)
		}
	}
}
