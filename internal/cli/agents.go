package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/agents"
	agentscommand "github.com/rollcall-project/rollcall/internal/agents/command"
	"github.com/rollcall-project/rollcall/internal/browse"
	check "github.com/rollcall-project/rollcall/internal/check/command"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	preflight "github.com/rollcall-project/rollcall/internal/preflight/command"
	"github.com/rollcall-project/rollcall/internal/session"
	workers "github.com/rollcall-project/rollcall/internal/workers/command"
)

// mcpCommand is `mcp`.
func (a *app) mcpCommand() *cobra.Command {
	return agentscommand.Command(a.App, readVersion().Version, func(frame *cmdutil.App, o session.Options) agents.Answers {
		return agentAnswers{app: &app{App: frame, source: o, demos: a.demos}}
	})
}

// agentAnswers are the answers of the command line in both forms, for assistants.
type agentAnswers struct{ *app }

var _ agents.Answers = agentAnswers{}

// over is the command line over other options, with an answer in both forms.
func (x agentAnswers) over(archive string) (session.Options, *cmdutil.Forms) {
	o := x.source
	if archive != "" {
		o.From, o.Kube = []string{archive}, cmdutil.Options().Kube
	}
	return o, x.Forms()
}

// given is an answer that was printed in both forms.
func given(f *cmdutil.Forms, err error) (agents.Answer, error) {
	if err != nil {
		return agents.Answer{}, err
	}
	return agents.Answer{Text: f.Text(), Data: f.Data()}, nil
}

// Diagnose implements agents.Answers.
func (x agentAnswers) Diagnose(ctx context.Context, q agents.Diagnosis) (_ agents.Answer, err error) {
	o, forms := x.over(q.Archive)
	r, err := x.Session(o).Open(ctx)
	if t := (*session.TextError)(nil); errors.As(err, &t) && q.Subject == "" {
		return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
			return (&app{App: f, source: o}).scanned(ctx, format, t)
		}))
	}
	if err != nil {
		return agents.Answer{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if !q.Hosts {
		return given(forms, forms.Answer(ctx, r, cmdutil.Question{Subject: q.Subject}))
	}
	d, err := r.Diagnose(ctx)
	if err != nil {
		return agents.Answer{}, err
	}
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		return (&app{App: f, source: o}).printRoll(ctx, format, d, r, q.All)
	}))
}

// Requests implements agents.Answers.
func (x agentAnswers) Requests(ctx context.Context, q agents.Requests) (agents.Answer, error) {
	o, forms := x.over(q.Archive)
	return given(forms, workers.ListRequests(ctx, x.App, o, q.Node, q.All, forms))
}

// Preflight implements agents.Answers.
func (x agentAnswers) Preflight(ctx context.Context, q agents.Plan) (agents.Answer, error) {
	o, forms := x.over("")
	return given(forms, preflight.CheckPlan(ctx, x.App, o, preflight.Plan{FS: q.FS, Dir: q.Dir, Release: q.Release}, forms))
}

// Check implements agents.Answers.
func (x agentAnswers) Check(ctx context.Context, q agents.Command) (agents.Answer, error) {
	o, forms := x.over(q.Archive)
	return given(forms, check.CheckForms(ctx, x.App, o, q.Text, forms))
}

// Scan implements agents.Answers.
func (x agentAnswers) Scan(ctx context.Context, text string) (agents.Answer, error) {
	o, forms := x.over("")
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		one := &app{App: f, source: o}
		r, c, err := one.readText(ctx, "the text", bytes.NewReader([]byte(text)))
		if err != nil {
			return err
		}
		return one.printScan(format, "", r, c)
	}))
}

// Objects implements agents.Answers. What is missing is part of the answer, in both forms.
func (x agentAnswers) Objects(ctx context.Context, q agents.Objects) (_ agents.Answer, err error) {
	o, forms := x.over(q.Archive)
	at, closeAll, err := (&app{App: x.App, source: o}).openArchive(ctx, browse.Needs([]string{q.Kind})...)
	if err != nil {
		return agents.Answer{}, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	k, err := at.Find(ctx, q.Kind)
	if err != nil {
		return agents.Answer{}, err
	}
	found, err := at.Get(ctx, browse.Query{Kind: k, Name: q.Name, Namespace: q.Namespace, Selector: q.Selector, Whole: true})
	if err != nil {
		return agents.Answer{}, err
	}
	missing := words(at.Missing(found))
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		one := &app{App: f, source: o}
		if format != "text" {
			items := []any{}
			for _, o := range found.Objects {
				items = append(items, o.Content)
			}
			return one.PrintData(format, map[string]any{"items": items, "missing": missing})
		}
		if len(found.Objects) == 0 && missing == "" {
			missing = noResources(found)
		}
		return errors.Join(one.printObjects("table", at, []browse.Found{found}), one.say(missing))
	}))
}

// Logs implements agents.Answers.
func (x agentAnswers) Logs(ctx context.Context, q agents.Logs) (_ agents.Answer, err error) {
	if (q.Pod == "") == (q.Host == "") {
		return agents.Answer{}, errors.New("arguments pod and host: give one of them")
	}
	o, forms := x.over(q.Archive)
	log := browse.Log{Pod: q.Pod, Namespace: q.Namespace, Container: q.Container, Previous: q.Previous, Host: q.Host, Unit: q.Unit,
		Tail: cmp.Or(q.Tail, agentTail)}
	at, closeAll, err := (&app{App: x.App, source: o}).openArchive(ctx, log.Needs()...)
	if err != nil {
		return agents.Answer{}, err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	lines := []browse.Line{}
	wrong := at.Lines(ctx, log, func(l browse.Line) error {
		lines = append(lines, l)
		return nil
	})
	if u := (*browse.NotAllError)(nil); wrong != nil && !errors.As(wrong, &u) {
		return agents.Answer{}, wrong
	}
	missing := words(wrong)
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		one := &app{App: f, source: o}
		if format != "text" {
			return one.PrintData(format, map[string]any{"lines": lines, "missing": missing})
		}
		for _, l := range lines {
			if err := one.printLine(one.IO.Out, l); err != nil {
				return err
			}
		}
		return one.say(missing)
	}))
}

// agentTail is how many lines of a log an assistant gets that does not say how many.
const agentTail = 200

// words are those of an error, "" where there is none.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// say prints what is missing, where an assistant sees it.
func (a *app) say(missing string) error {
	if missing == "" {
		return nil
	}
	_, err := fmt.Fprintln(a.IO.Out, a.CleanLines(missing))
	return err
}

// Explain implements agents.Answers.
func (x agentAnswers) Explain(ctx context.Context, words string) (agents.Answer, error) {
	o, forms := x.over("")
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		return (&app{App: f, source: o}).explain(ctx, format, words)
	}))
}
