package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	poolResource     = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}
	operatorResource = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}
	versionResource  = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	etcdResource     = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "etcds"}
)

func (l *Lab) pool(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	pool, err := l.dyn.Resource(poolResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read pool %s: %w", name, err)
	}
	return pool, nil
}

// rebootRendezvous powers control0 on as the third master. It was the bootstrap
// host so far; its disk has been written by coreos-installer with the pointer
// config.
func (l *Lab) rebootRendezvous(ctx context.Context) error { return l.PowerOn(ctx, l.Master(0)) }

// awaitSteady waits until the cluster is where the scenario leaves it for good.
func (l *Lab) awaitSteady(ctx context.Context) error {
	check, limit := l.desynced, 5*time.Minute
	if l.opts.Scenario.Joins {
		check = l.converged
	}
	err := l.awaitWhy(ctx, limit, "the steady state was not reached", func(ctx context.Context, _ *Lab) (string, error) { return check(ctx) })
	if err != nil {
		return err
	}
	l.setApproves(false) // the assisted-installer-controller stops with the install
	return nil
}

// awaitFirstConfigs waits until no master is between two configs, so that an
// install that stands halfway looks the same whenever it is looked at.
func (l *Lab) awaitFirstConfigs(ctx context.Context) error {
	return l.awaitWhy(ctx, 3*time.Minute, "the first masters are not done", func(ctx context.Context, _ *Lab) (string, error) {
		nodes, err := l.nodes(ctx)
		if err != nil {
			return "", err
		}
		for _, n := range nodes {
			if state := n.Annotations["machineconfiguration.openshift.io/state"]; state != "Done" {
				return fmt.Sprintf("%s is %q", n.Name, state), nil
			}
		}
		return "", nil
	})
}

// desynced says what is missing from the broken state: two masters that name a
// render which is not there, a pool that never converged and a third master
// whose Ignition is refused with HTTP 500.
func (l *Lab) desynced(ctx context.Context) (string, error) {
	pool, err := l.pool(ctx, "master")
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	first, later := l.state.FirstRender, l.state.ClusterRender
	l.mu.Unlock()
	status := func(field string) int64 { return nestedInt(pool, "status", field) }
	switch {
	case status("machineCount") != 2 || status("degradedMachineCount") != 2 || status("updatedMachineCount") != 0:
		return fmt.Sprintf("pool master has %d machines, %d degraded, %d updated; expected 2, 2, 0",
			status("machineCount"), status("degradedMachineCount"), status("updatedMachineCount")), nil
	case nested(pool, "status", "configuration", "name") != "":
		return "pool master serves " + nested(pool, "status", "configuration", "name"), nil
	case first == later:
		return "both renders have the name " + first, nil
	}
	console, err := os.ReadFile(l.opts.Dir.Console("control0"))
	if err != nil {
		return "", err
	}
	if n := bytes.Count(console, []byte("GET result: Internal Server Error")); n < 3 {
		return fmt.Sprintf("control0's Ignition was answered with HTTP 500 %d times, expected 3", n), nil
	}
	return "", nil
}

// converged says what is missing from a finished install.
func (l *Lab) converged(ctx context.Context) (string, error) {
	pool, err := l.pool(ctx, "master")
	if err != nil {
		return "", err
	}
	spec, served := nested(pool, "spec", "configuration", "name"), nested(pool, "status", "configuration", "name")
	if n := nestedInt(pool, "status", "updatedMachineCount"); n != 3 || spec == "" || spec != served {
		return fmt.Sprintf("pool master: %d of 3 updated, spec %q, status %q", n, spec, served), nil
	}
	version, err := l.dyn.Resource(versionResource).Get(ctx, "version", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	history, _, _ := unstructured.NestedSlice(version.Object, "status", "history")
	if entry, ok := history[0].(map[string]any); !ok || entry["state"] != "Completed" {
		return "ClusterVersion is not Completed", nil
	}
	return "", nil
}
