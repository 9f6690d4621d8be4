package approver

import (
	"cmp"
	"maps"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

// Limits bound how much is approved. The requests themselves are the record of what was:
// the controller manager keeps answered ones for an hour (csrs.Kept).
type Limits struct {
	PerMinute int // approvals in a minute; 0 is 60
	PerHour   int // approvals in an hour; 0 is 500
	PerHost   int // approvals of one host in an hour; 0 is 4
	Pending   int // pause while more requests wait, of whoever; 0 is never
}

func (l *Limits) setDefaults() {
	l.PerMinute = cmp.Or(l.PerMinute, 60)
	l.PerHour = cmp.Or(l.PerHour, 500)
	l.PerHost = cmp.Or(l.PerHost, 4)
}

// spending is what Rollcall approved in the last hour.
type spending struct {
	all    []time.Time // oldest first
	byHost map[string][]time.Time
}

func spentBefore(p csr.Snapshot) *spending {
	s := &spending{byHost: map[string][]time.Time{}}
	for _, r := range p.Requests {
		if r.Approval.Reason == csr.Reason && p.Now.Sub(r.Approval.At) < time.Hour {
			s.add(r.NodeName, r.Approval.At)
		}
	}
	return s
}

func (s *spending) add(host string, at time.Time) {
	s.all = append(s.all, at)
	s.byHost[host] = append(s.byHost[host], at)
}

// over names the limit that is reached, and when to look again.
func (s *spending) over(l Limits, host string, now time.Time) (scope string, again time.Duration) {
	for _, limit := range []struct {
		scope string
		times []time.Time
		most  int
		in    time.Duration
	}{
		{"host", s.byHost[host], l.PerHost, time.Hour},
		{"minute", s.all, l.PerMinute, time.Minute},
		{"hour", s.all, l.PerHour, time.Hour},
	} {
		n, oldest := 0, now
		for _, t := range limit.times {
			if now.Sub(t) < limit.in {
				n++
				if t.Before(oldest) {
					oldest = t
				}
			}
		}
		if limit.most >= 0 && n >= limit.most {
			return limit.scope, max(time.Second, limit.in-now.Sub(oldest))
		}
	}
	return "", 0
}

// forget drops what is remembered of requests that are gone.
func (a *Approver) forget(p csr.Snapshot) {
	there := map[string]bool{}
	for _, r := range p.Requests {
		there[r.UID] = true
	}
	for uid := range a.seen {
		if !there[uid] {
			delete(a.seen, uid)
		}
	}
	maps.DeleteFunc(a.failed, func(uid string, _ time.Time) bool { return !there[uid] })
}

// count sets the gauges of what waits.
func (a *Approver) count(p csr.Snapshot, expected []waiting, strangers []csrs.Request) {
	pending := map[[2]string]int{}
	oldest := map[string]time.Duration{}
	add := func(r csrs.Request, word string) {
		pending[[2]string{string(r.Kind), word}]++
		oldest[string(r.Kind)] = max(oldest[string(r.Kind)], p.Now.Sub(r.Created))
	}
	for _, w := range expected {
		add(w.request, "true")
	}
	for _, r := range strangers {
		add(r, "false")
	}
	for _, k := range []string{string(csrs.Client), string(csrs.Serving)} {
		for _, word := range []string{"true", "false"} {
			a.c.Metrics.pending.WithLabelValues(k, word).Set(float64(pending[[2]string{k, word}]))
		}
		a.c.Metrics.oldest.WithLabelValues(k).Set(oldest[k].Seconds())
	}
}
