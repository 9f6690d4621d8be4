// Package command is `serve`: flags in, a server that runs until it is stopped.
package command

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/serve"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// app is one call of `serve`.
type app struct {
	*cmdutil.App

	version string // of the program
	source  session.Options

	listen    string
	tlsDir    string
	lease     string
	interval  time.Duration
	logFormat string
	events    bool
	records   string
}

// Command returns `serve`; version is that of the program.
func Command(frame *cmdutil.App, version string) *cobra.Command {
	a := &app{App: frame, version: version, source: cmdutil.Options()}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "read a cluster all the time: metrics for Prometheus, and a page",
		Long: `Serve reads one cluster all the time, as "diagnose" does, and gives the newest answer as
metrics and as a page: which hosts have not joined, which cause is proven, and how old the
answer is. It reads again at once when an object changes, and at least once in the
interval, but takes at most 5 % of the time. It only reads; with --lease it writes one
Lease, with --events Events on Nodes, pools and operators, and with --records a ConfigMap
for each cause that stays proven: "serve incidents" shows them.

While the cluster cannot be read the last answer stays, with its age, and rollcall_blind
is 1.

Without --tls-dir it serves this machine only, to whoever is on it. With it, it serves
HTTPS, and asks the API server about each caller, who needs permission to get the
nonResourceURLs /metrics, and /rollcall and /rollcall/report for the page. A browser sends
a token as the password.`,
		Example: cmdutil.Example(frame.Name, "serve", "the cluster of the kubeconfig, on this machine: http://127.0.0.1:8386") +
			cmdutil.Example(frame.Name, "serve --listen :8386 --tls-dir /etc/tls --lease rollcall/rollcall", "in a pod, as one of several replicas"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVar(&a.listen, "listen", "127.0.0.1:8386", "serve at this `ADDRESS`")
		f.StringVar(&a.tlsDir, "tls-dir", "", "serve HTTPS with tls.crt and tls.key of this `DIR`, to callers whom the API server allows it")
		f.StringVar(&a.lease, "lease", "", "only the replica that holds the Lease `NS/NAME` reads the cluster")
		f.DurationVar(&a.interval, "interval", time.Minute, "read the cluster at least after this `TIME`; longer where one reading takes long")
		f.BoolVar(&a.events, "events", false, "write an Event where a cause comes or goes, and a host fails or joins")
		f.StringVar(&a.records, "records", "", "keep the records of incidents as ConfigMaps in this `NAMESPACE`")
		f.StringVar(&a.logFormat, "log-format", "text", "`FORMAT` of log lines: text or json")
	})
	a.AddCatalogFlag(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	cmd.AddCommand(manifestsCommand(frame), chartCommand(frame, version), dashboardCommand(frame), hubCommand(frame), incidentsCommand(frame))
	return cmd
}

// serve runs until ctx is done.
func (a *app) serve(ctx context.Context) error {
	log, err := a.logger()
	if err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	a.source.Deciding = true
	config, err := a.Session(a.source).RESTConfig()
	if err != nil {
		return err
	}
	if err := a.Session(a.source).KeepCompiled(); err != nil {
		return err
	}
	client, err := kube.New(config, kube.Limits{})
	if err != nil {
		return err
	}
	defer client.Close()
	c := serve.Config{
		Look:     a.look,
		Changes:  a.changes,
		Interval: a.interval,
		Clock:    a.IO.Clock,
		Log:      log,
		Metrics:  serve.NewMetrics(a.version),
		Clean:    a.CleanText,
	}
	if c.Lease, err = a.leaseOf(client, log); err != nil {
		return err
	}
	if c.Keeper, err = a.keeper(client); err != nil {
		return err
	}
	server := serve.New(c)
	site := service.Site{Metrics: c.Metrics.Registry, Ready: server.Ready, Local: a.tlsDir == "", Home: serve.StatusPath, Pages: server.Pages()}
	if a.tlsDir != "" {
		if site.TLS, err = service.TLS(a.tlsDir); err != nil {
			return fmt.Errorf("--tls-dir: %w", err)
		}
		site.Access = service.NewAccess(client, a.IO.Clock)
	}
	work, ctx := crash.WithContext(ctx)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	log.Info("serve started", "server", live.ShownHost(config.Host), "address", l.Addr().String(), "https", a.tlsDir != "", "lease", a.lease)
	work.Go(func() error { return service.Listen(ctx, l, site) })
	work.Go(func() error { return server.Run(ctx) })
	return work.Wait()
}

// check refuses flags that do not go together.
func (a *app) check() error {
	host, _, err := net.SplitHostPort(a.listen)
	switch {
	case err != nil:
		return session.Usagef("--listen %q: want ADDRESS:PORT", a.listen)
	case a.tlsDir == "" && host != "localhost" && !service.IsLoopback(host):
		return session.Usagef("--listen %s is reached from other machines: what is served has names of hosts and excerpts of logs. Add --tls-dir DIR, "+
			"which also asks who reads, or listen at 127.0.0.1", a.listen)
	case a.records != "" && len(validation.IsDNS1123Label(a.records)) > 0:
		return session.Usagef("--records %q is not the name of a namespace", a.records)
	case a.interval < 10*time.Second || a.interval > 10*time.Minute:
		return session.Usagef("--interval is between 10s and 10m")
	}
	return nil
}

// leaseOf is the lease of this replica, nil where it needs none.
func (a *app) leaseOf(client *kube.Client, log *slog.Logger) (*service.Lease, error) {
	if a.lease == "" {
		return nil, nil
	}
	ref, err := service.ObjectRef(kube.Ref{Group: openshift.CoordinationGroup, Version: "v1", Resource: "leases"}, a.lease)
	if err != nil {
		return nil, session.Usagef("--lease %v", err)
	}
	name, err := service.ReplicaName()
	if err != nil {
		return nil, err
	}
	return &service.Lease{API: service.Objects{Client: client}, Ref: ref, Identity: name, Times: service.SlowTimes(), Now: a.IO.Clock, Log: log}, nil
}

// keeper writes what changes to the cluster, nil where nothing is written.
func (a *app) keeper(client *kube.Client) (*serve.Keeper, error) {
	if !a.events && a.records == "" {
		return nil, nil
	}
	id, err := service.ReplicaName()
	if err != nil {
		return nil, err
	}
	return &serve.Keeper{API: objects{service.Objects{Client: client}}, Events: a.events, Records: a.records, Identity: id, Clean: a.CleanText,
		Hide: a.WithoutSecrets}, nil
}

// objects are the objects of the cluster, as records need them.
type objects struct{ service.Objects }

// List implements serve.API.
func (o objects) List(ctx context.Context, r kube.Ref) ([]kube.Object, error) {
	return o.Client.List(ctx, r)
}

// Delete implements serve.API.
func (o objects) Delete(ctx context.Context, r kube.Ref, uid string) error {
	return o.Client.Remove(ctx, r, uid)
}

// look reads the cluster once.
func (a *app) look(ctx context.Context) (r serve.Reading, err error) {
	run, err := a.Session(a.source).Open(kube.WithPatience(ctx))
	if err != nil {
		return r, err
	}
	defer func() {
		if closed := run.Close(); err == nil {
			err = closed
		}
	}()
	if r.Diagnosis, err = run.Diagnose(kube.WithPatience(ctx)); err != nil {
		return r, err
	}
	r.Report = a.ReportOptions(run)
	return r, nil
}

// changes is what tells of changes in the cluster.
func (a *app) changes() *live.Changes {
	flags := a.source.Kube // a copy: readings load it again, at the same time
	return live.NewChanges(func() (*rest.Config, error) {
		flags.Reload()
		return flags.RESTConfig()
	}, live.Options{Now: a.IO.Clock})
}

// logger writes what changes, without secrets.
func (a *app) logger() (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Value.Kind() == slog.KindString {
			attr.Value = slog.StringValue(a.CleanText(attr.Value.String()))
		}
		return attr
	}}
	switch {
	case a.Quiet:
		o.Level = slog.LevelWarn
	case a.Verbose > 0:
		o.Level = slog.LevelDebug
	}
	switch a.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(a.IO.Err, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.IO.Err, o)), nil
	}
	return nil, session.Usagef("--log-format %q: want text or json", a.logFormat)
}
