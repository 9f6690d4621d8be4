package check

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// notControlled is why the baremetal operator does not control the power of a host, "" where it does.
// status.poweredOn is then no measurement: the field is there and false before anything was measured, and
// old in a host that is left alone (metal3-io/baremetal-operator: apis/metal3.io/v1alpha1
// BareMetalHostStatus.PoweredOn without omitempty; internal/controller/metal3.io/host_state_machine.go
// handleNone, checkDetachedHost).
func notControlled(bmh *evidence.Object) string {
	state := evidence.String(bmh.Content, "status", "provisioning", "state")
	bmc, _ := evidence.Field(bmh.Content, "spec", "bmc").(map[string]any)
	address, listed := bmc["address"].(string)
	_, detached := annotation(bmh, metal3.DetachedAnnotation)
	_, paused := annotation(bmh, metal3.PausedAnnotation)
	switch {
	case state == string(metal3.StateUnmanaged), listed && address == "":
		return "unmanaged: it has no BMC"
	case detached:
		return "detached"
	case paused:
		return "paused"
	}
	return ""
}

// power is whether a host is switched on, as its BMC reports it; known is false where nothing measures it.
func power(bmh *evidence.Object) (on, known bool) {
	on, known = evidence.Field(bmh.Content, "status", "poweredOn").(bool)
	return on, known && notControlled(bmh) == ""
}

// poweredOn says whether the BareMetalHost of a node is switched on; the item is empty where none shows it.
func (l *look) poweredOn(ctx context.Context, name string) (bool, evidence.Item, error) {
	list, err := l.some(ctx, evidence.BareMetalHosts, "")
	if err != nil {
		return false, evidence.Item{}, err
	}
	for _, o := range list {
		if o.Name == name || evidence.String(o.Content, "status", "hardware", "hostname") == name {
			on, known := power(o)
			if !known {
				return false, evidence.Item{}, nil
			}
			return on, o.Shows("status.poweredOn", fmt.Sprintf("poweredOn: %t", on), l.d.Now), nil
		}
	}
	return false, evidence.Item{}, nil
}

// working is what shows that a host without a node runs: it has asked for its config, and got none. A stage
// that is passed is no sign: the host can be off since.
func (l *look) working(host string) string {
	for _, h := range l.d.Hosts {
		if h.Name != host || h.Stage != fault.IgnitionFetched || h.State != diagnosis.StageFailed {
			continue
		}
		for _, s := range h.Stages {
			if s.Stage == h.Stage && !s.OfPool {
				return host + " runs, as far as is known: it has asked for its config, and got none"
			}
		}
	}
	return ""
}
