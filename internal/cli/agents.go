package cli

import (
	"bytes"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/agents"
	agentscommand "github.com/rollcall-project/rollcall/internal/agents/command"
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

// Scan implements agents.Answers.
func (x agentAnswers) Scan(ctx context.Context, text string) (agents.Answer, error) {
	o, forms := x.over("")
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		one := &app{App: f, source: o}
		r, c, err := one.readText(ctx, "the text", bytes.NewReader([]byte(text)))
		if err != nil {
			return err
		}
		return one.printScan(format, r, c)
	}))
}

// Explain implements agents.Answers.
func (x agentAnswers) Explain(ctx context.Context, words string) (agents.Answer, error) {
	o, forms := x.over("")
	return given(forms, forms.Each(func(f *cmdutil.App, format string) error {
		return (&app{App: f, source: o}).explain(ctx, format, words)
	}))
}
