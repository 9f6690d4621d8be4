package smoke_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/smoke"
)

var pods = schema.GroupResource{Resource: "pods"}

// cluster plays an API server: what a pod's status is, and what it answers.
type cluster struct {
	sync.Mutex
	status  func(look int) map[string]any
	answer  func(node string) (string, error)
	none    bool  // no DaemonSet
	refuse  error // of creating
	keep    error // of deleting
	swap    bool  // somebody replaces the pod
	looks   int
	made    map[string]map[string]any
	highest int
}

func (c *cluster) DaemonSet(context.Context, string) (map[string]any, error) {
	if c.none {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "daemonsets"}, "network-check-target")
	}
	container := map[string]any{"image": "quay.io/release@sha256:1", "command": []any{"cluster-network-check-target"}}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}}, nil
}

func (c *cluster) Node(_ context.Context, name string) (map[string]any, error) {
	if strings.HasPrefix(name, "no-") {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, name)
	}
	return map[string]any{}, nil
}

func (c *cluster) Pod(_ context.Context, name string) (map[string]any, error) {
	c.Lock()
	defer c.Unlock()
	p, ok := c.made[name]
	if !ok {
		return nil, apierrors.NewNotFound(pods, name)
	}
	c.looks++
	uid := evidence.String(p, "metadata", "uid")
	if c.swap {
		uid = "another"
	}
	return map[string]any{"metadata": map[string]any{"uid": uid}, "status": c.status(c.looks)}, nil
}

func (c *cluster) CreatePod(_ context.Context, p map[string]any) (map[string]any, error) {
	c.Lock()
	defer c.Unlock()
	if c.refuse != nil {
		return nil, c.refuse
	}
	if c.made == nil {
		c.made = map[string]map[string]any{}
	}
	name := evidence.String(p, "metadata", "name")
	p["metadata"].(map[string]any)["uid"] = "uid-" + name
	c.made[name] = p
	c.highest = max(c.highest, len(c.made))
	return p, nil
}

func (c *cluster) DeletePod(ctx context.Context, name, uid string) error {
	c.Lock()
	defer c.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.keep != nil {
		return c.keep
	}
	if uid != "uid-"+name {
		return fmt.Errorf("uid %s", uid)
	}
	delete(c.made, name)
	return nil
}

func (c *cluster) Ask(_ context.Context, name, _ string) (string, error) {
	c.Lock()
	p := c.made[name]
	c.Unlock()
	terms := evidence.Field(p, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").([]any)
	field := terms[0].(map[string]any)["matchFields"].([]any)[0].(map[string]any)
	return c.answer(field["values"].([]any)[0].(string))
}

func container(state string, fields map[string]any) map[string]any {
	return map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{"state": map[string]any{state: fields}}}}
}

func runs(int) map[string]any { return container("running", map[string]any{"startedAt": "now"}) }

func hello(node string) (string, error) {
	return "Hello, 10.0.0.1. You have reached 10.128.0.9 on " + node, nil
}

func TestTry(t *testing.T) {
	never := errors.New("dial tcp 10.128.2.9:8080: i/o timeout")
	for _, tt := range []struct {
		name string
		c    *cluster
		node string
		want fault.Outcome
		says string
		left string
	}{
		{name: "it answers", c: &cluster{status: runs, answer: hello}, want: fault.Present},
		{name: "it answers after a while", c: &cluster{answer: hello, status: func(look int) map[string]any {
			if look < 3 {
				return container("waiting", map[string]any{"reason": "ContainerCreating"})
			}
			return runs(look)
		}}, want: fault.Present},
		{name: "the CNI does not work", c: &cluster{status: runs, answer: func(string) (string, error) { return "", never }}, want: fault.Absent, says: "does not reach it over the pod network: dial tcp"},
		{name: "the image is not pulled", c: &cluster{status: func(int) map[string]any {
			return container("waiting", map[string]any{"reason": "ImagePullBackOff", "message": "Back-off pulling image"})
		}}, want: fault.Absent, says: "ImagePullBackOff Back-off pulling image"},
		{name: "it is not scheduled", c: &cluster{status: func(int) map[string]any {
			return map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "message": "0/5 nodes are available"}}}
		}}, want: fault.Absent, says: "not scheduled: 0/5 nodes"},
		{name: "the kubelet refuses it", c: &cluster{status: func(int) map[string]any {
			return map[string]any{"phase": "Failed", "reason": "OutOfpods", "message": "Node didn't have enough resource"}
		}}, want: fault.Absent, says: "Failed OutOfpods"},
		{name: "another program answers", c: &cluster{status: runs, answer: func(string) (string, error) { return "<html>login", nil }}, want: fault.Absent, says: "another program answers"},
		{name: "no right to ask", c: &cluster{status: runs, answer: func(string) (string, error) {
			return "", apierrors.NewForbidden(pods, "x", errors.New("no"))
		}}, want: fault.Unknown, says: "pods/proxy"},
		{name: "no right to create", c: &cluster{refuse: apierrors.NewForbidden(pods, "x", errors.New("no"))}, want: fault.Unknown, says: "no right to create pods"},
		{name: "no DaemonSet", c: &cluster{none: true}, want: fault.Unknown, says: "turns it off"},
		{name: "no such Node", c: &cluster{}, node: "no-node", want: fault.Unknown, says: "read Node no-node"},
		{name: "somebody replaces it", c: &cluster{status: runs, swap: true}, want: fault.Unknown, says: "another one now", left: ""},
		{name: "it cannot be deleted", c: &cluster{status: runs, answer: hello, keep: errors.New("conflict")}, want: fault.Present, left: "openshift-network-diagnostics/rollcall-smoke-ab-0 (conflict)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.node == "" {
				tt.node = "worker2"
			}
			var got []smoke.Result
			synctest.Test(t, func(t *testing.T) { // no real time: a busy machine is no Node that does not answer
				got = smoke.Try(t.Context(), tt.c, []string{tt.node}, smoke.Options{Run: "ab", Patience: 60 * time.Millisecond, Every: time.Millisecond})
			})
			if len(got) != 1 || got[0].Outcome != tt.want || !strings.Contains(got[0].Reason, tt.says) || got[0].Left != tt.left {
				t.Errorf("%+v, want %s with %q, left %q", got, tt.want, tt.says, tt.left)
			}
			if tt.want != fault.Present && got[0].Reason == "" {
				t.Error("no reason")
			}
			if len(tt.c.made) > 0 && tt.left == "" {
				t.Errorf("left: %v", tt.c.made)
			}
		})
	}
}

// TestInterrupted: the pod is removed also where the run is interrupted.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := &cluster{status: func(int) map[string]any {
		cancel()
		return container("waiting", map[string]any{"reason": "ContainerCreating"})
	}}
	got := smoke.Try(ctx, c, []string{"a", "b"}, smoke.Options{Run: "ab", AtOnce: 1})
	for _, r := range got {
		if r.Outcome != fault.Unknown || !strings.Contains(r.Reason, "interrupted") {
			t.Errorf("%+v", r)
		}
	}
	if len(c.made) > 0 {
		t.Errorf("left: %v", c.made)
	}
}

// TestAtOnce: no more pods than asked for at the same time.
func TestAtOnce(t *testing.T) {
	c := &cluster{status: runs, answer: hello}
	var nodes []string
	for i := range 20 {
		nodes = append(nodes, fmt.Sprintf("worker%d", i))
	}
	for i, r := range smoke.Try(t.Context(), c, nodes, smoke.Options{Run: "ab", AtOnce: 3, Every: time.Millisecond}) {
		if r.Node != nodes[i] || r.Outcome != fault.Present {
			t.Errorf("%+v", r)
		}
	}
	if c.highest > 3 || len(c.made) > 0 {
		t.Errorf("%d at once, %d left", c.highest, len(c.made))
	}
}
