package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// requests judge what is done to certificate requests.
var requests = []Judgment{{
	ID: "approve-request", Commands: "oc adm certificate approve", Matches: func(c *shellcommand.Call) bool {
		return c.Is("oc", "adm", "certificate", "approve") || c.Is("oc", "certificate", "approve")
	},
	Decide:  decideApprove,
	Sources: []fault.Ref{{Repo: "openshift/cluster-machine-approver", Path: "pkg/controller/csr_check.go"}},
}, {
	ID: "deny-request", Commands: "oc adm certificate deny", Matches: func(c *shellcommand.Call) bool { return c.Is("oc", "adm", "certificate", "deny") },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.CSRs, c, append([]string{"csr"}, c.Args[3:]...))
		if err != nil {
			return nil, err
		}
		return &decision{verdict: Safe, why: "a denied request gets no certificate; a kubelet that runs files another", objects: refs(list),
			lost: "nothing", undo: "none: denied is final for this request"}, nil
	},
	Sources: []fault.Ref{{Repo: "kubernetes/client-go", Path: "util/certificate/certificate_manager.go"}},
}, {
	ID: "delete-request", Commands: "oc delete csr", Matches: is("csr", "delete"),
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.CSRs, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		return &decision{verdict: Safe, why: "a kubelet files another one; a certificate that was issued stays valid", objects: refs(list),
			lost: "the record of who asked, and who approved", undo: "none, and none is needed", verify: []string{"rollcall csr list"}}, nil
	},
	Sources: []fault.Ref{{Repo: "kubernetes/client-go", Path: "util/certificate/certificate_manager.go"}},
}}

// decideApprove holds each request to the rules of `csr approve`.
func decideApprove(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	names := slices.DeleteFunc(slices.Clone(c.Args), func(a string) bool { return a == "adm" || a == "certificate" || a == "approve" })
	waiting, err := l.pending(ctx)
	if err != nil {
		return nil, err
	}
	if u := l.partial(ctx, evidence.CSRs, ""); u != nil {
		return nil, u
	}
	if c.Open || len(names) == 0 {
		names = nil
		for _, r := range waiting {
			names = append(names, r.Name)
		}
		if len(names) == 0 {
			return &decision{verdict: Person, why: "no request is pending in what was read, and it approves unseen whatever has come when it runs",
				lost: "nothing, but a certificate cannot be taken back: it is valid until it ends", undo: "none",
				instead: []string{"rollcall csr list", "rollcall csr approve NAME"}}, nil
		}
	}
	judge, err := l.rules(ctx)
	if err != nil {
		return nil, err
	}
	return l.approveEach(ctx, names, waiting, judge)
}

// rules returns the judgment of `csr approve` for one request.
func (l *look) rules(ctx context.Context) (func(csrs.Request) csr.Decision, error) {
	snapshot, err := csr.GatherPartly(ctx, csr.WorldLister{World: l.w}, l.d.Now)
	if err != nil {
		return nil, fmt.Errorf("read the requests: %w", err)
	}
	var expected []csr.Expectation
	declared, err := inventory.Declared(ctx, l.w)
	if u, ok := evidence.AsUnavailable(err); ok {
		snapshot.Unread = u.Error()
	} else if err != nil {
		return nil, err
	}
	expected = csr.Expected(declared, func(h inventory.Host) (time.Time, string) { return csr.BootOf(l.d, h) })
	return func(r csrs.Request) csr.Decision { return csr.Judge(r, csr.For(expected, r.NodeName), snapshot) }, nil
}

// approveEach says which of the requests fit the rules.
func (l *look) approveEach(ctx context.Context, names []string, waiting []csrs.Request, judge func(csrs.Request) csr.Decision) (*decision, error) {
	d := &decision{verdict: Unsafe, lost: "nothing, but a certificate cannot be taken back: it is valid until it ends", undo: "none",
		instead: []string{"rollcall csr list", "rollcall csr approve NAME"}, verify: []string{"oc get csr", "oc get nodes"}}
	good := 0
	var bad []string
	for _, name := range names {
		i := slices.IndexFunc(waiting, func(r csrs.Request) bool { return r.Name == strings.TrimPrefix(name, "csr/") })
		if i < 0 {
			return nil, &notThere{what: "pending certificate request", name: name}
		}
		r := waiting[i]
		d.objects = append(d.objects, "csr/"+r.Name+" for "+csr.Shown(r))
		made := judge(r)
		if made.Approve {
			good++
			continue
		}
		why := made.Why
		if silent, _, err := l.silence(ctx, r.NodeName); err == nil && silent == 0 && r.Kind == csrs.Client {
			why = "it claims the running node " + r.NodeName
		}
		bad = append(bad, r.Name+": "+why)
		d.evidence = append(d.evidence, evidence.Item{Locator: r.Loc, Excerpt: made.Why, Time: r.Created})
	}
	if len(bad) == 0 {
		d.verdict, d.why = Person, fmt.Sprintf("%d of %d fit the rules; a certificate cannot be taken back", good, len(names))
		return d, nil
	}
	d.why = fmt.Sprintf("%d of %d are expected and fit the rules; %s", good, len(names), strings.Join(bad, "; "))
	return d, nil
}
