package csrs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// The lease and the switch of the approver (openshift/cluster-machine-approver:manifests/04-deployment.yaml).
const (
	approverLease  = "cluster-machine-approver-leader"
	approverConfig = "machine-approver-config"
)

// leaseLimit is how far the approver's lease may lag behind the newest one. The
// lease lasts 137 s (04-deployment.yaml); a new leader may need as long again.
const leaseLimit = 5 * time.Minute

var approverLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MachineApproverNamespace, Container: openshift.MachineApproverContainer}

// flowSwitch reads the switch for client requests. Without the ConfigMap the flow is
// on (pkg/controller/config.go LoadConfig).
func flowSwitch(ctx context.Context, w *facts.World) (disabled bool, shown evidence.Item, err error) {
	cm, ok, shown, err := one(ctx, w, evidence.ConfigMaps, openshift.MachineApproverNamespace, approverConfig)
	if err != nil || !ok {
		return false, shown, err
	}
	var config struct {
		NodeClientCert struct {
			Disabled bool `json:"disabled"`
		} `json:"nodeClientCert"`
	}
	text := evidence.String(cm.Content, "data", "config.yaml")
	if yamlin.Unmarshal([]byte(text), &config, 1<<20) != nil {
		return false, shown, nil // the approver, too, takes the default then
	}
	disabled = config.NodeClientCert.Disabled
	return disabled, cm.Shows("data.config.yaml", fmt.Sprintf("nodeClientCert.disabled: %t", disabled), time.Time{}), nil
}

// Approver is the state of the cluster machine approver. Its ClusterOperator is
// hard-wired to Available and says nothing (status.go).
type Approver struct {
	Pods         facts.Field[int]       `cel:"pods"`
	Running      facts.Field[bool]      `cel:"running"` // a pod runs and its container is ready
	Waiting      facts.Field[string]    `cel:"waiting"` // why a container waits: CrashLoopBackOff, ...
	Since        facts.Field[time.Time] `cel:"since"`   // since when it does not run
	LeaseFound   facts.Field[bool]      `cel:"leaseFound"`
	LeaseStale   facts.Field[bool]      `cel:"leaseStale"` // against the newest lease of the cluster
	FlowDisabled facts.Field[bool]      `cel:"flowDisabled"`
	Refusals     facts.Field[int]       `cel:"refusals"` // lines in which it refuses a request
}

// ApproverFact is the fact approver.
func ApproverFact() facts.Fact {
	return facts.Define("approver", fault.Cluster, "whether the cluster machine approver runs, leads and is switched on",
		[]evidence.Need{
			evidence.Objects(evidence.Pods, openshift.MachineApproverNamespace),
			evidence.Objects(evidence.Leases, openshift.MachineApproverNamespace),
			evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease),
			evidence.Objects(evidence.ConfigMaps, openshift.MachineApproverNamespace),
			evidence.Texts(approverLog),
		}, readApprover)
}

func readApprover(ctx context.Context, w *facts.World, _ fault.Subject) (Approver, error) {
	var a Approver
	for _, read := range []func(context.Context, *facts.World) error{a.pods, a.lease, a.flow, a.log} {
		if err := read(ctx, w); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *Approver) flow(ctx context.Context, w *facts.World) error {
	disabled, shown, err := flowSwitch(ctx, w)
	if err != nil {
		return facts.Miss(err, &a.FlowDisabled)
	}
	a.FlowDisabled.Set(disabled, shown)
	return nil
}

func (a *Approver) pods(ctx context.Context, w *facts.World) error {
	pods, err := w.List(ctx, evidence.Pods, openshift.MachineApproverNamespace)
	if err != nil {
		return facts.Miss(err, &a.Pods, &a.Running, &a.Waiting, &a.Since)
	}
	var shown []evidence.Item
	var since time.Time
	running, waits := false, ""
	for _, o := range pods {
		if app, _ := o.Label("app"); app != "machine-approver" {
			continue
		}
		phase := evidence.String(o.Content, "status", "phase")
		ready, waiting := containerState(o)
		running = running || phase == "Running" && ready
		if waits == "" {
			waits = waiting
		}
		if t := notReadySince(o); t.After(since) { // it stopped when the last of them did
			since = t
		}
		shown = append(shown, o.Shows("status", strings.TrimSpace(fmt.Sprintf("pod %s is %s, ready: %t %s", o.Name, phase, ready, waiting)), time.Time{}))
	}
	if running {
		since, waits = time.Time{}, ""
	}
	a.Pods.Set(len(shown))
	if len(shown) == 0 {
		shown = []evidence.Item{evidence.Listed(evidence.Pods, openshift.MachineApproverNamespace, "no pod of app machine-approver")}
	}
	a.Pods.Prove(shown...)
	a.Running.Set(running, shown...)
	a.Waiting.Set(waits, shown...)
	if running || a.Pods.Value() > 0 {
		a.Since.Set(since, shown...)
		return nil
	}
	return a.lastLed(ctx, w)
}

// lastLed sets since when no pod is there: the approver renewed or gave back its lease while
// it ran. A drain deletes the pod a moment before the Deployment has the next one.
func (a *Approver) lastLed(ctx context.Context, w *facts.World) error {
	lease, ok, shown, err := one(ctx, w, evidence.Leases, openshift.MachineApproverNamespace, approverLease)
	if err != nil {
		return facts.Miss(err, &a.Since)
	}
	if !ok {
		a.Since.Set(time.Time{}, shown)
		return nil
	}
	renewed := evidence.Time(lease.Content, "spec", "renewTime")
	a.Since.Set(renewed, lease.Shows("spec.renewTime", "renewed "+excerpt.Time(renewed), renewed))
	return nil
}

// containerState tells whether the approver's own container is ready, and why it waits.
func containerState(pod evidence.Object) (ready bool, waiting string) {
	list, _ := evidence.Field(pod.Content, "status", "containerStatuses").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "name") != openshift.MachineApproverContainer {
			continue
		}
		ready, _ = c["ready"].(bool)
		return ready, evidence.String(c, "state", "waiting", "reason")
	}
	return false, ""
}

// notReadySince is since when a pod is not ready at the least: its condition's time, that of
// its deletion, or its creation.
func notReadySince(pod evidence.Object) time.Time {
	if until := evidence.Time(pod.Content, "metadata", "deletionTimestamp"); !until.IsZero() {
		grace := min(max(0, evidence.Int(pod.Content, "metadata", "deletionGracePeriodSeconds")), 86400)
		return until.Add(-time.Duration(grace) * time.Second)
	}
	list, _ := evidence.Field(pod.Content, "status", "conditions").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "Ready" && evidence.String(c, "status") != "True" {
			return evidence.Time(c, "lastTransitionTime")
		}
	}
	return pod.Created()
}

func (a *Approver) lease(ctx context.Context, w *facts.World) error {
	lease, ok, shown, err := one(ctx, w, evidence.Leases, openshift.MachineApproverNamespace, approverLease)
	if err != nil {
		return facts.Miss(err, &a.LeaseFound, &a.LeaseStale)
	}
	renewed := evidence.Time(lease.Content, "spec", "renewTime")
	a.LeaseFound.Set(ok, shown)
	if !ok { // a release before 4.9 elected by ConfigMap
		a.LeaseStale.Set(false, shown)
		return nil
	}
	newest, err := newestNodeLease(ctx, w)
	if err != nil {
		return facts.Miss(err, &a.LeaseStale)
	}
	a.LeaseStale.Set(newest.Sub(renewed) > leaseLimit,
		lease.Shows("spec.renewTime", fmt.Sprintf("renewed %s, the newest node lease %s", excerpt.Time(renewed), excerpt.Time(newest)), renewed))
	return nil
}

// newestNodeLease is the newest sign of life of any kubelet.
func newestNodeLease(ctx context.Context, w *facts.World) (time.Time, error) {
	leases, err := w.List(ctx, evidence.Leases, corev1.NamespaceNodeLease)
	var newest time.Time
	for _, l := range leases {
		if t := evidence.Time(l.Content, "spec", "renewTime"); t.After(newest) {
			newest = t
		}
	}
	return newest, err
}

func (a *Approver) log(ctx context.Context, w *facts.World) error {
	count := 0
	for _, s := range refusals {
		lines, err := w.Matches(ctx, approverLog, s.id)
		if err != nil {
			return facts.Miss(err, &a.Refusals)
		}
		count += len(lines)
		if len(lines) > 0 {
			last := lines[len(lines)-1].Item()
			last.Excerpt = strings.TrimSpace(last.Excerpt)
			a.Refusals.Prove(last)
		}
	}
	a.Refusals.Set(count)
	return nil
}
