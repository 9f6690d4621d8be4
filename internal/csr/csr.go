// Package csr approves certificate signing requests of hosts that are expected,
// and no others.
//
// Whoever can fetch Ignition holds the bootstrap credential and may ask for the
// identity of any node, a control-plane node's included. Therefore a name in a
// request never makes a host expected: only a person who names it, or an object that the
// cluster itself holds, does.
//
// Invariants:
//   - Only requests to the two kubelet signers are judged: the two that a kubelet makes
//     when it joins, and its next serving certificate. The controller manager approves the
//     renewal of a client certificate.
//   - A serving request renews only what the kubelet serves now, verified (Served): the
//     machine approver's own rule, and the addresses of the inventory.
//   - A request is held to the rules of its signer, exactly (csrs.SignerRules).
//   - What a kubelet writes about itself (Node.status) can only refuse a request: no host
//     is expected, and no address is a host's, because its Node has it.
//   - A host whose role is not known to be a worker's is approved only when a person named it.
//   - A check that could not be made refuses.
//   - Where several keys ask for one host, none is chosen: a person names the key.
//   - Possession of the key by the host is not proven and never claimed: a kubelet
//     that rotates its certificates keeps the pending key in memory
//     (kubernetes/client-go:util/certificate/certificate_manager.go generateCSR).
//     Hence a stranger who asks before the host cannot be distinguished from it.
//   - No Machine or other object is written to make another approver approve.
package csr

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Reason is the reason of our Approved condition.
const Reason = "RollcallApprove"

// MaxOfHost is how many requests for one host may wait. A kubelet files about four in an hour.
const MaxOfHost = 20

// Limits of what is approved.
const (
	maxAge    = time.Hour        // older requests are of no use to a kubelet that retries
	clockSkew = 10 * time.Second // between the source of the boot time and the API server
	deadAfter = 5 * time.Minute  // a lease not renewed for so long is a dead kubelet's
)

// NotProvenYet is what no approval proves, in the words of its record.
const NotProvenYet = "not proven: that the key of the request lies on that host (the kubelet keeps it in memory until the certificate is there); " +
	"a stranger with the bootstrap credential whose request came before the host's, and alone, cannot be distinguished from it"

// trusted are reasons of approvals of a client request that a serving request
// may build on: ours, the machine approver's, and a person's with oc or kubectl
// (openshift/cluster-machine-approver:pkg/controller/controller.go,
// kubernetes/kubectl:pkg/cmd/certificates/certificates.go).
var trusted = []string{Reason, "NodeCSRApprove", "KubectlApprove"}

// Expectation is a host that is expected: who declared it, and since when.
type Expectation struct {
	Name     string   // of the host and the Node
	Role     string   // "master", "worker", "" where it is not known
	IPs      []string // as declared
	DNS      []string // further names, as declared
	Shared   []string // of the further names those that another declared host has, too
	Claimed  []Claim  // of the addresses those that another expected host has, too
	Others   []string // what others call an expected host with one of its addresses; it is likely this one
	Source   string   // who declared it: "--expect", "BareMetalHost openshift-machine-api/x"
	Explicit bool     // a person named it for this
	Rebuild  bool     // a person confirmed that a dead Node of that name is being rebuilt
	// NotBefore is since when the host can have asked, and Boot how that is known.
	NotBefore time.Time
	Boot      string
	// NotInstalled is why the host boots nothing that was written to it, "" where it may: a first certificate is for
	// none, whatever a person says of its boot, but not where a person named the host.
	NotInstalled string
	// NotAfter is until when its first certificate is expected; zero is without a limit.
	NotAfter time.Time
	// Joined is the Node that the host's Machine belongs to already, "" where there is none, and JoinedUID its UID, "" where
	// the Machine does not say.
	Joined, JoinedUID string
	// Key is the digest of the public key that a person named for the host, in hex;
	// "" where no one did. It is the only way to choose among several keys.
	Key string
	// Paced admits older keys of the host that came at the pace of a kubelet without an
	// answer: see Bulk.
	Paced bool
	// Object is the object that declares the host, for the record; the zero value where
	// there is none.
	Object ObjectRef
}

// Claim is an address that another host has, too, and which one that is.
type Claim struct {
	IP netip.Addr
	By string
}

// ObjectRef refers to an API object.
type ObjectRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// AddressHole is the placeholder of an address in a suggested command.
const AddressHole = "IP"

// ParseExpect reads "NAME", "NAME=IP" and "NAME=IP,IP", as a person types it.
//
// The placeholder IP, which commands on the screen have where the address is not known,
// is refused.
func ParseExpect(text string) (Expectation, error) {
	name, list, has := strings.Cut(text, "=")
	e := Expectation{Name: name, Source: "--expect", Explicit: true}
	if name == "" || strings.ContainsAny(name, "/ *,") {
		return e, fmt.Errorf("read expectation %q: want NAME or NAME=IP,IP", text)
	}
	if !has {
		return e, nil
	}
	addresses := strings.Split(list, ",")
	for i, one := range addresses {
		if strings.TrimSpace(one) == AddressHole {
			return e, fmt.Errorf("expectation %q: write an address of %s instead of %s. It must come from you, not from the request: "+
				"from agent-config or nmstate, the DHCP lease, DNS or the host's screen", text, name, AddressHole)
		}
		ip, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			// It is not repeated: what was typed by mistake may be a password, of which its name tells.
			which := ""
			if len(addresses) > 1 {
				which = fmt.Sprintf(" (number %d)", i+1)
			}
			return e, fmt.Errorf("read expectation %q: the value behind the sign = is not an address%s", text, which)
		}
		e.IPs = append(e.IPs, ip.Unmap().String())
	}
	return e, nil
}

// Node is what the judgment needs of a Node.
type Node struct {
	Name      string
	Ready     bool
	Control   bool
	Addresses []string // IPs
	Hostnames []string // as its kubelet writes them; they can only refuse
	UID       string
	Renewed   time.Time
	Created   time.Time // zero where it is not known
	Port      int       // of the kubelet; 0 where the Node has none
	// ProviderID and Machine (NAMESPACE/NAME) tie the Node to a Machine; "" where they are not set.
	ProviderID, Machine string
}

// hasHostname reports whether a Node's kubelet gives it a name.
func (n Node) hasHostname(name string) bool {
	return slices.ContainsFunc(n.Hostnames, func(have string) bool { return strings.EqualFold(strings.TrimSuffix(have, "."), name) })
}

// Snapshot is what is known of the cluster at one moment.
type Snapshot struct {
	Now      time.Time
	Requests []csrs.Request // oldest first
	Nodes    []Node
	Machines int
	Declared []Declared // the hosts that Machines and BareMetalHosts name
	VIPs     []string
	Names    []string       // of the cluster's API, from outside and from inside
	Apps     []string       // domains of the cluster's applications, in lower case
	AppsGap  string         // why some of them may not be known; a further name of a host is then not known to be its own
	CIDRs    []netip.Prefix // of pods and services
	Unread   string         // why it is not known which hosts the cluster expects; "" where it is
	Gaps     []string       // what the rules need and could not be read; a decision is then not known
	// Served is what the kubelets of nodes were asked for, by the Node's name.
	Served map[string]Served
}

func (p Snapshot) node(name string) (Node, bool) {
	i := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return p.Nodes[i], true
}

// Check is one rule and its result.
type Check struct {
	Name   string      `json:"name"`
	Rule   string      `json:"rule"`
	Result csrs.Result `json:"result"`
	Detail string      `json:"detail,omitempty"`
}

// Decision is the answer on one request.
type Decision struct {
	Request   csrs.Request `json:"-"`
	Name      string       `json:"name"`
	Node      string       `json:"node"`
	Kind      csrs.Kind    `json:"kind"`
	Approve   bool         `json:"approve"`
	Why       string       `json:"why"`              // the first refusal, or the reason of the approval
	WayOut    string       `json:"wayOut,omitempty"` // what a person can do about that refusal
	Checks    []Check      `json:"checks"`
	NotProven string       `json:"notProven,omitempty"`
}

// Judge decides one request. expected is nil when its host is not expected.
func Judge(r csrs.Request, expected *Expectation, p Snapshot) Decision {
	j := &judging{r: r, e: expected, p: p}
	j.d = Decision{Request: r, Name: r.Name, Node: r.NodeName, Kind: r.Kind}
	j.common()
	if expected != nil {
		j.host()
		if r.Kind == csrs.Serving {
			j.serving()
		} else {
			j.client()
		}
	}
	if len(p.Gaps) > 0 {
		j.must("read", "everything that the rules need was read", false, "not read: %s", strings.Join(p.Gaps, "; "))
		j.d.Checks[len(j.d.Checks)-1].Result = csrs.Unknown
	}
	return j.decide()
}

// OpenCheck is the name of the check that a request waits.
const OpenCheck = "open"

type judging struct {
	r csrs.Request
	e *Expectation
	p Snapshot
	d Decision
}

func (j *judging) must(name, rule string, ok bool, format string, args ...any) {
	c := Check{Name: name, Rule: rule, Result: csrs.Passed, Detail: fmt.Sprintf(format, args...)}
	if !ok {
		c.Result = csrs.Refused
	}
	j.d.Checks = append(j.d.Checks, c)
}

func (j *judging) decide() Decision {
	for _, c := range j.d.Checks {
		if c.Result != csrs.Passed {
			j.d.Why = c.Detail + " (must hold: " + c.Rule + ")"
			if c.Name == OpenCheck {
				j.d.Why = "already " + string(j.r.State)
			}
			if c.Name != "alone" {
				j.d.WayOut = ""
			}
			return j.d
		}
	}
	j.d.Approve = true
	j.d.NotProven = NotProvenYet
	j.d.Why = fmt.Sprintf("%s is expected (%s); %s", j.e.Name, j.e.Source, j.e.Boot)
	if j.e.Key != "" {
		j.d.Why += "; its key was named by a person"
	}
	return j.d
}

// common are the rules that need no expectation.
func (j *judging) common() {
	r := j.r
	j.must(OpenCheck, "the request is pending", r.State == csrs.Pending, "it is %s", r.State)
	if r.Leaving {
		j.must("stays", "the request is not being deleted", false, "it is")
	}
	j.must("signer", "it is a request with which a kubelet joins", (r.Kind == csrs.Client || r.Kind == csrs.Serving) && !r.Renews(),
		"%s request to %s by %s", r.Kind, r.Signer, r.Requester)
	for _, c := range csrs.SignerRules(r) {
		j.d.Checks = append(j.d.Checks, Check{Name: c.Name, Rule: c.Rule, Result: c.Result, Detail: c.Detail})
	}
	named := hostName(r.NodeName) && r.CN == openshift.NodeUserPrefix+r.NodeName
	j.must("name", "the common name is system:node: and a name that a host can have", named, "%s", quoted(r.CN))
	j.must("expected", "the host is expected", j.e != nil && j.e.Name == r.NodeName, "%s: %s", orNone(Shown(r)), j.source())
	if j.e == nil && j.p.Unread != "" {
		j.d.Checks[len(j.d.Checks)-1].Result = csrs.Unknown
	}
}

// source is who declared the host, and where nobody did, how to do it.
func (j *judging) source() string {
	const hint = "if it is yours, name it: --expect NAME=ADDRESS"
	switch {
	case j.e != nil:
		return j.e.Source
	case j.p.Unread != "":
		return "it is not known whether it is expected: " + j.p.Unread + "; " + hint
	}
	return "it is not expected: no Machine, BareMetalHost, Agent or plan has exactly this name for one host, and a name in a request or a Node is " +
		"only a claim; " + hint
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

func list(s []string) string {
	if len(s) == 0 {
		return "(none)"
	}
	return strings.Join(s, ", ")
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}
