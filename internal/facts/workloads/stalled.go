package workloads

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// looked are the namespaces on which the joining of hosts depends.
var looked = []string{"openshift-machine-api", "openshift-machine-config-operator"}

// Stalled is the fact stalled-workloads. Names are "namespace/name".
type Stalled struct {
	Deployments   int       `cel:"deployments"`
	NotReconciled []string  `cel:"notReconciled"` // Deployments whose last change the controller has not seen
	NotCreated    []string  `cel:"notCreated"`    // ReplicaSets without all their pods, and nothing refuses them
	CreatedSince  time.Time `cel:"createdSince"`  // the age of the oldest of them
	Refused       []string  `cel:"refused"`       // ReplicaSets whose pods are refused
	Refusal       string    `cel:"refusal"`
	RefusedSince  time.Time `cel:"refusedSince"`
	NotScheduled  []string  `cel:"notScheduled"` // pods that the scheduler has not looked at
	PodsSince     time.Time `cel:"podsSince"`    // the age of the oldest of them
}

// StalledFact is the fact stalled-workloads.
func StalledFact() facts.Fact {
	var list []evidence.Need
	for _, ns := range looked {
		list = append(list, needs(ns)...)
	}
	return facts.DefinePlain("stalled-workloads", fault.Cluster, "workloads of the Machine API and of the machine config operator that controller manager or scheduler have left alone", list, readStalled)
}

func readStalled(ctx context.Context, w *facts.World, _ fault.Subject) (Stalled, facts.Proof, error) {
	var f Stalled
	var p facts.Proof
	for _, ns := range looked {
		deployments, err := w.List(ctx, evidence.Deployments, ns)
		if err := miss(&p, err, "deployments", "notReconciled"); err != nil {
			return f, p, err
		}
		f.deployments(deployments, &p)
		sets, err := w.List(ctx, evidence.ReplicaSets, ns)
		if err := miss(&p, err, "notCreated", "refused", "refusal", "createdSince", "refusedSince"); err != nil {
			return f, p, err
		}
		if err := f.replicaSets(sets, &p); err != nil {
			return f, p, err
		}
		pods, err := w.List(ctx, evidence.Pods, ns)
		if err := miss(&p, err, "notScheduled", "podsSince"); err != nil {
			return f, p, err
		}
		if err := f.pods(pods, &p); err != nil {
			return f, p, err
		}
	}
	return f, p, nil
}

func (f *Stalled) deployments(list []evidence.Object, p *facts.Proof) {
	for _, o := range list {
		f.Deployments++
		generation, seen := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
		if seen < generation {
			f.NotReconciled = append(f.NotReconciled, o.Namespace+"/"+o.Name)
			p.Add(o.Loc.At("status.observedGeneration"), fmt.Sprintf("generation %d, observed %d", generation, seen), time.Time{}, "notReconciled")
		}
	}
}

func (f *Stalled) replicaSets(list []evidence.Object, p *facts.Proof) error {
	for _, o := range list {
		set, err := evidence.Decode[appsv1.ReplicaSet](o)
		if err != nil {
			return err
		}
		if set.Spec.Replicas == nil || set.Status.Replicas >= *set.Spec.Replicas {
			continue
		}
		name, text := o.Namespace+"/"+o.Name, fmt.Sprintf("replicas %d of %d", set.Status.Replicas, *set.Spec.Replicas)
		if why := refusal(set); why != "" {
			f.Refused, f.Refusal = append(f.Refused, name), why
			since := o.Created()
			for _, c := range set.Status.Conditions {
				if c.Type == appsv1.ReplicaSetReplicaFailure {
					since = c.LastTransitionTime.UTC()
				}
			}
			earliest(&f.RefusedSince, since)
			p.Add(o.Loc.At("status.conditions"), text+": "+why, since, "refused", "refusal", "refusedSince")
			continue
		}
		f.NotCreated = append(f.NotCreated, name)
		earliest(&f.CreatedSince, o.Created())
		p.Add(o.Loc.At("status.replicas"), text+", and nothing refuses them", o.Created(), "notCreated", "createdSince")
	}
	return nil
}

func (f *Stalled) pods(list []evidence.Object, p *facts.Proof) error {
	for _, o := range list {
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		if link, says, since := state(pod); link == linkScheduler && pod.Status.Phase == corev1.PodPending {
			f.NotScheduled = append(f.NotScheduled, o.Namespace+"/"+o.Name)
			earliest(&f.PodsSince, since)
			p.Add(o.Loc.At("status.conditions"), says+": no condition PodScheduled", since, "notScheduled", "podsSince")
		}
	}
	return nil
}

func earliest(to *time.Time, t time.Time) {
	if to.IsZero() || t.Before(*to) {
		*to = t
	}
}

// Scheduler is the fact scheduler-lease.
type Scheduler struct {
	Holder  string    `cel:"holder"`
	Renewed time.Time `cel:"renewed"`
	Stale   bool      `cel:"stale"` // against the newest lease that was read with it
	Behind  string    `cel:"behind"`
}

// The lease of the leading scheduler. Leases of one namespace were read together
// (openshift/cluster-kube-scheduler-operator:bindata/assets/config/defaultconfig.yaml leaderElection).
const (
	leaseNamespace = "kube-system"
	openshiftNS    = "openshift-kube-scheduler"
	schedulerLease = "kube-scheduler"
	staleNear      = 5 * time.Minute  // the lease lasts 137 s
	staleFar       = 15 * time.Minute // two namespaces of an archive are as far apart as the collection took
)

// SchedulerFact is the fact scheduler-lease.
func SchedulerFact() facts.Fact {
	return facts.DefinePlain("scheduler-lease", fault.Cluster, "whether a kube-scheduler leads",
		[]evidence.Need{evidence.Objects(evidence.Leases, leaseNamespace), evidence.Objects(evidence.Leases, openshiftNS)}, readScheduler)
}

func readScheduler(ctx context.Context, w *facts.World, _ fault.Subject) (Scheduler, facts.Proof, error) {
	var f Scheduler
	var p facts.Proof
	own, near, far, err := schedulerLeases(ctx, w)
	if err != nil {
		return f, p, err
	}
	f.Holder, f.Renewed = evidence.String(own.Content, "spec", "holderIdentity"), kubelet.Renewed(own)
	f.Stale = near.Sub(f.Renewed) > staleNear || far.Sub(f.Renewed) > staleFar
	if far.After(near) {
		near = far
	}
	f.Behind = fault.Span(near.Sub(f.Renewed))
	p.Add(own.Loc.At("spec.renewTime"), fmt.Sprintf("renewed %s by %s, %s behind the newest lease", f.Renewed.UTC().Format(time.RFC3339), f.Holder, f.Behind),
		f.Renewed, "holder", "renewed", "stale", "behind")
	return f, p, nil
}

// schedulerLeases finds the lease where the releases keep it: in
// openshift-kube-scheduler, or as upstream does. near is the newest lease of the
// same namespace, far that of the other one.
func schedulerLeases(ctx context.Context, w *facts.World) (own evidence.Object, near, far time.Time, err error) {
	var unread error
	for _, ns := range []string{openshiftNS, leaseNamespace} {
		list, err := w.List(ctx, evidence.Leases, ns)
		if _, ok := evidence.AsUnavailable(err); ok {
			unread = err
			continue
		} else if err != nil {
			return own, near, far, err
		}
		lease, newest := kubelet.Newest(list, schedulerLease)
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
		unread = &evidence.Unavailable{Need: evidence.Objects(evidence.Leases, openshiftNS), Why: evidence.NotCollected,
			Detail: "no lease " + schedulerLease, Supply: "oc get lease -A -o yaml"}
	}
	return own, near, far, unread
}
