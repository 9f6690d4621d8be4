package repair

import (
	"context"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// AlignAnnotations writes the in-cluster render into the annotations of one node.
const AlignAnnotations ActionName = "align-annotations"

// alignRemedy is its remedy, of the same name.
const alignRemedy = string(AlignAnnotations)

// alignAnnotations writes the in-cluster render into the annotations of one node. It is only for
// the case that nothing that a host applies differs: the daemon trusts the
// annotations, validates files, units and kernel arguments, and leaves what it does not
// validate as it is. state is not written.
func alignAnnotations() action {
	return action{
		name: AlignAnnotations,
		remedies: []remedy{{id: alignRemedy, needsPool: always, rollsOut: true, rights: slices.Concat(poolRights(),
			access(configRef(""), "", "get"), access(nodeRef(""), "", "patch"), heldConfigRights())}},
		check: func(s Step) error {
			return need(map[string]string{"host": s.Args.Host, "pool": s.Args.Pool, "config": s.Args.Config, "content": s.Args.Content})
		},
		remedyOf: func(Args) string { return alignRemedy },
		guards: func(a Args) []Guard {
			list := []Guard{{Guard: PoolNotPaused, Subject: a.Pool}, {Guard: RenderExists, Subject: a.Config},
				{Guard: NoFurtherDrift, Subject: a.Config}, {Guard: OthersAtRest, Subject: a.Host}}
			if controlPlanePool(a.Pool) {
				list = append(list, Guard{Guard: EtcdMembers, Count: leastMembers})
			}
			return list
		},
		reads:    func(a Args) []readRule { return []readRule{{object: nodeRef(a.Host), fields: nodeFields()}} },
		describe: describeAlign,
		prepare:  prepareAlign,
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			node, err := e.api.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return false, fmt.Sprintf("the node could not be read: %v", err), nil
			}
			state := stringAt(node, "metadata", "annotations", openshift.ConfigStateAnnotation)
			have := stringAt(node, "metadata", "annotations", openshift.CurrentConfigAnnotation)
			return state == "Done" && have == s.Args.Config, fmt.Sprintf("state is %s with %s", orNone(state), orNone(have)), nil
		},
		dependants: func(ctx context.Context, e env, s Step, _ Write) (string, error) {
			node, err := e.api.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return "", fmt.Errorf("read node %s: %w", s.Args.Host, err)
			}
			if state := stringAt(node, "metadata", "annotations", openshift.ConfigStateAnnotation); state != "Degraded" {
				return fmt.Sprintf("the daemon of %s has taken it (state %s)", s.Args.Host, orNone(state)), nil
			}
			return "", nil
		},
		rollback:      true,
		waitsForEtcd:  true,
		mayCostMember: func(a Args) bool { return controlPlanePool(a.Pool) },
	}
}

func describeAlign(s *Step) {
	host, config := s.Args.Host, s.Args.Config
	s.Subject, s.Risk, s.Proof = "host/"+host, fault.RiskReboot, Advice
	s.Title = fmt.Sprintf("name %s on node %s, whose held config applies the same; state is left to the daemon", config, host)
	s.RiskText = "the daemon validates the host; if the booted OS is another than the config's it reboots without drain"
	s.OC = fmt.Sprintf(`oc annotate node %s --overwrite machineconfiguration.openshift.io/currentConfig=%s machineconfiguration.openshift.io/desiredConfig=%s`,
		host, config, config)
	s.PreImage, s.Inverse = "the two annotations", "write the two annotations back, until the daemon has taken them"
	s.Expect.Text = "the daemon of " + host + " reports Done"
}

func prepareAlign(ctx context.Context, e env, s Step) (*act, string, error) {
	// Guarded here as well as by the plan, so that no edited plan can mislead a daemon.
	if _, err := guardNoFurtherDrift(ctx, e, s, Guard{Subject: s.Args.Config}); err != nil {
		return nil, "", err
	}
	node, err := e.read(ctx, nodeRef(s.Args.Host))
	if err != nil {
		return nil, "", err
	}
	if err := e.heldByNode(s, node); err != nil {
		return nil, "", err
	}
	current, desired := pointer("metadata", "annotations", openshift.CurrentConfigAnnotation),
		pointer("metadata", "annotations", openshift.DesiredConfigAnnotation)
	w, err := e.patch(nodeRef(s.Args.Host), "", node, map[string]any{current: s.Args.Config, desired: s.Args.Config},
		"the two annotations as they were (kept pre-image)")
	if err == nil && w.Before == w.After {
		return nil, "the node names " + s.Args.Config + " already", nil
	}
	return w, "", err
}

// heldByNode refuses a node that runs something else than the config that was
// compared: another pool's, or another host's.
func (e env) heldByNode(s Step, node Object) error {
	raw, err := e.store.Get(s.Args.Content)
	if err != nil {
		return refuse("the held config that the plan compared cannot be read: %v", err).instead("make a new plan")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return refuse("the held config: %v", err)
	}
	runs := stringAt(node, "metadata", "annotations", openshift.CurrentConfigAnnotation)
	m := renderedName.FindStringSubmatch(held.name())
	if m == nil || m[1] != s.Args.Pool || runs != held.name() && runs != s.Args.Config {
		return refuse("node %s names %s, and the config that was compared is %.80q", s.Args.Host, orNone(runs), held.name()).instead("make a new plan")
	}
	return nil
}
