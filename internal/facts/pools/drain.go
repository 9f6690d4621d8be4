package pools

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// controllerLogs are the logs of the machine-config-controller, which drains nodes.
var controllerLogs = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MachineConfigNamespace, Container: openshift.MachineConfigController}

// The controller's lines about drains (openshift/machine-config-operator:
// pkg/controller/drain/drain_controller.go drainNode, syncNode). The reason why a pod was
// not evicted is a line of its own that names no node (kubernetes/kubectl:pkg/drain/drain.go
// evictPods).
const (
	sigDrainBegun  = "mcc.drain-begun"
	sigDrainFailed = "mcc.drain-failed"
	sigDrainOver   = "mcc.drain-over"
	sigEviction    = "mcc.eviction-refused"
)

var drainMessages = []string{
	sigDrainBegun, sigDrainFailed, sigDrainOver, sigEviction,
}

// heldPod finds the pods in the error of a drain.
var heldPod = regexp.MustCompile(`(?i)(?:evicting pods?/?|waiting for pod)\s*"([^"]+)" (?:-n|in namespace) "([^"]+)"`)

// NodeDrain is how far the machine-config-controller is with draining a node.
type NodeDrain struct {
	Running facts.Field[bool]      `cel:"running"` // begun and not done
	Since   facts.Field[time.Time] `cel:"since"`   // when it began
	Tries   facts.Field[int64]     `cel:"tries"`   // that failed
	// that the last try could not evict, as namespace/name, or that were refused while no other
	// node is drained; "" where none is named
	Pods   facts.Field[string] `cel:"pods"`
	Why    facts.Field[string] `cel:"why"`    // the API server's reason for the first of them
	Budget facts.Field[bool]   `cel:"budget"` // it is a PodDisruptionBudget
}

var drainFact = facts.Define("node-drain", fault.Host, "how far the machine-config-controller is with draining the node, and which pods hold it up",
	[]evidence.Need{evidence.Texts(controllerLogs)}, readDrain)

// drainLine is a line of the controller about drains.
type drainLine struct {
	evidence.Match
	id string
}

func readDrain(ctx context.Context, w *facts.World, s fault.Subject) (NodeDrain, error) {
	var d NodeDrain
	lines, err := facts.Memo(ctx, w, "pools.drain-lines", drainLines)
	if err != nil {
		return d, err
	}
	refused := map[string]drainLine{} // why a pod was not evicted, the last time
	open := map[string]bool{}         // nodes that are drained, in lower case
	for _, l := range lines {
		if l.id == sigEviction {
			refused[l.Groups[2]+"/"+l.Groups[1]] = l
			if open[strings.ToLower(s.Name)] && len(open) == 1 && d.Tries.Value() == 0 {
				d.addBlockedPod(l.Groups[2]+"/"+l.Groups[1], l)
			}
			continue
		}
		if l.id == sigDrainOver {
			delete(open, strings.ToLower(l.Groups[1]))
		} else {
			open[strings.ToLower(l.Groups[1])] = true
		}
		switch {
		case !strings.EqualFold(l.Groups[1], s.Name):
		case l.id == sigDrainOver:
			d = NodeDrain{}
			facts.Prove(item(daemonLine(l)), &d.Running)
		case l.id == sigDrainBegun && !d.Running.Value():
			d = NodeDrain{}
			d.Running.Set(true, item(daemonLine(l)))
			d.Since.Set(l.Line.Time, item(daemonLine(l)))
		case l.id == sigDrainFailed:
			d.failed(l)
		}
	}
	if err := w.Gap(ctx, controllerLogs, func(t evidence.Text) bool { return !t.Previous }); err != nil {
		return NodeDrain{}, err // the last line decides
	}
	for pod := range strings.SplitSeq(d.Pods.Value(), ", ") {
		if l, ok := refused[pod]; ok {
			d.Why.Set(l.Groups[3], item(daemonLine(l)))
			d.Budget.Set(strings.Contains(strings.ToLower(l.Groups[3]), "disruption budget"), item(daemonLine(l)))
			break
		}
	}
	facts.Complete(&d)
	return d, nil
}

// addBlockedPod adds a pod whose eviction was refused before a try has ended.
func (d *NodeDrain) addBlockedPod(pod string, l drainLine) {
	var pods []string
	if have := d.Pods.Value(); have != "" {
		pods = strings.Split(have, ", ")
	}
	if slices.Contains(pods, pod) {
		return
	}
	d.Pods.Set(strings.Join(append(pods, pod), ", "), item(daemonLine(l)))
}

// failed notes a try that failed. Its line shows that the drain runs, also where the log
// begins later.
func (d *NodeDrain) failed(l drainLine) {
	var pods []string
	for _, m := range heldPod.FindAllStringSubmatch(l.Groups[2], -1) {
		if pod := m[2] + "/" + m[1]; !slices.Contains(pods, pod) {
			pods = append(pods, pod)
		}
	}
	d.Running.Set(true, item(daemonLine(l)))
	d.Tries.Set(d.Tries.Value()+1, item(daemonLine(l)))
	d.Pods.Clear()
	d.Pods.Set(strings.Join(pods, ", "), item(daemonLine(l)))
}

// drainLines returns the controller's lines about drains, oldest first. One pod leads after
// the other.
func drainLines(ctx context.Context, w *facts.World) ([]drainLine, error) {
	var lines []drainLine
	for _, id := range drainMessages {
		list, err := w.Matches(ctx, controllerLogs, id)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			lines = append(lines, drainLine{m, id})
		}
	}
	slices.SortStableFunc(lines, func(a, b drainLine) int {
		if a.Text.Path == b.Text.Path {
			return a.Line.Loc.Line - b.Line.Loc.Line
		}
		return a.Line.Time.Compare(b.Line.Time)
	})
	return lines, nil
}
