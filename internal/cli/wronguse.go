package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// noCommand refuses a word that is no command, and says what was probably meant.
func (a *app) noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	if session.OnDisk(word) || session.NamedAsArchive(word) {
		return session.Usagef("%q is not a command; did you mean --from? `%s diagnose --from %s`", word, a.Name, shellcommand.Quote(word))
	}
	if word == "roll" {
		return session.Usagef("%q is not a command: `%s` without a command prints it", word, a.Name)
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if id, ok := a.known(word); ok {
		return session.Usagef("%q is not a command; did you mean `%s explain %s`?", word, a.Name, id)
	}
	return session.Usagef("%q is not a command%s", word, suggest.DidYouMean(word, names))
}

// helpOnly marks a command that does nothing but print its help: it is called with one of those below it.
const helpOnly = "rollcall.dev/help-only"

// refuseUnknownWords has each command of several refuse a word that is none of them, in the whole tree.
func (a *app) refuseUnknownWords(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		a.refuseUnknownWords(cmd)
		takes, group := cmd.Args, !cmd.Runnable()
		if !cmd.HasAvailableSubCommands() || takes == nil && !group {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || takes != nil && takes(cmd, args) == nil {
				return nil
			}
			return noSubcommand(cmd, args[0])
		}
		if group {
			cmd.Annotations = map[string]string{helpOnly: "true"}
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// noSubcommand refuses a word that is no command below another one, and says what was probably meant.
func noSubcommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return session.Usagef("%q is not a command of %s%s; it has %s", word, cmd.Name(), suggest.DidYouMean(word, names), strings.Join(names, ", "))
}

// known returns the id of the catalog that a word is.
func (a *app) known(word string) (string, bool) {
	c, err := a.session().LoadCatalog()
	if err != nil {
		return "", false
	}
	_, ok := entryOf(c, word)
	return word, ok
}

// takes reports whether a command takes words as its arguments.
func takes(cmd *cobra.Command, words []string) bool {
	return cmd.Args == nil || cmd.Args(cmd, words) == nil
}

// flagError explains a flag that does not exist or has no such value.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &session.UsageError{Err: err}
	}
	if words := cmd.Flags().Args(); len(words) > 0 && cmd.HasAvailableSubCommands() && cmd.HasParent() && !takes(cmd, words) {
		return noSubcommand(cmd, words[0]) // the flag can be one of the command that was meant
	}
	name := unknown.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if name == "from" && cmd.HasParent() && cmd.Parent().Name() == "csr" {
		return session.Usagef("`%s` asks a live cluster; what an archive has about requests is in `%s diagnose --from PATH`", cmd.CommandPath(), a.Name)
	}
	if cmd.Name() == "explain" {
		return session.Usagef("a text that begins with a dash goes behind two dashes: `%s explain -- TEXT`", a.Name)
	}
	if len(name) == 1 {
		return &session.UsageError{Err: err}
	}
	return session.Usagef("unknown flag: --%s%s", name, suggest.DidYouMean("--"+name, names))
}
