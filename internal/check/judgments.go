package check

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// Judgment is what is known of one kind of command.
type Judgment struct {
	ID       string
	Commands string // as a person types them
	// Matches says whether the judgment is about a call.
	Matches func(*shellcommand.Call) bool
	Reads   []evidence.Need // in addition to what a diagnosis reads
	// Decide says what a call does in this state. An *evidence.Unavailable becomes "unknown", or
	// "needs a person" where Final is set.
	Decide  func(context.Context, *look, *shellcommand.Call) (*decision, error)
	Final   string // why it cannot be undone in any state; "" where it can
	Local   bool   // it does not need an API that can write
	Sources []fault.Ref
}

// decision is what a judgment says of a call.
type decision struct {
	verdict             Verdict
	why                 string
	objects             []string
	changes, lost, undo string
	evidence            []evidence.Item
	instead, verify     []string
}

// Judgments lists all of them. The first one that matches decides.
func Judgments() []Judgment {
	return slices.Concat(pods, labels, nodes, drains, machines, hosts, requests, secrets, namespaces, bulk, pools, onHost, etcdMembers, files,
		certificates, updates, installer, hostedClusters, overrides, secretOutput, generic)
}

// Needs is what the judgments read in addition to a diagnosis.
func Needs() []evidence.Need {
	var list []evidence.Need
	for _, j := range Judgments() {
		for _, n := range j.Reads {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}
