package repair

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const (
	statusName   = "/status/configuration/name"
	statusSource = "/status/configuration/source"
	specName     = "/spec/configuration/name"
	specSource   = "/spec/configuration/source"
)

// AdoptSpecConfig fills the status of a pool from its spec.
const AdoptSpecConfig ActionName = "adopt-spec-config"

// adoptRemedy is its remedy, of the same name.
const adoptRemedy = string(AdoptSpecConfig)

// adoptSpecConfig fills status.configuration from spec.configuration. The
// machine config server serves what status refers to while no machine is updated
// (openshift/machine-config-operator:pkg/server/cluster_server.go GetConfig);
// the controller keeps what it finds there until the pool has converged
// (pkg/controller/node/status.go calculateStatus). The source is written with the
// name: without it the operator reports the pool's status as invalid
// (pkg/operator/status.go isMachineConfigPoolConfigurationValid).
func adoptSpecConfig() action {
	return action{
		name: AdoptSpecConfig,
		remedies: []remedy{{id: adoptRemedy, needsPool: always, rights: slices.Concat(poolRights(),
			access(poolRef(""), "status", "patch"), access(configRef(""), "", "get"))}},
		plan:     planAdopt,
		check:    func(s Step) error { return need(map[string]string{"pool": s.Args.Pool, "config": s.Args.Config}) },
		remedyOf: func(Args) string { return adoptRemedy },
		guards: func(a Args) []Guard {
			list := []Guard{{Guard: PoolNotPaused, Subject: a.Pool}, {Guard: RenderExists, Subject: a.Config}}
			if controlPlanePool(a.Pool) {
				list = append(list, Guard{Guard: EtcdQuorum})
			}
			return list
		},
		reads:    func(a Args) []readRule { return []readRule{{object: poolRef(a.Pool), fields: poolFields()}} },
		describe: describeAdopt,
		prepare:  prepareAdopt,
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			pool, err := e.api.Get(ctx, poolRef(s.Args.Pool))
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

// poolFields are the fields of a pool that a step is planned from.
func poolFields() []string {
	return []string{specName, specSource, statusName, statusSource, "/status/updatedMachineCount"}
}

func describeAdopt(s *Step) {
	pool, config := s.Args.Pool, s.Args.Config
	s.Subject, s.Risk, s.Proof = "pool/"+pool, fault.RiskReversible, ProvedInLab
	s.Title = fmt.Sprintf("fill status.configuration of pool %s from its spec (%s), name and source", pool, config)
	s.RiskText = "the next host that asks is given this config; no machine that runs is touched"
	s.OC = fmt.Sprintf(`oc patch mcp %[1]s --subresource=status --type=merge `+
		`-p "{\"status\":{\"configuration\":$(oc get mcp %[1]s -o jsonpath='{.spec.configuration}')}}"`, pool)
	s.PreImage = "status.configuration of the pool"
	s.Inverse = "write status.configuration back as it was, until a host has fetched the config or a machine is updated"
	s.Expect.Text = "status.configuration.name stays " + config
}

// planAdopt plans the step that gives the machine config server something to serve.
func planAdopt(ctx context.Context, d *draft) error {
	while := d.remedies[adoptRemedy]
	if len(while) == 0 {
		return nil
	}
	pool, err := d.API.Get(ctx, poolRef(d.pool))
	if err != nil {
		return fmt.Errorf("read pool %s: %w", d.pool, err)
	}
	config := stringAt(pool, "spec", "configuration", "name")
	if config == "" {
		return fmt.Errorf("pool %s has no spec.configuration: it was never rendered, and there is nothing to adopt", d.pool)
	}
	status, _ := fieldAt(pool, statusSource)
	if spec, _ := fieldAt(pool, specSource); stringAt(pool, "status", "configuration", "name") == config && reflect.DeepEqual(spec, status) {
		d.note("pool %s serves %s already", d.pool, config)
		return nil
	}
	rd, err := reading(poolRef(d.pool), pool, poolFields()...)
	if err != nil {
		return err
	}
	d.add(Step{Action: AdoptSpecConfig, Args: Args{Pool: d.pool, Config: config}, Reads: []Reading{rd}, While: while, Deadline: minutes(2)})
	return nil
}

func prepareAdopt(ctx context.Context, e env, s Step) (*act, string, error) {
	pool, err := e.read(ctx, poolRef(s.Args.Pool))
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
	w, err := e.patch(poolRef(s.Args.Pool), "status", pool, set, "status.configuration as it was (kept pre-image)")
	if err == nil && w.Before == w.After {
		return nil, "status.configuration is that of the spec already", nil
	}
	return w, "", err
}

// adoptDependants: once a host was given the config, or a machine is updated, the old (empty) status is not a state to
// go back to. A node that is only told to run the config is neither: the controller takes what a node shall run from
// the pool's spec, whatever its status names, and does so before the repair where two masters were Done for a moment
// (openshift/machine-config-operator:pkg/controller/common/layered_node_state.go CheckNodeCandidacyForUpdate).
func adoptDependants(ctx context.Context, e env, s Step, _ Write) (string, error) {
	pool, err := e.api.Get(ctx, poolRef(s.Args.Pool))
	if err != nil {
		return "", fmt.Errorf("read pool %s: %w", s.Args.Pool, err)
	}
	if n := intAt(pool, "status", "updatedMachineCount"); n > 0 {
		return fmt.Sprintf("%d machines of the pool run %s; the controller itself keeps the status now", n, s.Args.Config), nil
	}
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return "", fmt.Errorf("list nodes: %w", err)
	}
	for _, n := range nodes {
		if stringAt(n, "metadata", "annotations", openshift.CurrentConfigAnnotation) == s.Args.Config {
			return fmt.Sprintf("node %s runs %s", stringAt(n, "metadata", "name"), s.Args.Config), nil
		}
	}
	requests, err := e.api.List(ctx, csrRef(""))
	if err != nil {
		return "", fmt.Errorf("list requests: %w", err)
	}
	since := e.actedAt(ctx, s.ID)
	if why := e.fetched(ctx, s.Args.Pool, since); why != "" {
		return why, nil
	}
	for _, o := range requests {
		q, err := csr.Parse(o)
		if err != nil {
			return "", err
		}
		if q.Kind == csrs.Client && q.Requester == openshift.NodeBootstrapper && !q.Created.Before(since) {
			return fmt.Sprintf("%s has fetched the config: it asked for its certificate (%s) afterwards", orNone(q.NodeName), q.Name), nil
		}
	}
	return "", nil
}

// servedSkew is how far the clocks of a master and of the API server may be apart.
const servedSkew = 10 * time.Second

// fetched returns that a host was given the pool's config since a time, by the logs of the
// machine config servers, "" where none was. A host boots with the config long before it asks for a
// certificate. Logs that cannot be read do not prove that no host was.
func (e env) fetched(ctx context.Context, pool string, since time.Time) string {
	if e.served == nil {
		return ""
	}
	type served struct {
		at   time.Time
		what string
	}
	last, err := readOrCancel(ctx, func(ctx context.Context) (served, error) {
		at, what, err := e.served.LastServed(ctx, pool)
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
