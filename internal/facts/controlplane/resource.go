package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Resource is the fact operator-resource: what an operator says in its own
// resource, before its ClusterOperator repeats it. The ClusterOperator waits two
// minutes, for some conditions ten
// (openshift/library-go:pkg/operator/status/inertia.go).
type Resource struct {
	Degraded     facts.Field[[]string]  `cel:"degraded"` // types of the conditions that say so, without the end "Degraded"
	First        facts.Field[string]    `cel:"first"`    // of these, the one that began first: reason and message
	Since        facts.Field[time.Time] `cel:"since"`
	Stays        facts.Field[bool]      `cel:"stays"`        // one of them shows what cannot pass by itself
	Unavailable  facts.Field[[]string]  `cel:"unavailable"`  // types of the conditions Available that are False, without that end
	Unmanaged    facts.Field[bool]      `cel:"unmanaged"`    // spec.managementState: the operator was told to leave its operand alone, or to remove it
	State        facts.Field[string]    `cel:"state"`        // spec.managementState
	NotObserved  facts.Field[bool]      `cel:"notObserved"`  // the last change of its spec has not been seen by it
	ChangedSince facts.Field[time.Time] `cel:"changedSince"` // zero: not told
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
	"authentication":               {operator("authentications"), "", "cluster"},
	"console":                      {operator("consoles"), "", "cluster"},
	"csi-snapshot-controller":      {operator("csisnapshotcontrollers"), "", "cluster"},
	"dns":                          {operator("dnses"), "", "default"},
	"etcd":                         {evidence.EtcdOperators, "", "cluster"},
	"image-registry":               {evidence.Resource{Group: openshift.ImageRegistryGroup, Name: "configs"}, "", "cluster"},
	"ingress":                      {operator("ingresscontrollers"), openshift.IngressOperatorNamespace, ""},
	openshift.APIServer:            {evidence.APIServerOperators, "", "cluster"},
	openshift.ControllerManager:    {evidence.ManagerOperators, "", "cluster"},
	openshift.Scheduler:            {evidence.SchedulerOperators, "", "cluster"},
	"network":                      {operator("networks"), "", "cluster"},
	"openshift-apiserver":          {operator("openshiftapiservers"), "", "cluster"},
	"openshift-controller-manager": {operator("openshiftcontrollermanagers"), "", "cluster"},
	"service-ca":                   {operator("servicecas"), "", "cluster"},
	"storage":                      {operator("storages"), "", "cluster"},
}

func operator(kind string) evidence.Resource {
	return evidence.Resource{Group: openshift.OperatorGroup, Name: kind}
}

// ResourceFact is the fact operator-resource.
func ResourceFact() facts.Fact {
	var needs []evidence.Need
	for _, r := range ownResources {
		needs = append(needs, evidence.Objects(r.resource, r.namespace))
	}
	slices.SortFunc(needs, func(a, b evidence.Need) int { return strings.Compare(a.String(), b.String()) })
	return facts.Define("operator-resource", fault.Operator, "what an operator says in its own resource, which its ClusterOperator repeats minutes later",
		needs, readResource)
}

func readResource(ctx context.Context, w *facts.World, s fault.Subject) (Resource, error) {
	var f Resource
	from, ok := ownResources[s.Name]
	if !ok {
		return f, facts.NotApplicable("operator %s has no resource of its own that is known", s.Name)
	}
	list, err := w.List(ctx, from.resource, from.namespace)
	if err != nil {
		return f, err
	}
	found := false
	for _, o := range list {
		if from.name == "" || o.Name == from.name {
			found = true
			f.read(o)
		}
	}
	if !found {
		return f, facts.NotApplicable("there is no %s of operator %s", from.resource, s.Name)
	}
	facts.Complete(&f)
	return f, nil
}

// read reads one object. What one object of several says against the operator stays.
func (f *Resource) read(o evidence.Object) {
	state := evidence.String(o.Content, "spec", "managementState")
	item := o.Shows("spec.managementState", "managementState "+state, time.Time{})
	f.State.Set(state, item)
	f.Unmanaged.Set(f.Unmanaged.Value() || state == "Unmanaged" || state == "Removed", item)
	f.observed(o)
	healthy := true
	f.Stays.Set(f.Stays.Value(), o.Shows("status.conditions", "the conditions of the operator's resource", time.Time{}))
	for _, c := range conditions.Of(o) {
		degraded, isDegraded := strings.CutSuffix(c.Type, "Degraded")
		available, isAvailable := strings.CutSuffix(c.Type, "Available")
		switch {
		case isDegraded && c.Status == "True":
			healthy = false
			facts.Append(&f.Degraded, degraded, c.Item())
			if conditions.CannotPass(c.Message) {
				f.Stays.Set(true, c.Item())
			}
			if since := f.Since.Value(); since.IsZero() || c.Since.Before(since) {
				f.Since.Set(c.Since, c.Item())
				f.First.Set(brief(c), c.Item())
			}
		case isAvailable && c.Status == "False":
			facts.Append(&f.Unavailable, available, c.Item())
		}
	}
	if healthy {
		facts.Prove(o.Shows("status.conditions", "no condition says Degraded", time.Time{}), &f.Degraded, &f.Since)
	}
}

// observed compares the object's generation with the one that its operator has seen. Not
// every operator writes it.
func (f *Resource) observed(o evidence.Object) {
	generation, seen := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
	if seen == 0 {
		return
	}
	item := o.Shows("status.observedGeneration", fmt.Sprintf("generation %d, observed %d", generation, seen), time.Time{})
	if seen >= generation {
		f.NotObserved.Set(f.NotObserved.Value(), item)
		return
	}
	changed := o.SpecWritten()
	item.Time = changed
	if !f.NotObserved.Value() || changed.Before(f.ChangedSince.Value()) {
		f.ChangedSince.Set(changed, item)
	}
	f.NotObserved.Set(true, item)
}

// brief is a condition in the words of the operator, short enough for a title.
func brief(c conditions.Condition) string {
	const most = 160
	return evidence.Shorten(c.Type+": "+strings.Join(strings.Fields(c.Message), " "), most)
}
