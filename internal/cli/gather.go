package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/newfile"
)

// gatherName is what the must-gather image calls the program: `oc adm must-gather` runs
// /usr/bin/gather without arguments (openshift/oc:pkg/cli/admin/mustgather/mustgather.go newPod).
const gatherName = "gather"

// gatherDir is the volume that `oc adm must-gather` copies from.
const gatherDir = "/must-gather"

// gatherCommand is `collect` as the must-gather image runs it. It is hidden: a person calls collect.
func (a *app) gatherCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:    gatherName,
		Short:  "collect, as a must-gather image does",
		Hidden: true,
		Args:   cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.gather(cmd.Context(), to)
		},
	}
	cmd.Flags().StringVar(&to, "to", gatherDir, "write to this empty `DIR`")
	a.AddSourceFlags(cmd, &a.source)
	return cmd
}

// gather collects into a directory, and adds the file "version" that each must-gather image
// writes: the product, then its version (openshift/enhancements:enhancements/oc/must-gather.md).
func (a *app) gather(ctx context.Context, to string) error {
	if err := a.collect(ctx, "text", to, false); err != nil {
		return err
	}
	text := "rollcall\n" + readVersion().Version + "\n"
	if err := newfile.Bytes(filepath.Join(to, "version"), 0o600, []byte(text)); err != nil {
		return fmt.Errorf("write the version of the must-gather: %w", err)
	}
	return nil
}
