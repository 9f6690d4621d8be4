package trouble

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
)

// TestList: troubles can be named on a command line, joined with "+", and told apart.
func TestList(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
	seen := map[string]bool{}
	for _, tr := range All() {
		switch {
		case !name.MatchString(tr.Name):
			t.Errorf("%q cannot be typed", tr.Name)
		case seen[tr.Name]:
			t.Errorf("there are two of %s", tr.Name)
		case tr.Break == nil:
			t.Errorf("%s breaks nothing", tr.Name)
		case tr.About == "" || strings.Contains(tr.About, "\n"):
			t.Errorf("%s is about %q: one line is wanted", tr.Name, tr.About)
		case tr.MCS != "" && tr.MCS != "4.14" && tr.MCS != "4.20":
			t.Errorf("%s: the lab has no machine config server %s", tr.Name, tr.MCS)
		}
		seen[tr.Name] = true
	}
	if len(seen) < 30 {
		t.Errorf("only %d troubles", len(seen))
	}
}

// TestMachines: the machines that troubles add have numbers of their own, and all of
// them an address in the lab's network.
func TestMachines(t *testing.T) {
	names := map[string]int{}
	for index := oldCAWorker; index <= configlessWorker; index++ {
		w := worker(index)
		if other, ok := names[w.Name]; ok {
			t.Errorf("%s is %d and %d", w.Name, other, index)
		}
		names[w.Name] = index
	}
	if last := configlessWorker; last >= plan.MostHosts {
		t.Errorf("machine %d, and a network has %d", last, plan.MostHosts)
	}
}
