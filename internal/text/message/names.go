package message

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// naming finds a name in a line, for what titles and remedies call it in braces. The first
// group is the name.
var naming = []struct {
	as   []string
	expr *regexp.Regexp
}{
	{[]string{"host", "node"}, regexp.MustCompile(`(?:\bnode[= ]"|\bnode \\"|node=)([a-z0-9][a-z0-9.-]*[a-z0-9])`)},
	{[]string{"bmh.name", "host"}, regexp.MustCompile(`"(?i:baremetalhost)":\s*\{"name":\s*"([a-z0-9][a-z0-9.-]*)"`)},
	{[]string{"operator"}, regexp.MustCompile(`(?i:\bcluster ?operators?[ /]|\boperator )"?([a-z][a-z0-9-]+)"?(?: |:|$)`)},
	// openshift/library-go:pkg/operator/staticpod/controller/missingstaticpod/missing_static_pod_controller.go
	{[]string{"operator"}, regexp.MustCompile(`\bstatic pod: \\?"?[a-z][a-z0-9-]+\\?"? in namespace: \\?"?openshift-([a-z][a-z-]*[a-z])`)},
	{[]string{"host", "node"}, regexp.MustCompile(`\bon node: \\?"?([a-z0-9][a-z0-9.-]*[a-z0-9])\\?"? didn't show up`)},
	{[]string{"pool", "ign.pool"}, regexp.MustCompile(
		`(?:\bpool[= ]"?|MachineConfigPool[= ]"?|:2262[34]/config/|machineconfigpool/)([a-z0-9][a-z0-9.-]*[a-z0-9])\b`)},
	{[]string{"etcd.peer"}, regexp.MustCompile(`\b(?:member|peer) "https?://([\w.:\[\]-]+):\d+" not found in member list`)},
	{[]string{"csr"}, regexp.MustCompile(`\b(csr-[a-z0-9]{5})\b`)},
	{[]string{"nodepool"}, regexp.MustCompile(`(?i:\bnodepool[= /]"?)([a-z0-9][a-z0-9.-]*[a-z0-9])\b`)},
	{[]string{"svc.service"}, regexp.MustCompile(`\b([a-zA-Z0-9@_-]+)\.service\b`)},
	{[]string{"ign.url"}, regexp.MustCompile(`\bGET (https?://[^\s"]+?)[:,]? `)},
	{[]string{"names.first", "api.name"}, regexp.MustCompile(`\b(api(?:-int)?\.[a-z0-9.-]+[a-z0-9])\b`)},
	{[]string{"pull.registry"}, regexp.MustCompile(`docker://([a-z0-9][a-z0-9.-]*(?::\d+)?)/`)},
	{[]string{"pull.registry"}, regexp.MustCompile(`\bimage "?([a-z0-9][a-z0-9-]*\.[a-z0-9.-]*[a-z0-9](?::\d+)?)/`)},
}

// operatorRow is a row of `oc get clusteroperators`.
var operatorRow = regexp.MustCompile(`^([a-z][a-z0-9-]+)\s+\d+\.\d+\S*\s+(?:True|False|Unknown)\s`)

// proxyDial is the address of a proxy that does not answer.
var proxyDial = regexp.MustCompile(`proxyconnect tcp: dial tcp:? (?:lookup )?([a-zA-Z0-9.:\[\]-]+?)(?: on |:? |$)`)

// mostNames bounds how often the words before a name are looked for in one line.
const mostNames = 4

// linking are words that stand behind the name of a kind where no name is.
var linking = set("are", "is", "has", "have", "not", "to", "that", "which", "and", "in", "with", "failed", "degraded")

// rowKeys is what titles and remedies call the object of a row, by its kind.
var rowKeys = map[string][]string{"node": {"host", "node"}, "pod": {"pod"}, "clusteroperator": {"operator"}, "co": {"operator"}, "machineconfigpool": {"pool"},
	"mcp": {"pool"}, "csr": {"csr"}, "baremetalhost": {"bmh.name", "host"}, "bmh": {"bmh.name", "host"}, "nodepool": {"nodepool"}, "machine": {"machine"}}

// rowKey is what titles call an object of a kind, "" for a kind that none names.
func rowKey(kind string) string {
	if keys := rowKeys[singular(kind)]; len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// ofRow puts the object of a row before what the row shows, and how many other rows show it.
func ofRow(words string, t *ruleMatches) string {
	l := t.first[0]
	if l.row.name == "" {
		return words
	}
	more := ""
	if n := len(t.nodes); n > 1 {
		more = fmt.Sprintf(" and %d more", n-1)
	} else if t.count > 1 && !l.row.logged {
		more = fmt.Sprintf(" and %d more", t.count-1)
	}
	if strings.Contains(words, l.row.name) {
		return words + strings.Replace(more, " and", ", and", 1)
	}
	if m := bareNoun.FindStringSubmatch(words); m != nil && nounKinds[m[1]] != "" && rowKey(nounKinds[m[1]]) != rowKey(l.row.kind) {
		// What fails is another object than the row: the message in the row names it, or nothing does.
		if name := namesIn(l)[rowKey(nounKinds[m[1]])]; name != "" {
			words = strings.TrimPrefix(m[1], "a ") + " " + name + words[len(m[1]):]
		}
		return strings.TrimSpace(l.row.kind+" "+l.row.name) + more + ": " + words
	} else if m != nil {
		says := words[len(m[0])-1:]
		if more != "" {
			says = strings.Replace(strings.Replace(says, " is ", " are ", 1), " has ", " have ", 1)
		}
		return cmp.Or(strings.TrimPrefix(m[1], "a "), l.row.kind) + " " + l.row.name + more + says
	}
	return strings.TrimSpace(l.row.kind+" "+l.row.name) + more + ": " + words
}

// bareNoun is an object that a sentence begins with and does not name.
var bareNoun = regexp.MustCompile(`^(a node|a pod|a MachineConfigPool|a pool|a Machine|a host)(?: )|^something `)

// nounKinds are the kinds of these objects.
var nounKinds = map[string]string{"a node": "node", "a pod": "pod", "a MachineConfigPool": "mcp", "a pool": "mcp", "a Machine": "machine", "a host": "node"}

// nextFor is the next command, with the names of a line and of the object whose row it is.
func nextFor(next string, l Line) string {
	if l.row.ofBootstrap() && strings.HasPrefix(next, "oc -n NAMESPACE logs POD") {
		next = bootstrapPodNext
	}
	next = withNames(strings.ReplaceAll(next, "{operator}", "{OPERATOR}"), l)
	names := namesIn(l)
	next = strings.ReplaceAll(next, "{OPERATOR}", cmp.Or(names["operator"], "NAME"))
	if l.row.name == "" {
		return next
	}
	next = ofOtherKind.ReplaceAllStringFunc(next, func(command string) string {
		m := ofOtherKind.FindStringSubmatch(command)
		key := rowKey(m[2])
		if key == "" || key == rowKey(l.row.kind) {
			return command
		}
		return m[1] + m[2] + " " + cmp.Or(names[key], strings.ToUpper(key))
	})
	return capitals.ReplaceAllStringFunc(next, func(word string) string {
		switch {
		case word == "NAME", word == "POD" && l.row.kind == "pod", word == "NODE" && l.row.kind == "node":
			return l.row.name
		case word == "NAMESPACE" && l.row.namespace != "":
			return l.row.namespace
		case word == "KIND" && l.row.kind != "":
			return l.row.kind
		case word == "CONTAINER" && l.row.container != "":
			return l.row.container
		}
		return word
	})
}

// ofOtherKind is a command for an object of one kind.
var ofOtherKind = regexp.MustCompile(`\b((?:get|describe) )([a-z]+) NAME\b`)

var capitals = regexp.MustCompile(`\b[A-Z]+\b`)

// namesIn are the names that a line gives, by what titles and remedies call them in braces.
func namesIn(l Line) map[string]string {
	names := map[string]string{}
	put := func(name string, as ...string) {
		for _, key := range as {
			if _, ok := names[key]; !ok && name != "" {
				names[key] = name
			}
		}
	}
	put(l.row.name, rowKeys[l.row.kind]...)
	put(neededOf(l.Text), "operator")
	put(l.host, "host", "node")
	put(l.unit, "svc.service")
	if first := logline.FirstAsked([]byte(l.Text)); len(first) != len(l.Text) {
		registry, _, _ := strings.Cut(string(first), "/")
		put(registry, "pull.registry")
	}
	if m := proxyDial.FindStringSubmatch(l.Text); m != nil {
		put(m[1], "pull.registry") // what is pulled through is the proxy
	}
	for _, n := range naming {
		for _, m := range n.expr.FindAllStringSubmatch(l.Text, mostNames) { // "pool is degraded … pool worker": the first that is a name
			if !linking[m[1]] {
				put(m[1], n.as...)
				break
			}
		}
	}
	if m := operatorRow.FindStringSubmatch(l.Text); m != nil {
		put(m[1], "operator")
	}
	f, ok := logline.Failing([]byte(l.Text))
	if !ok || f.Host == "" {
		return names
	}
	address := f.Host
	if f.Port != "" && f.Port != "443" {
		address = net.JoinHostPort(f.Host, f.Port)
	}
	switch {
	case f.Port == "6443":
		put(net.JoinHostPort(f.Host, f.Port), "api.server")
		put(f.Host, "api.name")
	case strings.HasPrefix(f.Path, "/v2"), f.Scheme == "docker":
		put(address, "pull.registry")
	case f.Scheme == "" && strings.Contains(l.Text, "image"):
		put(address, "pull.registry")
	}
	return names
}

// placeholder is a name in braces, in the words of a message.
var placeholder = regexp.MustCompile(`( ?)\{([a-z][a-z.]*)\}`)

// withNames fills the names of a line into the words of a message. One that the line does not
// give is left out of a sentence, and stands in capitals in a command.
func withNames(words string, l Line) string {
	if !strings.Contains(words, "{") {
		return words
	}
	names := namesIn(l)
	filled := placeholder.ReplaceAllStringFunc(words, func(m string) string {
		part := placeholder.FindStringSubmatch(m)
		if name := names[part[2]]; name != "" {
			return part[1] + name
		}
		if strings.Contains(words, "-u {") {
			return part[1] + strings.ToUpper(part[2][strings.LastIndexByte(part[2], '.')+1:])
		}
		return ""
	})
	return strings.TrimRight(filled, ": ")
}

// dropUnnamed drops failures whose line does not name the object where another line names it: the reason and
// the message of one condition stand in two lines.
func (c *collector) dropUnnamed(failures map[string]*Match) {
	for words, form := range c.forms {
		if failures[words] == nil || words != withNames(form, Line{}) || !strings.Contains(form, "{") {
			continue
		}
		for other, same := range c.forms {
			if other != words && same == form && failures[other] != nil {
				delete(failures, words)
				break
			}
		}
	}
}
