package session

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// CheckHosted refuses what cannot be meant before anything is read.
func (ses *Session) CheckHosted() error {
	if ses.Hosted != "" && ses.Hosted != hosted.None {
		if _, _, err := hosted.Parse(ses.Hosted); err != nil {
			return Usagef("--hosted: %v", err)
		}
	}
	switch {
	case ses.HostedKubeconfig == "":
	case len(ses.From) > 0:
		return Usagef("--hosted-kubeconfig is for a live cluster: with --from nothing is asked of one")
	case ses.Hosted == "" || ses.Hosted == hosted.None:
		return Usagef("--hosted-kubeconfig needs --hosted NAMESPACE/NAME")
	}
	return nil
}

// openHosted reads the cluster of --hosted together with its management cluster,
// which is that of the kubeconfig.
func (ses *Session) openHosted(ctx context.Context, r *Run, management *live.Source) (evidence.Source, error) {
	ref, object, err := ses.WhichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	s := &hosted.Source{Ref: ref, Management: management}
	answer := hosted.Answer{Asked: true}
	config, why := ses.HostedConfig(ctx, management, object, ref, &answer)
	if why != "" {
		answer.NoCredential = why
		s.Why = &evidence.Unavailable{Why: evidence.NotAsked, Detail: "there is no credential for the hosted cluster: " + why,
			Supply: evidence.Supply{Kind: evidence.SupplyHostedKubeconfig}}
		s.Reach = func(context.Context) (hosted.Answer, error) {
			answer.At = ses.Clock()
			return answer, ctx.Err()
		}
		return s, nil
	}
	cluster, err := ses.ConnectHosted(config)
	if err != nil {
		return nil, err
	}
	r.closers = append(r.closers, func() error { cluster.Close(); return nil })
	s.Cluster = cluster
	s.Reach = func(ctx context.Context) (hosted.Answer, error) { return reachHosted(ctx, cluster, answer) }
	return s, nil
}

// ErrProbeFromHosted is why the two flags exclude each other.
var ErrProbeFromHosted = Usagef("--probe-from is not for --hosted: the network path to the API of a hosted cluster is not checked")

// WhichHosted is the hosted cluster of --hosted, and its HostedCluster where that can
// be read.
func (ses *Session) WhichHosted(ctx context.Context, management *live.Source) (evidence.Hosted, *evidence.Object, error) {
	namespace, name, err := hosted.Parse(ses.Hosted)
	if err != nil {
		return evidence.Hosted{}, nil, err
	}
	ref := evidence.Hosted{Namespace: namespace, Name: name, ControlPlane: hosted.ControlPlaneOf(namespace, name)}
	object, err := findHosted(ctx, management, &ref, ses.Hosted)
	return ref, object, err
}

func (ses *Session) ConnectHosted(config *rest.Config) (*live.Source, error) {
	s, err := live.New(config, live.Options{
		Name: ses.Hosted, Whole: ses.Whole, SecretNamespaces: ses.ReadSecrets, Journals: ses.Journals, Now: ses.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the hosted cluster %s: %w", ses.Hosted, err)
	}
	return s, nil
}

// findHosted finds the HostedCluster. That there is none of the name is a mistake of
// whoever typed it; a missing permission is not: the names are then taken as they are.
func findHosted(ctx context.Context, management *live.Source, ref *evidence.Hosted, want string) (*evidence.Object, error) {
	refs, list, err := hosted.Find(ctx, management)
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case unavailable && u.Why == evidence.NotServed:
		return nil, Usagef("--hosted %s: the cluster of the kubeconfig is not a management cluster: it has no HostedClusters; name the management "+
			"cluster's with --kubeconfig or --context", want)
	case unavailable:
		return nil, nil
	case err != nil:
		return nil, err
	}
	got, err := hosted.Pick(refs, want)
	if err != nil {
		return nil, Usagef("%v", err)
	}
	*ref = got
	i := slices.Index(refs, got)
	return &list[i], nil
}

// HostedConfig returns how the hosted API is reached, or why it cannot be. The only
// Secret that is read for it is the one that HostedCluster.status.kubeconfig names, in
// the HostedCluster's own namespace
// (openshift/hypershift:api/hypershift/v1beta1/hostedcluster_types.go KubeConfig).
func (ses *Session) HostedConfig(ctx context.Context, management *live.Source, object *evidence.Object, ref evidence.Hosted,
	answer *hosted.Answer) (*rest.Config, string) {
	if path := ses.HostedKubeconfig; path != "" {
		answer.Credential = "--hosted-kubeconfig"
		config, err := kubeconfig.Load(path)
		if err != nil {
			return nil, fmt.Sprintf("--hosted-kubeconfig %s: %v", path, err)
		}
		answer.Server = live.ShownHost(config.Host)
		config.Timeout = ses.Kube.RequestTimeout()
		return config, ""
	}
	if object == nil {
		return nil, "the HostedCluster could not be read, so it is not known which Secret holds its kubeconfig"
	}
	name := evidence.String(object.Content, "status", "kubeconfig", "name")
	if name == "" {
		return nil, "HostedCluster.status.kubeconfig names no Secret yet"
	}
	answer.Credential = "Secret " + ref.Namespace + "/" + name
	raw, err := management.Credential(ctx, ref.Namespace, name, "kubeconfig")
	if err != nil {
		return nil, err.Error()
	}
	config, err := kube.ForeignConfig(raw)
	if err != nil {
		return nil, answer.Credential + ": " + err.Error()
	}
	answer.Server = live.ShownHost(config.Host)
	config.Timeout = ses.Kube.RequestTimeout()
	return config, ""
}

// reachHosted asks the hosted API what every list of it asks first.
func reachHosted(ctx context.Context, cluster *live.Source, answer hosted.Answer) (hosted.Answer, error) {
	got, err := cluster.Reach(ctx)
	if err != nil {
		return answer, err
	}
	d, err := cluster.Describe(ctx)
	if err != nil {
		return answer, err
	}
	answer.Answered, answer.Unauthorized, answer.Detail = got.OK, got.Unauthorized, got.Detail
	answer.At, answer.From, answer.Server = d.Now, d.Vantage, d.API
	return answer, nil
}

// RequestsConfig leads to the cluster in which requests are filed: that of the kubeconfig,
// or the hosted one of --hosted.
func (ses *Session) RequestsConfig(ctx context.Context) (*rest.Config, error) {
	if err := ses.CheckHosted(); err != nil {
		return nil, err
	}
	if ses.Hosted == "" || ses.Hosted == hosted.None {
		return ses.RESTConfig()
	}
	management, err := ses.OpenLive()
	if err != nil {
		return nil, err
	}
	defer management.Close()
	ref, object, err := ses.WhichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	config, why := ses.HostedConfig(ctx, management, object, ref, &hosted.Answer{Asked: true})
	if why != "" {
		return nil, fmt.Errorf("open the hosted cluster %s: there is no credential: %s; name one with --hosted-kubeconfig FILE", ses.Hosted, why)
	}
	return config, nil
}
