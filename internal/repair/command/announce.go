package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// announce shows what is about to be done. A person at a terminal confirms it.
func (a *app) announce(f fixFlags, verb string, p *repair.Plan, steps []repair.Step) error {
	asks := a.IO.Screen.InTerminal && a.IO.Screen.ErrTerminal && !f.yes
	if a.Quiet && !asks {
		return nil
	}
	list := a.planSections(p, steps)
	if verb == "undo" {
		list = undoSections(p, steps)
	}
	if err := answer.Sections(a.IO.Err, a.Style(), list); err != nil {
		return err
	}
	if !asks {
		return nil
	}
	fmt.Fprintf(a.IO.Err, "\nThis writes to the cluster. Type yes to %s: ", verb)
	line, err := bufio.NewReader(a.IO.In).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the confirmation: %w", err)
		}
		return errors.New("not confirmed: nothing was changed")
	}
	return nil
}

// announceBegun is announce for a plan that was begun, and returns what reads the cluster as that
// plan did. Where its journal cannot be read, the run itself reports why.
func (a *app) announceBegun(f fixFlags, verb, state, id string) (*app, error) {
	h, err := repair.HistoryOf(state, id)
	if err != nil || h.Plan == nil {
		return a, nil
	}
	if a, err = a.forPlan(h.Plan); err != nil {
		return nil, err
	}
	if verb == "undo" {
		return a, a.announce(f, verb, h.Plan, h.Acted())
	}
	return a, a.announce(f, verb, h.Plan, h.Left())
}

func undoSections(p *repair.Plan, steps []repair.Step) []answer.Section {
	list := []answer.Section{{Heading: "Undo plan " + p.ID, Entries: []answer.Entry{
		{Name: "for", Text: fmt.Sprintf("%s at %s: %s", p.Root.Fault, p.Root.Subject, p.Title)},
		{Name: "cluster", Text: fmt.Sprintf("%s, context %s, %s", p.Cluster.ID, p.Context, p.Cluster.Server)},
		{Name: "steps", Text: fmt.Sprintf("%d that wrote something, the last one first", len(steps))},
	}}}
	for _, s := range steps {
		list = append(list, answer.Section{Heading: s.ID, Entries: []answer.Entry{{Name: "done", Text: s.Title}, {Name: "undo", Text: s.Inverse}}})
	}
	return list
}
