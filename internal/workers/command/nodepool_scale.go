package command

import (
	"context"
	"encoding/json"
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
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/workers/nodepool"
)

func (a *app) nodePoolScaleCommand() *cobra.Command {
	var f poolFlags
	cmd := &cobra.Command{
		Use:   "scale NAME --hosted NS/NAME --replicas N",
		Short: "change how many workers a NodePool of platform None wants",
		Long: `Scale writes spec.replicas, of the NodePool that was read and in its version, after a dry
run. On platform None that is a number only: HyperShift makes no machine for it and takes
none away, and status.replicas stays 0. Rollcall counts with it how many workers are
missing. Make them with "worker create", and take one away with "worker delete".

It refuses what can be meant in two ways: fewer than the Nodes that are there (which of
them goes?), a NodePool that another tool writes again, one with autoscaling, one that is
being deleted.

Exit codes: 0 done, or nothing to do; 1 the tool could not do its work; 2 refused.`,
		Example: cmdutil.Example(a.Name, "nodepool scale workers --hosted clusters/guest --replicas 4", "and how many workers are to be made then"),
		Args:    a.ExactlyOne("NAME", findNodePools),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("replicas") {
				return session.Usagef("--replicas N is missing")
			}
			return a.nodePoolScale(cmd.Context(), f, args[0])
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.IntVar(&f.want.Replicas, "replicas", 0, "how many workers are wanted, `N`")
		s.BoolVar(&f.nodesStay, "nodes-stay", false, "also fewer than the Nodes that are there: they stay")
	})
	a.addPoolFlags(cmd, &f)
	return cmd
}

func (a *app) nodePoolScale(ctx context.Context, f poolFlags, name string) error {
	w, err := a.poolOf(name, f)
	if err != nil {
		return err
	}
	if w.Replicas < 0 || w.Replicas > nodepool.MaxReplicas {
		return session.Usagef("--replicas %d: want 0 to %d", w.Replicas, nodepool.MaxReplicas)
	}
	h, err := a.openHub()
	if err != nil {
		return err
	}
	pool, err := h.readPool(ctx, w)
	if err != nil {
		return err
	}
	now, _ := nodepool.Replicas(pool)
	checks := scaleChecks(pool)
	nodes, more, read := a.nodeChecksOf(ctx, h, f, w)
	checks = append(checks, more...)
	checks = append(checks, fewerCheck(w.Replicas, now, nodes, read, f.nodesStay)...)
	if !stops(checks) && now == w.Replicas {
		fmt.Fprintf(a.IO.Out, "NodePool %s wants %s already: nothing was changed.\n", w.Name, replicas(now))
		return nil
	}
	if !stops(checks) {
		err := h.scale(ctx, pool, w, true)
		tried, definite := dryRunCheck(err, "change it")
		if !definite {
			return fmt.Errorf("try the change of NodePool %s/%s on the API server (dry run), nothing was changed: %w", w.Namespace, w.Name, err)
		}
		checks = append(checks, tried)
	}
	plan := answer.Section{Heading: "Plan", Entries: []answer.Entry{
		{Name: "scales", Text: fmt.Sprintf("NodePool %s of hosted cluster %s from %s to %d", w.Name, a.source.Hosted, nodepool.Size(pool), w.Replicas)},
		{Name: "does", Text: "on platform None nothing but the number: no machine is made, and none is taken away"},
	}}
	if read {
		plan.Entries = append(plan.Entries, answer.Entry{Name: "nodes", Text: nodesText(nodes)})
	}
	if err := a.refusedChecks(checks, plan); err != nil {
		return err
	}
	if err := a.typedYes(f.worker, fmt.Sprintf("scale NodePool %s to %s", w.Name, replicas(w.Replicas))); err != nil {
		return err
	}
	if err := h.scale(ctx, pool, w, false); err != nil {
		return err
	}
	fmt.Fprintf(a.IO.Out, "\nNodePool %s wants %s now.\n", w.Name, replicas(w.Replicas))
	a.printAfterScale(w, now, nodes, read)
	return nil
}

func nodesText(nodes []poolNode) string {
	if len(nodes) == 0 {
		return "the hosted cluster has none of this NodePool"
	}
	return fmt.Sprintf("%d: %s", len(nodes), strings.Join(nodeTexts(nodes), ", "))
}

func replicas(n int) string { return page.Count(n, "replica", "replicas") }

// printAfterScale says what is left to do, and how the number is set back.
func (a *app) printAfterScale(w nodepool.Want, before int, nodes []poolNode, read bool) {
	switch missing := w.Replicas - len(nodes); {
	case !read:
	case missing > 0:
		fmt.Fprintf(a.IO.Out, "Next: make %s: %s worker create %s --nodepool %s --host NAME=IP   (one --host for "+
			"each)\n", page.Count(missing, "worker", "workers"), a.Name,
			a.quotedHosted(), shellcommand.Quote(w.Name))
	case missing < 0:
		fmt.Fprintf(a.IO.Out, "Next: more Nodes than that are there: %d. `%s worker delete NAME` takes one away, with its pods and its "+
			"machine.\n", -missing, a.Name)
	}
	fmt.Fprintf(a.IO.Out, "To undo: %s nodepool scale %s %s --replicas %d\n", a.Name, w.Name, a.quotedHosted(), before)
}

// scaleChecks refuse a NodePool whose number somebody else decides.
func scaleChecks(pool kube.Object) []workerCheck {
	var checks []workerCheck
	if at := evidence.String(pool, "metadata", "deletionTimestamp"); at != "" {
		checks = append(checks, workerCheck{fault.Present, true, "the NodePool is being deleted since " + at})
	}
	if evidence.Field(pool, "spec", "autoScaling") != nil {
		// The API refuses both together (api/hypershift/v1beta1/nodepool_types.go, from 4.16), and on
		// platform None no autoscaler acts.
		checks = append(checks, workerCheck{fault.Present, true, "spec.autoScaling is set, which excludes replicas and does nothing on platform None: " +
			"remove it first"})
	}
	if by := nodepool.KeptBy(pool, kube.FieldManager); by != "" {
		checks = append(checks, workerCheck{fault.Present, true, "another tool writes this NodePool again (" + by + "): change the number there"})
	}
	return checks
}

// fewerCheck refuses a number below the Nodes that are there: it takes none away, and which of them is
// meant is not known.
func fewerCheck(want, now int, nodes []poolNode, read, stay bool) []workerCheck {
	if want >= now {
		return nil
	}
	switch {
	case stay:
		return []workerCheck{{fault.Present, false, "the Nodes that are there stay, as asked with --nodes-stay"}}
	case !read:
		return []workerCheck{{fault.Present, true, "it is not known how many Nodes are there: with --nodes-stay the number is written all the same"}}
	case len(nodes) > want:
		return []workerCheck{{fault.Present, true, fmt.Sprintf("%s there, and %d wanted: none goes by that, and which one should is not "+
			"known. Take it away first (worker delete NAME), or write the number with --nodes-stay", page.Count(len(nodes), "Node is", "Nodes are"), want)}}
	}
	return nil
}

// scaleTries bounds how often a NodePool is read again whose status was written meanwhile.
const scaleTries = 5

// scale writes spec.replicas of the NodePool that was read. The controller writes status and annotations
// all the time: as long as the spec is the one that was shown, that is no reason to stop.
func (h hub) scale(ctx context.Context, shown kube.Object, w nodepool.Want, dryRun bool) error {
	ref, pool := poolRef(w.Namespace, w.Name), shown
	var err error
	for range scaleTries {
		var patch []byte
		patch, err = json.Marshal([]map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": evidence.String(pool, "metadata", "uid")},
			{"op": "test", "path": "/metadata/resourceVersion", "value": evidence.String(pool, "metadata", "resourceVersion")},
			{"op": "add", "path": "/spec/replicas", "value": w.Replicas},
		})
		if err != nil {
			return err
		}
		var stored kube.Object
		stored, err = h.api.Patch(ctx, ref, "", patch, dryRun)
		if err == nil {
			if n, _ := nodepool.Replicas(stored); n != w.Replicas {
				return fmt.Errorf("the API server stored %d replicas of NodePool %s/%s, not %d: a webhook changes it", n, w.Namespace, w.Name, w.Replicas)
			}
			return nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			break
		}
		now, readErr := h.api.Get(ctx, ref)
		if readErr != nil {
			break
		}
		if evidence.String(now, "metadata", "resourceVersion") == evidence.String(pool, "metadata", "resourceVersion") {
			break // it was not the version
		}
		if evidence.String(now, "metadata", "uid") != evidence.String(shown, "metadata", "uid") ||
			fmt.Sprint(evidence.Field(now, "metadata", "generation")) != fmt.Sprint(evidence.Field(shown, "metadata", "generation")) {
			return fmt.Errorf("NodePool %s/%s was changed by somebody else meanwhile: nothing was written. Look at it and run this "+
				"again", w.Namespace, w.Name)
		}
		pool = now
	}
	if dryRun {
		return err
	}
	return fmt.Errorf("scale NodePool %s/%s: %w", w.Namespace, w.Name, err)
}
