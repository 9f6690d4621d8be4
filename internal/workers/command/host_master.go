package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

// hostMaster shows how a control-plane host is replaced in this cluster. It writes nothing.
func (a *app) hostMaster(ctx context.Context, api *kube.Client, seen metalhost.Seen, m metalhost.Member, r replaceFlags) error {
	if r.drop || r.localGoes {
		return session.Usagef("--delete-old-host and --local-data-goes are for workers: of a control-plane host only the plan is shown")
	}
	to := metalhost.NewMaster{Name: r.with, BMC: r.bmc, MAC: r.mac}
	if err := to.Check(); err != nil {
		return session.Usagef("%v", err)
	}
	control, err := metalhost.LookControl(ctx, api)
	if err != nil {
		return err
	}
	minor, known := minorOf(seen.Version)
	p := seen.MasterPlan(control, m, to, minor, known)
	var checks []workerCheck
	for _, c := range p.Checks {
		checks = append(checks, workerCheck{c.Outcome, c.Stops, c.Text})
	}
	head := answer.Section{Heading: "Plan only: Rollcall writes nothing here, and does no step for you", Entries: []answer.Entry{
		{Name: "replaces", Text: fmt.Sprintf("control-plane host: Node %s, Machine %s, BareMetalHost %s, of a cluster of version %s", orNoNode(m.NodeName()),
			orNoNode(m.MachineName()), orNoNode(m.HostName()), seen.Version)},
		{Name: "by", Text: string(p.Way)},
		{Name: "undo", Text: "none from the removal of the etcd member on, except the backup. Do the next step only when the checks after a step show what " +
			"is expected"},
	}}
	if err := a.refusedChecks(checks, head); err != nil {
		return err
	}
	fmt.Fprintln(a.IO.Out)
	return answer.Sections(a.IO.Out, a.Style(), a.masterSections(p))
}

// masterSections are the steps, one below the other.
func (a *app) masterSections(p metalhost.MasterPlan) []answer.Section {
	// The steps are those of the program `rollcall`; as a plugin it has another name.
	own := strings.NewReplacer("rollcall ", a.Name+" ")
	var list []answer.Section
	for i, s := range p.Steps {
		section := answer.Section{Heading: fmt.Sprintf("Step %d", i+1), Entries: []answer.Entry{{Name: "do", Text: s.Do}}}
		add := func(name string, lines []string) {
			for _, line := range lines {
				section.Entries = append(section.Entries, answer.Entry{Name: name, Text: own.Replace(line), Command: true})
				name = ""
			}
		}
		if len(s.Lines) > 0 {
			add("file", append([]string{s.File}, indented(s.Lines)...))
		}
		add("run", s.Run)
		add("check", s.Guard)
		section.Entries = append(section.Entries, answer.Entry{Name: "expect", Text: s.Expect}, answer.Entry{Name: "else", Text: own.Replace(s.If)})
		list = append(list, section)
	}
	if len(p.Unknown) > 0 {
		open := answer.Section{Heading: "Not known, and left open above"}
		for _, u := range p.Unknown {
			open.Entries = append(open.Entries, answer.Entry{Name: "-", Text: u})
		}
		list = append(list, open)
	}
	return list
}

func indented(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, "  "+line)
	}
	return all
}
