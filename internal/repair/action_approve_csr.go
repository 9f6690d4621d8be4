package repair

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// ApproveCSR approves one certificate request of one expected host.
const ApproveCSR ActionName = "approve-csr"

const approveRemedy = "approve-expected-csrs"

// approveCSR approves exactly one request of one expected host, when it has
// come, after internal/csr has judged it. The write in the journal has the
// request's UID. It never chooses among several requests: a person does, with
// `rollcall csr approve --key`, and the plan continues from there.
func approveCSR() action {
	return action{
		name: ApproveCSR,
		remedies: []remedy{{
			id: approveRemedy, rights: approvalRights(), transient: true, // requests are deleted after an hour
			needsPool: func(a Ask) bool { return len(a.Expect) == 0 }, // a host that a person named may be of any pool
		}},
		plan: planJoining,
		check: func(s Step) error {
			if s.Args.Signer != string(csrs.Client) && s.Args.Signer != string(csrs.Serving) {
				return fmt.Errorf("args.signer is %q, want client or serving", s.Args.Signer)
			}
			if s.Args.After == "" && s.Args.NotBefore.IsZero() {
				return fmt.Errorf("neither args.after nor args.notBefore gives since when the host can have asked")
			}
			return need(map[string]string{"host": s.Args.Host})
		},
		fits: afterAdoption,
		// The role is only what the plan says, so the guard does not depend on it.
		guards: func(Args) []Guard { return []Guard{{Guard: EtcdQuorum}} },
		reads: func(a Args) []readRule {
			if a.Signer != string(csrs.Client) {
				return nil
			}
			return []readRule{{object: nodeRef(a.Host)}}
		},
		describe: describeApproval,
		ready:    requestPending,
		prepare:  prepareApproval,
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			p, err := csr.Gather(ctx, csr.Cluster{Objects: e.api}, e.clock.Now())
			if err != nil {
				return false, "", err
			}
			_, ok := served(p, s, e.expectation(ctx, s))
			return ok, fmt.Sprintf("the %s certificate of %s is not issued: the controller manager signs it", s.Args.Signer, s.Args.Host), nil
		},
		dependants: func(context.Context, env, Step, Write) (string, error) {
			return "an approval cannot be withdrawn: the certificate is valid until it expires (30 days at most), or until the signer's trust is rotated", nil
		},
	}
}

func approvalRights() []Access {
	requests := csrRef("")
	list := append(poolRights(), access(requests, "", "get", "list")...)
	for _, r := range []Ref{
		machineRef(""),
		bareMetalHostRef(""),
		{Group: openshift.ConfigGroup, Version: "v1", Resource: "infrastructures"},
		{Group: openshift.ConfigGroup, Version: "v1", Resource: "networks"},
		{Group: openshift.ConfigGroup, Version: "v1", Resource: "ingresses"},
		{Group: openshift.OperatorGroup, Version: "v1", Resource: "ingresscontrollers", Namespace: openshift.IngressOperatorNamespace},
		{Group: openshift.CoordinationGroup, Version: "v1", Resource: "leases", Namespace: corev1.NamespaceNodeLease},
	} {
		list = append(list, access(r, "", "list")...) // what a request is judged by (internal/csr)
	}
	list = append(list, access(requests, "approval", "patch")...)
	// The API server asks for this right of whoever approves
	// (k8s.io/kubernetes: plugin/pkg/admission/certificates/approval/admission.go).
	for _, signer := range []string{certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.KubeletServingSignerName} {
		list = append(list, Access{Verb: "approve", Ref: Ref{Group: openshift.CertificatesGroup, Resource: "signers", Name: signer}})
	}
	return list
}

// afterAdoption: the step after which a request may be believed is one of this plan,
// before it, and one that made the server serve.
func afterAdoption(p *Plan, s Step) error {
	if s.Args.After == "" {
		return nil
	}
	for _, before := range p.Steps {
		if before.ID == s.ID {
			break
		}
		if before.ID == s.Args.After && before.Action == AdoptSpecConfig {
			return nil
		}
	}
	return fmt.Errorf("args.after %q names no step before it that lets a host get its config", s.Args.After)
}

func describeApproval(s *Step) {
	host, kind := s.Args.Host, s.Args.Signer
	s.Subject, s.Risk, s.Proof = "host/"+host, fault.RiskIdentity, ProvedInLab
	s.Title = fmt.Sprintf("approve exactly the %s request of %s, by its UID, when it has come", kind, host)
	s.RiskText = "whoever holds the key of the request gets the identity of a node, and keeps it until the certificate expires; " + csr.NotProvenYet
	s.OC = fmt.Sprintf("oc get csr; oc describe csr NAME; oc adm certificate approve NAME   # "+
		"the only pending %s request of %s, after you have checked it", kind, host)
	s.PreImage = "none: the request was pending"
	s.Inverse = "none: an approval cannot be withdrawn; the certificate expires by itself (30 days at most)"
	s.Expect.Text = "the certificate is issued"
}

// planJoining plans the approval and the wait for every host of the pool that is not a
// Node yet and that a person named.
func planJoining(ctx context.Context, d *draft) error {
	if d.pool == "" && len(d.ask.Expect) == 0 {
		return nil
	}
	if d.requires(changeFields()) && len(d.ask.Expect)+len(d.remedies[adoptRemedy])+len(d.remedies[approveRemedy]) == 0 {
		return nil // a host that is switched on again, say, has its certificate or asks for it later
	}
	waiting := d.toJoin()
	for _, h := range waiting {
		if d.ofOtherHost(h) {
			continue
		}
		i := slices.IndexFunc(d.ask.Expect, func(e csr.Expectation) bool { return inventory.SameName(e.Name, h.Name) })
		if i < 0 {
			d.leaveOut("the certificate requests of %s are not in this plan: name it with --expect %s=IP (a name in a request is only a claim)", h.Name, h.Name)
			continue
		}
		if err := d.joinOne(ctx, h, d.ask.Expect[i]); err != nil {
			return err
		}
	}
	for _, e := range d.ask.Expect {
		if !slices.ContainsFunc(waiting, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) }) {
			d.note("%s was named with --expect and is not one of the hosts of pool %s that are still to join", e.Name, d.pool)
		}
	}
	return nil
}

// ofOtherHost reports whether a host has nothing to do with a root at a host, and is not named by
// a person either.
func (d *draft) ofOtherHost(h diagnosis.HostState) bool {
	named := slices.ContainsFunc(d.ask.Expect, func(e csr.Expectation) bool { return inventory.SameName(e.Name, h.Name) })
	return d.root.Subject.Kind == fault.Host && !named && !inventory.SameName(d.root.Subject.Name, h.Name)
}

func (d *draft) joinOne(ctx context.Context, h diagnosis.HostState, e csr.Expectation) error {
	h.Name = e.Name // the Node's name, as the person spells it: a BareMetalHost's may be shorter
	_, err := d.API.Get(ctx, nodeRef(h.Name))
	if err == nil {
		d.note("Node %s is registered already", h.Name)
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("read Node %s: %w", h.Name, err)
	}
	absent, err := reading(nodeRef(h.Name), nil)
	if err != nil {
		return err
	}
	args := Args{Host: h.Name, Role: h.Role, IPs: e.IPs}
	if i := slices.IndexFunc(d.plan.Steps, func(s Step) bool { return s.Action == AdoptSpecConfig }); i >= 0 {
		args.After = d.plan.Steps[i].ID
	} else if at, ok := Fetched(h); ok {
		args.NotBefore, args.Boot = at, "it fetched its config at "+at.UTC().Format("2006-01-02T15:04:05Z")
	} else {
		d.leaveOut("the requests of %s are not in this plan: it is not known when it booted; approve them by their names with `rollcall csr approve "+
			"CSR_NAME --expect %s=IP --booted-after TIME --yes`", h.Name, h.Name)
		return nil
	}
	if len(e.IPs) == 0 {
		d.leaveOut("the serving request of %s is not in this plan: its addresses are not declared (--expect %s=IP)", h.Name, h.Name)
	}
	d.add(approval(csrs.Client, args, []Reading{absent}))
	d.add(Step{Action: WaitNode, Args: Args{Host: h.Name}, Deadline: minutes(30)})
	if len(e.IPs) > 0 {
		d.add(approval(csrs.Serving, args, nil))
	}
	return nil
}

func approval(signer csrs.Kind, args Args, reads []Reading) Step {
	args.Signer = string(signer)
	return Step{Action: ApproveCSR, Args: args, Reads: reads, Deadline: minutes(30)}
}

// requestPending reports whether there is a request to be judged, or nothing left to approve.
func requestPending(ctx context.Context, e env, s Step) (bool, string, error) {
	p, err := csr.Gather(ctx, csr.Cluster{Objects: e.api}, e.clock.Now())
	if err != nil {
		return false, "", err
	}
	expected := e.expectation(ctx, s)
	if name, waits := unsigned(p, s, expected); waits {
		return false, fmt.Sprintf("%s is approved and not issued: the controller manager signs it", name), nil
	}
	if _, answered := served(p, s, expected); answered {
		return true, "", nil
	}
	if _, asked := pending(p, s); asked {
		return true, "", nil
	}
	return false, fmt.Sprintf("%s has not asked for its %s certificate", s.Args.Host, s.Args.Signer), nil
}

// of reports whether a request is one of the step's host and kind.
func of(q csrs.Request, s Step) bool {
	return q.NodeName == s.Args.Host && string(q.Kind) == s.Args.Signer
}

// pending returns the newest pending request of the step's host and kind. csr.Judge refuses it
// where a request with another key is pending, too.
func pending(p csr.Snapshot, s Step) (csrs.Request, bool) {
	for _, q := range slices.Backward(p.Requests) {
		if of(q, s) && q.State == csrs.Pending && !q.Renews() {
			return q, true
		}
	}
	return csrs.Request{}, false
}

// unsigned names a request that Rollcall approved since the host could ask and that
// is not issued yet.
func unsigned(p csr.Snapshot, s Step, e *csr.Expectation) (string, bool) {
	for _, q := range p.Requests {
		if of(q, s) && q.State == csrs.Approved && q.Approval.Reason == csr.Reason && e.MayHaveMade(q) {
			return q.Name, true
		}
	}
	return "", false
}

// served reports whether the host has what the step is for: for the client
// certificate the Node itself proves it, requests are deleted after an hour.
//
// What Rollcall approved, by this plan or because a person named the key with --key, counts,
// whoever else asks. What others approved does not count while another request is pending:
// csr.Judge then refuses to choose between the two.
func served(p csr.Snapshot, s Step, e *csr.Expectation) (string, bool) {
	_, waits := pending(p, s)
	for _, q := range slices.Backward(p.Requests) {
		ours := q.Approval.Reason == csr.Reason
		if of(q, s) && q.State == csrs.Issued && e.MayHaveMade(q) && (ours || !waits) {
			return fmt.Sprintf("%s is issued (approved with reason %s), key sha256:%s", q.Name, q.Approval.Reason, q.KeyDigest), true
		}
	}
	if waits {
		return "", false
	}
	if s.Args.Signer == string(csrs.Client) && slices.ContainsFunc(p.Nodes, func(n csr.Node) bool { return n.Name == s.Args.Host }) {
		return "Node " + s.Args.Host + " is registered", true
	}
	return "", false
}

func (e env) expectation(ctx context.Context, s Step) *csr.Expectation {
	expected := &csr.Expectation{Name: s.Args.Host, Role: s.Args.Role, IPs: s.Args.IPs, Explicit: true,
		Source:    "named by a person in plan " + e.plan.ID,
		NotBefore: s.Args.NotBefore, Boot: s.Args.Boot}
	if s.Args.After != "" {
		expected.NotBefore = e.actedAt(ctx, s.Args.After)
		expected.Boot = fmt.Sprintf("before step %s at %s no config was served to it", s.Args.After, expected.NotBefore.UTC().Format("15:04:05Z07:00"))
	}
	return expected
}

func prepareApproval(ctx context.Context, e env, s Step) (*act, string, error) {
	p, err := csr.Gather(ctx, csr.Cluster{Objects: e.api}, e.clock.Now())
	if err != nil {
		return nil, "", refuse("the requests and what belongs to them could not be read: %v", err)
	}
	expected := e.expectation(ctx, s)
	if why, ok := served(p, s, expected); ok {
		return nil, why, nil
	}
	q, asked := pending(p, s)
	if !asked {
		return nil, "", refuse("the request of %s is gone", s.Args.Host).instead("resume; its kubelet asks again")
	}
	content, err := e.api.Get(ctx, csrRef(q.Name))
	if err != nil {
		return nil, "", refuse("request %s could not be read again: %v", q.Name, err)
	}
	if uid := stringAt(content, "metadata", "uid"); uid != q.UID {
		return nil, "", refuse("request %s was replaced by another of the same name", q.Name)
	}
	d := csr.Judge(q, expected, p)
	if d.WayOut != "" {
		return nil, "", refuse("no request of %s is approved: %s", s.Args.Host, d.Why).
			instead("%s. Then continue with `rollcall fix resume %s`", d.WayOut, e.plan.ID)
	}
	if !d.Approve {
		return nil, "", refuse("request %s is not approved: %s", q.Name, d.Why).instead("see `rollcall csr explain %s`", q.Name)
	}
	e.say(s.ID, "request %s, UID %s, key sha256:%s: %s; %s", q.Name, q.UID, q.KeyDigest, d.Why, d.NotProven)
	return approvalAct(e, s, content, d)
}

func approvalAct(e env, s Step, content Object, d csr.Decision) (*act, string, error) {
	message, err := d.Message("plan " + e.plan.ID)
	if err != nil {
		return nil, "", err
	}
	patch, err := csr.Patch(content, message)
	if err != nil {
		return nil, "", err
	}
	const at = "/status/conditions/[type=Approved]"
	fields := []string{at + "/message", at + "/reason"}
	before, err := digestFields(content, fields)
	if err != nil {
		return nil, "", err
	}
	after, err := digestSet(fields, map[string]any{fields[0]: message, fields[1]: csr.Reason})
	if err != nil {
		return nil, "", err
	}
	ref := csrRef(d.Name)
	return &act{
		Write: Write{Target: ref, Sub: "approval", UID: d.Request.UID, Fields: fields, Before: before, After: after,
			Inverse: s.Inverse},
		preImage: []byte("{}"),
		do: func(ctx context.Context, dryRun bool) (Object, error) {
			return e.api.Patch(ctx, ref, "approval", patch, dryRun)
		},
	}, "", nil
}

// Fetched is when a host got its Ignition config: its kernel booted before that, and
// its own requests are younger. It is not ok where that was not seen.
func Fetched(h diagnosis.HostState) (at time.Time, ok bool) {
	for _, s := range h.Stages {
		if s.Stage == fault.IgnitionFetched && s.State == diagnosis.StagePassed && !s.At.IsZero() {
			return s.At, true
		}
	}
	return time.Time{}, false
}
