package command

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/preflight"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/session"
)

// Plan is a plan of which only the files are read: no network and no BMC is asked.
type Plan struct {
	FS      fs.FS  // the directory
	Dir     string // what the user calls it
	Release string // that will be installed, as 4.18; "": not known
}

// CheckPlan answers `preflight DIR` in both forms.
func CheckPlan(ctx context.Context, frame *cmdutil.App, o session.Options, p Plan, forms *cmdutil.Forms) (err error) {
	if err := checkRelease(p.Release); err != nil {
		return err
	}
	a := &app{App: frame.Quieter(), source: o}
	s, err := a.openPlanIn(p.FS, p.Dir, false)
	if err != nil {
		return err
	}
	s.Release(p.Release)
	r, err := a.session().OpenOver(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	call := preflightFlags{dir: p.Dir, release: p.Release}
	call.bmc.timeout = bmc.DefaultLimit
	return forms.Answer(ctx, r, cmdutil.Question{Call: a.preflightCall(call), Undecided: preflight.Undecided,
		Diagnose: func(ctx context.Context) (*diagnosis.Diagnosis, error) {
			return checkPlan(ctx, r)
		}})
}
