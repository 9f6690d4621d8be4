package diagnose

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Group groups what is alike in a diagnosis. It must be called again after its lists have changed.
func Group(d *diagnosis.Diagnosis) {
	d.Groups = diagnosis.Groups{
		Unexplained: unexplainedGroups(d.Unexplained), Accepted: acceptedGroups(d.Accepted),
		Waiting: waitingGroups(d),
		Hosts:   hostGroups(d.Hosts), Gaps: decidingFirst(d, gaps(d.Coverage)),
	}
}

func groupOf(k fault.Key, first int) diagnosis.Group {
	return diagnosis.Group{Fault: k.Fault, Subjects: []fault.Subject{k.Subject}, First: first}
}

// unexplainedGroups groups the symptoms of one fault that say the same of their subjects. Of one
// fault a few are told apart: of a large cluster each host may say something of its own.
func unexplainedGroups(symptoms []diagnosis.Unexplained) []diagnosis.Group {
	const apart = 3
	list := []diagnosis.Group{}
	at := map[string]int{}
	first := map[string][]int{}
	for n, u := range symptoms {
		says := u.Fault + " " + strings.ReplaceAll(u.Title, u.Subject.Name, "")
		i, ok := at[says]
		if of := first[u.Fault]; !ok && len(of) == apart {
			i, ok = of[0], true
		}
		if ok {
			list[i].Subjects = append(list[i].Subjects, u.Subject)
			continue
		}
		at[says], first[u.Fault] = len(list), append(first[u.Fault], len(list))
		list = append(list, groupOf(u.Key, n))
	}
	return list
}

// acceptedGroups groups the findings of one fault that one entry accepts.
func acceptedGroups(accepted []diagnosis.AcceptedFinding) []diagnosis.AcceptedGroup {
	type kind struct{ fault, entry string }
	var list []diagnosis.AcceptedGroup
	at := map[kind]int{}
	seen := map[kind]map[fault.Key]bool{}
	for n, f := range accepted {
		k := kind{f.Fault, f.Entry}
		i, ok := at[k]
		if ok {
			list[i].Subjects = append(list[i].Subjects, f.Subject)
		} else {
			i = len(list)
			at[k], seen[k] = i, map[fault.Key]bool{}
			list = append(list, diagnosis.AcceptedGroup{Group: groupOf(f.Key, n), Effects: []fault.Key{}})
		}
		for _, e := range f.Effects {
			if !seen[k][e] {
				seen[k][e] = true
				list[i].Effects = append(list[i].Effects, e)
			}
		}
	}
	return list
}

// waitingGroups groups the findings that are still normal: those that a root explains apart from
// the others.
func waitingGroups(d *diagnosis.Diagnosis) []diagnosis.WaitingGroup {
	type kind struct {
		fault     string
		explained bool
	}
	list := []diagnosis.WaitingGroup{}
	at := map[kind]int{}
	explained := map[fault.Key]bool{}
	for _, r := range d.Roots {
		for _, k := range r.Effects() {
			explained[k] = true
		}
	}
	for _, a := range d.Accepted {
		for _, k := range a.Effects {
			explained[k] = true
		}
	}
	for n, f := range d.Findings {
		if !f.Waiting() {
			continue
		}
		k := kind{f.Fault, explained[f.Key()]}
		i, ok := at[k]
		if !ok {
			at[k] = len(list)
			list = append(list, diagnosis.WaitingGroup{Group: groupOf(f.Key(), n), Until: f.Until, Explained: k.explained})
			continue
		}
		list[i].Subjects = append(list[i].Subjects, f.Subject)
		if f.Until.Before(list[i].Until) {
			list[i].Until = f.Until
		}
	}
	return list
}

// hostGroups groups hosts at the same stage, in the same state, for the same reason.
func hostGroups(hosts []diagnosis.HostState) []diagnosis.HostGroup {
	type place struct {
		stage  fault.Stage
		state  diagnosis.StageOutcome
		reason string
	}
	list := []diagnosis.HostGroup{}
	at := map[place]int{}
	for n, h := range hosts {
		if h.Done() || !h.Expected && !h.Bootstrap() {
			continue
		}
		p := place{h.Stage, h.State, reasonKey(h)}
		if i, ok := at[p]; ok {
			list[i].Names = append(list[i].Names, h.Name)
			continue
		}
		at[p] = len(list)
		list = append(list, diagnosis.HostGroup{Stage: h.Stage, State: h.State, Names: []string{h.Name}, First: n})
	}
	return list
}

// reasonKey returns the reason of a host without its name and without numbers: hosts with the same
// key are one group.
func reasonKey(h diagnosis.HostState) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, strings.ReplaceAll(h.Why, h.Name, ""))
}

// gaps groups what is missing for one reason. Damaged files come first, then the reason with most
// gaps, then what can be supplied.
func gaps(coverage []evidence.Coverage) []diagnosis.Gap {
	list := []diagnosis.Gap{}
	damaged := map[string]bool{}
	for _, c := range coverage {
		if c.State != evidence.Missing && c.State != evidence.Partial {
			continue
		}
		i := slices.IndexFunc(list, func(g diagnosis.Gap) bool { return g.State == c.State && g.Reason == c.Reason })
		if i < 0 {
			i = len(list)
			list = append(list, diagnosis.Gap{State: c.State, Reason: c.Reason, Needs: []string{}, Supply: []evidence.Supply{}})
		}
		if !slices.Contains(list[i].Needs, c.Need) {
			list[i].Needs = append(list[i].Needs, c.Need)
		}
		if !c.Supply.IsZero() && !slices.Contains(list[i].Supply, c.Supply) {
			list[i].Supply = append(list[i].Supply, c.Supply)
		}
		damaged[c.Reason] = damaged[c.Reason] || c.Damaged
	}
	slices.SortStableFunc(list, func(a, b diagnosis.Gap) int {
		if damaged[a.Reason] != damaged[b.Reason] {
			if damaged[a.Reason] {
				return -1
			}
			return 1
		}
		if n := parts(b) - parts(a); n != 0 {
			return n
		}
		return min(len(b.Supply), 1) - min(len(a.Supply), 1)
	})
	return list
}

// decidingFirst sorts those gaps first that keep a cluster from being called healthy.
func decidingFirst(d *diagnosis.Diagnosis, list []diagnosis.Gap) []diagnosis.Gap {
	var open []string
	for _, c := range d.Coverage {
		if p := premiseOf(c); p != nil && (p.needed == nil || p.needed(d.Cluster)) && p.unread(c, d) != "" {
			open = append(open, c.Need)
		}
	}
	decides := func(g diagnosis.Gap) int {
		if slices.ContainsFunc(g.Needs, func(n string) bool { return slices.Contains(open, n) }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b diagnosis.Gap) int { return decides(a) - decides(b) })
	return list
}

// parts counts the needs of a gap; what only rollcall-host can supply counts as one.
func parts(g diagnosis.Gap) int {
	n := len(slices.DeleteFunc(slices.Clone(g.Needs), evidence.IsOnHost))
	if n < len(g.Needs) {
		n++
	}
	return n
}
