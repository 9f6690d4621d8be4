package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Resource is the fact operator-resource: what an operator says in its own
// resource, before its ClusterOperator repeats it. The ClusterOperator waits two
// minutes, for some conditions ten
// (openshift/library-go:pkg/operator/status/inertia.go).
type Resource struct {
	Degraded     []string  `cel:"degraded"` // types of the conditions that say so, without the end "Degraded"
	First        string    `cel:"first"`    // of these, the one that began first: reason and message
	Since        time.Time `cel:"since"`
	Unavailable  []string  `cel:"unavailable"`  // types of the conditions Available that are False, without that end
	Unmanaged    bool      `cel:"unmanaged"`    // spec.managementState: the operator was told to leave its operand alone, or to remove it
	State        string    `cel:"state"`        // spec.managementState
	NotObserved  bool      `cel:"notObserved"`  // the last change of its spec has not been seen by it
	ChangedSince time.Time `cel:"changedSince"` // zero: not told
}

// own is the resource of an operator. Name "" means all objects of the kind in the
// namespace.
type own struct {
	resource        evidence.Resource
	namespace, name string
}

// ownResources are the resources of operators by their ClusterOperator
// (openshift/api:operator/v1, imageregistry/v1). Operators without one, as
// machine-approver, marketplace and the cluster's monitoring, are not among them.
var ownResources = map[string]own{
	"authentication":               {evidence.AuthenticationOperators, "", "cluster"},
	"console":                      {evidence.ConsoleOperators, "", "cluster"},
	"csi-snapshot-controller":      {evidence.SnapshotOperators, "", "cluster"},
	"dns":                          {evidence.DNSOperators, "", "default"},
	"etcd":                         {evidence.EtcdOperators, "", "cluster"},
	"image-registry":               {evidence.RegistryOperators, "", "cluster"},
	"ingress":                      {evidence.IngressControllers, "openshift-ingress-operator", ""},
	"kube-apiserver":               {evidence.APIServerOperators, "", "cluster"},
	"kube-controller-manager":      {evidence.ManagerOperators, "", "cluster"},
	"kube-scheduler":               {evidence.SchedulerOperators, "", "cluster"},
	"network":                      {evidence.NetworkOperators, "", "cluster"},
	"openshift-apiserver":          {evidence.OpenShiftAPIOperators, "", "cluster"},
	"openshift-controller-manager": {evidence.OpenShiftManagers, "", "cluster"},
	"service-ca":                   {evidence.ServiceCAOperators, "", "cluster"},
	"storage":                      {evidence.StorageOperators, "", "cluster"},
}

// ResourceFact is the fact operator-resource.
func ResourceFact() facts.Fact {
	var needs []evidence.Need
	for _, r := range ownResources {
		needs = append(needs, evidence.Objects(r.resource, r.namespace))
	}
	slices.SortFunc(needs, func(a, b evidence.Need) int { return strings.Compare(a.String(), b.String()) })
	return facts.DefinePlain("operator-resource", fault.Operator, "what an operator says in its own resource, which its ClusterOperator repeats minutes later", needs, readResource)
}

func readResource(ctx context.Context, w *facts.World, s fault.Subject) (Resource, facts.Proof, error) {
	var f Resource
	var p facts.Proof
	from, ok := ownResources[s.Name]
	if !ok {
		return f, p, facts.NotApplicable("operator %s has no resource of its own that is known", s.Name)
	}
	list, err := w.List(ctx, from.resource, from.namespace)
	if err != nil {
		return f, p, err
	}
	found := false
	for _, o := range list {
		if from.name == "" || o.Name == from.name {
			found = true
			f.take(o, &p)
		}
	}
	if !found {
		return f, p, facts.NotApplicable("there is no %s of operator %s", from.resource, s.Name)
	}
	return f, p, nil
}

func (f *Resource) take(o evidence.Object, p *facts.Proof) {
	f.State = evidence.String(o.Content, "spec", "managementState")
	f.Unmanaged = f.Unmanaged || f.State == "Unmanaged" || f.State == "Removed"
	p.Add(o.Loc.At("spec.managementState"), "managementState "+f.State, time.Time{}, "unmanaged", "state")
	generation, seen := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
	if seen > 0 { // not every operator writes it
		var changed time.Time
		if seen < generation {
			if changed = o.SpecWritten(); !f.NotObserved || changed.Before(f.ChangedSince) {
				f.ChangedSince = changed
			}
			f.NotObserved = true
		}
		p.Add(o.Loc.At("status.observedGeneration"), fmt.Sprintf("generation %d, observed %d", generation, seen), changed, "notObserved", "changedSince")
	}
	for _, c := range conditions.Of(o) {
		degraded, isDegraded := strings.CutSuffix(c.Type, "Degraded")
		available, isAvailable := strings.CutSuffix(c.Type, "Available")
		text := fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, strings.Join(strings.Fields(c.Message), " "))
		switch {
		case isDegraded && c.Status == "True":
			f.Degraded = append(f.Degraded, degraded)
			if f.Since.IsZero() || c.Since.Before(f.Since) {
				f.Since, f.First = c.Since, brief(c)
			}
			p.Add(c.Loc, text, c.Since, "degraded", "first", "since")
		case isAvailable && c.Status == "False":
			f.Unavailable = append(f.Unavailable, available)
			p.Add(c.Loc, text, c.Since, "unavailable")
		}
	}
	if len(f.Degraded) == 0 {
		p.Add(o.Loc.At("status.conditions"), "no condition says Degraded", time.Time{}, "degraded", "since")
	}
}

// brief is a condition in the words of the operator, short enough for a title.
func brief(c conditions.Condition) string {
	text := []rune(c.Type + ": " + strings.Join(strings.Fields(c.Message), " "))
	const most = 160
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
