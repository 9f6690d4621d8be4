package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// managerLease is the lease of the leading controller manager, renewed every 3 s
// with a deadline of 12 s (openshift/cluster-kube-controller-manager-operator:
// bindata/assets/config/defaultconfig.yaml).
const (
	systemNamespace = "kube-system"
	managerLease    = "kube-controller-manager"
)

// Two leases of one list were read together; those of two namespaces of an
// archive are as far apart as the collection took.
const (
	staleNear = 2 * time.Minute
	staleFar  = 15 * time.Minute
)

// Manager is the fact kcm-lease.
type Manager struct {
	Found   bool      `cel:"found"`
	Holder  string    `cel:"holder"` // the node or host name before the first "_"
	Renewed time.Time `cel:"renewed"`
	Newest  time.Time `cel:"newest"` // the newest sign of life that it was compared with
	Stale   bool      `cel:"stale"`
	Behind  string    `cel:"behind"`
}

// ManagerFact is the fact kcm-lease.
func ManagerFact() facts.Fact {
	return facts.DefinePlain("kcm-lease", fault.Cluster, "whether a kube-controller-manager leads",
		[]evidence.Need{
			evidence.Objects(evidence.Leases, systemNamespace),
			evidence.Objects(evidence.Leases, "kube-node-lease"),
		}, readManager)
}

func readManager(ctx context.Context, w *facts.World, _ fault.Subject) (Manager, facts.Proof, error) {
	var m Manager
	var p facts.Proof
	leases, err := w.List(ctx, evidence.Leases, systemNamespace)
	if err != nil {
		return m, p, err
	}
	own, newest := kubelet.Newest(leases, managerLease)
	limit := staleNear
	if m.Found = own.Name != ""; !m.Found {
		return m, p, &evidence.Unavailable{Need: evidence.Objects(evidence.Leases, systemNamespace), Why: evidence.NotCollected,
			Detail: "no lease " + managerLease, Supply: "oc get lease -n kube-system kube-controller-manager -o yaml"}
	}
	m.Renewed = kubelet.Renewed(own)
	nodes, err := w.List(ctx, evidence.Leases, "kube-node-lease")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return m, p, err
	}
	if _, far := kubelet.Newest(nodes, ""); far.Sub(m.Renewed) > staleFar && far.After(newest) {
		newest, limit = far, staleFar
	}
	holder := evidence.String(own.Content, "spec", "holderIdentity")
	m.Holder, _, _ = strings.Cut(holder, "_")
	m.Newest = newest
	behind := newest.Sub(m.Renewed)
	m.Stale, m.Behind = behind > limit, fault.Span(behind)
	p.Add(own.Loc.At("spec.renewTime"), fmt.Sprintf("renewed %s by %s, %s behind the newest lease",
		m.Renewed.UTC().Format(time.RFC3339), m.Holder, m.Behind), m.Renewed, "stale", "renewed", "newest", "holder", "behind")
	return m, p, nil
}
