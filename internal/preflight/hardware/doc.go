// Package hardware judges what the BMCs of machines show over Redfish, before anything is
// installed: whether they can be asked at all, what the plan wants and a machine does not
// have, and in what the masters differ.
//
// Invariants:
//   - A BMC that did not answer makes what it alone shows unknown, and never fine.
//   - What a BMC was asked for and does not have (it lists no disks) is no problem of the
//     machine: the check has no meaning for that host.
//   - A difference between machines is a difference, and no cause of anything.
package hardware

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// All lists the checks of this package.
func All() []check.Check {
	return slices.Concat(accessChecks, systemChecks, nicChecks, diskChecks, masterChecks)
}

var needs = []evidence.Need{evidence.Objects(evidence.BMCAnswers, "")}

// host is what the BMC of one host showed.
type host struct {
	bmc.Answer
	loc evidence.Locator
}

// hosts returns the hosts whose BMCs were asked. Without any it is an *evidence.Unavailable.
func hosts(ctx context.Context, w *facts.World) ([]host, error) {
	return facts.Memo(ctx, w, "hardware.hosts", func(ctx context.Context, w *facts.World) ([]host, error) {
		list, err := w.List(ctx, evidence.BMCAnswers, "")
		if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
			return nil, check.NotApplicable("no BMC was asked")
		}
		if err != nil {
			return nil, err
		}
		var out []host
		for _, o := range list {
			a, err := bmc.Decode(o)
			if err != nil {
				return nil, err
			}
			out = append(out, host{a, o.Loc})
		}
		if len(out) == 0 {
			return nil, check.NotApplicable("no BMC was asked")
		}
		return out, nil
	})
}

// says is a piece of evidence about a host. It leads to the line of the plan that names the
// BMC, where there is one; the words say what the BMC showed.
func (h host) says(format string, args ...any) evidence.Item {
	loc := h.loc
	if h.File != "" {
		loc = evidence.Locator{Source: h.File, Path: h.File, Field: h.Field, Line: h.Line, Column: h.Column}
	}
	return evidence.Item{Locator: loc, Excerpt: h.Host + ": " + fmt.Sprintf(format, args...), From: h.Vantage, Time: h.At}
}

// result is what one check says of one host.
type result struct {
	problem string // with it, what is wrong
	unknown string // why it is not known
	name    string // of the problem in a title; the host's where empty
	supply  evidence.Supply
}

func wrong(format string, args ...any) result { return result{problem: fmt.Sprintf(format, args...)} }

func (r result) as(name string) result { r.name = name; return r }

// fine is the result of a host without the problem, and of one for which the check has no
// meaning.
var fine = result{}

// eachHost runs a check over hosts. A problem of one is known whatever the others show; without
// one, all of them have to be known.
func eachHost(to *check.Problems, list []host, test func(host) result) {
	var open []string
	var supply evidence.Supply // for the first host of which it is not known
	for _, h := range list {
		r := test(h)
		switch {
		case r.problem != "":
			name := r.name
			if name == "" {
				name = h.Host
			}
			to.Add(name, h.says("%s", r.problem))
		case r.unknown != "":
			if len(open) == 0 {
				supply = r.supply
			}
			open = append(open, h.Host+": "+r.unknown)
		}
	}
	if to.Any() || len(open) == 0 {
		return
	}
	detail := open[0]
	switch n := len(open) - 1; {
	case n == 1:
		detail += ", and 1 more BMC"
	case n > 1:
		detail += fmt.Sprintf(", and %d more BMCs", n)
	}
	to.Miss(&evidence.Unavailable{Need: needs[0], Why: evidence.Unreachable, Detail: detail, Supply: supply})
}

// shown wraps a check of what only a machine that was read shows, and of the parts of it
// that the check needs. A part that the BMC does not have is left to the check.
func shown(test func(host) result, parts ...string) func(host) result {
	return func(h host) result {
		if h.System == nil {
			return h.notShown()
		}
		for _, part := range parts {
			if u, not := h.Unread[part]; not && u.Failure != bmc.Absent {
				return result{unknown: "its BMC did not show " + partWords[part] + " (" + u.Detail + ")"}
			}
		}
		return test(h)
	}
}

var partWords = map[string]string{
	bmc.PartNICs: "its network cards", bmc.PartCards: "the list of its cards", bmc.PartDisks: "its disks", bmc.PartMedia: "its virtual drives",
	bmc.PartSecureBoot: "Secure Boot",
	bmc.PartBIOS:       "its BIOS settings", bmc.PartManager: "itself", bmc.PartProcessors: "its processors", bmc.PartAccount: "the rights of the account",
}

// lacks reports whether the BMC does not have a part at all.
func (h host) lacks(part string) bool { return h.Unread[part].Failure == bmc.Absent }

// why says why a BMC did not show its machine.
func (h host) why() string {
	switch h.Failure {
	case bmc.NotRedfish:
		return "its BMC is not asked: " + h.Error
	case bmc.BadAddress:
		return "the address of its BMC is not one: " + h.Error
	case bmc.Unreachable:
		return "its BMC was not reached: " + h.Error
	case bmc.Untrusted:
		return "no credential was sent to its BMC, whose certificate does not verify"
	case bmc.HeldBack, bmc.NoCredential, bmc.PlainHTTP:
		return "its BMC was not asked further: " + h.Error
	case bmc.Refused:
		return "its BMC refused the credential"
	case bmc.Forbidden:
		return "the account may not read the system"
	}
	return "its BMC did not show the system: " + h.Error
}

// notShown is the result of a check for a host whose BMC did not show its machine.
func (h host) notShown() result {
	r := result{unknown: h.why()}
	switch h.Failure {
	case bmc.NotRedfish:
		r.supply = evidence.Supply{Kind: evidence.SupplyRedfish, Host: h.Host}
	case bmc.NoCredential:
		r.supply = evidence.Supply{Kind: evidence.SupplyBMCLogin, Host: h.Host}
	}
	return r
}

// isOne reports whether the question ended in one of some ways.
func (h host) isOne(failures ...bmc.Failure) bool { return slices.Contains(failures, h.Failure) }

// power says that a machine is switched off, where it is: some BMCs then show less.
func (h host) off() bool { return h.System != nil && strings.EqualFold(h.System.Power, "Off") }

func (h host) master() bool { return h.Role == "master" }
