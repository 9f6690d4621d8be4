package csr

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// retryOfKubelet is the least time between two requests of one kubelet that runs: it waits
// 15 minutes for an answer before it makes another key (kubernetes/client-go:util/certificate/
// certificate_manager.go certificateWaitTimeout). A minute is left for clocks.
const retryOfKubelet = 14 * time.Minute

// Expired is one line of the bulk class: a Node whose kubelet lost its certificates, and
// the request with which it would get one.
type Expired struct {
	Node     Node
	Decision Decision // its Request has no UID where the Node asks for nothing
	Expected *Expectation
	Keys     int // different keys that ask for the Node's identity since its last lease renewal
}

// Asks reports whether there is a request to decide on.
func (x Expired) Asks() bool { return x.Decision.Request.UID != "" }

// Bulk judges the requests of a cluster whose certificates expired: of each Node whose lease is
// not renewed the newest request, and of each Node the serving request that is pending. A person
// reviews the whole list and confirms it for the cluster; by that a control-plane Node is
// expected, too.
//
// The rules are those for one request (Judge) with one exception: older keys of the same Node do
// not stop it where they came at the pace of a kubelet that gets no answer, one each 15
// minutes. Two keys within 14 minutes are a restart or somebody else, and a person has to
// name the key. Addresses are still those that are declared.
func Bulk(p Snapshot, declared []Expectation) []Expired {
	var list []Expired
	for _, n := range p.Nodes {
		if dead := !n.Ready && p.Now.Sub(n.Renewed) > deadAfter; dead {
			list = append(list, expiredClient(p, declared, n))
		}
		if r, asks := newestPending(p, n.Name, csrs.Serving); asks {
			e := expectNode(declared, n)
			list = append(list, Expired{Node: n, Expected: e, Decision: Judge(r, e, p), Keys: keysOf(p, r)})
		}
	}
	slices.SortStableFunc(list, func(a, b Expired) int { return cmp.Compare(a.Node.Name, b.Node.Name) })
	return list
}

func expiredClient(p Snapshot, declared []Expectation, n Node) Expired {
	x := Expired{Node: n}
	r, asks := newestPending(p, n.Name, csrs.Client)
	if !asks {
		x.Decision = Decision{Node: n.Name, Kind: csrs.Client, Why: "no client request is pending: start its kubelet, and see that it has the " +
			"bootstrap kubeconfig"}
		return x
	}
	e := expectNode(declared, n)
	e.Rebuild, e.Paced = true, true
	e.NotBefore, e.NotAfter, e.Boot = n.Renewed, time.Time{}, "its Node has not renewed its lease since "+stamp(n.Renewed)
	x.Expected, x.Decision, x.Keys = e, Judge(r, e, p), keysOf(p, r)
	return x
}

// expectNode is the expectation of a Node that a person confirms, with what is declared of
// its host.
func expectNode(declared []Expectation, n Node) *Expectation {
	e := Expectation{Name: n.Name}
	if found := For(declared, n.Name); found != nil {
		e = *found
	}
	e.Explicit = true
	e.Source = "a person confirmed the list of Nodes"
	return &e
}

func newestPending(p Snapshot, node string, kind csrs.Kind) (csrs.Request, bool) {
	for _, r := range slices.Backward(p.Requests) {
		if r.NodeName == node && r.Kind == kind && r.State == csrs.Pending && !r.Renews() {
			return r, true
		}
	}
	return csrs.Request{}, false
}

func keysOf(p Snapshot, r csrs.Request) int {
	keys := map[string]bool{}
	for _, o := range csrs.Siblings(p.Requests, r) {
		if o.State == csrs.Pending {
			keys[o.KeyDigest] = true
		}
	}
	return len(keys)
}

// paced returns why keys did not come at a kubelet's pace, "" where they did: all are pending, each
// is older than the next one by a retry, and r is the newest. A kubelet that was
// answered does not ask again.
func paced(r *csrs.Request, rivals []*csrs.Request) string {
	all := append(slices.Clone(rivals), r)
	slices.SortStableFunc(all, func(a, b *csrs.Request) int { return a.Created.Compare(b.Created) })
	for i, o := range all {
		switch {
		case o.State != csrs.Pending:
			return fmt.Sprintf("%s is %s", o.Name, o.State)
		case o.KeyDigest == "":
			return o.Name + " cannot be read"
		case i > 0 && o.Created.Sub(all[i-1].Created) < retryOfKubelet:
			return fmt.Sprintf("%s and %s were made %s apart; a kubelet waits 15 minutes for an answer", all[i-1].Name, o.Name, o.Created.Sub(all[i-1].Created))
		}
	}
	if newest := all[len(all)-1]; newest.UID != r.UID {
		return newest.Name + " is newer"
	}
	return ""
}
