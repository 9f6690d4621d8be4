package baseline

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/sortby"
)

// The kinds of changes.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Change is one value that is not what it was.
type Change struct {
	Area    Area   `json:"area"`
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Was     string `json:"was,omitempty"`
	Is      string `json:"is,omitempty"`
}

// Comparison is what has changed between two times.
type Comparison struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Since      time.Time `json:"since"`
	Now        time.Time `json:"now"`
	Cluster    string    `json:"cluster,omitempty"`
	// Other says that the two are of different clusters; nothing is compared then.
	Other       bool     `json:"otherCluster,omitempty"`
	Verdict     string   `json:"verdict"` // of the diagnosis when the baseline was saved
	Compared    int      `json:"compared"`
	Changes     []Change `json:"changes"`
	NotCompared []Gap    `json:"notCompared"`
}

// Compare compares a baseline with what the cluster is like now. An area that either of them
// lacks is not compared.
func Compare(was, is Baseline) Comparison {
	c := Comparison{APIVersion: APIVersion, Kind: "BaselineComparison", Since: was.Taken, Now: is.Taken, Cluster: was.Cluster, Verdict: was.Verdict,
		Changes: []Change{}, NotCompared: []Gap{}}
	if was.Cluster != "" && is.Cluster != "" && was.Cluster != is.Cluster {
		c.Other = true
		return c
	}
	var left []Area
	for _, g := range was.Missing {
		reason := "not in the baseline: "
		if slices.Contains(is.Missing, g) {
			reason = "neither in the baseline nor now: "
		}
		c.NotCompared = append(c.NotCompared, Gap{g.Area, reason + g.Reason})
		left = append(left, g.Area)
	}
	for _, g := range is.Missing {
		if !slices.Contains(was.Missing, g) {
			c.NotCompared = append(c.NotCompared, Gap{g.Area, "not read now: " + g.Reason})
		}
		left = append(left, g.Area)
	}
	old := map[Entry]string{}
	for _, e := range was.Entries {
		if !slices.Contains(left, e.Area) {
			old[e.key()] = e.Value
		}
	}
	for _, e := range is.Entries {
		if slices.Contains(left, e.Area) {
			continue
		}
		c.Compared++
		value, had := old[e.key()]
		delete(old, e.key())
		switch {
		case !had:
			c.Changes = append(c.Changes, Change{e.Area, e.Subject, e.Name, Added, "", e.Value})
		case value != e.Value:
			c.Changes = append(c.Changes, Change{e.Area, e.Subject, e.Name, Changed, value, e.Value})
		}
	}
	for e, value := range old {
		c.Compared++
		c.Changes = append(c.Changes, Change{e.Area, e.Subject, e.Name, Removed, value, ""})
	}
	sortby.Func(c.Changes, func(a, b Change) int {
		return compare(Entry{a.Area, a.Subject, a.Name, ""}, Entry{b.Area, b.Subject, b.Name, ""})
	})
	return c
}
