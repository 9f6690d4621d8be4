package hosted

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const agentBase = "ocp-4.18-hosted-agent"

func pool() fault.Subject { return fault.Subject{Kind: fault.NodePool, Name: "workers"} }

// TestNotReported: a condition that was never reported says nothing, and one that is
// Unknown neither; one that is normally not there says that all is well.
func TestNotReported(t *testing.T) {
	const prod = "-- patch:namespaces/clusters/hypershift.openshift.io/hostedclusters/prod.yaml --\nstatus: {conditions: "
	for name, c := range map[string]struct {
		changes  string
		etcd     string
		reported bool
	}{
		"as it is":      {"", "", true},
		"nothing yet":   {prod + "[]}\n", "", false},
		"unknown":       {prod + "[{type: EtcdAvailable, status: Unknown, reason: StatusUnknown}]}\n", "", false},
		"unmanaged":     {prod + "[{type: UnmanagedEtcdAvailable, status: \"True\"}]}\n", "", true},
		"not available": {prod + "[{type: EtcdAvailable, status: \"False\", reason: QuorumLost, message: gone}]}\n", "gone", true},
	} {
		f := factstest.Fields[cluster](t, factstest.World(t, agentBase, c.changes), clusterFact(), factstest.Cluster())
		if got, err := f.Etcd.Get(); got != c.etcd || (err == nil) != c.reported {
			t.Errorf("%s: etcd %v", name, f.Etcd)
		}
		if !f.Paused.Equal(facts.Known("")) {
			t.Errorf("%s: paused %v", name, f.Paused)
		}
	}
}

// TestPool: a NodePool says its release and how it replaces its hosts.
func TestPool(t *testing.T) {
	f := factstest.Fields[Pool](t, factstest.World(t, agentBase, ""), poolFact(), pool())
	if f.Version.Value() != "4.18.21" || f.UpgradeType.Value() != "InPlace" {
		t.Errorf("version %v, upgrade type %v", f.Version, f.UpgradeType)
	}
}

// TestLogUnread: the log of an ignition server that is listed and has no log, or one
// that breaks off, says nothing of what it does not show.
func TestLogUnread(t *testing.T) {
	const log = "namespaces/clusters-prod/core/pods/logs/ignition-server-7d9c8b6f5-k4x2p-ignition-server.log"
	whole := factstest.Fields[Log](t, factstest.World(t, agentBase, ""), logFact(), factstest.Cluster())
	if !whole.Unknown.Equal(facts.Known(0)) {
		t.Errorf("requests with an unknown token: %v", whole.Unknown)
	}
	for name, changes := range map[string]string{"gone": "-- delete:" + log + " --\n", "empty": "-- " + log + " --\n"} {
		v := factstest.World(t, agentBase, changes).Compute(t.Context(), logFact(), factstest.Cluster())
		if v.Why("unknown") == nil || v.Why("payload") == nil {
			t.Errorf("%s: its requests are known to be none", name)
		}
	}
}

// TestSecretsUnread: without the Secrets nothing is known of tokens, and an endpoint
// that was obfuscated is not compared.
func TestSecretsUnread(t *testing.T) {
	need := evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	w := factstest.World(t, agentBase, "", need)
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, tokenFact(), pool())); !ok {
		t.Error("the token is known without Secrets")
	}
	w = factstest.World(t, agentBase, "-- patch:namespaces/clusters/hypershift.openshift.io/hostedclusters/prod.yaml --\nstatus: {ignitionEndpoint: ignition.domain0000000001}\n")
	if f := factstest.Fields[token](t, w, tokenFact(), pool()); f.WrongSource.Equal(facts.Known(true)) {
		t.Errorf("wrong source: %v", f.WrongSource)
	}
	if f := factstest.Fields[cert](t, w, certFact(), factstest.Cluster()); f.Covers.Equal(facts.Known(false)) {
		t.Errorf("covers: %v", f.Covers)
	}
}
