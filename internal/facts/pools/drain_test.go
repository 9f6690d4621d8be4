package pools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const controllerLog = "namespaces/openshift-machine-config-operator/pods/machine-config-controller-6d5f8b7c9-fedcb/machine-config-controller/machine-config-controller/logs/current.log"

// TestNodeDrain follows the controller's lines of two nodes that are drained at once.
func TestNodeDrain(t *testing.T) {
	const (
		begin  = "I0301 10:00:01.000001       1 drain_controller.go:192] node w0: initiating drain\n"
		refuse = "E0301 10:00:05.000001       1 drain_controller.go:161] error when evicting pods/\"cart-1\" -n \"shop\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\n"
		fail   = "I0301 10:01:32.000001       1 drain_controller.go:192] node w0: Drain failed. Waiting 1 minute then retrying. Error message from drain: error when evicting pods/\"cart-1\" -n \"shop\": global timeout reached: 1m30s\n"
		late   = "I0301 11:10:32.000001       1 drain_controller.go:192] node w0: Drain failed. Drain has been failing for more than 10 minutes. Waiting 5 minutes then retrying. Error message from drain: [error when waiting for pod \"till-0\" in namespace \"shop\" to terminate: global timeout reached: 1m30s, error when evicting pods/\"cart-1\" -n \"shop\": global timeout reached: 1m30s]\n"
		done   = "I0301 11:20:00.000001       1 drain_controller.go:192] node w0: operation successful; applying completion annotation\n"
	)
	list := pools.Facts()
	drain := list[slices.IndexFunc(list, func(f facts.Fact) bool { return f.Name == "node-drain" })]
	other := strings.NewReplacer("w0", "w1", "cart-1", "cart-9")
	for name, tt := range map[string]struct {
		log              string
		running, budget  bool
		tries            int64
		pods, why, since string
	}{
		"no drain":                       {log: "I0301 10:00:00.000001       1 status.go:114] Pool worker: all is well\n"},
		"begun":                          {log: begin, running: true, since: "10:00:01"},
		"held by a budget":               {log: begin + refuse + fail + begin + refuse + fail, running: true, budget: true, tries: 2, pods: "shop/cart-1", why: "Cannot evict pod as it would violate the pod's disruption budget.", since: "10:00:01"},
		"the last try counts":            {log: begin + refuse + fail + late, running: true, budget: true, tries: 2, pods: "shop/till-0, shop/cart-1", why: "Cannot evict pod as it would violate the pod's disruption budget.", since: "10:00:01"},
		"the log begins later":           {log: refuse + fail, running: true, budget: true, tries: 1, pods: "shop/cart-1", why: "Cannot evict pod as it would violate the pod's disruption budget."},
		"refused, the first try goes on": {log: begin + refuse + refuse, running: true, budget: true, pods: "shop/cart-1", why: "Cannot evict pod as it would violate the pod's disruption budget.", since: "10:00:01"},
		"refused while two are drained":  {log: begin + other.Replace(begin) + refuse, running: true, since: "10:00:01"},
		"done":                           {log: begin + refuse + fail + done},
		"another node's":                 {log: other.Replace(begin + refuse + fail)},
		"another node's beside it":       {log: begin + other.Replace(begin+refuse+fail) + other.Replace(done), running: true, since: "10:00:01"},
	} {
		t.Run(name, func(t *testing.T) {
			w := factstest.World(t, "ocp-4.20-baremetal", "-- append:"+controllerLog+" --\n"+tt.log)
			d := factstest.Fields[pools.NodeDrain](t, w, drain, factstest.Host("w0"))
			since := ""
			if at := d.Since.Value(); !at.IsZero() {
				since = at.Format("15:04:05")
			}
			if d.Running.Value() != tt.running || d.Budget.Value() != tt.budget || d.Tries.Value() != tt.tries || d.Pods.Value() != tt.pods || d.Why.Value() != tt.why || since != tt.since {
				t.Errorf("running %t, budget %t, %d tries, pods %q, why %q, since %s", d.Running.Value(), d.Budget.Value(), d.Tries.Value(), d.Pods.Value(), d.Why.Value(), since)
			}
		})
	}
}
