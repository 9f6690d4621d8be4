package network_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/network"
)

const (
	infra = "-- patch:cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\n"
	co    = "-- patch:cluster-scoped-resources/config.openshift.io/clusteroperators/network.yaml --\n"
	kni   = "namespaces/openshift-kni-infra/pods/"
)

func TestVIPs(t *testing.T) {
	read := func(changes string, without ...evidence.Need) (network.VIPs, facts.Proof) {
		return factstest.Read[network.VIPs](t, factstest.World(t, factstest.Metal, changes, nil, without...), network.VIPsFact(), factstest.Cluster())
	}
	spec := func(vips, networks string) string {
		return infra + "spec: {platformSpec: {baremetal: {apiServerInternalIPs: " + vips + ", ingressIPs: [], machineNetworks: " + networks + "}}}\n"
	}
	for name, tt := range map[string]struct {
		vips, networks string
		outside        []string
		checked        bool
	}{
		"inside":                    {"[192.0.2.5]", "[192.0.2.0/24]", nil, true},
		"outside":                   {"[192.0.2.5]", "[198.51.100.0/24]", []string{"192.0.2.5"}, true},
		"inside the second one":     {"[192.0.2.5]", "[198.51.100.0/24, 192.0.2.0/24]", nil, true},
		"two families":              {"[192.0.2.5, \"2001:db8::5\"]", "[192.0.2.0/24, \"2001:db8::/64\"]", nil, true},
		"the second family outside": {"[192.0.2.5, \"2001:db8:1::5\"]", "[192.0.2.0/24, \"2001:db8::/64\"]", []string{"2001:db8:1::5"}, true},
		"no networks to compare":    {"[192.0.2.5]", "[]", nil, false},
		"no address":                {"[]", "[192.0.2.0/24]", nil, false},
		"an address that is none":   {"[vip]", "[192.0.2.0/24]", nil, true},
		"a network that is none":    {"[192.0.2.5]", "[everything]", nil, true},
		"a network with host bits":  {"[192.0.2.5]", "[192.0.2.77/24]", nil, true},
		"mapped addresses are one":  {"[\"::ffff:192.0.2.5\"]", "[192.0.2.0/24]", nil, true},
	} {
		if v, _ := read(spec(tt.vips, tt.networks)); !slices.Equal(v.Outside, tt.outside) || v.Checked != tt.checked {
			t.Errorf("%s: outside %v, checked %t", name, v.Outside, v.Checked)
		}
	}
	if _, p := read("", evidence.Objects(evidence.ClusterOperators, "")); p.Unknown["said"] == "" {
		t.Error("the operator could not be read, and is said to say nothing")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.None, "", nil), network.VIPsFact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
	for name, w := range map[string]*facts.World{
		"unreadable": factstest.World(t, factstest.Metal, "", nil, evidence.Objects(evidence.Infrastructures, "")),
		"not there":  factstest.World(t, factstest.Metal, "-- delete:cluster-scoped-resources/config.openshift.io/infrastructures --\n", nil),
	} {
		if _, ok := evidence.AsUnavailable(factstest.Err(t, w, network.VIPsFact(), factstest.Cluster())); !ok {
			t.Errorf("an Infrastructure that is %s is no Unavailable", name)
		}
	}
}

func TestOperator(t *testing.T) {
	degraded := func(reason, message string) string {
		return co + "status: {conditions: [{type: Available, status: \"True\"}, {type: Degraded, status: \"True\", reason: " + reason + ", message: '" + message + "', lastTransitionTime: \"2026-03-01T09:00:00Z\"}]}\n"
	}
	for name, tt := range map[string]struct {
		changes, level string
		awaiting       int
		hung           []string
	}{
		"well":           {"", "", 0, nil},
		"infrastructure": {degraded("SyncInfrastructureSpecAndStatus", "VIP"), "infrastructure", 0, nil},
		"rollout": {degraded("RolloutHung", `DaemonSet "/openshift-multus/multus" rollout is not making progress - last change 2026-03-01T08:00:00Z`), "rollout", 0,
			[]string{"openshift-multus/multus"}},
		"awaiting": {degraded("PodDeployment", `DaemonSet "/openshift-ovn-kubernetes/ovnkube-node" is not available (awaiting 2 nodes)`), "pods", 2, nil},
		"unheard":  {degraded("SomethingNew", "x"), "other", 0, nil},
	} {
		o, _ := factstest.Read[network.Operator](t, factstest.World(t, factstest.Metal, tt.changes, nil), network.OperatorFact(), factstest.Operator("network"))
		if o.Level != tt.level || o.Awaiting != tt.awaiting || !slices.Equal(o.Hung, tt.hung) || o.Degraded != (tt.level != "") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, "", nil), network.OperatorFact(), factstest.Operator("dns")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func TestInfra(t *testing.T) {
	read := func(host, changes string) network.Infra {
		i, _ := factstest.Read[network.Infra](t, factstest.World(t, factstest.Metal, changes, nil), network.InfraFact(), factstest.Host(host))
		return i
	}
	if i := read("m0", ""); len(i.Missing)+len(i.NotReady) > 0 {
		t.Errorf("%+v", i)
	}
	if i := read("m0", "-- delete:"+kni+"haproxy-m0 --\n"); !slices.Equal(i.Missing, []string{"haproxy"}) {
		t.Errorf("missing %v", i.Missing)
	}
	if i := read("w0", ""); len(i.Missing) > 0 {
		t.Errorf("a worker has no haproxy, and needs none: %v", i.Missing)
	}
	notReady := "-- patch:" + kni + "keepalived-m0/keepalived-m0.yaml --\nstatus: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-03-01T09:00:00Z\"}], containerStatuses: [{name: keepalived, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]}\n"
	if i := read("m0", notReady); !slices.Equal(i.NotReady, []string{"keepalived"}) || i.Waiting != "keepalived waits: CrashLoopBackOff" || i.Since.Hour() != 9 {
		t.Errorf("%+v", i)
	}
	for name, changes := range map[string]string{
		"a load balancer outside": infra + "status: {platformStatus: {baremetal: {loadBalancer: {type: UserManaged}}}}\n",
		"no virtual addresses":    infra + "status: {platformStatus: {type: VSphere, baremetal: null, vsphere: {}}}\n",
		"another platform":        infra + "status: {platformStatus: {type: AWS, baremetal: null}}\n",
		"no Node yet":             "-- delete:cluster-scoped-resources/core/nodes/m0.yaml --\n",
	} {
		if err := factstest.Err(t, factstest.World(t, factstest.Metal, changes, nil), network.InfraFact(), factstest.Host("m0")); !errors.Is(err, facts.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := factstest.World(t, factstest.Metal, "", nil, evidence.Objects(evidence.Pods, "openshift-kni-infra"))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, network.InfraFact(), factstest.Host("m0"))); !ok {
		t.Error("pods that could not be read are no Unavailable")
	}
}

func TestHolders(t *testing.T) {
	said := func(host, text string) string {
		return "-- append:" + kni + "keepalived-" + host + "/keepalived/keepalived/logs/current.log --\n2026-03-01T11:30:00.000000000Z " + text + "\n"
	}
	for name, tt := range map[string]struct {
		changes       string
		twice, nobody []string
		clash         bool
	}{
		"one":                    {"", nil, nil, false},
		"two":                    {said("m1", "(lark_API_0) Entering MASTER STATE"), []string{"lark_API_0"}, nil, false},
		"it went to another one": {said("m0", "(lark_API_0) Entering BACKUP STATE") + said("m1", "(lark_API_0) Entering MASTER STATE"), nil, nil, false},
		"none":                   {said("m0", "(lark_API_0) Entering FAULT STATE"), nil, []string{"lark_API_0"}, false},
		"another cluster":        {said("m0", "(lark_API_0) received an invalid passwd!"), nil, nil, true},
		"another spelling":       {said("m1", "VRRP_Instance(lark_API_0) Entering MASTER STATE"), []string{"lark_API_0"}, nil, false},
	} {
		h, p := factstest.Read[network.Holders](t, factstest.World(t, factstest.Metal, tt.changes, network.Signatures()), network.HoldersFact(), factstest.Cluster())
		if !slices.Equal(h.Twice, tt.twice) || !slices.Equal(h.Nobody, tt.nobody) || h.Clash != tt.clash || len(p.Unknown) > 0 {
			t.Errorf("%s: %+v, unknown %v", name, h, p.Unknown)
		}
	}
	silent := "-- " + kni + "keepalived-m0/keepalived/keepalived/logs/current.log --\nStarting\n-- " + kni + "keepalived-m1/keepalived/keepalived/logs/current.log --\nStarting\n-- " + kni + "keepalived-m2/keepalived/keepalived/logs/current.log --\nStarting\n"
	if _, p := factstest.Read[network.Holders](t, factstest.World(t, factstest.Metal, silent, network.Signatures()), network.HoldersFact(), factstest.Cluster()); p.Unknown["twice"] == "" || p.Unknown["nobody"] == "" {
		t.Errorf("logs that were cut tell nothing: %v", p.Unknown)
	}
	if err := factstest.Err(t, factstest.World(t, factstest.None, "", network.Signatures()), network.HoldersFact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func TestHost(t *testing.T) {
	const pod = "namespaces/openshift-ovn-kubernetes/pods/ovnkube-node-0ovn0"
	read := func(changes string, without ...evidence.Need) (network.Host, facts.Proof) {
		return factstest.Read[network.Host](t, factstest.World(t, factstest.Metal, changes, network.Signatures(), without...), network.HostFact(), factstest.Host("m0"))
	}
	logs := "-- append:" + pod + "/ovnkube-controller/ovnkube-controller/logs/current.log --\n2026-03-01T11:30:00.000000000Z F0301 failed to load bootstrap kubeconfig from /var/lib/kubelet/kubeconfig: unable to read client-cert\n"
	down := "-- patch:" + pod + "/ovnkube-node-0ovn0.yaml --\nstatus: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-03-01T11:29:00Z\"}]}\n"
	if h, _ := read(""); !h.OVNReady || !h.MultusReady || h.Kubeconfig {
		t.Errorf("%+v", h)
	}
	if h, _ := read(logs); h.Kubeconfig {
		t.Error("what a pod said that is ready now is taken for its trouble")
	}
	if h, _ := read(logs + down); !h.Kubeconfig || h.OVNReady || h.SaidSince.Minute() != 30 {
		t.Errorf("%+v", h)
	}
	// Logs are of use only where a pod is not ready.
	unread := []evidence.Need{
		evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-ovn-kubernetes", Container: "ovnkube-controller"}),
		evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-multus", Container: "kube-multus"}),
	}
	if h, p := read("", unread...); h.Kubeconfig || p.Unknown["kubeconfig"] != "" {
		t.Errorf("the logs of pods that are ready are asked for: %v", p.Unknown)
	}
	if _, p := read(down, unread...); p.Unknown["kubeconfig"] == "" {
		t.Error("the log of a pod that is not ready could not be read, and is said to say nothing")
	}
	if h, _ := read("-- delete:" + pod + " --\n"); h.OVNPod != "" || h.OVNReady {
		t.Errorf("%+v", h)
	}
	if _, p := read("", evidence.Objects(evidence.Pods, "openshift-multus")); p.Unknown["multusReady"] == "" {
		t.Error("pods that could not be read are taken for not there")
	}
	other := "-- patch:cluster-scoped-resources/config.openshift.io/networks/cluster.yaml --\nstatus: {networkType: OpenShiftSDN}\n"
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, other, network.Signatures()), network.HostFact(), factstest.Host("m0")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}
