package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
)

const drainHelp = `It cordons the Node, evicts its pods as their PodDisruptionBudgets allow, deletes the
machine at the provider, and then the Node. Where pods cannot be evicted in time, the Node
is uncordoned and all stays. It refuses pods that would be lost, a Node that is another
machine than the run made, and to leave fewer Ready Nodes than --keep-at-least.`

func (a *app) addDrainFlags(cmd *cobra.Command, f *workerFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.DurationVar(&f.drain.Timeout, "drain-timeout", 10*time.Minute, "give up when pods are left after this `TIME`")
		s.BoolVar(&f.drain.Unmanaged, "force", false, "also evict pods without a controller: they are lost")
		s.BoolVar(&f.drain.EmptyDir, "delete-emptydir-data", false, "also evict pods with emptyDir volumes, whose data is lost")
		s.IntVar(&f.drain.KeepAtLeast, "keep-at-least", 1, "refuse to leave fewer than `N` Ready Nodes")
	})
}

func (a *app) workerDeleteCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "drain a worker that a run made, delete its machine and its Node",
		Long:  "Delete takes a worker out of the hosted cluster.\n\n" + drainHelp,
		Args:  a.ExactlyOne("NAME", "worker list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.workerDelete(cmd.Context(), f, args[0])
		},
	}
	a.addDrainFlags(cmd, &f)
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) { s.BoolVar(&f.yes, "yes", false, "do not ask") })
	a.addWorkerFlags(cmd, &f)
	return cmd
}

// findWorker is the run that a worker of this machine's runs joined in.
func (a *app) findWorker(f workerFlags, name string) (workers.Run, error) {
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return workers.Run{}, err
	}
	runs, err := workers.Runs(state)
	if err != nil {
		return workers.Run{}, err
	}
	var found []workers.Run
	for _, r := range runs {
		if (a.source.Hosted == "" || r.Plan.Hosted == a.source.Hosted) && slices.ContainsFunc(r.Statuses, func(s workers.Status) bool {
			return s.Worker.Name == name && (s.Step == workers.In || s.Step == workers.MayBeOut)
		}) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return workers.Run{}, fmt.Errorf("no run of this machine made a worker %s that has joined; `%s worker list` names them, others are drained "+
			"with oc adm drain", name, a.Name)
	}
	return workers.Run{}, fmt.Errorf("workers of %d hosted clusters are called %s: name one with --hosted", len(found), name)
}

func (a *app) workerDelete(ctx context.Context, f workerFlags, name string) (err error) {
	if f.drain.Timeout <= 0 || f.drain.KeepAtLeast < 0 {
		return session.Usagef("--drain-timeout is positive, --keep-at-least not negative")
	}
	found, err := a.findWorker(f, name)
	if err != nil {
		return err
	}
	a, w, err := a.openWorkerRun(ctx, f, found.Plan.Run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := a.typedYes(f, fmt.Sprintf("drain and delete worker %s of hosted cluster %s "+
		"(provider %s)", name, found.Plan.Hosted, found.Plan.Provider)); err != nil {
		return err
	}
	if err := w.runner.Remove(ctx, guestCluster{w.api}, name, f.drain); err != nil {
		return err
	}
	if found.Plan.Provider == workers.ManualName {
		_, err = fmt.Fprintf(a.IO.Out, "Next: switch off the machine of %s. Its kubelet has a certificate and registers the Node again when it is "+
			"restarted.\n", a.CleanText(name))
	}
	return err
}

// guestCluster is the hosted cluster as worker.Remove needs it.
type guestCluster struct{ api *kube.Client }

var _ workers.Cluster = guestCluster{}

func nodeRef(name string) kube.Ref { return kube.Ref{Version: "v1", Resource: "nodes", Name: name} }

// Pods implements worker.Cluster.
func (g guestCluster) Pods(ctx context.Context, node string) ([]map[string]any, error) {
	all, err := g.api.List(ctx, kube.Ref{Version: "v1", Resource: "pods"})
	var list []map[string]any
	for _, o := range all {
		if evidence.String(o, "spec", "nodeName") == node {
			list = append(list, o)
		}
	}
	return list, err
}

// Evict implements worker.Cluster.
func (g guestCluster) Evict(ctx context.Context, namespace, name, uid string) error {
	switch err := g.api.Evict(ctx, namespace, name, uid); {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		return workers.ErrBudget
	default:
		return err
	}
}

// Cordon implements worker.Cluster.
func (g guestCluster) Cordon(ctx context.Context, node, uid string, on bool) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": uid},
		{"op": "add", "path": "/spec/unschedulable", "value": on},
	})
	if err != nil {
		return err
	}
	_, err = g.api.Patch(ctx, nodeRef(node), "", patch, false)
	return err
}

// DeleteNode implements worker.Cluster.
func (g guestCluster) DeleteNode(ctx context.Context, node, uid string) error {
	return g.api.Remove(ctx, nodeRef(node), uid)
}

// ReadyNodes implements worker.Cluster.
func (g guestCluster) ReadyNodes(ctx context.Context) ([]string, error) {
	all, err := g.api.List(ctx, kube.Ref{Version: "v1", Resource: "nodes"})
	var names []string
	for _, o := range all {
		if n := nodeOf(o); n.Ready && !n.Cordoned {
			names = append(names, evidence.String(o, "metadata", "name"))
		}
	}
	return names, err
}
