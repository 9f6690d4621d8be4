// Package hosted reads a hosted cluster and its management cluster as one
// evidence.Source: what the join of a worker depends on lies in both.
//
// Invariants:
//   - The cluster that is looked at is the hosted one. What lies in the management
//     cluster is asked for with evidence.Management and marked with it: objects,
//     lines, locators, errors.
//   - A hosted cluster that cannot be read is no error: every read of it is then an
//     *evidence.Unavailable that says why, and the answer of its API is evidence
//     itself (evidence.HostedProbes).
//   - The credential for the hosted API is never handed out, recorded or named.
package hosted

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Source reads both clusters. It is safe for concurrent use if its parts are.
type Source struct {
	Ref        evidence.Hosted
	Management evidence.Source
	Cluster    evidence.Source       // the hosted cluster; nil where there is no network path to it
	Why        *evidence.Unavailable // why Cluster is nil
	Reach      func(context.Context) (Answer, error)
	Skip       []string // needs of Management's notes that this source answers
}

// Answer is what became of the network path to the hosted API.
type Answer struct {
	Asked        bool      // somebody asked: false in archives, which hold what they hold
	Answered     bool      // a usable answer of a Kubernetes API
	Unauthorized bool      // it does not accept the credential
	Credential   string    // where the credential came from
	NoCredential string    // why there is none, "" where there is one
	Server       string    // the API's URL
	Detail       string    // what happened, without secrets
	At           time.Time // when
	From         string    // the machine that asked
}

var _ evidence.Source = (*Source)(nil)

// Describe implements evidence.Source. The name is that of the management cluster or
// archive, the API that of the hosted cluster.
func (s *Source) Describe(ctx context.Context) (evidence.Description, error) {
	d, err := s.Management.Describe(ctx)
	if err != nil {
		return d, err
	}
	d.Notes = slices.DeleteFunc(slices.Clone(d.Notes), func(c evidence.Coverage) bool { return slices.Contains(s.Skip, c.Need) })
	ref := s.Ref
	d.Hosted = &ref
	if s.Cluster == nil {
		d.API = ""
		return d, nil
	}
	own, err := s.Cluster.Describe(ctx)
	if err != nil {
		return d, err
	}
	if own.Now.After(d.Now) {
		d.Now = own.Now
	}
	d.API = own.API
	d.Notes = append(d.Notes, own.Notes...)
	return d, nil
}

// List implements evidence.Source.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	switch {
	case r == evidence.HostedProbes:
		return s.probe(ctx, need)
	case r.Cluster != evidence.Management:
		if s.Cluster == nil {
			return nil, s.noWay(need)
		}
		return s.Cluster.List(ctx, r, namespace)
	}
	in, ok := Namespace(s.Ref, namespace)
	if !ok && namespace != "" {
		return nil, nil // this platform has no such objects
	}
	list, err := s.Management.List(ctx, r.In(""), in)
	for i := range list {
		list[i].Resource, list[i].Loc.Cluster = r, evidence.Management
	}
	return list, s.named(err, need)
}

// Texts implements evidence.Source. What was seen on screens is of the hosts of the
// hosted cluster, wherever it lies.
func (s *Source) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	need := evidence.Texts(q)
	if q.Cluster != evidence.Management {
		var texts []evidence.Text
		err := error(s.noWay(need))
		if s.Cluster != nil {
			texts, err = s.Cluster.Texts(ctx, q)
		}
		if q.Kind != evidence.Console {
			return texts, err
		}
		return s.consoles(ctx, q, texts, err)
	}
	in, ok := Namespace(s.Ref, q.Namespace)
	if !ok && q.Namespace != "" {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "this platform has no such namespace"}
	}
	plain := q
	plain.Cluster, plain.Namespace = "", in
	texts, err := s.Management.Texts(ctx, plain)
	for i := range texts {
		texts[i].Cluster = evidence.Management
	}
	return texts, s.named(err, need)
}

func (s *Source) consoles(ctx context.Context, q evidence.TextQuery, own []evidence.Text, err error) ([]evidence.Text, error) {
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		return nil, err
	}
	more, other := s.Management.Texts(ctx, q)
	if all := append(own, more...); len(all) > 0 {
		if u, ok := evidence.AsUnavailable(err); ok && u.Why.MayHideObjects() && s.Cluster != nil {
			return all, err
		}
		if u, ok := evidence.AsUnavailable(other); ok && u.Why.MayHideObjects() {
			return all, other
		}
		return all, nil
	}
	if err == nil {
		err = other
	}
	return nil, err
}

// named makes the failure of a read one of the need as it was asked for.
func (s *Source) named(err error, need evidence.Need) error {
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return err
	}
	copied := *u
	copied.Need = need
	return &copied
}

// noWay says why the hosted cluster cannot be read.
func (s *Source) noWay(need evidence.Need) *evidence.Unavailable {
	u := evidence.Unavailable{Why: evidence.NotCollected, Detail: "the hosted cluster itself was not read"}
	if s.Why != nil {
		u = *s.Why
	}
	u.Need = need
	return &u
}

// probe is the answer of the hosted API as evidence, so that it is recorded and
// replayed like any other.
func (s *Source) probe(ctx context.Context, need evidence.Need) ([]evidence.Object, error) {
	if s.Reach == nil {
		if list, err := s.Management.List(ctx, need.Resource.In(""), s.Ref.Namespace); err == nil && len(list) > 0 {
			for i := range list {
				list[i].Resource, list[i].Loc.Cluster = need.Resource, evidence.Management
			}
			return list, nil
		}
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotAsked, Detail: "an archive was read, and the hosted API was not queried",
			Supply: evidence.Supply{Kind: evidence.SupplyManagement, Namespace: s.Ref.Namespace, Name: s.Ref.Name}}
	}
	a, err := s.Reach(ctx)
	if err != nil {
		return nil, err
	}
	return []evidence.Object{{
		Resource: need.Resource, Namespace: s.Ref.Namespace, Name: s.Ref.Name, ReadAt: a.At,
		Loc: evidence.Locator{Source: "live", Path: "hosted API " + a.Server},
		Content: map[string]any{
			"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "HostedAnswer",
			"metadata": map[string]any{"namespace": s.Ref.Namespace, "name": s.Ref.Name},
			"status": map[string]any{
				"answered": a.Answered, "unauthorized": a.Unauthorized, "credentialFrom": a.Credential, "noCredential": a.NoCredential,
				"server": a.Server, "detail": a.Detail, "at": a.At.UTC().Format(time.RFC3339), "from": a.From,
			},
		},
	}}, nil
}

// Namespace returns the namespace of a hosted cluster that a need's namespace stands for; "" and false where
// the hosted cluster has no such namespace.
func Namespace(h evidence.Hosted, namespace string) (string, bool) {
	switch namespace {
	case evidence.HostedNamespace:
		namespace = h.Namespace
	case evidence.ControlPlaneNamespace:
		namespace = h.ControlPlane
	case evidence.AgentsNamespace:
		namespace = h.Agents
	}
	return namespace, namespace != ""
}
