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

// Limits of what is approved.
const (
	maxAge    = time.Hour        // older requests are of no use to a kubelet that retries
	maxOfHost = 20               // requests for one host that wait; a kubelet files about four in an hour
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
	Source   string   // who declared it: "--expect", "BareMetalHost openshift-machine-api/x"
	Explicit bool     // a person named it for this
	Rebuild  bool     // a person confirmed that a dead Node of that name is being rebuilt
	// NotBefore is since when the host can have asked, and Boot how that is known.
	NotBefore time.Time
	Boot      string
	// NotAfter is until when its first certificate is expected; zero is without a limit.
	NotAfter time.Time
	// Joined is the Node that the host's Machine belongs to already, "" where there is none.
	Joined string
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
	for _, one := range strings.Split(list, ",") {
		if strings.TrimSpace(one) == AddressHole {
			return e, fmt.Errorf("expectation %q: write an address of %s instead of %s. It must come from you, not from the request: "+
				"from agent-config or nmstate, the DHCP lease, DNS or the host's screen", text, name, AddressHole)
		}
		ip, err := netip.ParseAddr(strings.TrimSpace(one))
		if err != nil {
			return e, fmt.Errorf("read expectation %q: %q is not an address", text, one)
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
	Renewed   time.Time
	Created   time.Time // zero where it is not known
	Port      int       // of the kubelet; 0 where the Node has none
}

// Snapshot is what is known of the cluster at one moment.
type Snapshot struct {
	Now      time.Time
	Requests []csrs.Request // oldest first
	Nodes    []Node
	Machines int
	Declared []Declared // the hosts that Machines and BareMetalHosts name
	VIPs     []string
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
			j.d.Why = c.Rule + ": " + c.Detail
			if c.Name == "open" {
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
	j.must("open", "the request is pending", r.State == csrs.Pending, "it is %s", r.State)
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

// waiting counts the requests of the last hour for the host. The machine approver counts
// those for all hosts, and stops for all (csrs.countFlood); here a kubelet that restarts
// in a loop, or a stranger, stops the approval of one host.
func (j *judging) waiting() int {
	n := 0
	for i := range j.p.Requests {
		o := &j.p.Requests[i]
		if o.State == csrs.Pending && o.NodeName == j.r.NodeName && o.Kind == j.r.Kind && j.p.Now.Sub(o.Created) < maxAge {
			n++
		}
	}
	return n
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// host are the rules on the expected host.
func (j *judging) host() {
	j.must("role", "a control-plane host, and one of a role that is not known to be a worker's, is named by a person",
		j.e.Role == "worker" || j.e.Explicit, "role %s, %s", orNone(j.e.Role), j.e.Source)
	if hosts := j.holders(); len(hosts) > 1 {
		j.must("own-name", "no two hosts have its name", false, "%s have it", list(hosts))
	}
	joined := j.joined()
	j.must("joined", "the host's Machine belongs to no other Node", joined == "" || joined == j.e.Name, "its nodeRef is %s", orNone(joined))
	j.must("key-elsewhere", "its key asks for no other name", j.otherName() == "", "%s", orText(j.otherName(), "it does not"))
	created := j.r.Created
	since, how := j.since()
	j.must("boot", "it was made after the host could first ask", !since.IsZero() && !created.Before(since.Add(-clockSkew)),
		"made %s; %s; the clocks of the two may differ by %s", stamp(created), how, clockSkew)
	if j.r.Kind == csrs.Client && !j.e.NotAfter.IsZero() {
		j.must("window", "it was made while the host was expected", !created.After(j.e.NotAfter), "made %s; expected until %s", stamp(created),
			stamp(j.e.NotAfter))
	}
	j.must("age", "it is less than an hour old", j.p.Now.Sub(created) < maxAge && !created.After(j.p.Now.Add(clockSkew)),
		"made %s", stamp(created)) // the clock stays out of the record: the same request gives the same one
	same := csrs.Siblings(j.p.Requests, j.r)
	if j.renews() {
		j.must("newest", "it is the newest of the kubelet", same[len(same)-1].UID == j.r.UID, "%d requests of this kind for the host", len(same))
		return
	}
	j.alone(same)
	mine := slices.DeleteFunc(slices.Clone(same), func(o csrs.Request) bool { return o.KeyDigest != j.r.KeyDigest })
	newest := len(mine) > 0 && mine[len(mine)-1].UID == j.r.UID
	j.must("newest", "it is the newest with its key", newest, "%d requests of this kind for the host with this key", len(mine))
	j.must("in-flight", "no other request of its host was approved since it booted", j.spent(same) == "", "%s", orText(j.spent(same), "none was"))
	waiting := j.waiting()
	j.must("flood", "there is no storm of requests for the host", waiting <= maxOfHost, "%d wait, the limit is %d", waiting, maxOfHost)
}

// since is since when the host can have made the request, and how that is known. A
// serving request is made by the Node itself, so not before there was one.
func (j *judging) since() (time.Time, string) {
	if n, exists := j.p.node(j.e.Name); j.r.Kind == csrs.Serving && j.e.NotBefore.IsZero() && exists && !n.Created.IsZero() {
		return n.Created, "its Node was created at " + stamp(n.Created)
	}
	return j.e.NotBefore, bootText(j.e)
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func bootText(e *Expectation) string {
	if e.NotBefore.IsZero() {
		if e.Boot == "" {
			return "it is not known when the host booted"
		}
		return "it is not known when the host booted: " + e.Boot
	}
	return e.Boot
}

// spent names another request that was approved for the expectation: each allows one approval.
func (j *judging) spent(same []csrs.Request) string {
	for _, o := range same {
		answered := o.State == csrs.Approved || o.State == csrs.Issued
		if o.UID != j.r.UID && answered && j.e.MayHaveMade(o) {
			return fmt.Sprintf("%s was approved (%s), UID %s, key sha256:%s", o.Name, o.Approval.Reason, o.UID, orNone(o.KeyDigest))
		}
	}
	return ""
}

// otherName returns a request for another name that was made with the same key. A
// kubelet asks for its own name only.
func (j *judging) otherName() string {
	for _, o := range j.p.Requests {
		if o.KeyDigest == j.r.KeyDigest && o.CN != j.r.CN {
			return fmt.Sprintf("%s asks for %s with it", o.Name, quoted(o.CN))
		}
	}
	return ""
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
