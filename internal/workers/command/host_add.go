package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

// openCluster is a client of the cluster of the kubeconfig.
func (a *app) openCluster() (*kube.Client, error) {
	h, err := a.openHub()
	return h.api, err
}

func (a *app) hostAdd(ctx context.Context, f hostFlags, name, format string) error {
	w, err := f.hostWant(name)
	if err != nil {
		return err
	}
	if format != "text" && f.dryRun == dryNone {
		return session.Usagef("-o %s prints the BareMetalHost: it is for --dry-run=client or --dry-run=server", format)
	}
	if f.dryRun == dryClient {
		return a.printHostManifest(w, format)
	}
	api, err := a.openCluster()
	if err != nil {
		return err
	}
	seen, err := metalhost.Look(ctx, api)
	if err != nil {
		return err
	}
	if seen.NoMetal3 != "" {
		return a.guideWithout(seen, w)
	}
	if err := seen.Blind(); err != nil {
		return err
	}
	var c metalhost.Credentials
	if !w.HaveSecret {
		if c, err = a.credentials(f); err != nil {
			return err
		}
	}
	p, stored, checks, err := a.hostChecks(ctx, api, seen, w, c)
	if err != nil {
		return err
	}
	if format != "text" {
		if i := slices.IndexFunc(checks, func(c workerCheck) bool { return c.stops }); i >= 0 {
			return &cmdutil.ExitError{Code: cmdutil.ExitFault, Err: errors.New(checks[i].text)}
		}
		return a.PrintData(format, nodepool.Backup(stored))
	}
	if err := a.printHostPlan(w, p, stored, checks, seen); err != nil || f.dryRun == dryServer {
		return err
	}
	return a.beginHost(ctx, f, api, seen, w, p, c)
}

// beginHost asks, begins the journal and works on the run.
func (a *app) beginHost(ctx context.Context, f hostFlags, api *kube.Client, seen metalhost.Seen, w metalhost.Want, p metalhost.Place,
	c metalhost.Credentials) (err error) {
	what := "add host " + w.Name
	if p.Scale {
		what += fmt.Sprintf(" and scale MachineSet %s to %d", p.Set, p.From+1)
	}
	if err := a.typedYes(f.worker, what); err != nil {
		return err
	}
	state, err := statedir.Path(f.worker.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	run, err := metalhost.NewRun()
	if err != nil {
		return err
	}
	journal, err := metalhost.Begin(state, metalhost.Plan{
		Run: run, Made: a.IO.Clock().UTC(), Cluster: seen.ClusterID, Host: w, Set: p.Set, SetUID: p.UID, Scale: p.Scale,
	}, a.IO.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	f.endAvailable = !p.Scale && !p.Awaited
	return a.hostWork(ctx, f, api, journal, func() (metalhost.Credentials, error) { return c, nil })
}

// hostChecks looks at all that could be in the way, and has the API server try each write where nothing is.
func (a *app) hostChecks(ctx context.Context, api *kube.Client, seen metalhost.Seen, w metalhost.Want, c metalhost.Credentials) (
	p metalhost.Place, stored kube.Object, checks []workerCheck, err error) {
	add := func(list []metalhost.Check) {
		for _, c := range list {
			checks = append(checks, workerCheck{c.Outcome, c.Stops, c.Text})
		}
	}
	add(seen.Checks(w))
	add(metalhost.SecretChecks(ctx, api, w))
	p, list, _ := seen.Place(w)
	add(list)
	checks = append(checks, rightsCheck(ctx, api, "in the cluster", metalhost.Rights(w)))
	if stops(checks) {
		return p, nil, checks, nil
	}
	stored, list, err = metalhost.Try(ctx, api, seen, w, p, c)
	add(list)
	return p, stored, checks, err
}

func (a *app) printHostManifest(w metalhost.Want, format string) error {
	if format == "text" {
		format = "yaml"
	}
	if !w.HaveSecret {
		fmt.Fprintf(a.IO.Err, "Secret %s is not printed. It has the keys username and password: oc -n %s create secret generic %s "+
			"--from-file=username=FILE --from-file=password=FILE\n", w.Secret, metalhost.Namespace, shellcommand.Quote(w.Secret))
	}
	if !w.NoScale {
		fmt.Fprintln(a.IO.Err, "A MachineSet needs one replica more for it: spec.replicas.")
	}
	return a.PrintData(format, w.Manifest(""))
}

func (a *app) printHostPlan(w metalhost.Want, p metalhost.Place, stored kube.Object, checks []workerCheck, seen metalhost.Seen) error {
	secret := "Secret " + w.Secret + " with user and password of the BMC, which are shown nowhere"
	if w.HaveSecret {
		secret = "nothing more: Secret " + w.Secret + " is there"
	}
	plan := answer.Section{Heading: "Plan", Entries: []answer.Entry{
		{Name: "adds", Text: fmt.Sprintf("BareMetalHost %s in %s, of a cluster of version %s", w.Name, metalhost.Namespace, seen.Version)},
		{Name: "makes", Text: secret},
		{Name: "waits", Text: "registering, inspecting, available: metal3 logs in at the BMC, boots a ramdisk and reports the hardware"},
	}}
	switch {
	case p.Set == "":
	case p.Scale:
		plan.Entries = append(plan.Entries, answer.Entry{Name: "scales", Text: fmt.Sprintf("MachineSet %s from %d to %d: its new Machine "+
			"takes the host", p.Set, p.From,
			p.From+1)})
	default:
		plan.Entries = append(plan.Entries, answer.Entry{Name: "scales", Text: "nothing. Who makes it a worker: " + p.By})
	}
	if p.Scale || p.Awaited {
		plan.Entries = append(plan.Entries,
			answer.Entry{Name: "waits", Text: "provisioning, provisioned, both certificates, Node Ready"},
			answer.Entry{Name: "approves", Text: "requests of this host that wait for 2 minutes, and none of others"})
	}
	plan.Entries = append(plan.Entries, answer.Entry{Name: "undo", Text: "host rollback, until the Node is there"})
	sections := []answer.Section{plan}
	if stored != nil {
		would := answer.Section{Heading: "The API server would store"}
		for _, line := range nodepool.Flat(stored["spec"]) {
			name, value, _ := strings.Cut(line, ": ")
			would.Entries = append(would.Entries, answer.Entry{Name: "spec." + name, Text: value})
		}
		if other := nodepool.Differences(w.Manifest("")["spec"], stored["spec"]); len(other) > 0 {
			checks = append(checks, warningCheck("the API server would not store what was asked for (its schema, or a webhook): "+
				"spec."+strings.Join(other, ", spec.")))
		}
		sections = append(sections, would)
	}
	return a.refusedChecks(checks, sections...)
}
