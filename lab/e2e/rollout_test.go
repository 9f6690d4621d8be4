package e2e

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// drained stands for the node that the controller drains: of nodes that are equally old it
// takes any.
const drained = "DRAINED"

// rollOutRows are the ways in which a change of the machine configs does not get
// through. TestRollOut is about one that does.
var rollOutRows = []scenario{
	{name: "render-degraded", roots: []string{"pool-render-degraded pool/worker"}},
	// A warning: the controller continues trying, and calls it a failure after an hour.
	{
		name: "drain-held-by-budget", roots: []string{"drain-held host/" + drained},
		hosts: []string{"worker0:config-done:waiting", "worker1:config-done:waiting"},
	},
	{
		name: "controller-config-missing", roots: []string{"mcs-controllerconfig-missing cluster/"},
		hosts: []string{"worker22:ignition-fetched:failed"}, consoles: []string{"worker22"},
	},
	{name: "controller-down", roots: []string{"mcc-not-running cluster/"}},
}

// accessRows are about who asks. Nothing is wrong with the cluster.
var accessRows = []scenario{
	{name: "rights-restricted", users: []string{"restricted"}},
	{name: "api-throttled", users: []string{"throttled"}},
}

// theDrained returns the node whose drain was asked for and is not done.
func (w *world) theDrained(t *testing.T) string {
	t.Helper()
	nodes, err := w.client(t).Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		a := n.GetAnnotations()
		const prefix = "machineconfiguration.openshift.io/"
		if want := a[prefix+"desiredDrain"]; strings.HasPrefix(want, "drain-") && want != a[prefix+"lastAppliedDrain"] {
			return n.GetName()
		}
	}
	t.Fatal("no node is being drained")
	return ""
}

// healthier asks as a user from whom the API withholds Machines and BareMetalHosts, and
// lists what the user is told that is better than it may be: a cluster is not healthy
// to them, and no better than what the administrator is told.
func (w *world) healthier(t *testing.T, user string) []violation {
	t.Helper()
	r := w.lab("kubeconfig", user)
	if r.code != 0 {
		t.Fatal(r)
	}
	whole, s := w.live("diagnose", "-o", "json"), &sampler{state: w.state}
	got := s.ask(strings.TrimSpace(r.out))
	var found []violation
	for _, v := range withheldWrong("machines.machine.openshift.io", 403, sample{code: whole.code, d: parse(t, whole)}, got) {
		v.id = user + strings.TrimPrefix(v.id, "machines.machine.openshift.io 403")
		found = append(found, v)
	}
	if got.code == 0 {
		found = append(found, violation{id: user + ": exit 0", of: got})
	}
	for _, h := range got.d.Hosts {
		if strings.Contains(h.Name, "no Machine yet") {
			found = append(found, violation{id: user + ": Machines that were not read are none", of: got})
			break
		}
	}
	return found
}
