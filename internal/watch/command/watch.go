package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// watchFlags are the flags of `watch`.
type watchFlags struct {
	until    string
	stopOn   string
	stable   time.Duration
	timeout  time.Duration
	interval time.Duration
	onChange string
	smokePod bool
	smokeFor time.Duration
}

const watchLong = `Watch follows an installation, a join, a rollout or a repair until every expected host
has joined and the cluster is stable, or until a proven cause persists that does not pass
by itself. openshift-install ends with 0 while workers are still missing; watch does not.

On a terminal it is one screen: hosts with their stage and the usual time, what has
changed, what is in progress and until when that is expected, the next command. Else it
writes one line for each change, with -o json one line of JSON
(docs/schema/watch.v1alpha1.json).

SUBJECT narrows it to hosts, as oc writes them: node/NAME, host/NAME, bmh/NAME,
machine/NAME, mcp/NAME for the hosts of a pool.

While the API is unreachable the network path to it is checked, the last known state
stays, and the watch continues. It only reads, but for --smoke-pod.

Exit codes: 0 all indicators hold; 1 the tool could not do its work; 2 a proven cause
stands, or did when the time was over; 3 the time was over and it is not decided;
130 interrupted.`

func (a *app) watchCommand() *cobra.Command {
	var f watchFlags
	goals, stops := []string{string(after.Stable), string(after.Joined)}, []string{stopOnRoot, cmdutil.FailOnNever}
	cmd := &cobra.Command{
		Use:   "watch [SUBJECT...]",
		Short: "follow the hosts until all have joined, or a cause is proven",
		Long:  watchLong,
		Example: cmdutil.Example(a.Name, "watch", "until every host is in and the operators are stable") +
			cmdutil.Example(a.Name, "watch --until joined --timeout 90m", "the hosts only, for a script") +
			cmdutil.Example(a.Name, "watch --install-dir . ", "from before there is an API to the end") +
			cmdutil.Example(a.Name, "watch node/worker3", "one host") +
			cmdutil.Example(a.Name, "watch node/worker3 --until joined --smoke-pod", "and whether a new pod runs there and answers") +
			cmdutil.Example(a.Name, "watch --stop-on never", "continue while somebody repairs it") +
			cmdutil.Example(a.Name, "watch -o json | jq -c .text", "for programs"),
		ValidArgsFunction: a.CompleteSubject(&a.source),
		RunE: func(cmd *cobra.Command, args []string) error {
			subjects, err := watchSubjects(args)
			if err != nil {
				return err
			}
			if f.smokePod && len(subjects) == 0 {
				return session.Usagef("--smoke-pod makes a pod on each host: name the hosts, as node/NAME or mcp/NAME")
			}
			if err := a.checkWatch(f); err != nil {
				return err
			}
			return a.watch(cmd.Context(), f, cmdutil.FormatOf(cmd), subjects)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.Var(cmdutil.NewChoice(&f.until, goals), "until", "end when this holds: stable: every host has joined, and operators, pools, etcd and "+
			"network are at rest; joined: every host has joined and the version is completed")
		s.DurationVar(&f.stable, "stable-for", after.StableFor, "with --until stable: each operator is available, not progressing and not degraded "+
			"for this `TIME`")
		s.DurationVar(&f.timeout, "timeout", 0, "end after this `TIME`, with 2 where a cause is known, else with 3; 0: never")
		s.Var(cmdutil.NewChoice(&f.stopOn, stops), "stop-on", "root: end with 2 where a proven cause persists that does not pass by itself; never: continue")
		s.StringVar(&f.onChange, "on-change", "", "run this `COMMAND` with a shell for each change, with the change as a line of JSON on its standard input")
		s.BoolVar(&f.smokePod, "smoke-pod", false, "when all else holds, make one pod on each host that is named as SUBJECT, ask it over the pod "+
			"network, and delete it")
		s.DurationVar(&f.smokeFor, "smoke-timeout", 3*time.Minute, "with --smoke-pod: how long one pod may take until it has answered")
		s.DurationVar(&f.interval, "interval", time.Minute, "read the cluster at least after this `TIME`, also where nothing is seen to change; "+
			"longer where one reading takes long")
	})
	cmdutil.CompleteChoice(cmd, "until", goals)
	cmdutil.CompleteChoice(cmd, "stop-on", stops)
	a.AddSourceFlags(cmd, &a.source)
	a.AddChoiceFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddOutputFlags(cmd, "text", "json")
	return cmd
}

// stopOnRoot is the word that ends a watch at a proven cause.
const stopOnRoot = "root"

// watchSubjects reads the subjects: hosts, and pools for their hosts.
func watchSubjects(args []string) ([]fault.Subject, error) {
	var list []fault.Subject
	for _, arg := range args {
		s, err := session.ParseSubject(arg)
		if err != nil {
			return nil, err
		}
		if s.Kind != fault.Host && s.Kind != fault.Pool {
			return nil, session.Usagef("%q: only hosts are followed, as node/NAME, host/NAME, bmh/NAME, machine/NAME or mcp/NAME", arg)
		}
		list = append(list, s)
	}
	return list, nil
}

// checkWatch refuses what cannot be watched.
func (a *app) checkWatch(f watchFlags) error {
	switch {
	case len(a.source.From) > 0:
		return session.Usagef("watch follows a cluster, and --from %s does not change; use `%s "+
			"diagnose --from %s`", a.source.From[0], a.Name, shellcommand.Quote(a.source.From[0]))
	case a.source.Now != "":
		return session.Usagef("watch follows a cluster as time passes; leave --now out")
	case f.stable < 0 || f.timeout < 0 || f.smokeFor <= 0 || f.interval < time.Second:
		return session.Usagef("--stable-for and --timeout are not negative, --smoke-timeout is positive, and --interval is at least 1s")
	}
	return nil
}

// chosenHosts are the names of the hosts that the subjects of a watch are in one run.
func chosenHosts(ctx context.Context, r *session.Run, d *diagnosis.Diagnosis, subjects []fault.Subject) (map[string]bool, error) {
	names := map[string]bool{}
	for _, s := range subjects {
		s, err := r.Resolve(ctx, d, s)
		if err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
		for _, h := range d.Hosts {
			if h.Expected && (s.Kind == fault.Host && h.Name == s.Name || s.Kind == fault.Pool && h.Role == s.Name) {
				names[h.Name] = true
			}
		}
	}
	return names, nil
}

// watchNext is the command that leads on from what is seen.
func (a *app) watchNext(ctx context.Context, r *session.Run, looked looked) string {
	d := looked.run.Diagnosis
	if len(d.Roots) > 0 {
		plan := a.PlanCommand(ctx, r, d)
		for _, root := range d.Roots {
			first := root.Cases[0]
			if len(first.Remedies) > 0 && first.Remedies[0].Fix && root.Severity == fault.Error {
				if command := plan(first, first.Remedies[0].ID, d.OneCase()); command != "" {
					return command
				}
			}
		}
	}
	if len(d.Roots)+len(d.Unexplained) > 0 {
		return strings.TrimSpace(cmdutil.JoinWords([]string{a.Name, "diagnose", a.source.Again()}))
	}
	return ""
}
