package csrs

import (
	"context"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/scan"
)

const (
	sigApproved = "approver-approved"
	sigFlood    = "approver-flood"
)

// refusal is a line in which the approver says why it does not approve. Group 1
// of the pattern is the request's name.
type refusal struct {
	id      string
	waits   Waits
	literal string
	pattern string
}

// refusals are the lines of openshift/cluster-machine-approver:
// pkg/controller/csr_check.go and controller.go, 4.0 to main. What follows the
// request's name was reworded over the releases; the literals are what stayed.
var refusals = []refusal{
	{"approver-node-exists", WaitsNodeExists, "already exists, cannot approve", `([A-Za-z0-9.:-]+): node \S+ already exists, cannot approve`},
	{"approver-no-machine", WaitsNoMachine, "failed to find machine", `([A-Za-z0-9.:-]+): failed to find machine (?:with InternalDNS matching|for node) \S+, cannot approve`},
	{"approver-node-ref", WaitsNodeRef, "already has node ref, cannot approve", `([A-Za-z0-9.:-]+): machine for node .* already has node ref, cannot approve`},
	{"approver-window", WaitsWindow, "csr creation time", `([A-Za-z0-9.:-]+): CSR creation time .* not in range`},
	{"approver-dns", WaitsNames, "not in machine names", `([A-Za-z0-9.:-]+): DNS name '[^']*' not in machine names`},
	{"approver-ip", WaitsNames, "not in machine addresses", `([A-Za-z0-9.:-]+): IP address '[^']*' not in machine addresses`},
	{"approver-no-target", WaitsNoMachine, "no target machine", `([A-Za-z0-9.:-]+):? (?:Serving Cert: No target machine for node|not authorized: No target machine)`},
	{"approver-flow", WaitsFlowDisabled, "rejected as the flow is disabled", `CSR:? ?([A-Za-z0-9.:-]+) for node client cert rejected as the flow is disabled`},
	{"approver-shape", WaitsShape, "unrecoverable serving cert error", `([A-Za-z0-9.:-]+): Unrecoverable serving cert error`},
}

// Signatures lists what the facts of this package look for in logs.
func Signatures() []scan.Signature {
	list := []scan.Signature{
		{ID: sigApproved, Literal: " approved", Pattern: regexp.MustCompile(`CSR ([A-Za-z0-9.:-]+) approved$`)},
		{ID: sigFlood, Literal: "ignoring all csrs as too many recent pending", Pattern: regexp.MustCompile(`(?i)pending CSRs: (\d+); max pending allowed: (\d+)`)},
	}
	for _, r := range refusals {
		list = append(list, scan.Signature{ID: r.id, Literal: r.literal, Pattern: regexp.MustCompile(`(?i)` + r.pattern)})
	}
	return list
}

// loggedRefusal is a line in which the approver refuses a request.
type loggedRefusal struct {
	waits Waits
	line  evidence.Line
}

// said returns the approver's last words on a request, of each kind, in the order
// of the list of refusals.
func said(ctx context.Context, w *facts.World, name string) ([]loggedRefusal, error) {
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
