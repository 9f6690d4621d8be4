package cli

import (
	"slices"

	"github.com/spf13/cobra"

	check "github.com/rollcall-project/rollcall/internal/check/command"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	fleet "github.com/rollcall-project/rollcall/internal/fleet/command"
	preflight "github.com/rollcall-project/rollcall/internal/preflight/command"
	repair "github.com/rollcall-project/rollcall/internal/repair/command"
	serve "github.com/rollcall-project/rollcall/internal/serve/command"
	updatecommand "github.com/rollcall-project/rollcall/internal/update/command"
	watch "github.com/rollcall-project/rollcall/internal/watch/command"
	workers "github.com/rollcall-project/rollcall/internal/workers/command"
)

// The groups of commands in the help.
const (
	groupLook   = "look"
	groupKnow   = "know"
	groupRepair = "repair"
	groupOther  = "other"
)

// paged are the commands of looking that print when they are done.
var paged = []string{"status", "diagnose", "hosts", "demo", "scan", "explain", "list", "options", "get", "logs"}

// rootCommand builds the whole command line.
func (a *app) rootCommand() *cobra.Command {
	root := a.rollCommand()
	root.Use = "rollcall"
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: a.Name}
	a.addVersionFlag(root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(a.IO.In)
	root.SetOut(a.IO.Out)
	root.SetErr(a.IO.Err)
	root.SetFlagErrorFunc(a.flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.StartLog()
		a.HoldPage(cmd)
		return nil
	}
	a.AddGlobalFlags(root)
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupRepair, Title: "Repair:"},
		&cobra.Group{ID: groupKnow, Title: "Know:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupLook, a.statusCommand(), a.diagnoseCommand(), a.hostsCommand(), watch.Command(a.App), a.scanCommand(), check.Command(a.App),
		a.getCommand(), a.logsCommand(), a.demoCommand(), a.collectCommand(),
		preflight.Command(a.App, updatecommand.New(a.App)), watch.Baseline(a.App), a.canICommand(),
		fleet.Command(a.App, readVersion().Version), serve.Command(a.App, readVersion().Version), a.mcpCommand())
	add(groupRepair, repair.Command(a.App), workers.Requests(a.App), workers.MetalHosts(a.App), workers.NodePools(a.App), workers.Command(a.App))
	add(groupKnow, a.explainCommand(), a.listCommand(), a.docsCommand(), a.lintCommand(), a.testCommand())
	add(groupOther, a.labCommand(), a.optionsCommand(), a.versionCommand())
	cmdutil.Paged(root)
	for _, c := range root.Commands() {
		if slices.Contains(paged, c.Name()) {
			cmdutil.Paged(append(c.Commands(), c)...)
		}
	}
	root.AddCommand(a.gatherCommand())
	root.SetHelpCommand(a.helpCommand())
	root.SetCompletionCommandGroupID(groupOther)
	setHelp(root)
	a.refuseUnknownWords(root)
	return root
}
