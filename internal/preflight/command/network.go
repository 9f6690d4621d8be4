package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/preflight/netcheck"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/session"
)

// withNetwork adds what the network of the plan answers: asked now, and in files of other
// machines.
func (a *app) withNetwork(ctx context.Context, s *plan.Source, o preflightFlags) (evidence.Source, error) {
	if a.source.ProbeFrom != "" && !o.network {
		return nil, session.Usagef("--probe-from %s: with --network", a.source.ProbeFrom)
	}
	if !o.network && len(o.answers) == 0 {
		return s, nil
	}
	plans, err := s.List(ctx, evidence.Plans, "")
	if err != nil {
		return nil, err
	}
	var all []evidence.Object
	var vantages []string
	var machines netcheck.Machines
	for _, path := range o.answers {
		list, err := readAnswers(path)
		if err != nil {
			return nil, fmt.Errorf("--network-answers %s: %w", path, err)
		}
		if err := netcheck.Fit(plans, list, a.IO.Clock()); err != nil {
			return nil, fmt.Errorf("--network-answers %s: %w; get new answers: rollcall-host preflight -f FILE > %s, with all files "+
				"of this plan", path, err, filepath.Base(path))
		}
		if list, err = machines.Named(list); err != nil {
			return nil, fmt.Errorf("--network-answers %s: %w", path, err)
		}
		all, vantages = append(all, list...), append(vantages, path)
	}
	if o.network {
		list, from, err := a.askNetwork(ctx, s, plans)
		if err == nil {
			list, err = machines.Named(list)
		}
		if err != nil {
			return nil, err
		}
		all, vantages = append(all, list...), append(vantages, from)
	}
	return netcheck.Over(s, all, strings.Join(vantages, ", ")), nil
}

func (a *app) askNetwork(ctx context.Context, s *plan.Source, plans []evidence.Object) (list []evidence.Object, vantage string, _ error) {
	from, err := a.session().ProbesFrom(ctx)
	if err != nil {
		return nil, "", err
	}
	vantage = "this machine"
	if from != nil {
		vantage = from.Name
	}
	defer a.Progress("asking the network of the plan from %s ...", vantage)()
	list, err = netcheck.Ask(ctx, plans, netcheck.Options{Bundle: s.Authorities(), From: from, Now: a.IO.Clock})
	return list, vantage, err
}

func readAnswers(path string) (_ []evidence.Object, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // to open a pipe would be to wait for who writes to it
		return nil, errors.New("it is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return netcheck.Read(f)
}
