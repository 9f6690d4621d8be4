package message

import (
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// leastOwn is how many words a reason has at least.
const leastOwn = 3

// unitRow is a row of systemctl list-units.
var unitRow = regexp.MustCompile(`\.\w+ +(?:loaded|not-found|bad-setting|masked) +\w+ +\w+ `)

// own is what a line says behind the words by which the rule is found: of a row of a table its
// last cell, of an error without more behind these words the whole message. "" where the line
// says nothing else.
func (r *rule) own(line string) string {
	if unitRow.MatchString(line) {
		return "" // its last cell is the name of the unit
	}
	l := logline.Parse([]byte(line))
	m := strings.TrimSpace(string(l.Message))
	if l.Form == logline.State {
		cells := strings.FieldsFunc(strings.ReplaceAll(strings.TrimSpace(line), "  ", "\t"), func(c rune) bool { return c == '\t' })
		if cell := trimmed(cells[len(cells)-1]); len(cells) >= 3 && len(strings.Fields(cell)) > leastOwn {
			return cell
		}
		return ""
	}
	behind := ""
	if said := resultLine(m, string(r.parts[0])); said != "" {
		m = said
	}
	if !strings.Contains(lowerASCII(m), string(r.parts[0])) {
		m = plain(m) // its quotes are escaped
	}
	if i := strings.Index(lowerASCII(m), string(r.parts[0])); i >= 0 {
		behind = strings.TrimLeft(strings.Trim(m[i+len(r.parts[0]):], " :;,=\"'\\"), ". ")
		if strings.Count(behind, `"`)%2 == 1 { // its other quote was cut off with the words before it
			behind = strings.Replace(behind, `"`, "", 1)
		}
	}
	switch {
	case strings.Count(behind, `":`) > 2: // the rest of an object: its other fields are no reason
		return ""
	case len(strings.Fields(behind)) >= leastOwn:
		return behind
	case l.Form == logline.Log && l.Level >= logline.Error && string(l.Program) != "systemd":
		return trimmed(m)
	}
	return ""
}

// namedObject is an object that a message names, with its kind before it and quotes around it.
var namedObject = regexp.MustCompile(`(?i)\b(replicaset|deployment|daemonset|statefulset|job|pod|secret|configmap|persistentvolumeclaim|pvc|route)s?:? ` +
	`"/?(?:([a-z0-9-]+)/)?([a-z0-9][a-z0-9.-]*[a-z0-9])"`)

// inNamespace is an object in a namespace of OpenShift that a message names.
var inNamespace = regexp.MustCompile(`\b(openshift-[a-z0-9-]+)/[a-z0-9]`)

// nextOfOwn is what to look at where the row of a ClusterOperator has its message: that message is not asked for
// again. "" for other rules, and without a message.
func (r *rule) nextOfOwn(own string, row rowObject) string {
	isRow := row.kind == "clusteroperator" || row.kind == "co"
	hasMessage := row.kind == "" && len(strings.Fields(own)) > leastOwn && strings.Contains(own, ": ")
	if own == "" || !isRow && !hasMessage || !strings.HasPrefix(r.Failure, "ClusterOperator {operator} is ") {
		return ""
	}
	if in := inNamespace.FindStringSubmatch(own); in != nil && namedObject.FindStringSubmatch(own) == nil {
		return "the message in the line is the reason. oc get pods -n " + in[1] + " -o wide, and oc describe pod of one that is not ready: its events " +
			"have the reason; oc describe co {operator} has the related objects"
	}
	m := namedObject.FindStringSubmatch(own)
	if m == nil {
		return "the message in the line is the reason, look at what it names. oc describe co {operator} has the related objects and their namespaces; " +
			"then the log of the operator"
	}
	kind, namespace, name := strings.ToLower(m[1]), m[2], m[3]
	find := ""
	if namespace == "" {
		namespace, find = "NAMESPACE", "oc get "+kind+" -A | grep "+name+" has its namespace; "
	}
	next := "the message in the line names " + kind + " " + name + ": " + find + "oc describe " + kind + " " + name + " -n " + namespace
	if kind == "secret" || kind == "configmap" {
		next = "the message in the line names " + kind + " " + name + ": " + find + "oc get " + kind + " " + name + " -n " + namespace
	}
	return next + "; oc get pods -n " + namespace + " -o wide, and oc describe pod of one that is not ready: its events have the reason"
}

// lowerASCII is a text with its ASCII letters in lower case: each byte stays in its place.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// trimmed is a text without the quotes, colons and written line ends around it.
func trimmed(text string) string {
	return strings.Trim(strings.ReplaceAll(text, `\n`, " "), " :;,=\"'\\")
}
