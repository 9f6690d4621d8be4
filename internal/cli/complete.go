package cli

import (
	"github.com/spf13/cobra"
)

// completeKnown completes ids of faults, remedies, refused remedies, facts and stages.
func (a *app) completeKnown(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := a.session().LoadCatalog()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []cobra.Completion
	for _, e := range entries(c) {
		list = append(list, cobra.CompletionWithDesc(e.id, e.kind+": "+e.title))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
