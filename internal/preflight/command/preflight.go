package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/preflight"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// preflightFlags say what is looked at before an installation.
type preflightFlags struct {
	files []string
	dir   string
	// installDir: the directory was named as the installer's, also where nothing in it shows that.
	installDir bool

	release string
	against string   // context or archive of a running cluster
	network bool     // ask the network of the plan
	answers []string // files of what it answered another machine
	bmc     bmcFlags
}

func (a *app) preflightCommand(update Update) *cobra.Command {
	var o preflightFlags
	cmd := &cobra.Command{
		Use:   "preflight [DIR]",
		Short: "find mistakes in a plan before anything is switched on",
		Long: `Preflight reads install-config.yaml and agent-config.yaml and names what
openshift-install would refuse, and what it accepts and what then stops hosts from
joining: with file, line and column, what to write instead, and the source.

It reads files only, unless --network asks what the plan needs of the network: names,
free VIPs, load balancers, time servers and registries, as this machine
sees them, without any credential; and --bmc asks the BMCs of the hosts over Redfish what
is in the machines. Nothing is changed.
The installer consumes install-config.yaml: keep a copy, and
check that. Passwords, keys and the pull secret stay in the files.

With --update it asks of a running cluster whether every host comes back from an update
or a reboot: what holds a drain, a pool or a host, what to do now, what was not read.
Exit codes: 0 no known mistake, or ready, 1 the tool could not do its work, 2 a mistake
at or above --fail-on, 3 undecided.`,
		Example: cmdutil.Example(a.Name, "preflight", "the plan in this directory") +
			cmdutil.Example(a.Name, "preflight ./cluster1", "the plan in a directory") +
			cmdutil.Example(a.Name, "preflight -f install-config.yaml -f agent-config.yaml", "files of any name") +
			cmdutil.Example(a.Name, "preflight ./cluster1 --release 4.18", "with what depends on the release") +
			cmdutil.Example(a.Name, "preflight ./cluster1 --network", "and its network, seen from here") +
			cmdutil.Example(a.Name, "preflight ./cluster1 --bmc", "and what the BMCs of its hosts show") +
			cmdutil.Example(a.Name, "preflight --against prod --probe", "before hosts are added to a running cluster") +
			cmdutil.Example(a.Name, "preflight --update --to 4.21", "does every host come back from an update?") +
			cmdutil.Example(a.Name, "preflight ./cluster1 -o sarif", "for a pull request"),
		Args: cmdutil.AtMostOne("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.dir != "" && len(args) > 0 {
				return session.Usagef("%q and --install-dir %s: name one directory", args[0], o.dir)
			}
			o.installDir = o.dir != ""
			if len(args) > 0 {
				o.dir = args[0]
			}
			if err := o.bmc.check(cmd.Flags().Changed("bmc-timeout")); err != nil {
				return err
			}
			if asked, err := update.Asked(cmd); err != nil {
				return err
			} else if asked {
				return a.preflightUpdate(cmd.Context(), cmdutil.FormatOf(cmd), update, o)
			}
			if o.against != "" {
				if o.dir != "" || len(o.files) > 0 || o.network || len(o.answers) > 0 {
					return session.Usagef("--against %s: a running cluster is checked, and no plan", o.against)
				}
				if o.bmc.asks() {
					return session.Usagef("--against %s: for the BMCs of its hosts write --bmc-from, without --against", o.against)
				}
				return a.preflightAgainst(cmd.Context(), cmdutil.FormatOf(cmd), o.against)
			}
			if a.source.Probe || a.source.Hosted != "" || len(a.source.ReadSecrets) > 0 {
				return session.Usagef("--probe, --hosted and --read-secrets are for a running cluster: name it with --against, or write --update")
			}
			return a.preflight(cmd.Context(), cmdutil.FormatOf(cmd), o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "file", "f", nil, "`FILE` of the plan: install-config or agent-config, of any name; repeatable")
	f.StringVar(&o.dir, "install-dir", "", "`DIR` of openshift-install, also where only manifests are left in it; default: the current one")
	f.StringVar(&o.release, "release", "", "the `RELEASE` that you will install, as 4.18: some checks depend on it")
	f.StringVar(&o.against, "against", "", "check whether this running cluster lets new hosts join: a context of the kubeconfig, or an archive, as `CLUSTER`")
	f.BoolVar(&a.source.Probe, "probe", false, "with --against, also ask its machine config servers and API servers, without credentials: do hosts "+
		"reach them, and which certificate do they serve")
	f.StringSliceVar(&a.source.ReadSecrets, "read-secrets", nil, "with --against or --update, also read Secrets of this `NAMESPACE`: user-data and "+
		"tokens; values are never shown or kept; repeatable")
	f.StringVar(&a.source.Hosted, "hosted", "", "with --against of a management cluster: the hosted cluster `NS/NAME` that hosts are added to")
	f.BoolVar(&o.network, "network", false, "ask the network of the plan, too: names, VIPs, load balancers, time servers, registries")
	f.StringArrayVar(&o.answers, "network-answers", nil, "`FILE` that rollcall-host preflight wrote on another machine; repeatable")
	f.StringVar(&a.source.ProbeFrom, "probe-from", "", "with --network, ask from this node of the running cluster of the kubeconfig: `node/NAME`")
	update.AddFlags(cmd)
	a.AddConnectFlags(cmd, &a.source)
	a.addBMCFlags(cmd, &o.bmc)
	a.AddChoiceFlags(cmd, &a.source)
	a.AddCatalogFlag(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddAnswerFlags(cmd)
	return cmd
}

var releaseForm = regexp.MustCompile(`^4\.\d{1,3}(\.\d{1,4}([-+.][0-9A-Za-z.-]{1,80})?)?$`)

func checkRelease(release string) error {
	if release != "" && !releaseForm.MatchString(release) {
		return session.Usagef("--release %s: write it as 4.18 or 4.18.3", release)
	}
	return nil
}

func (a *app) preflight(ctx context.Context, format string, o preflightFlags) (err error) {
	if err := checkRelease(o.release); err != nil {
		return err
	}
	over, err := a.preflightSource(ctx, o)
	if err != nil {
		return err
	}
	r, err := a.session().OpenOver(ctx, over)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return a.Answer(ctx, r, format, cmdutil.Question{Call: a.preflightCall(o), Undecided: preflight.Undecided,
		Diagnose: func(ctx context.Context) (*diagnosis.Diagnosis, error) {
			return checkPlan(ctx, r)
		}})
}

// checkPlan runs the checks of preflight over a plan that is open.
func checkPlan(ctx context.Context, r *session.Run) (*diagnosis.Diagnosis, error) {
	ses := r.Session
	defer ses.Progress("reading %s %s ...", r.Source.Kind, r.Source.Name)()
	o := preflight.Options{Catalog: r.Catalog, Reader: r.Reader, Now: r.Now, Clock: ses.Clock, Only: ses.Only, Skip: ses.Skip}
	if r.Accept != nil {
		o.Accept = r.Accept
	}
	return preflight.Run(ctx, o)
}

// preflightSource opens the plan, and what is asked besides it.
func (a *app) preflightSource(ctx context.Context, o preflightFlags) (evidence.Source, error) {
	s, err := a.openPlan(o)
	switch {
	case err != nil && o.bmc.elsewhere() && len(o.files) == 0 && o.dir == "" && !o.network && len(o.answers) == 0 && errors.Is(err, plan.ErrNoPlan):
		return a.withBMCs(ctx, nil, nil, o)
	case err != nil:
		return nil, err
	}
	s.Release(o.release)
	over, err := a.withNetwork(ctx, s, o)
	if err != nil || !o.bmc.asks() {
		return over, err
	}
	return a.withBMCs(ctx, over, s, o)
}

func (a *app) openPlan(o preflightFlags) (*plan.Source, error) {
	if len(o.files) > 0 {
		if o.dir != "" {
			return nil, session.Usagef("-f and %s: name files or a directory", o.dir)
		}
		return plan.Open(o.files, a.IO.Clock())
	}
	dir := o.dir
	if dir == "" {
		dir = "."
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, session.Usagef("there is no directory %s; name the one with install-config.yaml", dir)
	case err == nil && !info.IsDir():
		return nil, session.Usagef("%s is a file: run %s preflight -f %s", dir, a.Name, dir)
	}
	return a.openPlanIn(os.DirFS(dir), dir, o.installDir)
}

// openPlanIn opens the plan at the top of a file system; dir is what the user calls it.
func (a *app) openPlanIn(fsys fs.FS, dir string, installDir bool) (*plan.Source, error) {
	read := plan.FS
	if installDir {
		read = plan.InstallDir
	}
	s, err := read(fsys, ".", dir, a.IO.Clock())
	switch {
	case errors.Is(err, plan.ErrOtherManifests):
		return nil, fmt.Errorf("%w; if it is the directory of an installation, run %s preflight --install-dir %s", err, a.Name, dir)
	case errors.Is(err, plan.ErrNoPlan):
		if below, _ := fs.Glob(fsys, "*/install-config.yaml"); len(below) > 0 { // the pattern is good
			first := filepath.Join(dir, filepath.Dir(below[0]))
			return nil, fmt.Errorf("%w; there is one below: %s preflight %s", err, a.Name, first)
		}
		return nil, fmt.Errorf("%w; openshift-install consumes these files: name your copies with -f FILE", err)
	}
	return s, err
}

// preflightCall is the call that checks the same once more.
func (a *app) preflightCall(o preflightFlags) string {
	words := []string{a.Name, "preflight"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellcommand.Quote(value))
		}
	}
	switch {
	case o.installDir:
		add("--install-dir", o.dir)
	case o.dir != "":
		words = append(words, shellcommand.Quote(o.dir))
	}
	for _, f := range o.files {
		add("-f", f)
	}
	add("--release", o.release)
	if o.network {
		words = append(words, "--network")
	}
	for _, f := range o.answers {
		add("--network-answers", f)
	}
	add("--probe-from", a.source.ProbeFrom)
	if o.bmc.ask {
		words = append(words, "--bmc")
	}
	add("--bmc-list", o.bmc.list)
	add("--bmc-from", o.bmc.from)
	add("--bmc-credentials", o.bmc.credentials)
	add("--bmc-ca", o.bmc.ca)
	if o.bmc.timeout != bmc.DefaultLimit {
		add("--bmc-timeout", o.bmc.timeout.String())
	}
	if o.bmc.from != "" || a.source.ProbeFrom != "" {
		words = append(words, a.source.Connection()...)
	}
	for _, dir := range a.source.Catalogs {
		add("--catalog", dir)
	}
	if flags := a.source.AnswerFlags(); flags != "" {
		words = append(words, flags)
	}
	return cmdutil.JoinWords(words)
}
