package update_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/update"
)

// example is a state with what a check has to find in it.
type example struct {
	name    string
	check   string
	outcome fault.Outcome
	verdict update.Verdict
	to      string
	says    []string // parts of the result
	overlay string   // changes of the base; "catalog:PATH" in its first line: on top of an overlay of the catalog
}

// cases reads testdata/cases.txt: an example begins with "== NAME", its head has one "key: value" a line,
// and after an empty line comes the overlay.
func cases(t *testing.T) (list []example) {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(raw), "\n== ")[1:] {
		head, overlay, _ := strings.Cut(part, "\n\n")
		lines := strings.Split(head, "\n")
		e := example{name: strings.TrimSpace(lines[0]), overlay: overlay}
		for _, line := range lines[1:] {
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "":
			case "check":
				e.check = value
			case "outcome":
				e.outcome = fault.Outcome(value)
			case "verdict":
				e.verdict = update.Verdict(value)
			case "to":
				e.to = value
			case "says":
				e.says = append(e.says, value)
			case "on":
				e.overlay = "catalog:" + value + "\n" + e.overlay
			default:
				t.Fatalf("%s: %q", e.name, line)
			}
		}
		list = append(list, e)
	}
	return list
}
