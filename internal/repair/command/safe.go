package command

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// planPlace is where plans are noted, and how they are printed.
type planPlace struct{ state, format string }

// planAllSafe makes one plan for each cause that can be repaired without risk, and lists
// the causes that are left out. Nothing that restarts, powers or identifies a host is in it.
func (a *app) planAllSafe(ctx context.Context, planner *repair.Planner, ask repair.Ask, f fixFlags, at planPlace, o answer.Options) error {
	var left []answer.Entry
	made := 0
	all := causes(ask.Diagnosis)
	for _, root := range all {
		name := root.Fault + "@" + root.Subject.String()
		ask.Root = root.Key
		p, err := planner.Plan(ctx, ask)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		why := ""
		switch {
		case err != nil:
			why = nothingToPlan(err, root, a.Name, o).Error()
		default:
			why = unsafeStep(p)
		}
		if why != "" {
			left = append(left, answer.Entry{Name: name, Text: why})
			continue
		}
		p.ID = fmt.Sprintf("%.55s-%d", p.ID, made+1) // several are made within one second
		each := f
		if f.to != "" {
			each.to = filepath.Join(f.to, p.ID+".yaml")
		}
		if err := a.savePlan(p, each, at.state, at.format); err != nil {
			return err
		}
		made++
		if at.format == "text" {
			fmt.Fprintln(a.IO.Out)
		}
	}
	if len(left) > 0 && at.format == "text" {
		if err := answer.Sections(a.IO.Out, a.Style(), []answer.Section{{Heading: "Left out: plan these one by one with --root", Entries: left}}); err != nil {
			return err
		}
	}
	if made == 0 {
		return fmt.Errorf("no cause of %d can be repaired without risk; `%s fix plan --root FAULT` plans one with its risk", len(all), a.Name)
	}
	return nil
}

// unsafeStep says which step of a plan has a risk, "" for none.
func unsafeStep(p *repair.Plan) string {
	for _, s := range p.Steps {
		if riskRank(s.Risk) > riskRank(fault.RiskReversible) {
			return fmt.Sprintf("step %s has the risk %s: %s", s.ID, s.Risk, s.RiskText)
		}
	}
	return ""
}
