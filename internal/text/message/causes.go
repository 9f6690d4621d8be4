package message

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// tell is a signal that was met: of which rule, and of which of its causes.
type tell struct{ rule, cause int }

// signal is what a line itself shows of one of its causes.
type signal struct {
	differ *regexp.Regexp
	unless *pattern
}

// signals compiles what lines show of causes.
func signals(list []fault.MessageCause) ([]signal, error) {
	signals := make([]signal, len(list))
	for i, cause := range list {
		var err error
		if cause.Differ != "" {
			if signals[i].differ, err = regexp.Compile(cause.Differ); err != nil {
				return nil, fmt.Errorf("compile differ: %w", err)
			}
		}
		if signals[i].unless, err = compile(cause.Unless); err != nil {
			return nil, fmt.Errorf("compile unless of a cause: %w", err)
		}
	}
	return signals, nil
}

// differs reports whether a line has the two names that differ where it is this cause.
func (s *signal) differs(line string) bool {
	if s.differ == nil {
		return false
	}
	m := s.differ.FindStringSubmatch(line)
	return len(m) == 3 && m[1] != "" && m[2] != "" && m[1] != m[2]
}

// ruledOut reports whether a line shows that it is not this cause.
func (s *signal) ruledOut(line string) bool {
	return s.unless != nil && s.unless.in(plainLower(nil, []byte(line)))
}

// leastReason is how many words a reason has at least that can rule out causes.
const leastReason = 5

// reasonIsAnother reports whether a line gives its reason behind the words by which it is known, and each
// cause of the rule would have said another one there.
func (r *rule) reasonIsAnother(line string) bool {
	hasReason := len(r.Read) > 0 || string(r.parts[0]) == reportsOfNodes
	if !hasReason || slices.ContainsFunc(r.Causes, func(cause fault.MessageCause) bool { return len(cause.Tells) == 0 }) {
		return false
	}
	_, reason, ok := strings.Cut(lowerASCII(line), string(r.parts[0]))
	return ok && len(strings.Fields(reason)) >= leastReason
}

// causes puts a line that several faults can print into the report: the fault of which the
// text has the signal, or the failure with all its candidates.
func (c *collector) causes(faults, failures map[string]*Match, i int, t *ruleMatches) {
	r := &c.x.rules[i]
	told := false
	line := t.first[0].Text
	shown := *t
	shown.nodes = nil // the signal may be of another host
	for j, cause := range r.Causes {
		if !c.tells[tell{i, j}] && !r.causes[j].differs(line) || r.causes[j].ruledOut(line) {
			continue
		}
		told = true
		grade := cause.Shows
		if grade == "" {
			grade = fault.ShowsLikely
		}
		c.match(faults, cause.Fault, grade, &shown)
	}
	if told && r.Fault == "" || c.x.ofServers[r.Failure] && c.namesServer(faults, failures, t) {
		return
	}
	to, key := failures, ofRow(withNames(r.Failure, t.first[0]), t)
	if r.Fault != "" {
		to, key = faults, r.Fault
	}
	grade := r.Shows
	if grade == "" {
		grade = fault.ShowsPossible
	}
	c.match(to, key, grade, t)
	c.next[key] = nextFor(r.Next, t.first[0])
	c.steps[key] = c.steps[key] || c.x.steps[r.Failure]
	m := to[key]
	for j, cause := range r.Causes {
		if told || r.reasonIsAnother(line) {
			break
		}
		if r.causes[j].ruledOut(line) {
			continue
		}
		if !slices.Contains(m.Candidates, cause.Fault) {
			m.Candidates = append(m.Candidates, cause.Fault)
		}
	}
}

// leafFaults are faults that are nothing but one outcome of a request to the API.
var leafFaults = map[string][]logline.Leaf{
	"installer-name-not-resolved": {logline.NameUnknown, logline.NameServer}, "host-cannot-resolve-api": {logline.NameUnknown, logline.NameServer},
	"api-name-server-silent": {logline.NameServer}, "api-connection-refused": {logline.Refused},
}

// dropRefuted takes out of the candidates what the text refutes: other requests to the API ended in another way, or a
// line near it shows that the candidate is over.
func (c *collector) dropRefuted(lists ...map[string]*Match) {
	for _, list := range lists {
		for _, m := range list {
			m.Candidates = slices.DeleteFunc(m.Candidates, func(id string) bool {
				of, ok := leafFaults[id]
				otherLeaf := ok && len(c.apiLeaves) > 0 && !slices.ContainsFunc(of, func(leaf logline.Leaf) bool { return c.apiLeaves[leaf] })
				return otherLeaf || c.endedNear(id, m)
			})
		}
	}
}

// ofNoRelease is what the catalog says of the image that an openshift-install asks for which is of no release.
const ofNoRelease = "the release image is the default of an openshift-install that is of no release: it was built from source or taken from CI"

// sameOutput is how many lines before another one a line may stand and be of the same output of a command.
const sameOutput = 10

// endedNear reports whether a line behind a match ends a fault, or one before it in the same output of a command. What a log
// says before a line does not refute what the line shows.
func (c *collector) endedNear(id string, m *Match) bool {
	from := m.firstLine()
	if len(m.Lines) > 0 && m.Lines[0].form != logline.Log {
		from -= sameOutput
	}
	return slices.ContainsFunc(c.past.enders, func(e ender) bool { return slices.Contains(e.ends, id) && e.line >= from })
}

// lasting puts a line into the report that is normal for a time: the fault where the text has
// it for longer, else the failure.
func (c *collector) lasting(faults, failures map[string]*Match, r *rule, t *ruleMatches) {
	now := time.Now()
	from, ok := evidence.LineTime(t.first[0].Text, now)
	to, also := evidence.LineTime(t.last.Text, now)
	if ok && also && to.Sub(from) >= r.Lasts.Duration {
		grade := r.Shows
		if grade == "" {
			grade = fault.ShowsLikely
		}
		c.match(faults, r.Fault, grade, t)
		return
	}
	c.match(failures, r.Failure, fault.ShowsPossible, t)
	c.next[r.Failure] = nextFor(r.Next, t.first[0])
}
