package csrs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// MachineNamespace is where the Machines of a self-managed cluster live.
const MachineNamespace = openshift.MachineAPINamespace

// Kept is how long the controller manager keeps requests that were answered
// (kubernetes/kubernetes:pkg/controller/certificates/cleaner/cleaner.go
// approvedExpiration, deniedExpiration); pending ones are kept for 24 h.
const Kept = time.Hour

// All returns every request, oldest first.
func All(ctx context.Context, w *facts.World) ([]Request, error) {
	return facts.Memo(ctx, w, "csrs.all", func(ctx context.Context, w *facts.World) ([]Request, error) {
		objects, err := w.List(ctx, evidence.CSRs, "")
		if err != nil {
			return nil, err
		}
		var all []Request
		for _, o := range objects {
			r, err := parse(o)
			if _, damaged := evidence.AsUnavailable(err); damaged { // it must neither hide the others nor be none
				r, err = Request{Name: o.Name, Created: o.Created(), Kind: Other, Broken: err.Error(), Loc: o.Loc}, nil
			}
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		slices.SortFunc(all, func(a, b Request) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
		})
		return all, nil
	})
}

// Siblings returns the requests of the same kind for the same node, oldest
// first, r among them. The kubelet makes a new one, with a new key, at every
// start and every 15 minutes without an answer; only the newest is of use to it
// (kubernetes/client-go:util/certificate/certificate_manager.go).
func Siblings(all []Request, r Request) []*Request {
	var list []*Request
	for i := range all { // requests are large: those of a flood are not copied for each of them
		if o := &all[i]; o.Kind == r.Kind && o.NodeName == r.NodeName && o.Signer == r.Signer {
			list = append(list, o)
		}
	}
	return list
}

// Newest reports whether no younger request of its kind exists for the node. A
// request whose node is not known stands for itself.
func Newest(all []Request, r Request) bool {
	if r.NodeName == "" {
		return true
	}
	same := Siblings(all, r)
	return same[len(same)-1].Name == r.Name
}

// machines returns the Machines as the approver sees them. A cluster without the
// Machine API has none, which is known.
func machines(ctx context.Context, w *facts.World) ([]machine, error) {
	return facts.Memo(ctx, w, "csrs.machines", func(ctx context.Context, w *facts.World) ([]machine, error) {
		if h, err := w.Hosted(ctx); err != nil || h != nil {
			return hostedMachines(ctx, w, err)
		}
		objects, err := w.List(ctx, evidence.Machines, MachineNamespace)
		if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var all []machine
		for _, o := range objects {
			m, err := evidence.Decode[apitypes.Machine](o)
			if err != nil {
				return nil, err
			}
			all = append(all, machineFrom(&m))
		}
		return all, nil
	})
}

func machineFrom(m *apitypes.Machine) machine {
	out := machine{Name: m.Name, Created: m.CreationTimestamp.UTC()}
	if m.Status.NodeRef != nil {
		out.NodeRef = m.Status.NodeRef.Name
	}
	for _, a := range m.Status.Addresses {
		switch a.Type {
		case corev1.NodeInternalDNS:
			out.DNS = append(out.DNS, a.Address)
		case corev1.NodeExternalDNS, corev1.NodeHostName:
			out.ExtDNS = append(out.ExtDNS, a.Address)
		case corev1.NodeInternalIP, corev1.NodeExternalIP:
			out.IPs = append(out.IPs, a.Address)
		}
	}
	return out
}

// gather reads what the approver's decision on r depends on. What cannot be read
// is not known in the result; the error is a defect.
func gather(ctx context.Context, w *facts.World, r Request) (surroundings, error) {
	s := surroundings{Version: w.Version}
	machines, err := machines(ctx, w)
	if s.Machines, err = known(machines, err); err != nil {
		return s, err
	}
	disabled, _, err := flowSwitch(ctx, w)
	if s.FlowDisabled, err = known(disabled, err); err != nil {
		return s, err
	}
	node, exists, err := w.Get(ctx, evidence.Nodes, "", r.NodeName)
	if s.NodeExists, err = known(exists, err); err != nil {
		return s, err
	}
	if r.Kind == Serving {
		all, err := All(ctx, w)
		if err != nil {
			return s, err
		}
		s.Serving = serves(all, r, node, w.Now)
	}
	s.Candidate, err = candidate(ctx, w, r)
	return s, err
}

func known[T any](v T, err error) (facts.Field[T], error) {
	if _, ok := evidence.AsUnavailable(err); ok {
		return facts.Unknown[T](err), nil
	}
	return facts.Known(v), err
}

// serves derives what certificate the node's kubelet serves from the newest
// request that was issued. Answered requests are kept for an hour only, so that
// none is left proves something only for a younger node.
func serves(all []Request, r Request, node evidence.Object, now time.Time) facts.Field[*renewal] {
	var last *Request
	for _, o := range Siblings(all, r) {
		if o.Certificate != nil && o.Created.Before(r.Created) {
			last = o
		}
	}
	if last == nil {
		if born := node.Created(); !born.IsZero() && now.Sub(born) < Kept {
			return facts.Known[*renewal](nil)
		}
		return facts.Unknown[*renewal](&evidence.Unavailable{Need: evidence.Objects(evidence.CSRs, ""), Why: evidence.NotCollected,
			Detail: "no issued serving request of the node is left; they are deleted an hour after they were made"})
	}
	c := last.Certificate
	renewal := &renewal{CN: c.Subject.CommonName, DNSNames: c.DNSNames, NotAfter: c.NotAfter}
	for _, ip := range c.IPAddresses {
		renewal.IPs = append(renewal.IPs, ip.String())
	}
	return facts.Known(renewal)
}

// candidate names the Machine of the host that the request is for, as the roll
// joins them: the Machine that should belong to it, whatever its addresses say.
func candidate(ctx context.Context, w *facts.World, r Request) (facts.Field[string], error) {
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return known("", err)
	}
	h, ok, err := hostOf(ctx, w, r)
	switch {
	case err != nil:
		return facts.Field[string]{}, err
	case ok && h.Machine != nil:
		return facts.Known(h.Machine.API.Name), nil
	case len(roll.Missing) > 0:
		return facts.Unknown[string](roll.Missing[0]), nil
	}
	return facts.Known(""), nil
}

// hostOf returns the host on the roll that a request is for.
func hostOf(ctx context.Context, w *facts.World, r Request) (inventory.Host, bool, error) {
	all, err := inventory.All(ctx, w)
	if err != nil {
		return inventory.Host{}, false, err
	}
	i := slices.IndexFunc(all, func(h inventory.Host) bool {
		return (h.Node != nil && h.Node.API.Name == r.NodeName) ||
			slices.ContainsFunc(h.Claims, func(c inventory.Claim) bool { return c.Name == r.Name })
	})
	if i >= 0 {
		return all[i], true, nil
	}
	return inventory.Find(ctx, w, r.NodeName)
}

// flood is the approver's guard against a storm of requests: above the limit it
// ignores all of them (controller.go reconcileLimits).
type flood struct {
	Pending int
	Limit   int
}

// countFlood counts as the approver of a release does at a time: recent requests
// of nodes that are not approved, against the larger of Machines and Nodes plus
// 100. A denied request counts until it is deleted.
func countFlood(all []Request, machines, nodes int, now time.Time, version string) flood {
	f := flood{Limit: max(machines, nodes) + maxPendingExtra}
	for _, r := range all {
		if floods(r, now, version) {
			f.Pending++
		}
	}
	return f
}

func floods(r Request, now time.Time, version string) bool {
	recent := r.Created.After(now.Add(-maxPendingAge)) && r.Created.Before(now.Add(machineSkew))
	return recent && (r.State == Pending || r.State == Denied) && counts(r, version)
}

// counts reports whether a request counts for the guard. Up to 4.15 every request
// of a node did, those of OVN included, but for multus'
// (csr_check.go recentlyPendingNodeCSRs@release-4.15); then signers were told apart
// (controller.go pendingNodeCertFilter, from 4.16).
func counts(r Request, version string) bool {
	if older(version, 16) {
		return r.Requester == openshift.NodeBootstrapper && slices.Equal(sorted(r.Groups), BootstrapperGroups) ||
			strings.HasPrefix(r.Requester, openshift.NodeUserPrefix) && !strings.HasPrefix(r.CN, openshift.MultusUserPrefix)
	}
	return r.Signer == certificatesv1.KubeAPIServerClientKubeletSignerName && r.Requester == openshift.NodeBootstrapper ||
		r.Signer == certificatesv1.KubeletServingSignerName && slices.Contains(r.Groups, openshift.NodesGroup)
}

// sorted returns the different values in order.
func sorted(values []string) []string {
	values = slices.Clone(values)
	slices.Sort(values)
	return slices.Compact(values)
}

// exceeded reports whether the approver ignores all requests.
func (f flood) exceeded() bool { return f.Pending > f.Limit }
