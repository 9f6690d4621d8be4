package stages

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// agentItem is what the assisted-service says of the host, as proof.
func (v *view) agentItem(at time.Time) evidence.Item {
	a := v.host.Assisted.API
	text := "status " + a.Status
	if a.Stage != "" {
		text += ", stage " + a.Stage
	}
	if a.StatusInfo != "" {
		text += ": " + a.StatusInfo
	}
	return item(v.host.Assisted.Loc, "", text, at)
}

// agentPowered: a host that registered with the service runs the installation
// image. A host of which the service knows nothing has not come up, or cannot
// reach it.
func (v *view) agentPowered() (diagnosis.StageState, bool) {
	if b := v.host.BMH; b != nil && !unmanaged(b) && !external(b) {
		return diagnosis.StageState{}, false // metal3 looks after it
	}
	if v.host.Assisted != nil {
		a := v.host.Assisted.API
		return passed(a.Registered, item(v.host.Assisted.Loc, "", "registered with the assisted-service", a.Registered)), true
	}
	if v.host.Planned == nil || v.host.Node != nil || v.host.BMH != nil || v.host.Machine != nil || len(v.requests) > 0 {
		return diagnosis.StageState{}, false
	}
	switch {
	case v.service != nil && v.service.Usable:
		return waiting(time.Time{}, "it has not registered with the rendezvous host: it is off, did not boot the installation image, or cannot reach "+
			v.service.Address), true
	case v.service != nil:
		return unknown("the rendezvous host gives no answer: " + v.service.Error), true
	case v.plan != nil && v.plan.RendezvousIP != "" && v.nodesUnread() != nil:
		return unknown("there is no API yet, and the rendezvous host was not asked: --rendezvous " + v.plan.RendezvousIP), true
	case v.nodesUnread() != nil:
		return unknown("there is no API yet that shows it"), true
	}
	return diagnosis.StageState{}, false
}

// agentImaged: the service follows the host until it reboots into the installed
// system (openshift/assisted-service:models/host_stage.go).
func (v *view) agentImaged() (diagnosis.StageState, bool) {
	if b := v.host.BMH; v.host.Assisted == nil || b != nil && !unmanaged(b) && !external(b) {
		return diagnosis.StageState{}, false
	}
	a := v.host.Assisted.API
	switch {
	case a.Past(assisted.StageWriting) || a.Status == assisted.Installed || a.Status == assisted.AddedToExisting || a.Status == assisted.PendingUserAction:
		at := time.Time{}
		if a.Stage == assisted.StageRebooting {
			at = a.StageAt
		}
		return passed(at, v.agentItem(at)), true
	case a.Status == assisted.Error || a.Status == assisted.Insufficient || a.Status == assisted.PreparingFailed || a.Status == assisted.Disconnected ||
		a.Status == assisted.Cancelled:
		return failed(a.StatusAt, withValidations(a), v.agentItem(a.StatusAt)), true
	case a.Rejected && a.Stage == "":
		return waiting(a.Registered, "no one has approved the Agent "+a.ID, v.agentItem(a.Registered)), true
	case a.Stage != "":
		why := "stage " + a.Stage
		if a.Info != "" {
			why += ", " + a.Info
		}
		return waiting(a.StageAt, why, v.agentItem(a.StageAt)), true
	}
	return waiting(a.StatusAt, withValidations(a), v.agentItem(a.StatusAt)), true
}

// withValidations adds to the service's sentence the validations that the host does not pass. Those of a host that does not
// report are of its last contact.
func withValidations(a assisted.Host) string {
	says, unmet := fewWords(a.StatusInfo, a.Status), assisted.Unmet(assisted.Failing(a.Validations))
	if unmet == "" || a.Status == assisted.Disconnected {
		return says
	}
	if strings.Contains(says, "failing validation") { // their messages, without their ids (internal/host/common.go)
		return unmet
	}
	return strings.TrimSuffix(says, ".") + "; " + unmet
}

// agentIgnition: between its reboot and its Node the service sees a host only in
// the log of the machine config server. That it is there means that it asked, not
// that it was served (openshift/assisted-installer:src/common/common.go
// SetConfiguringStatusForHosts).
func (v *view) agentIgnition() (diagnosis.StageState, bool) {
	if v.host.Assisted == nil {
		return diagnosis.StageState{}, false
	}
	a := v.host.Assisted.API
	switch {
	case a.Reached(assisted.StageJoined):
		return passed(time.Time{}, v.agentItem(a.StageAt)), true
	case a.Status == assisted.PendingUserAction, a.Status == assisted.Error && a.Past(assisted.StageWriting):
		return failed(a.StatusAt, fewWords(a.StatusInfo, a.Status), v.agentItem(a.StatusAt)), true
	case a.Stage == assisted.StageConfiguring:
		return waiting(a.StageAt, "the machine config server was asked by its address; whether it was served is not known", v.agentItem(a.StageAt)), true
	case a.Stage == assisted.StageIgnition:
		return waiting(a.StageAt, "it asks a machine config server that does not serve workers yet", v.agentItem(a.StageAt)), true
	case a.Stage == assisted.StageRebooting:
		return waiting(a.StageAt, "it rebooted and has not asked for its config yet", v.agentItem(a.StageAt)), true
	case a.Past(assisted.StageWriting): // the bootstrap host waits for the others before it reboots
		return waiting(a.StageAt, "stage "+a.Stage, v.agentItem(a.StageAt)), true
	}
	return waiting(time.Time{}, "comes after the image"), true
}

// agentJoined: where the Nodes cannot be read, the service's word that the host
// has joined has to do: it saw the Node.
func (v *view) agentJoined() (diagnosis.StageState, bool) {
	if v.host.Assisted == nil || v.nodesUnread() == nil {
		return diagnosis.StageState{}, false
	}
	if a := v.host.Assisted.API; a.Reached(assisted.StageJoined) {
		at := time.Time{}
		if a.Stage == assisted.StageJoined {
			at = a.StageAt
		}
		return passed(at, v.agentItem(at)), true
	}
	return diagnosis.StageState{}, false
}

// agentDone: the service calls a host done when its Node is Ready
// (openshift/assisted-installer:src/assisted_installer_controller waitAndUpdateNodesStatus).
func (v *view) agentDone() (diagnosis.StageState, bool) {
	if _, joined := v.agentJoined(); !joined || v.host.Node != nil || !v.host.Assisted.API.Reached(assisted.StageDone) {
		return diagnosis.StageState{}, false
	}
	a := v.host.Assisted.API
	return passed(a.StageAt, v.agentItem(a.StageAt)), true
}

// instancePowered: the provider notes the state of a virtual machine or cloud
// instance at the Machine (openshift/machine-api-operator:
// pkg/controller/machine/controller.go MachineInstanceStateAnnotationName).
func (v *view) instancePowered() diagnosis.StageState {
	if v.waitsForHardware() {
		return waiting(v.host.Machine.API.CreationTimestamp.Time, orElse(value(v.host.Machine.API.Status.ErrorMessage), "its Machine has no BareMetalHost"),
			item(v.host.Machine.Loc, "status.phase", "phase "+value(v.host.Machine.API.Status.Phase), time.Time{}))
	}
	const note = openshift.InstanceStateAnnotation
	m := v.host.Machine
	if m == nil || m.API.Annotations[note] == "" {
		return unknown("no object shows whether it is powered: it has no BareMetalHost")
	}
	state := m.API.Annotations[note]
	proof := item(m.Loc, "metadata.annotations["+note+"]", state, time.Time{})
	switch strings.ToLower(state) { // vSphere, AWS and Azure, OpenStack
	case "poweredon", "running", "active":
		return passed(time.Time{}, proof)
	case "poweredoff", "stopped", "terminated", "shutoff":
		if v.host.Node == nil {
			return waiting(time.Time{}, "its instance is "+state, proof)
		}
	}
	return unknown("its instance is " + state)
}

// instanceImaged: a provider makes an instance from the image; it exists once the
// Machine is Provisioned (openshift/api:machine/v1beta1/types_machine.go Phase*).
func (v *view) instanceImaged() diagnosis.StageState {
	m := v.host.Machine
	if m == nil || m.API.Status.Phase == nil {
		return unknown("no object shows whether its disk was written: it has no BareMetalHost")
	}
	phase := *m.API.Status.Phase
	proof := item(m.Loc, "status.phase", phase, time.Time{})
	switch {
	case v.waitsForHardware():
		return waiting(time.Time{}, "comes after its BareMetalHost", proof)
	case phase == "Provisioned", phase == "Running":
		return passed(time.Time{}, proof)
	case phase == "Failed":
		return failed(time.Time{}, orElse(value(m.API.Status.ErrorMessage), "its Machine failed"), proof)
	}
	return waiting(m.API.CreationTimestamp.Time, "its Machine is "+phase, proof)
}

// waitsForHardware: a Machine of the bare-metal provider that no BareMetalHost was
// chosen for (openshift/cluster-api-provider-baremetal:pkg/apis/baremetal/v1alpha1).
func (v *view) waitsForHardware() bool {
	m := v.host.Machine
	if m == nil || v.host.BMH != nil || v.host.Node != nil {
		return false
	}
	for _, u := range v.roll.Missing {
		if u.Need.Resource == evidence.BareMetalHosts {
			return false
		}
	}
	return m.API.Spec.ProviderSpec.Kind() == "BareMetalMachineProviderSpec"
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// fewWords is the service's own sentence, or the status where it gave none.
func fewWords(info, status string) string {
	if info = firstLine(info); info != "" {
		return info
	}
	return fmt.Sprintf("status %s", status)
}
