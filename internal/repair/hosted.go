package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// A hosted cluster is repaired in its management cluster: all objects of these changes are
// there, in the namespace of the HostedCluster or of the HyperShift operator. The hosted API is
// only read, by the diagnosis.

const (
	hypershiftGroup   = "hypershift.openshift.io"
	hypershiftVersion = "v1beta1"
	pausedUntil       = "/spec/pausedUntil"
	baseline          = "baseline"
	// operatorNamespace is where the HyperShift operator is installed, unless told otherwise
	// (openshift/hypershift: cmd/install/install.go, --namespace).
	operatorNamespace = "hypershift"
)

// podSecurity is the annotation by which the operator sets the PodSecurity level of the control
// plane's namespace (openshift/hypershift: api/hypershift/v1beta1/hostedcluster_types.go
// PodSecurityAdmissionLabelOverrideAnnotation;
// hypershift-operator/controllers/hostedcluster/hostedcluster_controller.go).
var podSecurity = pointer("metadata", "annotations", "hypershift.openshift.io/pod-security-admission-label-override")

func hostedClusterRef(name string) Ref {
	return Ref{Group: hypershiftGroup, Version: hypershiftVersion, Resource: "hostedclusters", Name: name}
}

func nodePoolRef(name string) Ref {
	return Ref{Group: hypershiftGroup, Version: hypershiftVersion, Resource: "nodepools", Name: name}
}

// hostedChanges are the remedies of hosted clusters. Each has hosted set: its object is in the
// namespace of the HostedCluster, or where object puts it.
func hostedChanges() []change {
	list := []change{
		{
			remedy: "allow-baseline-pods", object: hostedClusterRef,
			reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil, podSecurity},
			set:      allowBaseline,
			risk:     fault.RiskReversible,
			riskText: "the control plane's namespace admits pods of level baseline",
			proof:    Simulated,
			title:    "set the annotation pod-security-admission-label-override of HostedCluster %s to baseline",
			oc:       "oc -n NAMESPACE annotate hostedcluster %s hypershift.openshift.io/pod-security-admission-label-override=baseline",
			inverse:  "take the annotation away, or write its old value back; pods that run stay",
			expect:   "HostedCluster %s has the annotation",
			takes:    2, settles: 30,
		},
		{
			remedy: "resume-hosted-reconciliation", object: hostedClusterRef,
			reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil},
			set:      resume,
			risk:     fault.RiskReversible,
			riskText: "the operator makes every change that waits",
			proof:    Simulated,
			title:    "remove spec.pausedUntil of HostedCluster %s",
			oc:       `oc -n NAMESPACE patch hostedcluster %s --type=merge -p '{"spec":{"pausedUntil":null}}'`,
			inverse:  "write spec.pausedUntil back; what the operator has done meanwhile stays",
			expect:   "HostedCluster %s is not paused",
			takes:    2,
		},
		{
			remedy: "resume-nodepool", object: nodePoolRef,
			reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil, "/spec/clusterName"},
			set:      resume,
			risk:     fault.RiskReversible,
			riskText: "user-data is rewritten, and Machines are updated where that waits",
			proof:    Simulated,
			title:    "remove spec.pausedUntil of NodePool %s",
			oc:       `oc -n NAMESPACE patch nodepool %s --type=merge -p '{"spec":{"pausedUntil":null}}'`,
			inverse:  "write spec.pausedUntil back; what the operator has done meanwhile stays",
			expect:   "NodePool %s is not paused",
			takes:    2, settles: 15,
		},
		{
			remedy:   "start-hypershift-operator",
			object:   func(string) Ref { return hypershiftOperatorRef() },
			reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", "/spec/replicas"},
			set:      startOperator,
			effect:   operatorRuns,
			risk:     fault.RiskReversible,
			riskText: "the operator continues with every HostedCluster and NodePool of the management cluster",
			proof:    Simulated,
			title:    "scale the Deployment %s of HyperShift to 1",
			oc:       "oc -n NAMESPACE scale deployment/%s --replicas=1",
			inverse:  "scale it back to 0; what the operator has done meanwhile stays",
			expect:   "the Deployment %s has an available pod",
			takes:    10, settles: 15,
		},
	}
	for i := range list {
		list[i].hosted = true
	}
	return list
}

func hypershiftOperatorRef() Ref {
	return Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: operatorNamespace, Name: "operator"}
}

func allowBaseline(o Object) (map[string]any, error) {
	if err := followed(o); err != nil {
		return nil, err
	}
	if v, _ := fieldAt(o, podSecurity); v != nil && v != baseline {
		return nil, fmt.Errorf("the annotation has the value %.40q already", v)
	}
	return map[string]any{podSecurity: baseline}, nil
}

// followed refuses an object that the operator does not follow.
func followed(o Object) error {
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return errors.New("it is being deleted")
	}
	if until := stringAt(o, "spec", "pausedUntil"); until != "" {
		return fmt.Errorf("it is paused (spec.pausedUntil %.40s): the operator would not follow", until)
	}
	return nil
}

func resume(o Object) (map[string]any, error) {
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return nil, errors.New("it is being deleted")
	}
	return map[string]any{pausedUntil: nil}, nil
}

// startOperator starts an operator that somebody scaled to 0, and no other: one that fails has
// to be repaired where it fails.
func startOperator(o Object) (map[string]any, error) {
	v, there := fieldAt(o, "/spec/replicas")
	if n := intAt(o, "spec", "replicas"); !there || v == nil || n > 1 {
		return nil, fmt.Errorf("its replicas are %v, and not 0: see `rollcall explain let-operator-rewrite-user-data`", v)
	}
	return map[string]any{"/spec/replicas": int64(1)}, nil
}

func operatorRuns(o Object, _ Step) (bool, string) {
	return intAt(o, "status", "availableReplicas") > 0, "the Deployment"
}

// hosted splits the name of the HostedCluster; "" where the plan is for the cluster itself.
func (c ClusterID) hosted() (namespace, name string) {
	namespace, name, _ = strings.Cut(c.Hosted, "/")
	return namespace, name
}

// place is the object that a step changes.
func (c change) place(a Args) Ref {
	ref := c.object(a.Object)
	if c.hosted && ref.Namespace == "" {
		ref.Namespace = a.Namespace
	}
	if c.fromValue {
		ref.Namespace, _, _ = strings.Cut(a.Value, "/")
	}
	return ref
}

// checkHosted: a change of a hosted cluster needs one, and nothing else is done to one.
func (p *Plan) checkHosted(s Step) error {
	namespace, name := p.Cluster.hosted()
	if p.Cluster.Hosted != "" && (!dnsName.MatchString(namespace) || !dnsName.MatchString(name)) {
		return fmt.Errorf("cluster.hosted %q is not NAMESPACE/NAME", p.Cluster.Hosted)
	}
	c, changes := changeOf(s.Args.Remedy)
	hosted := s.Action == ChangeFields && changes && c.hosted
	switch {
	case s.Action == Verify:
		return nil
	case hosted && p.Cluster.Hosted == "":
		return errors.New("it is for a hosted cluster, and cluster.hosted is empty")
	case !hosted && p.Cluster.Hosted != "":
		return errors.New("it is not for a hosted cluster, and cluster.hosted names one")
	case hosted && s.Args.Namespace != namespace:
		return fmt.Errorf("args.namespace %q is not that of the plan's HostedCluster", s.Args.Namespace)
	case hosted && c.object("x").Resource == "hostedclusters" && s.Args.Object != name:
		return fmt.Errorf("args.object %q is not the HostedCluster of the plan", s.Args.Object)
	}
	return nil
}

// hostedCluster reads the HostedCluster of the plan.
func (r *run) hostedCluster(ctx context.Context) (Object, error) {
	ref := hostedClusterRef("")
	ref.Namespace, ref.Name = r.plan.Cluster.hosted()
	return r.read(ctx, ref)
}

// noHostedUpgrade refuses while the control plane of a hosted cluster is updated; one that has
// never completed a version is being installed
// (openshift/hypershift: api/hypershift/v1beta1/hostedcluster_types.go ClusterVersionStatus).
func (r *run) noHostedUpgrade(ctx context.Context) (string, error) {
	o, err := r.hostedCluster(ctx)
	if err != nil {
		return "", err
	}
	v, _ := fieldAt(o, "/status/version/history")
	list, _ := v.([]any)
	if len(list) == 0 {
		return "", refuse("the HostedCluster does not show whether an update is under way")
	}
	newest, _ := list[0].(map[string]any)
	completed := slices.ContainsFunc(list, func(e any) bool {
		m, _ := e.(map[string]any)
		return m["state"] == "Completed"
	})
	switch {
	case newest["state"] == "Completed":
		return fmt.Sprintf("hosted version %v, no update under way", newest["version"]), nil
	case completed:
		return "", refuse("an update of the hosted cluster to %v is under way", newest["version"]).instead("wait until it is complete")
	}
	return fmt.Sprintf("the hosted cluster has not completed %v; this repair is made for that", newest["version"]), nil
}
