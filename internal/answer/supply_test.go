package answer

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestSupplyWords: every kind has words, with nothing left of their pattern, with all
// parameters and with none.
func TestSupplyWords(t *testing.T) {
	if have, want := len(supplyWords), len(evidence.SupplyKinds()); have != want {
		t.Errorf("%d kinds have words, there are %d", have, want)
	}
	for _, k := range evidence.SupplyKinds() {
		full := evidence.Supply{Kind: k, Verb: "v", Resource: "r", Namespace: "ns", Name: "n", Container: "c", Host: "h", Unit: "u", Path: "p"}
		for _, o := range []Options{{}, {OnMachine: true}} {
			for _, s := range []evidence.Supply{{Kind: k}, full} {
				if words := o.supply(s); words == "" || strings.ContainsAny(words, "{}[]|") {
					t.Errorf("%s: %q", s, words)
				}
			}
		}
	}
}

func TestSupplyExamples(t *testing.T) {
	for _, c := range []struct {
		s    evidence.Supply
		want string
	}{
		{evidence.Supply{}, ""},
		{evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods", Namespace: "a"}, "oc adm inspect -n a pods"},
		{evidence.Supply{Kind: evidence.SupplyInspect, Resource: "nodes"}, "oc adm inspect nodes"},
		{evidence.Supply{Kind: evidence.SupplyInspect, Namespace: "a"}, "oc adm inspect ns/a"},
		{evidence.Supply{Kind: evidence.SupplyGet, Resource: "etcd", Name: "cluster"}, "oc get etcd cluster -o yaml"},
		{evidence.Supply{Kind: evidence.SupplyGet, Resource: "lease", Namespace: evidence.AllNamespaces}, "oc get lease -A -o yaml"},
		{evidence.Supply{Kind: evidence.SupplyNodeLogs, Unit: "kubelet"}, "oc adm node-logs NODE -u kubelet"},
		{evidence.Supply{Kind: evidence.SupplyPodLog, Namespace: "a", Container: "c", Host: "w0"}, "oc logs -n a -c c POD    # the pod on w0"},
		{evidence.Supply{Kind: evidence.SupplyConsole}, "--console HOST=FILE"},
		{evidence.Supply{Kind: evidence.SupplyRole, Verb: "list", Resource: "pods", Namespace: "a"}, "rollcall can-i --role USER > reader.yaml    # your name: oc whoami; an administrator then runs oc apply -f reader.yaml"},
		{evidence.Supply{Kind: evidence.SupplyRole, Verb: "get", Resource: "nodes/proxy"}, "a role that may get nodes/proxy"},
	} {
		if got := (Options{}).supply(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", c.s, got, c.want)
		}
	}
	probe := evidence.Supply{Kind: evidence.SupplyProbe}
	if got, want := (Options{Source: "--from x"}).fetch(probe), "rollcall diagnose --from x --probe"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBeforeCluster: files of an installation that has no cluster yet do not lead to oc.
func TestBeforeCluster(t *testing.T) {
	of := func(kind string, read ...evidence.Resource) *diagnosis.Diagnosis {
		d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: kind}}
		for _, r := range read {
			d.Coverage = append(d.Coverage, evidence.Coverage{Need: r.String(), State: evidence.Read, Count: 1})
		}
		return d
	}
	for name, c := range map[string]struct {
		d    *diagnosis.Diagnosis
		want string
	}{
		"the assisted-service":     {of("text", evidence.AssistedClusters), "agent-gather"},
		"the bootstrap host":       {of("files", evidence.BootstrapServices), "openshift-install gather bootstrap"},
		"a cluster beside it":      {of("files", evidence.BootstrapServices, evidence.Nodes), "oc adm inspect"},
		"a must-gather has an API": {of("must-gather", evidence.BootstrapServices), "oc adm inspect"},
	} {
		r := newText(c.d, Options{Command: "rollcall"})
		if got := r.o.supply(evidence.Supply{Kind: evidence.SupplyInspect, Resource: "nodes"}); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
