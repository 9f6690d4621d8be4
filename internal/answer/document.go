package answer

import (
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/message"
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
	Roots       []root                      `json:"roots"`
	Deadlocks   []diagnosis.Deadlock        `json:"deadlocks"`
	Unexplained []unexplained               `json:"unexplained"`
	Accepted    []diagnosis.AcceptedFinding `json:"accepted,omitempty"`
	Edges       []diagnosis.EdgeSeen        `json:"edges"`
	Findings    []finding                   `json:"findings"`
	Omitted     *omitted                    `json:"omitted,omitempty"`
	Hosts       []hostState                 `json:"hosts"`
	Machines    *diagnosis.Machines         `json:"machines,omitempty"`
	Paths       []diagnosis.Path            `json:"paths,omitempty"`
	Timeline    []diagnosis.Moment          `json:"timeline"`
	Coverage    []coverage                  `json:"coverage"`
	Groups      groups                      `json:"groups"`
	Stats       diagnosis.Stats             `json:"stats"`

	Matches  []ScannedMatch `json:"matches,omitempty"`
	Symptoms []ScannedMatch `json:"symptoms,omitempty"`
	// UnknownErrors are lines of texts that their programs call errors and that no message knows.
	UnknownErrors []message.UnknownError `json:"unknownErrors,omitempty"`
}

// omitted counts what is not in the document.
type omitted struct {
	Absent        int `json:"absent"`
	NotApplicable int `json:"notApplicable"`
	Stages        int `json:"stages"`  // hosts without their stages
	Moments       int `json:"moments"` // of the timeline
}

// finding is a finding with the other subjects of which the same is unknown.
type finding struct {
	*diagnosis.Finding
	Others []fault.Subject `json:"others,omitempty"`
}

// hostState hides the stages of the model.
type hostState struct {
	diagnosis.HostState
	Stages []diagnosis.StageState `json:"stages,omitzero"`
}

// findings are those that the document has. Of a large cluster nine of ten are absent or
// not applicable, and decide nothing: what rules out a root is with the root. What is unknown
// for one reason at many hosts is one entry.
func (o Options) findings(all []diagnosis.Finding, aside diagnosis.Aside) ([]finding, *omitted) {
	if all == nil {
		return nil, nil
	}
	if o.Findings {
		list := make([]finding, len(all))
		for i := range all {
			list[i].Finding = &all[i]
		}
		return list, nil
	}
	kept, left := []finding{}, &omitted{Absent: aside.Absent, NotApplicable: aside.NotApplicable}
	seen := map[likeness]int{}
	for i := range all {
		f := &all[i]
		switch {
		case f.DecidesNothing() && f.Outcome == fault.Absent:
			left.Absent++
			continue
		case f.DecidesNothing():
			left.NotApplicable++
			continue
		case f.Outcome == fault.Unknown && len(f.Evidence) == 0 && f.Accepted == nil:
			like := likenessOf(f)
			if first, ok := seen[like]; ok {
				kept[first].Others = append(append(kept[first].Others, f.Subject), f.Others...)
				continue
			}
			seen[like] = len(kept)
		}
		kept = append(kept, finding{Finding: f, Others: slices.Clip(f.Others)}) // it is shared
	}
	for i := range kept {
		if others := kept[i].Others; !slices.IsSortedFunc(others, compareSubjects) {
			kept[i].Others = slices.SortedFunc(slices.Values(others), compareSubjects)
		}
	}
	return kept, left
}

func compareSubjects(a, b fault.Subject) int {
	return fault.CompareKeys(fault.Key{Subject: a}, fault.Key{Subject: b})
}

// likeness is what findings have in common that differ in nothing but the names of their
// subject and of the text that was not read.
type likeness struct{ fault, title, reason, missing string }

func likenessOf(f *diagnosis.Finding) likeness {
	names := []string{f.Subject.Name}
	for _, u := range f.Unread {
		names = append(names, u.Supply.Path)
	}
	anyName := func(text string) string {
		for _, n := range names {
			if n != "" {
				text = strings.ReplaceAll(text, n, "\x00")
			}
		}
		return text
	}
	return likeness{f.Fault, anyName(f.Title), anyName(f.Reason), strings.Join(f.Missing, " ")}
}

// hosts are those of the diagnosis. One that is done needs no attention: its stages are
// left out, if the answer is not about it alone.
func (o Options) hosts(d *diagnosis.Diagnosis, left *omitted) (hosts []hostState, timeline []diagnosis.Moment) {
	done := map[string]bool{}
	hosts = each(d.Hosts, func(h diagnosis.HostState) hostState {
		if left == nil || o.Subject != nil || !h.Done() {
			return hostState{h, h.Stages}
		}
		done[h.Name] = true
		left.Stages++
		return hostState{HostState: h}
	})
	if len(done) == 0 {
		return hosts, d.Timeline
	}
	timeline = []diagnosis.Moment{}
	for _, m := range d.Timeline {
		if m.Passed && done[m.Subject.Name] {
			left.Moments++
			continue
		}
		timeline = append(timeline, m)
	}
	return hosts, timeline
}

// The fields below hide those of the same name in the model.
type (
	root struct {
		diagnosis.Root
		URL   string     `json:"url,omitempty"` // of the page of the fault, where the pages are published
		Cases []rootCase `json:"cases"`
	}
	rootCase struct {
		diagnosis.Case
		Decides string `json:"decides,omitempty"`
	}
	unexplained struct {
		diagnosis.Unexplained
		URL      string    `json:"url,omitempty"` // as of a root
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
	findings, left := o.findings(d.Findings, d.Aside)
	hosts, timeline := o.hosts(d, left)
	doc := &document{
		APIVersion: d.APIVersion, Kind: d.Kind, Source: d.Source, Now: d.Now, Cluster: d.Cluster, Verdict: d.Verdict,
		Roots: each(d.Roots, func(r diagnosis.Root) root {
			return root{r, o.url("faults", r.Fault), each(r.Cases, func(c diagnosis.Case) rootCase { return rootCase{c, o.supply(c.Decides)} })}
		}),
		Deadlocks: d.Deadlocks, Accepted: d.Accepted, Edges: d.Edges, Findings: findings, Omitted: left, Hosts: hosts, Machines: d.Machines, Paths: d.Paths,
		Timeline: timeline, Stats: d.Stats,
		Unexplained: each(d.Unexplained, func(u diagnosis.Unexplained) unexplained {
			return unexplained{u, o.url("faults", u.Fault), each(u.Suspects, o.inWords)}
		}),
		Groups:   groups{d.Groups, each(d.Groups.Gaps, func(g diagnosis.Gap) gap { return gap{g, each(g.Supply, o.supply)} })},
		Coverage: each(d.Coverage, func(c evidence.Coverage) coverage { return coverage{c, o.supply(c.Supply)} }),
	}
	if o.Messages != nil && o.Catalog != nil {
		scan := ScanDocument(o.Messages, o.Catalog)
		doc.Matches, doc.Symptoms, doc.UnknownErrors = scan.Matches, scan.Symptoms, o.Messages.Errors
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
