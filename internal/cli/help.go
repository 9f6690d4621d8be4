package cli

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// helpWidth is the width of help texts; docs/commands.md is made from them.
const helpWidth = 80

// setHelp gives a command tree its help: cobra's, with the flags under the headings of
// their groups. In Go and not as cobra's templates: those call methods by their names,
// and the linker then keeps every method of the whole program. Children inherit it.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		text := cmd.Long
		if text == "" {
			text = cmd.Short
		}
		if text != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", trimRight(text))
		}
		fmt.Fprint(cmd.OutOrStdout(), cmd.UsageString())
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(cmd))
		return err
	})
}

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// usage is how a command is called, its examples, subcommands and flags.
func usage(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " COMMAND")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + trimRight(cmd.Example))
	}
	if cmd.HasAvailableSubCommands() {
		groups := cmd.Groups()
		if len(groups) == 0 {
			groups = []*cobra.Group{{Title: "Commands:"}}
		}
		for _, g := range groups {
			b.WriteString("\n\n" + g.Title)
			for _, c := range cmd.Commands() {
				if (g.ID == "" || c.GroupID == g.ID) && (c.IsAvailableCommand() || c.Name() == "help") {
					fmt.Fprintf(&b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
				}
			}
		}
	}
	return b.String() + flagGroups(cmd) + "\n"
}

// flagGroups renders the flags of a command, each group under its heading.
func flagGroups(cmd *cobra.Command) string {
	var b strings.Builder
	for _, group := range cmdutil.FlagGroupOrder() {
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
		if title == cmdutil.GroupOwn {
			title = "Flags"
		}
		fmt.Fprintf(&b, "\n%s:\n%s\n", title, usage)
	}
	return "\n" + strings.TrimRight(b.String(), "\n")
}

func flagGroup(f *pflag.Flag) string {
	if f.Name == "help" {
		return cmdutil.GroupGlobal
	}
	if g := f.Annotations[cmdutil.GroupAnnotation]; len(g) > 0 {
		return g[0]
	}
	return cmdutil.GroupOwn
}
