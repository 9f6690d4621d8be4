package csrs

import (
	"context"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const (
	sigFlood = "approver-flood"
)

// refusal is a line in which the approver says why it does not approve.
type refusal struct {
	id    string // of the message; its first group is the name of the request
	waits waits
}

// refusals are the lines of openshift/cluster-machine-approver:
// pkg/controller/csr_check.go and controller.go, 4.0 to main. What follows the
// request's name was reworded over the releases; the literals are what stayed.
var refusals = []refusal{
	{"approver-node-exists", waitsNodeExists},
	{"approver-no-machine", waitsNoMachine},
	{"approver-node-ref", waitsNodeRef},
	{"approver-window", waitsWindow},
	{"approver-dns", waitsNames},
	{"approver-ip", waitsNames},
	{"approver-no-target", waitsNoMachine},
	{"approver-flow", waitsFlowDisabled},
	{"approver-shape", WaitsShape},
}

// loggedRefusal is a line in which the approver refuses a request.
type loggedRefusal struct {
	waits waits
	line  evidence.Line
}

// loggedRefusals returns the approver's last log line about a request, of each kind, in the order
// of the list of refusals.
func loggedRefusals(ctx context.Context, w *facts.World, name string) ([]loggedRefusal, error) {
	all, err := facts.Memo(ctx, w, "csrs.said", func(ctx context.Context, w *facts.World) (map[string][]loggedRefusal, error) {
		all := map[string][]loggedRefusal{}
		for _, s := range refusals {
			lines, err := w.Matches(ctx, approverLog, s.id)
			if err != nil {
				return nil, err
			}
			last := map[string]evidence.Line{}
			for _, m := range lines {
				if len(m.Groups) > 1 {
					last[strings.TrimSuffix(m.Groups[1], ":")] = m.Line
				}
			}
			for request, line := range last {
				all[request] = append(all[request], loggedRefusal{s.waits, line})
			}
		}
		return all, nil
	})
	return all[name], err
}
