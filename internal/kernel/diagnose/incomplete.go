package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// nothingWrong returns one line about a source in which nothing is wrong, and which does not show a
// whole cluster; "" where a question is open about what was read.
func nothingWrong(d *diagnosis.Diagnosis) string {
	return cmp.Or(onlyOthers(d), otherProduct(d), onlyLogged(d), onlyBootstrap(d), onlyMissing(d), onlyFiles(d), onlyPasted(d))
}

// onlyOthers returns one line about logs of machines that are no hosts of a cluster; "" otherwise.
func onlyOthers(d *diagnosis.Diagnosis) string {
	if !d.Cluster.OnlyOthers() || len(d.Hosts) > 0 || troubled(d) {
		return ""
	}
	var list []string
	for _, o := range d.Cluster.Others {
		list = append(list, o.Host+" runs "+o.System+" ("+o.Locator+")")
	}
	return few(list) + "; no line in it is of a kubelet, CRI-O, Ignition or rpm-ostree"
}

// otherProduct returns one line about a cluster of another distribution in which nothing is wrong; "" otherwise.
func otherProduct(d *diagnosis.Diagnosis) string {
	open := func(h diagnosis.HostState) bool { return h.Expected && !h.Done() }
	if d.Cluster.Product == nil || d.Cluster.ReadWrong || troubled(d) || slices.ContainsFunc(d.Hosts, open) {
		return ""
	}
	return hosts(expected(d)) + " Ready; " + ofProduct(d)
}

// onlyMissing returns one line about a source in which nothing is wrong and parts are missing:
// what it shows and what it lacks. "" if a question is open about what was read.
func onlyMissing(d *diagnosis.Diagnosis) string {
	if !collected(d) || d.Cluster.Installer != nil || troubled(d) {
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
	if n := operatorsRead(d); n > 0 {
		said = fmt.Sprintf("%d ClusterOperators read, ", n) + said
	}
	if ready > 0 {
		said = hosts(ready) + " Ready, " + said
	}
	return said + "; not collected: " + few(missing)
}

// operatorsRead is how many ClusterOperators there are, 0 where they were not read whole.
func operatorsRead(d *diagnosis.Diagnosis) int {
	for _, c := range d.Coverage {
		if c.Need == evidence.ClusterOperators.String() && c.State == evidence.Read {
			return c.Count
		}
	}
	return 0
}

// troubled reports whether something is wrong, or may be, or becomes so.
func troubled(d *diagnosis.Diagnosis) bool {
	until, _ := waiting(d)
	return !until.IsZero() || len(d.Roots)+len(d.Unexplained)+len(d.Accepted)+len(damaged(d))+len(unsettled(d)) > 0
}

// onlyLogged returns one line about a log of openshift-install that ended well, and in which nothing is
// wrong; "" otherwise. No host was checked, so it is no healthy cluster.
func onlyLogged(d *diagnosis.Diagnosis) string {
	in := d.Cluster.Installer
	if in == nil || !in.Completed() && in.Ended != "made" || expected(d) > 0 || troubled(d) {
		return ""
	}
	return in.String() + ": nothing wrong in what was read; no host was checked"
}

// onlyBootstrap returns one line about single files of a bootstrap host whose services ended well, or
// did what others wait for; "" otherwise.
func onlyBootstrap(d *diagnosis.Diagnosis) string {
	if d.Source.Kind != looseFiles || d.Cluster.Installer != nil || expected(d) > 0 || troubled(d) {
		return ""
	}
	for _, h := range d.Hosts {
		if h.Bootstrap() && h.Done() {
			why, _, _ := strings.Cut(h.Why, "; it starts ") // what it is for is no news
			return "on the bootstrap host " + why + "; nothing wrong in what was read; no host of the cluster was checked"
		}
	}
	return ""
}

// onlyFiles returns one line about single files without a host in which no known fault is, and no object that is not
// well; "" otherwise.
func onlyFiles(d *diagnosis.Diagnosis) string {
	waits := func(h diagnosis.HostState) bool { return h.State != diagnosis.StageUnknown && !h.Done() }
	cut := func(c evidence.Coverage) bool { return c.Damaged }
	if d.Source.Kind != looseFiles || d.Cluster.Installer != nil || expected(d) > 0 || troubled(d) || nothingListed(d) ||
		slices.ContainsFunc(d.Hosts, waits) || d.Cluster.ReadWrong || slices.ContainsFunc(d.Coverage, cut) {
		return ""
	}
	said := append(slices.Clone(d.Cluster.Read), "no host was checked, and nothing is wrong in what the checks read")
	if kinds := unused(d); len(kinds) > 0 {
		said = append(said, "not read by any check: "+few(kinds))
	}
	return strings.Join(said, "; ")
}

// unused are the kinds of objects in single files of which no check has read one: how they stand is not known.
func unused(d *diagnosis.Diagnosis) []string {
	var list []string
	for _, r := range d.Source.Holds {
		read := func(c evidence.Coverage) bool {
			need, _, _ := strings.Cut(c.Need, " -n ")
			return c.Count > 0 && need == r.String()
		}
		if !slices.ContainsFunc(d.Coverage, read) && r.Group != evidence.ProbeGroup {
			list = append(list, r.Name)
		}
	}
	return list
}

// onlyPasted returns one line about a pasted text in which no known fault is and all hosts are
// Ready or not in it; "" otherwise.
func onlyPasted(d *diagnosis.Diagnosis) string {
	if d.Source.Kind != pastedText || d.Cluster.Installer != nil || d.Cluster.Short || troubled(d) {
		return ""
	}
	ready := 0
	for _, h := range d.Hosts {
		if h.Bootstrap() && h.State == diagnosis.StageUnknown {
			continue // no host of the cluster
		}
		if !h.Ready() || len(h.BlockedBy) > 0 || !h.Done() && h.State != diagnosis.StageUnknown {
			return ""
		}
		ready++
	}
	if at := d.Cluster.Completed; !at.IsZero() && d.Cluster.CompletedBy == diagnosis.ByAssisted {
		return "the assisted service reports the installation of " + hosts(ready) + " as completed at " + at.UTC().Format(time.RFC3339) + "; no Node was read"
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
			if c.Why == evidence.NotCollected && c.State == evidence.Partial && d.Source.Kind == looseFiles && p.resource == evidence.Nodes {
				kinds = append(kinds, "other nodes") // a file of one object: whether there are others is not known
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
