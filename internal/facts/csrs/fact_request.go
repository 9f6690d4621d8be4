package csrs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// Asked is one request as the catalog sees it.
type Asked struct {
	Name       facts.Field[string]    `cel:"name"`
	Node       facts.Field[string]    `cel:"node"`  // the node that is asked for; "" where none is named
	Kind       facts.Field[string]    `cel:"kind"`  // client, serving, network, other
	State      facts.Field[string]    `cel:"state"` // pending, approved, issued, denied, failed
	Requester  facts.Field[string]    `cel:"requester"`
	Renews     facts.Field[bool]      `cel:"renews"` // a node asks for its own next client certificate
	Created    facts.Field[time.Time] `cel:"created"`
	FirstAsked facts.Field[time.Time] `cel:"firstAsked"` // when the oldest request of this node and kind was made that is not answered
	Newest     facts.Field[bool]      `cel:"newest"`     // only the newest of a node is of use to it
	Siblings   facts.Field[int]       `cel:"siblings"`   // other open requests for the same node and kind

	ApprovedAt     facts.Field[time.Time] `cel:"approvedAt"`
	ApprovedReason facts.Field[string]    `cel:"approvedReason"`
	DeniedReason   facts.Field[string]    `cel:"deniedReason"`
	DeniedMessage  facts.Field[string]    `cel:"deniedMessage"`
	FailedReason   facts.Field[string]    `cel:"failedReason"`
	FailedMessage  facts.Field[string]    `cel:"failedMessage"`

	Waits  facts.Field[string]   `cel:"waits"`  // what stops it there; see Waits
	Failed facts.Field[[]string] `cel:"failed"` // the names of the approver's checks that refuse
	Logged facts.Field[string]   `cel:"logged"` // what the approver's own log says that stops it, in the same words as waits

	Host     facts.Field[string] `cel:"host"`     // the host of the roll that it is for
	Stranger facts.Field[bool]   `cel:"stranger"` // no Machine, BareMetalHost or other object expects that host, and all of them were read
	Expected facts.Field[bool]   `cel:"expected"` // that host is expected; false: only requests claim the name
	Role     facts.Field[string] `cel:"role"`

	NodeExists   facts.Field[bool]      `cel:"nodeExists"`
	NodeReady    facts.Field[bool]      `cel:"nodeReady"`
	AliveSince   facts.Field[bool]      `cel:"aliveSince"`  // a kubelet of that name renewed its lease well after this request was made
	NodeRenewed  facts.Field[time.Time] `cel:"nodeRenewed"` // when the lease of the Node was last renewed
	Machine      facts.Field[string]    `cel:"machine"`     // the Machine that the decision was made with
	Machines     facts.Field[int]       `cel:"machines"`
	WindowEnd    facts.Field[time.Time] `cel:"windowEnd"`
	StrangeNames facts.Field[[]string]  `cel:"strangeNames"` // asked for and not listed by the Machine
	StrangeIPs   facts.Field[[]string]  `cel:"strangeIPs"`
}

// RequestFact is the fact csr-request.
func RequestFact() facts.Fact {
	return facts.Define("csr-request", fault.CSR, "who asks for which certificate, and what stops it",
		append(inventory.Needs(),
			evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease),
			evidence.Objects(evidence.ConfigMaps, openshift.MachineApproverNamespace),
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

func readRequest(ctx context.Context, w *facts.World, s fault.Subject) (Asked, error) {
	w.Concerns(func(t evidence.Text) bool { return t.Kind == evidence.ContainerLog }) // consoles place hosts on the roll only
	all, err := All(ctx, w)
	if err != nil {
		return Asked{}, err
	}
	r, ok := Find(all, s.Name)
	if !ok {
		return Asked{}, facts.NotApplicable("there is no request %s", s.Name)
	}
	a := askedOf(r, siblingsOf(all, r))
	if err := a.node(ctx, w, r); err != nil {
		return a, err
	}
	if err := a.setHost(ctx, w, r); err != nil {
		return a, err
	}
	if err := a.logs(ctx, w, r); err != nil {
		return a, err
	}
	err = a.evaluate(ctx, w, r)
	return a, err
}

// askedOf is what the request itself says, and its place among the others.
func askedOf(r Request, p siblings) Asked {
	a := Asked{
		Name: facts.Known(r.Name), Node: facts.Known(r.NodeName), Kind: facts.Known(string(r.Kind)), State: facts.Known(string(r.State)),
		Requester: facts.Known(r.Requester), Renews: facts.Known(r.Renews()), Created: facts.Known(r.Created),
		FirstAsked: facts.Known(p.first), Newest: facts.Known(p.newest), Siblings: facts.Known(p.siblings),
		ApprovedAt: facts.Known(r.Approval.At), ApprovedReason: facts.Known(r.Approval.Reason),
		DeniedReason: facts.Known(r.Denial.Reason), DeniedMessage: facts.Known(r.Denial.Message),
		FailedReason: facts.Known(r.Failure.Reason), FailedMessage: facts.Known(r.Failure.Message),
	}
	facts.ProveAll(&a, r.item())
	for _, m := range []struct {
		word   string
		mark   Mark
		fields []facts.Setter
	}{
		{"approved", r.Approval, []facts.Setter{&a.ApprovedAt, &a.ApprovedReason, &a.State}},
		{"denied", r.Denial, []facts.Setter{&a.DeniedReason, &a.DeniedMessage, &a.State}},
		{"failed", r.Failure, []facts.Setter{&a.FailedReason, &a.FailedMessage, &a.State}},
	} {
		if m.mark.Reason != "" || m.mark.Message != "" {
			facts.Prove(evidence.Item{
				Locator: r.Loc.At("status.conditions"),
				Excerpt: m.word + " " + m.mark.Reason + ": " + m.mark.Message,
				Time:    m.mark.At,
			}, m.fields...)
		}
	}
	return a
}

// item shows the request in one sentence.
func (r Request) item() evidence.Item {
	return evidence.Item{Locator: r.Loc, Excerpt: r.sentence(), Time: r.Created}
}

func (r Request) sentence() string {
	return fmt.Sprintf("%s certificate for %s asked by %s at %s: %s", r.Kind, cmp.Or(r.NodeName, r.CN, "a name that cannot be read"), r.asker(),
		excerpt.Time(r.Created), r.State)
}

// asker names the requester in a sentence.
func (r Request) asker() string {
	switch r.Requester {
	case openshift.NodeBootstrapper:
		return "the node bootstrapper"
	case openshift.NodeUserPrefix + r.NodeName:
		return "the node itself"
	}
	return r.Requester
}

// siblings is the position of a request among the others of its node.
type siblings struct {
	newest   bool
	siblings int
	first    time.Time
}

func siblingsOf(all []Request, r Request) siblings {
	p := siblings{newest: Newest(all, r), first: r.Created}
	if r.NodeName == "" {
		return p
	}
	open := false
	for _, o := range Siblings(all, r) {
		if o.State == Issued { // what was asked before it has been answered
			open = false
			continue
		}
		if o.State != r.State {
			continue
		}
		if !open {
			open, p.first = true, o.Created
		}
		if o.Name != r.Name {
			p.siblings++
		}
	}
	return p
}

func (a *Asked) setHost(ctx context.Context, w *facts.World, r Request) error {
	h, ok, err := hostOf(ctx, w, r)
	if err != nil {
		return facts.Miss(err, &a.Host, &a.Expected, &a.Stranger, &a.Role)
	}
	if err := a.setStranger(ctx, w, ok && h.Expected, shownBy(h)); err != nil {
		return err
	}
	if !ok {
		a.Host.Set("")
		a.Expected.Set(false)
		a.Role.Set("")
		return nil
	}
	// That nothing expects the host, or tells its role, is a claim from silence.
	a.Host.Set(h.Name, r.item())
	a.Expected.Set(h.Expected, shownBy(h)...)
	a.Role.Set(h.Role, shownBy(h)...)
	if h.Role == "" {
		a.Role = facts.Known("")
	}
	return nil
}

// setStranger notes whether nothing expects the host. Where Machines or BareMetalHosts were
// not read, that is not known.
func (a *Asked) setStranger(ctx context.Context, w *facts.World, expected bool, items []evidence.Item) error {
	if expected {
		a.Stranger.Set(false, items...)
		return nil
	}
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return facts.Miss(err, &a.Stranger)
	}
	for _, kind := range []evidence.Resource{evidence.Machines, evidence.BareMetalHosts} {
		if unread := roll.Unread(kind); unread != nil {
			return facts.Miss(unread, &a.Stranger)
		}
	}
	a.Stranger.Set(true)
	return nil
}

// shownBy are the objects that make a host an expected one.
func shownBy(h inventory.Host) []evidence.Item {
	for _, o := range []struct {
		has  bool
		loc  func() evidence.Locator
		what string
	}{
		{h.Node != nil, func() evidence.Locator { return h.Node.Loc }, "Node"},
		{h.Machine != nil, func() evidence.Locator { return h.Machine.Loc }, "Machine"},
		{h.BMH != nil, func() evidence.Locator { return h.BMH.Loc }, "BareMetalHost"},
		{h.Assisted != nil, func() evidence.Locator { return h.Assisted.Loc }, "Agent"},
		{h.Planned != nil, func() evidence.Locator { return h.Planned.Loc }, "the install's plan"},
		{h.Hosted != nil, func() evidence.Locator { return h.Hosted.Loc }, "Machine"},
		{h.Named != nil, func() evidence.Locator { return h.Named.Loc }, "name that you gave"},
	} {
		if o.has {
			return []evidence.Item{{Locator: o.loc(), Excerpt: "host " + h.Name + " has a " + o.what}}
		}
	}
	return nil
}

// aliveMargin is how long after the request the lease must have been renewed: a
// kubelet renews its lease every 10 s and may have done so while it restarted.
const aliveMargin = time.Minute

func (a *Asked) node(ctx context.Context, w *facts.World, r Request) error {
	node, ok, item, err := one(ctx, w, evidence.Nodes, "", r.NodeName)
	if err != nil {
		return facts.Miss(err, &a.NodeExists, &a.NodeReady, &a.AliveSince, &a.NodeRenewed)
	}
	a.NodeExists.Set(ok, item)
	if !ok {
		a.NodeReady.Set(false, item)
		a.AliveSince.Set(false, item)
		a.NodeRenewed.Set(time.Time{}, item)
		return nil
	}
	a.NodeReady.Miss(&evidence.Unavailable{
		Need:   evidence.Objects(evidence.Nodes, ""),
		Why:    evidence.NotCollected,
		Detail: "the condition Ready of node " + node.Name + " is not reported yet",
	})
	conditions, _ := evidence.Field(node.Content, "status", "conditions").([]any)
	for _, e := range conditions {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "Ready" {
			a.NodeReady.Set(evidence.String(c, "status") == "True", node.Shows("status.conditions",
				"Ready="+evidence.String(c, "status")+" "+evidence.String(c, "message"), evidence.Time(c, "lastTransitionTime")))
		}
	}
	lease, ok, item, err := one(ctx, w, evidence.Leases, corev1.NamespaceNodeLease, r.NodeName)
	if err != nil {
		return facts.Miss(err, &a.AliveSince, &a.NodeRenewed)
	}
	renewed := evidence.Time(lease.Content, "spec", "renewTime")
	if ok {
		item = lease.Shows("spec.renewTime", "lease renewed "+excerpt.Time(renewed), renewed)
	}
	a.NodeRenewed.Set(renewed, item)
	a.AliveSince.Set(renewed.After(r.Created.Add(aliveMargin)), item)
	return nil
}

// one returns an object of a list that was read whole, or that it is not there, and
// what shows it.
func one(ctx context.Context, w *facts.World, kind evidence.Resource, namespace, name string) (evidence.Object, bool, evidence.Item, error) {
	if _, err := w.List(ctx, kind, namespace); err != nil {
		return evidence.Object{}, false, evidence.Item{}, err
	}
	o, ok, err := w.Get(ctx, kind, namespace, name)
	if !ok || err != nil {
		return o, false, evidence.Listed(kind, namespace, "no "+name+" is among them"), err
	}
	return o, true, evidence.Item{Locator: o.Loc, Excerpt: name + " exists since " + excerpt.Time(o.Created()), Time: o.Created()}, nil
}

// logs sets what the approver's own log says that stops the request.
func (a *Asked) logs(ctx context.Context, w *facts.World, r Request) error {
	logged, err := loggedRefusals(ctx, w, r.Name)
	if err != nil {
		return facts.Miss(err, &a.Logged)
	}
	a.Logged.Set("")
	for i, l := range logged {
		if i == 0 {
			a.Logged.Set(string(l.waits))
		}
		a.Logged.Prove(evidence.Item{Locator: l.line.Loc, Excerpt: l.line.Text, Time: l.line.Time})
	}
	return nil
}

func (a *Asked) evaluate(ctx context.Context, w *facts.World, r Request) error {
	in, err := gather(ctx, w, r)
	if err != nil {
		return err
	}
	j := judge(r, in)
	a.machines(in, j, r)
	shown := evidence.Item{Locator: j.proofAt(r), Excerpt: cmp.Or(j.Why, "by the rules of the machine approver nothing stops it")}
	if r.Broken != "" {
		shown = evidence.Item{Locator: r.Loc.At("spec.request"), Excerpt: r.Broken}
	}
	a.Failed.Set(j.refusals(), shown)
	if j.Waits == waitsNoMachine {
		a.Waits.Prove(a.compared(r)...)
		a.Waits.Prove(reserved(ctx, w, r)...)
	}
	if a.NodeExists.Value() {
		a.Waits.Prove(a.NodeExists.Proof()...)
	}
	logged := a.Logged.Value()
	switch {
	case j.Waits != waitsUnknown:
		a.Waits.Set(string(j.Waits), shown)
	case logged == "" || logged == string(waitsNoMachine): // the log does not tell why it found none
		a.Waits.Miss(&notKnown{j.Why, j.err})
	default:
		a.Waits.Set(logged, a.Logged.Proof()...)
	}
	return nil
}

// notKnown says in the words of a decision what could not be read for it.
type notKnown struct {
	why string
	err error
}

func (n *notKnown) Error() string { return n.why }
func (n *notKnown) Unwrap() error { return n.err }

// reserved shows the Machine that a request's host is reserved for, where there is no such
// Machine.
func reserved(ctx context.Context, w *facts.World, r Request) []evidence.Item {
	h, ok, err := hostOf(ctx, w, r)
	if err != nil || !ok || h.Machine != nil || h.BMH == nil || h.BMH.API.Spec.ConsumerRef == nil {
		return nil
	}
	name := h.BMH.API.Spec.ConsumerRef.Name
	return []evidence.Item{evidence.Dangling(evidence.Machines, MachineNamespace, fmt.Sprintf("none is %s, which BareMetalHost %s is reserved for",
		name, h.BMH.API.Name))}
}

// compared shows the Machine of which the approver logged that it compared the request with
// it, if there is none now.
func (a *Asked) compared(r Request) []evidence.Item {
	if !slices.Contains([]waits{waitsWindow, waitsNodeRef, waitsName, waitsNames}, waits(a.Logged.Value())) {
		return nil
	}
	return []evidence.Item{evidence.Dangling(evidence.Machines, MachineNamespace, "none is of "+r.NodeName+", and the approver compared the request with one")}
}

// proofAt is where the reason can be looked up: the Machine, where it is one.
func (j judgement) proofAt(r Request) evidence.Locator {
	if j.Machine != "" {
		return evidence.Locator{Source: r.Loc.Source, Path: "machines.machine.openshift.io/" + j.Machine + " -n " + MachineNamespace}
	}
	return r.Loc
}

func (a *Asked) machines(in surroundings, j judgement, r Request) {
	all, err := in.Machines.Get()
	if err != nil {
		_ = facts.Miss(err, &a.Machine, &a.Machines, &a.WindowEnd, &a.StrangeNames, &a.StrangeIPs)
		return
	}
	list := evidence.Listed(evidence.Machines, MachineNamespace, fmt.Sprintf("%d Machines", len(all)))
	a.Machines.Set(len(all), list)
	item := list
	var m machine
	var end time.Time
	if i := slices.IndexFunc(all, func(m machine) bool { return m.Name == j.Machine }); i >= 0 {
		m, item = all[i], evidence.Item{Locator: j.proofAt(r), Excerpt: "Machine " + j.Machine}
		_, end = m.window()
	}
	a.WindowEnd.Set(end, item)
	a.Machine.Set(j.Machine, item)
	var names, ips []string
	if m.Name != "" && r.Kind == Serving {
		names, ips = strange(r, m)
	}
	a.StrangeNames.Set(names, item)
	a.StrangeIPs.Set(ips, item)
}
