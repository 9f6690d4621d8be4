package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/serve"
	"github.com/rollcall-project/rollcall/internal/session"
)

// viewers are the values of --for.
var viewers = []string{string(serve.Console), string(serve.Grafana)}

// dashboardCommand is `serve dashboard`.
func dashboardCommand(frame *cmdutil.App) *cobra.Command {
	viewer := string(serve.Console)
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "write the dashboard of one cluster, for the console or Grafana",
		Long: `Dashboard writes a dashboard over the metrics of serve: hosts that failed, causes, the age
of the answer, and what was not read. For OpenShift's own console it is a ConfigMap that
an administrator applies (Observe > Dashboards); for Grafana it is the JSON to import.
Nothing is sent to a cluster. Where there is no answer, it shows "not known" and not 0.`,
		Example: cmdutil.Example(frame.Name, "serve dashboard | oc apply -f -", "as an administrator: in the console of this cluster") +
			cmdutil.Example(frame.Name, "serve dashboard --for grafana > rollcall.json", "then import the file in Grafana"),
		Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error { return serve.WriteDashboard(frame.IO.Out, serve.Viewer(viewer)) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.Var(cmdutil.NewChoice(&viewer, viewers), "for", "what shows it: console: OpenShift's own; grafana: any Grafana from version 8 on")
	})
	cmdutil.CompleteChoice(cmd, "for", viewers)
	return cmd
}

// mostAllowList is more than a ConfigMap has, which the API server bounds at 1 MiB, with what its form adds.
const mostAllowList = 4 << 20

// readList reads a file of at most that size, no device and no pipe; "-" is standard input.
func readList(in io.Reader, path string) ([]byte, error) {
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, errors.New("it is not a file")
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, mostAllowList+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > mostAllowList {
		return nil, fmt.Errorf("it has more than %d MiB, and a ConfigMap at most one", mostAllowList>>20)
	}
	return raw, nil
}

// hubCommand is `serve hub`.
func hubCommand(frame *cmdutil.App) *cobra.Command {
	list, monitoring := "", string(serve.UserWorkload)
	monitorings := []string{string(serve.UserWorkload), string(serve.Platform)}
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "write what a hub of ACM needs to show many clusters",
		Long: `Hub writes two ConfigMaps for the hub of Advanced Cluster Management, where its
observability is enabled: the five series that its collector takes from each cluster, and
a dashboard for its Grafana. In each cluster runs "serve", from the file of
"serve manifests", which computes the series. Nothing is sent to a cluster.

The list of series is one ConfigMap for all that a hub collects. Where the hub has it,
give it with --allowlist: everything in it stays.`,
		Example: cmdutil.Example(frame.Name, "serve hub > hub.yaml", "for a hub that collects nothing else of its own; read it, then: oc apply -f hub.yaml") +
			cmdutil.Example(frame.Name, "serve hub --allowlist list.yaml > hub.yaml", "the head of the first file says how list.yaml is made"),
		Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			h := serve.Hub{Monitoring: serve.Monitoring(monitoring)}
			if list != "" {
				raw, err := readList(frame.IO.In, list)
				if err != nil {
					return &session.UsageError{Err: fmt.Errorf("read --allowlist %s: %w", list, err)}
				}
				h.AllowList = raw
			}
			if err := h.Write(frame.IO.Out); err != nil {
				return &session.UsageError{Err: err}
			}
			return nil
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVar(&list, "allowlist", "", "`FILE` with the ConfigMap as it is on the hub, \"-\" for standard input; what is in it stays")
		f.Var(cmdutil.NewChoice(&monitoring, monitorings), "monitoring", "which Prometheus of the clusters has the series: user-workload: that of users; "+
			"platform: that of OpenShift itself")
	})
	cmdutil.CompleteChoice(cmd, "monitoring", monitorings)
	return cmd
}
