package message

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// condition is one condition of an object, as YAML, JSON and describe print it, its fields
// in any order.
type condition struct {
	from, to, line          int // its lines, and the one that says most
	text                    string
	kind                    string // its type
	status, reason, message string
	isMessage               bool // line is the line of its message
}

// object follows which object lines are of, and gathers its conditions.
type object struct {
	kind, name, namespace string
	versioned             bool   // the line before names the version of the API
	metadata              int    // how far "metadata:" is indented, -1 outside of it
	top, topSpace         string // what describe prints at its beginning: name and namespace
	open                  *condition
	indent                int // of the fields of open
	nodes                 bool
	ready                 bool   // a condition Ready is True
	listed                *state // the first line of a list of types with their messages
	listLine              int
	proxy                 proxyObject

	states []state
	well   [][2]int // lines of conditions that are as they should be
}

// ruled are kinds whose conditions rules of the catalog know.
var ruled = set("node", "machineconfigpool", "clusteroperator", "certificatesigningrequest")

// restConditions say nothing of how the cluster is: what Insights may read and send
// (openshift/insights-operator:pkg/controller/status), and whether a list of updates was read.
var restConditions = set("RetrievedUpdates", "RemoteConfigurationAvailable", "RemoteConfigurationValid", "SCAAvailable", "ClusterTransferAvailable")

var (
	badLast = set("degraded", "failed", "failing", "failure", "error", "pressure", "unavailable", "unreachable", "stalled",
		"invalid", "unhealthy", "lost", "deadlock")
	goodLast = set("available", "ready", "healthy", "valid", "reachable", "established", "joined", "validated", "synced", "succeeded", "accepted")
)

// restReasons are reasons of conditions that say that they do not apply.
var restReasons = set("PodCompleted", "StatusUnknown", "NotConfigured", "NotApplicable", "Disabled", "NoValidationYet", "NotCollectedYet")

// see reads one line of an object.
func (o *object) see(number int, line []byte) {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '>') {
		i++
	}
	m := line[i:]
	if len(m) < 2 {
		o.flush()
		o.nodes = false
		return
	}
	switch c := m[0]; {
	case c == '{', c == '}':
		o.flush()
		return
	case c == '-' && m[1] == ' ':
		o.flush()
		i, m = i+2, bytes.TrimLeft(m[2:], " ")
		if len(m) == 0 {
			return
		}
	case c == '"', c >= 'a' && c <= 'z':
	case c >= 'A' && c <= 'Z' && m[1] >= 'a' && m[1] <= 'z':
		if o.bare(number, line, m) {
			return
		}
	default:
		if o.open != nil && i <= o.indent {
			o.flush()
		}
		return
	}
	const longestKey = 28
	at := bytes.IndexByte(m[:min(len(m), longestKey)], ':')
	if at <= 0 {
		o.more(number, i, m)
		return
	}
	key, value := fieldKey(m[:at]), fieldValue(m[at+1:])
	versioned := o.versioned
	o.versioned = false
	switch key {
	case "type", "status", "reason", "message":
		if at+1 < len(m) && m[at+1] != ' ' && m[at+1] != '\n' && m[at+1] != '\r' {
			return
		}
		o.set(number, i, line, key, value)
	case "lasttransitiontime", "lastheartbeattime", "lastupdatetime", "lastprobetime":
		if o.open != nil && o.open.kind != "" && o.open.status != "" && key[4] == 't' && m[0] != 'l' && m[0] != '"' {
			o.flush() // describe: the next condition begins with it
		}
	case "observedgeneration", "severity":
	case "httpproxy", "httpsproxy", "noproxy", "trustedca":
		o.proxy.see(o.kind, number, i, line, key, value)
		o.more(number, i, m)
	case "apiversion":
		o.versioned = true
	case "kind":
		if versioned && value != "" && !strings.HasSuffix(value, "List") {
			o.flush()
			o.proxy.begin()
			o.kind, o.name, o.namespace = strings.ToLower(value), "", ""
			if m[0] == 'K' {
				o.name = o.top
			}
		}
	case "metadata":
		o.flush()
		o.metadata = i
	case "spec":
		o.metadata = -1
		o.flush()
	case "name", "namespace":
		switch {
		case m[0] == 'N' && i == 0 && key == "name":
			o.top, o.topSpace, o.kind = value, "", ""
		case m[0] == 'N' && i == 0:
			o.topSpace = value
		case o.metadata >= 0 && (i == o.metadata+2 || m[0] == '"' && i == o.metadata+4):
			if key == "name" {
				o.name = value
			} else {
				o.namespace = value
			}
		}
	case "errormessage", "failuremessage", "lasterror":
		if value != "" && !ruled[o.kind] {
			o.add(state{line: number, text: string(bytes.TrimRight(line, "\r\n")), says: value, why: true})
		}
	default:
		o.more(number, i, m)
	}
}

// of gives an event of oc describe the names of the object that is described, where its command does not have them.
func (o *object) of(e *event) {
	_, name, _ := strings.Cut(e.object, "/")
	switch {
	case o.topSpace == "" || name != "" && name != o.top:
		return
	case name == "" && !strings.HasPrefix(e.from, "kubelet") && e.from != "default-scheduler": // who reports it shows that it is a pod
		return
	case name == "":
		e.object = "pod/" + o.top
	}
	e.namespace = cmp.Or(e.namespace, o.topSpace)
}

// fieldKey is the name of a field without quotes, blanks and capitals: that of describe and
// that of YAML are the same.
func fieldKey(key []byte) string {
	var buffer [32]byte
	out := buffer[:0]
	for _, c := range key {
		switch {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != ' ' && c != '"':
			out = append(out, c)
		}
	}
	return string(out)
}

// fieldValue is the value of a field without quotes.
func fieldValue(value []byte) string {
	v := strings.Trim(strings.TrimSuffix(strings.TrimSpace(string(value)), ","), `"'`)
	if v == "null" || v == "<nil>" || v == "<none>" || v == "|" || v == "|-" || v == ">-" {
		return ""
	}
	return v
}

// set takes a field of a condition.
func (o *object) set(number, indent int, line []byte, key, value string) {
	c := o.open
	if c != nil && (c.has(key) || indent != o.indent) {
		o.flush()
		c = nil
	}
	if c == nil {
		c = &condition{from: number}
		o.open, o.indent = c, indent
	}
	c.to = number
	if c.line == 0 || key == "message" && value != "" || key == "type" && !c.isMessage {
		c.line, c.text, c.isMessage = number, string(bytes.TrimRight(line, "\r\n")), key == "message"
	}
	switch key {
	case "type":
		c.kind = value
	case "status":
		c.status = value
	case "reason":
		c.reason = value
	default:
		c.message = value
	}
}

func (c *condition) has(key string) bool {
	switch key {
	case "type":
		return c.kind != ""
	case "status":
		return c.status != ""
	case "reason":
		return c.reason != ""
	}
	return c.message != ""
}

// more takes a line that is no field of a condition: the next line of a long message, or the
// end of the condition.
func (o *object) more(number, indent int, m []byte) {
	switch c := o.open; {
	case c == nil:
	case indent > o.indent && c.isMessage && c.line >= number-20:
		if c.to = number; len(c.message) < maxText {
			c.message += " " + strings.Trim(strings.TrimSpace(string(m)), `"'`)
		}
	case indent < o.indent:
		o.flush()
	}
}

// flush judges the condition that ends.
func (o *object) flush() {
	c := o.open
	if o.open = nil; c == nil || c.kind == "" || c.status == "" {
		return
	}
	bad, well := c.judged()
	o.ready = o.ready || c.kind == "Ready" && c.status == "True"
	if well {
		o.well = append(o.well, [2]int{c.from, c.to})
	}
	if bad && !ruled[o.kind] {
		o.add(state{line: c.line, text: c.text, says: c.says()})
		if s := &o.states[len(o.states)-1]; c.reason == unschedulable {
			s.next, s.why = nextOfScheduling(event{message: c.message, object: "pod/" + o.name, namespace: o.namespace}), true
		}
	}
}

// unschedulable is the reason of a pod that no node can take (k8s.io/api/core/v1 PodReasonUnschedulable).
const unschedulable = "Unschedulable"

func (o *object) add(s state) {
	s.kind, s.name, s.namespace = o.kind, o.name, o.namespace
	if s.next = s.describe(); s.next == "" {
		s.next = "oc describe of the object that has this condition, and the log of its controller"
	}
	o.states = append(o.states, s)
}

// says is the condition in words.
func (c *condition) says() string {
	words := c.kind + " is " + c.status
	if c.reason != "" {
		words += " (" + c.reason + ")"
	}
	if c.message != "" {
		words += ": " + c.message
	}
	return words
}

// judged says whether a condition reports trouble, and whether it is as it should be. One
// that is neither goes on, or says nothing.
func (c *condition) judged() (bad, well bool) {
	words := wordsOf(c.kind)
	if len(words) == 0 || restConditions[c.kind] || c.status != "True" && c.status != "False" && c.status != "Unknown" {
		return false, false
	}
	last := words[len(words)-1]
	isBad, isGood := badLast[last], goodLast[last] || words[0] == "valid" || c.kind == "RequirementsMet"
	if c.kind == "NetworkUnavailable" {
		isBad = true
	}
	says := c.reason + " " + c.message
	switch {
	case isBad && c.status == "False", isGood && c.status == "True":
		return false, true
	case restReasons[c.reason]:
		return false, false
	case c.reason == unschedulable && c.status == "False":
		return true, false
	case isBad && c.status == "True":
		return true, false
	case isGood && c.status == "Unknown":
		return len(words) == 1 || words[0] == "managed", false
	case isGood && c.status == "False":
		return inTrouble(says) && !isPassing(c.reason) || !isPassing(says) && strings.TrimSpace(says) != "" ||
			last == "available" && strings.TrimSpace(says) == "", false
	case c.status == "False" && !isBad:
		return inTrouble(says) && !isPassing(says), false
	}
	return false, false
}

// bare reads a condition that stands in one line: "Available=False message", and lines of
// lists of types with their messages. False where the line is none.
func (o *object) bare(number int, line, m []byte) bool {
	n := 0
	for n < len(m) && (m[n] >= 'a' && m[n] <= 'z' || m[n] >= 'A' && m[n] <= 'Z') {
		n++
	}
	if n < 4 || n == len(m) || m[n] != '=' && m[n] != ' ' && m[n] != '\t' {
		return false
	}
	rest := bytes.TrimSpace(m[n+1:])
	gap := m[n] == '\t' || n+1 < len(m) && m[n] == ' ' && m[n+1] == ' '
	if len(rest) < 4 {
		return false
	}
	if string(m[:n]) == "Type" && bytes.Contains(rest, []byte("LastHeartbeatTime")) {
		o.nodes = true // the conditions of a node, which rules know
		return true
	}
	for _, status := range []string{"True", "False", "Unknown"} {
		after, ok := bytes.CutPrefix(rest, []byte(status))
		if !ok || len(after) > 0 && (after[0] >= 'a' && after[0] <= 'z' || after[0] == '/') {
			continue
		}
		o.ready = o.ready || status == "True" && string(m[:n]) == "Ready"
		c := condition{kind: string(m[:n]), status: status, message: string(bytes.Trim(after, " \t:,;-("))}
		if bad, _ := c.judged(); bad && !o.nodes && c.message != "" {
			o.add(state{line: number, text: string(bytes.TrimRight(line, "\r\n")), says: c.says()})
		}
		return true
	}
	if !gap || rest[0] < 'A' || rest[0] > 'Z' || bytes.Count(rest, []byte(" ")) < 3 || o.nodes {
		return false
	}
	// A line of a list: another one is beside it.
	s := &state{line: number, text: string(bytes.TrimRight(line, "\r\n")), says: string(m[:n]) + ": " + string(rest)}
	if !reportsTrouble(string(rest)) {
		s.says = ""
	}
	if o.listLine == number-1 && number > 1 {
		for _, one := range []*state{o.listed, s} {
			if one != nil && one.says != "" {
				o.add(*one)
			}
		}
		s = nil
	}
	o.listed, o.listLine = s, number
	return true
}

// subject is what a state is of.
func (s *state) subject() string { return strings.TrimSpace(s.kind + " " + s.name) }

// title is the sentence of states that are alike: the first one, and how many more.
func (s *state) title(more int) string {
	who, says := s.subject(), s.says+s.age+s.detail
	if s.kind == "clusteroperator" || s.kind == "co" {
		return "ClusterOperator " + s.name + " " + says // as messages say it
	}
	if who == "" {
		return says
	}
	if more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	return who + ": " + says
}
