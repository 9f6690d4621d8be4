package stages

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// planned: something that plans hosts names this one.
func (v *view) planned() diagnosis.StageState {
	h := v.host
	if s, ok := v.hostedPlanned(); ok {
		return s
	}
	switch {
	case !h.Expected:
		return notApplicable("only a certificate request claims the name")
	case h.BMH != nil:
		return passed(h.BMH.API.CreationTimestamp.Time, item(h.BMH.Loc, "", "BareMetalHost "+h.BMH.API.Name, time.Time{}))
	case h.Machine != nil:
		return passed(h.Machine.API.CreationTimestamp.Time, item(h.Machine.Loc, "", "Machine "+h.Machine.API.Name, time.Time{}))
	case h.Planned != nil:
		return passed(time.Time{}, item(h.Planned.Loc, "", "named by the installer's configuration", time.Time{}))
	case h.Assisted != nil:
		return passed(h.Assisted.API.Registered, item(h.Assisted.Loc, "", "host "+h.Assisted.API.ID+" of the assisted-service", h.Assisted.API.Registered))
	case h.Node != nil:
		return passed(h.Node.API.CreationTimestamp.Time, item(h.Node.Loc, "", "Node "+h.Node.API.Name, time.Time{}))
	case h.Named != nil:
		return passed(time.Time{}, item(h.Named.Loc, "", "named by "+h.Named.By, time.Time{}))
	}
	return passed(time.Time{})
}

// powered: the host itself reports, or its BareMetalHost or its instance says so;
// without one a later stage has to prove it.
func (v *view) powered() diagnosis.StageState {
	if s, ok := v.hostedPowered(); ok {
		return s
	}
	if s, ok := v.agentPowered(); ok {
		return s
	}
	if s, ok := v.nothingFound(); ok {
		return s
	}
	b := v.host.BMH
	if b == nil {
		return v.instancePowered()
	}
	proof := item(b.Loc, "status.poweredOn", "poweredOn: "+yesNo(b.API.Status.PoweredOn), time.Time{})
	switch {
	case unmanaged(b):
		return notApplicable("its BareMetalHost has no BMC: nothing here switches it on")
	case detached(b):
		return unknown("its BareMetalHost is detached: its power state is old")
	case b.API.Status.PoweredOn:
		return passed(time.Time{}, proof)
	case b.API.Status.ErrorType == metal3.PowerManagementError:
		return failed(lastUpdated(b), b.API.Status.ErrorMessage, proof)
	case part(b):
		return unknown("what was pasted of its BareMetalHost does not show whether it is powered")
	case v.host.Node != nil || v.ignition.seen:
		return unknown("the BareMetalHost shows it off and the host itself was seen")
	}
	return waiting(time.Time{}, "the BareMetalHost shows it off", proof)
}

// unmanaged: metal3 has no BMC for the host, and nothing updates its status
// (baremetal-operator:docs/baremetalhost-states.md Unmanaged).
func unmanaged(b *bmh) bool {
	return b.API.Spec.BMC.Address == "" && !part(b) || b.API.Status.Provisioning.State == metal3.StateUnmanaged
}

// part reports an object of which only some fields were pasted: it has nothing about the others.
func part(b *bmh) bool { return b.API.Annotations[evidence.PartMark] != "" }

// afterInspection reports a state that a host reaches once it was inspected
// (metal3-io/baremetal-operator:docs/baremetalhost-states.md).
func afterInspection(b *bmh) bool {
	return slices.Contains([]metal3.ProvisioningState{metal3.StatePreparing, metal3.StateReady, metal3.StateAvailable, metal3.StateProvisioning,
		metal3.StateProvisioned, metal3.StateDeprovisioning}, b.API.Status.Provisioning.State)
}

// detached hosts keep their last status.
func detached(b *bmh) bool {
	_, noted := b.API.Annotations[metal3.DetachedAnnotation]
	return noted || b.API.Status.OperationalStatus == metal3.OperationalStatusDetached
}

func yesNo(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// lastUpdated is when the BareMetalHost's status last changed.
func lastUpdated(b *bmh) time.Time {
	if b.API.Status.LastUpdated == nil {
		return time.Time{}
	}
	return b.API.Status.LastUpdated.Time
}

// external reports whether something else than Metal3 installed the host: then
// nothing inspects or images it (baremetal-operator:apis/metal3.io/v1alpha1
// ExternallyProvisioned).
func external(b *bmh) bool {
	return b.API.Spec.ExternallyProvisioned || b.API.Status.Provisioning.State == metal3.StateExternallyProvisioned
}

// inspected: Metal3 has the hardware's details.
func (v *view) inspected() diagnosis.StageState {
	if s, ok := v.hostedInspected(); ok {
		return s
	}
	b := v.host.BMH
	switch {
	case b == nil && v.waitsForHardware():
		return waiting(time.Time{}, "comes after its BareMetalHost")
	case b == nil:
		return notApplicable("no BareMetalHost: nothing inspects it")
	case unmanaged(b):
		return notApplicable("its BareMetalHost has no BMC: nothing inspects it")
	case external(b):
		return notApplicable("externally provisioned: Metal3 does not inspect it")
	case b.API.InspectionDisabled():
		return notApplicable("inspection is switched off")
	case b.API.Status.ErrorType == metal3.InspectionError:
		return failed(lastUpdated(b), b.API.Status.ErrorMessage, item(b.Loc, "status.errorMessage", b.API.Status.ErrorMessage, lastUpdated(b)))
	}
	done := b.API.Status.OperationHistory.Inspect.End.Time
	if !done.IsZero() || b.API.Status.HardwareDetails != nil {
		return passed(done, item(b.Loc, "status.operationHistory.inspect.end", done.UTC().Format(time.RFC3339), done))
	}
	if part(b) && afterInspection(b) {
		return passed(time.Time{}, item(b.Loc, "status.provisioning.state", state(b), time.Time{}))
	}
	return waiting(b.API.Status.OperationHistory.Inspect.Start.Time, "state "+state(b), item(b.Loc, "status.provisioning.state", state(b), lastUpdated(b)))
}

// imaged: the operating system was written to the disk.
func (v *view) imaged() diagnosis.StageState {
	if s, ok := v.hostedImaged(); ok {
		return s
	}
	if s, ok := v.agentImaged(); ok {
		return s
	}
	b := v.host.BMH
	if b == nil {
		return v.instanceImaged()
	}
	if unmanaged(b) {
		return notApplicable("its BareMetalHost has no BMC: the installer writes its disk, and no object shows it")
	}
	proof := item(b.Loc, "status.provisioning.state", state(b), lastUpdated(b))
	switch b.API.Status.Provisioning.State {
	case metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		return passed(b.API.Status.OperationHistory.Provision.End.Time, proof)
	}
	switch b.API.Status.ErrorType {
	case metal3.ProvisioningError, metal3.PreparationError, metal3.RegistrationError, metal3.ProvisionedRegistrationError:
		why := orElse(b.API.Status.ErrorMessage, string(b.API.Status.ErrorType))
		return failed(lastUpdated(b), why, item(b.Loc, "status.errorMessage", why, lastUpdated(b)))
	}
	if b.API.Spec.ExternallyProvisioned {
		return unknown("externally provisioned, and the state is " + state(b))
	}
	return waiting(b.API.Status.OperationHistory.Provision.Start.Time, "state "+state(b), proof)
}

func state(b *bmh) string {
	if b.API.Status.Provisioning.State == "" {
		return "(none yet)"
	}
	return string(b.API.Status.Provisioning.State)
}

// ignitionFetched: the host has its config from the machine config server.
func (v *view) ignitionFetched() diagnosis.StageState {
	if v.host.Node != nil {
		return passed(time.Time{}, item(v.host.Node.Loc, "", "Node "+v.host.Node.API.Name+" exists", v.host.Node.API.CreationTimestamp.Time))
	}
	if len(v.requests) > 0 {
		r := v.requests[0]
		return passed(time.Time{}, item(r.Loc, "", "it asked for a certificate as "+r.CN, r.Created))
	}
	if proof, ok := v.joined(); ok && !v.ignition.seen {
		return passed(time.Time{}, proof)
	}
	if s, ok := v.agentIgnition(); ok && !v.ignition.seen {
		return s
	}
	return v.ignition.stage()
}

// firstBoot: the kubelet runs, so the first boot's units have let it start.
func (v *view) firstBoot() diagnosis.StageState {
	if v.host.Node != nil {
		return passed(time.Time{}, item(v.host.Node.Loc, "", "Node exists", v.host.Node.API.CreationTimestamp.Time))
	}
	if len(v.requests) > 0 {
		r := v.requests[0]
		return passed(r.Created, item(r.Loc, "", "its kubelet asked for a certificate", r.Created))
	}
	if proof, ok := v.joined(); ok && v.ignition.stage().State != diagnosis.StageFailed {
		return passed(time.Time{}, proof)
	}
	if s, ok := v.agentJoined(); ok {
		s.At = time.Time{}
		return s
	}
	if v.kubelet != nil {
		return passed(v.kubelet.Time, *v.kubelet)
	}
	if v.ignition.after != nil {
		return *v.ignition.after
	}
	switch s := v.ignitionFetched(); s.State {
	case diagnosis.StagePassed:
		return waiting(s.At, "Ignition is done, the kubelet has not asked for a certificate yet", s.Evidence...)
	case diagnosis.StageUnknown:
		if inventory.ConsoleGiven(v.host) {
			return unknown(inventory.NoBoot(v.host))
		}
		return unknown("no sign of the host was found: no Node, no certificate request, no console")
	default:
		return waiting(time.Time{}, "comes after Ignition")
	}
}

// clientCert: the kubelet has a certificate of its own.
func (v *view) clientCert() diagnosis.StageState {
	if v.host.Node != nil && !v.stale {
		return passed(time.Time{}, item(v.host.Node.Loc, "", "Node exists and reports", v.lastSeen))
	}
	r := v.last(clientRequest)
	if r == nil {
		if v.noCSRs != nil {
			return unknown(v.noCSRs.Error())
		}
		if v.host.Node != nil {
			return unknown("the Node does not report, and no request for a new certificate is there")
		}
		return waiting(time.Time{}, "no request for a client certificate yet")
	}
	proof := item(r.Loc, "status.conditions", "client request "+string(r.State)+", created "+r.Created.UTC().Format(time.RFC3339), r.Created)
	switch r.State {
	case issuedRequest:
		return passed(r.Approval.At, proof)
	case pendingRequest:
		return waiting(r.Created, "request "+r.Name+" waits for approval", proof)
	case approvedRequest:
		return waiting(r.Approval.At, "request "+r.Name+" is approved and not signed", proof)
	}
	return failed(r.Created, "request "+r.Name+" was "+string(r.State), proof)
}

// registered: the Node exists.
func (v *view) registered() diagnosis.StageState {
	if v.host.Node == nil {
		if s, ok := v.agentJoined(); ok {
			return s
		}
		if err := v.nodesUnread(); err != nil {
			if proof, ok := v.joined(); ok {
				return passed(time.Time{}, proof)
			}
			return unknown(err.Error())
		}
		if u := v.roll.ForeignNodes(); u != nil {
			return unknown(u.Error())
		}
		if proof, ok := v.joined(); ok && len(v.requests) == 0 {
			return failed(time.Time{}, "it had joined: its Machine names Node "+v.host.Machine.API.Status.NodeRef.Name+", which does not exist", proof)
		}
		return waiting(time.Time{}, "no Node of this name")
	}
	return passed(v.host.Node.API.CreationTimestamp.Time, item(v.host.Node.Loc, "metadata.creationTimestamp", "Node "+v.host.Node.API.Name,
		v.host.Node.API.CreationTimestamp.Time))
}

// joined reports whether the host's Machine was linked to a Node of it. The link stays when
// the Node is deleted (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go
// updateNodeRef). A row of a table shows the phase alone: a Machine that is Running has a
// nodeRef (openshift/api:machine/v1beta1/types_machine.go PhaseRunning).
func (v *view) joined() (evidence.Item, bool) {
	m := v.host.Machine
	switch {
	case m == nil || m.API.DeletionTimestamp != nil:
		return evidence.Item{}, false
	case m.API.Status.NodeRef != nil:
		return item(m.Loc, "status.nodeRef.name", m.API.Status.NodeRef.Name, time.Time{}), true
	case v.nodesUnread() != nil && value(m.API.Status.Phase) == "Running":
		return item(m.Loc, "status.phase", "Machine "+m.API.Name+" is Running: it has a Node", time.Time{}), true
	}
	return evidence.Item{}, false
}

func (v *view) nodesUnread() error {
	for _, u := range v.roll.Missing {
		if u.Need.Resource == evidence.Nodes {
			return u
		}
	}
	return nil
}
