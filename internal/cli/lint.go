package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint DIR...",
		Short: "check faults of your own",
		Long: `Lint checks directories of faults as --catalog would use them: the form of each
file, the facts that it names, the types of its expressions, that what it explains
and refuses exists, and that its remedies are known. docs/writing-a-fault.md tells
how to write one.`,
		Example: example(a.name, "lint ./our-faults", "every *.yaml below the directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name a directory with faults")
			}
			before, err := a.loadCatalog()
			if err != nil {
				return err
			}
			a.source.catalogs = args
			c, err := a.loadCatalog()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.io.Out, "ok: %d faults and %d refused remedies beside the %d and %d that are built in\n",
				len(c.Faults)-len(before.Faults), len(c.Refused)-len(before.Refused), len(before.Faults), len(before.Refused))
			return nil
		},
	}
}
