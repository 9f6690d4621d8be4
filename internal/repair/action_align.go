package repair

import (
	"context"
	"fmt"
)

// alignAnnotations names the in-cluster render on one node. It is only for the
// case that nothing that a host applies differs: the daemon believes the
// annotations, validates files, units and kernel arguments, and leaves behind
// what it does not validate. state is not written.
func alignAnnotations() action {
	current, desired := pointer("metadata", "annotations", currentConfigKey), pointer("metadata", "annotations", desiredConfigKey)
	return action{
		check: func(s Step) error {
			return need(map[string]string{"host": s.Args.Host, "pool": s.Args.Pool, "config": s.Args.Config, "content": s.Args.Content})
		},
		prepare: func(ctx context.Context, r *run, s Step) (*act, string, error) {
			// Guarded here as well as by the plan, so that no edited plan can lie to a daemon.
			if _, err := guardNoFurtherDrift(ctx, r, s, Guard{Subject: s.Args.Config}); err != nil {
				return nil, "", err
			}
			node, err := r.read(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return nil, "", err
			}
			if err := r.heldByNode(s, node); err != nil {
				return nil, "", err
			}
			w, err := r.patchAct(nodeRef(s.Args.Host), "", node, map[string]any{current: s.Args.Config, desired: s.Args.Config},
				"the two annotations as they were (kept pre-image)")
			if err == nil && w.Before == w.After {
				return nil, "the node names " + s.Args.Config + " already", nil
			}
			return w, "", err
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			node, err := r.API.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return false, fmt.Sprintf("the node could not be read: %v", err), nil
			}
			state := stringAt(node, "metadata", "annotations", stateKey)
			have := stringAt(node, "metadata", "annotations", currentConfigKey)
			return state == "Done" && have == s.Args.Config, fmt.Sprintf("state is %s with %s", orNone(state), orNone(have)), nil
		},
		dependants: func(ctx context.Context, r *run, s Step, _ Write) (string, error) {
			node, err := r.API.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return "", fmt.Errorf("read node %s: %w", s.Args.Host, err)
			}
			if state := stringAt(node, "metadata", "annotations", stateKey); state != "Degraded" {
				return fmt.Sprintf("the daemon of %s has taken it (state %s)", s.Args.Host, orNone(state)), nil
			}
			return "", nil
		},
		rollback: true,
	}
}

// heldByNode refuses a node that runs something else than the config that was
// compared: another pool's, or another host's.
func (r *run) heldByNode(s Step, node Object) error {
	raw, err := r.Store.Get(s.Args.Content)
	if err != nil {
		return refuse("the held config that the plan compared cannot be read: %v", err).instead("make a new plan")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return refuse("the held config: %v", err)
	}
	runs := stringAt(node, "metadata", "annotations", currentConfigKey)
	m := renderedName.FindStringSubmatch(held.Name())
	if m == nil || m[1] != s.Args.Pool || runs != held.Name() && runs != s.Args.Config {
		return refuse("node %s names %s, and the config that was compared is %.80q", s.Args.Host, orNone(runs), held.Name()).instead("make a new plan")
	}
	return nil
}
