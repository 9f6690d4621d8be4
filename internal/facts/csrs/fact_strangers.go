package csrs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// UnknownNames is the fact csr-strangers: client certificates of nodes that no object names.
// Answered requests are kept for an hour, so it covers that hour only.
type UnknownNames struct {
	Count     facts.Field[int]       `cel:"count"`     // names
	Names     facts.Field[string]    `cel:"names"`     // the first few, then how many more
	First     facts.Field[time.Time] `cel:"first"`     // approval
	Window    facts.Field[string]    `cel:"window"`    // from the first to the last
	Approver  facts.Field[string]    `cel:"approver"`  // the reason in the condition Approved, most often
	Requester facts.Field[string]    `cel:"requester"` // who made the requests, most often
}

// joins is how long a kubelet with a new certificate may take to register its Node.
const joins = 15 * time.Minute

// approvedByRule is the reason of the machine approver, which approves only what a Machine
// stands for (openshift/cluster-machine-approver:pkg/controller/controller.go approve).
const approvedByRule = "NodeCSRApprove"

// unknownNamesFact is the fact csr-strangers.
func unknownNamesFact() facts.Fact {
	return facts.Define("csr-strangers", fault.Cluster,
		"client certificates of nodes that were approved for names that no Node, Machine, BareMetalHost or Agent has",
		append(inventory.Needs(), evidence.Objects(evidence.Infrastructures, "")), readUnknownNames)
}

func readUnknownNames(ctx context.Context, w *facts.World, _ fault.Subject) (UnknownNames, error) {
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	all, err := All(ctx, w)
	if err != nil {
		return UnknownNames{}, err
	}
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return UnknownNames{}, err
	}
	list := unknownNames(all, roll, w.Now)
	if len(list) == 0 {
		return noUnknownNames(all), nil
	}
	if err := namesKnown(ctx, w, roll); err != nil {
		return UnknownNames{}, err
	}
	if renamed(all) {
		return UnknownNames{}, obfuscation.Unavailable(evidence.Objects(evidence.CSRs, ""), "the names of nodes outside of the requests themselves")
	}
	return unknownNamesOf(list), nil
}

// noUnknownNames is the fact where no approved request has a name of its own.
func noUnknownNames(all []Request) UnknownNames {
	var f UnknownNames
	for _, r := range all {
		if r.Broken != "" && (r.State == Issued || r.State == Approved) {
			f.Count.Miss(&evidence.Unavailable{
				Need:   evidence.Objects(evidence.CSRs, ""),
				Why:    evidence.Damaged,
				Detail: "whose request " + r.Name + " is cannot be read",
			})
		}
	}
	facts.Complete(&f)
	facts.ProveAll(&f, evidence.Listed(evidence.CSRs, "", fmt.Sprintf("%d requests, none was approved for a name that nothing else has", len(all))))
	return f
}

// unknownNames returns the approved requests for names that only requests have. Where some
// are older than a kubelet needs to register, the younger ones are left out.
func unknownNames(all []Request, roll *inventory.Inventory, now time.Time) []Request {
	claimed := map[string]bool{} // requests of hosts that nothing else names
	for _, h := range roll.Hosts {
		if onlyClaimed(h) {
			for _, c := range h.Claims {
				claimed[c.Name] = true
			}
		}
	}
	judged := map[string]bool{} // names that the machine approver found a Machine for, if only then
	for _, r := range all {
		if r.Approval.Reason == approvedByRule {
			judged[r.NodeName] = true
		}
	}
	var list, old []Request
	for _, r := range all {
		if r.Kind != Client || r.Renews() || r.State != Issued && r.State != Approved || !claimed[r.Name] || judged[r.NodeName] {
			continue
		}
		list = append(list, r)
		if now.Sub(approvedAt(r)) > joins {
			old = append(old, r)
		}
	}
	if len(old) > 0 {
		return old
	}
	return list
}

// onlyClaimed reports whether nothing but requests names a host.
func onlyClaimed(h inventory.Host) bool {
	return len(h.Claims) > 0 && h.Node == nil && h.Machine == nil && h.BMH == nil && h.Assisted == nil && h.Planned == nil &&
		h.Named == nil && h.Hosted == nil && h.Provider == nil && h.Agent == nil && h.OnHost == "" && h.Console == "" && len(h.OperatorWords) == 0
}

func approvedAt(r Request) time.Time {
	if r.Approval.At.IsZero() {
		return r.Created
	}
	return r.Approval.At
}

// namesKnown is an error where that nothing names a host says nothing: the kinds that
// name hosts were not read or were obfuscated, or nothing names hosts before they join.
func namesKnown(ctx context.Context, w *facts.World, roll *inventory.Inventory) error {
	for _, u := range roll.Missing {
		if u.Need.Resource != evidence.BareMetalHosts {
			return u
		}
		if err := baremetal.Elsewhere(ctx, w, u); err == error(u) {
			return u
		}
	}
	named := false
	for _, h := range roll.Hosts {
		if onlyClaimed(h) {
			continue
		}
		if slices.ContainsFunc(append([]string{h.Name}, h.Aliases...), obfuscation.Found) {
			return obfuscation.Unavailable(evidence.Objects(evidence.Nodes, ""), "the name of host "+h.Name)
		}
		named = named || h.Machine != nil || h.BMH != nil || h.Agent != nil || h.Hosted != nil || h.Provider != nil
	}
	if !named {
		return facts.NotApplicable("no Machine, BareMetalHost or Agent names the hosts of this cluster before they join")
	}
	return nil
}

// renamed reports whether the archive has other names in its text than in what is encoded
// in it: no kubelet that asked under its own name did so for that name, and there are two
// at least. Outside of an archive a request for another node's name is a single one: the
// machine approver refuses it (openshift/cluster-machine-approver:pkg/controller/
// csr_check.go validateCSRContents).
func renamed(all []Request) bool {
	askers := map[string]bool{}
	for _, r := range all {
		if !strings.HasPrefix(r.Requester, openshift.NodeUserPrefix) || r.CN == "" || r.State != Issued {
			continue
		}
		if r.Requester == r.CN {
			return false
		}
		askers[r.Requester] = true
	}
	return len(askers) > 1
}

func unknownNamesOf(list []Request) UnknownNames {
	var names, approvers, requesters []string
	first, last := approvedAt(list[0]), approvedAt(list[0])
	for _, r := range list {
		names = append(names, r.NodeName)
		approvers = append(approvers, cmp.Or(r.Approval.Reason, "none given"))
		requesters = append(requesters, r.Requester)
		at := approvedAt(r)
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	names = sorted(names)
	var f UnknownNames
	f.Count.Set(len(names))
	f.Names.Set(few(names))
	f.First.Set(first)
	f.Window.Set(fault.Span(last.Sub(first)))
	f.Approver.Set(mostOften(approvers))
	f.Requester.Set(mostOften(requesters))
	for _, r := range list[:min(len(list), mostShown)] {
		facts.ProveAll(&f, r.shows(fmt.Sprintf("%s: %s (%s), requested by %s", r.NodeName, r.Approval.Message,
			cmp.Or(r.Approval.Reason, "no reason"), r.Requester)))
	}
	return f
}

// shows returns the approval of a request as a piece of evidence.
func (r Request) shows(text string) evidence.Item {
	return evidence.Item{Locator: r.Loc.At("status.conditions[Approved]"), Excerpt: text, Time: approvedAt(r)}
}

// mostShown bounds the names and the evidence of many requests.
const mostShown = 3

func few(names []string) string {
	if len(names) <= mostShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostShown], ", "), len(names)-mostShown)
}

// mostOften returns the value that occurs most often, of several the first in order.
func mostOften(values []string) string {
	count := map[string]int{}
	for _, v := range values {
		count[v]++
	}
	return slices.MinFunc(values, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
}
