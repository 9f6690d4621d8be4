package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

// The words of --dry-run, as kubectl has them.
const (
	dryNone   = "none"
	dryClient = "client"
	dryServer = "server"
)

func (a *app) nodePoolCreateCommand() *cobra.Command {
	var f poolFlags
	cmd := &cobra.Command{
		Use:   "create NAME --hosted NS/NAME --replicas N",
		Short: "declare a NodePool of platform None, and wait for its token and payload",
		Long: `Create checks the HostedCluster, has the API server try the NodePool (dry run), shows what
it would store, and asks. Then it creates the NodePool and waits until the first machine
can be made: the release is read, the token and the user-data are there, and the ignition
server has built the payload. What a condition means on platform None is shown with it.

With --host NAME=IP or --count N it continues as "worker create": one command from the
HostedCluster to Ready workers. A NodePool of that name that exists is never changed.

--dry-run=client -o yaml prints the manifest alone, for a repository; with --release it
asks no cluster. "nodepool wait" waits for a NodePool that another tool has applied.

Exit codes: 0 machines can be made (with --host: all workers are Ready); 1 the tool could
not do its work; 2 a check failed and nothing was made, or a condition refuses what was
declared; 3 not ready within --timeout, or not all workers have joined.`,
		Example: cmdutil.Example(a.Name, "nodepool create workers --hosted clusters/guest --replicas 2", "then \"worker create\" with the line "+
			"that it prints") +
			cmdutil.Example(a.Name, "nodepool create workers --hosted clusters/guest --host w0=192.0.2.31", "and its workers, "+
				"until they "+
				"are Ready") +
			cmdutil.Example(a.Name, "nodepool create workers --hosted clusters/guest --replicas 2 --dry-run=server", "what the API server would store") +
			cmdutil.Example(a.Name, "nodepool create w --hosted c/guest --release IMAGE --dry-run=client -o yaml", "the "+
				"manifest alone"),
		Args: a.ExactlyOne("NAME", findNodePools),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.worker.arch = nodepool.Arches[f.want.Arch]
			return a.nodePoolCreate(cmd.Context(), f, args[0], cmdutil.FormatOf(cmd), cmd.Flags().Changed("replicas"))
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.want.Release, "release", "", "release `IMAGE` of the machines; default: that of the HostedCluster")
		s.IntVar(&f.want.Replicas, "replicas", 0, "how many workers are wanted, `N`; default: as many as are named with --host or --count")
		s.StringVar(&f.want.UpgradeType, "upgrade-type", nodepool.Replace, "`TYPE`, Replace or InPlace; it cannot be changed later, and on "+
			"platform None neither "+
			"touches a node")
		s.StringVar(&f.want.Arch, "arch", "amd64", "architecture of the machines, `ARCH`: amd64, or arm64 from 4.18 on; it cannot be changed later")
		s.Var(cmdutil.NewChoice(&f.dryRun, []string{dryNone, dryClient, dryServer}), "dry-run", "client: print the manifest; server: show what "+
			"the API server "+
			"would store; nothing is made")
	})
	cmdutil.CompleteChoice(cmd, "dry-run", []string{dryNone, dryClient, dryServer})
	a.AddOutputFlags(cmd, "text", "yaml", "json")
	addPoolTimeout(cmd, &f, "for token and payload")
	a.addMachineFlags(cmd, &f.worker)
	addSmokeFlag(cmd, &f.worker)
	a.addPoolFlags(cmd, &f)
	return cmd
}

// withWorkers reports whether workers follow.
func (f poolFlags) withWorkers() bool { return len(f.worker.hosts) > 0 || f.worker.count > 0 }

// machines counts them.
func (f poolFlags) machines() string {
	return page.Count(len(f.worker.hosts)+f.worker.count, "worker", "workers")
}

// wish completes what is to be declared from the flags alone.
func (a *app) wish(f poolFlags, name string, replicasNamed bool) (nodepool.Want, error) {
	w, err := a.poolOf(name, f)
	if err != nil {
		return w, err
	}
	switch {
	case f.timeout <= 0:
		return w, session.Usagef("--timeout is positive")
	case !replicasNamed && !f.withWorkers():
		return w, session.Usagef("how many workers are wanted: --replicas N, or name them with --host NAME=IP")
	case !replicasNamed:
		w.Replicas = len(f.worker.hosts) + f.worker.count
	}
	if err := w.Check(); err != nil {
		return w, session.Usagef("%v", err)
	}
	return w, nil
}

func (a *app) nodePoolCreate(ctx context.Context, f poolFlags, name, format string, replicasNamed bool) error {
	w, err := a.wish(f, name, replicasNamed)
	if err != nil {
		return err
	}
	if format != "text" && f.dryRun == dryNone {
		return session.Usagef("-o %s prints the manifest: it is for --dry-run=client or --dry-run=server", format)
	}
	f.worker.nodePool = name
	if f.withWorkers() { // a mistake shows before anything is made
		p, err := a.workerPlan(f.worker)
		if err != nil {
			return err
		}
		if _, err := workers.FindProvider(p.Provider, p.Options["dir"]); err != nil {
			return err
		}
	}
	if f.dryRun == dryClient && w.Release != "" {
		return a.printManifest(w, format)
	}
	h, err := a.openHub()
	if err != nil {
		return err
	}
	cluster, err := h.Object(ctx, openshift.HyperShiftGroup, "hostedclusters", w.Namespace, w.Cluster)
	if err != nil {
		return fmt.Errorf("read HostedCluster %s: %w", a.source.Hosted, err)
	}
	release := "that of the HostedCluster"
	if w.Release != "" {
		release = "named with --release"
	}
	w.Release = cmp.Or(w.Release, evidence.String(cluster, "spec", "release", "image"))
	if f.dryRun == dryClient {
		return a.printManifest(w, format)
	}
	manifest, err := w.Manifest()
	if err != nil {
		return fmt.Errorf("declare NodePool %s: %w; name one with --release", w.Name, err)
	}
	checks := append(clusterReady(cluster), existingCheck(ctx, h, w))
	var stored kube.Object
	if !stops(checks) {
		stored, err = h.api.Create(ctx, poolRef(w.Namespace, w.Name), manifest, true)
		tried, definite := dryRunCheck(err, "create it")
		if !definite {
			return fmt.Errorf("try NodePool %s/%s on the API server (dry run), nothing was made: %w", w.Namespace, w.Name, err)
		}
		checks = append(checks, tried, notTried)
	}
	if format != "text" {
		for _, c := range checks {
			if c.stops {
				return &cmdutil.ExitError{Code: cmdutil.ExitFault, Err: errors.New(c.text)}
			}
		}
		return a.PrintData(format, nodepool.Backup(stored))
	}
	if err := a.printPoolPlan(w, f, release, manifest, stored, checks); err != nil || f.dryRun == dryServer {
		return err
	}
	return a.declare(ctx, h, w, f, manifest, stored)
}

// notTried is what a dry run does not show: the validating webhook looks at KubeVirt only, and the
// controller at the rest (hypershift-operator/controllers/hostedcluster/hostedcluster_webhook.go
// nodePoolValidator, 4.14 to 4.22).
var notTried = workerCheck{fault.Unknown, false, "whether the release can be read, fits the control plane's version and has the architecture: only the " +
	"controller looks at that"}

func (a *app) printManifest(w nodepool.Want, format string) error {
	manifest, err := w.Manifest()
	if err != nil {
		return err
	}
	if format == "text" {
		format = "yaml"
	}
	return a.PrintData(format, manifest)
}

// clusterReady looks for what the NodePool will wait for, or never get.
func clusterReady(cluster kube.Object) []workerCheck {
	if p := evidence.String(cluster, "spec", "platform", "type"); p != nodepool.None {
		return []workerCheck{{fault.Present, true, fmt.Sprintf("the HostedCluster is of platform %s: HyperShift makes the machines of its "+
			"NodePools", cmp.Or(p, "not named"))}}
	}
	checks := []workerCheck{{fault.Absent, false, "the HostedCluster is of platform None"}}
	if at := evidence.String(cluster, "metadata", "deletionTimestamp"); at != "" {
		checks = append(checks, workerCheck{fault.Present, true, "the HostedCluster is being deleted since " + at})
	}
	// hypershift-operator/controllers/nodepool/conditions.go ignitionEndpointAvailableCondition,
	// validMachineConfigCondition ("waiting on hostedCluster.status.kubeConfig to be set"), 4.14 to 4.22.
	for _, part := range []struct{ field, what string }{{"ignitionEndpoint", "its ignition endpoint"}, {"kubeconfig", "its kubeconfig"}} {
		if evidence.Field(cluster, "status", part.field) == nil || evidence.Field(cluster, "status", part.field) == "" {
			checks = append(checks, workerCheck{fault.Present, false, "the hosted control plane has not published " + part.what + " yet: the " +
				"NodePool waits for it"})
			continue
		}
		checks = append(checks, workerCheck{fault.Absent, false, "the hosted control plane has published " + part.what})
	}
	return checks
}

// existingCheck refuses a name that is taken: what is there is somebody's.
func existingCheck(ctx context.Context, h hub, w nodepool.Want) workerCheck {
	pool, err := h.api.Get(ctx, poolRef(w.Namespace, w.Name))
	switch {
	case apierrors.IsNotFound(err):
		return workerCheck{fault.Absent, false, fmt.Sprintf("there is no NodePool %s in namespace %s yet", w.Name, w.Namespace)}
	case err != nil:
		return workerCheck{fault.Unknown, false, "whether there is a NodePool of that name: " + err.Error()}
	}
	return workerCheck{fault.Present, true, fmt.Sprintf("NodePool %s/%s exists: %s. It is not changed: choose another name, or see `oc -n %s get "+
		"nodepool %s -o yaml`",
		w.Namespace, w.Name, nodepool.Describe(pool), w.Namespace, w.Name)}
}

func (a *app) printPoolPlan(w nodepool.Want, f poolFlags, release string, sent, stored kube.Object, checks []workerCheck) error {
	plan := answer.Section{Heading: "Plan", Entries: []answer.Entry{
		{Name: "declares", Text: fmt.Sprintf("NodePool %s of hosted cluster %s, platform None", w.Name, a.source.Hosted)},
		{Name: "release", Text: w.Release + ", " + release},
		{Name: "replicas", Text: fmt.Sprintf("%d: on platform None a number only, HyperShift makes no machine for it", w.Replicas)},
		{Name: "updates", Text: w.UpgradeType + ": on platform None neither type touches a node; `" + a.Name + " worker replace` does"},
	}}
	if f.withWorkers() {
		plan.Entries = append(plan.Entries, answer.Entry{Name: "then", Text: fmt.Sprintf("makes %s by provider %s, approves their requests and waits, as "+
			"`%s worker create` does, with its checks", f.machines(), f.worker.provider, a.Name)})
	}
	plan.Entries = append(plan.Entries, answer.Entry{Name: "needs", Text: fmt.Sprintf("in the management cluster: to read HostedCluster %s, create and "+
		"read NodePools in "+
		"namespace %s, and read Secrets in %s", a.source.Hosted, w.Namespace, hosted.ControlPlaneOf(w.Namespace, w.Cluster))})
	sections := []answer.Section{plan}
	if stored != nil {
		would := answer.Section{Heading: "The API server would store"}
		for _, line := range nodepool.Flat(stored["spec"]) {
			name, value, _ := strings.Cut(line, ": ")
			would.Entries = append(would.Entries, answer.Entry{Name: "spec." + name, Text: cmp.Or(value, `""`)})
		}
		if other := nodepool.Differences(sent["spec"], stored["spec"]); len(other) > 0 {
			checks = append(checks, workerCheck{fault.Present, false, "the API server would not store what was asked for (its schema, or a webhook): spec." +
				strings.Join(other, ", spec.")})
		}
		sections = append(sections, would)
	}
	return a.refusedChecks(checks, sections...)
}

// declare asks, creates the NodePool and waits.
func (a *app) declare(ctx context.Context, h hub, w nodepool.Want, f poolFlags, manifest, tried kube.Object) error {
	what := fmt.Sprintf("create NodePool %s of hosted cluster %s", w.Name, a.source.Hosted)
	if f.withWorkers() {
		what += ", and make " + f.machines()
	}
	if err := a.typedYes(f.worker, what); err != nil {
		return err
	}
	made, err := h.create(ctx, w, manifest, tried)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.IO.Out, "\nNodePool %s/%s is created (uid %s). To take it away: %s nodepool delete %s %s\n", w.Namespace, w.Name,
		a.CleanText(evidence.String(made, "metadata", "uid")), a.Name, w.Name, a.quotedHosted())
	if err := a.waitForPool(ctx, h, w, f); err != nil {
		return err
	}
	if !f.withWorkers() {
		a.printNextWorker(w)
		return nil
	}
	fmt.Fprintln(a.IO.Out)
	f.worker.yes = true // confirmed with the NodePool
	return a.workerCreate(ctx, f.worker)
}

// create creates the NodePool. Where no answer came, it looks whether it was made as it was tried.
func (h hub) create(ctx context.Context, w nodepool.Want, manifest, tried kube.Object) (kube.Object, error) {
	ref := poolRef(w.Namespace, w.Name)
	made, err := h.api.Create(ctx, ref, manifest, false)
	if err == nil {
		return made, nil
	}
	err = fmt.Errorf("create NodePool %s/%s: %w", w.Namespace, w.Name, err)
	if _, definite := dryRunCheck(errors.Unwrap(err), ""); definite {
		return nil, err
	}
	have, readErr := h.api.Get(ctx, ref)
	switch {
	case readErr == nil && nodepool.Creator(have) == kube.FieldManager && len(nodepool.Differences(tried["spec"], have["spec"])) == 0:
		return have, nil // the dry run found none: it is this one
	case apierrors.IsNotFound(readErr):
		return nil, fmt.Errorf("%w; it was not made", err)
	}
	return nil, fmt.Errorf("%w; whether it was made is not known: `oc -n %s get nodepool %s`", err, w.Namespace, w.Name)
}

// printNextWorker ends with the command that makes the workers.
func (a *app) printNextWorker(w nodepool.Want) {
	fmt.Fprintf(a.IO.Out, "\nNext: %s worker create %s --nodepool %s --host NAME=IP   (one --host for each worker)\n  or: %s worker user-data %s "+
		"--nodepool %s --to "+
		"FILE   (for a tool of your own)\n", a.Name, a.quotedHosted(), shellcommand.Quote(w.Name), a.Name, a.quotedHosted(), shellcommand.Quote(w.Name))
}
