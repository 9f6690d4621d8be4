package cmdutil

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/answer/prom"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/paste"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// ReportOptions says how an answer looks and how its commands are written.
func (a *App) ReportOptions(r *session.Run) answer.Options {
	o := answer.Options{
		Style: a.Style(), Command: a.Name, Docs: a.docs(), Source: a.WithoutSecrets(r.Session.Again()),
		Answer: r.Session.AnswerFlags(), NoHeaders: a.Output.NoHeaders,
		Findings: a.Output.Findings, MarkLogged: a.Output.MarkLogged,
		Refused: map[string]answer.Remedy{}, Catalog: r.Catalog,
	}
	for _, known := range r.Catalog.Refused {
		o.Refused[known.ID] = answer.Remedy{Title: known.Title, Happens: known.Happens, When: known.When, Instead: known.Instead}
	}
	return o
}

// Question is what a command asks of a run.
type Question struct {
	Subject  string                                                               // "": the whole cluster
	Diagnose func(context.Context) (*diagnosis.Diagnosis, error)                  // nil: the run's own diagnosis
	Changed  func(context.Context, *diagnosis.Diagnosis) (*answer.Changed, error) // since a baseline; nil: none was given
	Call     string                                                               // as in answer.Options
	// Undecided reports an answer that leaves a question open; nil: diagnose.Undecided.
	Undecided func(*diagnosis.Diagnosis) bool
}

// Answer diagnoses, prints and returns the exit code as an error.
func (a *App) Answer(ctx context.Context, r *session.Run, format string, q Question) error {
	var about *fault.Subject
	if q.Subject != "" {
		s, err := session.ParseSubject(q.Subject)
		if err != nil {
			return err
		}
		about = &s
	}
	if q.Diagnose == nil {
		q.Diagnose = r.Diagnose
	}
	d, err := q.Diagnose(ctx)
	if err != nil {
		return err
	}
	shown := Shown{Diagnosis: d, Whole: d, Call: q.Call}
	if q.Changed != nil {
		if shown.Changed, err = q.Changed(ctx, d); err != nil {
			return err
		}
	}
	a.AcceptNotes(r, d)
	if about != nil {
		s, err := r.Resolve(ctx, d, *about)
		switch {
		case err != nil && d.Verdict.Class == diagnosis.CannotCheck: // the answer is the same for each subject
		case errors.As(err, new(*session.NotCollectedError)):
			return &ExitError{Code: ExitUndecided, Err: err}
		case err != nil:
			return err
		default:
			shown.About = &s
			shown.Diagnosis = focus(d, s, r.Related(ctx, d, s))
			shown.Stands = diagnose.About(shown.Diagnosis, s)
		}
	}
	if err := a.PrintAnswer(ctx, format, r, shown); err != nil {
		return err
	}
	if q.Undecided != nil {
		return exitOf(d, q.Undecided(d), a.Output.FailOn)
	}
	if shown.About != nil {
		return exitOf(shown.Diagnosis, shown.Stands.State == diagnosis.AboutOpen, a.Output.FailOn)
	}
	return AnswerExit(d, false, a.Output.FailOn)
}

// Shown is an answer as it is printed.
type Shown struct {
	Diagnosis *diagnosis.Diagnosis
	Whole     *diagnosis.Diagnosis // Diagnosis, before it was narrowed to a subject
	About     *fault.Subject       // nil: it is not narrowed
	Stands    diagnosis.About      // how that subject stands
	Changed   *answer.Changed      // since a baseline; nil: none was given

	Call string // these two as in answer.Options
	Skip []evidence.SupplyKind
}

// PrintAnswer prints an answer in a format.
func (a *App) PrintAnswer(ctx context.Context, format string, r *session.Run, s Shown) error {
	o := a.ReportOptions(r)
	o.Changed, o.Call, o.Skip = s.Changed, s.Call, s.Skip
	o.Subject, o.Plan = s.About, a.PlanCommand(ctx, r, s.Whole)
	if s.About != nil {
		o.Whole, o.About, o.Row = s.Whole, s.Stands, row(ctx, r, *s.About, s.Whole.Now)
	} else if err := AddMessages(ctx, r, s.Whole, &o); err != nil {
		return err
	}
	if format == "markdown" {
		o.Done = a.Repairs(s.Whole.Cluster.ID)
	}
	switch format {
	case "html":
		return answer.HTML(a.IO.Out, s.Diagnosis, o)
	case "prom":
		return prom.Write(a.IO.Out, s.Diagnosis)
	}
	return answer.Answer(a.IO.Out, format, s.Diagnosis, o)
}

// AcceptNotes prints what is to be said about entries: those that expired, count for long or
// accept nothing in this answer, which is whole.
func (a *App) AcceptNotes(r *session.Run, d *diagnosis.Diagnosis) {
	if r.Accept == nil || a.Quiet {
		return
	}
	for _, n := range r.Accept.Notes(d) {
		kind := "note"
		if n.Warning {
			kind = "warning"
		}
		fmt.Fprintf(a.IO.Err, "%s: %s: %s\n", a.Name, kind, a.CleanText(n.Text))
	}
}

// NothingError says what to do where nothing could be read. work is what the command does with
// the source, up to its name; again is how the user is told to repeat it.
func (a *App) NothingError(r *session.Run, work, again, why, kept string) error {
	return fmt.Errorf("%s %s %s: nothing of the cluster could be read (%s); %s. "+
		"Check the network path to the API with `%s diagnose` and the permissions with `%s can-i`, then %s",
		work, r.Source.Kind, r.Source.Name, why, kept, a.Name, a.Name, again)
}

// NothingRead says why nothing of a cluster could be read, "" where something was, and
// whether there are answers of probes all the same.
func NothingRead(d *diagnosis.Diagnosis) (why string, probed bool) {
	for _, c := range d.Coverage {
		read := c.State == evidence.Read || c.State == evidence.Empty || c.State == evidence.Partial && c.Count > 0
		switch {
		case c.Need == evidence.APIProbes.String() || c.Need == evidence.MCSProbes.String():
			probed = probed || read
		case read:
			return "", probed
		case why == "" && !strings.HasPrefix(c.Reason, string(evidence.NotAsked)) && !strings.HasPrefix(c.Reason, string(evidence.NotCollected)):
			why = c.Reason
		}
	}
	return cmp.Or(why, "the source holds none of what is asked for"), probed
}

// AddMessages adds what the lines of texts show to an answer: the matches of scan. Of a log of
// openshift-install its end counts, as it may also tell of runs before: where the log ends in a wait, the
// lines of its last run show whether the wait can end well.
func AddMessages(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis, o *answer.Options) error {
	sources := r.Pasted
	switch in := d.Cluster.Installer; {
	case in == nil:
		sources = slices.Concat(sources, r.Logs)
	case in.Ended == "running":
		sources = slices.Clone(sources)
		for _, s := range r.Logs {
			sources = append(sources, lastRun(s, r.Session.Clock()))
		}
	}
	for _, s := range r.Screens {
		sources = append(slices.Clip(sources), s.Text)
	}
	x, texts, err := r.Session.MessagesOf(ctx, withoutOthers(sources, d.Cluster.Others))
	if err != nil || len(texts) == 0 {
		return err
	}
	if o.Catalog, err = r.Session.WholeCatalog(); err != nil {
		return err
	}
	o.Messages = message.Merge(texts)
	x.Join(o.Messages, session.Seen(d))
	return nil
}

// installerRuns is what openshift-install writes when it begins (openshift/installer:cmd/openshift-install/version.go,
// and the first debug line of each command in main.go).
var installerRuns = []byte("OpenShift Installer ")

// lastRun is a text with empty lines instead of what is before the last run of openshift-install.
func lastRun(s *paste.Source, clock time.Time) *paste.Source {
	text := s.Text()
	at := bytes.LastIndexByte(text[:max(0, bytes.LastIndex(text, installerRuns))], '\n') + 1
	if at == 0 {
		return s
	}
	return paste.Read(s.Name(), append(bytes.Repeat([]byte("\n"), bytes.Count(text[:at], []byte("\n"))), text[at:]...), clock)
}

// withoutOthers drops the journals of machines with another system: no program of a cluster writes there. A locator
// has the last part of a file's name, so nothing is dropped where two files have the same.
func withoutOthers(sources []*paste.Source, others []diagnosis.OtherSystem) []*paste.Source {
	named := make(map[string]int)
	for _, s := range sources {
		named[filepath.Base(s.Name())]++
	}
	return slices.DeleteFunc(slices.Clone(sources), func(s *paste.Source) bool {
		base := filepath.Base(s.Name())
		return slices.ContainsFunc(others, func(o diagnosis.OtherSystem) bool {
			return o.Source == s.Name() || o.Source == base && named[base] == 1
		})
	})
}
