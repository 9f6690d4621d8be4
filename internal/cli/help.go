package cli

import (
	"fmt"
	"slices"
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
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", fill(trimRight(text)))
		}
		fmt.Fprint(cmd.OutOrStdout(), cmd.UsageString())
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(cmd))
		return err
	})
}

// fill breaks the paragraphs of a text to the width of help texts. Lines with a blank in front stay.
func fill(text string) string {
	var out, paragraph []string
	end := func() {
		line := ""
		for _, w := range strings.Fields(strings.Join(paragraph, " ")) {
			if line != "" && len([]rune(line))+1+len([]rune(w)) > helpWidth {
				out, line = append(out, line), ""
			}
			if line != "" {
				line += " "
			}
			line += w
		}
		if line != "" {
			out = append(out, line)
		}
		paragraph = nil
	}
	for _, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			out = append(out, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(out, "\n")
}

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// firstFlags are the flags of the first screen of the help, with what they are for in few words.
var firstFlags = []struct{ flag, use string }{
	{"--from PATH", "read this archive, directory, journal or object"},
	{"--console HOST=FILE", "add what a person saw on the screen of a host"},
	{"--expect NAME[=IP]", "this host should be there, even if nothing names it yet"},
	{"--install-dir DIR", "the cluster that openshift-install makes there"},
	{"-o, --output WORD", "text, wide, name, json, yaml, html, markdown, ..."},
	{"--context NAME", "context of the kubeconfig"},
}

// rootUsage is the first screen: the commands, and the flags that most people need.
func rootUsage(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("Usage:\n  " + cmd.CommandPath() + " [COMMAND] [flags]")
	commands(&b, cmd)
	b.WriteString("\n\nThe flags of most days:\n")
	for _, f := range firstFlags {
		fmt.Fprintf(&b, "  %-21s %s\n", f.flag, f.use)
	}
	fmt.Fprintf(&b, "\nAll flags: %s options. One command: %s COMMAND --help.\n", cmd.CommandPath(), cmd.CommandPath())
	fmt.Fprintf(&b, "An example without a cluster: %s demo\n", cmd.CommandPath())
	return b.String()
}

// helpCommand is `help`: cobra's own prints the help of the program, and ends well, for a word that is
// no command.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "print the help of a command",
		Long:    "Help prints the help of a command, as --help behind it does.",
		GroupID: groupOther,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return a.noCommand(found, rest)
			}
			return found.Help()
		},
	}
}

// optionsCommand prints the flags that the help of the whole program leaves out.
func (a *app) optionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "options",
		Short: "list the flags of status and diagnose, and those of all commands",
		Long: `Options lists the flags of status and diagnose by what they are for, and at the end those
that every command has. Other commands have some of them and some of their own: see the
help of each.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), strings.TrimLeft(flagGroups(cmd.Root()), "\n")+"\n")
			return err
		},
	}
}

// usage is how a command is called, its examples, subcommands and flags.
func usage(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return rootUsage(cmd)
	}
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() && cmd.Annotations[helpOnly] == "" {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " COMMAND")
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + trimRight(cmd.Example))
	}
	commands(&b, cmd)
	return b.String() + flagGroups(cmd) + "\n"
}

// commands lists the commands below one, by their groups.
func commands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands:"}}
	}
	for _, g := range groups {
		b.WriteString("\n\n" + g.Title)
		for _, c := range inOrder(cmd.Commands()) {
			if (g.ID == "" || c.GroupID == g.ID) && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintf(b, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
}

// first are the commands that come first in their groups: those of a night, in its order.
var first = []string{"status", "diagnose", "watch", "scan", "explain", "list"}

// inOrder are commands by name, those of first before all others.
func inOrder(list []*cobra.Command) []*cobra.Command {
	rank := func(c *cobra.Command) int {
		if i := slices.Index(first, c.Name()); i >= 0 {
			return i
		}
		return len(first)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *cobra.Command) int { return rank(a) - rank(b) })
	return list
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
