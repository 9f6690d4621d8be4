package report

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// document is the layout of the published contract: a diagnosis in which what would
// supply evidence is said in words.
type document struct {
	APIVersion  string                      `json:"apiVersion"`
	Kind        string                      `json:"kind"`
	Source      diagnosis.Source            `json:"source"`
	Now         time.Time                   `json:"now"`
	Cluster     diagnosis.ClusterInfo       `json:"cluster"`
	Verdict     diagnosis.Verdict           `json:"verdict"`
	Roots       []diagnosis.Root            `json:"roots"`
	Deadlocks   []diagnosis.Deadlock        `json:"deadlocks"`
	Unexplained []unexplained               `json:"unexplained"`
	Accepted    []diagnosis.AcceptedFinding `json:"accepted,omitempty"`
	Edges       []diagnosis.EdgeSeen        `json:"edges"`
	Findings    []diagnosis.Finding         `json:"findings"`
	Omitted     *omitted                    `json:"omitted,omitempty"`
	Hosts       []diagnosis.HostState       `json:"hosts"`
	Machines    *diagnosis.Machines         `json:"machines,omitempty"`
	Paths       []diagnosis.Path            `json:"paths,omitempty"`
	Timeline    []diagnosis.Moment          `json:"timeline"`
	Coverage    []coverage                  `json:"coverage"`
	Groups      groups                      `json:"groups"`
	Stats       diagnosis.Stats             `json:"stats"`

	Matches  []ScannedMatch `json:"matches,omitempty"`
	Symptoms []ScannedMatch `json:"symptoms,omitempty"`
}

// omitted counts the findings that are not in the document.
type omitted struct {
	Absent        int `json:"absent"`
	NotApplicable int `json:"notApplicable"`
}

// findings are those that the document has. Of a large cluster nine of ten are absent or
// not applicable, and decide nothing: what rules out a root is with the root.
func (o Options) findings(all []diagnosis.Finding) ([]diagnosis.Finding, *omitted) {
	if o.Findings || all == nil {
		return all, nil
	}
	kept, left := []diagnosis.Finding{}, &omitted{}
	for _, f := range all {
		switch {
		case f.Accepted != nil || !f.Until.IsZero():
			kept = append(kept, f)
		case f.Outcome == fault.Absent:
			left.Absent++
		case f.Outcome == fault.NotApplicable:
			left.NotApplicable++
		default:
			kept = append(kept, f)
		}
	}
	return kept, left
}

// The fields below hide those of the same name in the model.
type (
	unexplained struct {
		diagnosis.Unexplained
		Suspects []suspect `json:"suspects"`
	}
	suspect struct {
		diagnosis.Suspect
		Supply string `json:"supply"`
	}
	groups struct {
		diagnosis.Groups
		Gaps []gap `json:"gaps"`
	}
	gap struct {
		diagnosis.Gap
		Supply []string `json:"supply"`
	}
	coverage struct {
		evidence.Coverage
		Supply string `json:"supply,omitempty"`
	}
)

func newDocument(d *diagnosis.Diagnosis, o Options) *document {
	findings, left := o.findings(d.Findings)
	doc := &document{
		APIVersion: d.APIVersion, Kind: d.Kind, Source: d.Source, Now: d.Now, Cluster: d.Cluster, Verdict: d.Verdict, Roots: d.Roots,
		Deadlocks: d.Deadlocks, Accepted: d.Accepted, Edges: d.Edges, Findings: findings, Omitted: left, Hosts: d.Hosts, Machines: d.Machines, Paths: d.Paths, Timeline: d.Timeline, Stats: d.Stats,
		Unexplained: each(d.Unexplained, func(u diagnosis.Unexplained) unexplained {
			return unexplained{u, each(u.Suspects, o.inWords)}
		}),
		Groups:   groups{d.Groups, each(d.Groups.Gaps, func(g diagnosis.Gap) gap { return gap{g, each(g.Supply, o.supply)} })},
		Coverage: each(d.Coverage, func(c evidence.Coverage) coverage { return coverage{c, o.supply(c.Supply)} }),
	}
	if o.Messages != nil && o.Catalog != nil {
		scan := ScanDocument(o.Messages, o.Catalog)
		doc.Matches, doc.Symptoms = scan.Matches, scan.Symptoms
	}
	return doc
}

// inWords is a suspect as it is written.
func (o Options) inWords(s diagnosis.Suspect) suspect { return suspect{s, o.decides(s)} }

// each maps a list; nil stays nil.
func each[A, B any](list []A, f func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}
