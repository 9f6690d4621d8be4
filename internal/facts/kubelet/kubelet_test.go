package kubelet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const (
	journal = "-- append:host_service_logs/masters/kubelet_service.log --\n"
	node    = "-- patch:cluster-scoped-resources/core/nodes/m1.yaml --\n"
	lease   = "-- patch:namespaces/kube-node-lease/coordination.k8s.io/leases/m1.yaml --\n"
)

// known returns the value of a field that must be known.
func known[T any](t *testing.T, f facts.Field[T]) T {
	t.Helper()
	v, err := f.Get()
	if err != nil {
		t.Errorf("unknown: %v", err)
	}
	return v
}

func unknown[T any](f facts.Field[T]) bool { _, err := f.Get(); return err != nil }

func TestNode(t *testing.T) {
	read := func(changes string, without ...evidence.Need) kubelet.Node {
		return factstest.Fields[kubelet.Node](t, factstest.World(t, factstest.Metal, changes, without...), kubelet.NodeFact(), factstest.Host("m1"))
	}
	if n := read(""); !known(t, n.Exists) || !known(t, n.Ready) || !known(t, n.ControlPlane) || known(t, n.LeaseStale) || !known(t, n.LeaseFound) {
		t.Errorf("%+v", n)
	}
	if n := read(node + "spec: {unschedulable: true}\nstatus: {nodeInfo: {kubeletVersion: v1.33.4}}\n"); !known(t, n.Unschedulable) || known(t, n.KubeletVersion) != "v1.33.4" {
		t.Errorf("unschedulable %v, kubelet %v", n.Unschedulable, n.KubeletVersion)
	}
	if n := read(lease + "spec: {renewTime: \"2026-03-01T11:57:00.000000Z\"}\n"); !known(t, n.LeaseStale) {
		t.Errorf("a lease three minutes behind is not stale: %s", n.LeaseBehind)
	}
	if n := read(node + "status: {conditions: [{type: Ready, status: Unknown, reason: NodeStatusUnknown}]}\n"); known(t, n.Ready) || !known(t, n.StoppedPosting) || known(t, n.NetworkNotReady) {
		t.Errorf("%+v", n)
	}
	if n := read(node + "status: {conditions: [{type: Ready, status: \"False\", message: \"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady\"}]}\n"); !known(t, n.NetworkNotReady) || known(t, n.StoppedPosting) {
		t.Errorf("%+v", n)
	}
	if n := read(node + "status: {conditions: null}\n"); !unknown(n.Ready) || !unknown(n.ReadyStatus) || !unknown(n.StoppedPosting) || !known(t, n.Exists) {
		t.Errorf("a condition that is not reported yet: %+v", n)
	}
	if n := read(node + "spec: {taints: [{key: node.cloudprovider.kubernetes.io/uninitialized, value: \"true\", effect: NoSchedule}]}\n"); !known(t, n.WaitsForCloudInit) {
		t.Errorf("taints %v", n.Taints)
	}
	if n := read("-- delete:cluster-scoped-resources/core/nodes/m1.yaml --\n"); known(t, n.Exists) || known(t, n.Ready) {
		t.Errorf("a host without a Node: %+v", n)
	}
	if n := read("", evidence.Objects(evidence.Leases, "kube-node-lease")); !unknown(n.LeaseStale) || !unknown(n.LeaseFound) || !known(t, n.Ready) {
		t.Errorf("without leases: %+v", n)
	}
	if n := read("-- delete:namespaces/kube-node-lease/coordination.k8s.io/leases/m1.yaml --\n"); known(t, n.LeaseFound) || known(t, n.LeaseStale) {
		t.Errorf("without its lease: %+v", n)
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Nodes, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, kubelet.NodeFact(), factstest.Host("m1"))); !ok {
		t.Error("Nodes that could not be read are no Unavailable")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, ""), kubelet.NodeFact(), factstest.Host("nobody")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func line(at, text string) string {
	return "Mar 01 " + at + ".000001 m1 kubenswrapper[3100]: E0301 " + at + ".000001    3100 x.go:1] " + text + "\n"
}

// seen are the fields of an Identity that is known.
type seen struct {
	Anonymous, Expired, NotLoaded, NoBootstrap, Unauthorized, WrongName, Valid int
	LastAnonymous                                                              time.Time
}

// TestForeignNodes: Nodes of which no Machine knows one say nothing of the Nodes that the
// Machines name.
func TestForeignNodes(t *testing.T) {
	machine := func(name string) string {
		return "-- namespaces/openshift-machine-api/machine.openshift.io/machines/c1-" + name + ".yaml --\napiVersion: machine.openshift.io/v1beta1\nkind: Machine\n" +
			"metadata: {name: c1-" + name + ", namespace: openshift-machine-api}\nstatus: {nodeRef: {name: " + name + "}}\n"
	}
	world := func(changes string) *facts.World { return factstest.World(t, factstest.Metal, changes) }
	z1 := factstest.Host("c1-z1")
	if n := factstest.Fields[kubelet.Node](t, world(machine("z1")), kubelet.NodeFact(), z1); known(t, n.Exists) {
		t.Errorf("one Node is gone, the others are known: %+v", n.Exists)
	}
	changes := machine("z1") + machine("z2") + "-- cluster-scoped-resources/core/nodes/x0.yaml --\napiVersion: v1\nkind: Node\nmetadata: {name: x0}\n"
	for _, name := range metalNodes(t) {
		changes += "-- delete:cluster-scoped-resources/core/nodes/" + name + ".yaml --\n"
	}
	if err := factstest.Err(t, world(changes), kubelet.NodeFact(), z1); err == nil || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("no Machine names any of the Nodes: %v, want that they are of another cluster", err)
	}
}

// metalNodes are the names of the Nodes of the base cluster.
func metalNodes(t *testing.T) []string {
	list, err := factstest.World(t, factstest.Metal, "").List(t.Context(), evidence.Nodes, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

func TestIdentity(t *testing.T) {
	const (
		anonymous = `failed to ensure lease exists: leases.coordination.k8s.io "m1" is forbidden: User "system:anonymous" cannot get resource`
		valid     = "Current kubeconfig file contents are still valid, no bootstrap necessary"
	)
	tests := []struct {
		name, lines string
		check       func(seen) bool
	}{
		{"nothing said", "", func(i seen) bool { return i.Anonymous+i.Expired+i.NotLoaded+i.NoBootstrap == 0 }},
		{"anonymous", line("11:50:00", anonymous) + line("11:51:00", anonymous), func(i seen) bool { return i.Anonymous == 2 && i.LastAnonymous.Minute() == 51 }},
		{"anonymous, in quotes", line("11:50:00", `err="User \"system:anonymous\" cannot create"`), func(i seen) bool { return i.Anonymous == 1 }},
		{"well again since", line("11:50:00", anonymous) + line("11:55:00", valid), func(i seen) bool { return i.Anonymous == 0 && i.Valid > 0 }},
		{"it got its certificate since", line("11:50:00", anonymous) + line("11:55:00", "csr.go:262] certificate signing request csr-x6hrr is issued"), func(i seen) bool { return i.Anonymous == 0 && i.Valid > 0 }},
		{"a request that is only approved", line("11:50:00", anonymous) + line("11:55:00", "csr.go:258] certificate signing request csr-x6hrr is approved, waiting to be issued"), func(i seen) bool { return i.Anonymous == 1 }},
		{"ill again since", line("11:50:00", valid) + line("11:55:00", anonymous), func(i seen) bool { return i.Anonymous == 1 }},
		{"expired", line("11:50:00", "The currently active client certificate has expired and the server is responsive, exiting."), func(i seen) bool { return i.Expired == 1 && i.NotLoaded == 0 }},
		{"not loaded", line("11:50:00", "unable to load TLS configuration from existing bootstrap client config read from /var/lib/kubelet/kubeconfig: no such file"), func(i seen) bool { return i.NotLoaded == 1 }},
		{"no bootstrap kubeconfig", line("11:50:00", "failed to run Kubelet: unable to load bootstrap kubeconfig: stat /etc/kubernetes/kubeconfig: no such file or directory"), func(i seen) bool { return i.NoBootstrap == 1 }},
		{"its credential is refused", line("11:50:00", `Failed while requesting a signed certificate from the control plane" err="cannot create certificate signing request: Unauthorized"`), func(i seen) bool { return i.Unauthorized == 1 }},
		{"the way to the API is closed", line("11:50:00", `Failed while requesting a signed certificate from the control plane" err="dial tcp: connection refused"`), func(i seen) bool { return i.Unauthorized == 0 }},
		{"another name", line("11:50:00", "Current certificate CN (system:node:m9) does not match requested CN (system:node:m1)"), func(i seen) bool { return i.WrongName == 1 }},
		{"of another host", strings.ReplaceAll(line("11:50:00", anonymous), " m1 ", " m0 "), func(i seen) bool { return i.Anonymous == 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := ""
			if tt.lines != "" {
				changes = journal + tt.lines
			}
			f := factstest.Fields[kubelet.Identity](t, factstest.World(t, factstest.Metal, changes), kubelet.IdentityFact(), factstest.Host("m1"))
			i := seen{known(t, f.Anonymous), known(t, f.Expired), known(t, f.NotLoaded), known(t, f.NoBootstrap), known(t, f.Unauthorized),
				known(t, f.WrongName), known(t, f.Valid), known(t, f.LastAnonymous)}
			if !tt.check(i) {
				t.Errorf("%+v", i)
			}
		})
	}
}

// TestIdentityUnknown: a journal that is not there says nothing, good or bad.
func TestIdentityUnknown(t *testing.T) {
	query := evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"})
	noConsole := factstest.World(t, factstest.Metal, "-- delete:consoles/m1.log --\n", query)
	if _, ok := evidence.AsUnavailable(factstest.Err(t, noConsole, kubelet.IdentityFact(), factstest.Host("m1"))); !ok {
		t.Error("without journal and console it is no Unavailable")
	}
	i := factstest.Fields[kubelet.Identity](t, factstest.World(t, factstest.Metal, "", query), kubelet.IdentityFact(), factstest.Host("m1"))
	if !unknown(i.Anonymous) || !unknown(i.Expired) {
		t.Errorf("a console proves that nothing was logged: %+v", i)
	}
	other := factstest.World(t, factstest.Metal, "-- delete:consoles/w1.log --\n-- delete:host_service_logs/workers --\n")
	if i := factstest.Fields[kubelet.Identity](t, other, kubelet.IdentityFact(), factstest.Host("w1")); !unknown(i.Anonymous) {
		t.Error("the journals of the masters stand for a worker's")
	}
	// A journal that breaks off has a rest: neither silence nor a failure that it may end is known.
	for name, changes := range map[string]string{"silent": "", "with a failure": journal + line("11:50:00", "currently active client certificate has expired")} {
		w := factstest.Broken(t, factstest.Metal, changes, func(t evidence.Text) bool { return strings.Contains(t.Path, "masters") })
		if i := factstest.Fields[kubelet.Identity](t, w, kubelet.IdentityFact(), factstest.Host("m1")); !unknown(i.Expired) || !unknown(i.Anonymous) || !unknown(i.Last) {
			t.Errorf("%s, broken off: %+v", name, i)
		}
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
		s := factstest.Fields[kubelet.Silence](t, factstest.World(t, factstest.Metal, tt.changes), kubelet.SilenceFact(), factstest.Cluster())
		if known(t, s.All) != tt.all || known(t, s.Silent) != tt.silent || known(t, s.Nodes) != 5 || known(t, s.Asking) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	f := factstest.Fields[kubelet.Silence](t, factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.CSRs, "")), kubelet.SilenceFact(), factstest.Cluster())
	if !unknown(f.Asking) || !unknown(f.First) {
		t.Error("requests could not be read, and nobody is said to ask")
	}
	for _, ns := range []string{"kube-system", "kube-node-lease"} {
		w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Leases, ns))
		if _, ok := evidence.AsUnavailable(factstest.Err(t, w, kubelet.SilenceFact(), factstest.Cluster())); !ok {
			t.Errorf("leases of %s that could not be read are no Unavailable", ns)
		}
	}
}
