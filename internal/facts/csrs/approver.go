package csrs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// Where the approver runs (openshift/cluster-machine-approver:manifests/04-deployment.yaml).
const (
	ApproverNamespace = "openshift-cluster-machine-approver"
	approverLease     = "cluster-machine-approver-leader"
	approverConfig    = "machine-approver-config"
	approverContainer = "machine-approver-controller"
)

// leaseLimit is how far the approver's lease may lag behind the newest one. The
// lease lasts 137 s (04-deployment.yaml); a new leader may need as long again.
const leaseLimit = 5 * time.Minute

var approverLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: ApproverNamespace, Container: approverContainer}

// flowDisabled reads the switch for client requests. Without the ConfigMap the
// flow is on (pkg/controller/config.go LoadConfig).
func flowDisabled(ctx context.Context, w *facts.World) (bool, error) {
	disabled, _, err := flowSwitch(ctx, w)
	return disabled, err
}

func flowSwitch(ctx context.Context, w *facts.World) (bool, evidence.Locator, error) {
	cm, ok, err := w.Get(ctx, evidence.ConfigMaps, ApproverNamespace, approverConfig)
	if err != nil || !ok {
		return false, evidence.Locator{}, err
	}
	var config struct {
		NodeClientCert struct {
			Disabled bool `json:"disabled"`
		} `json:"nodeClientCert"`
	}
	text := evidence.String(cm.Content, "data", "config.yaml")
	if yamlin.Unmarshal([]byte(text), &config, 1<<20) != nil {
		return false, cm.Loc, nil // the approver, too, takes the default then
	}
	return config.NodeClientCert.Disabled, cm.Loc.At("data.config.yaml"), nil
}

// Approver is the state of the cluster machine approver. Its ClusterOperator is
// hard-wired to Available and says nothing (status.go).
type Approver struct {
	Pods         int       `cel:"pods"`
	Running      bool      `cel:"running"` // a pod runs and its container is ready
	Waiting      string    `cel:"waiting"` // why a container waits: CrashLoopBackOff, ...
	Since        time.Time `cel:"since"`   // since when it does not run
	LeaseFound   bool      `cel:"leaseFound"`
	LeaseRenewed time.Time `cel:"leaseRenewed"`
	LeaseStale   bool      `cel:"leaseStale"` // against the newest lease of the cluster
	FlowDisabled bool      `cel:"flowDisabled"`
	Refusals     int       `cel:"refusals"` // lines in which it refuses a request
	Approvals    int       `cel:"approvals"`
}

// ApproverFact is the fact approver.
func ApproverFact() facts.Fact {
	return facts.DefinePlain("approver", fault.Cluster, "whether the cluster machine approver runs, leads and is switched on",
		[]evidence.Need{
			evidence.Objects(evidence.Pods, ApproverNamespace),
			evidence.Objects(evidence.Leases, ApproverNamespace),
			evidence.Objects(evidence.Leases, "kube-node-lease"),
			evidence.Objects(evidence.ConfigMaps, ApproverNamespace),
			evidence.Texts(approverLog),
		}, readApprover)
}

func readApprover(ctx context.Context, w *facts.World, _ fault.Subject) (Approver, facts.Proof, error) {
	var a Approver
	var p facts.Proof
	if err := a.pods(ctx, w, &p); err != nil {
		return a, p, err
	}
	if err := a.lease(ctx, w, &p); err != nil {
		return a, p, err
	}
	disabled, loc, err := flowSwitch(ctx, w)
	if err := miss(&p, err, "flowDisabled"); err != nil {
		return a, p, err
	}
	if a.FlowDisabled = disabled; disabled {
		p.Add(loc, "nodeClientCert.disabled: true", time.Time{}, "flowDisabled")
	}
	err = a.log(ctx, w, &p)
	return a, p, err
}

// miss marks fields unknown when err says that they could not be read, and
// returns err when it is a defect.
func miss(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}

func (a *Approver) pods(ctx context.Context, w *facts.World, p *facts.Proof) error {
	pods, err := w.List(ctx, evidence.Pods, ApproverNamespace)
	if err != nil {
		return miss(p, err, "pods", "running", "waiting", "since")
	}
	for _, o := range pods {
		if app, _ := o.Label("app"); app != "machine-approver" {
			continue
		}
		a.Pods++
		phase := evidence.String(o.Content, "status", "phase")
		ready, waiting := containerState(o)
		if phase == "Running" && ready {
			a.Running = true
		}
		if a.Waiting == "" {
			a.Waiting = waiting
		}
		if t := notReadySince(o); a.Since.IsZero() || t.Before(a.Since) {
			a.Since = t
		}
		p.Add(o.Loc.At("status"), strings.TrimSpace(fmt.Sprintf("pod %s is %s, ready: %t %s", o.Name, phase, ready, waiting)), time.Time{}, "pods", "running", "waiting")
	}
	if a.Running {
		a.Since, a.Waiting = time.Time{}, ""
	}
	if a.Pods == 0 {
		p.Add(evidence.Locator{Path: "pods -n " + ApproverNamespace}, "no pod of app machine-approver", time.Time{}, "pods", "running")
	}
	return nil
}

// containerState tells whether the approver's own container is ready, and why it waits.
func containerState(pod evidence.Object) (ready bool, waiting string) {
	list, _ := evidence.Field(pod.Content, "status", "containerStatuses").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "name") != approverContainer {
			continue
		}
		ready, _ = c["ready"].(bool)
		return ready, evidence.String(c, "state", "waiting", "reason")
	}
	return false, ""
}

func notReadySince(pod evidence.Object) time.Time {
	list, _ := evidence.Field(pod.Content, "status", "conditions").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "Ready" && evidence.String(c, "status") != "True" {
			return evidence.Time(c, "lastTransitionTime")
		}
	}
	return pod.Created()
}

func (a *Approver) lease(ctx context.Context, w *facts.World, p *facts.Proof) error {
	lease, ok, err := w.Get(ctx, evidence.Leases, ApproverNamespace, approverLease)
	if err != nil {
		return miss(p, err, "leaseFound", "leaseRenewed", "leaseStale")
	}
	if !ok {
		return nil // a release before 4.9 elected by ConfigMap
	}
	a.LeaseFound = true
	a.LeaseRenewed = evidence.Time(lease.Content, "spec", "renewTime")
	newest, err := newestNodeLease(ctx, w)
	if err != nil {
		return miss(p, err, "leaseStale")
	}
	a.LeaseStale = newest.Sub(a.LeaseRenewed) > leaseLimit
	p.Add(lease.Loc.At("spec.renewTime"), fmt.Sprintf("renewed %s, the newest node lease %s", stamp(a.LeaseRenewed), stamp(newest)),
		a.LeaseRenewed, "leaseStale", "leaseRenewed", "leaseFound")
	return nil
}

// newestNodeLease is the newest sign of life of any kubelet.
func newestNodeLease(ctx context.Context, w *facts.World) (time.Time, error) {
	leases, err := w.List(ctx, evidence.Leases, "kube-node-lease")
	var newest time.Time
	for _, l := range leases {
		if t := evidence.Time(l.Content, "spec", "renewTime"); t.After(newest) {
			newest = t
		}
	}
	return newest, err
}

func (a *Approver) log(ctx context.Context, w *facts.World, p *facts.Proof) error {
	for _, s := range refusals {
		lines, err := w.Matches(ctx, approverLog, s.id)
		if err != nil {
			return miss(p, err, "refusals", "approvals")
		}
		a.Refusals += len(lines)
		if len(lines) > 0 {
			last := lines[len(lines)-1].Line
			p.Add(last.Loc, strings.TrimSpace(last.Text), last.Time, "refusals")
		}
	}
	lines, err := w.Matches(ctx, approverLog, sigApproved)
	if err != nil {
		return miss(p, err, "approvals")
	}
	a.Approvals = len(lines)
	return w.Unheard(ctx, p, approverLog, nil, map[string]bool{"refusals": a.Refusals == 0, "approvals": a.Approvals == 0})
}
