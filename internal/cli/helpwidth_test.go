package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpWidth: no help text is wider than a terminal of 80 columns; a call that is copied stays on one line.
func TestHelpWidth(t *testing.T) {
	root := Command("rollcall")
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		for _, line := range strings.Split(fill(trimRight(cmd.Long)), "\n") {
			if n := len([]rune(line)); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each(root)
}
