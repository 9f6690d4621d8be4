package shellcommand

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// writing begins a sentence that tells to change something, as the remedies write it.
var writing = regexp.MustCompile(`(?:^|[.?] |: )(?:Give|Correct|correct|Name the servers|Apply|apply|Remove|Boot|boot|Bring|Repair|Add|Set|Restart|Unlock|Install|Eject|Replace|Try|Open|Delete) `)

// TestUntilProvenOnlyReads: of a cause that is not proven the screen says "these steps only read". So they do.
func TestUntilProvenOnlyReads(t *testing.T) {
	c, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	shown, kept := 0, 0
	for _, r := range c.Remedies() {
		a := r.Fill(&fault.Fault{}, fault.Subject{}, func(string) []string { return nil }).UntilProven()
		if !a.NeedsProof {
			continue
		}
		if kept += len(a.Steps); len(a.Steps) > 0 {
			shown++
		}
		for i, s := range a.Steps {
			if s.Changes || writing.MatchString(strings.ReplaceAll(s.Do, "Add --", "")) {
				t.Errorf("%s, step %d is said to read only: %s", r.ID, i+1, s.Do)
			}
			for _, line := range strings.FieldsFunc(s.Run, func(c rune) bool { return c == '\n' || c == ';' }) {
				line = strings.TrimSpace(line)
				if cmd, ok := Parse(line); ok && cmd.Effect == Changes && !elsewhere.MatchString(line) {
					t.Errorf("%s, step %d is said to read only: %s (%s)", r.ID, i+1, line, cmd.Does)
				}
				if strings.HasPrefix(line, "rollcall csr approve") && !slices.Contains(strings.Fields(line), "--yes") && !strings.Contains(s.Do+s.Expect, "--yes") &&
					!strings.Contains(s.Do, "changes nothing") {
					t.Errorf("%s, step %d does not say that it only shows without --yes: %s", r.ID, i+1, line)
				}
			}
		}
	}
	if shown < 100 { // the cut must not take the looks, too
		t.Errorf("%d remedies show %d steps that read", shown, kept)
	}
	t.Logf("%d remedies show %d steps that read", shown, kept)
}
