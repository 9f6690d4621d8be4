package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// planCommand writes the command that plans the repair of a root: whole, so that it
// can be copied, with the hosts that are still to join. The other words are --root,
// where there are several causes, and the cluster. It is empty where a plan would be
// refused: for a request of a host that is not to join, whose pool is not known or of
// which nothing tells when it booted.
func PlanCommand(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis) func(root diagnosis.Case, only bool) string {
	waiting := joining(d)
	expect := map[string]string{}
	declared, _ := inventory.Declared(ctx, facts.NewWorld(r.Reader, d.Now)) // what is missing the person fills in
	known := csr.Expected(declared, func(inventory.Host) (time.Time, string) { return time.Time{}, "" })
	for _, h := range waiting {
		address := csr.AddressHole
		if e := csr.For(known, h.Name); e != nil && len(e.IPs) > 0 {
			address = strings.Join(e.IPs, ",")
		}
		expect[h.Name] = h.Name + "=" + address
	}
	requests, _ := csrs.All(ctx, facts.NewWorld(r.Reader, d.Now)) // without them no plan is offered for one
	return func(root diagnosis.Case, only bool) string {
		if root.Confidence != diagnosis.Proven {
			return ""
		}
		asking := root.Subject.Kind == fault.CSR
		if asking && !slices.ContainsFunc(waiting, func(h diagnosis.HostState) bool { return plannable(requests, root, h) }) {
			return ""
		}
		words := []string{r.Session.Name, "fix plan"}
		if !only || len(d.Accepted) > 0 { // a repair sees the accepted causes, too
			words = append(words, "--root", shellcommand.Quote(root.Fault+"@"+root.Subject.String()))
		}
		if len(root.Remedies) > 0 {
			if asks := repair.Asks(root.Remedies[0].ID); asks != "" {
				words = append(words, asks)
			}
		}
		for _, h := range waiting {
			if !h.Named() {
				continue
			}
			if (concerns(root, h) || asking && asksFor(requests, root, h)) && len(words) < maxExpected {
				words = append(words, "--expect", shellcommand.Quote(expect[h.Name]))
			}
		}
		return cmdutil.JoinWords(append(words, r.Session.Connection()...))
	}
}

// maxExpected bounds the words of a command on the screen.
const maxExpected = 12

// joining are the expected hosts without a Node.
func joining(d *diagnosis.Diagnosis) []diagnosis.HostState {
	limit := slices.Index(fault.Stages(), fault.Registered)
	var list []diagnosis.HostState
	for _, h := range d.Hosts {
		if h.Expected && h.State != diagnosis.StagePassed && slices.Index(fault.Stages(), h.Stage) <= limit {
			list = append(list, h)
		}
	}
	return list
}

// asksFor reports whether the request that a root is about asks for the identity of a host
// whose pool is known.
func asksFor(requests []csrs.Request, root diagnosis.Case, h diagnosis.HostState) bool {
	req, ok := csrs.Find(requests, root.Subject.Name)
	return ok && h.Role != "" && inventory.SameName(req.NodeName, h.Name)
}

// plannable reports whether the request that a root is about can be in a plan. Without the
// time of the boot it cannot (internal/repair bootEvidence); a person who knows that time
// gives it to csr approve.
func plannable(requests []csrs.Request, root diagnosis.Case, h diagnosis.HostState) bool {
	_, fetched := repair.Fetched(h)
	return fetched && asksFor(requests, root, h)
}

// concerns reports whether the repair of a root may let a host join.
func concerns(root diagnosis.Case, h diagnosis.HostState) bool {
	switch root.Subject.Kind {
	case fault.Host:
		return root.Subject.Name == h.Name
	case fault.Pool:
		return root.Subject.Name == h.Role
	}
	return root.Subject.Kind == fault.Cluster
}
