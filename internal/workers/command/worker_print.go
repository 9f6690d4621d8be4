package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// printWorkerPlan shows what was checked and what will be made.
func (a *app) printWorkerPlan(p workers.Plan, checks []workerCheck) error {
	plan := answer.Section{Heading: "Plan", Entries: []answer.Entry{
		{Name: "for", Text: fmt.Sprintf("NodePool %s of hosted cluster %s", p.NodePool, p.Hosted)},
		{Name: "by", Text: "provider " + p.Provider},
	}}
	for _, w := range p.Workers {
		plan.Entries = append(plan.Entries, answer.Entry{Name: "makes", Text: describeWorker(p, w)})
	}
	plan.Entries = append(plan.Entries, answer.Entry{Name: "approves", Text: fmt.Sprintf("first certificates of these hosts, of each for %s from when "+
		"its machine is made", p.Until.Sub(p.Made)) +
		", and serving certificates of their names and addresses, in the hosted cluster"})
	switch {
	case p.Image != (provider.Image{}):
		plan.Entries = append(plan.Entries, answer.Entry{Name: "image", Text: cmp.Or(p.Image.Name, p.Image.ISO) + ", that of the stream in --stream"})
	case p.Provider != workers.ManualName:
		plan.Entries = append(plan.Entries, answer.Entry{Name: "image", Text: "as the provider's options name it; --stream FILE takes that of the release"})
	}
	plan.Entries = append(plan.Entries, answer.Entry{Name: "needs", Text: "in the hosted cluster: to " + rightNames(rightsFor(p)) +
		"; in the management cluster: to read HostedCluster, NodePool, Nodes, and pods and Secrets of " + p.ControlPlane})
	looked := answer.Section{Heading: "Checks"}
	for _, c := range checks {
		looked.Entries = append(looked.Entries, answer.Entry{Name: c.word(), Text: c.text})
	}
	return answer.Sections(a.IO.Out, a.Style(), []answer.Section{plan, looked})
}

func (c workerCheck) word() string {
	switch {
	case c.stops:
		return "failed"
	case c.outcome == fault.Present:
		return "warning"
	case c.outcome == fault.Unknown:
		return "not checked"
	}
	return "passed"
}

func describeWorker(p workers.Plan, w provider.Worker) string {
	text := w.Name
	if also := slices.Concat(w.IPs, w.DNS); len(also) > 0 {
		text += " (" + strings.Join(also, ", ") + ")"
	}
	if old := p.Replaces[w.Name]; old.Worker != "" {
		text += ", and then takes " + old.Worker + " away"
	}
	if p.Provider == workers.ManualName {
		text += ": file " + w.Name + ".ign in " + p.Options["dir"] + " (secret, mode 0600), for a machine that you boot"
	}
	return text
}

// printRolledBack says what a rollback has removed, what may still run, and what is left for a person.
func (a *app) printRolledBack(p workers.Plan, removed []string) {
	names := a.CleanText(strings.Join(removed, ", "))
	switch {
	case len(removed) == 0:
		fmt.Fprintf(a.IO.Out, "Run %s: nothing that it made is left without a Node.\n", p.Run)
	case p.Provider == workers.ManualName:
		fmt.Fprintf(a.IO.Out, "Run %s: removed are only the user-data files (%s). Machines that were booted with them still run, and may still ask for "+
			"a certificate.\nNext: switch off the machines of %s. Do not approve their requests (%s csr list).\n", p.Run, names, names, a.Name)
	default:
		fmt.Fprintf(a.IO.Out, "Run %s: the machines of %s are deleted.\n", p.Run, names)
	}
}

// printRuns lists runs and their workers, by the journals alone.
func (a *app) printRuns(runs []workers.Run) error {
	clean := a.CleanText
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "RUN\tHOSTED\tNODEPOOL\tPROVIDER\tWORKER\tSTATE\tSINCE\tCONFIG\tMACHINE")
	for _, r := range runs {
		for _, s := range r.Statuses {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Plan.Run, clean(r.Plan.Hosted), clean(r.Plan.NodePool), clean(r.Plan.Provider),
				clean(s.Worker.Name), s.Step, s.Since.UTC().Format(time.RFC3339), clean(cmp.Or(s.Config, "-")), clean(cmp.Or(s.Machine.ID, "-")))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return page.Write(a.IO.Out, a.Style().Fold(rows.String()))
}

// printWorkers lists the workers of one hosted cluster with what both clusters show of them.
func (a *app) printWorkers(runs []workers.Run, now clusterNow) error {
	clean := a.CleanText
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "RUN\tNODEPOOL\tWORKER\tSTATE\tCONFIG\tNODE\tSERVING CERTIFICATE")
	for _, r := range runs {
		for _, s := range r.Statuses {
			config := cmp.Or(s.Config, "-")
			if current := now.configs[r.Plan.NodePool]; current != "" && s.Config != "" && s.Config != current && s.Step != workers.Out {
				config += " (outdated, now " + current + ")"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Plan.Run, clean(r.Plan.NodePool), clean(s.Worker.Name), s.Step, clean(config),
				clean(now.node(r.Plan, s)), now.serving(s, a.IO.Clock()))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := page.Write(a.IO.Out, a.Style().Fold(rows.String())); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(now.pools)) {
		p := now.pools[name]
		fmt.Fprintf(a.IO.Out, "\nNodePool %s: status.version is %s as soon as the spec is, whatever release these "+
			"Nodes have.\n", clean(name), clean(cmp.Or(p.version, "not set")))
		if len(p.never) > 0 {
			fmt.Fprintf(a.IO.Out, "Its conditions %s are False because HyperShift makes no Machines on platform None; that is "+
				"no fault.\n", strings.Join(p.never, " and "))
		}
	}
	return nil
}
