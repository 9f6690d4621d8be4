package csr

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// DefaultWindow is for how long a host is expected after it was provisioned: that of the
// machine approver (csrs.machineWindow).
const DefaultWindow = 2 * time.Hour

// InWindow returns what objects of the cluster declare (inventory.DeclaredObjects), each host
// with the window in which it may ask for its first certificate: from the latest step
// that an object records before the host boots, for as long as window.
func InWindow(declared []inventory.Host, window time.Duration) []Expectation {
	all := Expected(declared, provisioned)
	for i := range all {
		if !all[i].NotBefore.IsZero() {
			all[i].NotAfter = all[i].NotBefore.Add(window)
		}
	}
	return all
}

// provisioned is when the host was last given what it boots with: its BareMetalHost was
// provisioned (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1 OperationHistory),
// its Agent had its disk written (openshift/assisted-service:api/v1beta1/agent_types.go
// HostProgressInfo), or its Machine was created, which is what the machine approver uses.
func provisioned(h inventory.Host) (time.Time, string) {
	type step struct {
		at  time.Time
		how string
	}
	var steps []step
	if h.Machine != nil {
		steps = append(steps, step{h.Machine.API.CreationTimestamp.UTC(), "its Machine was created at "})
	}
	if h.Hosted != nil {
		steps = append(steps, step{h.Hosted.Created.UTC(), "its Machine was created at "})
	}
	if why := notInstalled(h); why != "" {
		return time.Time{}, why
	}
	if h.BMH != nil && h.BMH.API.Status.OperationHistory.Provision.Start.Year() <= 1 {
		return time.Time{}, "its BareMetalHost does not record when metal3 began to write its disk"
	}
	if h.BMH != nil {
		steps = append(steps, step{h.BMH.API.Status.OperationHistory.Provision.Start.UTC(), "its BareMetalHost was provisioned from "})
	}
	if h.Assisted != nil && h.Assisted.API.Past(assisted.StageWriting) {
		steps = append(steps, step{h.Assisted.API.StageAt.UTC(), "its Agent is past writing the disk since "})
	}
	steps = slices.DeleteFunc(steps, func(s step) bool { return s.at.Year() <= 1 })
	if len(steps) == 0 {
		return time.Time{}, "no object has a time at which it was provisioned"
	}
	last := slices.MaxFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	return last.at, last.how + stamp(last.at)
}

// notInstalled is why a host boots nothing that was written to it, "" where it may.
func notInstalled(h inventory.Host) string {
	if h.Machine != nil {
		switch host := h.Machine.API.Annotations[openshift.HostOnMachineAnnotation]; {
		case host == "":
		case h.BMH == nil:
			return "its Machine names BareMetalHost " + host + ", and none of that name was read, so no host is known to boot for it"
		case host != h.BMH.API.Namespace+"/"+h.BMH.API.Name:
			return "its Machine names BareMetalHost " + host + ", and another one names the Machine: " + h.BMH.API.Namespace + "/" + h.BMH.API.Name
		}
	}
	if h.BMH == nil || slices.Contains(installed, h.BMH.API.Status.Provisioning.State) {
		return ""
	}
	state := cmp.Or(string(h.BMH.API.Status.Provisioning.State), "without a state")
	return "its BareMetalHost is " + state + ", so no host is known to boot from what was written to it"
}

// installed are the states in which a host boots, or soon boots, what metal3 has written to it. In all others it does not know
// what a host boots (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1 ProvisioningState).
var installed = []metal3.ProvisioningState{metal3.StateProvisioning, metal3.StateProvisioned}
