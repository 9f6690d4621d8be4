package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Report is what is known of a fleet. Its JSON form is a published contract (rollcall.dev/v1alpha1, kind Fleet).
type Report struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Counts     map[State]int `json:"counts"`
	Clusters   []Result      `json:"clusters"` // the worst first
	Shared     []Shared      `json:"shared"`   // the causes that are in more than one of them
}

// Shared is a cause that several clusters have.
type Shared struct {
	Fault    string   `json:"fault"`
	Title    string   `json:"title"` // in the first of them
	Clusters []string `json:"clusters"`
}

// ReportOf orders results: the worst first, of equals those with the most hosts that are not done, then by name.
func ReportOf(results []Result) Report {
	r := Report{APIVersion: "rollcall.dev/v1alpha1", Kind: "Fleet", Counts: map[State]int{}, Clusters: slices.Clone(results), Shared: []Shared{}}
	slices.SortStableFunc(r.Clusters, func(a, b Result) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)),
			cmp.Compare(b.Hosts-b.Done, a.Hosts-a.Done), strings.Compare(a.Name, b.Name))
	})
	at := map[string]int{}
	for _, c := range r.Clusters {
		r.Counts[c.State]++
		for _, cause := range c.Causes {
			i, ok := at[cause.Fault]
			if !ok {
				i = len(r.Shared)
				at[cause.Fault] = i
				r.Shared = append(r.Shared, Shared{Fault: cause.Fault, Title: cause.Title})
			}
			r.Shared[i].Clusters = append(r.Shared[i].Clusters, c.Name)
		}
	}
	r.Shared = slices.DeleteFunc(r.Shared, func(s Shared) bool { return len(s.Clusters) < 2 })
	slices.SortStableFunc(r.Shared, func(a, b Shared) int { return cmp.Compare(len(b.Clusters), len(a.Clusters)) })
	if r.Clusters == nil {
		r.Clusters = []Result{}
	}
	return r
}

// Fails reports whether a cause of any cluster is at or above a severity, or a cluster is broken in another way.
func (r Report) Fails(from string) bool {
	for _, c := range r.Clusters {
		for _, cause := range c.Causes {
			if cause.Severity.Rank() >= fault.Severity(from).Rank() {
				return true
			}
		}
	}
	return false
}
