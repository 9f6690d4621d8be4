package update

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/eviction"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// drainCheck: which PodDisruptionBudgets will hold the drain of which node.
//
// Sources: kubernetes/kubernetes pkg/registry/core/pod/storage/eviction.go (getPodDisruptionBudgets: two of them for one pod
// refuse; canIgnorePDB: pods that are Pending, ended or going; AlwaysAllow and IfHealthyBudget, 1.27 on; checkAndDecrement:
// a stale observedGeneration); kubernetes/kubectl pkg/drain/filters.go (DaemonSet and mirror pods stay);
// openshift/machine-config-operator pkg/daemon/drain.go drainRequired (a single node is not drained, 4.9 on).
var drainCheck = Check{
	ID: "drains", Title: "PodDisruptionBudgets that hold a drain", Holds: true, Reads: apiReads, Look: lookDrains,
	Sources: []fault.Ref{
		{Repo: "kubernetes/kubernetes", Path: "pkg/registry/core/pod/storage/eviction.go"},
		{Repo: "kubernetes/kubectl", Path: "pkg/drain/filters.go"},
		{Repo: "openshift/machine-config-operator", Path: "pkg/daemon/drain.go", Symbol: "drainRequired"},
	},
}

// starting is how long a pod may take to become Ready before the drain is called blocked, and not slow.
const starting = 10 * time.Minute

func lookDrains(ctx context.Context, l *look, r *Result) error {
	if l.single() {
		return excluded("with one control-plane node the machine-config-daemon drains no node")
	}
	budgets, err := l.w.Some(ctx, evidence.PodDisruptionBudgets, "")
	u, ok := evidence.AsUnavailable(err)
	switch {
	case ok && u.Why == evidence.NotCollected && len(budgets) == 0 && !l.Whole:
		r.Missing = append(r.Missing, notInArchive("PodDisruptionBudgets are not in this archive"))
		return nil
	case err != nil && (!ok || len(budgets) == 0):
		return err
	case ok:
		r.miss("", u)
	}
	for _, namespace := range namespacesOf(budgets) {
		if err := l.drains(ctx, namespace, budgets, r); err != nil {
			return err
		}
	}
	if !l.Whole {
		r.Missing = append(r.Missing, notInArchive("PodDisruptionBudgets of namespaces that are not in this archive"))
	}
	return ctx.Err()
}

// notInArchive says that budgets may hold a drain of which the archive shows nothing.
func notInArchive(what string) Missing {
	return Missing{What: what, Supply: "oc get pdb -A (ALLOWED DISRUPTIONS is 0), or the same check against the cluster", Open: true}
}

// namespacesOf are the namespaces in which something may be held: a budget allows nothing, or there are
// several. The pods of others need not be read.
func namespacesOf(budgets []evidence.Object) []string {
	count, held := map[string]int{}, []string{}
	for i := range budgets {
		b := &budgets[i]
		if count[b.Namespace]++; !slices.Contains(held, b.Namespace) && (count[b.Namespace] > 1 || !allows(b)) {
			held = append(held, b.Namespace)
		}
	}
	slices.Sort(held)
	return held
}

// allows reports whether a budget allows an eviction now, or guards no pod.
func allows(b *evidence.Object) bool {
	return evidence.Int(b.Content, "status", "disruptionsAllowed") > 0 || evidence.Field(b.Content, "status", "expectedPods") != nil &&
		evidence.Int(b.Content, "status", "expectedPods") == 0
}

func (l *look) drains(ctx context.Context, namespace string, budgets []evidence.Object, r *Result) error {
	pods, err := l.w.Some(ctx, evidence.Pods, namespace)
	if u, ok := evidence.AsUnavailable(err); ok {
		r.miss("", u)
	} else if err != nil {
		return err
	}
	several := map[string][]string{} // the budgets of a pod
	for i := range budgets {
		b := &budgets[i]
		if b.Namespace != namespace {
			continue
		}
		budget := eviction.Read(b)
		mine, known := guarded(&budget, pods)
		if !known || evidence.Int(b.Content, "status", "observedGeneration") < evidence.Int(b.Content, "metadata", "generation") {
			r.miss("", b.NotShown("a selector that is known here, or a status of its newest generation,"))
			continue
		}
		for _, p := range mine {
			several[p.Name] = append(several[p.Name], b.Name)
		}
		if allows(b) {
			continue
		}
		if evidence.Field(b.Content, "status", "currentHealthy") == nil {
			r.miss("", b.NotShown("status"))
			continue
		}
		if f, holds := l.heldBy(&budget, mine); holds {
			r.Findings = append(r.Findings, f)
		}
	}
	for i := range pods {
		if names := several[pods[i].Name]; len(names) > 1 && eviction.Asks(&pods[i]) {
			r.Findings = append(r.Findings, twice(&pods[i], names))
		}
	}
	return nil
}

// guarded are the pods that a budget covers. known is false for a selector of a form that is not known.
func guarded(b *eviction.Budget, pods []evidence.Object) (list []*evidence.Object, known bool) {
	for i := range pods {
		covers, ok := b.Covers(&pods[i])
		if !ok {
			return nil, false
		}
		if covers {
			list = append(list, &pods[i])
		}
	}
	return list, true
}

// ownerOf is the name of the owner of a kind, "" where there is none.
func ownerOf(p *evidence.Object, kind string) string {
	owners, _ := evidence.Field(p.Content, "metadata", "ownerReferences").([]any)
	for _, raw := range owners {
		if m, _ := raw.(map[string]any); m["kind"] == kind {
			name, _ := m["name"].(string)
			return name
		}
	}
	return ""
}

// heldBy says which nodes a budget holds that allows no eviction.
func (l *look) heldBy(b *eviction.Budget, mine []*evidence.Object) (Finding, bool) {
	healthy, desired, expected := b.Healthy, b.Desired, b.Expected
	var away, slow []string
	f := Finding{Severity: fault.Error, See: fmt.Sprintf("oc -n %s get pdb %s (ALLOWED DISRUPTIONS is 1 or more)", b.Namespace, b.Name)}
	on := map[string][]string{}
	for _, p := range mine {
		ready := conditionOf(p, "Ready").status == "True"
		if !ready {
			away = append(away, p.Name)
			if created := p.Created(); !created.IsZero() && l.d.Now.Sub(created) < starting {
				slow = append(slow, p.Name)
			}
		}
		if eviction.Asks(p) && !b.Frees(p) {
			node := evidence.String(p.Content, "spec", "nodeName")
			on[node] = append(on[node], p.Name)
		}
	}
	if len(on) == 0 {
		return f, false
	}
	var places []string
	for _, node := range sorted(on) {
		f.Hosts = append(f.Hosts, node)
		places = append(places, few(on[node])+" on "+node)
	}
	needed := page.Count(int(desired), "is needed", "are needed")
	count := fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction: %d of %d pods are healthy and %s. It guards %s", b.Namespace, b.Name, healthy,
		expected, needed, few(places))
	describe := fmt.Sprintf("oc -n %s describe pdb %s", b.Namespace, b.Name)
	switch {
	case healthy < expected && len(slow) > 0 && len(slow) == len(away):
		f.Severity, f.Says = fault.Warning, count+". A pod is starting: "+few(slow)
		f.Do = []string{"wait until it is Ready: oc -n " + b.Namespace + " get pods -w"}
	case healthy < expected:
		f.Says, f.Do = count, []string{"bring up the pods that are not Ready: oc -n " + b.Namespace + " get pods -o wide"}
		if len(away) > 0 {
			f.Says += ". Not Ready: " + few(away)
		}
	default:
		f.Says = count + ". It never allows one"
		f.Do = []string{"add a replica to its workload, or let its owner change the budget for the time of the update", describe}
	}
	f.Evidence = []evidence.Item{b.Shows("status.disruptionsAllowed", fmt.Sprintf("disruptionsAllowed: 0, currentHealthy: %d, desiredHealthy: %d, "+
		"expectedPods: %d", healthy, desired, expected), b.ReadAt)}
	return f, true
}

// twice is a pod of which the API server refuses each eviction.
func twice(p *evidence.Object, budgets []string) Finding {
	node := evidence.String(p.Content, "spec", "nodeName")
	return Finding{Severity: fault.Error, Hosts: []string{node},
		Says:     fmt.Sprintf("pod %s/%s on %s has more than one PodDisruptionBudget (%s): its eviction is refused", p.Namespace, p.Name, node, few(budgets)),
		Do:       []string{"let its owner keep one of them: oc -n " + p.Namespace + " get pdb"},
		See:      "oc -n " + p.Namespace + " get pdb",
		Evidence: []evidence.Item{p.Shows("metadata.labels", "selected by "+few(budgets), p.ReadAt)}}
}

func sorted(m map[string][]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
