package cli

import "github.com/spf13/cobra"

func (a *app) rollCommand() *cobra.Command {
	return &cobra.Command{
		Short: "call the roll of an OpenShift cluster",
		Long: `Rollcall calls the roll of an OpenShift cluster: which hosts should have answered,
which did not, at which step each one stopped, why, how we know, and what is safe
to do about it.`,
	}
}
