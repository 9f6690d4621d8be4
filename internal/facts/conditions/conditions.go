// Package conditions reads the conditions of operators.
//
// A ClusterOperator's condition is a union: its reason joins "Prefix_Reason" with
// "::", its message has one line "Prefix: text" per controller of the operator
// (openshift/library-go:pkg/operator/status/condition.go UnionCondition). Split
// takes it apart again; the message as a whole is never to be matched.
package conditions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Condition is one condition of an object.
type Condition struct {
	Type    string
	Status  string // True, False, Unknown
	Reason  string
	Message string
	Since   time.Time // of the status; zero where the condition carries no time
	Beat    time.Time // of a Node: when its kubelet last reported it; zero elsewhere
	Loc     evidence.Locator
}

// Item returns the condition as a piece of evidence.
func (c Condition) Item() evidence.Item {
	text := c.Type + "=" + c.Status
	if c.Reason != "" {
		text += " " + c.Reason
	}
	if c.Message != "" {
		text += ": " + strings.Join(strings.Fields(c.Message), " ")
	}
	return evidence.Item{Locator: c.Loc, Excerpt: text, Time: c.Since}
}

// refused finds what the API answers to a value that it does not accept; taken, a value of which another object may
// let go (kubernetes/kubernetes:staging/src/k8s.io/apimachinery/pkg/api/errors/errors.go NewInvalid;
// pkg/registry/core/service/ipallocator ErrAllocated).
var (
	refused = regexp.MustCompile(`\b[A-Za-z][\w.-]* \\?"[^"]*" is invalid\b`)
	taken   = regexp.MustCompile(`(?i)already allocated|already exists`)
)

// Refused is the part of a message from the object on that the API refuses as invalid, "" where it has none: no wait ends
// that, the controller writes the same again.
func Refused(message string) string {
	at := refused.FindStringIndex(message)
	if at == nil || taken.MatchString(message) {
		return ""
	}
	return strings.Join(strings.Fields(message[at[0]:]), " ")
}

// CannotPass reports whether a message shows what no wait ends.
func CannotPass(message string) bool { return Refused(message) != "" }

// NotReported is why nothing is known of a condition that an object does not carry: its
// controller has not reported it yet, which is not the same as False.
func NotReported(r evidence.Resource, name, condition string) *evidence.Unavailable {
	return &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.NotCollected,
		Detail: fmt.Sprintf("%s %s has not reported %s yet", r.Name, name, condition), Supply: evidence.Supply{
			Kind:     evidence.SupplyGet,
			Resource: r.String(),
			Name:     name,
		}}
}

// Of returns the conditions in an object's status.
func Of(o evidence.Object) []Condition {
	raw, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	var list []Condition
	for _, e := range raw {
		c, ok := e.(map[string]any)
		if !ok {
			continue
		}
		t := evidence.String(c, "type")
		list = append(list, Condition{
			Type: t, Status: evidence.String(c, "status"), Reason: evidence.String(c, "reason"), Message: evidence.String(c, "message"),
			Since: evidence.Time(c, "lastTransitionTime"), Beat: evidence.Time(c, "lastHeartbeatTime"), Loc: o.Loc.At("status.conditions." + t),
		})
	}
	return list
}

// Find returns the condition of a type; a zero Condition if there is none.
func Find(list []Condition, kind string) Condition {
	if found := Named(list, kind); len(found) > 0 {
		return found[0]
	}
	return Condition{}
}

// Named returns the conditions of the types, in the order of the list.
func Named(list []Condition, kinds ...string) []Condition {
	var found []Condition
	for _, c := range list {
		if slices.Contains(kinds, c.Type) {
			found = append(found, c)
		}
	}
	return found
}

// fillers are reasons that say nothing.
var fillers = []string{"AsExpected", "NoData"}

// Split takes unions apart: every line "Prefix: text" becomes a condition of type
// Prefix, and the rest of a message that has no prefix stays under the union's
// own type. A part's status and time are the union's: a degraded operator's
// message may also carry lines of controllers that are well.
func Split(list []Condition) []Condition {
	var parts []Condition
	for _, c := range list {
		reasons := map[string]string{}
		for _, r := range strings.Split(c.Reason, "::") {
			if prefix, reason, ok := strings.Cut(r, "_"); ok && !slices.Contains(fillers, r) {
				reasons[prefix] = reason
			}
		}
		for _, line := range strings.Split(c.Message, "\n") {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			part := c
			part.Message = line
			if prefix, text, ok := strings.Cut(line, ": "); ok && isType(prefix, c.Type) {
				part.Type, part.Message = prefix, text
				part.Reason = reasons[strings.TrimSuffix(prefix, c.Type)]
			}
			parts = append(parts, part)
		}
	}
	return parts
}

// isType reports whether a prefix is a controller's condition of the union's
// type: "EtcdMembersDegraded" in "Degraded".
func isType(prefix, union string) bool {
	return strings.HasSuffix(prefix, union) && !strings.ContainsAny(prefix, " \t\"'/")
}
