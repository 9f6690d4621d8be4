// Package badconditions lists what objects report against themselves: conditions, phases,
// waiting reasons and restarts, by general rules and not by known causes.
//
// It is what remains where no fault of the catalog knows the cause: a bad condition is then a
// symptom with its own words, and is never passed over.
//
// Invariants:
//   - Each kind of condition has a time in which it is normal. One that cannot pass by itself
//     has none.
//   - What a rollout or a deletion does on purpose is no bad condition.
//   - A row of a table shows some fields of an object; what it does not show is not bad.
package badconditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{hostFact, poolFact, podsFact} }

// Bad is the bad conditions of one subject.
type Bad struct {
	All   facts.Field[[]string]  `cel:"all"`   // each in the words of its object
	First facts.Field[string]    `cel:"first"` // the first of them, and how many more there are
	Stays facts.Field[bool]      `cel:"stays"` // one of them does not pass by itself
	Since facts.Field[time.Time] `cel:"since"` // since when the oldest lasts
	// from when the 15 minutes count in which it is normal: what may last longer counts later
	Counts facts.Field[time.Time] `cel:"counts"`
}

// least is the shortest time in which a condition is normal: `settles` of the faults.
const least = 15 * time.Minute

// condition is one bad condition.
type condition struct {
	says   string
	since  time.Time     // zero: not known
	normal time.Duration // for how long it is normal; 0: it does not pass by itself
	item   evidence.Item
}

// bad returns the fact of conditions; shown is what shows that there are none.
func bad(list []condition, shown ...evidence.Item) Bad {
	var b Bad
	slices.SortStableFunc(list, func(x, y condition) int { return cmp.Compare(min(x.normal, 1), min(y.normal, 1)) })
	for _, c := range list {
		facts.Append(&b.All, c.says, c.item)
		facts.Earliest(&b.Since, c.since, c.item)
		if c.normal == 0 {
			b.Stays.Set(true, c.item)
		} else if !c.since.IsZero() {
			facts.Earliest(&b.Counts, c.since.Add(c.normal-least), c.item)
		}
	}
	if len(list) > 0 {
		shown = []evidence.Item{list[0].item}
		says := list[0].says
		if more := len(list) - 1; more > 0 {
			says += fmt.Sprintf("; and %d more", more)
		}
		b.First.Set(says)
	}
	facts.Complete(&b)
	for _, s := range shown {
		facts.ProveAll(&b, s)
	}
	return b
}

// worseTrue and worseFalse are how the types of conditions end that speak against their object
// when they are True, and when they are False
// (kubernetes/community:contributors/devel/sig-architecture/api-conventions.md, typical status
// properties; openshift/api:config/v1/types_cluster_operator.go; kubernetes/node-problem-detector).
var (
	worseTrue  = []string{"Degraded", "Failing", "Failed", "Failure", "Pressure", "Unavailable", "Unhealthy", "Deadlock", "Problem"}
	worseFalse = []string{"Available", "Healthy"}
)

// against reports whether a condition speaks against its object.
func against(kind, status string) bool {
	ends := func(list []string) bool {
		return slices.ContainsFunc(list, func(end string) bool { return strings.HasSuffix(kind, end) })
	}
	return status == "True" && ends(worseTrue) || status == "False" && ends(worseFalse) && !ends(worseTrue)
}

// words joins a reason and a message that may be empty, short enough for a title.
func words(reason, message string) string {
	const most = 160
	text := strings.Join(strings.Fields(message), " ")
	switch {
	case text == "":
		text = reason
	case reason != "" && !strings.HasPrefix(text, reason):
		text = reason + ": " + text
	}
	return evidence.Shorten(text, most)
}

// with adds words to a sentence where there are any.
func with(sentence, words string) string {
	if words == "" {
		return sentence
	}
	return sentence + ": " + words
}
