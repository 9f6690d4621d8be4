package loose

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// OperatorLog gathers the conditions of ClusterOperators that openshift-install logs when it
// gives up waiting: they may be all that anybody kept of them
// (openshift/installer:cmd/openshift-install/create.go logClusterOperatorConditions, since
// 4.16 cmd/openshift-install/command/waitfor.go). Those of the last wait count. The zero
// value is ready to use.
type OperatorLog struct {
	operators []*loggedOperator
}

type loggedOperator struct {
	name       string
	line       int // where its first condition is
	conditions []any
}

// The limits of what one log may hold.
const (
	maxLoggedOperators  = 200
	maxLoggedConditions = 50
)

var (
	loggedMessage   = regexp.MustCompile(`\blevel=[a-z]+ msg=("(?:[^"\\]|\\.)*"|.*)`)
	terminalMessage = regexp.MustCompile(`^(?:DEBUG|INFO|WARNING|ERROR|FATAL) +(?:\[\d+\] )?(.*)`)
	loggedCondition = regexp.MustCompile(`(?s)^Cluster operator ([a-z0-9.-]+) ([A-Za-z]+) is (True|False|Unknown) with ([^ ]*?)(?::(?: +(.*))?)?$`)
	newWait         = regexp.MustCompile(`^(?:Waiting up to |Install complete!|It is now safe to remove the bootstrap|Creating infrastructure resources)`)
)

// Take reads a line of the log, or of what the installer prints to a terminal. It reports
// whether the line has a condition.
func (l *OperatorLog) Take(n int, line string) bool {
	text := ""
	if m := loggedMessage.FindStringSubmatch(line); m != nil {
		text = m[1]
		if s, err := strconv.Unquote(text); err == nil {
			text = s
		}
	} else if m := terminalMessage.FindStringSubmatch(line); m != nil {
		text = m[1]
	}
	if newWait.MatchString(text) {
		l.operators = nil
	}
	m := loggedCondition.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	i := slices.IndexFunc(l.operators, func(o *loggedOperator) bool { return o.name == m[1] })
	if i < 0 {
		if len(l.operators) == maxLoggedOperators {
			return true
		}
		i, l.operators = len(l.operators), append(l.operators, &loggedOperator{name: m[1], line: n})
	}
	o := l.operators[i]
	o.conditions = slices.DeleteFunc(o.conditions, func(c any) bool { return c.(map[string]any)["type"] == m[2] })
	if len(o.conditions) < maxLoggedConditions {
		o.conditions = append(o.conditions, map[string]any{"type": m[2], "status": m[3], "reason": m[4], "message": strings.TrimSpace(m[5])})
	}
	return true
}

// Objects returns what was gathered: each ClusterOperator with the conditions that were
// logged and no other field.
func (l *OperatorLog) Objects(at evidence.Locator) []evidence.Object {
	var list []evidence.Object
	for _, o := range l.operators {
		loc := at
		loc.Line = o.line
		list = append(list, evidence.Object{Resource: evidence.ClusterOperators, Name: o.name, Loc: loc, Content: map[string]any{
			"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
			"metadata": map[string]any{"name": o.name, "annotations": map[string]any{evidence.PartMark: "fields"}},
			"status":   map[string]any{"conditions": o.conditions},
		}})
	}
	return list
}
