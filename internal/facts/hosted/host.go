package hosted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// host is the fact hosted-host: the Machine of a host and what it refers to. A
// field that is a sentence is "" where nothing is wrong.
type host struct {
	Machine      facts.Field[string]    `cel:"machine"`
	Phase        facts.Field[string]    `cel:"phase"`
	Joined       facts.Field[bool]      `cel:"joined"`
	Provider     facts.Field[string]    `cel:"provider"`  // kind of the infrastructure's machine
	Failure      facts.Field[string]    `cel:"failure"`   // the Machine failed for good
	Bootstrap    facts.Field[string]    `cel:"bootstrap"` // there is no user-data for it yet
	BootSince    facts.Field[time.Time] `cel:"bootSince"`
	Infra        facts.Field[string]    `cel:"infra"` // the infrastructure's machine is not ready
	InfraSince   facts.Field[time.Time] `cel:"infraSince"`
	NoAgent      facts.Field[string]    `cel:"noAgent"` // no Agent fits
	NoAgentSince facts.Field[time.Time] `cel:"noAgentSince"`
	Agent        facts.Field[string]    `cel:"agent"`
	AgentState   facts.Field[string]    `cel:"agentState"`
	Invalid      facts.Field[string]    `cel:"invalid"` // the Agent does not meet the requirements
	InvalidSince facts.Field[time.Time] `cel:"invalidSince"`
	Install      facts.Field[string]    `cel:"install"` // the installation on the Agent failed
	InstallSince facts.Field[time.Time] `cel:"installSince"`
	Lost         facts.Field[string]    `cel:"lost"` // the Agent is not connected
	LostSince    facts.Field[time.Time] `cel:"lostSince"`
}

func hostFact() facts.Fact {
	return facts.Define("hosted-host", fault.Host, "the Machine of a host of a hosted cluster, its provider's machine and its Agent",
		inventory.Needs(), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (host, error) {
	var f host
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	if r, err := inventory.Read(ctx, w); err == nil && h.Hosted == nil && len(r.Missing) > 0 {
		return f, r.Missing[0]
	}
	if !ok || h.Hosted == nil {
		return f, facts.NotApplicable("it has no Machine")
	}
	f.machine(h)
	if f.Joined.Value() { // what its machine's conditions said on the way is over
		joined := f.Joined.Proof()[0]
		facts.Complete(&f)
		facts.Prove(joined, &f.Bootstrap, &f.BootSince, &f.Infra, &f.InfraSince, &f.NoAgent, &f.NoAgentSince, &f.Agent, &f.AgentState,
			&f.Invalid, &f.InvalidSince, &f.Install, &f.InstallSince, &f.Lost, &f.LostSince)
		return f, nil
	}
	f.Joined.Clear()
	if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		if err := facts.Miss(err, &f.Joined); err != nil {
			return f, err
		}
	} else {
		f.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "none is of Machine "+h.Hosted.Name))
	}
	part{&f.Bootstrap, &f.BootSince, "False", []string{"BootstrapReady"}, true}.read(h.Hosted.Object)
	part{&f.Infra, &f.InfraSince, "False", []string{"InfrastructureReady"}, true}.read(h.Hosted.Object)
	f.agentMachine(h)
	if err := unread(ctx, w, h); err != nil {
		fields := []facts.Setter{&f.Agent, &f.AgentState, &f.Invalid, &f.InvalidSince, &f.Install, &f.InstallSince, &f.Lost, &f.LostSince}
		if h.Provider == nil {
			fields = append(fields, &f.NoAgent, &f.NoAgentSince)
		}
		if err := facts.Miss(err, fields...); err != nil {
			return f, err
		}
	}
	facts.Complete(&f)
	return f, nil
}

// machine sets what the Machine itself says.
func (f *host) machine(h inventory.Host) {
	m := h.Hosted
	item := m.Object.Shows("status.phase", "Machine "+m.Name+": "+m.Phase, m.Created)
	f.Machine.Set(m.Name, item)
	f.Phase.Set(m.Phase, item)
	f.Provider.Set(m.InfraKind, item)
	f.Joined.Set(m.NodeRef != "" || h.Node != nil, item)
	failure := m.Failure
	if failure == "" && m.Phase == "Failed" {
		failure = "phase Failed"
	}
	if failure != "" {
		item = m.Object.Shows("status.failureMessage", failure, time.Time{})
	}
	f.Failure.Set(failure, item)
}

// unread says why what a Machine refers to is not known, nil where it is.
func unread(ctx context.Context, w *facts.World, h inventory.Host) error {
	if h.Hosted.InfraKind != "AgentMachine" || h.Agent != nil {
		return nil
	}
	r, err := inventory.Read(ctx, w)
	if err != nil {
		return err
	}
	for _, u := range r.Missing {
		if h.Provider == nil && u.Need.Resource == evidence.AgentMachines || u.Need.Resource == evidence.HostedAgents {
			return u
		}
	}
	return nil
}

// The conditions of an AgentMachine and of an Agent
// (openshift/cluster-api-provider-agent:api/v1beta1/agentmachine_types.go,
// openshift/assisted-service:api/v1beta1/agent_types.go).
func (f *host) agentMachine(h inventory.Host) {
	if h.Provider == nil {
		return
	}
	machine := h.Provider.Object
	if h.Provider.Kind != "AgentMachine" {
		var infra facts.Field[string]
		var since facts.Field[time.Time]
		if (part{&infra, &since, "False", []string{"VMProvisioned", "VMLiveMigratable", "Ready"}, false}).read(machine); infra.Value() != "" {
			f.Infra, f.InfraSince = infra, since
		}
		return
	}
	part{&f.NoAgent, &f.NoAgentSince, "False", []string{"AgentReserved"}, false}.read(machine)
	if h.Agent == nil {
		return
	}
	agent := h.Agent.Object
	state := evidence.String(agent.Content, "status", "debugInfo", "state")
	item := agent.Shows("status.debugInfo.state", "Agent "+h.Agent.Name+": "+state, time.Time{})
	f.Agent.Set(h.Agent.Name, item)
	f.AgentState.Set(state, item)
	part{&f.Invalid, &f.InvalidSince, "False", []string{"SpecSynced", "Validated", "RequirementsMet"}, true}.read(agent)
	part{&f.Lost, &f.LostSince, "False", []string{"Connected"}, true}.read(agent)
	list := conditions.Of(agent)
	if c := conditions.Find(list, "Installed"); c.Status == "False" && c.Reason == "InstallationFailed" {
		f.Install.Set(conditionText(c), c.Item())
		f.InstallSince.Set(c.Since, c.Item())
		f.Invalid.Set("", c.Item()) // what was not met on the way is over
	}
	if c := conditions.Find(list, "RequirementsMet"); c.Reason == "AgentAlreadyInstalling" || c.Reason == "AgentInstallationStopped" {
		f.Invalid.Set("", c.Item())
	}
}

// request is the fact hosted-request: who is to approve a request of a hosted
// cluster.
type request struct {
	Kind       facts.Field[string]    `cel:"kind"` // client, serving, network, other
	State      facts.Field[string]    `cel:"state"`
	Host       facts.Field[string]    `cel:"host"` // the node that it is for
	Newest     facts.Field[bool]      `cel:"newest"`
	Renews     facts.Field[bool]      `cel:"renews"`
	Created    facts.Field[time.Time] `cel:"created"`
	NoApprover facts.Field[bool]      `cel:"noApprover"` // requests of kubelets are not approved: no Machines are made for this cluster's hosts
}

func requestFact() facts.Fact {
	return facts.Define("hosted-request", fault.CSR, "who is to approve a request of a hosted cluster", []evidence.Need{
		evidence.Objects(evidence.CSRs, ""), evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
	}, readRequest)
}

func readRequest(ctx context.Context, w *facts.World, s fault.Subject) (request, error) {
	var f request
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return f, err
	}
	pools, err := inventory.NodePools(ctx, w)
	if err != nil {
		return f, err
	}
	all, err := csrs.All(ctx, w)
	if err != nil {
		return f, err
	}
	r, ok := csrs.Find(all, s.Name)
	if !ok {
		return f, facts.NotApplicable("there is no request %s", s.Name)
	}
	item := evidence.Item{Locator: r.Loc, Excerpt: string(r.Kind) + " request of " + r.Requester + ": " + string(r.State), Time: r.Created}
	f.Kind.Set(string(r.Kind), item)
	f.State.Set(string(r.State), item)
	f.Host.Set(r.NodeName, item)
	f.Renews.Set(r.Renews(), item)
	f.Created.Set(r.Created, item)
	f.Newest.Set(csrs.Newest(all, r), item)
	disabled := strings.EqualFold(cluster.Annotation(openshift.DisableMachinesAnnotation), "true")
	annotation := cluster.Shows("metadata.annotations", fmt.Sprintf("%s: %t", openshift.DisableMachinesAnnotation, disabled), time.Time{})
	made := slices.ContainsFunc(pools, func(n inventory.NodePool) bool { return n.Platform != none })
	for _, n := range pools {
		if n.Platform == none {
			f.NoApprover.Prove(n.Object.Shows("spec.platform.type", "NodePool "+n.Name+" is of the platform None: no Machines are made", time.Time{}))
		}
	}
	f.NoApprover.Set(disabled || !made, annotation)
	return f, nil
}
