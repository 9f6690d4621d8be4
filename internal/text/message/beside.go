package message

import (
	"bytes"
	"cmp"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// A pageFact is something that an object, or the output of a command, shows. It is no failure. It explains some, where
// both are in one text.
type pageFact struct {
	id   string
	says string
	line Line
	on   []string // the hosts that it is of, where it is of hosts
}

// The facts that are looked for.
const (
	noHTTPSProxy  = "proxy-without-https"
	noForwarding  = "forwarding-off"
	longestOutput = 12 // rows of the output of sysctl for several hosts
)

// explanations are which failures a fact explains, and what to look at then. A fact names no failure by its words:
// which request failed, and how, decides.
var explanations = []struct {
	fact string
	fits func(m *Match, f logline.Failure) bool
	next string
}{
	// openshift/cluster-version-operator:pkg/cvo/availableupdates.go and the proxy of nodes (MCO's templates) take httpsProxy for an
	// https address, and none where it is empty.
	{noHTTPSProxy, func(_ *Match, f logline.Failure) bool {
		https := f.Scheme == "https" || f.Scheme == "docker" || f.Scheme == "" && f.Port == "443"
		return https && f.Proxy == "" && notReached[f.Leaf] && isOutside(f.Host)
	}, "does a host have a way out without the proxy? curl -sS -m 10 -o /dev/null https://ADDRESS/ on one, then the same with -x and the address of the " +
		"proxy. Only the second answers: https addresses need spec.httpsProxy of the Proxy cluster, mostly with the value of httpProxy. Every node " +
		"then gets a new config and reboots, one after the other: plan it"},
	// ovn-org/ovn-kubernetes:docs/getting-started/configuration.md "Disable Forwarding Config": it sets both to 1.
	{noForwarding, func(m *Match, f logline.Failure) bool {
		ofMembers := (m.Fault == "etcd-no-quorum" || m.Fault == "etcd-member-unhealthy") && m.Confidence == fault.ShowsPossible
		return ofMembers || (f.Leaf == logline.Timeout || f.Leaf == logline.Deadline) && f.Host != "" && !isOutside(f.Host)
	}, "on a node: sysctl net.ipv4.ip_forward net.ipv4.conf.br-ex.forwarding net.ipv4.conf.ovn-k8s-mp0.forwarding. " +
		"OVN-Kubernetes sets the last two to 1 where ip_forward is 0; all 0: the host drops what pods and other hosts send each other through br-ex. " +
		"To decide: curl -k -m 5 https://ADDRESS:6443/readyz from a pod and from its node. Only the node gets an answer: " +
		"the ovnkube-node pod of that node sets the value when it starts, so see its log, and what sets it to 0 (a file in /etc/sysctl.d, a network script)"},
}

// notReached are the leaves of a server that a host does not reach past its network.
var notReached = map[logline.Leaf]bool{logline.Timeout: true, logline.NoRoute: true, logline.Deadline: true, logline.NameUnknown: true,
	logline.NameServer: true}

// isOutside reports whether a server is none of the cluster or its site, as far as its name or address shows it.
func isOutside(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return !ip.IsPrivate() && !ip.IsLoopback() && !ip.IsLinkLocalUnicast()
	}
	return strings.Contains(host, ".") && !ofCluster.MatchString(host)
}

// ofCluster are names of servers of a cluster or of its site.
var ofCluster = regexp.MustCompile(`^api-int\.|^api\.[a-z0-9-]+\.[a-z0-9-]+\.|\.apps\.|\.svc\b|` +
	`\.(?:local|lan|internal|lab|corp|home|test|example)$`)

// besideFirst puts a fact of the page before the first failure, where it explains it. A cause that is only possible then
// comes behind it: the fact would explain the same lines.
func (c *collector) besideFirst(r *Report) {
	list := slices.Concat(r.Matches, r.Symptoms)
	if len(c.facts) == 0 || len(list) == 0 || len(r.Matches) > 0 && r.Matches[0].Confidence == fault.ShowsProven {
		return
	}
	const first = 3 // of a page with more the fact is not about what it shows first
	for at := range list[:min(first, len(list))] {
		lead := &list[at]
		if lead.Reason || len(lead.Lines) == 0 {
			return
		}
		f, _ := logline.Failing(logline.Parse([]byte(lead.Lines[0].Text)).Message)
		for _, e := range explanations {
			i := slices.IndexFunc(c.facts, func(fact pageFact) bool { return fact.id == e.fact })
			if i >= 0 && e.fits(lead, f) {
				c.insertBeside(r, at, c.facts[i], strings.ReplaceAll(e.next, "ADDRESS", cmp.Or(f.Host, "ADDRESS")))
				return
			}
		}
	}
}

// insertBeside puts a fact before the failure that it explains, which is the one at a place among the causes and symptoms.
func (c *collector) insertBeside(r *Report, at int, fact pageFact, next string) {
	says := fact.says
	if len(fact.on) > 0 {
		says += " on " + strings.Join(fact.on[:min(3, len(fact.on))], ", ")
		if more := len(fact.on) - 3; more > 0 {
			says += " and " + strconv.Itoa(more) + " more"
		}
	}
	fact.line.Text = short(c.clean(fact.line.Text))
	m := Match{Failure: c.clean(says), Confidence: fault.ShowsPossible, Count: 1, Lines: []Line{fact.line}, Next: next, Beside: true}
	if len(r.Matches) > 0 && r.Matches[0].Confidence == fault.ShowsPossible {
		r.Symptoms, r.Matches, r.Result = slices.Concat(r.Matches, r.Symptoms), []Match{}, Unknown
	}
	at -= len(r.Matches)
	if at > 0 {
		lead := r.Symptoms[at]
		r.Symptoms = slices.Insert(slices.Delete(r.Symptoms, at, at+1), 0, lead)
	}
	r.Symptoms = slices.Insert(r.Symptoms, 0, m)
}

// proxyObject follows the fields of an object Proxy (openshift/api:config/v1/types_proxy.go). That a field is not there is
// known only where one is below it that comes behind it: they are printed in the order of their names.
type proxyObject struct {
	open   bool
	indent int
	http   Line // the field httpProxy
	https  bool
	behind bool // a field behind httpsProxy was read
	facts  []pageFact
}

func (p *proxyObject) see(kind string, number, indent int, line []byte, key, value string) {
	switch {
	case kind != "proxy":
	case key == "httpproxy" && value != "" && !p.open:
		p.open, p.indent = true, indent
		p.http = Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), origin: origin{form: logline.State}}
	case key == "httpsproxy":
		p.https = p.https || value != ""
	case p.open && indent == p.indent && key != "httpproxy":
		p.behind = true
	}
}

// begin ends the object before.
func (p *proxyObject) begin() {
	if p.open && p.behind && !p.https {
		p.facts = append(p.facts, pageFact{id: noHTTPSProxy, line: p.http,
			says: "the Proxy of the cluster has httpProxy and no httpsProxy: requests by https do not use it"})
	}
	*p = proxyObject{facts: p.facts}
}

func (p *proxyObject) close() []pageFact {
	p.begin()
	return p.facts
}

// pageReader reads what sysctl printed, for one host or in a loop over several.
type pageReader struct {
	names []string // that sysctl -n was asked for, in their order
	open  bool     // its command is not whole yet
	rows  int      // since the command
	off   pageFact
}

var (
	sysctlName  = regexp.MustCompile(`\bnet\.ipv[46]\.(?:ip_forward|conf\.[\w-]+\.forwarding)\b`)
	sysctlValue = regexp.MustCompile(`\b(net\.ipv4\.conf\.br-ex\.forwarding)\s*[=:]\s*(\d)\s*$`)
	sysctlRow   = regexp.MustCompile(`^\s*(?:([a-zA-Z0-9][\w.-]*)\b[^0-9=:]?.*?[=: ])?\s*((?:\d\s+)*\d)\s*$`)
)

// bridgeForwarding is what the kernel does with packets that come in at the bridge of OVN-Kubernetes.
const bridgeForwarding = "net.ipv4.conf.br-ex.forwarding"

func (p *pageReader) see(number int, line []byte) {
	isCommand := bytes.Contains(line, []byte("sysctl -n "))
	switch {
	case isCommand || p.open:
		if isCommand {
			p.names, p.rows = nil, 0
		}
		for _, name := range sysctlName.FindAll(line, -1) {
			p.names = append(p.names, string(name))
		}
		p.open = bytes.HasSuffix(bytes.TrimRight(line, " \r\n"), []byte(`\`))
		return
	case bytes.Contains(line, []byte(bridgeForwarding)):
		if m := sysctlValue.FindSubmatch(line); m != nil {
			p.value(number, line, "", string(m[2]))
		}
		return
	case len(p.names) == 0 || p.rows > longestOutput:
		return
	}
	p.rows++
	m := sysctlRow.FindSubmatch(line)
	if m == nil {
		return
	}
	values, at := strings.Fields(string(m[2])), slices.Index(p.names, bridgeForwarding)
	if at >= 0 && len(values) == len(p.names) {
		p.value(number, line, string(m[1]), values[at])
	}
}

func (p *pageReader) value(number int, line []byte, host, value string) {
	if value != "0" {
		return
	}
	if p.off.id == "" {
		p.off = pageFact{id: noForwarding, says: bridgeForwarding + " is 0",
			line: Line{Number: number, Text: string(bytes.TrimRight(line, "\r\n")), origin: origin{form: logline.State}}}
	}
	if host != "" && !slices.Contains(p.off.on, host) {
		p.off.on = append(p.off.on, host)
	}
}

func (p *pageReader) close() []pageFact {
	if p.off.id == "" {
		return nil
	}
	return []pageFact{p.off}
}
