package cli

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

var (
	ownCommand  = regexp.MustCompile("(?m)(?:^|`|; |: )rollcall( [^`\n;]*|$)")
	placeholder = regexp.MustCompile(`\{[a-zA-Z][a-zA-Z0-9_.]*\}`)
	sentenceEnd = regexp.MustCompile(`[.,]( .*)?$`)
)

// TestCommandsOfRemediesAreOurs: what remedies say to run of this program is a command with
// flags that it has, and what they say to explain is in the catalog.
func TestCommandsOfRemediesAreOurs(t *testing.T) {
	c, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range c.Remedies() {
		texts := []string{r.Verify.Run, r.Verify.Expect, r.Undo, r.IfWrong}
		for _, s := range r.Steps {
			texts = append(texts, s.Do, s.Run, s.Expect)
		}
		for _, m := range ownCommand.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
			m[1], _, _ = strings.Cut(m[1], "|") // what it is piped into is no command of ours
			line := strings.TrimSpace(sentenceEnd.ReplaceAllString(placeholder.ReplaceAllString(m[1], "name"), ""))
			seen[line] = true
			root := newApp("rollcall", cmdutil.IO{Cache: shared, Getenv: func(string) string { return "" }}).rootCommand()
			cmd, args, err := root.Find(strings.Fields(line))
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.Args(cmd, cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: rollcall %s: %v", r.ID, line, err)
				continue
			}
			if cmd.HasSubCommands() && cmd != root {
				t.Errorf("%s: rollcall %s: a command of its own is missing", r.ID, line)
			}
			if cmd.Name() == "explain" {
				id := cmd.Flags().Arg(0)
				_, isFault := c.Fault(id)
				if _, isRemedy := c.Remedy(id); !isFault && !isRemedy {
					t.Errorf("%s: rollcall explain %s: there is no such entry", r.ID, id)
				}
			}
		}
	}
	for _, want := range []string{"csr list", "fix plan", "diagnose host/name", "explain reapply-config", ""} {
		if !seen[want] {
			t.Errorf("rollcall %s was not found in the remedies; found %q", want, slices.Sorted(maps.Keys(seen)))
		}
	}
}
