package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/serve"
	"github.com/rollcall-project/rollcall/internal/session"
)

// chartCommand is `serve chart`; version is that of the program.
func chartCommand(frame *cmdutil.App, version string) *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "chart",
		Short: "write a Helm chart that runs serve in a cluster",
		Long: `Chart writes a chart for Helm with the objects of "serve manifests". Its values are the
flags of that command: image, replicas, monitoring and readOnly. Nothing is sent to a
cluster.`,
		Example: cmdutil.Example(frame.Name, "serve chart --to chart",
			"then: helm install rollcall ./chart -n rollcall --create-namespace --set image=IMAGE"),
		Args: cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if to == "" {
				return &session.UsageError{Err: errors.New("name the directory to make: --to DIR")}
			}
			files, err := serve.Chart(version)
			if err != nil {
				return err
			}
			if err := writeChart(to, files); err != nil {
				return &session.UsageError{Err: err}
			}
			_, err = fmt.Fprintf(frame.IO.Out, "The chart is in %s. Install it with:\n"+
				"  helm install rollcall %s -n rollcall --create-namespace --set image=IMAGE\n", to, chartPath(to))
			return err
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVar(&to, "to", "", "make this `DIR` and write the chart into it; what is there already stays as it is")
	})
	return cmd
}

// chartPath is a directory as Helm takes it for one and not for the name of a chart in a repository.
func chartPath(dir string) string {
	if filepath.IsAbs(dir) || dir[0] == '.' {
		return dir
	}
	return "./" + dir
}

// writeChart makes a directory of the files of a chart. What is there already is not touched.
func writeChart(dir string, files map[string][]byte) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("--to %s: it is there already; name a directory that is not", dir)
		}
		return fmt.Errorf("make the directory of the chart: %w", err)
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make a directory of the chart: %w", err)
		}
		if err := newfile.Bytes(path, 0o644, files[name]); err != nil {
			return fmt.Errorf("write the chart: %w", err)
		}
	}
	return nil
}
