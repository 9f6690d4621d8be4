package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands.md and the golden files")

const commandsPage = "../../docs/commands.md"

// TestCommandsPage holds docs/commands.md, which is made of the help texts:
//
//	go test ./internal/cli -run TestCommandsPage -update
func TestCommandsPage(t *testing.T) {
	root := Command("rollcall")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var page bytes.Buffer
	page.WriteString("# Commands\n\nMade from the help of the program; `go test ./internal/cli -run TestCommandsPage -update` writes it.\n" +
		"As a plugin the same commands are `oc rollcall ...` and `kubectl rollcall ...`.\n")
	describe(t, &page, root)
	if *update {
		if err := os.WriteFile(commandsPage, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s is not what the help says; go test ./internal/cli -run TestCommandsPage -update writes it", commandsPage)
	}
}

// describe writes the page of a command and of those below it.
func describe(t *testing.T, page *bytes.Buffer, cmd *cobra.Command) {
	t.Helper()
	if cmd.Name() == "completion" || cmd.Name() == "help" || cmd.Hidden {
		return
	}
	var help bytes.Buffer
	cmd.InitDefaultHelpFlag()
	cmd.SetOut(&help)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(page, "\n## %s\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(help.String()))
	for _, c := range cmd.Commands() {
		describe(t, page, c)
	}
}

// TestHelpFits holds help texts to 90 columns, and every command to a short
// description.
func TestHelpFits(t *testing.T) {
	root := Command("rollcall")
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, line := range strings.Split(cmd.Long+"\n"+cmd.UsageString(), "\n") {
			if len([]rune(line)) > 90 {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), len([]rune(line)), line)
			}
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short description", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
}

// TestHelpHasEveryFlag: a flag of a group without a heading would be in no help text.
func TestHelpHasEveryFlag(t *testing.T) {
	root := Command("rollcall")
	flags := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		help := cmd.UsageString()
		if !cmd.HasParent() {
			help = flagGroups(cmd) // of options
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			flags++
			if !strings.Contains(help, "--"+f.Name+" ") {
				t.Errorf("%s: --%s is not in its help", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	if flags < 100 {
		t.Errorf("%d flags were looked at", flags)
	}
}
