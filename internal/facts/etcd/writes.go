package etcd

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Writes is the fact etcd-writes: the last write that is seen in etcd, whatever its operator
// reports. Each kubelet renews its lease every 10 s, and no write succeeds without a quorum
// (kubernetes/kubernetes:pkg/kubelet/apis/config/v1beta1/defaults.go NodeLeaseDurationSeconds,
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

const nodeLeases = "kube-node-lease"

var writesNeed = evidence.Objects(evidence.Leases, nodeLeases)

var writesFact = facts.Define("etcd-writes", fault.Cluster, "the last write to etcd that is seen: the newest lease of a kubelet",
	[]evidence.Need{writesNeed}, readWrites)

func readWrites(ctx context.Context, w *facts.World, _ fault.Subject) (Writes, error) {
	var f Writes
	list, err := w.Some(ctx, evidence.Leases, nodeLeases)
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
		return f, &evidence.Unavailable{Need: writesNeed, Why: evidence.NotCollected, Detail: "no kubelet has a lease",
			Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	}
	shown := newest.Shows("spec.renewTime", fmt.Sprintf("lease of %s, the newest one, renewed at %s", newest.Name, last.UTC().Format(time.RFC3339)), last)
	f.Last.Set(last, shown)
	if _, err := w.List(ctx, evidence.Leases, nodeLeases); err != nil { // a newer one may be among those that were not read
		if err := facts.Miss(err, &f.Stopped); err != nil {
			return f, err
		}
	} else {
		f.Stopped.Set(w.Now.Sub(last) > stoppedAfter, shown)
	}
	switch until := w.ReadBy; {
	case !w.AtLeast:
		f.Fresh.Set(w.Now.Sub(last) < freshWithin, shown)
	case !until.IsZero() && until.Sub(last) < freshWithin:
		f.Fresh.Set(true, shown)
	default:
		f.Fresh.Miss(&evidence.Unavailable{Need: writesNeed, Why: evidence.NotCollected, Detail: "when the leases were read is not known",
			Supply: evidence.Supply{Kind: evidence.SupplyNow}})
	}
	return f, nil
}
