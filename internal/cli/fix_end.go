package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/repair"
)

// How a repair ends that went well.
const (
	applied = "repaired; every step had its effect and the faults are absent"
	undone  = "taken back"
)

// ended prints how a repair ended. An error carries the exit code and the ways on:
// who reads it is in the middle of a repair.
func (a *app) ended(ctx context.Context, id string, err error, good string) error {
	if err == nil {
		_, err := fmt.Fprintf(a.io.Out, "%s: %s\n", a.style().Clean(id), good)
		return err
	}
	var back *repair.RolledBack
	var person *repair.NeedPerson
	var lines []string
	clean := a.style().Clean // each line: what comes from the cluster makes no line of its own
	ways := func(list ...string) {
		for _, verb := range list {
			lines = append(lines, fmt.Sprintf("  %-13s %s fix %s %s", waysOn[verb]+":", a.name, verb, id))
		}
	}
	switch {
	case errors.As(err, &back):
		lines = append(lines, fmt.Sprintf("the repair failed and was rolled back: %s", clean(back.Cause.Error())),
			"  taken back:   "+strings.Join(back.Steps, ", "))
		ways("history")
	case errors.As(err, &person):
		lines = append(lines, fmt.Sprintf("stopped, a person is needed: %s", clean(person.Cause.Error())))
		if len(person.Back) > 0 {
			lines = append(lines, "  taken back:   "+strings.Join(person.Back, ", "))
		}
		for i, left := range person.Left {
			step, _, _ := strings.Cut(left, ": `") // the ways on stand below, once
			name := "done, stays:"
			if i > 0 {
				name = ""
			}
			lines = append(lines, fmt.Sprintf("  %-13s %s", name, clean(step)))
		}
		ways("resume", "undo", "history")
		lines = append(lines, fmt.Sprintf("  %-13s %s fix plan ...   (where the plan itself was wrong: a host, an address)", "plan anew:", a.name))
	case ctx.Err() != nil:
		lines = append(lines, "interrupted; what was done is done and written down")
		ways("resume", "undo", "history")
	default:
		return err
	}
	return &ExitError{Code: codeOf(err), Err: errors.New(strings.Join(lines, "\n"))}
}

// waysOn says what a verb of `fix` does for who stands in the middle.
var waysOn = map[string]string{"resume": "go on", "undo": "take back", "history": "the record"}
