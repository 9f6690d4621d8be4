package cli

import (
	"cmp"
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

// checkHosted refuses what cannot be meant before anything is read.
func (a *app) checkHosted() error {
	if a.source.hosted != "" && a.source.hosted != hosted.None {
		if _, _, err := hosted.Parse(a.source.hosted); err != nil {
			return usagef("--hosted: %v", err)
		}
	}
	switch {
	case a.source.hostedKubeconfig == "":
	case len(a.source.from) > 0:
		return usagef("--hosted-kubeconfig is for a live cluster: with --from nothing is asked of one")
	case a.source.hosted == "" || a.source.hosted == hosted.None:
		return usagef("--hosted-kubeconfig needs --hosted NAMESPACE/NAME")
	}
	return nil
}

// openHosted reads the cluster of --hosted together with its management cluster,
// which is that of the kubeconfig.
func (a *app) openHosted(ctx context.Context, r *run, management *live.Source) (evidence.Source, error) {
	ref, object, err := a.whichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	s := &hosted.Source{Ref: ref, Management: management}
	answer := hosted.Answer{Asked: true}
	config, why := a.hostedConfig(ctx, management, object, ref, &answer)
	if why != "" {
		answer.NoCredential = why
		s.Why = &evidence.Unavailable{Why: evidence.NotAsked, Detail: "there is no credential for the hosted cluster: " + why,
			Supply: evidence.Supply{Kind: evidence.SupplyHostedKubeconfig}}
		s.Reach = func(context.Context) (hosted.Answer, error) {
			answer.At = a.io.Clock()
			return answer, ctx.Err()
		}
		return s, nil
	}
	cluster, err := a.connectHosted(config)
	if err != nil {
		return nil, err
	}
	r.closers = append(r.closers, func() error { cluster.Close(); return nil })
	s.Cluster = cluster
	s.Reach = func(ctx context.Context) (hosted.Answer, error) { return reachHosted(ctx, cluster, answer) }
	return s, nil
}

// errProbeFromHosted is why the two flags exclude each other.
var errProbeFromHosted = usagef("--probe-from is not for --hosted: the network path to the API of a hosted cluster is not checked")

// whichHosted is the hosted cluster of --hosted, and its HostedCluster where that can
// be read.
func (a *app) whichHosted(ctx context.Context, management *live.Source) (evidence.Hosted, *evidence.Object, error) {
	namespace, name, err := hosted.Parse(a.source.hosted)
	if err != nil {
		return evidence.Hosted{}, nil, err
	}
	ref := evidence.Hosted{Namespace: namespace, Name: name, ControlPlane: hosted.ControlPlaneOf(namespace, name)}
	object, err := findHosted(ctx, management, &ref, a.source.hosted)
	return ref, object, err
}

func (a *app) connectHosted(config *rest.Config) (*live.Source, error) {
	s, err := live.New(config, live.Options{
		Name: a.source.hosted, Whole: a.source.whole, SecretNamespaces: a.source.readSecrets, Journals: a.source.journals, Now: a.io.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to the hosted cluster %s: %w", a.source.hosted, err)
	}
	return s, nil
}

// hostedRights asks both APIs for what --hosted takes: the management cluster with the
// user's credential, the hosted cluster with its own.
func (a *app) hostedRights(ctx context.Context, management *live.Source, own, there []evidence.Need) ([]right, error) {
	ref, object, err := a.whichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	var needs []evidence.Need
	for _, n := range there {
		namespace := cmp.Or(n.Namespace, n.Text.Namespace)
		in, ok := ref.Real(namespace)
		if !ok && namespace != "" {
			continue // this platform has no such objects
		}
		if n.Resource.Name != "" {
			needs = append(needs, evidence.Objects(n.Resource.In(""), in))
			continue
		}
		n.Text.Cluster, n.Text.Namespace = "", in
		needs = append(needs, evidence.Texts(n.Text))
	}
	answers, err := management.Rights(ctx, needs)
	if err != nil {
		return nil, err
	}
	more := []live.Access{{Verb: "list", Resource: evidence.HostedClusters.In("")}}
	if a.source.hostedKubeconfig == "" && object != nil {
		if name := evidence.String(object.Content, "status", "kubeconfig", "name"); name != "" {
			more = append(more, live.Access{Verb: "get", Resource: evidence.Secrets, Namespace: ref.Namespace, Name: name})
		}
	}
	list := rightsOf(evidence.Management, append(answers, ask(ctx, management, more)...))
	config, why := a.hostedConfig(ctx, management, object, ref, &hosted.Answer{})
	if why != "" {
		why = "there is no credential for the hosted cluster: " + why + "; give one with --hosted-kubeconfig FILE"
		return append(list, right{Verb: "read", Resource: ref.String(), Error: why}), nil
	}
	s, err := a.connectHosted(config)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	answers, err = s.Rights(ctx, own)
	if err != nil {
		return nil, err
	}
	return append(list, rightsOf("", answers)...), nil
}

// findHosted finds the HostedCluster. That there is none of the name is a mistake of
// whoever typed it; a missing permission is not: the names are then taken as they are.
func findHosted(ctx context.Context, management *live.Source, ref *evidence.Hosted, want string) (*evidence.Object, error) {
	refs, list, err := hosted.Find(ctx, management)
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case unavailable && u.Why == evidence.NotServed:
		return nil, usagef("--hosted %s: the cluster of the kubeconfig is not a management cluster: it has no HostedClusters; name the management cluster's with --kubeconfig or --context", want)
	case unavailable:
		return nil, nil
	case err != nil:
		return nil, err
	}
	got, err := hosted.Pick(refs, want)
	if err != nil {
		return nil, usagef("%v", err)
	}
	*ref = got
	i := slices.Index(refs, got)
	return &list[i], nil
}

// hostedConfig returns how the hosted API is reached, or why it cannot be. The only
// Secret that is read for it is the one that HostedCluster.status.kubeconfig names, in
// the HostedCluster's own namespace
// (openshift/hypershift:api/hypershift/v1beta1/hostedcluster_types.go KubeConfig).
func (a *app) hostedConfig(ctx context.Context, management *live.Source, object *evidence.Object, ref evidence.Hosted, answer *hosted.Answer) (*rest.Config, string) {
	if path := a.source.hostedKubeconfig; path != "" {
		answer.Credential = "--hosted-kubeconfig"
		config, err := kubeconfig.Load(path)
		if err != nil {
			return nil, fmt.Sprintf("--hosted-kubeconfig %s: %v", path, err)
		}
		answer.Server = config.Host
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
	answer.Server = config.Host
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
