package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

func (a *app) nodePoolDeleteCommand() *cobra.Command {
	var f poolFlags
	cmd := &cobra.Command{
		Use:   "delete NAME --hosted NS/NAME",
		Short: "delete a NodePool of platform None; its Nodes and machines stay",
		Long: `Delete shows what goes and what stays, keeps a copy of the NodePool in the state
directory, and deletes it. With it go its token and user-data: no machine can be made or
fetch its config any more. On platform None no Node, no machine and no kubelet is touched:
they run on, with their certificates. Take them away first, with "worker delete".

It refuses a NodePool whose Nodes are Ready, and where it could not look for them, without
--nodes-stay. The copy is for "oc create -f": token and user-data are new then.

Exit codes: 0 it is gone; 1 the tool could not do its work; 2 refused; 3 it is not gone
within --timeout.`,
		Example: cmdutil.Example(a.Name, "nodepool delete workers --hosted clusters/guest", "asks for the name"),
		Args:    a.ExactlyOne("NAME", findNodePools),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.nodePoolDelete(cmd.Context(), f, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.nodesStay, "nodes-stay", false, "also while Nodes are Ready, or not known: they stay")
		s.DurationVar(&f.timeout, "timeout", 2*time.Minute, "wait at most this `TIME` until it is gone")
	})
	a.addPoolFlags(cmd, &f)
	return cmd
}

func (a *app) nodePoolDelete(ctx context.Context, f poolFlags, name string) error {
	w, err := a.poolOf(name, f)
	if err != nil {
		return err
	}
	if f.timeout <= 0 {
		return session.Usagef("--timeout is positive")
	}
	state, err := statedir.Path(f.worker.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	h, err := a.openHub()
	if err != nil {
		return err
	}
	pool, err := h.readPool(ctx, w)
	if err != nil {
		return err
	}
	checks, plan, err := a.deletionChecks(ctx, h, f, w, pool)
	if err != nil {
		return err
	}
	if err := a.refusedChecks(checks, plan); err != nil {
		return err
	}
	if err := a.typedName(f.worker, w.Name, fmt.Sprintf("delete NodePool %s of hosted cluster %s", w.Name, a.source.Hosted)); err != nil {
		return err
	}
	file, err := a.backUp(state, w, pool)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.IO.Out, "\nKept: %s\n", a.CleanText(file))
	if err := h.delete(ctx, w, pool, false); err != nil {
		return fmt.Errorf("delete NodePool %s/%s: %w", w.Namespace, w.Name, err)
	}
	undo := fmt.Sprintf("To undo: oc create -f %s   (with a new token and new user-data)", shellcommand.Quote(file))
	if err := a.waitUntilGone(ctx, h, w, pool, f.timeout); err != nil {
		fmt.Fprintln(a.IO.Out, undo)
		return err
	}
	fmt.Fprintf(a.IO.Out, "NodePool %s/%s is gone.\n%s\n", w.Namespace, w.Name, undo)
	return nil
}

// deletionChecks look for what holds the deletion and for what it leaves behind.
func (a *app) deletionChecks(ctx context.Context, h hub, f poolFlags, w nodepool.Want, pool kube.Object) ([]workerCheck, answer.Section, error) {
	control := hosted.ControlPlaneOf(w.Namespace, w.Cluster)
	plan := answer.Section{Heading: "Plan", Entries: []answer.Entry{
		{Name: "deletes", Text: fmt.Sprintf("NodePool %s/%s: %s", w.Namespace, w.Name, nodepool.Describe(pool))},
		// nodepool_controller.go delete, deleteNodePoolSecrets: both in one pass, with the finalizer.
		{Name: "goes", Text: "its Secrets token-" + w.Name + "-... and user-data-" + w.Name + "-... in namespace " + control + ", and its " +
			"ConfigMaps there: " +
			"a machine " +
			"that boots with a copy of its user-data gets HTTP 511"},
	}}
	nodes, checks, read := a.nodeChecksOf(ctx, h, f, w)
	if read {
		plan.Entries = append(plan.Entries, answer.Entry{Name: "stays", Text: nodesText(nodes)})
	}
	if len(nodes) > 0 || !read {
		plan.Entries = append(plan.Entries, answer.Entry{Name: "on the hosts", Text: "the kubelet runs on, with its certificates in /var/lib/kubelet/pki; " +
			"the bootstrap " +
			"kubeconfig in /etc/kubernetes may still ask for new ones. To end that: worker delete, or reinstall the host"})
	}
	checks = append(checks, readyCheck(nodes, read, f.nodesStay)...)
	checks = append(checks, a.runsChecks(f, w)...)
	checks = append(checks, machinesCheck(ctx, h, w, control))
	if by := nodepool.KeptBy(pool, kube.FieldManager); by != "" {
		checks = append(checks, workerCheck{fault.Present, false, "another tool writes this NodePool again (" + by + "): remove it there, too"})
	}
	if at := evidence.String(pool, "metadata", "deletionTimestamp"); at != "" {
		checks = append(checks, workerCheck{fault.Present, true, "it is being deleted since " + at + ": its finalizer waits for the HyperShift operator"})
	}
	if stops(checks) {
		return checks, plan, nil
	}
	err := h.delete(ctx, w, pool, true)
	tried, definite := dryRunCheck(err, "delete it")
	if !definite {
		return nil, plan, fmt.Errorf("try the deletion of NodePool %s/%s on the API server (dry run), nothing was deleted: %w", w.Namespace, w.Name, err)
	}
	return append(checks, tried), plan, nil
}

// readyCheck refuses to delete under Nodes that work, and where they could not be looked for.
func readyCheck(nodes []poolNode, read, stay bool) []workerCheck {
	ready := slices.DeleteFunc(slices.Clone(nodes), func(n poolNode) bool { return !n.ready })
	switch {
	case stay && (!read || len(ready) > 0):
		return []workerCheck{{fault.Present, false, "its Nodes stay and work on, as asked with --nodes-stay"}}
	case !read:
		return []workerCheck{{fault.Present, true, "it is not known whether its Nodes are Ready: with --nodes-stay it is deleted all the same"}}
	case len(ready) > 0:
		return []workerCheck{{fault.Present, true, fmt.Sprintf("%s Ready and would work on without a NodePool: %s. Take them away first (worker "+
			"delete NAME), "+
			"or keep them with --nodes-stay", page.Count(len(ready), "Node is", "Nodes are"), strings.Join(nodeTexts(ready), ", "))}}
	}
	return []workerCheck{{fault.Absent, false, "none of its Nodes is Ready"}}
}

// runsChecks name the runs of this machine that are not at their end.
func (a *app) runsChecks(f poolFlags, w nodepool.Want) []workerCheck {
	runs, err := a.runsOf(f.worker)
	if err != nil {
		return nil // named by nodeChecksOf
	}
	var checks []workerCheck
	for _, r := range runs {
		var open []string
		for _, s := range r.Statuses {
			if s.Step == workers.MayBe || s.Step == workers.Made || s.Step == workers.MayBeOut {
				open = append(open, s.Worker.Name)
			}
		}
		if r.Plan.NodePool == w.Name && len(open) > 0 {
			checks = append(checks, workerCheck{fault.Present, false, fmt.Sprintf("run %s has made machines that have not joined (%s), and they "+
				"cannot after this: "+
				"%s worker rollback %s", r.Plan.Run, strings.Join(open, ", "), a.Name, r.Plan.Run)})
		}
	}
	return checks
}

// machinesCheck looks for Machines of the Cluster API that name the NodePool. On platform None there are
// none; where somebody made one, the deletion waits for it (hypershift-operator/controllers/nodepool/
// capi.go ensureMachineDeletion).
func machinesCheck(ctx context.Context, h hub, w nodepool.Want, control string) workerCheck {
	list, err := h.api.List(ctx, kube.Ref{Group: openshift.ClusterAPIGroup, Version: "v1beta1", Resource: "machines", Namespace: control})
	if apierrors.IsNotFound(err) {
		return workerCheck{fault.Absent, false, "no Machine of the Cluster API names it: the management cluster does not serve them"}
	}
	if err != nil {
		return workerCheck{fault.Unknown, false, "whether Machines of the Cluster API name it, for which the deletion would wait: " + err.Error()}
	}
	var names []string
	for _, o := range list {
		if evidence.String(o, "metadata", "annotations", openshift.NodePoolKey) == w.Namespace+"/"+w.Name {
			names = append(names, evidence.String(o, "metadata", "name"))
		}
	}
	if len(names) > 0 {
		return workerCheck{fault.Present, true, fmt.Sprintf("Machines in %s name it (%s), and its deletion would wait for them: delete them "+
			"first", control, strings.Join(names, ", "))}
	}
	return workerCheck{fault.Absent, false, "no Machine of the Cluster API names it"}
}

func (h hub) delete(ctx context.Context, w nodepool.Want, shown kube.Object, dryRun bool) error {
	ref, pool := poolRef(w.Namespace, w.Name), shown
	var err error
	for range scaleTries {
		err = h.api.Delete(ctx, ref, evidence.String(pool, "metadata", "uid"), evidence.String(pool, "metadata", "resourceVersion"), dryRun)
		if !apierrors.IsConflict(err) {
			return err
		}
		now, readErr := h.api.Get(ctx, ref)
		if readErr != nil || evidence.String(now, "metadata", "uid") != evidence.String(shown, "metadata", "uid") ||
			fmt.Sprint(evidence.Field(now, "metadata", "generation")) != fmt.Sprint(evidence.Field(shown, "metadata", "generation")) {
			return err // it is not the one that was shown
		}
		pool = now
	}
	return err
}

// poolsDir has the copies of deleted NodePools below the state directory.
const poolsDir = "nodepools"

// backUp keeps a NodePool as it can be created again, and returns the file. A manifest is no secret;
// names in it are somebody's, so that it is kept as all of the state directory.
func (a *app) backUp(state string, w nodepool.Want, pool kube.Object) (string, error) {
	raw, err := yaml.Marshal(nodepool.Backup(pool))
	if err != nil {
		return "", fmt.Errorf("keep a copy of NodePool %s: %w", w.Name, err)
	}
	dir, err := statedir.Open(state, true, poolsDir)
	if err != nil {
		return "", fmt.Errorf("keep a copy of NodePool %s: %w", w.Name, err)
	}
	name := fmt.Sprintf("%s_%s_%s.yaml", w.Namespace, w.Name, a.IO.Clock().UTC().Format("20060102T150405Z"))
	if err := errors.Join(statedir.Replace(dir, name, raw), dir.Close()); err != nil {
		return "", fmt.Errorf("keep a copy of NodePool %s: %w", w.Name, err)
	}
	return filepath.Join(dir.Name(), name), nil
}

// waitUntilGone waits for the finalizer: the HyperShift operator removes token and user-data first.
func (a *app) waitUntilGone(ctx context.Context, h hub, w nodepool.Want, pool kube.Object, timeout time.Duration) error {
	within, end := context.WithTimeout(ctx, timeout)
	defer end()
	defer a.Progress("waiting until NodePool %s is gone ", w.Name)()
	why := "the HyperShift operator has not removed its finalizer: is it running (Deployment operator in namespace hypershift)?"
	for {
		now, err := h.api.Get(within, poolRef(w.Namespace, w.Name))
		switch {
		case apierrors.IsNotFound(err), err == nil && evidence.String(now, "metadata", "uid") != evidence.String(pool, "metadata", "uid"):
			return nil
		case err != nil && within.Err() == nil:
			why = "it cannot be read: " + err.Error()
		}
		select {
		case <-within.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted; NodePool %s/%s is being deleted", w.Namespace, w.Name)
			}
			return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: fmt.Errorf("NodePool %s/%s is being deleted and not gone after %s: "+
				"%s", w.Namespace, w.Name, timeout, why)}
		case <-time.After(time.Second):
		}
	}
}
