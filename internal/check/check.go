package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// Question is a command and the state in which it is judged.
type Question struct {
	Text      string
	World     *facts.World
	Diagnosis *diagnosis.Diagnosis
	Catalog   *fault.Catalog
	// Whole says that a list of the source is that of the whole cluster: a live one, and no
	// archive of some namespaces.
	Whole bool
	Asked time.Time // when the question is asked; zero where the age of the state does not matter
	Name  string    // how the user calls the program
	Again string    // the flags that name the same source
	// HowToGet is the command that gets evidence, "" where none is known to.
	HowToGet func(evidence.Supply) string
}

// IsCommand reports whether a text has a command of a program that is known.
func IsCommand(text string) bool {
	_, ok := shellcommand.Parse(text)
	return ok
}

// Answer judges a text of commands.
func Answer(ctx context.Context, q *Question) (*Report, error) {
	calls, _ := shellcommand.Calls(q.Text)
	l := &look{w: q.World, d: q.Diagnosis, whole: q.Whole, asked: q.Asked, howToGet: q.HowToGet}
	r := &Report{APIVersion: "rollcall.dev/v1alpha1", Kind: "CommandCheck", Source: Source{q.Diagnosis.Source.Kind, q.Diagnosis.Source.Name},
		Now: q.Diagnosis.Now, Command: strings.TrimSpace(q.Text), Verdict: Reads, Steps: []*Step{}, Instead: []string{}, Verify: []string{}, Cause: []string{}}
	for i := range calls {
		s, err := l.step(ctx, &calls[i])
		if err != nil {
			return r, err
		}
		r.Steps = append(r.Steps, s)
	}
	q.refuse(r)
	q.known(r)
	if len(calls) == 0 {
		r.Verdict, r.Why = Unknown, "no command of this text can be read"
	}
	for i := range r.Steps {
		if s := r.Steps[i]; i == 0 || s.Verdict.rank() > r.Verdict.rank() {
			r.Verdict, r.Why = s.Verdict, s.Why
		}
	}
	q.advise(r)
	if !q.Whole {
		r.age = q.Asked.Sub(q.Diagnosis.Now)
	}
	return r, nil
}

// step judges one call.
func (l *look) step(ctx context.Context, c *shellcommand.Call) (*Step, error) {
	s := &Step{Command: cmp.Or(c.Part, c.Text), line: c.Text, Objects: []string{}, Evidence: []evidence.Item{}, Missing: []Missing{}, Sources: []fault.Ref{}}
	list := Judgments()
	i := slices.IndexFunc(list, func(j Judgment) bool { return j.Matches(c) })
	switch {
	case c.Effect == shellcommand.Reads && (i < 0 || dryRun(c)):
		s.Verdict, s.Why = Reads, "it changes nothing"
		if whole, ok := shellcommand.Parse(s.Command); ok && whole.Effect == shellcommand.Reads && whole.Does != "" {
			s.Why = "it " + whole.Does
		}
		return s, nil
	case i < 0:
		s.Verdict, s.Why = Unknown, "what this command does to a cluster is not known here"
		if near := c.NearVerb(); near != "" {
			typed := strings.Join(c.Args[:len(strings.Fields(near))], " ")
			s.Why = fmt.Sprintf("%[1]s %[2]s is not known here; did you mean %[1]s %[3]s?", c.Program, typed, near)
			return s, nil
		}
		if len(c.Args) == 0 && c.Verbs() {
			s.Why = fmt.Sprintf("%s alone does nothing: give the whole command", c.Program)
			return s, nil
		}
		s.Missing = append(s.Missing, Missing{What: "a judgment about " + strings.Join(append([]string{c.Program}, c.Args[:min(2, len(c.Args))]...), " ")})
		return s, nil
	}
	j := &list[i]
	s.Judgment, s.Sources = j.ID, append(s.Sources, j.Sources...)
	if why, proof := l.quorumLost(ctx); why != "" && !j.Local {
		s.Verdict, s.Why, s.Evidence = Unsafe, why, append(s.Evidence, proof...)
		s.instead = []string{"restore the quorum first; nothing else helps", "rollcall explain etcd-no-quorum"}
		return s, nil
	}
	d, err := j.Decide(ctx, l, c)
	if err != nil {
		return s.unsure(j, err, l.howToGet)
	}
	s.take(d)
	return s, nil
}

func dryRun(c *shellcommand.Call) bool {
	v, ok := c.Flag("--dry-run")
	return ok && v != "none"
}

// take fills in a decision.
func (s *Step) take(d *decision) {
	s.Verdict, s.Why, s.Changes, s.Lost, s.Undo, s.instead, s.verify = d.verdict, d.why, d.changes, d.lost, d.undo, d.instead, d.verify
	s.Objects, s.Evidence = append(s.Objects, d.objects...), append(s.Evidence, d.evidence...)
}

// unsure says that something is missing to decide. What cannot be undone stays so.
func (s *Step) unsure(j *Judgment, err error, howToGet func(evidence.Supply) string) (*Step, error) {
	var gone *notThere
	var open *undecided
	u, unavailable := evidence.AsUnavailable(err)
	s.Verdict = Unknown
	switch {
	case errors.As(err, &gone), errors.As(err, &open):
		s.Why, s.Missing = err.Error(), append(s.Missing, Missing{What: err.Error()})
		if open != nil {
			s.Missing[0].Supply = open.supply
		}
		if j.Final != "" && gone == nil {
			s.Verdict, s.Why = Person, j.Final+"; "+err.Error()
		}
	case unavailable:
		m := Missing{What: u.Error()}
		if supply := evidence.SupplyOf(u); howToGet != nil && !supply.IsZero() {
			m.Supply = howToGet(supply)
		}
		s.Missing = append(s.Missing, m)
		if s.Why = "not read: " + u.Error(); j.Final != "" {
			s.Verdict, s.Why = Person, j.Final+"; not read: "+u.Error()
		}
	default:
		return s, err
	}
	return s, nil
}

// refuse marks what is known as unsafe advice. What a judgment could not decide is then unsafe.
func (q *Question) refuse(r *Report) {
	refused := shellcommand.Refused(q.Text, q.Catalog.Refused)
	if len(refused) == 0 {
		return
	}
	worst := 0
	for i := range r.Steps {
		if r.Steps[i].Verdict.rank() > r.Steps[worst].Verdict.rank() {
			worst = i
		}
	}
	s := r.Steps[worst]
	if s.Refused = refused[0].ID; s.Verdict != Unknown {
		return
	}
	s.Verdict = Unsafe
	s.Why = fmt.Sprintf("it is known as unsafe advice (%s), and nothing here shows that it is safe: %s", refused[0].Title, s.Why)
	s.instead = append(s.instead, refused[0].Instead)
}

// known fills in what the catalog knows of the commands in any state.
func (q *Question) known(r *Report) {
	for i := range r.Steps {
		s := r.Steps[i]
		if s.Verdict == Reads {
			continue
		}
		for _, n := range shellcommand.Notes(s.line, q.Catalog.Commands) {
			if n.Destroys == nil {
				continue
			}
			if s.Changes == "" {
				s.Changes = n.Destroys.Changes
			}
			if s.Lost == "" {
				s.Lost = n.Destroys.Lost
			}
			if len(s.instead) == 0 && s.Verdict != Safe {
				s.instead = append(s.instead, n.Destroys.Instead)
			}
			s.Sources = append(s.Sources, n.Refs...)
			break
		}
	}
}

// advise says what to do instead, and how to see that it worked.
func (q *Question) advise(r *Report) {
	add := func(list *[]string, more ...string) {
		for _, m := range more {
			if m != "" && !slices.Contains(*list, m) {
				*list = append(*list, m)
			}
		}
	}
	for _, s := range r.Steps {
		add(&r.Instead, s.instead...)
		add(&r.Verify, s.verify...)
		if s.Refused != "" && s.Verdict != Safe {
			add(&r.Instead, q.Name+" explain "+s.Refused)
		}
	}
	for _, root := range q.Diagnosis.Roots {
		for _, c := range root.Cases[:min(1, len(root.Cases))] {
			add(&r.Cause, c.Title)
		}
	}
	diagnose := strings.TrimSpace(q.Name + " diagnose " + q.Again)
	if r.Verdict != Reads && r.Verdict != Safe {
		add(&r.Instead, diagnose)
	}
	if r.Verdict == Safe || r.Verdict == Person {
		add(&r.Verify, diagnose)
	}
}
