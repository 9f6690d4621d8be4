package csr

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

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

// host are the rules on the expected host.
func (j *judging) host() {
	j.must("role", "a control-plane host, and one of a role that is not known to be a worker's, is named by a person",
		j.e.Role == "worker" || j.e.Explicit, "role %s, %s", orNone(j.e.Role), j.e.Source)
	for _, d := range j.p.Declared {
		if d.ControlPlane != "" && d.has(j.e.Name) && !j.e.Explicit {
			j.must("role", "a control-plane host is named by a person", false, "%s %s", d.Object, d.ControlPlane)
		}
	}
	if why := j.p.notOfAHost(j.e.Name); why != "" {
		j.must("names", "its name is that of one host", false, "%s %s", j.e.Name, why)
	}
	if hosts := j.holders(); len(hosts) > 1 {
		j.must("own-name", "no two hosts have its name", false, "%s have it", list(hosts))
	}
	if i := slices.IndexFunc(j.p.Nodes, func(n Node) bool {
		return n.Name != j.e.Name && n.hasHostname(j.e.Name)
	}); i >= 0 {
		j.must("own-name", "no two hosts have its name", false, "node %s has it as its hostname", j.p.Nodes[i].Name)
	}
	if j.r.Kind == csrs.Client {
		j.ownAddresses()
	}
	for _, other := range j.otherNames() {
		if i := slices.IndexFunc(j.p.Nodes, func(n Node) bool {
			return n.Name != j.e.Name && (strings.EqualFold(n.Name, other) || n.hasHostname(other))
		}); i >= 0 {
			j.must("own-name", "no other Node has another of its names", false, "node %s has the name %s", j.p.Nodes[i].Name, other)
		}
	}
	joined := j.joined()
	j.must("joined", "the host's Machine belongs to no other Node", joined == "" || joined == j.e.Name, "its nodeRef is %s", orNone(joined))
	if j.r.Kind == csrs.Client && joined == j.e.Name && !j.e.Explicit {
		j.must("joined", "no Node has joined with the host's Machine", false, "its nodeRef is %s; name the host if it is installed again", joined)
	}
	elsewhere := j.otherName()
	j.must("key-elsewhere", "its key asks for no other name", elsewhere == "", "%s", orText(elsewhere, "it does not"))
	created := j.r.Created
	since, how := j.since()
	j.must("boot", "it was made after the host could first ask", !since.IsZero() && !created.Before(since.Add(-clockSkew)),
		"made %s; %s; the clocks of the two may differ by %s", stamp(created), how, clockSkew)
	if j.r.Kind == csrs.Client && j.e.NotInstalled != "" && !j.e.Explicit {
		j.must("boot", "it was made after the host could first ask", false, "%s", j.e.NotInstalled)
	}
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
	if j.r.Kind == csrs.Serving {
		j.oneClient()
	}
	mine := slices.DeleteFunc(slices.Clone(same), func(o *csrs.Request) bool { return o.KeyDigest != j.r.KeyDigest })
	newest := len(mine) > 0 && mine[len(mine)-1].UID == j.r.UID
	j.must("newest", "it is the newest with its key", newest, "%d requests of this kind for the host with this key", len(mine))
	spent := j.spent(same)
	j.must("in-flight", "no other request of its host was approved since it booted", spent == "", "%s", orText(spent, "none was"))
	waiting := j.waiting()
	j.must("flood", "there is no storm of requests for the host", waiting <= MaxOfHost, "%d wait, the limit is %d", waiting, MaxOfHost)
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
func (j *judging) spent(same []*csrs.Request) string {
	for _, o := range same {
		answered := o.State == csrs.Approved || o.State == csrs.Issued || len(o.Certified) > 0
		if o.UID != j.r.UID && answered && j.e.MayHaveMade(*o) {
			return fmt.Sprintf("%s was approved (%s), UID %s, key sha256:%s", o.Name, o.Approval.Reason, o.UID, orNone(o.KeyDigest))
		}
	}
	return ""
}

// otherNames are the names of the host, from whoever declares it, but the one that is asked for: under each of them somebody
// could be a Node in its place.
func (j *judging) otherNames() []string {
	names := slices.Concat(j.e.DNS, j.e.Others)
	for _, d := range j.p.Declared {
		if d.has(j.e.Name) || !d.other(j.e.Name) && slices.ContainsFunc(d.Addresses, func(ip string) bool { return slices.Contains(j.e.IPs, ip) }) {
			names = append(names, d.Names...)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.EqualFold(n, j.e.Name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// ownAddresses is the rule that one host has an address, whoever declares it: of two that seem to share one, each could get an
// identity of its own, and only one of them exists.
func (j *judging) ownAddresses() {
	const rule = "no other host has one of its addresses"
	if len(j.e.Claimed) > 0 {
		c := j.e.Claimed[0]
		j.must("own-address", rule, false, "%s is also an address of %s; if that is the same host, give its other name in dns", c.IP, c.By)
	}
	for _, ip := range j.e.IPs {
		if i := slices.IndexFunc(j.p.Declared, func(d Declared) bool { return d.other(j.e.Name) && slices.Contains(d.Addresses, ip) }); i >= 0 {
			j.must("own-address", rule, false, "%s is an address of %s", ip, j.p.Declared[i].Object)
		}
	}
}

// otherName returns a request for another name that was made with the same key. A
// kubelet asks for its own name only.
func (j *judging) otherName() string {
	for i := range j.p.Requests {
		if o := &j.p.Requests[i]; o.KeyDigest == j.r.KeyDigest && o.CN != j.r.CN {
			return fmt.Sprintf("%s asks for %s with it", o.Name, quoted(o.CN))
		}
	}
	return ""
}
