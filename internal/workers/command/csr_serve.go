package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/infile"
	"github.com/rollcall-project/rollcall/internal/workers/approver"
)

// serveFlags are the flags of `csr serve`.
type serveFlags struct {
	inventory []string
	approve   []string
	limits    approver.Limits
	after     time.Duration
	window    time.Duration
	stop      string
	lease     string
	listen    string
	logFormat string
	dryRun    bool
}

func (a *app) csrServeCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --inventory SOURCE...",
		Short: "approve the requests of the hosts in an inventory, as a server",
		Long: `Serve approves what "csr approve" would, as requests come: for clusters in which no other
approver does (user-provisioned infrastructure, platform None, hosted clusters of platform
None). It can run next to the cluster machine approver.

It approves the first client certificate of a host that is in the inventory, has no Node
and is in its time window; serving certificates whose names and addresses are all in
the inventory; and renewals of what the kubelet serves. Node.status never counts for a
host. Where two keys ask for one host, none is approved: a person decides with
"csr approve --key". It never denies a request.

Begin with --dry-run: it writes nothing and logs what it would approve.`,
		Example: cmdutil.Example(a.Name, "csr serve --inventory file:hosts.yaml --dry-run", "what would be approved, for the hosts of a file") +
			cmdutil.Example(a.Name, "csr serve --inventory cluster", "for Machines, BareMetalHosts and Agents") +
			cmdutil.Example(a.Name, "csr serve --inventory configmap:ops/hosts --switch ops/csr --lease ops/csr", "as one of several replicas"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveRequests(cmd.Context(), f) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringArrayVar(&f.inventory, "inventory", nil, "`SOURCE` of the hosts that are expected: cluster (Machines, BareMetalHosts, Agents), "+
			"file:PATH or configmap:NS/NAME (key hosts.yaml); repeatable")
		s.StringSliceVar(&f.approve, "approve", []string{"client", "serving", "renewal"}, "the `KINDS` of requests that are approved")
		s.IntVar(&f.limits.PerMinute, "rate", 60, "approve at most `N` requests in a minute")
		s.IntVar(&f.limits.PerHour, "max-approvals", 500, "approve at most `N` requests in an hour")
		s.IntVar(&f.limits.PerHost, "per-host", 4, "approve at most `N` requests of one host in an hour")
		s.IntVar(&f.limits.Pending, "pause-above", 0, "approve nothing while more than `N` requests wait, of whoever; 0: never pause. Whoever has "+
			"the bootstrap credential can then stop the approver")
		s.DurationVar(&f.after, "after", 0, "leave requests to other approvers until they are this `TIME` old, such as 2m")
		s.DurationVar(&f.window, "window", csr.DefaultWindow, "for an inventory of the cluster: approve a first certificate until this `TIME` after "+
			"the host was provisioned")
		s.StringVar(&f.stop, "switch", "", "approve only while the ConfigMap `NS/NAME` has approve: \"true\"")
		s.StringVar(&f.lease, "lease", "", "only the replica that holds the Lease `NS/NAME` approves")
		s.StringVar(&f.listen, "listen", "127.0.0.1:8385", "serve /metrics, /healthz and /readyz at this `ADDRESS`; empty: nowhere")
		s.StringVar(&f.logFormat, "log-format", "text", "`FORMAT` of log lines: text or json")
		s.BoolVar(&f.dryRun, "dry-run", false, "write nothing; log what would be approved")
	})
	a.AddHostedFlags(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
	return cmd
}

func (a *app) serveRequests(ctx context.Context, f serveFlags) error {
	c, err := a.serveConfig(f)
	if err != nil {
		return err
	}
	config, err := a.session().RequestsConfig(ctx)
	if err != nil {
		return err
	}
	config.QPS = -1 // the approver has limits of its own
	api, err := approver.NewKube(config)
	if err != nil {
		return err
	}
	if c.Inventory, err = a.inventories(f, api); err != nil {
		return err
	}
	if _, err := c.Inventory(ctx); err != nil { // a mistake in it shows at once, not in a log
		return fmt.Errorf("read the inventory: %w", err)
	}
	server := approver.New(api, c)
	work, ctx := crash.WithContext(ctx)
	if f.listen != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		work.Go(func() error {
			return service.Listen(ctx, l, service.Site{Metrics: c.Metrics.Registry, Ready: server.Ready})
		})
		c.Log.Info("metrics and health", "address", l.Addr().String())
	}
	c.Log.Info("approver started", "server", config.Host, "inventory", strings.Join(f.inventory, ","), "approve", strings.Join(f.approve, ","),
		"dry_run", f.dryRun, "switch", f.stop, "lease", f.lease)
	work.Go(func() error { return server.Run(ctx) })
	return work.Wait()
}

// serveConfig is what the flags say, but for the inventory.
func (a *app) serveConfig(f serveFlags) (approver.Config, error) {
	c := approver.Config{Limits: f.limits, After: f.after, DryRun: f.dryRun, Now: a.IO.Clock, Metrics: approver.NewMetrics(), Dial: outbound.Dialer(0)}
	if len(f.inventory) == 0 {
		return c, session.Usagef("name who is expected: --inventory cluster, file:PATH or configmap:NS/NAME")
	}
	if f.after < 0 || f.window <= 0 || f.limits.Pending < 0 || f.limits.PerHour < 1 || f.limits.PerMinute < 1 || f.limits.PerHost < 1 {
		return c, session.Usagef("limits and times are positive")
	}
	for _, k := range f.approve {
		switch k {
		case "client":
			c.Approve.Client = true
		case "serving":
			c.Approve.Serving = true
		case "renewal":
			c.Approve.Renewal = true
		default:
			return c, session.Usagef("--approve %q: want client, serving or renewal", k)
		}
	}
	for _, one := range []struct {
		flag, text string
		ref        *kube.Ref
		base       kube.Ref
	}{
		{"switch", f.stop, &c.Switch, kube.Ref{Version: "v1", Resource: "configmaps"}},
		{"lease", f.lease, &c.Lease, kube.Ref{Group: openshift.CoordinationGroup, Version: "v1", Resource: "leases"}},
	} {
		if one.text == "" {
			continue
		}
		ref, err := service.ObjectRef(one.base, one.text)
		if err != nil {
			return c, session.Usagef("--%s %v", one.flag, err)
		}
		*one.ref = ref
	}
	level := slog.LevelInfo
	switch {
	case a.Quiet:
		level = slog.LevelWarn
	case a.Verbose > 0:
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: a.CleanAttr}
	switch f.logFormat {
	case "text":
		c.Log = slog.New(slog.NewTextHandler(a.IO.Err, options))
	case "json":
		c.Log = slog.New(slog.NewJSONHandler(a.IO.Err, options))
	default:
		return c, session.Usagef("--log-format %q: want text or json", f.logFormat)
	}
	var err error
	c.Identity, err = service.ReplicaName()
	return c, err
}

// hostsKey is the key of an inventory's ConfigMap.
const hostsKey = "hosts.yaml"

// inventories reads all sources of --inventory, each time again. A host of two sources
// is expected by the line that a person wrote (csr.For).
func (a *app) inventories(f serveFlags, api approver.API) (approver.Inventory, error) {
	var list []approver.Inventory
	for _, source := range f.inventory {
		kind, rest, _ := strings.Cut(source, ":")
		switch {
		case source == "cluster":
			one, err := a.clusterInventory(f.window)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
		case kind == "file" && rest != "":
			list = append(list, func(context.Context) ([]csr.Expectation, error) {
				in, err := infile.Regular(rest)
				if err != nil {
					return nil, err
				}
				raw, err := io.ReadAll(in)
				if err = errors.Join(err, in.Close()); err != nil {
					return nil, err
				}
				return csr.ParseInventory(raw, rest)
			})
		case kind == "configmap":
			ref, err := service.ObjectRef(kube.Ref{Version: "v1", Resource: "configmaps"}, rest)
			if err != nil {
				return nil, session.Usagef("--inventory configmap:%v", err)
			}
			list = append(list, func(ctx context.Context) ([]csr.Expectation, error) {
				cm, err := api.Get(ctx, ref)
				if err != nil {
					return nil, err
				}
				return csr.ParseInventory([]byte(evidence.String(cm, "data", hostsKey)), "ConfigMap "+rest+", "+hostsKey)
			})
		default:
			return nil, session.Usagef("--inventory %q: want cluster, file:PATH or configmap:NS/NAME", source)
		}
	}
	warned := false // rounds follow one another
	return func(ctx context.Context) ([]csr.Expectation, error) {
		var all []csr.Expectation
		for _, one := range list {
			found, err := one(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		if len(all) == 0 && !warned {
			a.Log.Warn("the inventory has no host: nothing will be approved", "inventory", strings.Join(f.inventory, ", "))
		}
		warned = len(all) == 0
		return all, oneLineEach(all)
	}, nil
}

// oneLineEach refuses two lines of people for one host, or for one address or name of hosts: which
// of them is meant?
func oneLineEach(all []csr.Expectation) error {
	source := map[string]string{}
	holder := map[string]csr.Expectation{}
	for _, e := range all {
		if !e.Explicit {
			continue
		}
		if other, twice := source[e.Name]; twice {
			return fmt.Errorf("host %s is in %s and in %s", e.Name, other, e.Source)
		}
		source[e.Name] = e.Source
		for _, claim := range slices.Concat([]string{e.Name}, e.DNS, e.IPs) {
			if other, taken := holder[claim]; taken && other.Name != e.Name {
				return fmt.Errorf("%s is of host %s in %s and of host %s in %s", claim, other.Name, other.Source, e.Name, e.Source)
			}
			holder[claim] = e
		}
	}
	return nil
}

// clusterInventory are the hosts that Machines, BareMetalHosts and Agents declare, of a
// hosted cluster those in its management cluster.
func (a *app) clusterInventory(window time.Duration) (approver.Inventory, error) {
	set, err := scan.Compile(nil)
	if err != nil {
		return nil, fmt.Errorf("compile signatures: %w", err)
	}
	clean, err := sanitize.New()
	if err != nil {
		return nil, fmt.Errorf("make sanitizer: %w", err)
	}
	return func(ctx context.Context) (_ []csr.Expectation, err error) {
		sources, closeAll, err := a.inventorySources(ctx)
		defer func() { err = errors.Join(err, closeAll()) }()
		if err != nil {
			return nil, err
		}
		declared, err := inventory.DeclaredObjects(ctx, facts.NewWorld(reader.New(set, clean, nil, reader.Limits{}, sources...), a.IO.Clock()))
		if err != nil {
			return nil, err
		}
		return csr.InWindow(slices.Clip(declared), window), nil
	}, nil
}

// inventorySources opens the cluster, or the hosted one with its management cluster.
func (a *app) inventorySources(ctx context.Context) (_ []evidence.Source, closeAll func() error, err error) {
	if a.source.Hosted != "" && a.source.Hosted != hosted.None {
		return a.session().Sources(ctx)
	}
	s, err := a.session().OpenLive()
	if err != nil {
		return nil, func() error { return nil }, err
	}
	return []evidence.Source{s}, func() error { s.Close(); return nil }, nil
}
