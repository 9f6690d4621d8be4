package repair

import (
	"context"
	"fmt"
	"slices"
)

// The guards that every write has.
const (
	SameCluster GuardName = "same-cluster" // clusterID and CA are those of the plan
	NoUpgrade   GuardName = "no-upgrade"   // no update is under way; a first install may be
)

func guardSameCluster(ctx context.Context, e env, _ Step, _ Guard) (string, error) {
	if want := e.plan.Cluster.CA; want != "" && e.ca != want {
		return "", refuse("this API server is verified with another CA (%s) than the plan's (%s): it is another cluster, or its CA was renewed",
			shortDigest(e.ca), shortDigest(want)).
			instead("choose the kubeconfig context of the plan (%s at %s), or make a new plan", e.plan.Context, e.plan.Cluster.Server)
	}
	what := "cluster "
	cv, err := e.identity(ctx)
	if err != nil {
		return "", err
	}
	if e.plan.Cluster.Hosted != "" {
		what = "hosted cluster "
	}
	if id := stringAt(cv, "spec", "clusterID"); id == "" || id != e.plan.Cluster.ID {
		return "", refuse("this is cluster %s, the plan is for %s", orNone(id), e.plan.Cluster.ID).
			instead("choose the kubeconfig context of the plan (%s at %s)", e.plan.Context, e.plan.Cluster.Server)
	}
	return what + e.plan.Cluster.ID, nil
}

// identity is the object that has the cluster's ID.
func (e env) identity(ctx context.Context) (Object, error) {
	if e.plan.Cluster.Hosted != "" {
		return e.hostedCluster(ctx)
	}
	return e.read(ctx, clusterVersionRef())
}

func shortDigest(digest string) string {
	if len(digest) > 19 {
		return digest[:19]
	}
	return orNone(digest)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// guardNoUpgrade refuses while an update runs. A first install that has not
// completed is no update: history has no Completed entry
// (openshift/api:config/v1 ClusterVersionStatus.history).
func guardNoUpgrade(ctx context.Context, e env, _ Step, _ Guard) (string, error) {
	if e.plan.Cluster.Hosted != "" {
		return e.noHostedUpgrade(ctx)
	}
	cv, err := e.read(ctx, clusterVersionRef())
	if err != nil {
		return "", err
	}
	progressing := conditionOf(cv, "Progressing")
	history, _ := fieldAt(cv, "/status/history")
	list, _ := history.([]any)
	if progressing == nil || len(list) == 0 {
		return "", refuse("ClusterVersion does not show whether an update is under way")
	}
	completed := slices.ContainsFunc(list, func(e any) bool {
		m, _ := e.(map[string]any)
		return m["state"] == "Completed"
	})
	newest, _ := list[0].(map[string]any)
	underWay := progressing["status"] != "False" || newest["state"] != "Completed"
	switch {
	case underWay && completed:
		return "", refuse("an update to %v is under way: %v", newest["version"], progressing["message"]).
			instead("wait until it is complete")
	case underWay:
		return fmt.Sprintf("the installation of %v has not completed; this repair is made for that", newest["version"]), nil
	}
	return fmt.Sprintf("version %v, no update under way", newest["version"]), nil
}
