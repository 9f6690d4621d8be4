package csrs

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// HostRequests is the fact host-csrs. Requests are deleted: answered ones after
// an hour, others after a day. "none" is therefore no sign of trouble in a host
// that is a Node.
type HostRequests struct {
	Client        string    `cel:"client"` // state of the newest request for a first client certificate: none, pending, approved, issued, denied, failed
	ClientName    string    `cel:"clientName"`
	ClientSince   time.Time `cel:"clientSince"` // when the newest was made
	ClientPending int       `cel:"clientPending"`
	ClientKeys    int       `cel:"clientKeys"`
	FirstAsked    time.Time `cel:"firstAsked"` // when the oldest client request was made that is still kept
	Serving       string    `cel:"serving"`
	ServingName   string    `cel:"servingName"`
	ServingSince  time.Time `cel:"servingSince"`
	NetworkDenied int       `cel:"networkDenied"` // requests of the network plugins on this host that were denied
	AsAdmin       int       `cel:"asAdmin"`       // requests for this host that were made with an administrator's credential
	AdminSince    time.Time `cel:"adminSince"`
	Seen          bool      `cel:"seen"` // there is any request of this host
}

const none = "none"

// HostFact is the fact host-csrs.
func HostFact() facts.Fact {
	return facts.DefinePlain("host-csrs", fault.Host, "where a host's certificate requests stand", hosts.Needs(), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (HostRequests, facts.Proof, error) {
	out := HostRequests{Client: none, Serving: none}
	var p facts.Proof
	all, err := All(ctx, w)
	if err != nil {
		return out, p, err
	}
	h, ok, err := hosts.Find(ctx, w, s.Name)
	if err != nil {
		return out, p, err
	}
	if !ok {
		return out, p, facts.NotApplicable("there is no host %s", s.Name)
	}
	keys := map[string]bool{}
	for _, r := range ForHost(all, h) {
		out.Seen = true
		if out.admin(r) {
			p.Add(r.Loc.At("spec.username"), r.sentence(), r.Created, "asAdmin", "adminSince")
		}
		switch {
		case r.Kind == Network && r.State == Denied:
			out.NetworkDenied++
			p.Add(r.Loc.At("status.conditions"), r.Denial.Message, r.Denial.At, "networkDenied")
		case r.Kind == Client && !r.Renews():
			if out.FirstAsked.IsZero() {
				out.FirstAsked = r.Created
			}
			keys[r.KeyDigest] = true
			if r.State == Pending {
				out.ClientPending++
			}
			out.Client, out.ClientName, out.ClientSince = string(r.State), r.Name, r.Created
			addNewest(&p, r, "client", "clientName", "clientSince", "clientPending", "firstAsked")
		case r.Kind == Serving:
			out.Serving, out.ServingName, out.ServingSince = string(r.State), r.Name, r.Created
			addNewest(&p, r, "serving", "servingName", "servingSince")
		}
	}
	out.ClientKeys = len(keys)
	if !out.Seen {
		p.Add(evidence.Locator{Path: evidence.CSRs.String()}, "no request of "+h.Name, time.Time{}, "seen", "client", "serving")
	}
	return out, p, nil
}

// admin counts a request in the node's name that a kubelet or a network plugin made
// as an administrator: with the kubeconfig for people on control-plane hosts
// (openshift/cluster-kube-apiserver-operator:bindata/assets/kube-apiserver/node-kubeconfigs.yaml).
func (out *HostRequests) admin(r Request) bool {
	if r.Kind != Client && r.Kind != Network || !slices.Contains(r.Groups, "system:masters") {
		return false
	}
	out.AsAdmin++
	if out.AdminSince.IsZero() || r.Created.Before(out.AdminSince) {
		out.AdminSince = r.Created
	}
	return true
}

// addNewest keeps one item for these fields: that of the newest request.
func addNewest(p *facts.Proof, r Request, fields ...string) {
	for i := range p.Items {
		if len(p.Items[i].Fields) > 0 && p.Items[i].Fields[0] == fields[0] {
			p.Items = append(p.Items[:i], p.Items[i+1:]...)
			break
		}
	}
	p.Add(r.Loc, r.sentence(), r.Created, fields...)
}

// ForHost returns the requests of a host, oldest first: those for its Node's
// name and those that the roll counts as its claims.
func ForHost(all []Request, h hosts.Host) []Request {
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
