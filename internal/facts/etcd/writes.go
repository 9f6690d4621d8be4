package etcd

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// Writes is the fact etcd-writes: the last write that is seen in etcd, whatever its operator
// reports. Each kubelet renews its lease every 10 s, the leaders of the control plane theirs,
// and no write succeeds without a quorum (kubernetes/kubernetes:pkg/kubelet/apis/config/v1beta1/defaults.go NodeLeaseDurationSeconds,
// pkg/kubelet/kubelet.go nodeLeaseRenewIntervalFraction).
type Writes struct {
	Last    facts.Field[time.Time] `cel:"last"`
	Fresh   facts.Field[bool]      `cel:"fresh"`   // the last one is younger than two minutes
	Stopped facts.Field[bool]      `cel:"stopped"` // the last one is older than a quarter of an hour
}

// A must-gather reads for a quarter of an hour and longer, and says only when it ended: a
// lease that is older than its end by less may have been renewed since it was read.
const (
	freshWithin  = 2 * time.Minute
	stoppedAfter = 15 * time.Minute
)

// writesNeeds are the leases of kubelets and of the control plane.
var writesNeeds = []evidence.Need{evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease), evidence.Objects(evidence.Leases, openshift.SystemNamespace)}

var writesFact = facts.Define("etcd-writes", fault.Cluster, "the last write to etcd that is seen: the newest lease",
	writesNeeds, readWrites)

func readWrites(ctx context.Context, w *facts.World, _ fault.Subject) (Writes, error) {
	var f Writes
	list, missed, err := leases(ctx, w)
	if err != nil {
		return f, err
	}
	var newest evidence.Object
	var last time.Time
	for _, o := range list {
		if at := evidence.Time(o.Content, "spec", "renewTime"); at.After(last) {
			newest, last = o, at
		}
	}
	if last.IsZero() {
		return f, cmp.Or(missed, &evidence.Unavailable{Need: writesNeeds[0], Why: evidence.NotCollected, Detail: "no kubelet has a lease",
			Supply: evidence.Supply{Kind: evidence.SupplyMustGather}})
	}
	shown := newest.Shows("spec.renewTime", fmt.Sprintf("lease of %s, the newest one, renewed at %s", newest.Name, excerpt.Time(last)), last)
	f.Last.Set(last, shown)
	if f.Stopped.Set(w.Now.Sub(last) > stoppedAfter, shown); missed != nil { // a newer one may be among those that were not read
		f.Stopped.Miss(missed)
	}
	switch until := w.ReadBy; {
	case !w.AtLeast:
		f.Fresh.Set(w.Now.Sub(last) < freshWithin, shown)
	case !until.IsZero() && until.Sub(last) < freshWithin:
		f.Fresh.Set(true, shown)
	default:
		f.Fresh.Miss(&evidence.Unavailable{Need: writesNeeds[0], Why: evidence.NotCollected, Detail: "when the leases were read is not known",
			Supply: evidence.Supply{Kind: evidence.SupplyNow}})
	}
	return f, nil
}

// leases returns the leases that could be read, and why they are not all; those of the control
// plane are in few archives, and are missed only where a source has them.
func leases(ctx context.Context, w *facts.World) (list []evidence.Object, missed *evidence.Unavailable, err error) {
	for i, need := range writesNeeds {
		some, err := w.Some(ctx, need.Resource, need.Namespace)
		if err == nil {
			list = append(list, some...)
			_, err = w.List(ctx, need.Resource, need.Namespace)
		}
		u, unavailable := evidence.AsUnavailable(err)
		if err != nil && !unavailable {
			return nil, nil, err
		}
		if unavailable && missed == nil && (i == 0 || u.Why.MayHideObjects() || u.Fields) {
			missed = u
		}
	}
	return list, missed, nil
}
