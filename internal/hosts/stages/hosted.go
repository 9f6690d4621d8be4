package stages

import (
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// hostedPlanned: the Machine of the Cluster API that stands for the host.
func (v *view) hostedPlanned() (diagnosis.StageState, bool) {
	m := v.host.Hosted
	if m == nil {
		return diagnosis.StageState{}, false
	}
	return passed(m.Created, item(m.Loc, "", "Machine "+m.Name, m.Created)), true
}

// hostedPowered: an Agent that is connected runs the discovery image; before that no
// Agent was found for the Machine
// (openshift/cluster-api-provider-agent:api/v1beta1/agentmachine_types.go).
func (v *view) hostedPowered() (diagnosis.StageState, bool) {
	h := v.host
	switch {
	case h.Hosted == nil:
		return diagnosis.StageState{}, false
	case h.Agent != nil:
		c := conditions.Find(conditions.Of(h.Agent.Object), "Connected")
		if c.Status == "False" && h.Node == nil && !installing(h.Agent) {
			return failed(c.Since, c.Message, item(c.Loc, "", c.Reason+": "+c.Message, c.Since)), true
		}
		return passed(h.Agent.Object.Created(), item(h.Agent.Loc, "", "Agent "+h.Agent.Name, h.Agent.Object.Created())), true
	case h.Hosted.InfraKind == "AgentMachine" && h.Provider != nil:
		c := conditions.Find(conditions.Of(h.Provider.Object), "AgentReserved")
		if c.Status == "False" {
			return waiting(c.Since, "no Agent fits its Machine: "+c.Message, item(c.Loc, "", c.Reason+": "+c.Message, c.Since)), true
		}
	}
	return unknown("no object shows whether the machine behind " + h.Hosted.Name + " runs"), true
}

// installing: from its reboot on, an Agent is no longer connected, which is normal.
func installing(a *inventory.Agent) bool {
	c := conditions.Find(conditions.Of(a.Object), "Installed")
	return c.Status == "True" || c.Reason == "InstallationInProgress" || c.Reason == "InstallationFailed"
}

// hostedInspected: the assisted-service validates what the Agent reports; nothing
// inspects the machines of other platforms.
func (v *view) hostedInspected() (diagnosis.StageState, bool) {
	h := v.host
	switch {
	case h.Hosted == nil:
		return diagnosis.StageState{}, false
	case h.Agent == nil && h.Hosted.InfraKind == "AgentMachine":
		return waiting(time.Time{}, "comes after its Agent"), true
	case h.Agent == nil:
		return notApplicable("a " + h.Hosted.InfraKind + " is not inspected"), true
	}
	c := conditions.Find(conditions.Of(h.Agent.Object), "Validated")
	proof := item(c.Loc, "", "Validated="+c.Status+" "+c.Message, c.Since)
	switch {
	case c.Status == "True" || installing(h.Agent):
		return passed(c.Since, proof), true
	case c.Status == "False":
		return failed(c.Since, c.Message, proof), true
	}
	return waiting(c.Since, "the Agent was not validated yet"), true
}

// hostedImaged: the provider says that the machine with its system is there.
func (v *view) hostedImaged() (diagnosis.StageState, bool) {
	h := v.host
	if h.Hosted == nil {
		return diagnosis.StageState{}, false
	}
	if h.Agent != nil {
		c := conditions.Find(conditions.Of(h.Agent.Object), "Installed")
		if c.Reason == "InstallationFailed" {
			return failed(c.Since, c.Message, item(c.Loc, "", c.Reason+": "+c.Message, c.Since)), true
		}
	}
	c := conditions.Find(conditions.Of(h.Hosted.Object), "InfrastructureReady")
	proof := item(c.Loc, "", fmt.Sprintf("InfrastructureReady=%s %s", c.Status, c.Reason), c.Since)
	switch {
	case h.Hosted.Failure != "":
		return failed(c.Since, h.Hosted.Failure, item(h.Hosted.Loc, "status.failureMessage", h.Hosted.Failure, time.Time{})), true
	case c.Status == "True":
		return passed(c.Since, proof), true
	case c.Status == "False":
		return waiting(c.Since, orElse(c.Message, c.Reason), proof), true
	}
	return waiting(h.Hosted.Created, "phase "+orElse(h.Hosted.Phase, "(none yet)")), true
}

// hostedConfig: the nodes of a hosted cluster have a machine-config-daemon only while
// a NodePool is updated in place; its annotations are those of any cluster
// (openshift/hypershift:control-plane-operator/hostedclusterconfigoperator/
// controllers/inplaceupgrader).
func (v *view) hostedConfig() (diagnosis.StageState, bool) {
	if v.hosted == nil || v.host.Node == nil {
		return diagnosis.StageState{}, false
	}
	if notes := v.host.Node.API.Annotations; notes[openshift.ConfigStateAnnotation] != "" && notes[openshift.CurrentConfigAnnotation] != "" {
		return diagnosis.StageState{}, false
	}
	return notApplicable("a machine gets its config with its first boot, and no daemon changes it"), true
}
