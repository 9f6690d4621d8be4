package hosted

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Host is the fact hosted-host: the Machine of a host and what stands behind it. A
// field that is a sentence is "" where nothing is wrong.
type Host struct {
	Machine      string    `cel:"machine"`
	Phase        string    `cel:"phase"`
	Created      time.Time `cel:"created"`
	Joined       bool      `cel:"joined"`
	Provider     string    `cel:"provider"` // kind of the infrastructure's machine
	Failure      string    `cel:"failure"`  // the Machine failed for good
	FailureSince time.Time `cel:"failureSince"`
	Bootstrap    string    `cel:"bootstrap"` // there is no user-data for it yet
	BootSince    time.Time `cel:"bootSince"`
	Infra        string    `cel:"infra"` // the infrastructure's machine is not ready
	InfraSince   time.Time `cel:"infraSince"`
	NoAgent      string    `cel:"noAgent"` // no Agent fits
	NoAgentSince time.Time `cel:"noAgentSince"`
	Agent        string    `cel:"agent"`
	AgentState   string    `cel:"agentState"`
	Invalid      string    `cel:"invalid"` // the Agent does not meet the requirements
	InvalidSince time.Time `cel:"invalidSince"`
	Install      string    `cel:"install"` // the installation on the Agent failed
	InstallSince time.Time `cel:"installSince"`
	Lost         string    `cel:"lost"` // the Agent is not connected
	LostSince    time.Time `cel:"lostSince"`
}

func hostFact() facts.Fact {
	return facts.DefinePlain("hosted-host", fault.Host, "the Machine of a host of a hosted cluster, its provider's machine and its Agent", hosts.Needs(), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, facts.Proof, error) {
	var f Host
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	h, ok, err := hosts.Find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	if r, err := hosts.Read(ctx, w); err == nil && h.Hosted == nil && len(r.Missing) > 0 {
		return f, p, r.Missing[0]
	}
	if !ok || h.Hosted == nil {
		return f, p, facts.NotApplicable("it has no Machine")
	}
	m := h.Hosted
	f.Machine, f.Phase, f.Created, f.Joined, f.Provider = m.Name, m.Phase, m.Created, m.NodeRef != "" || h.Node != nil, m.InfraKind
	p.Add(m.Loc.At("status.phase"), "Machine "+m.Name+": "+m.Phase, m.Created, "phase", "machine", "joined", "created")
	if m.Failure != "" || m.Phase == "Failed" {
		f.Failure, f.FailureSince = m.Failure, m.Created
		if f.Failure == "" {
			f.Failure = "phase Failed"
		}
		p.Add(m.Loc.At("status.failureMessage"), f.Failure, time.Time{}, "failure")
	}
	if f.Joined {
		return f, p, nil // what its machine's conditions said on the way is over
	}
	t := wrong(m.Object, "False", &p, []string{"bootstrap", "bootSince"}, "BootstrapReady")
	f.Bootstrap, f.BootSince = t.text, t.since
	t = wrong(m.Object, "False", &p, []string{"infra", "infraSince"}, "InfrastructureReady")
	f.Infra, f.InfraSince = t.text, t.since
	if err := unread(ctx, w, h); err != nil {
		for _, field := range []string{"noAgent", "agent", "agentState", "invalid", "install", "lost"} {
			p.Miss(field, err)
		}
		if h.Provider == nil {
			return f, p, nil
		}
	}
	f.agentMachine(h, &p)
	return f, p, nil
}

// unread says why what stands behind a Machine is not known, nil where it is.
func unread(ctx context.Context, w *facts.World, h hosts.Host) error {
	if h.Hosted.InfraKind != "AgentMachine" || h.Agent != nil {
		return nil
	}
	r, err := hosts.Read(ctx, w)
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
func (f *Host) agentMachine(h hosts.Host, p *facts.Proof) {
	if h.Provider == nil || h.Provider.Kind != "AgentMachine" {
		if h.Provider != nil {
			if t := wrong(h.Provider.Object, "False", p, []string{"infra", "infraSince"}, "VMProvisioned", "VMLiveMigratable", "Ready"); t.text != "" {
				f.Infra, f.InfraSince = t.text, t.since
			}
		}
		return
	}
	machine := h.Provider.Object
	t := wrong(machine, "False", p, []string{"noAgent", "noAgentSince"}, "AgentReserved")
	f.NoAgent, f.NoAgentSince = t.text, t.since
	if h.Agent == nil {
		return
	}
	agent := h.Agent.Object
	f.Agent, f.AgentState = h.Agent.Name, evidence.String(agent.Content, "status", "debugInfo", "state")
	t = wrong(agent, "False", p, []string{"invalid", "invalidSince"}, "SpecSynced", "Validated", "RequirementsMet")
	f.Invalid, f.InvalidSince = t.text, t.since
	t = wrong(agent, "False", p, []string{"lost", "lostSince"}, "Connected")
	f.Lost, f.LostSince = t.text, t.since
	if c := conditions.Find(conditions.Of(agent), "Installed"); c.Status == "False" && c.Reason == "InstallationFailed" {
		f.Install, f.InstallSince = said(c), c.Since
		p.Add(c.Loc, c.Reason+": "+c.Message, c.Since, "install", "installSince")
		f.Invalid = "" // what was not met on the way is over
	}
	if c := conditions.Find(conditions.Of(agent), "RequirementsMet"); c.Reason == "AgentAlreadyInstalling" || c.Reason == "AgentInstallationStopped" {
		f.Invalid = ""
	}
}

// Request is the fact hosted-request: who is to approve a request of a hosted
// cluster.
type Request struct {
	Kind     string    `cel:"kind"` // client, serving, network, other
	State    string    `cel:"state"`
	Newest   bool      `cel:"newest"`
	Renews   bool      `cel:"renews"`
	Created  time.Time `cel:"created"`
	Nobody   bool      `cel:"nobody"`   // nobody approves requests of kubelets: no Machines are made for this cluster's hosts
	Disabled bool      `cel:"disabled"` // the HostedCluster switches the management of Machines off
}

// disableMachines switches Machines and their approver off
// (openshift/hypershift:api/hypershift/v1beta1/hostedcluster_types.go DisableMachineManagement).
const disableMachines = "hypershift.openshift.io/disable-machine-management"

func requestFact() facts.Fact {
	return facts.DefinePlain("hosted-request", fault.CSR, "who is to approve a request of a hosted cluster", []evidence.Need{
		evidence.Objects(evidence.CSRs, ""), evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
	}, readRequest)
}

func readRequest(ctx context.Context, w *facts.World, s fault.Subject) (Request, facts.Proof, error) {
	var f Request
	var p facts.Proof
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return f, p, err
	}
	pools, err := hosts.NodePools(ctx, w)
	if err != nil {
		return f, p, err
	}
	all, err := csrs.All(ctx, w)
	if err != nil {
		return f, p, err
	}
	r, ok := csrs.Find(all, s.Name)
	if !ok {
		return f, p, facts.NotApplicable("there is no request %s", s.Name)
	}
	f.Kind, f.State, f.Renews, f.Created, f.Newest = string(r.Kind), string(r.State), r.Renews(), r.Created, csrs.Newest(all, r)
	p.Add(r.Loc, string(r.Kind)+" request of "+r.Requester+": "+f.State, r.Created, "kind", "state", "newest", "created", "renews")
	f.Disabled = strings.EqualFold(cluster.Annotation(disableMachines), "true")
	made := slices.ContainsFunc(pools, func(n hosts.NodePool) bool { return n.Platform != none })
	f.Nobody = f.Disabled || !made
	for _, n := range pools {
		if n.Platform == none {
			p.Add(n.Object.Loc.At("spec.platform.type"), "NodePool "+n.Name+" is of the platform None: no Machines are made", time.Time{}, "nobody")
		}
	}
	return f, p, nil
}
