package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Right is whether the API allows one access that a need asks for.
type Right struct {
	Need    evidence.Need
	Access  Access
	Allowed bool
	Err     error // the API could not say; Allowed means nothing then
}

// AccessesOf returns the accesses that reading a need takes. Journals and contents
// of Secrets are listed, although they are read only when asked for.
func AccessesOf(n evidence.Need) []Access {
	list := func(r evidence.Resource, namespace string) Access {
		return Access{Verb: "list", Resource: r, Namespace: namespace}
	}
	switch {
	case n.Resource == evidence.MCSProbes:
		return []Access{list(evidence.Nodes, ""), list(evidence.MachineConfigPools, ""), list(evidence.Infrastructures, "")}
	case n.Resource.Group == evidence.ProbeGroup && n.Resource.Name != "":
		return nil
	case n.Resource.Name != "":
		return []Access{list(n.Resource, n.Namespace)}
	case n.Text.Kind == evidence.ContainerLog:
		return []Access{
			list(evidence.Pods, n.Text.Namespace),
			{Verb: "get", Resource: evidence.Pods, Subresource: "log", Namespace: n.Text.Namespace},
		}
	case n.Text.Kind == evidence.Journal:
		return []Access{list(evidence.Nodes, ""), {Verb: "get", Resource: evidence.Nodes, Subresource: "proxy"}}
	}
	return nil
}

// Rights asks the API which accesses of the needs it allows, each distinct one
// once, in the order of the needs. It fails only when the caller cancels: an API
// that cannot say is in Right.Err.
func (s *Source) Rights(ctx context.Context, needs []evidence.Need) ([]Right, error) {
	var rights []Right
	for _, n := range needs {
		for _, a := range AccessesOf(n) {
			rights = append(rights, Right{Need: n, Access: a})
		}
	}
	var group crash.Group
	group.SetLimit(8)
	for i := range rights {
		group.Go(func() error {
			rights[i].Allowed, rights[i].Err = s.allowed(ctx, rights[i].Access)
			return nil
		})
	}
	_ = group.Wait() // every failure is in its Right
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, fmt.Errorf("ask for rights: %w", ctx.Err())
	}
	return rights, nil
}

// Allowed asks the API once whether an access is allowed to who asks.
func (s *Source) Allowed(ctx context.Context, a Access) (bool, error) { return s.allowed(ctx, a) }

// allowed asks the API once whether an access is allowed to who asks.
func (s *Source) allowed(ctx context.Context, a Access) (bool, error) {
	return memo(&s.memoMu, s.rights, a).get(ctx, func(ctx context.Context) (bool, error) { return s.review(ctx, a) })
}

// reviewStatus is what is read of a SelfSubjectAccessReview's answer.
type reviewStatus struct {
	Kind   string `json:"kind"`
	Status *struct {
		Allowed         bool   `json:"allowed"`
		EvaluationError string `json:"evaluationError"`
	} `json:"status"`
}

// review sends one SelfSubjectAccessReview. The API server answers it and stores
// nothing; every authenticated user may ask it.
func (s *Source) review(caller context.Context, a Access) (bool, error) {
	right := Access{Verb: "create", Resource: evidence.Resource{Group: openshift.AuthorizationGroup, Name: "selfsubjectaccessreviews"}}
	what := map[string]string{
		"verb": a.Verb, "group": a.Resource.Group, "resource": a.Resource.Name, "subresource": a.Subresource, "namespace": a.Namespace,
	}
	if a.Name != "" {
		what["name"] = a.Name
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": what},
	})
	if err != nil {
		return false, fmt.Errorf("encode the question whether one may %s: %w", a, err)
	}
	var answer []byte
	for try := (attempts{s: s}); ; {
		ctx, cancel := s.withTimeout(caller, s.opts.RequestTimeout)
		answer, _, err = s.api.Do(ctx, kube.Request{
			Path: []string{"apis", openshift.AuthorizationGroup, "v1", "selfsubjectaccessreviews"}, Accept: mediaJSON, Body: body,
		})
		pause, again := try.next(ctx, err)
		err = try.failed(s.unavailable(caller, ctx, evidence.Need{Resource: right.Resource}, right, err))
		cancel()
		if again && s.pause(caller, pause) {
			continue
		}
		if err != nil {
			return false, err
		}
		break
	}
	var got reviewStatus
	if err := json.Unmarshal(answer, &got); err != nil || got.Kind != "SelfSubjectAccessReview" || got.Status == nil {
		return false, s.unavailable(caller, caller, evidence.Need{Resource: right.Resource}, right,
			garbage("%s", wire.Clip(string(answer[:min(len(answer), 2000)]))))
	}
	return got.Status.Allowed, nil
}
