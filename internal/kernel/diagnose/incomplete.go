package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// onlyMissing returns one line about a source in which nothing is wrong and parts are missing:
// what it shows and what it lacks. "" if a question is open about what was read.
func onlyMissing(d *diagnosis.Diagnosis) string {
	if !collected(d) || d.Cluster.Installer != nil || len(d.Roots)+len(d.Unexplained)+len(d.Accepted)+len(damaged(d))+len(unsettled(d)) > 0 {
		return ""
	}
	if until, _ := waiting(d); !until.IsZero() {
		return ""
	}
	ready, open := 0, map[fault.Stage]int{}
	for _, h := range d.Hosts {
		switch {
		case !h.Expected:
		case h.Done():
			ready++
		case h.State == diagnosis.StageUnknown && h.Ready() && len(h.BlockedBy) == 0:
			ready++
			open[h.Stage]++
		default:
			return ""
		}
	}
	missing, ok := notCollected(d)
	if !ok {
		return ""
	}
	for _, s := range fault.Stages() {
		if open[s] > 0 {
			missing = append(missing, fmt.Sprintf("what shows %s of %s", s, hosts(open[s])))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	said := "no known fault is in what was read"
	if ready > 0 {
		said = hosts(ready) + " Ready, " + said
	}
	return said + "; not collected: " + strings.Join(missing, ", ")
}

// onlyPasted returns one line about a pasted text in which no known fault is and all hosts are
// Ready or not in it; "" otherwise.
func onlyPasted(d *diagnosis.Diagnosis) string {
	if d.Source.Kind != pastedText || d.Cluster.Installer != nil || len(d.Roots)+len(d.Unexplained)+len(d.Accepted)+len(damaged(d))+len(unsettled(d)) > 0 {
		return ""
	}
	if until, _ := waiting(d); !until.IsZero() || d.Cluster.Short {
		return ""
	}
	ready := 0
	for _, h := range d.Hosts {
		if !h.Ready() || len(h.BlockedBy) > 0 || !h.Done() && h.State != diagnosis.StageUnknown {
			return ""
		}
		ready++
	}
	if ready == 0 {
		return "it shows no host, and only a part of a cluster"
	}
	return hosts(ready) + " Ready; it shows only a part of a cluster"
}

// collected reports whether a collector wrote the source. Pasted texts and single files are judged
// elsewhere: they have log lines next to their objects.
func collected(d *diagnosis.Diagnosis) bool {
	switch d.Source.Kind {
	case onHost, pastedText:
		return false
	case looseFiles:
		return slices.ContainsFunc(d.Hosts, diagnosis.HostState.Ready)
	}
	return true
}

// The kinds of sources in no layout: internal/source/paste, internal/source/archive.
const (
	pastedText = "text"
	looseFiles = "files"
)

func hosts(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// notCollected lists the premises of "healthy" that were not collected. ok is false if one was
// asked for and not answered: refused, damaged or unreachable.
func notCollected(d *diagnosis.Diagnosis) (kinds []string, ok bool) {
	for _, p := range premises {
		if p.needed != nil && !p.needed(d.Cluster) {
			continue
		}
		for _, c := range d.Coverage {
			if q := premiseOf(c); q == nil || q.resource != p.resource || p.unread(c, d) == "" {
				continue
			}
			if c.Why != evidence.NotCollected || c.State == evidence.Partial { // of these more is known than that they lack
				return nil, false
			}
			if !slices.Contains(kinds, p.resource.Name) {
				kinds = append(kinds, p.resource.Name)
			}
		}
	}
	for _, name := range lostNames(d) {
		if !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	return kinds, true
}
