// Package agents holds the facts of an agent-based install: what the
// assisted-service on the rendezvous host, or a hub's Agents, say of the hosts and
// of the cluster, and how the service itself answered.
//
// Invariants:
//   - Where nobody asked a service and no Agent was collected the facts have no
//     meaning; they are not unknown.
//   - What a validation means is told by its id, never by its wording. What the end
//     of an installation means is told by the fixed part of the service's sentence.
//   - A host that joined is not judged by the service's old words about it.
package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// Facts lists the facts of this area.
func Facts() []facts.Fact { return []facts.Fact{hostFact, clusterFact, serviceFact} }

// Host is what the service says of one host.
type Host struct {
	Registered bool      `cel:"registered"` // the service knows the host
	Expected   time.Time `cel:"expected"`   // since when it could have registered: the first other host did; zero where none has
	Planned    bool      `cel:"planned"`    // install-config or agent-config names it
	Joined     bool      `cel:"joined"`     // it is a Node
	Service    string    `cel:"service"`    // the address that was asked
	Status     string    `cel:"status"`
	Says       string    `cel:"says"` // the service's sentence about the status
	Since      time.Time `cel:"since"`
	Stage      string    `cel:"stage"` // of the installation; "" before it
	StageSince time.Time `cel:"stageSince"`
	Disk       string    `cel:"disk"` // that it was installed to, or is to be

	Blocked     bool `cel:"blocked"`     // the service does not install it as it is
	Failed      bool `cel:"failed"`      // its installation ended in an error
	TookTooLong bool `cel:"tookTooLong"` // because a stage did not end in its time
	WithCluster bool `cel:"withCluster"` // because the cluster's installation failed
	BootedImage bool `cel:"bootedImage"` // it booted the installation image again
	NotBack     bool `cel:"notBack"`     // it rebooted and nobody saw it since
	Gone        bool `cel:"gone"`        // it has stopped reporting
	MediaLost   bool `cel:"mediaLost"`   // the image that it runs from cannot be read
	Rejected    bool `cel:"rejected"`    // nobody has approved its Agent

	Failing  []string `cel:"failing"`  // ids of validations
	Hardware string   `cel:"hardware"` // what the failing validations of a group say; "" where none fails
	Disks    string   `cel:"disks"`
	Clock    string   `cel:"clock"`
	Peers    string   `cel:"peers"`
	DNS      string   `cel:"dns"`
	Hostname string   `cel:"hostname"`
	Network  string   `cel:"network"`
	Platform string   `cel:"platform"`
	Images   string   `cel:"images"`
	Other    string   `cel:"other"`
}

var hostFact = facts.DefinePlain("agent-host", fault.Host, "what the service of an agent-based install says of the host: status, stage, failing validations",
	append(hosts.Needs(), evidence.Objects(evidence.AssistedServices, "")), readHost)

// groups say what a validation is about
// (openshift/assisted-service:models/host_validation_id.go).
var groups = map[string]string{
	"has-min-cpu-cores": "hardware", "has-min-memory": "hardware", "has-min-valid-disks": "hardware",
	"has-cpu-cores-for-role": "hardware", "has-memory-for-role": "hardware",
	"sufficient-installation-disk-speed": "disks", "no-skip-installation-disk": "disks", "no-skip-missing-disk": "disks",
	"disk-encryption-requirements-satisfied": "disks",
	"ntp-synced":                             "clock", "time-synced-between-host-and-service": "clock",
	"belongs-to-majority-group": "peers", "sufficient-network-latency-requirement-for-role": "peers",
	"sufficient-packet-loss-requirement-for-role": "peers", "mtu-valid": "peers",
	"api-domain-name-resolved-correctly": "dns", "api-int-domain-name-resolved-correctly": "dns", "apps-domain-name-resolved-correctly": "dns",
	"release-domain-name-resolved-correctly": "dns", "dns-wildcard-not-configured": "dns",
	"hostname-unique": "hostname", "hostname-valid": "hostname",
	"machine-cidr-defined": "network", "belongs-to-machine-cidr": "network", "has-default-route": "network", "non-overlapping-subnets": "network",
	"no-ip-collisions-in-network": "network", "no-iscsi-nic-belongs-to-machine-cidr": "network",
	"valid-platform-network-settings": "platform", "compatible-with-cluster-platform": "platform", "vsphere-disk-uuid-enabled": "platform",
	"container-images-available": "images", "ignition-downloadable": "images",
	// Said by the status already: it reports, and its image can be read.
	"connected": "", "media-connected": "", "has-inventory": "",
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, facts.Proof, error) {
	var f Host
	var p facts.Proof
	h, ok, err := hosts.Find(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	services, asked, err := listServices(ctx, w)
	if err != nil {
		return f, p, err
	}
	_, unread := w.List(ctx, evidence.AssistedHosts, "")
	if !ok || h.Assisted == nil && asked && unread != nil {
		return f, p, missing(unread, evidence.AssistedHosts)
	}
	// Where there is no API to ask for Nodes the service's word has to do: it watches
	// for the Node of each host that it installs.
	f.Joined, f.Planned = h.Node != nil || h.Assisted != nil && h.Assisted.API.Reached(assisted.StageJoined), h.Planned != nil
	if len(services) > 0 {
		f.Service = services[0].Address
		p.Add(services[0].loc, services[0].sentence(), services[0].At, "service", "registered")
	}
	if h.Planned != nil {
		p.Add(h.Planned.Loc, "host "+h.Name+" is planned", time.Time{}, "planned")
	}
	if h.Assisted == nil {
		if !asked {
			return f, p, facts.NotApplicable("no service of an agent-based install was asked, and no Agent is of this host")
		}
		err = f.first(ctx, w, &p)
		return f, p, err
	}
	f.fill(h.Assisted.API)
	f.prove(h, &p)
	return f, p, nil
}

// first finds out when the first host registered: from then on the service was there
// for all of them.
func (f *Host) first(ctx context.Context, w *facts.World, p *facts.Proof) error {
	list, err := w.List(ctx, evidence.AssistedHosts, "")
	if err != nil {
		p.Miss("expected", err)
		if _, ok := evidence.AsUnavailable(err); !ok {
			return err
		}
		return nil
	}
	var first evidence.Locator
	for _, o := range list {
		if at := evidence.Time(o.Content, "registered"); !at.IsZero() && (f.Expected.IsZero() || at.Before(f.Expected)) {
			f.Expected, first = at, o.Loc
		}
	}
	if !f.Expected.IsZero() {
		p.Add(first, "the first host registered at "+f.Expected.UTC().Format(time.RFC3339), f.Expected, "expected")
	}
	return nil
}

// missing: the host is not on the roll, so what names it could not be read.
func missing(err error, r evidence.Resource) error {
	if err != nil {
		return err
	}
	return &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.NotCollected, Detail: "the host is not on the roll", Supply: "--rendezvous IP"}
}

func (f *Host) fill(a assisted.Host) {
	f.Registered, f.Status, f.Says, f.Since = true, a.Status, short(a.StatusInfo), a.StatusAt
	f.Stage, f.StageSince, f.Disk, f.Rejected = a.Stage, a.StageAt, a.Disk, a.Rejected
	f.Blocked = slices.Contains([]string{assisted.Insufficient, assisted.PendingForInput, assisted.PreparingFailed, "insufficient-unbound"}, a.Status)
	f.Failed = a.Status == assisted.Error
	f.Gone = strings.HasPrefix(a.Status, assisted.Disconnected)
	f.MediaLost = a.Media == "disconnected"
	says := strings.ToLower(a.StatusInfo)
	// The sentences are those of openshift/assisted-service:internal/host/common.go
	// and, for the image that was booted again, internal/host/transition.go
	// PostRegisterDuringReboot; their fixed parts are compared.
	f.TookTooLong = f.Failed && (strings.Contains(says, "took longer than expected") || strings.Contains(says, "did not sufficiently progress") || strings.Contains(says, "due to timeout"))
	f.WithCluster = f.Failed && strings.Contains(says, "part of a cluster that failed to install")
	// The second one is what becomes of the first after an hour, after 4.21.
	f.BootedImage = strings.Contains(says, "booted the installation image") || strings.Contains(says, "failed to boot from the installation disk")
	f.NotBack = !f.BootedImage && strings.Contains(says, "timed out when pulling the configuration files")
	for _, v := range assisted.Failing(a.Validations) {
		f.Failing = append(f.Failing, v.ID)
		group, known := groups[v.ID]
		if !known {
			group = "other"
		}
		if to := f.group(group); to != nil {
			*to = join(*to, v)
		}
	}
}

func (f *Host) group(name string) *string {
	switch name {
	case "hardware":
		return &f.Hardware
	case "disks":
		return &f.Disks
	case "clock":
		return &f.Clock
	case "peers":
		return &f.Peers
	case "dns":
		return &f.DNS
	case "hostname":
		return &f.Hostname
	case "network":
		return &f.Network
	case "platform":
		return &f.Platform
	case "images":
		return &f.Images
	case "other":
		return &f.Other
	}
	return nil
}

func join(to string, v assisted.Validation) string {
	says := v.Message
	if says == "" {
		says = v.ID
	}
	if to != "" {
		to += "; "
	}
	return short(to + says)
}

func (f Host) prove(h hosts.Host, p *facts.Proof) {
	a := h.Assisted.API
	text := "status " + a.Status
	if a.Stage != "" {
		text += ", stage " + a.Stage
	}
	if a.StatusInfo != "" {
		text += ": " + short(a.StatusInfo)
	}
	p.Add(h.Assisted.Loc, text, a.StatusAt, "registered", "status", "says", "since", "stage", "stageSince", "disk", "blocked", "failed", "tookTooLong",
		"withCluster", "bootedImage", "notBack", "gone", "mediaLost", "rejected")
	for _, v := range assisted.Failing(a.Validations) {
		group, known := groups[v.ID]
		if !known {
			group = "other"
		}
		if group != "" {
			p.Add(h.Assisted.Loc, v.ID+" "+v.Status+": "+short(v.Message), time.Time{}, "failing", group)
		}
	}
}

// Service is how the service on the rendezvous host answered.
type Service struct {
	Address string    `cel:"address"`
	Vantage string    `cel:"vantage"`
	Usable  bool      `cel:"usable"`
	Refused bool      `cel:"refused"` // the host answers and nothing listens
	Denied  bool      `cel:"denied"`  // it wants a token, or another one
	Token   bool      `cel:"token"`   // one was sent
	Error   string    `cel:"error"`
	API     bool      `cel:"api"` // the cluster's API answers with Nodes: the service is needed no more
	At      time.Time `cel:"at"`
}

var serviceFact = facts.DefinePlain("agent-service", fault.Cluster, "how the service on the rendezvous host of an agent-based install answered",
	[]evidence.Need{evidence.Objects(evidence.AssistedServices, ""), evidence.Objects(evidence.Nodes, "")}, readService)

// answer is one service with the place of its object.
type answer struct {
	assisted.Service
	loc evidence.Locator
}

func (a answer) sentence() string {
	if a.Usable {
		return fmt.Sprintf("%s answers: %d clusters, %d hosts", a.Address, a.Clusters, a.Hosts)
	}
	return a.Address + ": " + a.Error
}

// listServices returns the answers, those that can be used first. asked is false
// where nobody asked.
func listServices(ctx context.Context, w *facts.World) (list []answer, asked bool, err error) {
	objects, err := w.List(ctx, evidence.AssistedServices, "")
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, o := range objects {
		svc, err := evidence.Decode[assisted.Service](o)
		if err != nil {
			return nil, false, err
		}
		list = append(list, answer{svc, o.Loc})
	}
	slices.SortStableFunc(list, func(a, b answer) int {
		switch {
		case a.Usable == b.Usable:
			return 0
		case a.Usable:
			return -1
		}
		return 1
	})
	return list, true, nil
}

func readService(ctx context.Context, w *facts.World, _ fault.Subject) (Service, facts.Proof, error) {
	var f Service
	var p facts.Proof
	list, asked, err := listServices(ctx, w)
	if err != nil {
		return f, p, err
	}
	if !asked || len(list) == 0 {
		return f, p, facts.NotApplicable("nobody asked the rendezvous host of an agent-based install")
	}
	a := list[0]
	f = Service{Address: a.Address, Vantage: a.Vantage, Usable: a.Usable, Refused: a.Refused, Token: a.Token, Error: a.Error, At: a.At,
		Denied: a.Status == 401 || a.Status == 403}
	p.Items = append(p.Items, evidence.Item{Locator: a.loc, Excerpt: a.sentence(), From: a.Vantage, Time: a.At})
	nodes, err := w.List(ctx, evidence.Nodes, "")
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case unavailable && u.Why == evidence.NotCollected && !a.Usable:
		p.Miss("api", err)
	case unavailable: // the API was asked and gave none, or does not matter
	case err != nil:
		return f, p, err
	}
	f.API = len(nodes) > 0
	return f, p, nil
}

// Cluster is what the service says of the cluster.
type Cluster struct {
	Name     string    `cel:"name"`
	Status   string    `cel:"status"`
	Says     string    `cel:"says"`
	Since    time.Time `cel:"since"`
	Hosts    int       `cel:"hosts"`  // that have registered
	Wanted   int       `cel:"wanted"` // of the control plane
	Waits    bool      `cel:"waits"`  // its installation has not begun
	Failed   bool      `cel:"failed"`
	Failing  []string  `cel:"failing"`  // ids of validations
	Problems string    `cel:"problems"` // what they say
}

var clusterFact = facts.DefinePlain("agent-cluster", fault.Cluster, "what the service of an agent-based install says of the cluster",
	[]evidence.Need{evidence.Objects(evidence.AssistedClusters, ""), evidence.Objects(evidence.AssistedHosts, ""),
		evidence.Objects(evidence.AgentClusterInstalls, ""), evidence.Objects(evidence.Agents, ""), evidence.Objects(evidence.Nodes, "")}, readCluster)

func readCluster(ctx context.Context, w *facts.World, _ fault.Subject) (Cluster, facts.Proof, error) {
	var f Cluster
	var p facts.Proof
	list, members, err := listClusters(ctx, w)
	if err != nil {
		return f, p, err
	}
	if len(list) == 0 {
		return f, p, facts.NotApplicable("the service knows no cluster")
	}
	c, err := assisted.ClusterOf(list[0])
	if err != nil {
		return f, p, err
	}
	f = Cluster{Name: c.String(), Status: c.Status, Says: short(c.StatusInfo), Since: c.StatusAt, Wanted: int(c.ControlPlanes),
		Waits: slices.Contains([]string{assisted.Insufficient, assisted.PendingForInput}, c.Status), Failed: c.Status == assisted.Error || c.Status == assisted.Cancelled}
	for _, v := range assisted.Failing(c.Validations) {
		f.Failing = append(f.Failing, v.ID)
		f.Problems = join(f.Problems, v)
	}
	p.Add(list[0].Loc, "status "+c.Status+": "+short(c.StatusInfo), c.StatusAt)
	for _, v := range assisted.Failing(c.Validations) {
		p.Add(list[0].Loc, v.ID+" "+v.Status+": "+short(v.Message), time.Time{}, "failing", "problems")
	}
	joined, err := w.List(ctx, members, "")
	switch _, unavailable := evidence.AsUnavailable(err); {
	case unavailable:
		p.Miss("hosts", err)
	case err != nil:
		return f, p, errors.Join(fmt.Errorf("count the hosts of %s", f.Name), err)
	}
	f.Hosts = len(joined)
	return f, p, nil
}

// listClusters returns the cluster of the service, or where nobody asked one the
// AgentClusterInstalls of a source that has no Nodes of its own; members is where
// their hosts are. Those of a hub are of other clusters.
func listClusters(ctx context.Context, w *facts.World) (list []evidence.Object, members evidence.Resource, err error) {
	list, err = w.List(ctx, evidence.AssistedClusters, "")
	if u, ok := evidence.AsUnavailable(err); !ok || u.Why != evidence.NotAsked {
		return list, evidence.AssistedHosts, err
	}
	list, wrong := w.List(ctx, evidence.AgentClusterInstalls, "")
	_, noNodes := evidence.AsUnavailable(second(w.List(ctx, evidence.Nodes, "")))
	_, noAgents := evidence.AsUnavailable(second(w.List(ctx, evidence.Agents, "")))
	if _, ok := evidence.AsUnavailable(wrong); ok || !noNodes || noAgents {
		return nil, evidence.Agents, facts.NotApplicable("nobody asked the rendezvous host of an agent-based install")
	}
	return list, evidence.Agents, wrong
}

func second[T any](_ T, err error) error { return err }

// short keeps a sentence of the service readable.
func short(s string) string {
	const most = 300
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
