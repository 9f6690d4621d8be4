package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// RecreateRender creates the missing rendered MachineConfig again under its exact name.
const RecreateRender ActionName = "recreate-render"

const recreateRemedy = "recreate-missing-render"

// recreateRender creates the missing rendered MachineConfig again under its exact
// name. The API accepts it, the daemon finds the config that it booted with and
// continues, and the controller then rolls each machine to the pool's target with
// drain and reboot. What is restored is what the node runs.
func recreateRender() action {
	return action{
		name: RecreateRender,
		remedies: []remedy{{id: recreateRemedy, needsPool: always, rollsOut: true, rights: slices.Concat(poolRights(),
			access(configRef(""), "", "get", "create", "delete"), heldConfigRights())}},
		plan: planRenders,
		check: func(s Step) error {
			return need(map[string]string{"pool": s.Args.Pool, "config": s.Args.Config, "content": s.Args.Content})
		},
		remedyOf: func(Args) string { return recreateRemedy },
		guards: func(a Args) []Guard {
			list := []Guard{{Guard: PoolNotPaused, Subject: a.Pool}}
			if controlPlanePool(a.Pool) {
				list = append(list, Guard{Guard: OneAtATime, Subject: a.Pool}, Guard{Guard: EtcdMembers, Count: leastMembers}, Guard{Guard: OthersAtRest})
			}
			return list
		},
		reads: func(a Args) []readRule {
			return []readRule{{object: configRef(a.Config)}, {object: nodeRef(""), fields: nodeFields(), any: true}}
		},
		describe:      describeRecreate,
		prepare:       prepareRender,
		seen:          renderSeen,
		dependants:    renderDependants,
		waitsForEtcd:  true,
		mayCostMember: func(a Args) bool { return controlPlanePool(a.Pool) },
	}
}

// heldConfigRights are what reading the config that a host holds needs.
func heldConfigRights() []Access {
	return append(access(podRef(openshift.MachineConfigNamespace, ""), "", "list"), access(podRef(openshift.MachineConfigNamespace, ""), "exec", "create")...)
}

// nodeFields are the fields of a Node that a step is planned from.
func nodeFields() []string {
	return []string{
		pointer("metadata", "annotations", openshift.CurrentConfigAnnotation),
		pointer("metadata", "annotations", openshift.DesiredConfigAnnotation),
		pointer("metadata", "annotations", openshift.ConfigStateAnnotation),
	}
}

func describeRecreate(s *Step) {
	var stuck []string // the nodes that the step was planned for: it reads them
	for _, rd := range s.Reads {
		if rd.Object.Resource == "nodes" {
			stuck = append(stuck, rd.Object.Name)
		}
	}
	nodes, config := strings.Join(stuck, " and "), s.Args.Config
	source, _, _ := strings.Cut(s.Args.From, ":")
	s.Subject, s.Risk, s.Proof = "pool/"+s.Args.Pool, fault.RiskReboot, Simulated
	s.Title = fmt.Sprintf("re-create %s, which %s run and the cluster does not have, from what %s holds", config, nodes, source)
	s.RiskText = "the daemons continue, and the controller rolls each machine to the pool's target with drain and reboot, one at a time"
	s.OC = fmt.Sprintf("oc create -f FILE   # FILE is %s without resourceVersion, uid, creationTimestamp, managedFields and ownerReferences; it "+
		"holds the pull secret", s.Args.From)
	s.PreImage, s.Inverse = "the object does not exist", "delete it by its UID, until a daemon works with it"
	s.Expect.Text = "the daemons of " + nodes + " are no longer Degraded for want of it"
}

func prepareRender(ctx context.Context, e env, s Step) (*act, string, error) {
	held, err := e.held(ctx, s)
	if err != nil {
		return nil, "", err
	}
	ref := configRef(s.Args.Config)
	there, err := e.api.Get(ctx, ref)
	switch {
	case err == nil:
		return sameRender(held, there, s)
	case !apierrors.IsNotFound(err):
		return nil, "", refuse("it could not be read whether %s is there: %v", ref, err)
	}
	if err := e.wanted(ctx, s); err != nil {
		return nil, "", err
	}
	object := held.forCreate(e.plan.ID, s.Args.Content)
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
			return e.api.Create(ctx, ref, object, dryRun)
		},
	}, "", nil
}

// wanted refuses to restore a config that no node runs.
func (e env) wanted(ctx context.Context, s Step) error {
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return refuse("nodes could not be listed, so it is not known whether one runs %s: %v", s.Args.Config, err)
	}
	for _, n := range nodes {
		if stringAt(n, "metadata", "annotations", openshift.CurrentConfigAnnotation) == s.Args.Config {
			return nil
		}
	}
	return refuse("no node names %s: nothing waits for it", s.Args.Config).instead("make a new plan")
}

func sameRender(held *machineConfig, there Object, s Step) (*act, string, error) {
	other, err := configOf(there)
	if err != nil {
		return nil, "", refuse("MachineConfig %s exists, and cannot be compared with the held one: %v", s.Args.Config, err)
	}
	diff, err := held.diff(other)
	if err != nil {
		return nil, "", err
	}
	if len(diff) > 0 {
		return nil, "", refuse("MachineConfig %s exists and is not what the host holds: %v", s.Args.Config, diff)
	}
	return nil, "MachineConfig " + s.Args.Config + " is there, with what the host holds", nil
}

// held returns the content of a step from the store, validated again.
func (e env) held(ctx context.Context, s Step) (*machineConfig, error) {
	raw, err := e.store.Get(s.Args.Content)
	if err != nil {
		return nil, refuse("the held config cannot be read: %v", err).
			instead("it lies only on the machine where the plan was made; make a new plan here")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return nil, refuse("the held config: %v", err)
	}
	want, err := expected(ctx, e.api, s.Args.Pool, s.Args.Config)
	if err != nil {
		return nil, err
	}
	return held, held.validate(want)
}

// expected reads what a missing render of a pool must be like, from the pool's
// present render: both come from the same release. Where that is the missing one, the render of
// another pool is of the same release, too, or the held config is refused.
func expected(ctx context.Context, api Reader, pool, name string) (expectedRender, error) {
	want := expectedRender{Name: name, Pool: pool}
	p, err := api.Get(ctx, poolRef(pool))
	if err != nil {
		return want, refuse("pool %s could not be read: %v", pool, err)
	}
	present := stringAt(p, "spec", "configuration", "name")
	mc, err := api.Get(ctx, configRef(present))
	for _, other := range []string{"master", "worker"} {
		if !apierrors.IsNotFound(err) || other == pool {
			continue
		}
		if o, readErr := api.Get(ctx, poolRef(other)); readErr == nil {
			mc, err = api.Get(ctx, configRef(stringAt(o, "spec", "configuration", "name")))
		}
	}
	if err != nil {
		return want, refuse("the pool's present render %s could not be read: %v", orNone(present), err)
	}
	want.ControllerHash = stringAt(mc, "metadata", "annotations", openshift.GeneratedByControllerAnnotation)
	want.Release = stringAt(mc, "metadata", "annotations", openshift.ReleaseVersionAnnotation)
	return want, nil
}

func renderSeen(ctx context.Context, e env, s Step) (bool, string, error) {
	if _, err := e.api.Get(ctx, configRef(s.Args.Config)); err != nil {
		return false, fmt.Sprintf("MachineConfig %s: %v", s.Args.Config, err), nil
	}
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return false, fmt.Sprintf("nodes could not be listed: %v", err), nil
	}
	for _, n := range nodes {
		names := stringAt(n, "metadata", "annotations", openshift.CurrentConfigAnnotation) == s.Args.Config
		if names && stringAt(n, "metadata", "annotations", openshift.ConfigStateAnnotation) == "Degraded" {
			return false, fmt.Sprintf("the daemon of %s has not found it yet", stringAt(n, "metadata", "name")), nil
		}
	}
	return true, "", nil
}

func renderDependants(ctx context.Context, e env, s Step, _ Write) (string, error) {
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	named := false
	for _, n := range nodes {
		for _, key := range []string{openshift.CurrentConfigAnnotation, openshift.DesiredConfigAnnotation} {
			if stringAt(n, "metadata", "annotations", key) != s.Args.Config {
				continue
			}
			named = true
			if state := stringAt(n, "metadata", "annotations", openshift.ConfigStateAnnotation); state != "Degraded" {
				return fmt.Sprintf("the daemon of %s works with it (state %s)", stringAt(n, "metadata", "name"), orNone(state)), nil
			}
		}
	}
	if !named {
		return "the pool has moved on and no node refers to it; `oc adm prune renderedmachineconfigs` clears such renders when you like", nil
	}
	return "", nil
}
