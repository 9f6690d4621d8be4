// Package agents holds the facts of an agent-based install: what the
// assisted-service on the rendezvous host, or a hub's Agents, say of the hosts and
// of the cluster, and how the service itself answered.
//
// Invariants:
//   - Where no service was asked and no Agent was collected the facts have no
//     meaning; they are not unknown.
//   - What a validation means is told by its id, never by its wording. What the end
//     of an installation means is told by the fixed part of the service's sentence.
//   - A host that joined is not judged by the service's old words about it.
package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// Facts lists the facts of this area.
func Facts() []facts.Fact { return []facts.Fact{hostFact, clusterFact, serviceFact} }

// host is what the service says of one host.
type host struct {
	Registered facts.Field[bool]      `cel:"registered"` // the service knows the host
	Expected   facts.Field[time.Time] `cel:"expected"`   // since when it could have registered: the first other host did; zero where none has
	Planned    facts.Field[bool]      `cel:"planned"`    // install-config or agent-config names it
	Joined     facts.Field[bool]      `cel:"joined"`     // it is a Node
	Service    facts.Field[string]    `cel:"service"`    // the address that was asked
	Status     facts.Field[string]    `cel:"status"`
	Says       facts.Field[string]    `cel:"says"` // the service's sentence about the status
	Since      facts.Field[time.Time] `cel:"since"`
	Stage      facts.Field[string]    `cel:"stage"` // of the installation; "" before it
	StageSince facts.Field[time.Time] `cel:"stageSince"`

	Blocked     facts.Field[bool] `cel:"blocked"`     // the service does not install it as it is
	Failed      facts.Field[bool] `cel:"failed"`      // its installation ended in an error
	TookTooLong facts.Field[bool] `cel:"tookTooLong"` // because a stage did not end in its time
	WithCluster facts.Field[bool] `cel:"withCluster"` // because the cluster's installation failed
	BootedImage facts.Field[bool] `cel:"bootedImage"` // it booted the installation image again
	NotBack     facts.Field[bool] `cel:"notBack"`     // it rebooted and was not seen since
	Gone        facts.Field[bool] `cel:"gone"`        // it has stopped reporting
	MediaLost   facts.Field[bool] `cel:"mediaLost"`   // the image that it runs from cannot be read
	Rejected    facts.Field[bool] `cel:"rejected"`    // its Agent is not approved

	Failing  facts.Field[[]string] `cel:"failing"`  // ids of validations
	Hardware facts.Field[string]   `cel:"hardware"` // what the failing validations of a group say; "" where none fails
	Disks    facts.Field[string]   `cel:"disks"`
	Clock    facts.Field[string]   `cel:"clock"`
	Peers    facts.Field[string]   `cel:"peers"`
	DNS      facts.Field[string]   `cel:"dns"`
	Hostname facts.Field[string]   `cel:"hostname"`
	Network  facts.Field[string]   `cel:"network"`
	Platform facts.Field[string]   `cel:"platform"`
	Images   facts.Field[string]   `cel:"images"`
	Other    facts.Field[string]   `cel:"other"`
}

var hostFact = facts.Define("agent-host", fault.Host, "what the service of an agent-based install says of the host: status, stage, failing validations",
	append(inventory.Needs(), evidence.Objects(evidence.AssistedServices, "")), readHost)

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

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (host, error) {
	var f host
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	services, asked, err := listServices(ctx, w)
	if err != nil {
		return f, err
	}
	known, unread := w.List(ctx, evidence.AssistedHosts, "")
	if !ok || h.Assisted == nil && asked && unread != nil {
		return f, missing(unread, evidence.AssistedHosts)
	}
	if h.Assisted == nil && !asked {
		return f, facts.NotApplicable("no service of an agent-based install was asked, and no Agent is of this host")
	}
	if err := f.setFromOtherSources(ctx, w, h); err != nil {
		return f, err
	}
	if len(services) > 0 {
		item := services[0].item()
		f.Service.Set(services[0].Address, item)
		f.Registered.Prove(item)
	}
	if h.Assisted == nil {
		f.Registered.Set(false, evidence.Listed(evidence.AssistedHosts, "", fmt.Sprintf("none of the %d hosts that registered is %s", len(known), h.Name)))
		f.first(known)
	} else {
		f.fill(h.Assisted.API, h.Assisted.Loc)
	}
	facts.Complete(&f)
	return f, nil
}

// setFromOtherSources sets what sources other than the service report about the host. If there is
// no API to list Nodes, the service decides: it watches for the Node of each host that it
// installs.
func (f *host) setFromOtherSources(ctx context.Context, w *facts.World, h inventory.Host) error {
	if h.Planned != nil {
		f.Planned.Set(true, evidence.Item{Locator: h.Planned.Loc, Excerpt: "host " + h.Name + " is planned"})
	}
	_, err := w.List(ctx, evidence.Nodes, "")
	switch {
	case h.Node != nil:
		f.Joined.Set(true, evidence.Item{Locator: h.Node.Loc, Excerpt: "node " + h.Node.API.Name})
	case h.Assisted != nil:
		joined := h.Assisted.API.Reached(assisted.StageJoined)
		f.Joined.Set(joined, evidence.Item{Locator: h.Assisted.Loc, Excerpt: fmt.Sprintf("stage %q, joined: %t", h.Assisted.API.Stage, joined)})
	case err == nil:
		f.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "none is of host "+h.Name))
	default:
		u, ok := evidence.AsUnavailable(err)
		if !ok {
			return err
		}
		if u.Why.MayHideObjects() {
			f.Joined.Miss(err)
		}
	}
	return nil
}

// first finds out when the first host registered: from then on the service was there
// for all of them.
func (f *host) first(list []evidence.Object) {
	for _, o := range list {
		at := evidence.Time(o.Content, "registered")
		if t := f.Expected.Value(); !at.IsZero() && (t.IsZero() || at.Before(t)) {
			f.Expected.Clear()
			f.Expected.Set(at, o.Shows("registered", "the first host registered at "+excerpt.Time(at), at))
		}
	}
}

// missing: the host is not on the roll, so what names it could not be read.
func missing(err error, r evidence.Resource) error {
	if err != nil {
		return err
	}
	return &evidence.Unavailable{
		Need:   evidence.Objects(r, ""),
		Why:    evidence.NotCollected,
		Detail: "the host is not on the roll",
		Supply: evidence.Supply{Kind: evidence.SupplyRendezvous},
	}
}

// fill sets what the service says.
func (f *host) fill(a assisted.Host, loc evidence.Locator) {
	text := "status " + a.Status
	if a.Stage != "" {
		text += ", stage " + a.Stage
	}
	if a.StatusInfo != "" {
		text += ": " + short(a.StatusInfo)
	}
	item := evidence.Item{Locator: loc, Excerpt: text, Time: a.StatusAt}
	f.Registered.Set(true, item)
	f.Status.Set(a.Status, item)
	f.Says.Set(short(a.StatusInfo), item)
	f.Since.Set(a.StatusAt, item)
	f.Stage.Set(a.Stage, item)
	f.StageSince.Set(a.StageAt, item)
	f.Rejected.Set(a.Rejected, item)
	f.Blocked.Set(slices.Contains([]string{assisted.Insufficient, assisted.PendingForInput, assisted.PreparingFailed, "insufficient-unbound"}, a.Status), item)
	f.Gone.Set(strings.HasPrefix(a.Status, assisted.Disconnected), item)
	f.MediaLost.Set(a.Media == "disconnected", item)
	f.sentence(a, item)
	f.validations(a, loc)
}

// sentence sets what the service's sentence means. The sentences are those of
// openshift/assisted-service:internal/host/common.go and, for the image that was booted
// again, internal/host/transition.go PostRegisterDuringReboot; their fixed parts are
// compared.
func (f *host) sentence(a assisted.Host, item evidence.Item) {
	failed, says := a.Status == assisted.Error, strings.ToLower(a.StatusInfo)
	f.Failed.Set(failed, item)
	f.TookTooLong.Set(failed && (strings.Contains(says, "took longer than expected") || strings.Contains(says, "did not sufficiently progress") ||
		strings.Contains(says, "due to timeout")), item)
	f.WithCluster.Set(failed && strings.Contains(says, "part of a cluster that failed to install"), item)
	// The second one is what becomes of the first after an hour, after 4.21.
	booted := strings.Contains(says, "booted the installation image") || strings.Contains(says, "failed to boot from the installation disk")
	f.BootedImage.Set(booted, item)
	f.NotBack.Set(!booted && strings.Contains(says, "timed out when pulling the configuration files"), item)
}

// validations sets what the validations that fail say. A host that has reported none has
// none that fails: they are made from its inventory.
func (f *host) validations(a assisted.Host, loc evidence.Locator) {
	list := assisted.Failing(a.Validations)
	none := evidence.Item{Locator: loc, Excerpt: fmt.Sprintf("%d of %d validations fail", len(list), len(a.Validations))}
	f.Failing.Set(nil, none)
	for _, name := range groupNames {
		f.group(name).Set("", none)
	}
	for _, v := range list {
		item := evidence.Item{Locator: loc, Excerpt: v.ID + " " + v.Status + ": " + short(v.Message)}
		facts.Append(&f.Failing, v.ID, item)
		group, known := groups[v.ID]
		if !known {
			group = "other"
		}
		if to := f.group(group); to != nil {
			to.Set(join(to.Value(), v), item)
		}
	}
}

// groupNames are the groups that have a field.
var groupNames = []string{"hardware", "disks", "clock", "peers", "dns", "hostname", "network", "platform", "images", "other"}

func (f *host) group(name string) *facts.Field[string] {
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

// service is how the service on the rendezvous host answered.
type service struct {
	Address facts.Field[string] `cel:"address"`
	Vantage facts.Field[string] `cel:"vantage"`
	Usable  facts.Field[bool]   `cel:"usable"`
	Denied  facts.Field[bool]   `cel:"denied"` // it wants a token, or another one
	Error   facts.Field[string] `cel:"error"`
	API     facts.Field[bool]   `cel:"api"` // the cluster's API answers with Nodes: the service is needed no more
}

var serviceFact = facts.Define("agent-service", fault.Cluster, "how the service on the rendezvous host of an agent-based install answered",
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

func (a answer) item() evidence.Item {
	return evidence.Item{Locator: a.loc, Excerpt: a.sentence(), From: a.Vantage, Time: a.At}
}

// listServices returns the answers, those that can be used first. asked is false
// where no service was asked.
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

func readService(ctx context.Context, w *facts.World, _ fault.Subject) (service, error) {
	var f service
	list, asked, err := listServices(ctx, w)
	if err != nil {
		return f, err
	}
	if !asked || len(list) == 0 {
		return f, facts.NotApplicable("the rendezvous host of an agent-based install was not queried")
	}
	a := list[0]
	item := a.item()
	f.Address.Set(a.Address, item)
	f.Vantage.Set(a.Vantage, item)
	f.Usable.Set(a.Usable, item)
	f.Denied.Set(a.Status == 401 || a.Status == 403, item)
	f.Error.Set(a.Error, item)
	nodes, err := w.List(ctx, evidence.Nodes, "")
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case unavailable && u.Why == evidence.NotCollected && !a.Usable:
		f.API.Miss(err)
	case err != nil && !unavailable:
		return f, err
	default: // the API was asked and gave none, or it does not matter
		f.API.Set(len(nodes) > 0, item)
	}
	return f, nil
}

// cluster is what the service says of the cluster.
type cluster struct {
	Name     facts.Field[string]    `cel:"name"`
	Status   facts.Field[string]    `cel:"status"`
	Says     facts.Field[string]    `cel:"says"`
	Since    facts.Field[time.Time] `cel:"since"`
	Hosts    facts.Field[int]       `cel:"hosts"` // that have registered
	Waits    facts.Field[bool]      `cel:"waits"` // its installation has not begun
	Failed   facts.Field[bool]      `cel:"failed"`
	Failing  facts.Field[[]string]  `cel:"failing"`  // ids of validations
	Problems facts.Field[string]    `cel:"problems"` // what they say
	Reason   facts.Field[string]    `cel:"reason"`   // the sentence about the status, and the first validation that is not passed
}

var clusterFact = facts.Define("agent-cluster", fault.Cluster, "what the service of an agent-based install says of the cluster",
	[]evidence.Need{evidence.Objects(evidence.AssistedClusters, ""), evidence.Objects(evidence.AssistedHosts, ""),
		evidence.Objects(evidence.AgentClusterInstalls, ""), evidence.Objects(evidence.Agents, ""), evidence.Objects(evidence.Nodes, "")}, readCluster)

func readCluster(ctx context.Context, w *facts.World, _ fault.Subject) (cluster, error) {
	var f cluster
	list, members, err := listClusters(ctx, w)
	if err != nil {
		return f, err
	}
	if len(list) == 0 {
		return f, facts.NotApplicable("the service knows no cluster")
	}
	c, err := assisted.ClusterOf(list[0])
	if err != nil {
		return f, err
	}
	f.fill(c, list[0])
	joined, err := w.List(ctx, members, "")
	if err != nil {
		return f, facts.Miss(err, &f.Hosts)
	}
	f.Hosts.Set(len(joined), evidence.Listed(members, "", fmt.Sprintf("%d hosts", len(joined))))
	return f, nil
}

func (f *cluster) fill(c assisted.Cluster, o evidence.Object) {
	item := o.Shows("", "status "+c.Status+": "+short(c.StatusInfo), c.StatusAt)
	f.Name.Set(c.String(), item)
	f.Status.Set(c.Status, item)
	f.Says.Set(short(c.StatusInfo), item)
	f.Since.Set(c.StatusAt, item)
	f.Waits.Set(slices.Contains([]string{assisted.Insufficient, assisted.PendingForInput}, c.Status), item)
	f.Failed.Set(c.Status == assisted.Error || c.Status == assisted.Cancelled, item)
	f.Failing.Set(nil, item)
	f.Problems.Set("", item)
	for _, v := range assisted.Failing(c.Validations) {
		fails := o.Shows("", v.ID+" "+v.Status+": "+short(v.Message), time.Time{})
		facts.Append(&f.Failing, v.ID, fails)
		f.Problems.Set(join(f.Problems.Value(), v), fails)
	}
	f.reason(c, o, item)
}

// reason adds to the service's sentence, which names no validation, those that are not passed. While input is missing,
// one that is pending waits for it (openshift/assisted-service:internal/cluster/validator.go).
func (f *cluster) reason(c assisted.Cluster, o evidence.Object, item evidence.Item) {
	open := assisted.Failing(c.Validations)
	if len(open) == 0 && c.Status == assisted.PendingForInput {
		open = assisted.Awaited(c.Validations)
	}
	says := short(c.StatusInfo)
	if len(open) > 0 {
		item = o.Shows("", open[0].ID+" "+open[0].Status+": "+short(open[0].Message), time.Time{})
		says = strings.TrimSuffix(says, ".") + "; " + assisted.Unmet(open)
	}
	f.Reason.Set(says, item)
}

// listClusters returns the cluster of the service, or where none was asked the
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
		return nil, evidence.Agents, facts.NotApplicable("the rendezvous host of an agent-based install was not queried")
	}
	return list, evidence.Agents, wrong
}

func second[T any](_ T, err error) error { return err }

// short keeps a sentence of the service readable.
func short(s string) string {
	const most = 300
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return evidence.Shorten(s, most)
}
