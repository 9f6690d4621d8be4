package hosted

import (
	"context"
	"net"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Cluster is the fact hosted-cluster: what the HostedCluster says. A field is ""
// where nothing is wrong with what it is about.
type Cluster struct {
	Platform       string    `cel:"platform"`
	Created        time.Time `cel:"created"`
	Endpoint       string    `cel:"endpoint"` // status.ignitionEndpoint, host or host:port
	Release        string    `cel:"release"`
	ReleaseSince   time.Time `cel:"releaseSince"`
	Config         string    `cel:"config"`
	ConfigSince    time.Time `cel:"configSince"`
	Infra          string    `cel:"infra"`
	InfraSince     time.Time `cel:"infraSince"`
	Etcd           string    `cel:"etcd"`
	EtcdSince      time.Time `cel:"etcdSince"`
	API            string    `cel:"api"`
	APISince       time.Time `cel:"apiSince"`
	Ignition       string    `cel:"ignition"`
	IgnitionSince  time.Time `cel:"ignitionSince"`
	Paused         string    `cel:"paused"`
	PausedSince    time.Time `cel:"pausedSince"`
	Reconcile      string    `cel:"reconcile"`
	ReconcileSince time.Time `cel:"reconcileSince"`
	Data           string    `cel:"data"` // the control plane does not reach the data plane
	DataSince      time.Time `cel:"dataSince"`
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
	return facts.DefinePlain("hosted-cluster", fault.Cluster, "what the HostedCluster says of itself",
		[]evidence.Need{evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace)}, readCluster)
}

func readCluster(ctx context.Context, w *facts.World, _ fault.Subject) (Cluster, facts.Proof, error) {
	var f Cluster
	var p facts.Proof
	o, err := hostedCluster(ctx, w)
	if err != nil {
		return f, p, err
	}
	f.Platform, f.Created = evidence.String(o.Content, "spec", "platform", "type"), o.Created()
	f.Endpoint = evidence.String(o.Content, "status", "ignitionEndpoint")
	p.Add(o.Loc.At("status.ignitionEndpoint"), "ignitionEndpoint: "+f.Endpoint, time.Time{}, "endpoint")
	for _, part := range []struct {
		text  *string
		since *time.Time
		field string
		types []string
	}{
		{&f.Release, &f.ReleaseSince, "release", releaseTypes},
		{&f.Config, &f.ConfigSince, "config", configTypes},
		{&f.Infra, &f.InfraSince, "infra", []string{"InfrastructureReady"}},
		{&f.Etcd, &f.EtcdSince, "etcd", []string{"EtcdAvailable", "UnmanagedEtcdAvailable"}},
		{&f.API, &f.APISince, "api", []string{"KubeAPIServerAvailable"}},
		{&f.Ignition, &f.IgnitionSince, "ignition", []string{"IgnitionEndpointAvailable"}},
		{&f.Paused, &f.PausedSince, "paused", []string{"ReconciliationActive"}},
		{&f.Reconcile, &f.ReconcileSince, "reconcile", reconcileTypes},
		{&f.Data, &f.DataSince, "data", []string{"DataPlaneConnectionAvailable"}},
	} {
		t := wrong(o, "False", &p, []string{part.field, part.field + "Since"}, part.types...)
		*part.text, *part.since = t.text, t.since
	}
	if c := conditions.Find(conditions.Of(o), "DataPlaneConnectionAvailable"); c.Reason == "NoWorkerNodesAvailable" {
		f.Data = "" // before the first worker there is nothing to be connected with
	}
	return f, p, nil
}

// hostOf is the host in "host" or "host:port".
func hostOf(endpoint string) string {
	if host, _, err := net.SplitHostPort(endpoint); err == nil {
		return host
	}
	return endpoint
}

// API is the fact hosted-api: whether the hosted cluster's API answers.
type API struct {
	Answered     bool   `cel:"answered"`
	Unauthorized bool   `cel:"unauthorized"`
	Credential   bool   `cel:"credential"` // there is one to ask with
	Why          string `cel:"why"`        // why there is none, or why there was no answer
	Server       string `cel:"server"`
}

func apiFact() facts.Fact {
	return facts.DefinePlain("hosted-api", fault.Cluster, "whether the hosted cluster's API answers, and with which credential it was asked",
		[]evidence.Need{evidence.Objects(evidence.HostedProbes, evidence.HostedNamespace)}, readAPI)
}

func readAPI(ctx context.Context, w *facts.World, _ fault.Subject) (API, facts.Proof, error) {
	var f API
	var p facts.Proof
	if _, err := looked(ctx, w); err != nil {
		return f, p, err
	}
	list, err := w.List(ctx, evidence.HostedProbes, evidence.HostedNamespace)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
		return f, p, facts.NotApplicable("%s", u.Detail)
	}
	if err != nil {
		return f, p, err
	}
	for _, o := range list {
		s := func(k string) string { return evidence.String(o.Content, "status", k) }
		f.Answered, _ = evidence.Field(o.Content, "status", "answered").(bool)
		f.Unauthorized, _ = evidence.Field(o.Content, "status", "unauthorized").(bool)
		f.Server, f.Credential, f.Why = s("server"), s("noCredential") == "", s("noCredential")+s("detail")
		text := "it answers"
		if !f.Answered {
			text = f.Why
		}
		p.Items = append(p.Items, evidence.Item{Locator: o.Loc, Excerpt: text, From: s("from"), Time: evidence.Time(o.Content, "status", "at")})
	}
	return f, p, nil
}
