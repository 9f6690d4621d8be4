package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/refs"
)

func (a *app) lintCommand() *cobra.Command {
	var sources string
	cmd := &cobra.Command{
		Use:   "lint [DIR...]",
		Short: "check faults of your own, and the sources that they name",
		Long: `Lint checks directories of faults as --catalog would use them: the form of each
file, the facts that it names, the types of its expressions, that what it explains
and refuses exists, that its remedies are known, and the form of its references.
docs/writing-a-fault.md describes how to write one.

With --sources, every reference of the catalog is looked up in local copies of
the repositories: the path must be there on its branch (without one, on the copy's
own), and the symbol must occur in it. A copy of owner/name lies below SOURCES at
owner/name or owner+name; it is a git repository, bare or with files, or the plain
files. Nothing is fetched. Without DIR the built-in catalog is checked.`,
		Example: example(a.name, "lint ./our-faults", "every *.yaml below the directory") + "\n" +
			example(a.name, "lint --sources ~/src", "the built-in catalog against your clones"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && sources == "" {
				return usagef("name a directory with faults, or --sources to look up what the built-in ones refer to")
			}
			return a.lint(cmd.Context(), args, sources)
		},
	}
	cmd.Flags().StringVar(&sources, "sources", "", "look up every reference in the copies of repositories below this `DIR`")
	return cmd
}

func (a *app) lint(ctx context.Context, dirs []string, sources string) error {
	before, err := a.wholeCatalog()
	if err != nil {
		return err
	}
	c := before
	if len(dirs) > 0 {
		a.source.catalogs = dirs
		if c, err = a.wholeCatalog(); err != nil {
			return err
		}
	}
	list := refs.Of(c)
	if wrong := refs.CheckForms(list); len(wrong) > 0 {
		return a.wrongRefs(wrong)
	}
	if len(dirs) > 0 {
		fmt.Fprintf(a.io.Out, "ok: %d faults, %d remedies and %d refused remedies; built in are %d, %d and %d\n",
			len(c.Faults)-len(before.Faults), len(c.Remedies)-len(before.Remedies), len(c.Refused)-len(before.Refused), len(before.Faults), len(before.Remedies), len(before.Refused))
	}
	if sources == "" {
		return nil
	}
	return a.lintSources(ctx, c, sources)
}

func (a *app) lintSources(ctx context.Context, c *fault.Catalog, dir string) error {
	r, err := refs.Look(ctx, dir, refs.Of(c))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.io.Out, "references: %d, verified: %d, wrong: %d, not looked up: %d\n", r.Checked, r.Verified, len(r.Wrong), r.Missing)
	for _, repo := range r.Unlooked {
		fmt.Fprintf(a.io.Out, "no copy of %s\n", repo)
	}
	if len(r.Wrong) > 0 {
		return a.wrongRefs(r.Wrong)
	}
	return nil
}

func (a *app) wrongRefs(wrong []refs.Wrong) error {
	for _, w := range wrong {
		fmt.Fprintf(a.io.Out, "wrong: %s: %v\n", w.Named, w.Err)
	}
	return fmt.Errorf("%d references are not found; correct the refs of the entries that are named above", len(wrong))
}
