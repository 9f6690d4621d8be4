package repair

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// State is the state of the cluster after a run of a plan.
type State string

// The states. Only a plan whose steps are all done can be Repaired, and only where
// everything that it is for was checked and is absent.
const (
	Repaired    State = "repaired"
	PartlyDone  State = "partly-done" // something that the plan is for is present, or an error is new, or steps are left
	InProgress  State = "in-progress" // nothing of it is a fault, and not all of it is over: expected until a time
	NotChecked  State = "not-checked" // it could not be checked
	Undone      State = "undone"      // everything that the plan did was undone
	NothingDone State = "nothing-done"
)

// Outcome is a comparison of the whole diagnosis after a run of a plan with the one
// that the plan was made from.
type Outcome struct {
	State   State     `json:"state"`
	Reason  string    `json:"reason,omitempty"`        // why it could not be checked, or why it is not finished
	Still   []Seen    `json:"stillPresent,omitempty"`  // of what the plan is for
	New     []Seen    `json:"new,omitempty"`           // errors that were not present, or not seen, when the plan was made
	Others  []Seen    `json:"notPartOfPlan,omitempty"` // what was present and the plan is not for
	Waiting []Seen    `json:"inProgress,omitempty"`    // conditions that hold and are expected until a time
	Unknown []Seen    `json:"unknown,omitempty"`       // of what the plan is for
	Unread  []string  `json:"notRead,omitempty"`       // what any answer rests on
	Until   time.Time `json:"until,omitzero"`          // of InProgress
	Verdict string    `json:"verdict,omitempty"`       // of the whole diagnosis
}

// Seen is a finding of the diagnosis after the run.
type Seen struct {
	fault.Key
	Title string `json:"title"`
	Note  string `json:"note,omitempty"` // what it is an effect of, why it is unknown, until when it is expected
}

// String renders the finding on one line.
func (s Seen) String() string {
	text := s.Title
	if s.Fault != "" {
		text = fmt.Sprintf("%s at %s", s.Fault, s.Subject)
		if s.Title != "" {
			text += ": " + s.Title
		}
	}
	if s.Note != "" {
		text += " (" + s.Note + ")"
	}
	return text
}

// ended is how the steps of a run ended, by the journal.
type ended string

const (
	endFinished ended = "finished"
	endUndone   ended = "undone"
	endNothing  ended = "nothing" // no step has changed anything
	endPartly   ended = "partly"
)

// compare judges the cluster after a run. known reports which faults were evaluated.
func compare(p *Plan, end ended, d *diagnosis.Diagnosis, known func(string) bool) Outcome {
	o := Outcome{Verdict: string(d.Verdict.Class)}
	if d.Verdict.Reason != "" {
		o.Verdict += ": " + d.Verdict.Reason
	}
	if d.Cluster.ID != p.Cluster.ID {
		o.State, o.Reason = NotChecked, "the cluster's id could not be read"
		if d.Cluster.ID != "" {
			o.Reason = fmt.Sprintf("this is cluster %s, the plan is for %s", d.Cluster.ID, p.Cluster.ID)
		}
		return o
	}
	o.Unread = diagnose.Unread(d)
	o.ofPlan(p, d, known)
	o.besides(p, end, d)
	if end == endFinished {
		o.hosts(p, d)
	}
	o.decide(end, d)
	return o
}

// ofPlan finds what the plan is for among the findings.
func (o *Outcome) ofPlan(p *Plan, d *diagnosis.Diagnosis, known func(string) bool) {
	findings := map[fault.Key]diagnosis.Finding{}
	unlisted := map[string]diagnosis.Finding{} // by fault: its subjects could not be listed
	for _, f := range d.Findings {
		findings[f.Key()] = f
		if f.Outcome == fault.Unknown && f.Subject.Name == fault.Unnamed {
			unlisted[f.Fault] = f
		}
	}
	for _, k := range wanted(p) {
		f, found := findings[k]
		if !found {
			f, found = unlisted[k.Fault]
		}
		switch {
		case !found && !known(k.Fault):
			o.Unknown = append(o.Unknown, Seen{Key: k, Note: "the catalog of this run has no such fault"})
		case !found && k.Subject.Kind == fault.CSR: // requests are deleted after an hour
		case !found:
			o.Unknown = append(o.Unknown, Seen{Key: k, Note: fmt.Sprintf("%s was no longer found", k.Subject)})
		case f.Outcome == fault.Present:
			o.Still = append(o.Still, Seen{Key: k, Title: f.Title, Note: effectOf(k, d)})
		case f.Outcome == fault.Unknown:
			o.Unknown = append(o.Unknown, Seen{Key: k, Title: f.Title, Note: f.Reason})
		case f.Waiting():
			o.Waiting = append(o.Waiting, Seen{Key: k, Title: f.Title, Note: expectedUntil(f.Until)})
			o.until(f.Until)
		}
	}
}

// wanted are the faults that must be absent. The root is one of them, whatever the plan says.
func wanted(p *Plan) []fault.Key {
	list := slices.Clone(p.Before.For)
	if !slices.Contains(list, p.Root) {
		list = append([]fault.Key{p.Root}, list...)
	}
	return list
}

// besides finds the errors that are new, and those that the plan was never for. Where
// nothing is repaired, further effects of what was present before are not new.
func (o *Outcome) besides(p *Plan, end ended, d *diagnosis.Diagnosis) {
	ours, others := set(wanted(p)), set(p.Before.Others, p.Before.Also)
	alone := map[fault.Key]bool{} // roots, and what has no known cause
	for _, r := range d.Roots {
		for _, k := range r.Keys() {
			alone[k] = true
		}
	}
	for _, u := range d.Unexplained {
		alone[u.Key] = true
	}
	for _, f := range d.Findings {
		k := f.Key()
		if f.Outcome != fault.Present || ours[k] {
			continue
		}
		seen := Seen{Key: k, Title: f.Title, Note: effectOf(k, d)}
		cause, explained := causeOf(k, d)
		switch {
		case others[k] && alone[k]:
			o.Others = append(o.Others, seen)
		case others[k]:
		case (end == endUndone || end == endNothing) && explained && (ours[cause] || others[cause]):
			o.Still = append(o.Still, seen)
		case f.Severity == fault.Error:
			o.New = append(o.New, seen)
		}
	}
}

// hosts checks the hosts that the plan's steps wait for: each must have joined.
func (o *Outcome) hosts(p *Plan, d *diagnosis.Diagnosis) {
	for _, s := range p.Steps {
		if a, _ := actionOf(s.Action); !a.joins {
			continue
		}
		for _, h := range d.Hosts {
			if h.Name != s.Args.Host || h.State == diagnosis.StagePassed {
				continue
			}
			seen := Seen{Key: fault.Key{Subject: fault.Subject{Kind: fault.Host, Name: h.Name}},
				Title: fmt.Sprintf("host %s: %s is %s", h.Name, h.Stage, h.State), Note: h.Why}
			switch h.State {
			case diagnosis.StageWaiting:
				o.Waiting = append(o.Waiting, seen)
			case diagnosis.StageUnknown:
				o.Unknown = append(o.Unknown, seen)
			case diagnosis.StageFailed:
				o.Still = append(o.Still, seen)
			}
		}
	}
}

// decide sets the state. Unknown is never fine.
func (o *Outcome) decide(end ended, d *diagnosis.Diagnosis) {
	blind := len(o.Unknown)+len(o.Unread) > 0
	switch {
	case blind:
		o.Reason = strings.Join(firstFive(slices.Concat(o.Unread, texts(o.Unknown))), "; ")
	case end == endPartly:
		o.Reason = "not all steps are done"
	case end == endUndone:
		o.Reason = "everything that the plan did was undone"
	}
	switch {
	case end == endNothing && !blind:
		o.State = NothingDone
	case end == endUndone && !blind && len(o.New) == 0:
		o.State = Undone
	case end != endUndone && len(o.Still) > 0 && end != endNothing:
		o.State = PartlyDone
	case len(o.Unknown) > 0:
		o.State = NotChecked
	case len(o.New) > 0:
		o.State = PartlyDone
	case blind:
		o.State = NotChecked
	case end == endPartly:
		o.State = PartlyDone
	case len(o.Waiting) > 0 || d.Verdict.Class == diagnosis.Settling:
		o.State = InProgress
		o.until(d.Verdict.Until)
	default:
		o.State = Repaired
	}
}

func (o *Outcome) until(t time.Time) {
	if t.After(o.Until) {
		o.Until = t
	}
}

// causeOf returns the case of a root that explains a finding.
func causeOf(k fault.Key, d *diagnosis.Diagnosis) (fault.Key, bool) {
	for _, r := range d.Roots {
		for i := range r.Cases {
			if c := &r.Cases[i]; c.Key != k && slices.Contains(c.Explains, k) {
				return c.Key, true
			}
		}
	}
	return fault.Key{}, false
}

func effectOf(k fault.Key, d *diagnosis.Diagnosis) string {
	if cause, ok := causeOf(k, d); ok {
		return fmt.Sprintf("an effect of %s at %s", cause.Fault, cause.Subject)
	}
	return ""
}

func expectedUntil(t time.Time) string { return "expected until " + t.UTC().Format(time.RFC3339) }

func texts(list []Seen) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.String())
	}
	return out
}

// Headline is the state in a few words, for a heading.
func (o Outcome) Headline() string {
	switch o.State {
	case Repaired:
		return "repaired"
	case PartlyDone:
		if len(o.Still) > 0 {
			return "partly done, still present"
		}
		if len(o.New) > 0 {
			return "partly done, with a new error"
		}
		return "partly done"
	case InProgress:
		if o.Until.IsZero() {
			return "in progress"
		}
		return fmt.Sprintf("in progress (%s)", expectedUntil(o.Until))
	case Undone:
		return "undone (rolled back)"
	case NothingDone:
		return "nothing was changed"
	}
	return "could not check"
}

// firstFive keeps the first five of many, for one line.
func firstFive(list []string) []string {
	const most = 5
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}

// String renders the outcome on one line, as the history shows it.
func (o Outcome) String() string {
	var parts []string
	add := func(what string, list []string) {
		if len(list) > 0 {
			parts = append(parts, what+strings.Join(list, ", "))
		}
	}
	short := func(list []Seen) []string {
		var out []string
		for _, s := range list {
			if s.Fault == "" {
				out = append(out, s.Title)
				continue
			}
			out = append(out, fmt.Sprintf("%s at %s", s.Fault, s.Subject))
		}
		return firstFive(out)
	}
	head := o.Headline()
	switch o.State {
	case PartlyDone:
		head = "partly done"
	case NotChecked:
		head += ": " + o.Reason
	}
	parts = append(parts, head)
	if o.State == PartlyDone && len(o.Still)+len(o.New) == 0 && o.Reason != "" {
		parts = append(parts, o.Reason)
	}
	add("still present: ", short(o.Still))
	add("new: ", short(o.New))
	if o.State == InProgress {
		add("in progress: ", short(o.Waiting))
	}
	if o.State == PartlyDone {
		add("could not check: ", append(short(o.Unknown), o.Unread...))
	}
	add("not part of this plan, still present: ", short(o.Others))
	text := parts[0]
	if len(parts) > 1 {
		text += ", " + strings.Join(parts[1:], "; ")
	}
	return text
}
