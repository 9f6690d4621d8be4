package hosted

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// None is what is named instead of a hosted cluster where the management
// cluster itself is to be looked at.
const None = "none"

// Parse reads NAMESPACE/NAME.
func Parse(value string) (namespace, name string, err error) {
	namespace, name, ok := strings.Cut(value, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q names no hosted cluster: write it as NAMESPACE/NAME, such as clusters/prod", value)
	}
	return namespace, name, nil
}

// ControlPlaneOf is the namespace of a hosted cluster's control plane
// (openshift/hypershift:hypershift-operator/controllers/manifests/manifests.go
// HostedControlPlaneNamespace).
func ControlPlaneOf(namespace, name string) string {
	return namespace + "-" + strings.ReplaceAll(name, ".", "-")
}

// Find returns the HostedClusters of a management cluster, sorted.
func Find(ctx context.Context, management evidence.Source) ([]evidence.Hosted, []evidence.Object, error) {
	list, err := management.List(ctx, evidence.HostedClusters.In(""), "")
	if err != nil && len(list) == 0 {
		return nil, nil, err
	}
	var refs []evidence.Hosted
	for _, o := range list {
		refs = append(refs, of(o))
	}
	return refs, list, nil
}

// of names the hosted cluster of a HostedCluster.
func of(o evidence.Object) evidence.Hosted {
	return evidence.Hosted{
		Namespace: o.Namespace, Name: o.Name, ControlPlane: ControlPlaneOf(o.Namespace, o.Name),
		Agents: evidence.String(o.Content, "spec", "platform", "agent", "agentNamespace"),
	}
}

// Pick returns the hosted cluster that is wanted. Where none is named and there is
// one, it is that.
func Pick(list []evidence.Hosted, want string) (evidence.Hosted, error) {
	if want == "" {
		if len(list) == 1 {
			return list[0], nil
		}
		return evidence.Hosted{}, fmt.Errorf("it holds several hosted clusters; name one with --hosted: %s", names(list))
	}
	i := slices.IndexFunc(list, func(h evidence.Hosted) bool { return h.String() == want })
	switch {
	case i >= 0:
		return list[i], nil
	case len(list) == 0:
		return evidence.Hosted{}, fmt.Errorf("--hosted %s: there is no HostedCluster at all", want)
	}
	return evidence.Hosted{}, fmt.Errorf("--hosted %s: there is no such HostedCluster; there are: %s", want, names(list))
}

func names(list []evidence.Hosted) string {
	var all []string
	for _, h := range list {
		all = append(all, h.String())
	}
	slices.Sort(all)
	if len(all) > 12 {
		all = append(all[:12], fmt.Sprintf("and %d more", len(all)-12))
	}
	return strings.Join(all, ", ")
}
