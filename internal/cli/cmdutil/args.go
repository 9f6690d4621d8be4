package cmdutil

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// AtMostOne refuses a second argument and names it.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return session.Usagef("%q: only one %s can be given", args[1], what)
		}
		return nil
	}
}

func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// ExactlyOne takes one argument and no more. find is the command that lists what it can be.
func (a *App) ExactlyOne(what, find string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return session.Usagef("%s is missing; `%s` lists them", what, a.commandLine(find))
		}
		return session.Usagef("%q: only one %s can be given", args[1], what)
	}
}

// commandLine is a command line: of Rollcall, unless it begins with the name of another program.
func (a *App) commandLine(line string) string {
	if strings.HasPrefix(line, "oc ") {
		return line
	}
	return a.Name + " " + line
}

// NoArgs refuses arguments and names the first one, with the flag that was probably meant.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word, hint := args[0], ""
	switch {
	case cmd.Flags().Lookup("from") != nil && (session.OnDisk(word) || session.NamedAsArchive(word)):
		hint = "; did you mean `--from " + shellcommand.Quote(word) + "`?"
	case cmd.Flags().Lookup("root") != nil:
		hint = "; did you mean `--root " + shellcommand.Quote(word) + "`?"
	case cmd.Name() == "status":
		hint = "; of one host `" + cmd.Root().DisplayName() + " diagnose " + shellcommand.Quote(word) + "` shows all"
	}
	return session.Usagef("%q: this command takes no argument%s", word, hint)
}

// PrintData writes a value as JSON or YAML, without what a terminal obeys.
func (a *App) PrintData(format string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	raw = append(answer.Harmless(raw), '\n')
	if format == "yaml" {
		if raw, err = yaml.JSONToYAML(raw); err != nil {
			return fmt.Errorf("encode the answer as YAML: %w", err)
		}
	}
	if _, err := a.IO.Out.Write(raw); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func JoinWords(words []string) string { return strings.Join(words, " ") }

// Example renders one Example of a help text.
func Example(program, words, about string) string {
	return strings.TrimRight("  "+program+" "+words, " ") + "\n      " + about + "\n"
}
