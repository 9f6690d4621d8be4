package hosted

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Workloads is the fact hosted-workloads: the parts of the control plane on which the
// join of a worker depends. Each is ready, down or none (there is no such Deployment).
type Workloads struct {
	Ignition      string    `cel:"ignition"` // ignition-server and its proxy
	IgnitionSince time.Time `cel:"ignitionSince"`
	Approver      string    `cel:"approver"` // machine-approver
	ApproverSince time.Time `cel:"approverSince"`
	Identity      string    `cel:"identity"` // network-node-identity: it approves the network plugin's certificates
	IdentitySince time.Time `cel:"identitySince"`
	Machines      string    `cel:"machines"` // cluster-api and capi-provider: they make Machines
	MachinesSince time.Time `cel:"machinesSince"`
	OVN           string    `cel:"ovn"` // ovnkube-control-plane
	OVNSince      time.Time `cel:"ovnSince"`
}

func workloadsFact() facts.Fact {
	return facts.DefinePlain("hosted-workloads", fault.Cluster, "the parts of the hosted control plane on which the join of a worker depends",
		[]evidence.Need{evidence.Objects(evidence.HostedDeployments, evidence.ControlPlaneNamespace)}, readWorkloads)
}

func readWorkloads(ctx context.Context, w *facts.World, _ fault.Subject) (Workloads, facts.Proof, error) {
	var f Workloads
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	list, err := w.List(ctx, evidence.HostedDeployments, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, p, err
	}
	for _, part := range []struct {
		state *string
		since *time.Time
		field string
		names []string
	}{
		{&f.Ignition, &f.IgnitionSince, "ignition", []string{"ignition-server", "ignition-server-proxy"}},
		{&f.Approver, &f.ApproverSince, "approver", []string{"machine-approver"}},
		{&f.Identity, &f.IdentitySince, "identity", []string{"network-node-identity"}},
		{&f.Machines, &f.MachinesSince, "machines", []string{"cluster-api", "capi-provider"}},
		{&f.OVN, &f.OVNSince, "ovn", []string{"ovnkube-control-plane", "ovnkube-master"}},
	} {
		*part.state = "none"
		for _, o := range list {
			if !slices.Contains(part.names, o.Name) || *part.state == "down" {
				continue
			}
			*part.state, *part.since = deployment(o, &p, part.field)
		}
	}
	return f, p, nil
}

// deployment: scaled to zero is down, too: nothing answers.
func deployment(o evidence.Object, p *facts.Proof, field string) (string, time.Time) {
	available, wanted := evidence.Int(o.Content, "status", "availableReplicas"), evidence.Int(o.Content, "spec", "replicas")
	if available > 0 {
		return "ready", time.Time{}
	}
	c := conditions.Find(conditions.Of(o), "Available")
	since := c.Since
	if since.IsZero() {
		since = o.Created()
	}
	text := fmt.Sprintf("%s: 0 of %d available", o.Name, wanted)
	if c.Status == "False" && c.Message != "" {
		text += ": " + c.Message
	}
	p.Add(o.Loc.At("status.availableReplicas"), text, since, field, field+"Since")
	return "down", since
}

// Events is the fact hosted-events: what the management cluster refuses to the
// control plane's pods.
type Events struct {
	Refused      []string  `cel:"refused"` // what the PodSecurity admission refuses pods to
	Refusal      string    `cel:"refusal"` // the first violation, as said
	RefusedSince time.Time `cel:"refusedSince"`
	Secret       string    `cel:"secret"` // a Secret that a pod wants to mount and that is not there
	SecretPod    string    `cel:"secretPod"`
	SecretSince  time.Time `cel:"secretSince"`
}

// recent is how old an event may be and still speak of the present; a ReplicaSet is
// tried again at least every 16 minutes.
const recent = 30 * time.Minute

var missingSecret = regexp.MustCompile(`MountVolume\.SetUp failed for volume "[^"]*" ?: secret "([^"]+)" not found`)

func eventsFact() facts.Fact {
	return facts.DefinePlain("hosted-events", fault.Cluster, "what the management cluster refuses to the pods of the hosted control plane",
		[]evidence.Need{evidence.Objects(evidence.HostedEvents, evidence.ControlPlaneNamespace)}, readEvents)
}

func readEvents(ctx context.Context, w *facts.World, _ fault.Subject) (Events, facts.Proof, error) {
	var f Events
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	list, err := w.List(ctx, evidence.HostedEvents, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, p, err
	}
	for _, o := range list {
		f.event(w.Now, o, &p)
	}
	slices.Sort(f.Refused)
	return f, p, nil
}

func (f *Events) event(now time.Time, o evidence.Object, p *facts.Proof) {
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
	switch m := missingSecret.FindStringSubmatch(message); {
	case s("reason") == "FailedCreate" && strings.Contains(message, "violates PodSecurity"):
		if slices.Contains(f.Refused, object) {
			return
		}
		f.Refused = append(f.Refused, object)
		if f.Refusal == "" {
			f.Refusal = message[strings.Index(message, "violates PodSecurity"):]
		}
		f.RefusedSince = earlier(f.RefusedSince, first)
		p.Add(o.Loc, object+": "+message, last, "refused", "refusal", "refusedSince")
	case s("reason") == "FailedMount" && m != nil && f.Secret == "":
		f.Secret, f.SecretPod, f.SecretSince = m[1], s("involvedObject", "name"), first
		p.Add(o.Loc, object+": "+message, last, "secret", "secretPod", "secretSince")
	}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// Workers is the fact hosted-workers: whether any node has joined yet.
type Workers struct {
	Nodes   int       `cel:"nodes"`
	Wanted  int       `cel:"wanted"`
	Created time.Time `cel:"created"` // of the oldest NodePool
}

func workersFact() facts.Fact {
	return facts.DefinePlain("hosted-workers", fault.Cluster, "whether a worker has joined the hosted cluster yet", []evidence.Need{
		evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
	}, readWorkers)
}

func readWorkers(ctx context.Context, w *facts.World, _ fault.Subject) (Workers, facts.Proof, error) {
	var f Workers
	var p facts.Proof
	h, err := looked(ctx, w)
	if err != nil {
		return f, p, err
	}
	pools, err := w.List(ctx, evidence.NodePools, evidence.HostedNamespace)
	if err != nil {
		return f, p, err
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return f, p, err
	}
	f.Nodes = len(nodes)
	for _, o := range pools {
		if evidence.String(o.Content, "spec", "clusterName") != h.Name {
			continue
		}
		f.Wanted += int(evidence.Int(o.Content, "spec", "replicas"))
		f.Created = earlier(f.Created, o.Created())
		p.Add(o.Loc.At("spec.replicas"), fmt.Sprintf("%d replicas, and %d Nodes are there", evidence.Int(o.Content, "spec", "replicas"), f.Nodes), o.Created(), "nodes", "wanted", "created")
	}
	return f, p, nil
}
