package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
)

func (a *app) fixPlanCommand() *cobra.Command {
	f := fixFlags{values: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "make a plan for a cause that diagnose names, and save it",
		Long: `Plan diagnoses the live cluster, turns the remedies of one cause into ordered steps and
saves them. It changes nothing in the cluster. With --from it shows what would be done
for the cluster of an archive; such a plan is never applied.

A host's certificate requests are only in the plan when you name the host with
--expect: the name in a request is chosen by whoever asks. A rendered config that
only hosts hold is fetched from a host (through its machine-config-daemon), or from
the file or must-gather that you name; it holds the pull secret and is kept with
mode 0600 next to the journals, never in the plan.`,
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fixPlan(cmd.Context(), f, cmdutil.FormatOf(cmd)) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.root, "root", "", "the cause to repair, as `FAULT` or FAULT@SUBJECT; needed when there are several")
		s.StringVar(&f.to, "to", "", "save the plan as this `FILE`, as JSON where it ends with .json; default ID.yaml in this directory, with "+
			"--from none. With --all-safe the directory of the plans")
		s.StringArrayVar(&f.expect, "expect", nil, "`NAME=IP,...`: this host is expected to join, with these addresses; repeatable")
		s.StringArrayVar(&f.held, "held", nil, "`HOST=FILE`: a copy of the host's "+repair.HeldPath+"; repeatable")
		s.StringVar(&f.heldFrom, "held-from", "", "take such copies from this unpacked must-gather `DIR`")
		for _, v := range repair.ValueFlags() {
			f.values[v.Remedy] = s.String(v.Name, "", v.Usage)
		}
		s.StringVar(&f.bmcUser, "bmc-user", "", "`USER` of the BMC, where the cause is missing or refused credentials")
		s.StringVar(&f.bmcPasswordFile, "bmc-password-file", "", "its password is in this `FILE`; - is standard input. It is never shown, and kept "+
			"with mode 0600 next to the journals")
		s.StringVar(&f.mcsSecret, "mcs-secret", "", "`FILE` with a kept copy of the Secret machine-config-server-tls, to be restored where hosts accept it")
		s.BoolVar(&f.newCA, "new-mcs-authority", false, "make a new CA of the machine config server where the cluster has none; every saved "+
			"pointer config breaks")
		s.StringVar(&f.member, "remove-member", "", "remove the member of etcd of this `HOST`, which does not answer and whose host stays away for good")
		s.StringVar(&f.etcdBackup, "etcd-backup", "", "the backup made for that: a snapshot `FILE` on this machine, not older than two hours")
		s.StringVar(&f.inspect, "inspect-again", "", "have metal3 inspect this `HOST` again: what stopped the inspection is removed, also where "+
			"it was not found")
		s.BoolVar(&f.allSafe, "all-safe", false, "make a plan for every cause whose steps have no risk or are reversible; the others are listed "+
			"with the reason")
		s.BoolVar(&f.align, "align", false, "prefer to name the new render on the nodes, where it applies the same as what they hold")
	})
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(s *pflag.FlagSet) {
		s.StringArrayVar(&a.source.From, "from", nil, "read the archive at this `PATH` and no cluster: the plan shows what would be done and is never "+
			"applied; repeatable")
		s.StringVar(&a.source.Now, "now", "", "take this `TIME` (RFC 3339) for the present of the archive")
	})
	cmd.MarkFlagsMutuallyExclusive("all-safe", "root")
	a.addFixFlags(cmd, &f)
	a.AddOutputFlags(cmd, "text", "yaml", "json")
	return cmd
}

func (a *app) fixPlan(ctx context.Context, f fixFlags, format string) (err error) {
	expect, err := session.Expectations(f.expect)
	if err != nil {
		return err
	}
	if err := a.session().CheckHosted(); err != nil {
		return err
	}
	c, err := a.repairerFor(f)
	if err != nil {
		return err
	}
	o := a.source
	o.Expect = f.expect
	r, err := a.Session(o).Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return err
	}
	planner := &repair.Planner{API: c.api, Store: c.store, Held: c.held, Clock: wall{repair.SystemClock{}, a.IO.Clock}}
	ask := repair.Ask{Diagnosis: d, Catalog: r.Catalog, Expect: expect, Align: f.align,
		Member:  repair.MemberAsk{Name: f.member, Backup: f.etcdBackup},
		Inspect: f.inspect, Values: map[string]string{},
		Cluster: repair.ClusterID{ID: d.Cluster.ID, Server: c.server, CA: c.ca, Hosted: d.Cluster.Hosted}, Context: a.session().ContextName(c.server)}
	for remedy, v := range f.values {
		ask.Values[remedy] = *v
	}
	if err := a.secretsOf(f, &ask); err != nil {
		return err
	}
	if len(a.source.From) > 0 {
		planner.API, planner.Held = repair.FromEvidence{Evidence: r.Reader, Hosted: d.Cluster.Hosted}, repair.NoHeld{}
		ask.From, ask.Context = strings.Join(a.source.From, ", "), ""
	}
	if f.allSafe {
		return a.planAllSafe(ctx, planner, ask, f, planPlace{c.state, format}, a.ReportOptions(r))
	}
	root, err := chooseRoot(d, f.root, meant(r.Catalog, ask))
	if err != nil {
		return err
	}
	ask.Root = root.Key
	p, err := planner.Plan(ctx, ask)
	if err != nil {
		return nothingToPlan(err, root, a.Name, a.ReportOptions(r))
	}
	return a.savePlan(p, f, c.state, format)
}

// repairerFor opens the cluster that is repaired; for a plan from an archive only what lies
// on this machine.
func (a *app) repairerFor(f fixFlags) (*repairer, error) {
	if len(a.source.From) == 0 {
		return a.openRepair(f)
	}
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, err
	}
	return &repairer{store: repair.NewStore(state), state: state}, nil
}

func (a *app) savePlan(p *repair.Plan, f fixFlags, state, format string) error {
	path := f.to
	if path == "" && p.From == "" {
		path = p.ID + ".yaml"
	}
	digest, err := "", error(nil)
	if p.From == "" { // of a plan that is never applied no digest is kept
		if digest, err = p.Issue(state, path); err != nil {
			return fmt.Errorf("note the plan's digest: %w", err)
		}
	}
	if path != "" { // a plan that is never applied is only shown
		if err := p.Save(path); err != nil {
			return fmt.Errorf("%w; name a new file with --to FILE", err)
		}
	}
	if format != "text" {
		raw, err := p.EncodeAs("plan." + format)
		if err != nil {
			return err
		}
		_, err = a.IO.Out.Write(raw)
		return err
	}
	if err := a.printPlan(p, path, f.stateDir); err != nil || p.From != "" {
		return err
	}
	_, err = fmt.Fprintf(a.IO.Out, "\nThe file's digest is %s. Apply takes the file only as it is; on another machine name the digest with --digest.\n", digest)
	return err
}

// meant reports whether a cause is one that the values of a person are for: it, or something that it
// explains, has a remedy that takes them. Without such a value it is nil.
func meant(c *fault.Catalog, ask repair.Ask) func(diagnosis.Case) bool {
	named := ask.Named()
	if len(named) == 0 {
		return nil
	}
	return func(r diagnosis.Case) bool {
		return slices.ContainsFunc(append([]fault.Key{r.Key}, r.Explains...), func(k fault.Key) bool {
			f, ok := c.Fault(k.Fault)
			other := ask.Inspect != "" && !inventory.SameName(k.Subject.Name, ask.Inspect)
			return ok && !other && slices.ContainsFunc(f.Remedies, func(id string) bool { return slices.Contains(named, id) })
		})
	}
}

// chooseRoot picks the case of a root that is to be repaired; it never guesses among several.
// meant, where it is not nil, reports which of them the other flags are for; then it may also be a
// symptom whose cause is not known.
func chooseRoot(d *diagnosis.Diagnosis, want string, meant func(diagnosis.Case) bool) (diagnosis.Case, error) {
	all := causes(d)
	if meant != nil && want == "" {
		if fit := slices.DeleteFunc(all, func(c diagnosis.Case) bool { return !meant(c) }); len(fit) > 0 {
			all = fit
		} else if fit = symptoms(d, meant); len(fit) > 0 {
			all = fit
		} else {
			all = causes(d)
		}
	}
	var names []string
	var found []diagnosis.Case
	for _, c := range all {
		name := c.Fault + "@" + c.Subject.String()
		names = append(names, name)
		if want == "" || want == c.Fault || want == name {
			found = append(found, c)
		}
	}
	switch {
	case len(all) == 0 && d.Verdict.Class == diagnosis.Settling:
		return diagnosis.Case{}, fmt.Errorf("nothing to repair yet: %s; ask again after %s, when the first of it "+
			"counts as a fault", d.Verdict.Reason, d.Verdict.Until.UTC().Format(time.RFC3339))
	case len(all) == 0:
		return diagnosis.Case{}, fmt.Errorf("nothing to repair: the diagnosis names no cause (%s: %s)", d.Verdict.Class, d.Verdict.Reason)
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return diagnosis.Case{}, session.Usagef("--root %s: the causes are %s", want, strings.Join(names, ", "))
	}
	return diagnosis.Case{}, session.Usagef("there are several causes; choose one with --root: %s", strings.Join(names, ", "))
}

// causes are the cases of all roots.
func causes(d *diagnosis.Diagnosis) []diagnosis.Case {
	var list []diagnosis.Case
	for _, r := range d.Roots {
		list = append(list, r.Cases...)
	}
	return list
}

// symptoms are those without a known cause that the flags are for.
func symptoms(d *diagnosis.Diagnosis, meant func(diagnosis.Case) bool) []diagnosis.Case {
	var list []diagnosis.Case
	for _, u := range d.Unexplained {
		if c := repair.Symptom(u); meant(c) {
			list = append(list, c)
		}
	}
	return list
}

// nothingToPlan explains why there is no plan for a root, where its remedies say more.
func nothingToPlan(err error, root diagnosis.Case, name string, o answer.Options) error {
	byHand := !slices.ContainsFunc(root.Remedies, func(a fault.Advice) bool {
		r, ok := o.Catalog.Remedy(a.ID)
		return ok && r.Fix
	})
	unproven := errors.As(err, new(*repair.UnprovenError))
	if do := ownCommand(root, name); do != "" && errors.Is(err, repair.ErrNothingToDo) && !repair.Open(err) {
		return fmt.Errorf("no plan for %s (%s): what repairs it is `%s`; `%s diagnose` has the steps before and after", root.Fault, root.Title, do, name)
	}
	switch {
	case byHand && (unproven || errors.Is(err, repair.ErrNothingToDo) && !repair.Open(err)):
		return fmt.Errorf("no plan for %s (%s): `%s fix` cannot repair it; `%s diagnose` lists what to do by hand", root.Fault, root.Title, name, name)
	case unproven:
		return fmt.Errorf("%w. A step that changes something needs a proven cause; read first: %s%s", err, o.Proves(root), byName(root, name))
	}
	return err
}

// byName is how a person who knows the cause has the repair planned all the same, "" where there is no such way.
func byName(root diagnosis.Case, name string) string {
	if slices.ContainsFunc(root.Remedies, func(a fault.Advice) bool { return a.ID == repair.InspectAgain }) {
		return fmt.Sprintf(". If you have removed what stopped the inspection: %s fix plan --inspect-again %s", name, shellcommand.Quote(root.Subject.Name))
	}
	return ""
}

// ownCommand is the first command of this program that does something, in the first remedy of a
// cause that can be used; "" where there is none.
func ownCommand(root diagnosis.Case, name string) string {
	i := root.FirstRemedy()
	if i < 0 {
		return ""
	}
	for _, s := range root.Remedies[i].Steps {
		rest, ours := strings.CutPrefix(s.Run, "rollcall ")
		does := slices.ContainsFunc([]string{"csr approve", "fix ", "worker "}, func(p string) bool { return strings.HasPrefix(rest, p) })
		if ours && does && !strings.HasPrefix(rest, "fix plan") {
			return name + " " + rest
		}
	}
	return ""
}
