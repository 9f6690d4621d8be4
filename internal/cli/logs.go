package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/browse"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

func (a *app) logsCommand() *cobra.Command {
	var q browse.Log
	cmd := &cobra.Command{
		Use:   "logs [POD] --from ARCHIVE",
		Short: "print the log of a pod, or the journal of a host, of an archive",
		Long: `Logs prints the log of a container of an archive, as oc logs prints that of a
cluster, or with --host the journal of a host. Without -n the pod is sought in all
namespaces. No cluster is asked; secrets in the lines are replaced by a digest.

Exit codes: 0 the whole log, 1 the tool could not do its work, 3 it was not collected
or could not be read to its end.`,
		Example: cmdutil.Example(a.Name, "logs etcd-control0 -c etcd --from ./must-gather.local.123", "the log of a container") +
			cmdutil.Example(a.Name, "logs -p machine-api-controllers-5d9 -c machine-controller --from mg.tar.gz", "of the container before its last restart") +
			cmdutil.Example(a.Name, "logs --host control0 -u kubelet --tail 200 --from mg.tar.gz", "the journal of a unit"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || (len(args) == 1) == (q.Host != "") {
				return session.Usagef("name one pod, or a host with --host")
			}
			if q.Pod = strings.Join(args, ""); q.Tail < 0 {
				return session.Usagef("--tail %d: it is a number of lines; 0 is all", q.Tail)
			}
			if kind, name, ok := strings.Cut(q.Pod, "/"); ok {
				if q.Pod = name; kind != "pod" && kind != "pods" && kind != "po" {
					return session.Usagef("logs are those of a pod: %s is not one; name the pod", kind+"/"+name)
				}
			}
			if q.Host == "" && q.Unit != "" {
				return session.Usagef("-u is a unit of a host: name it with --host")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.logs(cmd.Context(), q) },
	}
	f := cmd.Flags()
	f.StringVarP(&q.Namespace, "namespace", "n", "", "`NAME` of the pod's namespace; default: any")
	f.StringVarP(&q.Container, "container", "c", "", "`NAME` of the container; default: the only one")
	f.BoolVarP(&q.Previous, "previous", "p", false, "the log of the container before its last restart")
	f.BoolVar(&q.Rotated, "rotated", false, "the older files that the kubelet has rotated, where the archive has them")
	f.StringVar(&q.Host, "host", "", "the journal of the host of this `NAME`, instead of a pod")
	f.StringVarP(&q.Unit, "unit", "u", "", "`NAME` of the unit of a journal; default: the only one")
	f.IntVar(&q.Tail, "tail", 0, "only the last `N` lines; 0: all")
	a.addArchiveFlags(cmd)
	return cmd
}

// logs prints the lines of a log.
func (a *app) logs(ctx context.Context, q browse.Log) (err error) {
	at, closeAll, err := a.openArchive(ctx, q.Needs()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	out := bufio.NewWriterSize(a.IO.Out, 64<<10)
	err = at.Lines(ctx, q, func(l browse.Line) error { return a.printLine(out, l) })
	if wrong := out.Flush(); err == nil && wrong != nil {
		err = fmt.Errorf("print the log: %w", wrong)
	}
	return lacking(err)
}

// printLine prints a line without what a terminal obeys.
func (a *app) printLine(w io.Writer, l browse.Line) error {
	text := a.Style().Clean(l.Text)
	if a.Output.MarkLogged {
		text = answer.Logged(text)
	}
	if _, err := io.WriteString(w, text+"\n"); err != nil {
		return fmt.Errorf("print the log: %w", err)
	}
	return nil
}
