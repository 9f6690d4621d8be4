package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/repair"
)

func (a *app) fixApplyCommand() *cobra.Command {
	var f fixFlags
	var reviewed string
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "apply a saved plan, step by step",
		Long: `Apply does what the plan's file says, as it was saved. Before each step it checks that it
is the same cluster, that nothing that the plan was made from has changed, that the
fault is still there and that etcd is well; otherwise it stops and says why. A plan
that leaves out a guard, or that says something else than its steps do, is refused.

Exit codes: 0 repaired, 1 the tool could not do its work, 4 failed and rolled back,
5 a person is needed.`,
		Args: exactlyOne("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := repair.Load(args[0])
			if err != nil {
				return err
			}
			if err := a.reviewed(p, reviewed); err != nil {
				return err
			}
			c, err := a.openRepair(f)
			if err != nil {
				return err
			}
			return a.ended(cmd.Context(), p.ID, a.executor(c).Apply(cmd.Context(), p), applied)
		},
	}
	grouped(cmd, groupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&reviewed, "digest", "", "apply only the content with this `sha256:...`, the digest that plan printed and that was reviewed")
	})
	a.addFixFlags(cmd, &f)
	return cmd
}

// reviewed says which content is applied, and refuses another than the one asked for.
func (a *app) reviewed(p *repair.Plan, want string) error {
	if want != "" {
		if err := p.Is(want); err != nil {
			return err
		}
	}
	have, err := p.Digest()
	if err != nil || a.global.quiet {
		return err
	}
	_, err = fmt.Fprintf(a.io.Err, "plan %s, %s\n", p.ID, have)
	return err
}

func (a *app) fixAgainCommand(verb, short string) *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Args:  exactlyOne("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := planName(args[0])
			if err != nil {
				return err
			}
			c, err := a.openRepair(f)
			if err != nil {
				return err
			}
			if verb == "undo" {
				return a.ended(cmd.Context(), id, a.executor(c).Undo(cmd.Context(), id), undone)
			}
			return a.ended(cmd.Context(), id, a.executor(c).Resume(cmd.Context(), id), applied)
		},
	}
	a.addFixFlags(cmd, &f)
	return cmd
}

// planName accepts a plan's id, or its file: the extension or a separator tells.
func planName(arg string) (string, error) {
	file := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg)) || strings.ContainsRune(arg, filepath.Separator)
	if !file {
		return arg, nil
	}
	p, err := repair.Load(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such file; name the plan's id", arg)
	}
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("want one %s, got %d", what, len(args))
		}
		return nil
	}
}
