package csrs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Result of one check.
type Result string

// The results: the four outcomes as they read for a rule that must hold.
const (
	Passed        Result = "passed"
	Refused       Result = "refused"
	Unknown       Result = "unknown"
	NotApplicable Result = "not-applicable"
)

// The approver's constants (openshift/cluster-machine-approver:pkg/controller/csr_check.go).
const (
	maxPendingAge   = time.Hour        // maxPendingDelta: what counts as recent for the flood guard
	maxPendingExtra = 100              // maxDiffBetweenPendingCSRsAndMachinesCount
	machineSkew     = 10 * time.Second // maxMachineClockSkew
	machineWindow   = 2 * time.Hour    // maxMachineDelta
)

// waits says, in one word, what stops a request.
type waits string

// What can stop a request, in the order of the approver's own checks. Nothing
// means that by these checks the approver approves.
const (
	waitsNothing       waits = "nothing"
	waitsFlowDisabled  waits = "flow-disabled"         // client requests are switched off
	WaitsShape         waits = "not-a-kubelet-request" // signer, requester, groups, usages or subject are not those of a kubelet
	waitsNodeExists    waits = "node-exists"
	waitsNoMachine     waits = "no-machine"
	waitsNoAddresses   waits = "machine-no-addresses"
	waitsName          waits = "name-mismatch"
	waitsNodeRef       waits = "machine-has-node-ref"
	waitsWindow        waits = "outside-window"
	waitsNotLinked     waits = "machine-not-linked" // serving: the node's Machine has no nodeRef yet
	waitsNames         waits = "san-mismatch"
	waitsOtherApprover waits = "other-approver" // the machine approver does not look at such requests
	waitsUnknown       waits = "unknown"
)

// machine is what the approver looks at of a Machine. Phase, role, owner and
// deletion are not among it.
type machine struct {
	Name    string
	Created time.Time
	NodeRef string // name of the node; "" without a nodeRef
	DNS     []string
	ExtDNS  []string // ExternalDNS and Hostname
	IPs     []string // InternalIP and ExternalIP
}

// internalDNS reports whether one of the InternalDNS addresses is the node's
// name (pkg/machinehandler/machinehandler.go FindMatchingMachineFromInternalDNS).
func (m machine) internalDNS(node string) bool {
	return slices.ContainsFunc(m.DNS, func(a string) bool { return strings.EqualFold(strings.TrimSuffix(a, "."), node) })
}

// empty reports whether the Machine lists no address at all.
func (m machine) empty() bool { return len(m.DNS)+len(m.ExtDNS)+len(m.IPs) == 0 }

// surroundings is what the approver's decision depends on besides the request.
type surroundings struct {
	Version      string // of the cluster, for the wording of messages; "" means the newest
	FlowDisabled facts.Field[bool]
	Machines     facts.Field[[]machine]
	NodeExists   facts.Field[bool]
	Candidate    facts.Field[string]   // name of the Machine that should belong to the node by other signs; "" when there is none
	Serving      facts.Field[*renewal] // the node's serving certificate as it would be presented; nil: it has none
}

// renewal is what is known of the certificate that a kubelet serves.
type renewal struct {
	CN       string
	DNSNames []string
	IPs      []string
	NotAfter time.Time
}

// Check is one rule of the approver and how it came out.
type Check struct {
	Name    string `json:"name"`
	Rule    string `json:"rule"`              // what must hold
	Result  Result `json:"result"`            //
	Detail  string `json:"detail,omitempty"`  // what was seen
	Wording string `json:"wording,omitempty"` // what the approver's log says when it refuses, in the cluster's version
	waits   waits
	err     error // why it could not be made
}

// words says what was seen and what it was held against.
func (c *Check) words() string { return c.Detail + " (the rule: " + c.Rule + ")" }

// Judgment is the approver's decision, as far as it can be known.
type judgement struct {
	Checks   []Check `json:"checks"`
	Approves Result  `json:"approves"` // Passed: it approves; NotApplicable: it does not look at such requests
	Waits    waits   `json:"waits"`
	Machine  string  `json:"machine,omitempty"` // the Machine that the decision was made with
	Why      string  `json:"why,omitempty"`     // the first refusal, or what is not known, in words
	err      error   // what is not known
}

// refusals lists the names of the checks that refused.
func (j judgement) refusals() []string {
	var names []string
	for _, c := range j.Checks {
		if c.Result == Refused {
			names = append(names, c.Name)
		}
	}
	return names
}

// judge decides a request as the cluster machine approver does. The flood guard
// is not part of it: it stops all requests alike (see Flood).
func judge(r Request, in surroundings) judgement {
	j := judging{request: r, in: in}
	switch {
	case r.Renews():
		return otherApprover("requester", "asked for by the node bootstrapper", r.Requester,
			"a node renews its own client certificate: the controller manager approves")
	case r.Kind == Client:
		j.client()
	case r.Kind == Serving:
		j.serving()
	default:
		return otherApprover("signer", "signed by a kubelet signer", r.Signer, "the machine approver ignores requests to "+r.Signer)
	}
	return j.decide()
}

func otherApprover(name, rule, detail, why string) judgement {
	return judgement{
		Checks:   []Check{{Name: name, Rule: rule, Result: NotApplicable, Detail: detail}},
		Approves: NotApplicable, Waits: waitsOtherApprover, Why: why,
	}
}

type judging struct {
	request Request
	in      surroundings
	checks  []Check
	machine string
	anyOf   []Check // serving: the methods to be authorized, of which one suffices
}

// must adds a rule; err is what was seen against it.
func (j *judging) must(name, rule string, waits waits, ok bool, detail, wording string) bool {
	c := Check{Name: name, Rule: rule, Result: Passed, waits: waits}
	if !ok {
		c.Result, c.Detail, c.Wording = Refused, detail, wording
	}
	j.checks = append(j.checks, c)
	return ok
}

func (j *judging) cannot(name, rule string, waits waits, err error) {
	j.checks = append(j.checks, Check{Name: name, Rule: rule, Result: Unknown, Detail: err.Error(), waits: waits, err: err})
}

// decide folds the checks: a refusal decides, then what is not known.
func (j *judging) decide() judgement {
	out := judgement{Checks: append(j.checks, j.anyOf...), Approves: Passed, Waits: waitsNothing, Machine: j.machine}
	first := func(list []Check, want Result) *Check {
		for i := range list {
			if list[i].Result == want {
				return &list[i]
			}
		}
		return nil
	}
	refuse := func(c *Check) judgement {
		out.Approves, out.Waits, out.Why, out.err = Refused, c.waits, c.words(), c.err
		return out
	}
	unknown := func(c *Check) judgement {
		out.Approves, out.Waits, out.Why, out.err = Unknown, waitsUnknown, c.words(), c.err
		return out
	}
	if c := first(j.checks, Refused); c != nil {
		out = refuse(c)
		if u := first(j.checks, Unknown); u != nil && u.Name == "node-absent" {
			out.Waits, out.Why, out.err = waitsUnknown, u.words(), u.err // it comes first, and may be what stops the request
		}
		return out
	}
	if c := first(j.checks, Unknown); c != nil {
		return unknown(c)
	}
	if len(j.anyOf) == 0 || first(j.anyOf, Passed) != nil {
		return out
	}
	// No way leads through. One that is not known may still; the Machine's says why it waits.
	machine := j.anyOf[len(j.anyOf)-1]
	if c := first(j.anyOf, Unknown); c != nil {
		got := unknown(c)
		if machine.Result == Refused {
			got.Waits, got.Why, got.err = machine.waits, machine.words(), machine.err
		}
		return got
	}
	return refuse(&machine)
}

// older reports whether the cluster's minor release is before 4.minor; an
// unknown version counts as the newest.
func older(version string, minor int) bool {
	var major, have int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &have); n != 2 || major != 4 {
		return false
	}
	return have < minor
}
