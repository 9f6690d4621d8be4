package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// approveCSR approves exactly one request of one expected host, when it has
// come, after internal/csr has judged it. Approved fields of the journal hold
// the request's UID. It never chooses among several requests: a person does, with
// `rollcall csr approve --key`, and the plan continues from there.
func approveCSR() action {
	return action{
		check: func(s Step) error {
			if s.Args.Signer != string(csrs.Client) && s.Args.Signer != string(csrs.Serving) {
				return fmt.Errorf("args.signer is %q, want client or serving", s.Args.Signer)
			}
			if s.Args.After == "" && s.Args.NotBefore.IsZero() {
				return fmt.Errorf("neither args.after nor args.notBefore gives since when the host can have asked")
			}
			return need(map[string]string{"host": s.Args.Host})
		},
		ready: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			p, err := csr.Gather(ctx, csr.Cluster{Objects: r.API}, r.Clock.Now())
			if err != nil {
				return false, "", err
			}
			e := r.expectation(ctx, s)
			if name, waits := unsigned(p, s, e); waits {
				return false, fmt.Sprintf("%s is approved and not issued: the controller manager signs it", name), nil
			}
			if _, answered := served(p, s, e); answered {
				return true, "", nil
			}
			if _, asked := pending(p, s); asked {
				return true, "", nil
			}
			return false, fmt.Sprintf("%s has not asked for its %s certificate", s.Args.Host, s.Args.Signer), nil
		},
		prepare: prepareApproval,
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			p, err := csr.Gather(ctx, csr.Cluster{Objects: r.API}, r.Clock.Now())
			if err != nil {
				return false, "", err
			}
			_, ok := served(p, s, r.expectation(ctx, s))
			return ok, fmt.Sprintf("the %s certificate of %s is not issued: the controller manager signs it", s.Args.Signer, s.Args.Host), nil
		},
		dependants: func(context.Context, *run, Step, Write) (string, error) {
			return "an approval cannot be withdrawn: the certificate is valid until it expires (30 days at most), or until the signer's trust is rotated", nil
		},
	}
}

// of reports whether a request is one of the step's host and kind.
func of(q csrs.Request, s Step) bool {
	return q.NodeName == s.Args.Host && string(q.Kind) == s.Args.Signer
}

// pending returns a request of the step's host and kind that waits, the youngest:
// csr.Judge refuses it where another key waits too.
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
// What Rollcall approved, by this plan or at a person's word with --key, stands,
// whoever else asks. What others approved does not while another request waits:
// which of the two is the host's is then for csr.Judge to refuse.
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

func (r *run) expectation(ctx context.Context, s Step) *csr.Expectation {
	e := &csr.Expectation{Name: s.Args.Host, Role: s.Args.Role, IPs: s.Args.IPs, Explicit: true,
		Source:    "named by a person in plan " + r.plan.ID,
		NotBefore: s.Args.NotBefore, Boot: s.Args.Boot}
	if s.Args.After != "" {
		e.NotBefore = r.actTime(ctx, s.Args.After)
		e.Boot = fmt.Sprintf("before step %s at %s no config was served to it", s.Args.After, e.NotBefore.UTC().Format("15:04:05Z07:00"))
	}
	return e
}

func prepareApproval(ctx context.Context, r *run, s Step) (*act, string, error) {
	p, err := csr.Gather(ctx, csr.Cluster{Objects: r.API}, r.Clock.Now())
	if err != nil {
		return nil, "", refuse("the requests and what belongs to them could not be read: %v", err)
	}
	e := r.expectation(ctx, s)
	if why, ok := served(p, s, e); ok {
		return nil, why, nil
	}
	q, asked := pending(p, s)
	if !asked {
		return nil, "", refuse("the request of %s is gone", s.Args.Host).instead("resume; its kubelet asks again")
	}
	content, err := r.API.Get(ctx, csrRef(q.Name))
	if err != nil {
		return nil, "", refuse("request %s could not be read again: %v", q.Name, err)
	}
	if uid := stringAt(content, "metadata", "uid"); uid != q.UID {
		return nil, "", refuse("request %s was replaced by another of the same name", q.Name)
	}
	d := csr.Judge(q, e, p)
	if d.WayOut != "" {
		return nil, "", refuse("no request of %s is approved: %s", s.Args.Host, d.Why).
			instead("%s. Then continue with `rollcall fix resume %s`", d.WayOut, r.plan.ID)
	}
	if !d.Approve {
		return nil, "", refuse("request %s is not approved: %s", q.Name, d.Why).instead("see `rollcall csr explain %s`", q.Name)
	}
	r.say(s.ID, "request %s, UID %s, key sha256:%s: %s; %s", q.Name, q.UID, q.KeyDigest, d.Why, d.NotProven)
	return approvalAct(r, s, content, d)
}

func approvalAct(r *run, s Step, content Object, d csr.Decision) (*act, string, error) {
	message, err := d.Message("plan " + r.plan.ID)
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
			return r.API.Patch(ctx, ref, "approval", patch, dryRun)
		},
	}, "", nil
}
