package command

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fleet"
	"github.com/rollcall-project/rollcall/internal/session"
)

// jobCommand is `fleet job`.
func jobCommand(frame *cmdutil.App) *cobra.Command {
	var j fleet.Job
	var within time.Duration
	cmd := &cobra.Command{
		Use:   "job",
		Short: "write a Job of Kubernetes that reads the archives of a volume",
		Long: `Job writes the manifest of an indexed Job: each pod reads one part of the archives on a
volume, and keeps its results in a file on a second volume. A pod that is killed is run
again and continues. Nothing is sent to a cluster: read the manifest, then apply it.

The Job needs Kubernetes 1.29 (OpenShift 4.16) or newer, and the second volume has to be
writable by several pods at once (ReadWriteMany). Its pods have no access to the API.`,
		Example: cmdutil.Example(frame.Name, "fleet job --image IMAGE --archives-claim cases --results-claim done > job.yaml", "write it") +
			cmdutil.Example(frame.Name, "fleet --archives cases --results done", "afterwards, where both volumes are mounted: the table of all"),
		Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if within <= 0 {
				return session.Usagef("--within %s: write a time such as 10m", within)
			}
			j.Within = within.String()
			if err := j.Manifest(frame.IO.Out); err != nil {
				return &session.UsageError{Err: err}
			}
			return nil
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVar(&j.Image, "image", "", "`IMAGE` of this program")
		f.StringVar(&j.Archives, "archives-claim", "", "`NAME` of the PersistentVolumeClaim with the archives")
		f.StringVar(&j.Results, "results-claim", "", "`NAME` of the PersistentVolumeClaim for the results")
		f.IntVar(&j.Parts, "parts", 4, "split the work into this `NUMBER` of pods")
		f.StringVar(&j.Name, "name", "rollcall-fleet", "`NAME` of the Job")
		f.StringVarP(&j.Namespace, "namespace", "n", "", "`NAME` of its namespace; none: that of the context with which it is applied")
		f.DurationVar(&within, "within", 10*time.Minute, "give one archive this `TIME`")
	})
	return cmd
}
