package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// How far the lease of the leading controller manager may lag behind. It is renewed every
// 3 s with a deadline of 12 s (openshift/cluster-kube-controller-manager-operator:
// bindata/assets/config/defaultconfig.yaml). Two leases of one list were read together; those
// of two namespaces of an archive are as far apart as the collection took.
const (
	staleNear = 2 * time.Minute
	staleFar  = 15 * time.Minute
)

// Manager is the fact kcm-lease.
type Manager struct {
	Holder  facts.Field[string]    `cel:"holder"` // the node or host name before the first "_"
	Renewed facts.Field[time.Time] `cel:"renewed"`
	Stale   facts.Field[bool]      `cel:"stale"`
	Behind  facts.Field[string]    `cel:"behind"`
}

// ManagerFact is the fact kcm-lease.
func ManagerFact() facts.Fact {
	return facts.Define("kcm-lease", fault.Cluster, "whether a kube-controller-manager leads",
		[]evidence.Need{
			evidence.Objects(evidence.Leases, openshift.SystemNamespace),
			evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease),
		}, readManager)
}

func readManager(ctx context.Context, w *facts.World, _ fault.Subject) (Manager, error) {
	var m Manager
	leases, err := w.List(ctx, evidence.Leases, openshift.SystemNamespace)
	if err != nil {
		return m, err
	}
	own, newest := kubelet.Newest(leases, openshift.ControllerManager)
	if own.Name == "" {
		return m, &evidence.Unavailable{Need: evidence.Objects(evidence.Leases, openshift.SystemNamespace), Why: evidence.NotCollected,
			Detail: "no lease " + openshift.ControllerManager, Supply: evidence.Supply{
				Kind:      evidence.SupplyGet,
				Resource:  "lease",
				Namespace: openshift.SystemNamespace,
				Name:      openshift.ControllerManager,
			}}
	}
	renewed, limit := kubelet.Renewed(own), staleNear
	nodes, err := w.Some(ctx, evidence.Leases, corev1.NamespaceNodeLease)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return m, err
	}
	if _, far := kubelet.Newest(nodes, ""); far.Sub(renewed) > staleFar && far.After(newest) {
		newest, limit = far, staleFar
	}
	holder, _, _ := strings.Cut(evidence.String(own.Content, "spec", "holderIdentity"), "_")
	behind := newest.Sub(renewed)
	item := own.Shows("spec.renewTime", fmt.Sprintf("renewed %s by %s, %s behind the newest lease", excerpt.Time(renewed), holder,
		fault.Span(behind)), renewed)
	m.Holder.Set(holder, item)
	m.Renewed.Set(renewed, item)
	m.Stale.Set(behind > limit, item)
	m.Behind.Set(fault.Span(behind), item)
	return m, nil
}
