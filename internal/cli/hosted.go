package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// hostedRights asks both APIs for what --hosted takes: the management cluster with the
// user's credential, the hosted cluster with its own.
func (a *app) hostedRights(ctx context.Context, management *live.Source, own, there []evidence.Need) ([]right, error) {
	ref, object, err := a.session().WhichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	var needs []evidence.Need
	for _, n := range there {
		namespace := cmp.Or(n.Namespace, n.Text.Namespace)
		in, ok := hosted.Namespace(ref, namespace)
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
	if a.source.HostedKubeconfig == "" && object != nil {
		if name := evidence.String(object.Content, "status", "kubeconfig", "name"); name != "" {
			more = append(more, live.Access{Verb: "get", Resource: evidence.Secrets, Namespace: ref.Namespace, Name: name})
		}
	}
	if a.workers {
		more = append(more, accesses(workers.ManagementRights(ref.Namespace, ref.ControlPlane))...)
	}
	list := rightsOf(evidence.Management, append(answers, ask(ctx, management, more)...))
	config, why := a.session().HostedConfig(ctx, management, object, ref, &hosted.Answer{})
	if why != "" {
		why = "there is no credential for the hosted cluster: " + why + "; give one with --hosted-kubeconfig FILE"
		return append(list, right{Verb: "read", Resource: ref.String(), Error: why}), nil
	}
	s, err := a.session().ConnectHosted(config)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	answers, err = s.Rights(ctx, own)
	if err != nil {
		return nil, err
	}
	if a.workers {
		answers = append(answers, ask(ctx, s, accesses(slices.Concat(workers.JoinRights, workers.DrainRights)))...)
	}
	return append(list, rightsOf("", answers)...), nil
}

// accesses are rights as they are asked for.
func accesses(list []workers.Right) []live.Access {
	var all []live.Access
	for _, r := range list {
		resource := evidence.Resource{Group: r.Group, Name: r.Resource}
		all = append(all, live.Access{Verb: r.Verb, Resource: resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name})
	}
	return all
}
