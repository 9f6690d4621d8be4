package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/serve"
	"github.com/rollcall-project/rollcall/internal/session"
)

// monitorings are the values of --monitoring.
var monitorings = []string{string(serve.UserWorkload), string(serve.Platform), string(serve.NoMonitoring)}

// manifestsCommand is `serve manifests`.
func manifestsCommand(frame *cmdutil.App) *cobra.Command {
	var m serve.Manifests
	monitoring := string(serve.UserWorkload)
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "write what runs serve in a cluster, as one file",
		Long: `Manifests writes all that runs serve in a cluster: a namespace, a ServiceAccount with the
rights of a diagnosis, a Deployment, a NetworkPolicy, a ServiceMonitor and four alerts.
Nothing is sent to a cluster: read the file, then apply it.

The rights hold no Secret, no command in pods, no kubelet and no impersonation. It may
write one Lease, and unless --read-only is given, Events in the namespace "default" and
the records of incidents in its own namespace.`,
		Example: cmdutil.Example(frame.Name, "serve manifests --image IMAGE > rollcall.yaml", "then, as an administrator: oc apply -f rollcall.yaml") +
			cmdutil.Example(frame.Name, "serve manifests --image IMAGE --monitoring platform --replicas 2", "for the Prometheus of OpenShift itself"),
		Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			m.Monitoring = serve.Monitoring(monitoring)
			if err := m.Write(frame.IO.Out); err != nil {
				return &session.UsageError{Err: err}
			}
			return nil
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVar(&m.Image, "image", "", "`IMAGE` of this program")
		f.StringVarP(&m.Namespace, "namespace", "n", "rollcall", "`NAME` of the namespace that is made for it")
		f.IntVar(&m.Replicas, "replicas", 1, "run this `NUMBER` of pods, of which one reads the cluster")
		f.BoolVar(&m.ReadOnly, "read-only", false, "write no Events and keep no records of incidents")
		f.Var(cmdutil.NewChoice(&monitoring, monitorings), "monitoring", "which Prometheus reads the metrics: user-workload: that of users; platform: that "+
			"of OpenShift itself; none: no ServiceMonitor and no alerts are written")
	})
	cmdutil.CompleteChoice(cmd, "monitoring", monitorings)
	return cmd
}
