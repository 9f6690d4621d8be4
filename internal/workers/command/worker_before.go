package command

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// clusterChecks are about the hosted cluster as a whole: what will not hold for as long as the
// workers live, and what a machine that is made now has to wait for.
func (a *app) clusterChecks(ctx context.Context, h hub, now time.Time, p workers.Plan) []workerCheck {
	namespace, name, _ := strings.Cut(p.Hosted, "/")
	cluster, err := h.Object(ctx, openshift.HyperShiftGroup, "hostedclusters", namespace, name)
	if err != nil {
		return []workerCheck{{fault.Unknown, false, "the publishing of the ignition endpoint and the wishes of ingress: " + err.Error()}}
	}
	checks := []workerCheck{addressCheck(ctx, h, cluster), serverCheck(ctx, h, now, p)}
	return append(checks, a.hostedChecks(ctx, cluster, p)...)
}

// addressCheck looks whether the ignition endpoint is the address of one node of the management
// cluster: with that node go the endpoint, the name in its certificate and all user-data
// (openshift/hypershift:control-plane-operator/controllers/hostedcontrolplane/ignitionserver,
// 4.12 to 4.22: the certificate has the published address only).
func addressCheck(ctx context.Context, h hub, cluster map[string]any) workerCheck {
	services, _ := evidence.Field(cluster, "spec", "services").([]any)
	i := slices.IndexFunc(services, func(s any) bool { m, _ := s.(map[string]any); return m["service"] == "Ignition" })
	if i < 0 {
		return workerCheck{fault.Unknown, false, "how the ignition endpoint is published: the HostedCluster does not show it"}
	}
	how, _ := services[i].(map[string]any)
	if kind := evidence.String(how, "servicePublishingStrategy", "type"); kind != "NodePort" {
		return workerCheck{fault.Absent, false, "the ignition endpoint is published as " + kind + ": it does not depend on one node"}
	}
	address := evidence.String(how, "servicePublishingStrategy", "nodePort", "address")
	if _, err := netip.ParseAddr(address); err != nil {
		return workerCheck{fault.Unknown, false, fmt.Sprintf("whether the name %s of the ignition endpoint stays: it is its owner's", address)}
	}
	nodes, err := h.api.List(ctx, kube.Ref{Version: "v1", Resource: "nodes"})
	if err != nil {
		return workerCheck{fault.Unknown, false, "whether the ignition endpoint " + address + " is the address of one node of the " +
			"management cluster: " + err.Error()}
	}
	for _, n := range nodes {
		addresses, _ := evidence.Field(n, "status", "addresses").([]any)
		if slices.ContainsFunc(addresses, func(x any) bool { m, _ := x.(map[string]any); return m["address"] == address }) {
			return workerCheck{fault.Present, false, fmt.Sprintf("the ignition endpoint %s is the address of node %s of the management cluster: "+
				"without that node no worker can be made, and its certificate holds for no other address",
				address, evidence.String(n, "metadata", "name"))}
		}
	}
	return workerCheck{fault.Absent, false, "the ignition endpoint " + address + " is not the address of a node"}
}

// serverWarm is how long the ignition server may take to build the payloads again: its cache is
// memory (openshift/hypershift:ignition-server/controllers/cache.go).
const serverWarm = 15 * time.Minute

// serverCheck looks whether a machine that is made now has to wait for its payload. That is no
// reason not to make it: Ignition tries again until it gets one.
func serverCheck(ctx context.Context, h hub, now time.Time, p workers.Plan) workerCheck {
	pods, err := h.api.List(ctx, kube.Ref{Version: "v1", Resource: "pods", Namespace: p.ControlPlane})
	if err != nil {
		return workerCheck{fault.Unknown, false, "since when the ignition server runs: " + err.Error()}
	}
	var started time.Time
	for _, o := range pods {
		if evidence.String(o, "metadata", "labels", "app") != "ignition-server" {
			continue
		}
		containers, _ := evidence.Field(o, "status", "containerStatuses").([]any)
		for _, c := range containers {
			m, _ := c.(map[string]any)
			if at, err := time.Parse(time.RFC3339, evidence.String(m, "state", "running", "startedAt")); err == nil && at.After(started) {
				started = at
			}
		}
	}
	switch age := now.Sub(started); {
	case started.IsZero():
		return workerCheck{fault.Unknown, false, "since when the ignition server runs: none of its pods shows it"}
	case age < serverWarm:
		return workerCheck{fault.Present, false, fmt.Sprintf("the ignition server runs for %s and may still build the payloads: machines get HTTP 511 "+
			"until it has, and then continue by themselves", age.Round(time.Second))}
	default:
		return workerCheck{fault.Absent, false, fmt.Sprintf("the ignition server runs for %s: it has built what it serves", age.Round(time.Minute))}
	}
}

// hostedChecks ask the hosted cluster: whether this account may do there what a run does, and
// whether ingress gets its workers.
func (a *app) hostedChecks(ctx context.Context, cluster map[string]any, p workers.Plan) []workerCheck {
	_, api, err := a.hostedClients(ctx)
	if err != nil {
		return []workerCheck{{fault.Unknown, false, "rights in the hosted cluster, and what ingress wants: " + err.Error()}}
	}
	checks := []workerCheck{rightsCheck(ctx, api, "in the hosted cluster", rightsFor(p))}
	if evidence.String(cluster, "spec", "infrastructureAvailabilityPolicy") == "HighlyAvailable" && len(p.Replaces) == 0 {
		checks = append(checks, ingressCheck(ctx, api, len(p.Workers)))
	}
	return checks
}

// ingressCheck says whether the default router of a HighlyAvailable cluster gets the two workers
// that it wants (openshift/hypershift:control-plane-operator/hostedclusterconfigoperator/
// controllers/resources/ingress/params.go, 4.12 to 4.22).
func ingressCheck(ctx context.Context, api *kube.Client, more int) workerCheck {
	ready, err := guestCluster{api}.ReadyNodes(ctx)
	switch {
	case err != nil:
		return workerCheck{fault.Unknown, false, "whether ingress gets the 2 workers that it wants: " + err.Error()}
	case len(ready)+more >= 2:
		return workerCheck{fault.Absent, false, fmt.Sprintf("ingress gets the 2 workers that it wants: %d Ready, %d more", len(ready), more)}
	}
	return workerCheck{fault.Present, false, "infrastructureAvailabilityPolicy is HighlyAvailable: the default router wants 2 workers, and there will " +
		"be 1; ClusterOperator ingress is degraded until there is another one"}
}

// rightsFor are the rights that a plan needs in the hosted cluster.
func rightsFor(p workers.Plan) []workers.Right {
	list := slices.Clone(workers.JoinRights)
	if len(p.Replaces) > 0 {
		list = append(list, workers.DrainRights...)
	}
	if p.SmokePod {
		list = append(list, workers.SmokeRights...)
	}
	return list
}

// rightNames lists rights for a person.
func rightNames(rights []workers.Right) string {
	var names []string
	for _, r := range rights {
		names = append(names, r.What)
	}
	return strings.Join(names, ", ")
}

func rightsCheck(ctx context.Context, api *kube.Client, where string, rights []workers.Right) workerCheck {
	var without []string
	for _, r := range rights {
		// The API answers it and stores nothing.
		answer, err := api.Create(ctx, kube.Ref{Group: openshift.AuthorizationGroup, Version: "v1", Resource: "selfsubjectaccessreviews"}, kube.Object{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": r.Attributes()},
		}, false)
		allowed, is := evidence.Field(answer, "status", "allowed").(bool)
		switch {
		case err != nil:
			return workerCheck{fault.Unknown, false, "rights " + where + ": " + err.Error()}
		case !is:
			return workerCheck{fault.Unknown, false, "rights " + where + ": the API did not answer whether this account may " + r.What}
		case !allowed:
			without = append(without, r.What)
		}
	}
	if len(without) > 0 {
		return workerCheck{fault.Present, true, where + " this account may not " + strings.Join(without, ", ")}
	}
	return workerCheck{fault.Absent, false, "this account may do " + where + " what the plan needs"}
}
