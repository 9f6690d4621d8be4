package network_test

import (
	"errors"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/network"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const (
	infra = "-- patch:cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\n"
	co    = "-- patch:cluster-scoped-resources/config.openshift.io/clusteroperators/network.yaml --\n"
	kni   = "namespaces/openshift-kni-infra/pods/"
)

func TestVIPs(t *testing.T) {
	read := func(changes string, without ...evidence.Need) network.VIPs {
		return factstest.Fields[network.VIPs](t, factstest.World(t, factstest.Metal, changes, without...), network.VIPsFact(), factstest.Cluster())
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
		if v := read(spec(tt.vips, tt.networks)); !v.Outside.Equal(facts.Known(tt.outside)) || !v.Checked.Equal(facts.Known(tt.checked)) {
			t.Errorf("%s: outside %v, checked %v", name, v.Outside, v.Checked)
		}
	}
	if _, err := read("", evidence.Objects(evidence.ClusterOperators, "")).Said.Get(); err == nil {
		t.Error("the operator could not be read, and is said to report nothing")
	}
	if _, err := read(co + "status: {conditions: null}\n").Said.Get(); err == nil {
		t.Error("the operator has not reported yet, and is said to report nothing")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.None, ""), network.VIPsFact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
	for name, w := range map[string]*facts.World{
		"unreadable": factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Infrastructures, "")),
		"not there":  factstest.World(t, factstest.Metal, "-- delete:cluster-scoped-resources/config.openshift.io/infrastructures --\n"),
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
		o := factstest.Fields[network.Operator](t, factstest.World(t, factstest.Metal, tt.changes), network.OperatorFact(), factstest.Operator("network"))
		if !o.Level.Equal(facts.Known(tt.level)) || !o.Awaiting.Equal(facts.Known(tt.awaiting)) || !o.Hung.Equal(facts.Known(tt.hung)) || !o.Degraded.Equal(facts.Known(tt.level != "")) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	silent := factstest.Fields[network.Operator](t, factstest.World(t, factstest.Metal, co+"status: {conditions: null}\n"), network.OperatorFact(), factstest.Operator("network"))
	if _, err := silent.Degraded.Get(); err == nil {
		t.Error("an operator that has not reported yet is not degraded")
	}
	if _, err := silent.Available.Get(); err == nil {
		t.Error("an operator that has not reported yet is available")
	}
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, ""), network.OperatorFact(), factstest.Operator("dns")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func TestInfra(t *testing.T) {
	read := func(host, changes string) network.Infra {
		return factstest.Fields[network.Infra](t, factstest.World(t, factstest.Metal, changes), network.InfraFact(), factstest.Host(host))
	}
	if i := read("m0", ""); len(i.Missing.Value())+len(i.NotReady.Value()) > 0 {
		t.Errorf("%+v", i)
	}
	if i := read("m0", "-- delete:"+kni+"haproxy-m0 --\n"); !i.Missing.Equal(facts.Known([]string{"haproxy"})) {
		t.Errorf("missing %v", i.Missing)
	}
	if i := read("w0", ""); len(i.Missing.Value()) > 0 {
		t.Errorf("a worker has no haproxy, and needs none: %v", i.Missing)
	}
	notReady := "-- patch:" + kni + "keepalived-m0/keepalived-m0.yaml --\nstatus: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-03-01T09:00:00Z\"}], containerStatuses: [{name: keepalived, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]}\n"
	if i := read("m0", notReady); !i.NotReady.Equal(facts.Known([]string{"keepalived"})) || i.Waiting.Value() != "keepalived waits: CrashLoopBackOff" || i.Since.Value().Hour() != 9 {
		t.Errorf("%+v", i)
	}
	for name, changes := range map[string]string{
		"a load balancer outside": infra + "status: {platformStatus: {baremetal: {loadBalancer: {type: UserManaged}}}}\n",
		"no VIPs":                 infra + "status: {platformStatus: {type: VSphere, baremetal: null, vsphere: {}}}\n",
		"another platform":        infra + "status: {platformStatus: {type: AWS, baremetal: null}}\n",
		"no Node yet":             "-- delete:cluster-scoped-resources/core/nodes/m0.yaml --\n",
	} {
		if err := factstest.Err(t, factstest.World(t, factstest.Metal, changes), network.InfraFact(), factstest.Host("m0")); !errors.Is(err, facts.ErrNotApplicable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.Pods, "openshift-kni-infra"))
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
		twice, unheld []string
		clash         bool
	}{
		"one":                    {"", nil, nil, false},
		"two":                    {said("m1", "(lark_API_0) Entering MASTER STATE"), []string{"lark_API_0"}, nil, false},
		"it went to another one": {said("m0", "(lark_API_0) Entering BACKUP STATE") + said("m1", "(lark_API_0) Entering MASTER STATE"), nil, nil, false},
		"none":                   {said("m0", "(lark_API_0) Entering FAULT STATE"), nil, []string{"lark_API_0"}, false},
		"another cluster":        {said("m0", "(lark_API_0) received an invalid passwd!"), nil, nil, true},
		"another spelling":       {said("m1", "VRRP_Instance(lark_API_0) Entering MASTER STATE"), []string{"lark_API_0"}, nil, false},
	} {
		h := holders(t, tt.changes)
		if !h.Twice.Equal(facts.Known(tt.twice)) || !h.WithoutMaster.Equal(facts.Known(tt.unheld)) || !h.Clash.Equal(facts.Known(tt.clash)) {
			t.Errorf("%s: twice %v, without a master %v, clash %v", name, h.Twice, h.WithoutMaster, h.Clash)
		}
	}
	log := func(host string) string {
		return kni + "keepalived-" + host + "/keepalived/keepalived/logs/current.log"
	}
	none := ""
	for _, host := range []string{"m0", "m1", "m2", "w0", "w1"} {
		none += "-- " + log(host) + " --\nStarting\n"
	}
	clash := said("m0", "(lark_API_0) received an invalid passwd!")
	two := said("m1", "(lark_API_0) Entering MASTER STATE")
	for name, tt := range map[string]struct {
		changes              string
		twice, unheld, clash bool // known
	}{
		"no state":           {none, false, false, true},
		"one log is missing": {"-- delete:" + log("m2") + " --\n", false, false, false},
		"one log is empty":   {"-- " + log("m2") + " --\n", false, false, false},
		"a log is missing, another cluster is seen":    {clash + "-- delete:" + log("m2") + " --\n", false, false, true},
		"a log is missing, two others have a holder":   {two + "-- delete:" + log("m2") + " --\n", true, false, false},
		"the log of one of two holders is missing":     {two + "-- delete:" + log("m0") + " --\n", false, false, false},
		"the holder's log is missing: no host is left": {"-- delete:" + log("m0") + " --\n", false, false, false},
	} {
		h := holders(t, tt.changes)
		for field, known := range map[*facts.Field[[]string]]bool{&h.Twice: tt.twice, &h.WithoutMaster: tt.unheld} {
			if _, err := field.Get(); (err == nil) != known {
				t.Errorf("%s: %v, want known %t", name, field, known)
			}
		}
		if _, err := h.Clash.Get(); (err == nil) != tt.clash {
			t.Errorf("%s: clash %v, want known %t", name, h.Clash, tt.clash)
		}
	}
	if err := factstest.Err(t, factstest.World(t, factstest.None, ""), network.HoldersFact(), factstest.Cluster()); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}

func holders(t *testing.T, changes string) network.Holders {
	t.Helper()
	return factstest.Fields[network.Holders](t, factstest.World(t, factstest.Metal, changes), network.HoldersFact(), factstest.Cluster())
}

func TestHost(t *testing.T) {
	const pod = "namespaces/openshift-ovn-kubernetes/pods/ovnkube-node-0ovn0"
	read := func(changes string, without ...evidence.Need) network.Host {
		return factstest.Fields[network.Host](t, factstest.World(t, factstest.Metal, changes, without...), network.HostFact(), factstest.Host("m0"))
	}
	logs := "-- append:" + pod + "/ovnkube-controller/ovnkube-controller/logs/current.log --\n2026-03-01T11:30:00.000000000Z F0301 failed to load bootstrap kubeconfig from /var/lib/kubelet/kubeconfig: unable to read client-cert\n"
	down := "-- patch:" + pod + "/ovnkube-node-0ovn0.yaml --\nstatus: {conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-03-01T11:29:00Z\"}]}\n"
	if h := read(""); !h.OVNReady.Value() || !h.MultusReady.Value() || h.Kubeconfig.Value() {
		t.Errorf("%+v", h)
	}
	if h := read(logs); !h.Kubeconfig.Equal(facts.Known(false)) {
		t.Error("what a pod said that is ready now is taken for its trouble")
	}
	if h := read(logs + down); !h.Kubeconfig.Value() || h.OVNReady.Value() || h.SaidSince.Value().Minute() != 30 {
		t.Errorf("%+v", h)
	}
	// Logs are of use only where a pod is not ready.
	unread := []evidence.Need{
		evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-ovn-kubernetes", Container: "ovnkube-controller"}),
		evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-multus", Container: "kube-multus"}),
	}
	if h := read("", unread...); !h.Kubeconfig.Equal(facts.Known(false)) {
		t.Errorf("the logs of pods that are ready are asked for: %v", h.Kubeconfig)
	}
	if _, err := read(down, unread...).Kubeconfig.Get(); err == nil {
		t.Error("the log of a pod that is not ready could not be read, and is said to say nothing")
	}
	if h := read("-- delete:" + pod + " --\n"); !h.OVNPod.Equal(facts.Known("")) || !h.OVNReady.Equal(facts.Known(false)) {
		t.Errorf("%+v", h)
	}
	if _, err := read(down + "-- delete:" + pod + "/ovnkube-controller --\n").Invalid.Get(); err == nil {
		t.Error("a pod that is not ready has no log, and is said to log nothing")
	}
	if _, err := read("", evidence.Objects(evidence.Pods, "openshift-multus")).MultusReady.Get(); err == nil {
		t.Error("pods that could not be read are taken for not there")
	}
	other := "-- patch:cluster-scoped-resources/config.openshift.io/networks/cluster.yaml --\nstatus: {networkType: OpenShiftSDN}\n"
	if err := factstest.Err(t, factstest.World(t, factstest.Metal, other), network.HostFact(), factstest.Host("m0")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}
