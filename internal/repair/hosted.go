package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A hosted cluster is repaired in its management cluster: all objects of these changes are
// there, in the namespace of the HostedCluster or of the HyperShift operator. The hosted API is
// only read, by the diagnosis.

const pausedUntil = "/spec/pausedUntil"

// hosted splits the name of the HostedCluster; "" where the plan is for the cluster itself.
func (c ClusterID) hosted() (namespace, name string) {
	namespace, name, _ = strings.Cut(c.Hosted, "/")
	return namespace, name
}

// checkHosted: a step for a hosted cluster needs one, and nothing else is done to one.
func (p *Plan) checkHosted(s Step, a action) error {
	namespace, name := p.Cluster.hosted()
	if p.Cluster.Hosted != "" && (!dnsName.MatchString(namespace) || !dnsName.MatchString(name)) {
		return fmt.Errorf("cluster.hosted %q is not NAMESPACE/NAME", p.Cluster.Hosted)
	}
	hosted := a.hosted != nil && a.hosted(s.Args)
	switch {
	case a.anyCluster:
		return nil
	case hosted && p.Cluster.Hosted == "":
		return errors.New("it is for a hosted cluster, and cluster.hosted is empty")
	case !hosted && p.Cluster.Hosted != "":
		return errors.New("it is not for a hosted cluster, and cluster.hosted names one")
	}
	return nil
}

// fitsHosted refuses a change of another hosted cluster than the plan's.
func fitsHosted(p *Plan, s Step) error {
	c, ok := changeOf(s.Args.Remedy)
	if !ok || !c.hosted || p.Cluster.Hosted == "" {
		return nil
	}
	namespace, name := p.Cluster.hosted()
	switch {
	case s.Args.Namespace != namespace:
		return fmt.Errorf("args.namespace %q is not that of the plan's HostedCluster", s.Args.Namespace)
	case c.place(s.Args).Resource == hostedClusterRef("").Resource && s.Args.Object != name:
		return fmt.Errorf("args.object %q is not the HostedCluster of the plan", s.Args.Object)
	}
	return nil
}

// hostedCluster reads the HostedCluster of the plan.
func (e env) hostedCluster(ctx context.Context) (Object, error) {
	ref := hostedClusterRef("")
	ref.Namespace, ref.Name = e.plan.Cluster.hosted()
	return e.read(ctx, ref)
}

// noHostedUpgrade refuses while the control plane of a hosted cluster is updated; one that has
// never completed a version is being installed
// (openshift/hypershift: api/hypershift/v1beta1/hostedcluster_types.go ClusterVersionStatus).
func (e env) noHostedUpgrade(ctx context.Context) (string, error) {
	o, err := e.hostedCluster(ctx)
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

// removePause lets the operator follow an object again.
func removePause(o Object, _ input) (map[string]any, error) {
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return nil, errors.New("it is being deleted")
	}
	return map[string]any{pausedUntil: nil}, nil
}
