package message

import (
	"regexp"
	"slices"
	"strings"
)

// A line of many fields says in a few of them what is wrong: what it was about, what the command printed and what the
// server answered. When such a line is shortened, these fields stay, wherever they are in it.

// tellingFields are fields in which programs write what is wrong: of zap and klog, of results of Ansible, of Redfish and of clouds.
var tellingFields = regexp.MustCompile(`"(msg|message|Message|error|err|stderr|reason|detail|lastSyncError)" ?[:=] ?"((?:[^"\\]|\\.)*)"`)

// The bounds of what is taken from fields: a value that is shorter says nothing, and there is room for a few.
const (
	shortestField = 4
	longestField  = 300
	maxFields     = 4
	longLine      = 200
)

// telling is a line of many fields in the words of those that say what is wrong; another one, and one that is short, as it is.
func telling(text string) string {
	if len(text) < longLine || !strings.Contains(text, `"`) {
		return text
	}
	var list []string
	add := func(of string) {
		for _, m := range tellingFields.FindAllStringSubmatch(of, -1) {
			value := strings.TrimSpace(oneLine(strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`).Replace(m[2])))
			if len(value) < shortestField || len(list) == maxFields || strings.Contains(value, `":`) {
				continue
			}
			if len(value) > longestField {
				value = value[:longestField] + "…"
			}
			if !slices.ContainsFunc(list, func(have string) bool { return strings.Contains(have, value) }) {
				list = append(list, value)
			}
		}
	}
	add(text)
	if inner := strings.ReplaceAll(text, `\"`, `"`); inner != text { // an object that is a value in quotes
		add(inner)
	}
	if len(list) == 0 {
		return text
	}
	head := text[:strings.IndexByte(text, '"')]
	head = strings.TrimRight(head, " {")
	says := strings.Join(list, ": ")
	if strings.HasPrefix(text, "{") || head == "" {
		return says
	}
	return head + " " + says
}
