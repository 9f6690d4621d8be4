package csrs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Asked is one request as the catalogue sees it.
type Asked struct {
	Name       string    `cel:"name"`
	Node       string    `cel:"node"`  // the node that is asked for; "" where none is named
	Kind       string    `cel:"kind"`  // client, serving, network, other
	State      string    `cel:"state"` // pending, approved, issued, denied, failed
	Signer     string    `cel:"signer"`
	Requester  string    `cel:"requester"`
	Renews     bool      `cel:"renews"` // a node asks for its own next client certificate
	Created    time.Time `cel:"created"`
	FirstAsked time.Time `cel:"firstAsked"` // when the oldest request of this node and kind was made that nobody answered
	Newest     bool      `cel:"newest"`     // only the newest of a node is of use to it
	Siblings   int       `cel:"siblings"`   // other open requests for the same node and kind
	Keys       int       `cel:"keys"`       // different keys among all of them

	ApprovedAt     time.Time `cel:"approvedAt"`
	ApprovedReason string    `cel:"approvedReason"`
	DeniedReason   string    `cel:"deniedReason"`
	DeniedMessage  string    `cel:"deniedMessage"`
	FailedReason   string    `cel:"failedReason"`
	FailedMessage  string    `cel:"failedMessage"`

	Approves string   `cel:"approves"` // what the approver decides: passed, refused, unknown, not-applicable
	Waits    string   `cel:"waits"`    // what stops it there; see Waits
	Why      string   `cel:"why"`
	Failed   []string `cel:"failed"` // the names of the approver's checks that refuse
	Logged   string   `cel:"logged"` // what the approver's own log says that stops it, in the same words as waits

	Host     string `cel:"host"`     // the host of the roll that it is for
	Expected bool   `cel:"expected"` // that host is expected; false: only requests claim the name
	Role     string `cel:"role"`

	NodeExists   bool      `cel:"nodeExists"`
	NodeReady    bool      `cel:"nodeReady"`
	NodeCreated  time.Time `cel:"nodeCreated"`
	NodeRenewed  time.Time `cel:"nodeRenewed"` // the node's lease
	AliveSince   bool      `cel:"aliveSince"`  // a kubelet of that name renewed its lease well after this request was made
	LaterIssued  bool      `cel:"laterIssued"` // a younger request of the same node and kind was issued
	Machine      string    `cel:"machine"`     // the Machine that the decision was made with
	Machines     int       `cel:"machines"`
	WindowStart  time.Time `cel:"windowStart"`
	WindowEnd    time.Time `cel:"windowEnd"`
	StrangeNames []string  `cel:"strangeNames"` // asked for and not listed by the Machine
	StrangeIPs   []string  `cel:"strangeIPs"`
}

// RequestFact is the fact csr-request.
func RequestFact() facts.Fact {
	return facts.DefinePlain("csr-request", fault.CSR, "who asks for which certificate, and what stops it",
		append(hosts.Needs(),
			evidence.Objects(evidence.Leases, "kube-node-lease"),
			evidence.Objects(evidence.ConfigMaps, ApproverNamespace),
			evidence.Texts(approverLog),
		), readRequest)
}

// Find returns the request of a name.
func Find(all []Request, name string) (Request, bool) {
	i := slices.IndexFunc(all, func(r Request) bool { return r.Name == name })
	if i < 0 {
		return Request{}, false
	}
	return all[i], true
}

func readRequest(ctx context.Context, w *facts.World, s fault.Subject) (Asked, facts.Proof, error) {
	var p facts.Proof
	all, err := All(ctx, w)
	if err != nil {
		return Asked{}, p, err
	}
	r, ok := Find(all, s.Name)
	if !ok {
		return Asked{}, p, facts.NotApplicable("there is no request %s", s.Name)
	}
	a := plain(r)
	a.among(all, r)
	p.Add(r.Loc, r.sentence(), r.Created, "state", "kind", "created", "newest", "firstAsked", "requester", "renews", "siblings")
	if r.Broken != "" {
		p.Add(r.Loc.At("spec.request"), r.Broken, time.Time{}, "waits", "approves")
	}
	marks(&p, r)
	if err := a.node(ctx, w, r, &p); err != nil {
		return a, p, err
	}
	if err := a.onTheRoll(ctx, w, r, &p); err != nil {
		return a, p, err
	}
	err = a.judge(ctx, w, r, &p)
	return a, p, err
}

func (a *Asked) onTheRoll(ctx context.Context, w *facts.World, r Request, p *facts.Proof) error {
	h, ok, err := HostOf(ctx, w, r)
	if err != nil {
		return miss(p, err, "host", "expected", "role")
	}
	if ok {
		a.Host, a.Expected, a.Role = h.Name, h.Expected, h.Role
	}
	return nil
}

func plain(r Request) Asked {
	return Asked{
		Name: r.Name, Node: r.NodeName, Kind: string(r.Kind), State: string(r.State), Signer: r.Signer,
		Requester: r.Requester, Renews: r.Renews(), Created: r.Created,
		ApprovedAt: r.Approval.At, ApprovedReason: r.Approval.Reason,
		DeniedReason: r.Denial.Reason, DeniedMessage: r.Denial.Message,
		FailedReason: r.Failure.Reason, FailedMessage: r.Failure.Message,
	}
}

func (r Request) sentence() string {
	return fmt.Sprintf("%s certificate for %s asked by %s at %s: %s", r.Kind, cmp.Or(r.NodeName, r.CN, "a name that cannot be read"), r.asker(), stamp(r.Created), r.State)
}

// asker names the requester in a sentence.
func (r Request) asker() string {
	switch r.Requester {
	case Bootstrapper:
		return "the node bootstrapper"
	case NodePrefix + r.NodeName:
		return "the node itself"
	}
	return r.Requester
}

func marks(p *facts.Proof, r Request) {
	for _, m := range []struct {
		word   string
		mark   Mark
		fields []string
	}{
		{"approved", r.Approval, []string{"approvedAt", "approvedReason", "state"}},
		{"denied", r.Denial, []string{"deniedReason", "deniedMessage", "state"}},
		{"failed", r.Failure, []string{"failedReason", "failedMessage", "state"}},
	} {
		if m.mark.Reason != "" || m.mark.Message != "" {
			p.Add(r.Loc.At("status.conditions"), m.word+" "+m.mark.Reason+": "+m.mark.Message, m.mark.At, m.fields...)
		}
	}
}

// among places the request between the others of its node.
func (a *Asked) among(all []Request, r Request) {
	a.Newest, a.FirstAsked, a.Keys = Newest(all, r), r.Created, 1
	if r.NodeName == "" {
		return
	}
	keys := map[string]bool{}
	open := false
	for _, o := range Siblings(all, r) {
		keys[o.KeyDigest] = true
		if o.State == Issued { // what was asked before it has been answered
			open = false
			a.LaterIssued = a.LaterIssued || o.Created.After(r.Created)
			continue
		}
		if o.State != r.State {
			continue
		}
		if !open {
			open, a.FirstAsked = true, o.Created
		}
		if o.Name != r.Name {
			a.Siblings++
		}
	}
	a.Keys = len(keys)
}

// aliveMargin is how long after the request the lease must have been renewed: a
// kubelet renews its lease every 10 s and may have done so while it restarted.
const aliveMargin = time.Minute

func (a *Asked) node(ctx context.Context, w *facts.World, r Request, p *facts.Proof) error {
	node, ok, err := w.Get(ctx, evidence.Nodes, "", r.NodeName)
	if err != nil {
		return miss(p, err, "nodeExists", "nodeReady", "nodeCreated", "nodeRenewed", "aliveSince")
	}
	if !ok {
		return nil
	}
	a.NodeExists, a.NodeCreated = true, node.Created()
	conditions, _ := evidence.Field(node.Content, "status", "conditions").([]any)
	for _, e := range conditions {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "Ready" {
			a.NodeReady = evidence.String(c, "status") == "True"
			p.Add(node.Loc.At("status.conditions"), "Ready="+evidence.String(c, "status")+" "+evidence.String(c, "message"),
				evidence.Time(c, "lastTransitionTime"), "nodeReady")
		}
	}
	p.Add(node.Loc, "node "+node.Name+" exists since "+stamp(a.NodeCreated), a.NodeCreated, "nodeExists", "nodeCreated", "waits")
	lease, ok, err := w.Get(ctx, evidence.Leases, "kube-node-lease", r.NodeName)
	if err != nil {
		return miss(p, err, "nodeRenewed", "aliveSince")
	}
	if ok {
		a.NodeRenewed = evidence.Time(lease.Content, "spec", "renewTime")
		a.AliveSince = a.NodeRenewed.After(r.Created.Add(aliveMargin))
		p.Add(lease.Loc.At("spec.renewTime"), "lease renewed "+stamp(a.NodeRenewed), a.NodeRenewed, "nodeRenewed", "aliveSince")
	}
	return nil
}

func (a *Asked) judge(ctx context.Context, w *facts.World, r Request, p *facts.Proof) error {
	in, err := Gather(ctx, w, r)
	if err != nil {
		return err
	}
	j := Judge(r, in)
	a.Approves, a.Waits, a.Why, a.Failed, a.Machine = string(j.Approves), string(j.Waits), j.Why, j.Refusals(), j.Machine
	a.Machines = len(in.Machines.Value)
	if in.Machines.Why != "" {
		p.Miss("machines", errUnknown(in.Machines.Why))
	}
	a.machine(in, r)
	logged, err := said(ctx, w, r.Name)
	if err := miss(p, err, "logged"); err != nil {
		return err
	}
	for _, l := range logged {
		p.Add(l.line.Loc, l.line.Text, l.line.Time, "logged")
	}
	if len(logged) > 0 {
		a.Logged = string(logged[0].waits)
	} else if err := w.Unheard(ctx, p, approverLog, nil, map[string]bool{"logged": p.Unknown["logged"] == ""}); err != nil {
		return err
	}
	if j.Waits == WaitsUnknown {
		if a.Logged == "" || a.Logged == string(WaitsNoMachine) { // the log does not tell why it found none
			p.Miss("waits", errUnknown(j.Why))
			return nil
		}
		a.Waits, a.Why = a.Logged, strings.TrimSpace(logged[0].line.Text)
	}
	if j.Why != "" {
		p.Add(a.proofAt(r), j.Why, time.Time{}, "waits", "approves", "failed")
	}
	return nil
}

type errUnknown string

func (e errUnknown) Error() string { return string(e) }

// proofAt is where the reason can be looked up: the Machine, where it is one.
func (a *Asked) proofAt(r Request) evidence.Locator {
	if a.Machine != "" {
		return evidence.Locator{Source: r.Loc.Source, Path: "machines.machine.openshift.io/" + a.Machine + " -n " + MachineNamespace}
	}
	return r.Loc
}

func (a *Asked) machine(in Surroundings, r Request) {
	for _, m := range in.Machines.Value {
		if m.Name != a.Machine {
			continue
		}
		a.WindowStart, a.WindowEnd = m.Window()
		if r.Kind == Serving {
			a.StrangeNames, a.StrangeIPs = Strange(r, m)
		}
	}
}
