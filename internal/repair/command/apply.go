package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/statedir"
)

// settleTime is how long effects of what was repaired may still be reported: operators
// and kubelets look again at intervals.
const settleTime = 5 * time.Minute

// fixExitCodes is for the help of the commands that write.
const fixExitCodes = `Afterwards the whole diagnosis runs again, whether the steps succeeded or not, and is
compared with the one that the plan is based on. Where the steps ended well, the signs of
success of the whole cluster are looked at until all hold, at most for --wait and the 5
minutes for which operators have to be at rest; after apply of several plans, at its end.

Exit codes: 0 repaired, and every sign of success holds; 1 the tool could not do its work;
2 repaired, and an error is present that the plan is not for; 3 the result could not be
checked, or not every sign holds in time; 4 failed and rolled back; 5 a person is needed;
6 partly done: something that the plan is for is still present, or an error is new. With
--until plan 0 means that what the plan is for is gone, or in progress, as expected.`

// addWriteFlags adds what apply, resume and undo have.
func (a *app) addWriteFlags(cmd *cobra.Command, f *fixFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.DurationVar(&f.wait, "wait", settleTime, "after the last step, wait at most this `TIME` for effects that are still reported")
		s.BoolVar(&f.yes, "yes", false, "do not ask; at a terminal the steps are shown and confirmed first")
	})
	a.addFixFlags(cmd, f)
	a.AddOutputFlags(cmd, "text", "json", "yaml")
}

// addUntilFlag adds what apply and resume have.
func addUntilFlag(cmd *cobra.Command, f *fixFlags) {
	goals := []string{string(after.Stable), untilPlan}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.Var(cmdutil.NewChoice(&f.until, goals), "until", "end with 0 when this holds: stable: every sign of success of the whole cluster; plan: "+
			"what the plan is for is gone, or in progress as expected")
	})
	cmdutil.CompleteChoice(cmd, "until", goals)
}

func (a *app) fixApplyCommand() *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   "apply PLAN...",
		Short: "apply saved plans, step by step; - is standard input",
		Long: `Apply runs the steps of the plan's file, as saved. Before each step it checks that it
is the same cluster, that nothing that the plan is based on has changed, that the
fault is still present and that etcd is healthy; otherwise it stops and prints why. A plan
that leaves out a guard, or that describes other steps than it contains, is refused.

` + fixExitCodes,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return session.Usagef("want a PLAN, got none")
			}
			if f.digest != "" && len(args) > 1 {
				return session.Usagef("--digest is the digest of one PLAN, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, file := range args { // the first that does not end whole ends all
				if err := a.fixApply(cmd.Context(), f, cmdutil.FormatOf(cmd), file, i < len(args)-1); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.digest, "digest", "", "apply only the file with this `sha256:...`, the digest that plan printed and that was reviewed; needed "+
			"where the plan was made on another machine or was edited")
	})
	addUntilFlag(cmd, &f)
	a.addWriteFlags(cmd, &f)
	return cmd
}

func (a *app) fixApply(ctx context.Context, f fixFlags, format, file string, more bool) error {
	p, err := a.loadPlan(f, file)
	if err != nil {
		return err
	}
	if err := a.reviewed(p, f.digest); err != nil {
		return err
	}
	if a, err = a.forPlan(p); err != nil {
		return err
	}
	c, err := a.openRepair(f)
	if err != nil {
		return err
	}
	if err := a.announce(f, "apply", p, p.Steps); err != nil {
		return err
	}
	o, err := a.executor(c, f).Apply(ctx, p)
	run := f.runOf("apply", p.ID)
	run.more = more
	return a.ended(ctx, format, run, o, err)
}

// loadPlan reads a plan's file, or standard input, where no question can be answered.
func (a *app) loadPlan(f fixFlags, file string) (*repair.Plan, error) {
	if file != "-" {
		return repair.Load(file)
	}
	if a.IO.Screen.InTerminal && a.IO.Screen.ErrTerminal && !f.yes {
		return nil, session.Usagef("-: the plan comes from standard input, so that the question cannot be answered there; add --yes")
	}
	p, err := repair.LoadFrom(a.IO.In)
	if err != nil {
		return nil, fmt.Errorf("read plan from standard input: %w", err)
	}
	return p, nil
}

// reviewed says which content is applied, and refuses another than the one asked for.
func (a *app) reviewed(p *repair.Plan, want string) error {
	if want != "" {
		if err := p.Is(want); err != nil {
			return err
		}
	}
	have, err := p.FileDigest()
	if err != nil || a.Quiet {
		return err
	}
	_, err = fmt.Fprintf(a.IO.Err, "plan %s, %s\n", p.ID, have)
	return err
}

func (a *app) fixAgainCommand(verb, short string) *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Long:  strings.ToUpper(short[:1]) + short[1:] + ".\n\n" + fixExitCodes,
		Args:  a.ExactlyOne("ID", "fix history"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var id string
			id, f.digest, err = planName(args[0])
			if err != nil {
				return err
			}
			if err := a.begun(f, verb, id); err != nil {
				return err
			}
			c, err := a.openRepair(f)
			if err != nil {
				return err
			}
			a, err := a.announceBegun(f, verb, c.state, id)
			if err != nil {
				return err
			}
			run := a.executor(c, f).Resume
			if verb == "undo" {
				run = a.executor(c, f).Undo
			}
			o, err := run(cmd.Context(), id)
			return a.ended(cmd.Context(), cmdutil.FormatOf(cmd), f.runOf(verb, id), o, err)
		},
	}
	if verb != "undo" {
		addUntilFlag(cmd, &f)
	}
	a.addWriteFlags(cmd, &f)
	return cmd
}

// begun refuses an id of which nothing was begun here, before a cluster is asked.
func (a *app) begun(f fixFlags, verb, id string) error {
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	list, err := repair.Histories(state)
	if err != nil {
		return err
	}
	var ids []string
	for _, h := range list {
		ids = append(ids, h.ID)
	}
	if slices.Contains(ids, id) {
		return nil
	}
	return fmt.Errorf("%s %s: no repair of this id was begun on this machine (%s)%s; `%s fix history` lists them, --state-dir names another directory",
		verb, id, state, suggest.DidYouMean(id, ids), a.Name)
}

// planName accepts a plan's id, or its file: the extension or a separator tells. Of a
// file the digest of the content is returned, too: what was begun must be the same.
func planName(arg string) (id, digest string, err error) {
	file := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg)) || strings.ContainsRune(arg, filepath.Separator)
	if !file {
		return arg, "", nil
	}
	p, err := repair.Load(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", fmt.Errorf("%s: there is no such file; name the plan's id", arg)
	}
	if err != nil {
		return "", "", err
	}
	digest, err = p.Digest()
	return p.ID, digest, err
}
