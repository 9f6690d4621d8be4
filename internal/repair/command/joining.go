package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
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

// PlanCommand writes the command that plans a remedy of a root: whole, so that it
// can be copied, with the hosts that are still to join. The other words are --root,
// where there are several causes, what only a person knows, and the cluster. It is empty for a
// root that is not proven; for which remedies there is a plan, Plannable knows.
func PlanCommand(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis) answer.PlanCommand {
	waiting := joining(d)
	w := facts.NewWorld(r.Reader, d.Now)
	expect := expectWords(ctx, w, waiting)
	requests, _ := csrs.All(ctx, w) // without them no plan is offered for one
	return func(root diagnosis.Case, remedy string, only bool) string {
		if root.Confidence != diagnosis.Proven {
			return ""
		}
		words := []string{r.Session.Name, "fix plan"}
		if !only || len(d.Accepted) > 0 { // a repair sees the accepted causes, too
			words = append(words, "--root", shellcommand.Quote(root.Fault+"@"+root.Subject.String()))
		}
		if asks := repair.Asks(remedy, d.Cluster.Version); asks != "" {
			words = append(words, asks)
		}
		for _, h := range waiting {
			if concerns(requests, root, h) && h.Named() && len(words) < maxExpected {
				words = append(words, "--expect", shellcommand.Quote(expect[h.Name]))
			}
		}
		if d.Cluster.Hosted != "" {
			words = append(words, "--hosted", shellcommand.Quote(d.Cluster.Hosted))
		}
		return cmdutil.JoinWords(append(words, r.Session.Connection()...))
	}
}

// expectWords are the values of --expect of hosts, with the addresses that an object declares for
// them alone. What is missing the person fills in.
func expectWords(ctx context.Context, w *facts.World, list []diagnosis.HostState) map[string]string {
	declared, _ := inventory.Declared(ctx, w)
	known := csr.Expected(declared, func(inventory.Host) (time.Time, string) { return time.Time{}, "" })
	words := map[string]string{}
	for _, h := range list {
		address := csr.AddressHole
		if e := csr.For(known, h.Name); e != nil && len(e.IPs) > 0 {
			address = strings.Join(e.IPs, ",")
		}
		words[h.Name] = h.Name + "=" + address
	}
	return words
}

// Plannable is a diagnose.Plannable. A request is in a plan only where its host is expected and
// has no Node yet, its pool is known, and something tells when it booted (internal/repair
// bootEvidence). A person who knows that time gives it to csr approve.
func Plannable(ctx context.Context, w *facts.World, d *diagnosis.Diagnosis, k fault.Key, remedy string) bool {
	if !repair.Approves(remedy) {
		return true
	}
	requests, err := csrs.All(ctx, w)
	if err != nil {
		return false
	}
	root := diagnosis.Case{Key: k}
	return slices.ContainsFunc(joining(d), func(h diagnosis.HostState) bool {
		_, fetched := repair.Fetched(h)
		return fetched && h.Named() && h.Role != "" && concerns(requests, root, h)
	})
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

// concerns reports whether the repair of a root may let a host join.
func concerns(requests []csrs.Request, root diagnosis.Case, h diagnosis.HostState) bool {
	switch root.Subject.Kind {
	case fault.Host:
		return root.Subject.Name == h.Name
	case fault.Pool:
		return root.Subject.Name == h.Role
	case fault.CSR:
		req, ok := csrs.Find(requests, root.Subject.Name)
		return ok && h.Role != "" && inventory.SameName(req.NodeName, h.Name)
	}
	return root.Subject.Kind == fault.Cluster
}
