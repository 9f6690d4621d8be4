package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/diagnose"
	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// fixFlags are the flags of `fix`.
type fixFlags struct {
	stateDir string
	root     string
	to       string
	expect   []string
	held     []string
	heldFrom string
	align    bool
}

func (a *app) fixCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fix",
		Short: "plan a repair, apply it as planned, go on with it, take it back",
		Long: `Fix repairs what diagnose found. A plan is a file: read it, have it read, then apply
it as it was saved. Every step looks again before it acts, writes down what it is
about to do and what was there before, and waits until its effect is seen.

Only apply, resume and undo write to the cluster.`,
		Example: example(a.name, "fix plan --expect control0=192.0.2.10", "make the plan; it is saved as a file") +
			example(a.name, "fix apply bootstrap-mc-mismatch-20260501-031500.yaml", "apply it") +
			example(a.name, "fix resume ID", "go on after a stop or a crash") +
			example(a.name, "fix undo ID", "take back what can be taken back"),
	}
	// A hidden flag, so that who typed --hosted for diagnose is told the way instead of
	// "unknown flag".
	cmd.PersistentFlags().Var(noHosted{a.name}, "hosted", "not for fix")
	if err := cmd.PersistentFlags().MarkHidden("hosted"); err != nil {
		panic("hide --hosted: " + err.Error()) // the flag is registered above
	}
	cmd.AddCommand(a.fixPlanCommand(), a.fixApplyCommand(), a.fixAgainCommand("resume", "go on with a plan that stopped"),
		a.fixAgainCommand("undo", "take back what a plan did, as far as nothing depends on it"), a.fixHistoryCommand())
	return cmd
}

// noHosted is the flag --hosted of fix: every value is refused.
type noHosted struct{ name string }

func (noHosted) String() string { return "" }
func (noHosted) Type() string   { return "string" }

func (f noHosted) Set(string) error {
	return fmt.Errorf("there is no automatic repair of a hosted cluster: its faults are mended in the management cluster, and \"%s diagnose --hosted NS/NAME\" says for each what to do by hand; requests of its workers are approved with \"%s csr approve --kubeconfig FILE\" of the hosted cluster", f.name, f.name)
}

func (a *app) addFixFlags(cmd *cobra.Command, f *fixFlags) {
	grouped(cmd, groupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.stateDir, "state-dir", "", "keep journals and what was there before in this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	grouped(cmd, groupRead, func(s *pflag.FlagSet) {
		s.StringArrayVar(&a.source.catalogs, "catalog", nil, "add the faults of this `DIR` to the built-in ones; repeatable")
	})
	a.addConnectFlags(cmd)
}

func (a *app) fixPlanCommand() *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "make a plan for a cause that diagnose names, and save it",
		Long: `Plan diagnoses the live cluster, turns the remedies of one cause into ordered steps and
saves them. It changes nothing in the cluster.

A host's certificate requests are only in the plan when you name the host with
--expect: the name in a request is chosen by whoever asks. A rendered config that
only hosts hold is fetched from a host (through its machine-config-daemon), or from
the file or must-gather that you name; it holds the pull secret and is kept with
mode 0600 beside the journals, never in the plan.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fixPlan(cmd.Context(), f, formatOf(cmd)) },
	}
	grouped(cmd, groupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.root, "root", "", "the cause to repair, as `FAULT` or FAULT@SUBJECT; needed when there are several")
		s.StringVar(&f.to, "to", "", "save the plan as this `FILE`; default ID.yaml in this directory")
		s.StringArrayVar(&f.expect, "expect", nil, "`NAME=IP,...`: this host is expected to join, with these addresses; repeatable")
		s.StringArrayVar(&f.held, "held", nil, "`HOST=FILE`: a copy of the host's "+repair.HeldPath+"; repeatable")
		s.StringVar(&f.heldFrom, "held-from", "", "take such copies from this unpacked must-gather `DIR`")
		s.BoolVar(&f.align, "align", false, "prefer to name the new render on the nodes, where it applies the same as what they hold")
		s.StringArrayVar(&a.source.consoles, "console", nil, "`HOST=FILE`: text from the screen of a host; repeatable")
		s.BoolVar(&a.source.probe, "probe", false, "also ask the machine config servers on port 22623, without credentials")
	})
	a.addFixFlags(cmd, &f)
	a.addOutputFlags(cmd, "text", "yaml")
	return cmd
}

// repairer is what plan and apply share: one cluster, written to and read anew.
type repairer struct {
	api    *repair.Kube
	held   repair.HeldConfigs
	store  *repair.Store
	known  *fault.Catalog
	state  string
	ca     string
	server string
}

func (a *app) openRepair(f fixFlags) (*repairer, error) {
	config, err := a.restConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // a repair makes few requests and must not wait for its own throttle
	api, err := repair.NewKube(config)
	if err != nil {
		return nil, err
	}
	onHosts, err := repair.NewHeldLive(config)
	if err != nil {
		return nil, err
	}
	ca, err := repair.CADigest(config)
	if err != nil {
		return nil, err
	}
	state, err := repair.StateDir(f.stateDir, a.io.Getenv)
	if err != nil {
		return nil, err
	}
	held, err := heldSources(f)
	if err != nil {
		return nil, err
	}
	known, err := a.loadCatalog()
	if err != nil {
		return nil, err
	}
	return &repairer{api: api, known: known, held: append(held, onHosts),
		store: repair.NewStore(state), state: state, ca: ca, server: config.Host}, nil
}

// heldSources are the user's files first, then their must-gather.
func heldSources(f fixFlags) (repair.HeldAny, error) {
	files := repair.HeldFiles{}
	for _, h := range f.held {
		host, path, ok := strings.Cut(h, "=")
		if !ok || host == "" || path == "" {
			return nil, usagef("--held %q: want HOST=FILE", h)
		}
		files[host] = path
	}
	list := repair.HeldAny{files}
	if f.heldFrom != "" {
		info, err := os.Stat(f.heldFrom)
		if err != nil {
			return nil, fmt.Errorf("--held-from: %w", err)
		}
		if !info.IsDir() {
			return nil, usagef("--held-from %s: want the directory of an unpacked must-gather", f.heldFrom)
		}
		list = append(list, repair.HeldMustGather{Root: os.DirFS(f.heldFrom)})
	}
	return list, nil
}

func (a *app) fixPlan(ctx context.Context, f fixFlags, format string) error {
	expect, err := expectations(f.expect)
	if err != nil {
		return err
	}
	c, err := a.openRepair(f)
	if err != nil {
		return err
	}
	for _, e := range expect {
		a.source.expect = append(a.source.expect, e.Name)
	}
	r, err := a.openRun(ctx, nil)
	if err != nil {
		return err
	}
	d, err := a.diagnose(ctx, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	root, err := chooseRoot(d, f.root)
	if err != nil {
		return err
	}
	planner := &repair.Planner{API: c.api, Store: c.store, Held: c.held, Clock: wall{repair.SystemClock{}, a.io.Clock}}
	p, err := planner.Plan(ctx, repair.Ask{Diagnosis: d, Catalog: r.catalog, Root: root.Key, Expect: expect, Align: f.align,
		Cluster: repair.ClusterID{ID: d.Cluster.ID, Server: c.server, CA: c.ca}, Context: a.contextName(c.server)})
	if err != nil {
		return err
	}
	return a.savePlan(p, f, format)
}

func (a *app) savePlan(p *repair.Plan, f fixFlags, format string) error {
	path := f.to
	if path == "" {
		path = p.ID + ".yaml"
	}
	if err := p.Save(path); err != nil {
		return fmt.Errorf("%w; name a file that is not there with --to FILE", err)
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	if format == "yaml" {
		raw, err := p.Encode()
		if err != nil {
			return err
		}
		_, err = a.io.Out.Write(raw)
		return err
	}
	if err := a.printPlan(p, path); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.io.Out, "\nIts digest is %s; with --digest, apply takes no other content.\n", digest)
	return err
}

func expectations(texts []string) ([]csr.Expectation, error) {
	var list []csr.Expectation
	for _, t := range texts {
		e, err := csr.ParseExpect(t)
		if err != nil {
			return nil, &usageError{err}
		}
		list = append(list, e)
	}
	return list, nil
}

// chooseRoot picks the root that is to be repaired; it never guesses among several.
func chooseRoot(d *fault.Diagnosis, want string) (fault.Root, error) {
	var names []string
	var found []fault.Root
	for _, r := range d.Roots {
		name := r.Fault + "@" + r.Subject.String()
		names = append(names, name)
		if want == "" || want == r.Fault || want == name {
			found = append(found, r)
		}
	}
	switch {
	case len(d.Roots) == 0 && d.Verdict.Class == fault.Settling:
		return fault.Root{}, fmt.Errorf("nothing to repair yet: %s; ask again after %s, when the first of it counts as a fault", d.Verdict.Reason, d.Verdict.Until.UTC().Format(time.RFC3339))
	case len(d.Roots) == 0:
		return fault.Root{}, fmt.Errorf("nothing to repair: the diagnosis names no cause (%s: %s)", d.Verdict.Class, d.Verdict.Reason)
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return fault.Root{}, usagef("--root %s: the causes are %s", want, strings.Join(names, ", "))
	}
	return fault.Root{}, usagef("there are several causes; choose one with --root: %s", strings.Join(names, ", "))
}

// wall is the system's clock with the command line's idea of now.
type wall struct {
	repair.SystemClock
	now func() time.Time
}

func (w wall) Now() time.Time { return w.now() }

// fresh evaluates a fault on a cluster that is read anew each time.
type fresh struct{ app *app }

// Evaluate implements repair.Evaluator.
func (f fresh) Evaluate(ctx context.Context, k fault.Key) (_ fault.Finding, err error) {
	r, err := f.app.openRun(ctx, nil)
	if err != nil {
		return fault.Finding{}, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	known, ok := r.catalog.Fault(k.Fault)
	if !ok {
		return fault.Finding{}, fmt.Errorf("there is no fault %q in this version's catalogue", k.Fault)
	}
	engine, err := diagnose.New(r.catalog, all.All(), relation.Relater{}, f.app.log)
	if err != nil {
		return fault.Finding{}, err
	}
	w := facts.NewWorld(r.reader, r.now)
	if w.Version, err = version(ctx, w); err != nil {
		return fault.Finding{}, err
	}
	return engine.Evaluate(ctx, w, known, k.Subject)
}

// LastServed implements repair.Served from the logs of the machine config servers.
func (f fresh) LastServed(ctx context.Context, pool string) (_ time.Time, _ string, err error) {
	r, err := f.app.openRun(ctx, nil)
	if err != nil {
		return time.Time{}, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	line, found, err := mcs.LastServed(ctx, facts.NewWorld(r.reader, r.now), pool)
	if err != nil || !found {
		return time.Time{}, "", err
	}
	return line.Time, strings.TrimSpace(line.Text), nil
}

// version is the version that the cluster is at or on its way to, "" where it
// cannot be read: faults of all versions are evaluated then.
func version(ctx context.Context, w *facts.World) (string, error) {
	cv, _, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if _, missing := evidence.AsUnavailable(err); missing {
		return "", nil
	}
	return evidence.String(cv.Content, "status", "desired", "version"), err
}

func (a *app) executor(c *repairer) *repair.Executor {
	return &repair.Executor{
		API: c.api, Eval: fresh{a}, Catalog: c.known, Clock: wall{repair.SystemClock{}, a.io.Clock}, StateDir: c.state, Store: c.store, CA: c.ca,
		Served: fresh{a}, Mirror: repair.ConfigMapMirror{API: c.api}, Say: a.sayStep(), Poll: 2 * time.Second,
	}
}

func (a *app) fixApplyCommand() *cobra.Command {
	var f fixFlags
	var reviewed string
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "apply a saved plan, step by step",
		Long: `Apply does what the plan's file says, as it was saved. Before each step it checks that it
is the same cluster, that nothing that the plan was made from has changed, that the
fault is still there and that etcd is well; otherwise it stops and says why. A plan
that leaves out a guard, or that says something else than its steps do, is refused.

Exit codes: 0 repaired, 1 the tool could not do its work, 4 failed and rolled back,
5 a person is needed.`,
		Args: exactlyOne("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := repair.Load(args[0])
			if err != nil {
				return err
			}
			if err := a.reviewed(p, reviewed); err != nil {
				return err
			}
			c, err := a.openRepair(f)
			if err != nil {
				return err
			}
			return a.ended(cmd.Context(), p.ID, a.executor(c).Apply(cmd.Context(), p), applied)
		},
	}
	grouped(cmd, groupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&reviewed, "digest", "", "apply only the content with this `sha256:...`, the digest that plan printed and that was reviewed")
	})
	a.addFixFlags(cmd, &f)
	return cmd
}

// reviewed says which content is applied, and refuses another than the one asked for.
func (a *app) reviewed(p *repair.Plan, want string) error {
	if want != "" {
		if err := p.Is(want); err != nil {
			return err
		}
	}
	have, err := p.Digest()
	if err != nil || a.global.quiet {
		return err
	}
	_, err = fmt.Fprintf(a.io.Err, "plan %s, %s\n", p.ID, have)
	return err
}

func (a *app) fixAgainCommand(verb, short string) *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Args:  exactlyOne("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := planName(args[0])
			if err != nil {
				return err
			}
			c, err := a.openRepair(f)
			if err != nil {
				return err
			}
			if verb == "undo" {
				return a.ended(cmd.Context(), id, a.executor(c).Undo(cmd.Context(), id), undone)
			}
			return a.ended(cmd.Context(), id, a.executor(c).Resume(cmd.Context(), id), applied)
		},
	}
	a.addFixFlags(cmd, &f)
	return cmd
}

// planName accepts a plan's id, or its file.
func planName(arg string) (string, error) {
	if filepath.Ext(arg) != ".yaml" {
		return arg, nil
	}
	p, err := repair.Load(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no such file; name the plan's id", arg)
	}
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("want one %s, got %d", what, len(args))
		}
		return nil
	}
}
