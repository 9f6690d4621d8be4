package repair

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// recreateRender puts the missing rendered MachineConfig back under its exact
// name. The API accepts it, the daemon finds the config that it booted with and
// continues, and the controller then rolls each machine to the pool's target with
// drain and reboot. No lie is told: the node does run what is restored.
func recreateRender() action {
	return action{
		check: func(s Step) error {
			return need(map[string]string{"pool": s.Args.Pool, "config": s.Args.Config, "content": s.Args.Content})
		},
		prepare:    prepareRender,
		seen:       renderSeen,
		dependants: renderDependants,
	}
}

func prepareRender(ctx context.Context, r *run, s Step) (*act, string, error) {
	held, err := r.held(ctx, s)
	if err != nil {
		return nil, "", err
	}
	ref := configRef(s.Args.Config)
	there, err := r.API.Get(ctx, ref)
	switch {
	case err == nil:
		return sameRender(held, there, s)
	case !apierrors.IsNotFound(err):
		return nil, "", refuse("it could not be read whether %s is there: %v", ref, err)
	}
	if err := r.wanted(ctx, s); err != nil {
		return nil, "", err
	}
	object := held.ForCreate(r.plan.ID, s.Args.Content)
	fields := []string{pointer("metadata", "annotations", contentAnnotation), pointer("metadata", "annotations", planAnnotation)}
	before, err := digestFields(nil, nil)
	if err != nil {
		return nil, "", err
	}
	after, err := digestFields(object, fields)
	if err != nil {
		return nil, "", err
	}
	return &act{
		Write:    Write{Target: ref, Fields: fields, Before: before, After: after, Inverse: "delete it, if it is still the one that was created"},
		preImage: []byte("absent"),
		do: func(ctx context.Context, dryRun bool) (Object, error) {
			return r.API.Create(ctx, ref, object, dryRun)
		},
	}, "", nil
}

// wanted refuses to restore a config that no node runs.
func (r *run) wanted(ctx context.Context, s Step) error {
	nodes, err := r.API.List(ctx, nodeRef(""))
	if err != nil {
		return refuse("nodes could not be listed, so it is not known whether one runs %s: %v", s.Args.Config, err)
	}
	for _, n := range nodes {
		if stringAt(n, "metadata", "annotations", currentConfigKey) == s.Args.Config {
			return nil
		}
	}
	return refuse("no node names %s: nothing waits for it", s.Args.Config).instead("make a new plan")
}

func sameRender(held *Config, there Object, s Step) (*act, string, error) {
	other, err := configOf(there)
	if err != nil {
		return nil, "", refuse("MachineConfig %s exists, and cannot be compared with the held one: %v", s.Args.Config, err)
	}
	diff, err := held.Diff(other)
	if err != nil {
		return nil, "", err
	}
	if len(diff) > 0 {
		return nil, "", refuse("MachineConfig %s exists and is not what the host holds: %v", s.Args.Config, diff)
	}
	return nil, "MachineConfig " + s.Args.Config + " is there, with what the host holds", nil
}

// held returns the content of a step from the store, validated again.
func (r *run) held(ctx context.Context, s Step) (*Config, error) {
	raw, err := r.Store.Get(s.Args.Content)
	if err != nil {
		return nil, refuse("the held config cannot be read: %v", err).
			instead("it lies only on the machine where the plan was made; make a new plan here")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return nil, refuse("the held config: %v", err)
	}
	want, err := expected(ctx, r.API, s.Args.Pool, s.Args.Config)
	if err != nil {
		return nil, err
	}
	return held, held.Validate(want)
}

// expected reads what a missing render of a pool must be like, from the pool's
// present render: both come from the same release.
func expected(ctx context.Context, api Reader, pool, name string) (Expected, error) {
	want := Expected{Name: name, Pool: pool}
	p, err := api.Get(ctx, poolRef(pool))
	if err != nil {
		return want, refuse("pool %s could not be read: %v", pool, err)
	}
	present := stringAt(p, "spec", "configuration", "name")
	mc, err := api.Get(ctx, configRef(present))
	if err != nil {
		return want, refuse("the pool's present render %s could not be read: %v", orNone(present), err)
	}
	want.ControllerHash = stringAt(mc, "metadata", "annotations", generatedByKey)
	want.Release = stringAt(mc, "metadata", "annotations", releaseVersionKey)
	return want, nil
}

func renderSeen(ctx context.Context, r *run, s Step) (bool, string, error) {
	if _, err := r.API.Get(ctx, configRef(s.Args.Config)); err != nil {
		return false, fmt.Sprintf("MachineConfig %s: %v", s.Args.Config, err), nil
	}
	nodes, err := r.API.List(ctx, nodeRef(""))
	if err != nil {
		return false, fmt.Sprintf("nodes could not be listed: %v", err), nil
	}
	for _, n := range nodes {
		names := stringAt(n, "metadata", "annotations", currentConfigKey) == s.Args.Config
		if names && stringAt(n, "metadata", "annotations", stateKey) == "Degraded" {
			return false, fmt.Sprintf("the daemon of %s has not found it yet", stringAt(n, "metadata", "name")), nil
		}
	}
	return true, "", nil
}

func renderDependants(ctx context.Context, r *run, s Step, _ Write) (string, error) {
	nodes, err := r.API.List(ctx, nodeRef(""))
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	named := false
	for _, n := range nodes {
		for _, key := range []string{currentConfigKey, desiredConfigKey} {
			if stringAt(n, "metadata", "annotations", key) != s.Args.Config {
				continue
			}
			named = true
			if state := stringAt(n, "metadata", "annotations", stateKey); state != "Degraded" {
				return fmt.Sprintf("the daemon of %s works with it (state %s)", stringAt(n, "metadata", "name"), orNone(state)), nil
			}
		}
	}
	if !named {
		return "the pool has moved on and no node refers to it; `oc adm prune renderedmachineconfigs` clears such renders when you like", nil
	}
	return "", nil
}
