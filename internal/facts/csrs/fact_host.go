package csrs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// HostRequests is the fact host-csrs. Requests are deleted: answered ones after
// an hour, others after a day. "none" is therefore no sign of trouble in a host
// that is a Node.
type HostRequests struct {
	// state of the newest request for a first client certificate: none, pending, approved,
	// issued, denied, failed
	Client        facts.Field[string]    `cel:"client"`
	ClientName    facts.Field[string]    `cel:"clientName"`
	ClientSince   facts.Field[time.Time] `cel:"clientSince"` // when the newest was made
	ClientPending facts.Field[int]       `cel:"clientPending"`
	ClientKeys    facts.Field[int]       `cel:"clientKeys"`
	FirstAsked    facts.Field[time.Time] `cel:"firstAsked"` // when the oldest client request was made that is still kept
	Serving       facts.Field[string]    `cel:"serving"`
	ServingName   facts.Field[string]    `cel:"servingName"`
	ServingSince  facts.Field[time.Time] `cel:"servingSince"`
	NetworkDenied facts.Field[int]       `cel:"networkDenied"` // requests of the network plugins on this host that were denied
	AsAdmin       facts.Field[int]       `cel:"asAdmin"`       // requests for this host that were made with an administrator's credential
	AdminSince    facts.Field[time.Time] `cel:"adminSince"`
	Seen          facts.Field[bool]      `cel:"seen"` // there is any request of this host
}

const none = "none"

// HostFact is the fact host-csrs.
func HostFact() facts.Fact {
	return facts.Define("host-csrs", fault.Host, "where a host's certificate requests stand", inventory.Needs(), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (HostRequests, error) {
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	all, err := All(ctx, w)
	if err != nil {
		return HostRequests{}, err
	}
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return HostRequests{}, err
	}
	if !ok {
		return HostRequests{}, facts.NotApplicable("there is no host %s", s.Name)
	}
	var c hostRequests
	for _, r := range forHost(all, h) {
		c.add(r)
	}
	for _, r := range all {
		if r.Broken != "" && r.NodeName == "" {
			c.gap = &evidence.Unavailable{
				Need:   evidence.Objects(evidence.CSRs, ""),
				Why:    evidence.Damaged,
				Detail: "whose request " + r.Name + " is cannot be read",
			}
		}
	}
	return c.fields(evidence.Listed(evidence.CSRs, "", fmt.Sprintf("none of the %d requests is of %s", len(all), h.Name))), nil
}

// hostRequests are the requests of one host, oldest first.
type hostRequests struct {
	client, serving, admin, denied []Request
	own                            []evidence.Item // client certificates that the kubelet got as itself
	pending                        int
	seen                           []Request
	gap                            error // a request that may be the host's
}

func (c *hostRequests) add(r Request) {
	c.seen = append(c.seen, r)
	if byAdmin(r) {
		c.admin = append(c.admin, r)
	} else if r.Kind == Client && r.State == Issued { // the kubelet is the node again: what was asked as an administrator is over
		c.admin, c.own = nil, append(c.own, r.item())
	}
	switch {
	case r.Kind == Network && r.State == Denied:
		c.denied = append(c.denied, r)
	case r.Kind == Client && !r.Renews():
		c.client = append(c.client, r)
		if r.State == Pending {
			c.pending++
		}
	case r.Kind == Serving:
		c.serving = append(c.serving, r)
	}
}

// byAdmin reports whether a kubelet or a network plugin made a request in the node's
// name as an administrator: with the kubeconfig for people on control-plane hosts
// (openshift/cluster-kube-apiserver-operator:bindata/assets/kube-apiserver/node-kubeconfigs.yaml).
func byAdmin(r Request) bool {
	return (r.Kind == Client || r.Kind == Network) && slices.Contains(r.Groups, openshift.MastersGroup)
}

// fields sets every field with the newest request that it is about; silent is what
// shows that there is none.
func (c *hostRequests) fields(silent evidence.Item) HostRequests {
	newest := func(list []Request) (Request, evidence.Item) {
		if len(list) == 0 {
			return Request{State: none}, silent
		}
		r := list[len(list)-1]
		return r, r.item()
	}
	var out HostRequests
	_, shown := newest(c.seen)
	out.Seen.Set(len(c.seen) > 0, shown)
	r, shown := newest(c.client)
	first, keys := time.Time{}, map[string]bool{}
	for _, r := range c.client {
		keys[r.KeyDigest] = true
	}
	if len(c.client) > 0 {
		first = c.client[0].Created
	}
	out.Client.Set(string(r.State), shown)
	out.ClientName.Set(r.Name, shown)
	out.ClientSince.Set(r.Created, shown)
	out.ClientPending.Set(c.pending, shown)
	out.ClientKeys.Set(len(keys), shown)
	out.FirstAsked.Set(first, shown)
	r, shown = newest(c.serving)
	out.Serving.Set(string(r.State), shown)
	out.ServingName.Set(r.Name, shown)
	out.ServingSince.Set(r.Created, shown)
	out.denied(c.denied, silent)
	if len(c.own) > 0 {
		silent = c.own[len(c.own)-1]
	}
	out.admins(c.admin, silent)
	if c.gap == nil {
		return out
	}
	for _, of := range []struct {
		list   []Request
		fields []facts.Setter
	}{
		{c.seen, []facts.Setter{&out.Seen}},
		{c.client, []facts.Setter{&out.Client, &out.ClientName, &out.ClientSince, &out.ClientPending, &out.ClientKeys, &out.FirstAsked}},
		{c.serving, []facts.Setter{&out.Serving, &out.ServingName, &out.ServingSince}},
		{c.denied, []facts.Setter{&out.NetworkDenied}},
		{c.admin, []facts.Setter{&out.AsAdmin, &out.AdminSince}},
	} {
		if len(of.list) == 0 {
			_ = facts.Miss(c.gap, of.fields...)
		}
	}
	return out
}

func (out *HostRequests) denied(list []Request, silent evidence.Item) {
	out.NetworkDenied.Set(len(list))
	for _, r := range list {
		out.NetworkDenied.Prove(evidence.Item{Locator: r.Loc.At("status.conditions"), Excerpt: r.Denial.Message, Time: r.Denial.At})
	}
	if len(list) == 0 {
		out.NetworkDenied.Prove(silent)
	}
}

func (out *HostRequests) admins(list []Request, silent evidence.Item) {
	out.AsAdmin.Set(len(list))
	out.AdminSince.Set(time.Time{})
	for _, r := range list {
		item := evidence.Item{Locator: r.Loc.At("spec.username"), Excerpt: r.sentence(), Time: r.Created}
		facts.Earliest(&out.AdminSince, r.Created)
		facts.Prove(item, &out.AsAdmin, &out.AdminSince)
	}
	if len(list) == 0 {
		facts.Prove(silent, &out.AsAdmin, &out.AdminSince)
	}
}

// forHost returns the requests of a host, oldest first: those for its Node's
// name and those that the roll counts as its claims.
func forHost(all []Request, h inventory.Host) []Request {
	claimed := map[string]bool{}
	for _, c := range h.Claims {
		claimed[c.Name] = true
	}
	node := h.Name
	if h.Node != nil {
		node = h.Node.API.Name
	}
	var list []Request
	for _, r := range all {
		if claimed[r.Name] || (r.NodeName != "" && r.NodeName == node) {
			list = append(list, r)
		}
	}
	return list
}
