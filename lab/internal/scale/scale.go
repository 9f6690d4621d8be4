// Package scale makes a lab's cluster large: hundreds or thousands of workers
// with their Machines, BareMetalHosts, Leases, certificate requests and pods, in
// the real API server, for measuring what a diagnosis costs there.
//
// The first worker of each fate is made through the API server, step by step, as
// the product's programs would make it. All others are copies of it that are
// written into the API server's store: thousands of requests would take a small
// machine a quarter of an hour, and their objects would be as young as the lab.
//
// Invariants:
//   - The same number of workers gives the same objects, but for keys, times and
//     what the API server and the controllers add.
//   - Every kind of object of every fate has passed the API server's validation
//     and admission once, and kubelet requests all do, in the requesters' names, so
//     that the API server writes their spec.username and groups.
//   - Nothing runs behind a worker but an endpoint for logs; see README of the lab.
package scale

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// PodsPerWorker is how many pods each worker that joined has: what a worker of a
// bare metal cluster runs for the platform, and applications.
const PodsPerWorker = 21

// renewEvery is how often a worker's lease is renewed. A kubelet does it every
// 10 s; the controller manager gives a node up after 50 s
// (k8s.io/kubernetes:pkg/controller/nodelifecycle/config/v1alpha1/defaults.go).
const renewEvery = 20 * time.Second

// stands is for how long the cluster has been what it is.
const stands = 50 * time.Minute

// parallel is how many requests are under way at once: the API server of a
// two-core machine is busy with that.
const parallel = 32

// Spec says what to make.
type Spec struct {
	Config  *rest.Config // of the administrator
	Store   Store
	Workers int
	Infra   string // infrastructure name, the beginning of every Machine's name
	Version string // of the kubelets
	Image   func(name string) string
	Render  string                               // config of the pool worker
	Address func(i int) string                   // of a worker
	Port    int                                  // of the kubelets
	Kubelet func(ips []string) (pki.Pair, error) // makes a serving certificate of kubelets
	Clients []byte                               // CA bundle of who may read logs
	Logger  *slog.Logger
}

// Store writes values below the API server.
type Store interface {
	Put(ctx context.Context, values map[string][]byte) error
}

// Cluster is what was made.
type Cluster struct {
	spec    Spec
	core    kubernetes.Interface // protobuf
	dynamic dynamic.Interface
	workers []worker
	models  map[fate]*model
	began   time.Time // when it became what it is

	mu     sync.Mutex
	leases map[string]*coordinationv1.Lease // of workers that are there and alive
}

// New returns a cluster of which nothing is made yet.
func New(spec Spec) (*Cluster, error) {
	cfg := rest.CopyConfig(spec.Config)
	cfg.QPS, cfg.Burst = -1, 0 // the API server is the limit
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	cfg.ContentType, cfg.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	core, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	spec.Config = cfg
	return &Cluster{spec: spec, core: core, dynamic: dyn, workers: plan(spec), models: map[fate]*model{}, began: time.Now().Add(-stands),
		leases: map[string]*coordinationv1.Lease{}}, nil
}

// Populate makes everything, and from the first node on keeps the leases until ctx
// ends: the controller manager gives nodes up after less than a minute, and the pods
// of two thousand take longer.
func (c *Cluster) Populate(ctx context.Context) error {
	go c.keep(ctx)
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"namespaces", c.namespaces},
		{"pods of the nodes that are there", c.makePodsOfOthers},
		{"one worker of each fate", c.makeModels},
		{"bare metal hosts and machines", c.copies(c.copyMachine)},
		{"requests of hosts that joined lately", c.each(c.makeRequests)},
		{"nodes", c.copies(c.copyNode)},
		{"pods", c.copies(c.copyPods)},
	} {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("make %s: %w", step.name, err)
		}
		c.spec.Logger.Info("made "+step.name, "took", time.Since(began).Round(100*time.Millisecond).String())
	}
	return nil
}

// each runs one step for all workers, several at once.
func (c *Cluster) each(do func(context.Context, worker) error) func(context.Context) error {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(parallel)
		for _, w := range c.workers {
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(ctx, w); err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
				return nil
			})
		}
		return group.Wait()
	}
}

// GivenUp says whether a node's Ready condition is Unknown.
func GivenUp(n *corev1.Node) bool {
	for _, cond := range n.Status.Conditions {
		if cond.Type == corev1.NodeReady {
			return cond.Status == corev1.ConditionUnknown
		}
	}
	return false
}
