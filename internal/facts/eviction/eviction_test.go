package eviction

import (
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func object(t *testing.T, text string) *evidence.Object {
	t.Helper()
	o := &evidence.Object{}
	if err := yaml.Unmarshal([]byte(text), &o.Content); err != nil {
		t.Fatal(err)
	}
	o.Namespace, o.Name = evidence.String(o.Content, "metadata", "namespace"), evidence.String(o.Content, "metadata", "name")
	return o
}

const pod = `{metadata: {name: p, namespace: n, labels: {app: db, tier: back}}, spec: {nodeName: w0}, status: {phase: Running}}`

// TestCovers: each cell was judged by hand, after the API server's getPodDisruptionBudgets.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		name, namespace, spec, status string
		covers, known                 bool
	}{
		{"a label", "n", "{selector: {matchLabels: {app: db}}}", "{}", true, true},
		{"another value", "n", "{selector: {matchLabels: {app: web}}}", "{}", false, true},
		{"another namespace", "m", "{selector: {matchLabels: {app: db}}}", "{}", false, true},
		{"In", "n", "{selector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}}", "{}", true, true},
		{"NotIn", "n", "{selector: {matchExpressions: [{key: app, operator: NotIn, values: [db]}]}}", "{}", false, true},
		{"NotIn of a label that is not there", "n", "{selector: {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}}", "{}", true, true},
		{"Exists", "n", "{selector: {matchExpressions: [{key: zone, operator: Exists}]}}", "{}", false, true},
		{"DoesNotExist", "n", "{selector: {matchExpressions: [{key: zone, operator: DoesNotExist}]}}", "{}", true, true},
		{"a label and an expression that excludes", "n",
			"{selector: {matchLabels: {app: db}, matchExpressions: [{key: tier, operator: NotIn, values: [back]}]}}", "{}", false, true},
		{"no selector covers nothing", "n", "{minAvailable: 1}", "{}", false, true},
		{"an empty one covers all where pods are counted", "n", "{selector: {}}", "{expectedPods: 2}", true, true},
		{"an empty one of v1beta1 covers none", "n", "{selector: {}}", "{expectedPods: 0}", false, true},
		{"an operator of another form", "n", "{selector: {matchExpressions: [{key: app, operator: Like, values: [d]}]}}", "{}", false, false},
		{"In without values", "n", "{selector: {matchExpressions: [{key: app, operator: In}]}}", "{}", false, false},
		{"labels of another form", "n", "{selector: {matchLabels: [app]}}", "{}", false, false},
		{"a value of another form", "n", "{selector: {matchLabels: {app: 1}}}", "{}", false, false},
		{"expressions of another form", "n", "{selector: {matchExpressions: app}}", "{}", false, false},
		{"values of another form", "n", "{selector: {matchExpressions: [{key: app, operator: In, values: [1]}]}}", "{}", false, false},
		{"a selector of another form", "n", "{selector: app=db}", "{}", false, false},
		{"no spec", "n", "null", "{}", false, false},
	} {
		b := Read(object(t, "{metadata: {name: b, namespace: "+c.namespace+"}, spec: "+c.spec+", status: "+c.status+"}"))
		if covers, known := b.Covers(object(t, pod)); covers != c.covers || known != c.known {
			t.Errorf("%s: covers %t, known %t", c.name, covers, known)
		}
	}
}

// TestFrees: the policy for pods that are not Ready, judged by hand after Create in eviction.go.
func TestFrees(t *testing.T) {
	const met, notMet, zero = "{currentHealthy: 2, desiredHealthy: 2}", "{currentHealthy: 1, desiredHealthy: 2}", "{currentHealthy: 0, desiredHealthy: 0}"
	for _, c := range []struct {
		policy, status, ready string
		frees                 bool
	}{
		{"AlwaysAllow", met, "True", false}, {"AlwaysAllow", notMet, "True", false}, {"AlwaysAllow", zero, "True", false},
		{"AlwaysAllow", met, "False", true}, {"AlwaysAllow", notMet, "False", true}, {"AlwaysAllow", zero, "Unknown", true},
		{"IfHealthyBudget", met, "True", false}, {"IfHealthyBudget", notMet, "True", false},
		{"IfHealthyBudget", met, "False", true}, {"IfHealthyBudget", notMet, "False", false}, {"IfHealthyBudget", zero, "False", false},
		{"null", met, "True", false}, {"null", met, "False", true}, {"null", notMet, "False", false}, {"null", zero, "Unknown", false},
	} {
		b := Read(object(t, "{metadata: {name: b, namespace: n}, spec: {unhealthyPodEvictionPolicy: "+c.policy+"}, status: "+c.status+"}"))
		p := object(t, "{status: {conditions: [{type: Ready, status: \""+c.ready+"\"}]}}")
		if b.Frees(p) != c.frees {
			t.Errorf("%s, %s, Ready=%s: frees %t", c.policy, c.status, c.ready, !c.frees)
		}
	}
}

// TestKnown: a status that is not whole, or of an older generation, shows nothing.
func TestKnown(t *testing.T) {
	for status, known := range map[string]bool{
		"{observedGeneration: 2, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}": true,
		"{observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}": false,
		"{observedGeneration: 2, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}":                        false,
		"{}": false, "null": false,
	} {
		if b := Read(object(t, "{metadata: {name: b, generation: 2}, spec: {}, status: "+status+"}")); b.Known != known {
			t.Errorf("%s: known %t", status, b.Known)
		}
	}
}

// TestAsks: of which pods a drain asks the budgets, and which nothing creates again.
func TestAsks(t *testing.T) {
	const rs, ds = "ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]", "ownerReferences: [{kind: DaemonSet, name: d, controller: true}]"
	for _, c := range []struct {
		name, meta, spec, status string
		asks, bare               bool
	}{
		{"of a ReplicaSet", rs, "{nodeName: w0}", "{phase: Running}", true, false},
		{"of a DaemonSet", ds, "{nodeName: w0}", "{phase: Running}", false, false},
		{"owned by a DaemonSet that does not control it", "ownerReferences: [{kind: DaemonSet, name: d}]", "{nodeName: w0}", "{phase: Running}", true, true},
		{"a mirror", "annotations: {kubernetes.io/config.mirror: x}", "{nodeName: w0}", "{phase: Running}", false, false},
		{"alone", "name: p", "{nodeName: w0}", "{phase: Running}", true, true},
		{"alone and done", "name: p", "{nodeName: w0}", "{phase: Succeeded}", false, false},
		{"failed", rs, "{nodeName: w0}", "{phase: Failed}", false, false},
		{"pending", rs, "{nodeName: w0}", "{phase: Pending}", false, false},
		{"going", rs + `, deletionTimestamp: "2026-03-01T08:20:00Z"`, "{nodeName: w0}", "{phase: Running}", false, false},
		{"on no node", rs, "{}", "{phase: Running}", false, false},
	} {
		p := object(t, "{metadata: {"+c.meta+"}, spec: "+c.spec+", status: "+c.status+"}")
		if Asks(p) != c.asks || Bare(p) != c.bare {
			t.Errorf("%s: asks %t, bare %t", c.name, Asks(p), Bare(p))
		}
	}
}

// TestMatches: the selector of another kind.
func TestMatches(t *testing.T) {
	p := object(t, pod)
	if match, known := Matches(map[string]any{"matchLabels": map[string]any{"app": "db"}}, p); !match || !known {
		t.Error(match, known)
	}
	if match, known := Matches(map[string]any{"matchLabels": "app"}, p); match || known {
		t.Error(match, known)
	}
}
