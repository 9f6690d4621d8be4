package hostcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/preflight/netcheck"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
)

// preflightName is the word that asks for it.
const preflightName = "preflight"

// preflight asks the network of a plan from this machine, such as a host that has booted the
// live ISO, and writes the answers for rollcall preflight --network-answers. It judges
// nothing: that is done where all answers are.
func (a *app) preflight(ctx context.Context, args []string) error {
	var files []string
	var quiet bool
	s := pflag.NewFlagSet("rollcall-host "+preflightName, pflag.ContinueOnError)
	s.SetOutput(io.Discard)
	s.StringArrayVarP(&files, "file", "f", nil, "`FILE` of the plan: install-config or agent-config, of any name; repeatable")
	s.BoolVarP(&quiet, "quiet", "q", false, "print nothing but the answers and errors")
	if err := s.Parse(args); errors.Is(err, pflag.ErrHelp) {
		_, err := fmt.Fprintf(a.io.Out, `rollcall-host preflight asks what a plan needs of the network, from this machine: names,
free VIPs, load balancers, time servers and registries. It sends no
credential and changes nothing. The answers go to the output, for

  rollcall-host preflight -f install-config.yaml -f agent-config.yaml > iso.json
  rollcall preflight DIR --network-answers iso.json

%s`, s.FlagUsagesWrapped(88))
		return err
	} else if err != nil {
		return usageError{err}
	}
	source, err := a.openPlan(files, s.Args())
	if err != nil {
		return err
	}
	plans, err := source.List(ctx, evidence.Plans, "")
	if err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintln(a.io.Err, "rollcall-host: asking the network of the plan ...")
	}
	answers, err := netcheck.Ask(ctx, plans, netcheck.Options{Bundle: source.Authorities(), Now: a.io.Clock})
	if err != nil {
		return err
	}
	return netcheck.Write(a.io.Out, answers)
}

func (a *app) openPlan(files, dirs []string) (*plan.Source, error) {
	switch {
	case len(files) > 0 && len(dirs) > 0:
		return nil, usagef("-f and %s: name files or a directory", dirs[0])
	case len(dirs) > 1:
		return nil, usagef("%q: only one directory can be given", dirs[1])
	case len(files) > 0:
		return plan.Open(files, a.io.Clock())
	}
	dir := "."
	if len(dirs) == 1 {
		dir = dirs[0]
	}
	return plan.FS(os.DirFS(dir), ".", dir, a.io.Clock())
}
