package message

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// hostStatus is a new status of a host before its installation. The assisted-service writes all reasons of the status behind
// it, so that what the host's earlier lines report is over or is in this one
// (openshift/assisted-service:internal/host/common.go updateHostStatus; internal/host/transition.go PostRefreshHost).
// The states of a running installation are not among these: their last one does not repeat its reason.
var hostStatus = regexp.MustCompile(`updated status from \W*[a-z-]+\W+to \W*(?:discovering|known|insufficient|pending-for-input|disconnected|` +
	`preparing-for-installation|preparing-successful|installing)\b`)

var (
	// withoutReasons is a status in which no validation is looked at any more, or none fails.
	withoutReasons = regexp.MustCompile(`\bto \W*(?:known|disconnected|preparing-for-installation|preparing-successful|installing)\b`)
	statusLine     = regexp.MustCompile(`\bupdated status from\b`)
	validationLine = regexp.MustCompile(`(?i)\bvalidation\b`)
)

// newStatusWords find such a line; messages of the catalog have them too.
const newStatusWords = "updated status from"

// newStatus notes the status of a host.
func (f *found) newStatus(number int, line []byte) {
	l := logline.Parse(line)
	if name := aboutHost(l.Message); name != "" && hostStatus.Match(l.Message) {
		f.marks = append(f.marks, mark{line: number, host: name, status: true, without: withoutReasons.Match(l.Message)})
	}
}

// statusAfter reports whether the host of a line got a new status later that makes the line old.
func (p *past) statusAfter(l Line) bool {
	if l.host == "" || p.status[l.host] <= l.Number || aboutHost(logline.Parse([]byte(l.Text)).Message) != l.host {
		return false
	}
	return statusLine.MatchString(l.Text) || validationLine.MatchString(l.Text) && p.without[l.host] > l.Number
}

// current returns what was met of a rule without the hosts of which it is over; itself where that is none, or all.
func (c *collector) current(r *rule, t *ruleMatches) *ruleMatches {
	over := map[string]bool{}
	var last []Line
	for key, l := range t.hosts {
		if key != l.host { // each line ends what is of its own object
			return t
		}
		if c.ended(r, l) {
			over[l.host] = true
			continue
		}
		last = append(last, l)
	}
	if len(over) == 0 || len(last) == 0 || len(t.hosts) >= maxHosts {
		return t
	}
	now := *t
	now.first, now.hosts, now.count = nil, map[string]Line{}, 0
	slices.SortFunc(last, func(a, b Line) int { return cmp.Compare(a.Number, b.Number) })
	for _, l := range last {
		now.hosts[l.host], now.last = l, l
		now.count += t.counts[l.host]
	}
	kept := slices.DeleteFunc(slices.Clone(t.first), func(l Line) bool { return over[l.host] })
	for _, l := range append(kept, last...) {
		if len(now.first) < keptLines && !slices.ContainsFunc(now.first, func(have Line) bool { return have.Number == l.Number }) {
			now.first = append(now.first, l)
		}
	}
	return &now
}
