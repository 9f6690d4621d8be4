package hosted

import (
	"context"
	"net"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// cluster is the fact hosted-cluster: what the HostedCluster says. A field is ""
// where nothing is wrong with what it is about.
type cluster struct {
	Platform       facts.Field[string]    `cel:"platform"`
	Endpoint       facts.Field[string]    `cel:"endpoint"` // status.ignitionEndpoint, host or host:port
	Release        facts.Field[string]    `cel:"release"`
	ReleaseSince   facts.Field[time.Time] `cel:"releaseSince"`
	Config         facts.Field[string]    `cel:"config"`
	ConfigSince    facts.Field[time.Time] `cel:"configSince"`
	Infra          facts.Field[string]    `cel:"infra"`
	InfraSince     facts.Field[time.Time] `cel:"infraSince"`
	Etcd           facts.Field[string]    `cel:"etcd"`
	EtcdSince      facts.Field[time.Time] `cel:"etcdSince"`
	API            facts.Field[string]    `cel:"api"`
	APISince       facts.Field[time.Time] `cel:"apiSince"`
	Ignition       facts.Field[string]    `cel:"ignition"`
	IgnitionSince  facts.Field[time.Time] `cel:"ignitionSince"`
	Paused         facts.Field[string]    `cel:"paused"`
	PausedSince    facts.Field[time.Time] `cel:"pausedSince"`
	Reconcile      facts.Field[string]    `cel:"reconcile"`
	ReconcileSince facts.Field[time.Time] `cel:"reconcileSince"`
	Data           facts.Field[string]    `cel:"data"` // the control plane does not reach the data plane
	DataSince      facts.Field[time.Time] `cel:"dataSince"`
}

// The conditions of a HostedCluster
// (openshift/hypershift:api/hypershift/v1beta1/hostedcluster_conditions.go).
var (
	releaseTypes = []string{"ValidReleaseImage", "ValidReleaseInfo", "IgnitionServerValidReleaseInfo"}
	configTypes  = []string{"ValidConfiguration", "SupportedHostedCluster", "ValidHostedControlPlaneConfiguration", "ValidProxyConfiguration",
		"ValidOIDCConfiguration", "PlatformCredentialsFound", "ValidKubeVirtInfraNetworkMTU"}
	reconcileTypes = []string{"ReconciliationSucceeded", "ConfigOperatorReconciliationSucceeded"}
)

func clusterFact() facts.Fact {
	return facts.Define("hosted-cluster", fault.Cluster, "what the HostedCluster says of itself",
		[]evidence.Need{evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace)}, readCluster)
}

func readCluster(ctx context.Context, w *facts.World, _ fault.Subject) (cluster, error) {
	var f cluster
	o, err := hostedCluster(ctx, w)
	if err != nil {
		return f, err
	}
	platform, endpoint := evidence.String(o.Content, "spec", "platform", "type"), evidence.String(o.Content, "status", "ignitionEndpoint")
	item := o.Shows("spec.platform.type", "platform "+platform, o.Created())
	f.Platform.Set(platform, item)
	f.Endpoint.Set(endpoint, o.Shows("status.ignitionEndpoint", "ignitionEndpoint: "+endpoint, time.Time{}))
	for _, p := range []part{
		{&f.Release, &f.ReleaseSince, "False", releaseTypes, true},
		{&f.Config, &f.ConfigSince, "False", configTypes, true},
		{&f.Infra, &f.InfraSince, "False", []string{"InfrastructureReady"}, true},
		{&f.Etcd, &f.EtcdSince, "False", []string{"EtcdAvailable", "UnmanagedEtcdAvailable"}, true},
		{&f.API, &f.APISince, "False", []string{"KubeAPIServerAvailable"}, true},
		{&f.Ignition, &f.IgnitionSince, "False", []string{"IgnitionEndpointAvailable"}, true},
		{&f.Paused, &f.PausedSince, "False", []string{"ReconciliationActive"}, false},
		{&f.Reconcile, &f.ReconcileSince, "False", reconcileTypes, false},
		{&f.Data, &f.DataSince, "False", []string{dataType}, false},
	} {
		p.read(o)
	}
	if c := conditions.Find(conditions.Of(o), dataType); c.Reason == "NoWorkerNodesAvailable" {
		f.Data.Set("", c.Item()) // before the first worker there is nothing to be connected with
	}
	return f, nil
}

const dataType = "DataPlaneConnectionAvailable"

// hostOf is the host in "host" or "host:port".
func hostOf(endpoint string) string {
	if host, _, err := net.SplitHostPort(endpoint); err == nil {
		return host
	}
	return endpoint
}

// api is the fact hosted-api: whether the hosted cluster's API answers.
type api struct {
	Answered     facts.Field[bool]   `cel:"answered"`
	Unauthorized facts.Field[bool]   `cel:"unauthorized"`
	Credential   facts.Field[bool]   `cel:"credential"` // there is one to ask with
	Server       facts.Field[string] `cel:"server"`
}

func apiFact() facts.Fact {
	return facts.Define("hosted-api", fault.Cluster, "whether the hosted cluster's API answers, and with which credential it was asked",
		[]evidence.Need{evidence.Objects(evidence.HostedProbes, evidence.HostedNamespace)}, readAPI)
}

func readAPI(ctx context.Context, w *facts.World, _ fault.Subject) (api, error) {
	var f api
	if _, err := requireHosted(ctx, w); err != nil {
		return f, err
	}
	list, err := w.List(ctx, evidence.HostedProbes, evidence.HostedNamespace)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
		return f, facts.NotApplicable("%s", u.Detail)
	}
	if err != nil {
		return f, err
	}
	for _, o := range list {
		s := func(k string) string { return evidence.String(o.Content, "status", k) }
		answered, _ := evidence.Field(o.Content, "status", "answered").(bool)
		unauthorized, _ := evidence.Field(o.Content, "status", "unauthorized").(bool)
		text, why := "it answers", s("noCredential")+s("detail")
		if !answered {
			text = why
		}
		item := evidence.Item{Locator: o.Loc, Excerpt: text, From: s("from"), Time: evidence.Time(o.Content, "status", "at")}
		f.Answered.Set(answered, item)
		f.Unauthorized.Set(unauthorized, item)
		f.Server.Set(s("server"), item)
		f.Credential.Set(s("noCredential") == "", item)
	}
	if len(list) == 0 {
		facts.Complete(&f)
	}
	return f, nil
}
