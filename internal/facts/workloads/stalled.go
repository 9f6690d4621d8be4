package workloads

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// checkedNamespaces are the namespaces on which the joining of hosts depends.
var checkedNamespaces = []string{openshift.MachineAPINamespace, openshift.MachineConfigNamespace}

// Stalled is the fact stalled-workloads. Names are "namespace/name".
type Stalled struct {
	Deployments   facts.Field[int]       `cel:"deployments"`
	NotReconciled facts.Field[[]string]  `cel:"notReconciled"` // Deployments whose last change the controller has not seen
	NotCreated    facts.Field[[]string]  `cel:"notCreated"`    // ReplicaSets without all their pods, and nothing refuses them
	Unavailable   facts.Field[bool]      `cel:"unavailable"`   // whether a Deployment of one of them says that it is not available
	CreatedSince  facts.Field[time.Time] `cel:"createdSince"`  // since when the first of these says so
	Created       facts.Field[time.Time] `cel:"created"`       // the age of the oldest of these ReplicaSets
	Refused       facts.Field[[]string]  `cel:"refused"`       // ReplicaSets whose pods are refused
	Refusal       facts.Field[string]    `cel:"refusal"`
	RefusedSince  facts.Field[time.Time] `cel:"refusedSince"`
	NotScheduled  facts.Field[[]string]  `cel:"notScheduled"` // pods that the scheduler has not looked at
	PodsSince     facts.Field[time.Time] `cel:"podsSince"`    // the age of the oldest of them
}

// StalledFact is the fact stalled-workloads.
func StalledFact() facts.Fact {
	var list []evidence.Need
	for _, ns := range checkedNamespaces {
		list = append(list, needs(ns)...)
	}
	return facts.Define("stalled-workloads", fault.Cluster,
		"workloads of the Machine API and of the machine config operator that controller manager or scheduler have left alone", list, readStalled)
}

func readStalled(ctx context.Context, w *facts.World, _ fault.Subject) (Stalled, error) {
	var f Stalled
	count := 0
	for _, ns := range checkedNamespaces {
		deployments, err := w.List(ctx, evidence.Deployments, ns)
		if err := facts.Miss(err, &f.Deployments, &f.NotReconciled, &f.Unavailable, &f.CreatedSince); err != nil {
			return f, err
		}
		count += len(deployments)
		unavailable, err := f.deployments(deployments)
		if err != nil {
			return f, err
		}
		sets, err := w.List(ctx, evidence.ReplicaSets, ns)
		if err := facts.Miss(err, &f.NotCreated, &f.Unavailable, &f.Refused, &f.Refusal, &f.CreatedSince, &f.Created, &f.RefusedSince); err != nil {
			return f, err
		}
		if err := f.replicaSets(sets, unavailable); err != nil {
			return f, err
		}
		pods, err := w.List(ctx, evidence.Pods, ns)
		if err := facts.Miss(err, &f.NotScheduled, &f.PodsSince); err != nil {
			return f, err
		}
		if err := f.pods(pods); err != nil {
			return f, err
		}
	}
	if _, err := f.Deployments.Get(); !facts.Missed(err) {
		f.Deployments.Set(count)
	}
	facts.Complete(&f)
	return f, nil
}

// deployments returns since when Deployments say that they are not available, by their names.
func (f *Stalled) deployments(list []evidence.Object) (map[string]time.Time, error) {
	unavailable := map[string]time.Time{}
	for _, o := range list {
		generation, seen := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
		if seen < generation {
			facts.Append(&f.NotReconciled, o.Namespace+"/"+o.Name,
				o.Shows("status.observedGeneration", fmt.Sprintf("generation %d, observed %d", generation, seen), time.Time{}))
		}
		d, err := evidence.Decode[apitypes.Deployment](o)
		if err != nil {
			return nil, err
		}
		for _, c := range d.Status.Conditions {
			if c.Type == apitypes.DeploymentAvailable && c.Status == corev1.ConditionFalse {
				unavailable[o.Name] = c.LastTransitionTime.UTC()
			}
		}
	}
	return unavailable, nil
}

// replicaSets looks for pods that are missing. A ReplicaSet has no time at which it last had all of them: a drain takes
// one from a ReplicaSet of any age. The condition of its Deployment has that time.
func (f *Stalled) replicaSets(list []evidence.Object, unavailable map[string]time.Time) error {
	for _, o := range list {
		set, err := evidence.Decode[apitypes.ReplicaSet](o)
		if err != nil {
			return err
		}
		if set.Spec.Replicas == nil || set.Status.Replicas >= *set.Spec.Replicas {
			continue
		}
		name, text := o.Namespace+"/"+o.Name, fmt.Sprintf("replicas %d of %d", set.Status.Replicas, *set.Spec.Replicas)
		if why := refusal(set); why != "" {
			since := o.Created()
			for _, c := range set.Status.Conditions {
				if c.Type == apitypes.ReplicaSetReplicaFailure {
					since = c.LastTransitionTime.UTC()
				}
			}
			item := o.Shows("status.conditions", text+": "+why, since)
			facts.Append(&f.Refused, name, item)
			f.Refusal.Set(why, item)
			facts.Earliest(&f.RefusedSince, since, item)
			continue
		}
		item := o.Shows("status.replicas", text+", and nothing refuses them", o.Created())
		facts.Append(&f.NotCreated, name, item)
		facts.Earliest(&f.Created, o.Created(), item)
		for _, owner := range set.OwnerReferences {
			if since, ok := unavailable[owner.Name]; ok && owner.Kind == "Deployment" {
				f.Unavailable.Set(true, item)
				facts.Earliest(&f.CreatedSince, since, item)
			}
		}
	}
	return nil
}

func (f *Stalled) pods(list []evidence.Object) error {
	for _, o := range list {
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		if link, says, since := state(pod); link == linkScheduler && pod.Status.Phase == corev1.PodPending {
			item := o.Shows("status.conditions", says+": no condition PodScheduled", since)
			facts.Append(&f.NotScheduled, o.Namespace+"/"+o.Name, item)
			facts.Earliest(&f.PodsSince, since, item)
		}
	}
	return nil
}

// Scheduler is the fact scheduler-lease.
type Scheduler struct {
	Renewed facts.Field[time.Time] `cel:"renewed"`
	Stale   facts.Field[bool]      `cel:"stale"` // against the newest lease that was read with it
	Behind  facts.Field[string]    `cel:"behind"`
}

// How far the lease of the leading scheduler may lag behind. Leases of one namespace were read together
// (openshift/cluster-kube-scheduler-operator:bindata/assets/config/defaultconfig.yaml leaderElection).
const (
	staleNear = 5 * time.Minute  // the lease lasts 137 s
	staleFar  = 15 * time.Minute // two namespaces of an archive are as far apart as the collection took
)

// SchedulerFact is the fact scheduler-lease.
func SchedulerFact() facts.Fact {
	return facts.Define("scheduler-lease", fault.Cluster, "whether a kube-scheduler leads",
		[]evidence.Need{evidence.Objects(evidence.Leases, openshift.SystemNamespace), evidence.Objects(evidence.Leases, openshift.SchedulerNamespace)},
		readScheduler)
}

func readScheduler(ctx context.Context, w *facts.World, _ fault.Subject) (Scheduler, error) {
	var f Scheduler
	own, near, far, err := schedulerLeases(ctx, w)
	if err != nil {
		return f, err
	}
	holder, renewed := evidence.String(own.Content, "spec", "holderIdentity"), kubelet.Renewed(own)
	stale := near.Sub(renewed) > staleNear || far.Sub(renewed) > staleFar
	if far.After(near) {
		near = far
	}
	behind := fault.Span(near.Sub(renewed))
	item := own.Shows("spec.renewTime", fmt.Sprintf("renewed %s by %s, %s behind the newest lease", excerpt.Time(renewed),
		holder, behind), renewed)
	f.Renewed.Set(renewed, item)
	f.Stale.Set(stale, item)
	f.Behind.Set(behind, item)
	return f, nil
}

// schedulerLeases finds the lease where the releases keep it: in
// openshift-kube-scheduler, or as upstream does. near is the newest lease of the
// same namespace, far that of the other one.
func schedulerLeases(ctx context.Context, w *facts.World) (own evidence.Object, near, far time.Time, err error) {
	var unread error
	for _, ns := range []string{openshift.SchedulerNamespace, openshift.SystemNamespace} {
		list, err := w.List(ctx, evidence.Leases, ns)
		if _, ok := evidence.AsUnavailable(err); ok {
			unread = err
			continue
		} else if err != nil {
			return own, near, far, err
		}
		lease, newest := kubelet.Newest(list, openshift.Scheduler)
		if lease.Name != "" && kubelet.Renewed(lease).After(kubelet.Renewed(own)) {
			own, near, far = lease, newest, near
		} else if newest.After(far) {
			far = newest
		}
	}
	alone := !near.After(kubelet.Renewed(own)) && far.IsZero() // and nothing to compare it with
	if own.Name != "" && (unread == nil || !alone) {
		return own, near, far, nil
	}
	if unread == nil {
		unread = &evidence.Unavailable{Need: evidence.Objects(evidence.Leases, openshift.SchedulerNamespace), Why: evidence.NotCollected,
			Detail: "no lease " + openshift.Scheduler, Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: "lease", Namespace: evidence.AllNamespaces}}
	}
	return own, near, far, unread
}
