package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// wall is the system's clock with the command line's idea of now.
type wall struct {
	repair.SystemClock
	now func() time.Time
}

func (w wall) Now() time.Time { return w.now() }

// fresh evaluates on a cluster that is read again each time.
type fresh struct{ app *app }

// Evaluate implements repair.Evaluator.
func (f fresh) Evaluate(ctx context.Context, k fault.Key) (_ diagnosis.Finding, err error) {
	r, err := f.app.session().Open(ctx)
	if err != nil {
		return diagnosis.Finding{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	known, ok := r.Catalog.Fault(k.Fault)
	if !ok {
		return diagnosis.Finding{}, fmt.Errorf("there is no fault %q in this version's catalog", k.Fault)
	}
	engine, err := diagnose.New(r.Catalog, all.All(), relation.Relater{}, nil, f.app.Log)
	if err != nil {
		return diagnosis.Finding{}, err
	}
	w := facts.NewWorld(r.Reader, r.Now)
	info, err := cluster.Describer{}.Describe(ctx, w)
	if err != nil {
		return diagnosis.Finding{}, fmt.Errorf("describe cluster: %w", err)
	}
	if info.Version == "" { // which faults there can be depends on it
		return diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Unknown, Title: known.Title, Severity: known.Severity,
			Reason: "ClusterVersion could not be read"}, nil
	}
	w.Version, w.Topology, w.Installed = info.Version, info.Topology, info.Began
	return engine.Evaluate(ctx, w, known, k.Subject)
}

// Diagnose implements repair.Evaluator: the whole diagnosis, as `fix plan` makes it.
func (f fresh) Diagnose(ctx context.Context) (_ *diagnosis.Diagnosis, err error) {
	r, err := f.app.session().Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Diagnose(ctx)
}

// LastServed implements repair.Served from the logs of the machine config servers.
func (f fresh) LastServed(ctx context.Context, pool string) (_ time.Time, _ string, err error) {
	r, err := f.app.session().Open(ctx)
	if err != nil {
		return time.Time{}, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	line, found, err := mcs.LastServed(ctx, facts.NewWorld(r.Reader, r.Now), pool)
	if err != nil || !found {
		return time.Time{}, "", err
	}
	return line.Time, strings.TrimSpace(line.Text), nil
}
