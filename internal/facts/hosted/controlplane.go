package hosted

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// workloads is the fact hosted-workloads: the parts of the control plane on which the
// join of a worker depends. Each is ready, down or none (there is no such Deployment).
type workloads struct {
	Ignition      facts.Field[string]    `cel:"ignition"` // ignition-server and its proxy
	IgnitionSince facts.Field[time.Time] `cel:"ignitionSince"`
	Approver      facts.Field[string]    `cel:"approver"` // machine-approver
	ApproverSince facts.Field[time.Time] `cel:"approverSince"`
	Identity      facts.Field[string]    `cel:"identity"` // network-node-identity: it approves the network plugin's certificates
	IdentitySince facts.Field[time.Time] `cel:"identitySince"`
	IdentityReady facts.Field[time.Time] `cel:"identityReady"` // since when it is available; zero: it is not
	Machines      facts.Field[string]    `cel:"machines"`      // cluster-api and capi-provider: they make Machines
	MachinesSince facts.Field[time.Time] `cel:"machinesSince"`
	OVN           facts.Field[string]    `cel:"ovn"` // ovnkube-control-plane
	OVNSince      facts.Field[time.Time] `cel:"ovnSince"`
}

func workloadsFact() facts.Fact {
	return facts.Define("hosted-workloads", fault.Cluster, "the parts of the hosted control plane on which the join of a worker depends",
		[]evidence.Need{evidence.Objects(evidence.HostedDeployments, evidence.ControlPlaneNamespace)}, readWorkloads)
}

func readWorkloads(ctx context.Context, w *facts.World, _ fault.Subject) (workloads, error) {
	var f workloads
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	list, err := w.List(ctx, evidence.HostedDeployments, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, err
	}
	for _, part := range []struct {
		state *facts.Field[string]
		since *facts.Field[time.Time]
		names []string
	}{
		{&f.Ignition, &f.IgnitionSince, []string{"ignition-server", "ignition-server-proxy"}},
		{&f.Approver, &f.ApproverSince, []string{"machine-approver"}},
		{&f.Identity, &f.IdentitySince, []string{"network-node-identity"}},
		{&f.Machines, &f.MachinesSince, []string{"cluster-api", "capi-provider"}},
		{&f.OVN, &f.OVNSince, []string{"ovnkube-control-plane", "ovnkube-master"}},
	} {
		none := listRead("deployments of the control plane", fmt.Sprintf("%d, none is %s", len(list), part.names[0]))
		part.state.Set("none")
		part.since.Set(time.Time{})
		for _, o := range list {
			if !slices.Contains(part.names, o.Name) || part.state.Value() == "down" {
				continue
			}
			state, since, item := deployment(o)
			part.state.Set(state, item)
			part.since.Set(since, item)
		}
		if part.state.Value() == "none" {
			facts.Prove(none, part.state, part.since)
		}
	}
	f.identityReady(list)
	return f, nil
}

func (f *workloads) identityReady(list []evidence.Object) {
	if f.Identity.Value() != "ready" {
		f.IdentityReady.Set(time.Time{}, f.Identity.Proof()...)
		return
	}
	i := slices.IndexFunc(list, func(o evidence.Object) bool { return o.Name == "network-node-identity" })
	if c := conditions.Find(conditions.Of(list[i]), "Available"); c.Status == "True" && !c.Since.IsZero() {
		f.IdentityReady.Set(c.Since, c.Item())
		return
	}
	f.IdentityReady.Miss(&evidence.Unavailable{Need: evidence.Objects(evidence.HostedDeployments, evidence.ControlPlaneNamespace), Why: evidence.NotCollected,
		Detail: "since when network-node-identity is available is not shown"})
}

// deployment: scaled to zero is down, too: nothing answers.
func deployment(o evidence.Object) (string, time.Time, evidence.Item) {
	available, wanted := evidence.Int(o.Content, "status", "availableReplicas"), evidence.Int(o.Content, "spec", "replicas")
	text := fmt.Sprintf("%s: %d of %d available", o.Name, available, wanted)
	if available > 0 {
		return "ready", time.Time{}, o.Shows("status.availableReplicas", text, time.Time{})
	}
	c := conditions.Find(conditions.Of(o), "Available")
	since := c.Since
	if since.IsZero() {
		since = o.Created()
	}
	if c.Status == "False" && c.Message != "" {
		text += ": " + c.Message
	}
	return "down", since, o.Shows("status.availableReplicas", text, since)
}

// events is the fact hosted-events: what the management cluster refuses to the
// control plane's pods.
type events struct {
	Refused      facts.Field[[]string]  `cel:"refused"` // what the PodSecurity admission refuses pods to
	Refusal      facts.Field[string]    `cel:"refusal"` // the first violation, as said
	RefusedSince facts.Field[time.Time] `cel:"refusedSince"`
	Secret       facts.Field[string]    `cel:"secret"` // a Secret that a pod wants to mount and that is not there
	SecretPod    facts.Field[string]    `cel:"secretPod"`
	SecretSince  facts.Field[time.Time] `cel:"secretSince"`
}

// recent is how old an event may be and still speak of the present; a ReplicaSet is
// tried again at least every 16 minutes.
const recent = 30 * time.Minute

var missingSecret = regexp.MustCompile(`MountVolume\.SetUp failed for volume "[^"]*" ?: secret "([^"]+)" not found`)

func eventsFact() facts.Fact {
	return facts.Define("hosted-events", fault.Cluster, "what the management cluster refuses to the pods of the hosted control plane",
		[]evidence.Need{
			evidence.Objects(evidence.HostedEvents, evidence.ControlPlaneNamespace),
			evidence.Objects(evidence.HostedDeployments, evidence.ControlPlaneNamespace),
		}, readEvents)
}

func readEvents(ctx context.Context, w *facts.World, _ fault.Subject) (events, error) {
	var f events
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	list, err := w.Some(ctx, evidence.HostedEvents, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, err
	}
	// Without the Deployments every refusal counts.
	deployments, err := w.List(ctx, evidence.HostedDeployments, evidence.ControlPlaneNamespace)
	if _, missing := evidence.AsUnavailable(err); err != nil && !missing {
		return f, err
	}
	for _, o := range list {
		if !admitted(o, deployments) {
			f.event(w.Now, o)
		}
	}
	slices.Sort(f.Refused.Value())
	facts.Complete(&f)
	return f, nil
}

// admitted reports whether an event is about pods that were refused and that run now: those
// of a Deployment of which every replica is of its newest ReplicaSet, and available. The
// event outlives its cause by hours.
func admitted(event evidence.Object, deployments []evidence.Object) bool {
	set, ok := strings.CutPrefix(evidence.String(event.Content, "involvedObject", "kind")+" "+evidence.String(event.Content, "involvedObject",
		"name"), "ReplicaSet ")
	return ok && slices.ContainsFunc(deployments, func(o evidence.Object) bool {
		of := set[:max(0, strings.LastIndexByte(set, '-'))]
		wanted := evidence.Int(o.Content, "spec", "replicas")
		return o.Name == of && wanted > 0 && evidence.Int(o.Content, "status", "updatedReplicas") >= wanted &&
			evidence.Int(o.Content, "status", "availableReplicas") >= wanted &&
			evidence.Int(o.Content, "status", "observedGeneration") >= evidence.Int(o.Content, "metadata", "generation")
	})
}

func (f *events) event(now time.Time, o evidence.Object) {
	s := func(path ...string) string { return evidence.String(o.Content, path...) }
	last, first := evidence.Time(o.Content, "lastTimestamp"), evidence.Time(o.Content, "firstTimestamp")
	if last.IsZero() {
		last = evidence.Time(o.Content, "eventTime")
	}
	if first.IsZero() {
		first = last
	}
	if now.Sub(last) > recent {
		return
	}
	message, object := s("message"), s("involvedObject", "kind")+" "+s("involvedObject", "name")
	item := o.Shows("", object+": "+message, last)
	switch m := missingSecret.FindStringSubmatch(message); {
	case s("reason") == "FailedCreate" && strings.Contains(message, "violates PodSecurity"):
		if slices.Contains(f.Refused.Value(), object) {
			return
		}
		facts.Append(&f.Refused, object, item)
		if f.Refusal.Value() == "" {
			f.Refusal.Set(message[strings.Index(message, "violates PodSecurity"):], item)
		}
		facts.Earliest(&f.RefusedSince, first, item)
	case s("reason") == "FailedMount" && m != nil && f.Secret.Value() == "":
		f.Secret.Set(m[1], item)
		f.SecretPod.Set(s("involvedObject", "name"), item)
		f.SecretSince.Set(first, item)
		if o.Part() && evidence.String(o.Content, "firstTimestamp") == "" {
			f.SecretSince.Miss(o.NotShown("firstTimestamp"))
		}
	}
}

// workers is the fact hosted-workers: whether any node has joined yet.
type workers struct {
	Nodes   facts.Field[int]       `cel:"nodes"`
	Wanted  facts.Field[int]       `cel:"wanted"`
	Created facts.Field[time.Time] `cel:"created"` // of the oldest NodePool
	Booting facts.Field[int]       `cel:"booting"` // hosts that a console, a request or a person shows, and that are no Nodes yet
	Manual  facts.Field[bool]      `cel:"manual"`  // every NodePool is of platform None: no controller makes its machines
}

func workersFact() facts.Fact {
	return facts.Define("hosted-workers", fault.Cluster, "whether a worker has joined the hosted cluster yet", append(inventory.Needs(),
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace)), readWorkers)
}

func readWorkers(ctx context.Context, w *facts.World, _ fault.Subject) (workers, error) {
	var f workers
	h, err := requireHosted(ctx, w)
	if err != nil {
		return f, err
	}
	pools, err := w.List(ctx, evidence.NodePools, evidence.HostedNamespace)
	if err != nil {
		return f, err
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return f, err
	}
	wanted, manual := 0, true
	f.Nodes.Set(len(nodes), evidence.Listed(evidence.Nodes, "", fmt.Sprintf("%d Nodes", len(nodes))))
	for _, o := range pools {
		if evidence.String(o.Content, "spec", "clusterName") != h.Name {
			continue
		}
		replicas := evidence.Int(o.Content, "spec", "replicas")
		wanted += int(replicas)
		item := o.Shows("spec.replicas", fmt.Sprintf("%d replicas, and %d Nodes are there", replicas, len(nodes)), o.Created())
		f.Wanted.Prove(item)
		f.Nodes.Prove(item)
		platform := evidence.String(o.Content, "spec", "platform", "type")
		manual = manual && platform == "None"
		f.Manual.Prove(o.Shows("spec.platform.type", "platform "+platform, o.Created()))
		facts.Earliest(&f.Created, o.Created(), item)
	}
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return f, err
	}
	booting := 0
	f.Booting.Prove(evidence.Listed(evidence.Nodes, "", fmt.Sprintf("%d Nodes", len(nodes))))
	for _, host := range roll.Hosts {
		if host.Node == nil && (host.Console != "" || len(host.Claims) > 0 || host.Named != nil || host.Hosted != nil) {
			booting++
		}
	}
	f.Booting.Set(booting)
	f.Wanted.Set(wanted)
	f.Manual.Set(manual && wanted > 0)
	facts.Complete(&f)
	return f, nil
}
