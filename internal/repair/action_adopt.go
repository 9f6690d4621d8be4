package repair

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kube"
)

const (
	statusName   = "/status/configuration/name"
	statusSource = "/status/configuration/source"
	specName     = "/spec/configuration/name"
	specSource   = "/spec/configuration/source"
)

// adoptSpecConfig fills status.configuration from spec.configuration. The
// machine config server serves what status names while no machine is updated
// (openshift/machine-config-operator:pkg/server/cluster_server.go GetConfig);
// the controller keeps what it finds there until the pool has converged
// (pkg/controller/node/status.go calculateStatus). The source goes with the
// name: without it the operator calls the pool's status invalid
// (pkg/operator/status.go isMachineConfigPoolConfigurationValid).
func adoptSpecConfig() action {
	return action{
		check: func(s Step) error { return need(map[string]string{"pool": s.Args.Pool, "config": s.Args.Config}) },
		prepare: func(ctx context.Context, r *run, s Step) (*act, string, error) {
			pool, err := r.read(ctx, poolRef(s.Args.Pool))
			if err != nil {
				return nil, "", err
			}
			name, source := stringAt(pool, "spec", "configuration", "name"), []any(nil)
			if v, ok := fieldAt(pool, specSource); ok {
				source, _ = v.([]any)
			}
			if name != s.Args.Config {
				return nil, "", refuse("the pool's spec names %s, the plan %s", orNone(name), s.Args.Config).instead("make a new plan")
			}
			if len(source) == 0 {
				return nil, "", refuse("the pool's spec.configuration.source is empty: it was never rendered properly")
			}
			set := map[string]any{statusName: name, statusSource: source}
			w, err := r.patchAct(poolRef(s.Args.Pool), "status", pool, set, "status.configuration as it was (kept pre-image)")
			if err == nil && w.Before == w.After {
				return nil, "status.configuration is that of the spec already", nil
			}
			return w, "", err
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			pool, err := r.API.Get(ctx, poolRef(s.Args.Pool))
			if err != nil {
				return false, fmt.Sprintf("the pool could not be read: %v", err), nil
			}
			have := stringAt(pool, "status", "configuration", "name")
			return have == s.Args.Config, "status.configuration.name is " + orNone(have), nil
		},
		dependants: adoptDependants,
		rollback:   true,
	}
}

// adoptDependants: once a host was given the config, or a machine is updated,
// the old (empty) status is not a state to go back to.
func adoptDependants(ctx context.Context, r *run, s Step, _ Write) (string, error) {
	pool, err := r.API.Get(ctx, poolRef(s.Args.Pool))
	if err != nil {
		return "", fmt.Errorf("read pool %s: %w", s.Args.Pool, err)
	}
	if n := intAt(pool, "status", "updatedMachineCount"); n > 0 {
		return fmt.Sprintf("%d machines of the pool run %s; the controller itself keeps the status now", n, s.Args.Config), nil
	}
	nodes, err := r.API.List(ctx, nodeRef(""))
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	for _, n := range nodes {
		for _, key := range []string{currentConfigKey, desiredConfigKey} {
			if stringAt(n, "metadata", "annotations", key) == s.Args.Config {
				return fmt.Sprintf("node %s was given %s", stringAt(n, "metadata", "name"), s.Args.Config), nil
			}
		}
	}
	requests, err := r.API.List(ctx, csrRef(""))
	if err != nil {
		return "", fmt.Errorf("list requests: %w", err)
	}
	since := r.actTime(ctx, s.ID)
	if why := r.fetched(ctx, s.Args.Pool, since); why != "" {
		return why, nil
	}
	for _, o := range requests {
		q, err := csr.Parse(o)
		if err != nil {
			return "", err
		}
		if q.Kind == csrs.Client && q.Requester == csrs.Bootstrapper && !q.Created.Before(since) {
			return fmt.Sprintf("%s has fetched the config: it asked for its certificate (%s) afterwards", orNone(q.NodeName), q.Name), nil
		}
	}
	return "", nil
}

// servedSkew is how far the clocks of a master and of the API server may be apart.
const servedSkew = 10 * time.Second

// fetched says that a host was given the pool's config since a time, by the logs
// of the machine config servers: it boots with it, long before it asks for a
// certificate. Logs that cannot be read do not say that no one did.
func (r *run) fetched(ctx context.Context, pool string, since time.Time) string {
	if r.Served == nil {
		return ""
	}
	type served struct {
		at   time.Time
		what string
	}
	last, err := prompt(ctx, func(ctx context.Context) (served, error) {
		at, what, err := r.Served.LastServed(ctx, pool)
		return served{at, what}, err
	})
	switch {
	case err != nil:
		return fmt.Sprintf("it is unknown whether a host has fetched the config: %v", err)
	case !last.at.IsZero() && last.at.After(since.Add(-servedSkew)):
		return "a host has fetched the config: " + last.what
	}
	return ""
}

// actTime is when a step's write was made, by the API server's clock where
// managedFields tell it, else by ours.
func (r *run) actTime(ctx context.Context, step string) time.Time {
	st := r.journal.step(step)
	if st.result == nil {
		return time.Time{}
	}
	at := st.result.Time
	content, err := r.API.Get(ctx, st.result.Write.Target)
	if err != nil {
		return at
	}
	entries, _ := fieldAt(content, "/metadata/managedFields")
	list, _ := entries.([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		if t, err := time.Parse(time.RFC3339, stringAt(m, "time")); err == nil && m["manager"] == kube.FieldManager {
			return t
		}
	}
	return at.Truncate(time.Second) // the API's times have whole seconds
}
