package command

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/statedir"
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
	allSafe  bool

	values                              map[string]*string // by remedy: what only a person knows, see repair.ValueFlags
	bmcUser, bmcPasswordFile, mcsSecret string
	newCA                               bool
	member, etcdBackup, inspect         string
	digest                              string
	wait                                time.Duration
	until                               string
	yes                                 bool
}

func (a *app) fixCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fix",
		Short: "plan a repair, apply it, resume it, undo it",
		Long: `Fix repairs what diagnose found. A plan is a file: read it, have it read, then apply
it as it was saved. Every step looks again before it acts, writes down what it is
about to do and what was there before, and waits until its effect is seen.

Only apply, resume and undo write to the cluster.`,
		Example: cmdutil.Example(a.Name, "fix plan --expect control0=192.0.2.10", "make the plan; it is saved as a file") +
			cmdutil.Example(a.Name, "fix apply bootstrap-mc-mismatch-20260501-031500.yaml", "apply it") +
			cmdutil.Example(a.Name, "fix resume ID", "continue after a stop or a crash") +
			cmdutil.Example(a.Name, "fix undo ID", "undo (roll back) what can be undone"),
	}
	cmd.AddCommand(a.fixPlanCommand(), a.fixApplyCommand(), a.fixAgainCommand("resume", "continue a plan that stopped, or check a finished one again"),
		a.fixAgainCommand("undo", "undo what a plan did, as far as nothing depends on it"), a.fixHistoryCommand(), a.fixScriptCommand(), a.fixTimeCommand())
	return cmd
}

func (a *app) addFixFlags(cmd *cobra.Command, f *fixFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.stateDir, "state-dir", "", "keep journals and what was there before in this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(s *pflag.FlagSet) {
		s.StringArrayVar(&a.source.Catalogs, "catalog", nil, "add the faults of this `DIR` to the built-in ones; repeatable")
		s.StringArrayVar(&a.source.Consoles, "console", nil, "`HOST=FILE`: text from the screen of a host; repeatable")
		s.BoolVar(&a.source.Probe, "probe", false, "also ask the machine config servers on port 22623, without credentials")
		s.StringVar(&a.source.Hosted, "hosted", "", "repair this hosted cluster, `NS/NAME` of its HostedCluster, in its management cluster, which is "+
			"that of the kubeconfig")
		s.StringVar(&a.source.HostedKubeconfig, "hosted-kubeconfig", "", "`FILE` with the hosted cluster's kubeconfig, instead of the Secret that "+
			"HostedCluster.status names")
		s.StringSliceVar(&a.source.ReadSecrets, "read-secrets", nil, "also read Secrets of this `NAMESPACE` to find the cause; repeatable")
	})
	a.AddConnectFlags(cmd, &a.source)
}

// forPlan reads what the plan was made from: its hosted cluster, with the hosts that were expected
// then. It refuses another hosted cluster.
func (a *app) forPlan(p *repair.Plan) (*app, error) {
	if named := a.source.Hosted; named != "" && named != p.Cluster.Hosted {
		return nil, session.Usagef("--hosted %s: the plan is for %s", named, cmp.Or(p.Cluster.Hosted, "a cluster that is not hosted"))
	}
	o := a.source
	o.Hosted, o.Expect = p.Cluster.Hosted, p.Before.Expected
	return a.with(o), nil
}

// repairer is what plan and apply share: one cluster, written to and read again.
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
	config, err := a.session().RESTConfig()
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
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, err
	}
	held, err := heldSources(f)
	if err != nil {
		return nil, err
	}
	known, err := a.session().LoadCatalog()
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
			return nil, session.Usagef("--held %q: want HOST=FILE", h)
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
			return nil, session.Usagef("--held-from %s: want the directory of an unpacked must-gather", f.heldFrom)
		}
		list = append(list, repair.HeldMustGather{Root: os.DirFS(f.heldFrom)})
	}
	return list, nil
}

func (a *app) executor(c *repairer, f fixFlags) *repair.Executor {
	return &repair.Executor{
		API: c.api, Eval: fresh{a}, Catalog: c.known, Clock: wall{repair.SystemClock{}, a.IO.Clock}, StateDir: c.state, Store: c.store, CA: c.ca,
		Served: fresh{a}, Mirror: repair.ConfigMapMirror{API: c.api}, Say: a.sayStep(), Poll: 2 * time.Second, Settle: f.wait, Reviewed: f.digest,
	}
}
