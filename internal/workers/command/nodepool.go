package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

// poolFlags are the flags of the nodepool commands.
type poolFlags struct {
	want      nodepool.Want
	dryRun    string
	timeout   time.Duration
	nodesStay bool
	worker    workerFlags // of the workers that follow; its yes and stateDir are those of the command
}

// NodePools returns `nodepool`.
func NodePools(frame *cmdutil.App) *cobra.Command { return newApp(frame).nodePoolCommand() }

func (a *app) nodePoolCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodepool",
		Short: "declare, scale and delete a NodePool of platform None",
		Long: `Nodepool declares a NodePool of platform None of a hosted cluster, waits until its first
machine can be made, scales it and deletes it. On that platform HyperShift makes no
machines: "worker create" does, and "nodepool create --host NAME=IP" does both.

NodePools of other platforms are refused: there the same change makes or deletes machines.`,
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.nodePoolCreateCommand(), a.nodePoolWaitCommand(), a.nodePoolScaleCommand(), a.nodePoolDeleteCommand())
	return cmd
}

// findNodePools is the command that lists the NodePools of a management cluster.
const findNodePools = "oc get nodepools -A"

// defaultPoolWait is how long token and payload may take: the fault ignition-payload-failed waits as long.
const defaultPoolWait = 15 * time.Minute

func (a *app) addPoolFlags(cmd *cobra.Command, f *poolFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.worker.yes, "yes", false, "do not ask")
	})
	a.addWorkerFlags(cmd, &f.worker)
	nameHosted(cmd)
}

// nameHosted says what --hosted is where no request is the subject.
func nameHosted(cmd *cobra.Command) {
	cmd.Flag("hosted").Usage = "`NS/NAME` of the HostedCluster; the kubeconfig is that of its management cluster"
}

func addPoolTimeout(cmd *cobra.Command, f *poolFlags, what string) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.DurationVar(&f.timeout, "timeout", defaultPoolWait, "wait at most this `TIME` "+what)
	})
}

// poolOf reads the name of the hosted cluster into a wish.
func (a *app) poolOf(name string, f poolFlags) (nodepool.Want, error) {
	w := f.want
	if a.source.Hosted == "" {
		return w, session.Usagef("--hosted NAMESPACE/NAME is missing; `oc get hostedclusters -A` lists them")
	}
	namespace, cluster, err := hosted.Parse(a.source.Hosted)
	if err != nil {
		return w, session.Usagef("--hosted: %v", err)
	}
	w.Namespace, w.Cluster, w.Name = namespace, cluster, name
	return w, nil
}

func poolRef(namespace, name string) kube.Ref {
	return kube.Ref{Group: openshift.HyperShiftGroup, Version: "v1beta1", Resource: "nodepools", Namespace: namespace, Name: name}
}

// readPool reads a NodePool of platform None of the hosted cluster. Others are refused.
func (h hub) readPool(ctx context.Context, w nodepool.Want) (kube.Object, error) {
	pool, err := h.api.Get(ctx, poolRef(w.Namespace, w.Name))
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no NodePool %s in namespace %s; `%s` lists them", w.Name, w.Namespace, findNodePools)
	}
	if err != nil {
		return nil, fmt.Errorf("read NodePool %s/%s: %w", w.Namespace, w.Name, err)
	}
	if of := evidence.String(pool, "spec", "clusterName"); of != w.Cluster {
		return nil, fmt.Errorf("NodePool %s/%s is of hosted cluster %s, not of %s: name that with --hosted", w.Namespace, w.Name, of, w.Cluster)
	}
	if p := evidence.String(pool, "spec", "platform", "type"); p != nodepool.None {
		return nil, fmt.Errorf("NodePool %s/%s is of platform %s, where HyperShift makes and deletes the machines: this command is for platform None. "+
			"Change it with oc", w.Namespace, w.Name, p)
	}
	return pool, nil
}

// poolsOf are the names of the NodePools of a hosted cluster.
func (h hub) poolsOf(ctx context.Context, w nodepool.Want) ([]string, error) {
	all, err := h.api.List(ctx, poolRef(w.Namespace, ""))
	var names []string
	for _, o := range all {
		if evidence.String(o, "spec", "clusterName") == w.Cluster {
			names = append(names, evidence.String(o, "metadata", "name"))
		}
	}
	slices.Sort(names)
	return names, err
}

// typedName has a person type the name of what is about to be deleted.
func (a *app) typedName(f workerFlags, name, what string) error {
	if f.yes {
		return nil
	}
	if !a.IO.Screen.InTerminal || !a.IO.Screen.ErrTerminal {
		return errors.New("nothing was done: there is no terminal to ask at; add --yes")
	}
	fmt.Fprintf(a.IO.Err, "\nType %s to %s: ", a.CleanText(name), a.CleanText(what))
	line, err := bufio.NewReader(a.IO.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the confirmation: %w", err)
	}
	if strings.TrimSpace(line) != name {
		return errors.New("not confirmed: nothing was done")
	}
	return nil
}

// refusedChecks prints what was found, and ends the command where something stops it.
func (a *app) refusedChecks(checks []workerCheck, sections ...answer.Section) error {
	looked := answer.Section{Heading: "Checks"}
	for _, c := range checks {
		looked.Entries = append(looked.Entries, answer.Entry{Name: c.word(), Text: c.text})
	}
	if err := answer.Sections(a.IO.Out, a.Style(), append(sections, looked)); err != nil {
		return err
	}
	if stops(checks) {
		fmt.Fprintln(a.IO.Out, "\nNothing was changed: see what failed.")
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	}
	return nil
}

// stops reports whether one of the checks stops the command.
func stops(checks []workerCheck) bool {
	return slices.ContainsFunc(checks, func(c workerCheck) bool { return c.stops })
}

// dryRunCheck says what the server answered to a write that it did not store. definite says that the
// answer is about the write and not about the server.
func dryRunCheck(err error, what string) (check workerCheck, definite bool) {
	switch {
	case err == nil:
		return workerCheck{fault.Absent, false, "the API server would accept it (dry run)"}, true
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsAlreadyExists(err), apierrors.IsConflict(err),
		apierrors.IsMethodNotSupported(err):
		return workerCheck{fault.Present, true, "the API server refuses to " + what + ": " + err.Error()}, true
	}
	return workerCheck{}, false
}

// poolNode is a Node of the hosted cluster, and how it belongs to a NodePool.
type poolNode struct {
	name  string
	ready bool
	sure  bool // a run of this machine made it for the NodePool, or the hosted cluster has no other NodePool
	run   string
}

func (n poolNode) text() string {
	text := n.name + " (not Ready"
	if n.ready {
		text = n.name + " (Ready"
	}
	switch {
	case n.run != "":
		text += ", made by run " + n.run
	case !n.sure:
		text += ", perhaps of another NodePool: on platform None a Node does not show its own"
	}
	return text + ")"
}

// nodesOf are the Nodes of the hosted cluster that may be of a NodePool. On platform None nothing marks
// them (openshift/hypershift: the label comes from the annotation of a Machine,
// control-plane-operator/hostedclusterconfigoperator/controllers/node): what the runs of this machine have
// made is known, and all others where there is no other NodePool.
func (a *app) nodesOf(ctx context.Context, api *kube.Client, w nodepool.Want, pools []string, runs []workers.Run) ([]poolNode, error) {
	all, err := api.List(ctx, kube.Ref{Version: "v1", Resource: "nodes"})
	if err != nil {
		return nil, err
	}
	alone := len(slices.DeleteFunc(slices.Clone(pools), func(n string) bool { return n == w.Name })) == 0
	var list []poolNode
	for _, o := range all {
		name, n := evidence.String(o, "metadata", "name"), nodeOf(o)
		if label := evidence.String(o, "metadata", "labels", openshift.NodePoolKey); label != "" && label != w.Name {
			continue
		}
		made, run := runOf(runs, name, n.UID)
		if made != "" && made != w.Name {
			continue
		}
		list = append(list, poolNode{name: name, ready: n.Ready, sure: alone || made == w.Name, run: run})
	}
	slices.SortFunc(list, func(a, b poolNode) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// runOf is the NodePool and the run that a Node was made by.
func runOf(runs []workers.Run, name, uid string) (pool, run string) {
	for _, r := range runs {
		for _, s := range r.Statuses {
			if s.Worker.Name == name && s.NodeUID == uid && uid != "" {
				return r.Plan.NodePool, r.Plan.Run
			}
		}
	}
	return "", ""
}

// runsOf are the runs of this machine for a hosted cluster.
func (a *app) runsOf(f workerFlags) ([]workers.Run, error) {
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, err
	}
	runs, err := workers.Runs(state)
	return slices.DeleteFunc(runs, func(r workers.Run) bool { return r.Plan.Hosted != a.source.Hosted }), err
}

func nodeTexts(list []poolNode) []string {
	var texts []string
	for _, n := range list {
		texts = append(texts, n.text())
	}
	return texts
}

// nodeChecksOf reads the Nodes that may be of a NodePool, and says what of them is not known.
func (a *app) nodeChecksOf(ctx context.Context, h hub, f poolFlags, w nodepool.Want) (nodes []poolNode, checks []workerCheck, read bool) {
	unknown := func(what string, err error) {
		checks = append(checks, workerCheck{fault.Unknown, false, what + ": " + err.Error()})
	}
	pools, err := h.poolsOf(ctx, w)
	if err != nil {
		unknown("whether the hosted cluster has other NodePools", err)
		pools = []string{w.Name, "?"} // no Node is certainly of this one
	}
	runs, err := a.runsOf(f.worker)
	if err != nil {
		unknown("which workers the runs of this machine have made", err)
	}
	_, api, err := a.hostedClients(ctx)
	if err == nil {
		nodes, err = a.nodesOf(ctx, api, w, pools, runs)
	}
	if err != nil {
		unknown("which Nodes the hosted cluster has", err)
		return nil, checks, false
	}
	return nodes, checks, true
}

// quotedHosted is the flag that names the hosted cluster, for a command that is shown.
func (a *app) quotedHosted() string { return "--hosted " + shellcommand.Quote(a.source.Hosted) }
