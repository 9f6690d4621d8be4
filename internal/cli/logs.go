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
		Use:   "logs [POD | TYPE/NAME] --from ARCHIVE",
		Short: "print the log of a pod, or the journal of a host, of an archive",
		Long: `Logs prints the log of a container of an archive, as oc logs prints that of a
cluster, or of node/NAME and with --host NAME the journal of a host. Without -n
the pod is sought in all namespaces. Of a TYPE/NAME, such as deployment/NAME,
and of labels it prints the logs of all pods, one after the other; where there
are several, [pod/NAME/CONTAINER] is in front of each line. No cluster is asked;
secrets in the lines are replaced by a digest.

Exit codes: 0 the whole log, 1 the tool could not do its work, 3 it was not
collected or could not be read to its end.`,
		Example: cmdutil.Example(a.Name, "logs etcd-control0 -c etcd --from ./must-gather.local.123", "the log of a container") +
			cmdutil.Example(a.Name, "logs -p machine-api-controllers-5d9 -c machine-controller --from mg.tar.gz", "of the container before its last restart") +
			cmdutil.Example(a.Name, "logs deployment/machine-api-operator --all-containers --from mg.tar.gz", "of the pods of a deployment") +
			cmdutil.Example(a.Name, "logs --host control0 -u kubelet --tail 200 --from mg.tar.gz", "the journal of a unit"),
		Args: func(_ *cobra.Command, args []string) error {
			return logQuestion(&q, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.logs(cmd.Context(), q) },
	}
	f := cmd.Flags()
	f.StringVarP(&q.Namespace, "namespace", "n", "", "`NAME` of the pod's namespace; default: any")
	f.StringVarP(&q.Container, "container", "c", "", "`NAME` of the container; default: the only one")
	f.BoolVar(&q.AllContainers, "all-containers", false, "the logs of all containers of the pod")
	f.StringVarP(&q.Selector, "selector", "l", "", "the pods with these `LABELS`, as KEY=VALUE,..., instead of a pod")
	f.BoolVarP(&q.Previous, "previous", "p", false, "the log of the container before its last restart")
	f.BoolVar(&q.Rotated, "rotated", false, "the older files that the kubelet has rotated, where the archive has them")
	f.StringVar(&q.Host, "host", "", "the journal of the host of this `NAME`, instead of a pod")
	f.StringVarP(&q.Unit, "unit", "u", "", "`NAME` of the unit of a journal; default: the only one")
	f.IntVar(&q.Tail, "tail", 0, "only the last `N` lines of each log; 0: all")
	a.addArchiveFlags(cmd)
	return cmd
}

// logQuestion reads what is named: one pod, an owner of pods, labels, or a host.
func logQuestion(q *browse.Log, args []string) error {
	named := len(args)
	for _, other := range []string{q.Host, q.Selector} {
		if other != "" {
			named++
		}
	}
	if named != 1 {
		return session.Usagef("name one pod, TYPE/NAME, labels with -l, or a host with --host")
	}
	q.Pod = strings.Join(args, "")
	if kind, name, ok := strings.Cut(q.Pod, "/"); ok {
		if kind == "" || name == "" || strings.Contains(name, "/") {
			return session.Usagef("%s is not TYPE/NAME, as in deployment/machine-api-operator", q.Pod)
		}
		switch kind {
		case "pod", "pods", "po":
			q.Pod = name
		case "node", "nodes", "no":
			q.Pod, q.Host = "", name
		default:
			q.Pod, q.Owner = "", kind+"/"+name
		}
	}
	switch {
	case q.Tail < 0:
		return session.Usagef("--tail %d: it is a number of lines; 0 is all", q.Tail)
	case q.Host == "" && q.Unit != "":
		return session.Usagef("-u is a unit of a host: name it with --host")
	case q.Container != "" && q.AllContainers:
		return session.Usagef("-c and --all-containers exclude each other: leave one out")
	}
	return nil
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
	if l.Of != "" {
		text = "[" + a.Style().Clean(l.Of) + "] " + text
	}
	if _, err := io.WriteString(w, text+"\n"); err != nil {
		return fmt.Errorf("print the log: %w", err)
	}
	return nil
}
