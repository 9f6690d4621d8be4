package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// undetermined is the verdict if there is no answer.
func undetermined(open []diagnosis.Question) diagnosis.Verdict {
	const said = 3
	var list []string
	for _, q := range open[:min(said, len(open))] {
		list = append(list, q.Says)
	}
	if n := len(open) - said; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return diagnosis.Verdict{Class: diagnosis.Undetermined, Reason: strings.Join(list, "; "), Open: open}
}

func noCause(u diagnosis.Unexplained) diagnosis.Question {
	return diagnosis.Question{Of: u.Key, Says: u.Title + "; cause unknown"}
}

// noHost returns what is known if there is no host: how far openshift-install came.
func noHost(d *diagnosis.Diagnosis) string {
	if d.Cluster.Installer == nil {
		if i := slices.IndexFunc(d.Coverage, func(c evidence.Coverage) bool { return c.Damaged }); i >= 0 &&
			!slices.Contains(damaged(d), d.Coverage[i].Reason) {
			return "no host was checked: " + d.Coverage[i].Reason
		}
		if nothingListed(d) {
			return "every list that was read is empty, which no cluster is: check what answers at the address of the API (a proxy, a cache, a filter)"
		}
		if len(d.Cluster.Read) > 0 {
			return "no host was checked, as no Node was given; read: " + strings.Join(d.Cluster.Read, "; ")
		}
		return "no host was checked"
	}
	return d.Cluster.Installer.String() + "; no host was checked"
}

// noCluster reports whether what every cluster has from its first minute was looked for, and is not
// there.
func noCluster(d *diagnosis.Diagnosis) bool {
	for _, r := range []evidence.Resource{evidence.ClusterVersions, evidence.Infrastructures, evidence.Namespaces, evidence.Nodes} {
		if !slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
			return c.Need == r.String() && (c.State == evidence.Empty || c.Why == evidence.NotServed)
		}) {
			return false
		}
	}
	return true
}

// openQuestions lists what has no answer: present symptoms without a cause, and expected hosts
// about which nothing is known.
func openQuestions(d *diagnosis.Diagnosis) []diagnosis.Question {
	if noCluster(d) {
		return []diagnosis.Question{{Says: "no cluster in it: no ClusterVersion, Infrastructure, Namespace or Node"}}
	}
	var open []diagnosis.Question
	for _, u := range d.Unexplained {
		if u.Severity.Rank() > fault.Info.Rank() {
			open = append(open, noCause(u))
		}
	}
	add := func(lists ...[]string) {
		for _, says := range slices.Concat(lists...) {
			open = append(open, diagnosis.Question{Says: says})
		}
	}
	addPremises := func(list []premiseOpen) {
		for _, p := range list {
			open = append(open, diagnosis.Question{Says: p.says, Forbidden: p.why == evidence.Forbidden})
		}
	}
	add(notThrough(d), notAskedAbout(d), damaged(d), unsettled(d), silentHosts(d))
	switch {
	case d.Source.Kind == onHost:
		add(unasked(d))
	case d.Cluster.Product != nil:
		add([]string{ofProduct(d)}, hostsOpen(d))
	case expected(d) == 0 && !awaitsFirstHost(d): // a name that only a request claims is no host that answered
		add([]string{noHost(d)})
	default:
		if d.Source.Kind == pastedText && len(d.Cluster.Read) > 0 {
			add([]string{"read: " + strings.Join(d.Cluster.Read, "; ")})
		}
		addPremises(premisesOpen(d))
		add(lostOpen(d), hostsOpen(d))
	}
	return open
}

// ofProduct says that a cluster is of another distribution, and what was read of it.
func ofProduct(d *diagnosis.Diagnosis) string {
	p := d.Cluster.Product
	said := append([]string{p.Says + ": this is " + p.Name + " and not OpenShift, so no part of OpenShift was looked for"}, d.Cluster.Read...)
	return strings.Join(said, "; ")
}

// hostsOpen lists the expected hosts about which nothing is known. Those that stopped at the same
// stage for the same reason are one question.
func hostsOpen(d *diagnosis.Diagnosis) []string {
	const named = 3
	var order []string
	names := map[string][]string{}
	for _, h := range d.Hosts {
		if !h.Expected || h.Done() || len(h.BlockedBy) > 0 || !inProgress(d, h).IsZero() {
			continue
		}
		says := fmt.Sprintf("%s is %s%s", h.Stage, h.State, because(h.Why))
		if names[says] == nil {
			order = append(order, says)
		}
		names[says] = append(names[says], h.Name)
	}
	list := make([]string, 0, len(order))
	for _, says := range order {
		switch of := names[says]; {
		case len(of) == 1:
			list = append(list, "host "+of[0]+": "+says)
		case len(of) <= named:
			list = append(list, "hosts "+strings.Join(of, ", ")+": "+says)
		default:
			list = append(list, fmt.Sprintf("hosts %s and %d more: %s", strings.Join(of[:named], ", "), len(of)-named, says))
		}
	}
	return list
}

// unsettled lists the conditions that hold and may be a fault or normal: it is not known since
// when they hold, or what may block them was withheld.
func unsettled(d *diagnosis.Diagnosis) []string {
	var names []string
	for _, f := range d.Findings {
		if (f.Unsettled || f.HeldUp != "") && f.Severity.Rank() > fault.Info.Rank() {
			names = append(names, f.Title+because(f.HeldUp))
		}
	}
	if len(names) == 0 {
		return nil
	}
	if c := d.Cluster; !c.Completed.IsZero() && c.Update == nil { // what may be in progress is no update then
		return []string{few(names) + " (no update is in progress; whether it passes by itself is not known)"}
	}
	return []string{few(names) + " (a fault, or still in progress)"}
}

// wholeSource is how many needs one damage hides at most that is not one of the whole source.
const wholeSource = 20

// damaged returns which files are damaged: what they said is not known, and nothing else replaces
// it.
func damaged(d *diagnosis.Diagnosis) []string {
	const named = 3
	var needs []string
	reasons := map[string]bool{}
	for _, c := range d.Coverage {
		if c.Damaged && premiseOf(c) == nil {
			needs = append(needs, c.Need)
			reasons[c.Reason] = true
		}
	}
	switch {
	case len(needs) == 0:
		return nil
	case len(needs) > wholeSource && len(reasons) == 1:
		return slices.Collect(maps.Keys(reasons)) // one damage, of the source and not of a file
	}
	list := strings.Join(needs[:min(named, len(needs))], ", ")
	if more := len(needs) - named; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return []string{"damaged, so not checked: " + list}
}

// onHost is the kind of a source that is one machine seen from inside. What only the
// API can tell is no open question of it; what the machine should have told is.
const onHost = "host"

func unasked(d *diagnosis.Diagnosis) []string {
	n := len(openErrors(d))
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("of the checks of the machine %d without an answer", n)}
}

// silentHosts lists the hosts on which rollcall-host was to run and did not: the user wants to know of them.
func silentHosts(d *diagnosis.Diagnosis) []string {
	var names []string
	for _, c := range d.Coverage {
		if name, ok := strings.CutPrefix(c.Need, evidence.RunOnHost); ok && c.State == evidence.Missing {
			names = append(names, name+because(c.Reason))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"no answer of rollcall-host: " + few(names)}
}

// openErrors are the unknown findings that would be errors.
func openErrors(d *diagnosis.Diagnosis) []diagnosis.Finding {
	var list []diagnosis.Finding
	for _, f := range d.Findings {
		if f.Outcome == fault.Unknown && f.Severity == fault.Error {
			list = append(list, f)
		}
	}
	return list
}

// few lists the first three names and how many there are behind them.
func few(names []string) string {
	if n := len(names); n > 3 {
		names = append(names[:3:3], fmt.Sprintf("and %d more", n-3))
	}
	return strings.Join(names, ", ")
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// Undecided reports whether a present symptom or an expected host has no answer: exit code 3 if
// there is no fault.
func Undecided(d *diagnosis.Diagnosis) bool { return len(openQuestions(d)) > 0 }
