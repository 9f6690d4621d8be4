package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpTemplate is cobra's, with the flags under the headings of their groups.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}`

const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Commands:{{range $cmds}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{flagGroups .}}
`

// helpWidth is the width of help texts; docs/commands.md is made from them.
const helpWidth = 80

// setHelp gives a command tree its help. cobra's templates are per command, and
// children inherit them.
func setHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
}

// flagGroups renders the flags of a command, each group under its heading.
func flagGroups(cmd *cobra.Command) string {
	var b strings.Builder
	for _, group := range []string{groupOwn, groupRead, groupAnswer, groupConnect, groupGlobal} {
		set := pflag.NewFlagSet(group, pflag.ContinueOnError)
		set.SortFlags = false
		add := func(f *pflag.Flag) {
			if flagGroup(f) == group {
				set.AddFlag(f)
			}
		}
		cmd.LocalFlags().VisitAll(add)
		cmd.InheritedFlags().VisitAll(add)
		usage := strings.TrimRight(set.FlagUsagesWrapped(helpWidth), "\n")
		if usage == "" {
			continue
		}
		title := group
		if title == groupOwn {
			title = "Flags"
		}
		fmt.Fprintf(&b, "\n%s:\n%s\n", title, usage)
	}
	return "\n" + strings.TrimRight(b.String(), "\n")
}

func flagGroup(f *pflag.Flag) string {
	if f.Name == "help" {
		return groupGlobal
	}
	if g := f.Annotations[groupAnnotation]; len(g) > 0 {
		return g[0]
	}
	return groupOwn
}
