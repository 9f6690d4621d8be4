package message

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// What hosts of the control plane show by themselves, in the output of etcdctl and crictl: how many members of
// etcd answer, and which containers run no more. An API that does not answer is the effect of these.

// member is what one endpoint of etcd answered last.
type member struct {
	line     int
	text     string
	well     bool
	leader   bool
	noLeader bool // it answers, and knows no leader
}

// container is one that crictl lists, by the newest row of its name.
type container struct {
	line    int
	text    string
	id      string
	name    string
	host    string
	attempt int
	runs    bool
}

// hostView is what a text shows of the hosts of the control plane.
type hostView struct {
	host       string // of the shell
	members    map[string]member
	containers map[string]container // by host and name
	operators  map[string]bool      // ClusterOperators of which the text has a row
}

// maxMembers bounds what is kept of each: a cluster has 5 members of etcd at most.
const maxMembers = 64

var (
	etcdEndpoint = regexp.MustCompile(`^https?://[\w.:\[\]-]+:\d+$`)
	// etcd-io/etcd:etcdctl/ctlv3/command/ep_command.go epStatusCommandFunc
	noStatus = regexp.MustCompile(`^Failed to get the status of endpoint (https?://\S+|[\w.:\[\]-]+:\d+) \(`)
	// kubernetes-sigs/cri-tools:cmd/crictl/container.go ListContainers: CONTAINER IMAGE CREATED STATE NAME ATTEMPT "POD ID"
	crictlRow = regexp.MustCompile(`^([0-9a-f]{12,13})\s+\S+\s+.*?\s(Created|Running|Exited|Unknown)\s+([a-z0-9-]+)\s+(\d+)\s+[0-9a-f]{13}\b`)
)

// see reads one line.
func (v *hostView) see(number int, line []byte) {
	const shortest = 40
	if len(line) < shortest || len(line) > maxTried {
		return
	}
	switch c := line[0]; {
	case c == '|':
		v.row(number, line)
	case c == 'F':
		if m := noStatus.FindSubmatch(line); m != nil {
			v.member(string(m[1]), member{line: number, text: string(bytes.TrimSpace(line))})
		}
	case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		if m := crictlRow.FindSubmatch(line); m != nil {
			v.container(number, line, m)
		}
	}
}

// row reads a row of `etcdctl endpoint health` (ENDPOINT, HEALTH, TOOK, ERROR) or of `endpoint status`, of which the
// first cell is the endpoint and the last one its errors (etcd-io/etcd:etcdctl/ctlv3/command/printer_table.go).
func (v *hostView) row(number int, line []byte) {
	row := cells(line)
	if len(row) < 4 || !etcdEndpoint.MatchString(row[0]) {
		return
	}
	m := member{line: number, text: string(bytes.TrimSpace(line)), well: true}
	if len(row) == 4 { // one with an alarm has answered (etcd-io/etcd:etcdctl/ctlv3/command/ep_command.go epHealthCommandFunc)
		m.well = row[1] == "true" || strings.HasPrefix(row[3], "Active Alarm") || strings.HasPrefix(row[3], "Unable to fetch the alarm list")
	} else {
		m.leader = slices.Contains(row[1:len(row)-1], "true") && row[len(row)-1] == ""
		m.noLeader = strings.Contains(row[len(row)-1], "no leader")
	}
	v.member(row[0], m)
}

func (v *hostView) member(endpoint string, m member) {
	if v.members == nil {
		v.members = map[string]member{}
	}
	if _, have := v.members[endpoint]; have || len(v.members) < maxMembers {
		v.members[endpoint] = m
	}
}

func (v *hostView) container(number int, line []byte, m [][]byte) {
	attempt, err := strconv.Atoi(string(m[4]))
	if err != nil {
		return
	}
	if v.containers == nil {
		v.containers = map[string]container{}
	}
	key := v.host + "\x00" + string(m[3])
	have, ok := v.containers[key]
	switch {
	case ok && (have.runs || attempt <= have.attempt && string(m[2]) != "Running"):
		return
	case !ok && len(v.containers) == maxMembers:
		return
	}
	v.containers[key] = container{line: number, text: string(bytes.TrimSpace(line)), id: string(m[1]), name: string(m[3]), host: v.host, attempt: attempt,
		runs: string(m[2]) == "Running" || string(m[2]) == "Created"}
}

// operator keeps the name of a ClusterOperator.
func (v *hostView) operator(name string) {
	if v.operators == nil {
		v.operators = map[string]bool{}
	}
	if len(v.operators) < maxMembers {
		v.operators[name] = true
	}
}

// addView takes what a block shows, which begins behind some lines. What is later counts.
func (c *collector) addView(v hostView) {
	for endpoint, m := range v.members {
		m.line += c.lines
		c.view.member(endpoint, m)
	}
	for name := range v.operators {
		c.view.operator(name)
	}
	for key, x := range v.containers {
		x.line += c.lines
		if c.view.containers == nil {
			c.view.containers = map[string]container{}
		}
		c.view.containers[key] = x
	}
}

// viewTo puts what hosts of the control plane show into the report.
func (c *collector) viewTo(failures, faults map[string]*Match) {
	c.membersTo(failures, faults)
	c.containersTo(failures)
	c.ingressTo(failures)
}

// ingressTo asks for ingress where a list of operators ends before it, and one that needs its routers is not well.
func (c *collector) ingressTo(failures map[string]*Match) {
	if len(c.view.operators) < 3 || c.view.operators["ingress"] {
		return
	}
	for words, m := range failures {
		if name := m.Names["operator"]; strings.HasPrefix(words, "ClusterOperator ") && (name == "authentication" || name == "console") {
			c.next[words] = "oc get co ingress network dns: ingress is not in this text, and " + name + " needs its routers. Then " + c.next[words]
		}
	}
}

// membersTo counts the members of etcd that answer.
func (c *collector) membersTo(failures, faults map[string]*Match) {
	var down []string
	leaderless, leader := false, false
	t := &ruleMatches{depth: math.MaxInt}
	for _, endpoint := range slices.Sorted(maps.Keys(c.view.members)) {
		m := c.view.members[endpoint]
		leaderless, leader = leaderless || m.noLeader, leader || m.leader
		if !m.well {
			down = append(down, hostPart(endpoint))
		}
		if !m.well || m.noLeader {
			t.addLine(Line{Number: m.line, Text: short(c.clean(m.text))})
		}
	}
	all := len(c.view.members)
	switch few := 2*(all-len(down)) <= all; {
	case t.count == 0:
	case leaderless && !leader:
		c.match(faults, "etcd-no-quorum", fault.ShowsLikely, t)
	case few && all > 2:
		c.match(faults, "etcd-no-quorum", fault.ShowsPossible, t)
	case len(down) > 0:
		words := fmt.Sprintf("%d of %d members of etcd does not answer: %s", len(down), all, strings.Join(down, ", "))
		if len(down) > 1 {
			words = strings.Replace(words, "does not", "do not", 1)
		}
		next := "the host with the address " + down[0] + ": its power, its console, its network; on it sudo crictl ps -a --name '^etcd$'"
		if !few {
			words += "; the others keep the quorum"
			next += ". Leave the other members alone until it is back: etcd has none to spare"
		}
		c.match(failures, words, fault.ShowsPossible, t)
		c.next[words] = next
	}
}

// hostPart is the address of an endpoint without scheme and port.
func hostPart(endpoint string) string {
	_, address, ok := strings.Cut(endpoint, "://")
	if !ok {
		address = endpoint
	}
	if i := strings.LastIndexByte(address, ':'); i > 0 {
		address = address[:i]
	}
	return strings.Trim(address, "[]")
}

// addLine adds a line that is fit to be printed.
func (t *ruleMatches) addLine(l Line) {
	if t.count++; len(t.first) < keptLines {
		t.first = append(t.first, l)
	}
	t.last = l
}

// leastAttempts is from which attempt on a container that does not run crash-loops.
const leastAttempts = 3

// apiContainers are containers of static pods that the API needs on its host: the load balancer and the holder of its
// address of clusters that have their own (openshift/machine-config-operator:templates/master/00-master/on-prem/files/haproxy-haproxy.yaml
// and keepalived-keepalived.yaml), the API server itself, and etcd.
var apiContainers = map[string]string{
	"haproxy":           "It is the load balancer of the API on this host: ls -lZ /etc/haproxy/haproxy.cfg, and the same on the other control-plane hosts",
	"keepalived":        "It holds the address of the API: ip -br addr, and the same on the other control-plane hosts",
	openshift.APIServer: "It needs etcd of the same host: sudo crictl ps -a --name '^etcd$'",
	"etcd":              "On another control-plane host: etcdctl endpoint health --cluster -w table in a pod of openshift-etcd",
}

// containersTo reports containers of the API that crash-loop.
func (c *collector) containersTo(failures map[string]*Match) {
	for _, key := range slices.Sorted(maps.Keys(c.view.containers)) {
		x := c.view.containers[key]
		about := apiContainers[x.name]
		if about == "" || x.runs || x.attempt < leastAttempts {
			continue
		}
		host := x.host
		if host == "" {
			host = "the host"
		}
		l := Line{Number: x.line, Text: short(c.clean(x.text))}
		l.host = x.host
		t := &ruleMatches{depth: math.MaxInt}
		t.addLine(l)
		words := fmt.Sprintf("the container %s of %s crash-loops: it was restarted %d times and does not run", x.name, c.clean(host), x.attempt)
		c.match(failures, words, fault.ShowsPossible, t)
		c.next[words] = fmt.Sprintf("on %s: sudo crictl logs --tail 50 %s: its last lines are the reason. %s", c.clean(host), x.id, about)
		failures[words].stopsAPI = true
	}
}

// ofRequests are faults that a request of a kubelet mends, which has to get to the API first.
var ofRequests = set("kubelet-client-cert-expired", "kubelet-anonymous", "csr-client-pending", "csr-serving-pending")

// ofAPI are faults of the address of the API, as somebody sees it who asks there.
var ofAPI = set("api-connection-refused", "api-lb-dead", "api-vip-not-held", "api-refused-everywhere", "api-unreachable")

// isEffect reports whether a match only shows the address of the API from afar, in a text that shows what is wrong
// with a host of the control plane, or waits for an API that the text shows not to answer.
func (c *collector) isEffect(id string, m *Match, failures, faults map[string]*Match) bool {
	if ofRequests[id] && m.Confidence != fault.ShowsProven {
		for _, other := range failures {
			if other.stopsRequests {
				return true
			}
		}
	}
	if !ofAPI[id] || m.Confidence != fault.ShowsPossible {
		return false
	}
	if lost := faults["etcd-no-quorum"]; lost != nil && lost.Confidence.Rank() >= fault.ShowsLikely.Rank() {
		return true
	}
	for _, other := range failures {
		if other.stopsAPI {
			return true
		}
	}
	return false
}
