// Package crashloop is why a static pod of the control plane ends again and again: etcd,
// the kube-apiserver or the kube-controller-manager of a host.
//
// Invariants:
//   - A container that ended now and then is no crash loop: the kube-controller-manager
//     ends each time that it loses its lease.
//   - The cause is in the log of the run that ended: the previous one where the container
//     runs again, else the current one, and the end of it in the pod's status.
//   - The container on which the others depend is reported first.
package crashloop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// loop is the container that crash-loops.
type loop struct {
	Container facts.Field[string]    `cel:"container"` // "" where none crash-loops
	Operator  facts.Field[string]    `cel:"operator"`  // the ClusterOperator that looks after it
	Cause     facts.Field[string]    `cel:"cause"`     // memory, webhook, storage, certificates, configuration, api, other
	Said      facts.Field[string]    `cel:"said"`      // the line that says the cause, shortened
	Since     facts.Field[time.Time] `cel:"since"`     // the end of its last run
}

// operands are the containers, those on which others depend first.
var operands = []struct{ container, namespace, operator string }{
	{"etcd", openshift.EtcdNamespace, "etcd"},
	{openshift.APIServer, openshift.APIServerNamespace, openshift.APIServer},
	{openshift.ControllerManager, openshift.ControllerManagerNamespace, openshift.ControllerManager},
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact} }

var fact = facts.Define("host-crash-loop", fault.Host, "the static pod of the host's control plane that ends again and again, and why", needs(), read)

func needs() []evidence.Need {
	list := inventory.Needs()
	for _, o := range operands {
		list = append(list, evidence.Objects(evidence.Pods, o.namespace), evidence.Texts(logsOf(o.namespace, o.container)))
	}
	return list
}

func logsOf(namespace, container string) evidence.TextQuery {
	return evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: namespace, Container: container}
}

func read(ctx context.Context, w *facts.World, s fault.Subject) (loop, error) {
	var l loop
	node, joined, err := inventory.Joined(ctx, w, s.Name)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return l, err
	}
	if joined && !isControlPlane(node) {
		return l, facts.NotApplicable("%s is no control-plane node", s.Name)
	}
	var blind error
	var seen []evidence.Item
	for _, o := range operands {
		pods, err := w.List(ctx, evidence.Pods, o.namespace)
		if err != nil {
			if _, ok := evidence.AsUnavailable(err); !ok {
				return l, err
			}
			blind = err
			continue
		}
		for _, pod := range pods {
			if on := evidence.String(pod.Content, "spec", "nodeName"); !inventory.SameName(on, s.Name) && (!joined || on != node.Name) {
				continue
			}
			st, ok := statusOf(pod, o.container)
			if !ok {
				continue
			}
			seen = append(seen, st.item(pod))
			if st.loops(w.Now) {
				if old := staleStatus(node); old != nil {
					return l, old
				}
				return l, l.set(ctx, w, pod, st, o.operator)
			}
		}
	}
	if blind != nil {
		return l, blind
	}
	for _, f := range []*facts.Field[string]{&l.Container, &l.Operator, &l.Cause, &l.Said} {
		f.Set("", seen...)
	}
	l.Since.Set(time.Time{}, seen...)
	return l, nil
}

// staleStatus returns why the pod statuses of a Node are old: its kubelet, which writes them, no
// longer reports (kubernetes/kubernetes:pkg/controller/nodelifecycle/node_lifecycle_controller.go
// tryUpdateNodeHealth). nil if it reports.
func staleStatus(node evidence.Object) error {
	ready := conditions.Find(conditions.Of(node), "Ready")
	if ready.Status != "Unknown" {
		return nil
	}
	return &evidence.Unavailable{Need: evidence.Objects(evidence.Pods, ""), Why: evidence.NotCollected,
		Detail: "the status of the pods on " + node.Name + " is old: its kubelet has not reported since " + excerpt.Time(ready.Beat),
		Supply: evidence.Supply{Kind: evidence.SupplySOSReport, Host: node.Name}}
}

func isControlPlane(node evidence.Object) bool {
	_, master := node.Label(openshift.MasterLabel)
	_, controlPlane := node.Label(openshift.ControlPlaneLabel)
	return master || controlPlane
}

// set reads why the container exited.
func (l *loop) set(ctx context.Context, w *facts.World, pod evidence.Object, st status, operator string) error {
	shown := st.item(pod)
	l.Container.Set(st.container, shown)
	l.Operator.Set(operator, shown)
	l.Since.Set(st.ended, shown)
	if st.reason == "OOMKilled" {
		l.Cause.Set(string(memory), shown)
		l.Said.Set("OOMKilled", shown)
		return nil
	}
	lines, err := linesOf(ctx, w, pod, st)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return err
	}
	for _, line := range slices.Backward(lines) {
		if c := causeOf(line.Excerpt); c != other {
			l.Cause.Set(string(c), line, shown)
			l.Said.Set(plain(line.Excerpt), line)
			return nil
		}
	}
	if err != nil {
		return facts.Miss(err, &l.Cause, &l.Said)
	}
	return l.other(pod, st, lines)
}

// other says that the cause is none of those that are known: the last line of the run
// names another one, or the log of the run was read and names none.
func (l *loop) other(pod evidence.Object, st status, lines []evidence.Item) error {
	if n := len(lines); n > 0 && isFatal(lines[n-1].Excerpt) {
		l.Cause.Set(string(other), lines[n-1])
		l.Said.Set(plain(lines[n-1].Excerpt), lines[n-1])
		return nil
	}
	fromLog := slices.ContainsFunc(lines, func(i evidence.Item) bool { return i.Locator.Line > 0 })
	if st.running && !fromLog { // nothing tells whether the previous log was read
		return facts.Miss(&evidence.Unavailable{Need: evidence.Texts(logsOf(pod.Namespace, st.container)), Why: evidence.NotCollected,
			Detail: "no known line in the previous log of " + pod.Name, Supply: evidence.Supply{
				Kind:      evidence.SupplyPreviousLog,
				Namespace: pod.Namespace,
				Container: st.container,
				Name:      pod.Name,
			}}, &l.Cause, &l.Said)
	}
	said := fmt.Sprintf("exit code %d %s", st.exit, st.reason)
	if len(lines) > 0 {
		said = plain(lines[len(lines)-1].Excerpt)
	}
	l.Cause.Set(string(other)) // without evidence: known only where the log was read to its end
	l.Said.Set(strings.TrimSpace(said))
	return nil
}

// linesOf returns the lines of the last run that ended, the surest last: those of its log
// that are known and the end of it that the pod's status has, oldest first, and behind
// them those with which a run ends.
func linesOf(ctx context.Context, w *facts.World, pod evidence.Object, st status) ([]evidence.Item, error) {
	w.Concerns(func(t evidence.Text) bool { return t.Namespace == pod.Namespace && t.Pod == pod.Name || t.Pod == "" })
	var previous, current []evidence.Item
	var failed error
	for _, id := range messages {
		list, err := w.Matches(ctx, logsOf(pod.Namespace, st.container), id)
		if err != nil {
			failed = err
			break
		}
		for _, m := range list {
			switch {
			case m.Text.Pod != pod.Name:
			case m.Text.Previous:
				previous = append(previous, m.Item())
			default:
				current = append(current, m.Item())
			}
		}
	}
	lines := previous
	if len(lines) == 0 && !st.running { // the kubelet gives the last run's log as the current one
		lines = current
	}
	slices.SortStableFunc(lines, func(a, b evidence.Item) int { return a.Locator.Line - b.Locator.Line })
	for _, text := range strings.Split(st.message, "\n") {
		if isError(text) {
			lines = append(lines, pod.Shows("status.containerStatuses["+st.container+"].lastState.terminated.message", text, st.ended))
		}
	}
	slices.SortStableFunc(lines, func(a, b evidence.Item) int { return rank(a) - rank(b) })
	return lines, failed
}

func rank(line evidence.Item) int {
	if isFatal(line.Excerpt) {
		return 1
	}
	return 0
}
