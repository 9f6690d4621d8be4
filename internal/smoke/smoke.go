// Package smoke tries nodes as a workload does: it makes one pod on each, asks it over the
// pod network, and removes it.
//
// The pod is the one with which the cluster tests its own network: program and image of the
// DaemonSet network-check-target (openshift/cluster-network-operator:
// bindata/network-diagnostics/network-check-target.yaml, cmd/cluster-network-check-target).
// So nothing is pulled that the release does not contain, and the pod is admitted in that
// namespace. Unlike the DaemonSet's pod it is new: scheduler, image, runtime and CNI are
// tried as they are now. The API server asks it through its proxy, so the answer has crossed
// the pod network from a host of the control plane.
//
// Invariants:
//   - Nothing is made that is not removed: the pod is deleted by its name and uid also where
//     the try failed or was interrupted, ends by itself after its deadline, and what could
//     not be deleted is named.
//   - A try that could not be made (no right, no such DaemonSet) is unknown, never absent.
package smoke

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Namespace is where the pods are made: it exists from OpenShift 4.7 on, and its pod
// security standard is the one that the pod keeps (000-ns.yaml, "restricted").
const Namespace = openshift.NetworkDiagnosticsNamespace

const (
	daemonSet = "network-check-target"
	port      = "8080"
	// selfEnd is the activeDeadlineSeconds of the pod: where no one removes it, the kubelet
	// stops it then.
	selfEnd = 15 * time.Minute
)

// Cluster is what a try needs of the cluster. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type Cluster interface {
	// DaemonSet reads the DaemonSet of that name in Namespace.
	DaemonSet(ctx context.Context, name string) (map[string]any, error)
	// Node reads a Node.
	Node(ctx context.Context, name string) (map[string]any, error)
	// Pod reads a pod in Namespace.
	Pod(ctx context.Context, name string) (map[string]any, error)
	// CreatePod makes a pod in Namespace.
	CreatePod(ctx context.Context, pod map[string]any) (map[string]any, error)
	// DeletePod deletes the pod with that uid; one that is gone is no error.
	DeletePod(ctx context.Context, name, uid string) error
	// Ask requests / of a port of a pod in Namespace through the API server.
	Ask(ctx context.Context, pod, port string) (string, error)
}

// Options bound a try.
type Options struct {
	Run      string        // distinguishes the pods of this run: lower case letters and digits
	Patience time.Duration // for one pod from its creation to its answer; 0 is 3 min
	Every    time.Duration // between two looks; 0 is 2 s
	AtOnce   int           // pods at the same time; 0 is 5
}

func (o *Options) fill() {
	if o.Patience == 0 {
		o.Patience = 3 * time.Minute
	}
	if o.Every == 0 {
		o.Every = 2 * time.Second
	}
	if o.AtOnce == 0 {
		o.AtOnce = 5
	}
}

// Result is the try of one node.
type Result struct {
	Node    string
	Outcome fault.Outcome // present: the pod ran and answered; absent: it did not; unknown: it could not be tried
	Reason  string        // of absent and unknown
	Left    string        // the pod that could not be deleted, empty: none is left
}

// Try tries the nodes side by side and returns their results in the same order.
func Try(ctx context.Context, c Cluster, nodes []string, o Options) []Result {
	o.fill()
	list := make([]Result, len(nodes))
	for i, n := range nodes {
		list[i] = Result{Node: n, Outcome: fault.Unknown}
	}
	spec, err := template(ctx, c)
	if err != nil {
		for i := range list {
			list[i].Reason = err.Error()
		}
		return list
	}
	var all sync.WaitGroup
	free := make(chan struct{}, o.AtOnce)
	for i := range list {
		all.Go(crash.Func(func() {
			free <- struct{}{}
			defer func() { <-free }()
			t := try{c: c, o: o, node: nodes[i], name: fmt.Sprintf("rollcall-smoke-%s-%d", o.Run, i)}
			list[i] = t.run(ctx, spec)
		}))
	}
	all.Wait()
	return list
}

// template is the container of the DaemonSet as it is in this release.
func template(ctx context.Context, c Cluster) (map[string]any, error) {
	d, err := c.DaemonSet(ctx, daemonSet)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("DaemonSet %s/%s, whose image the pod has, does not exist (spec.networkDiagnostics or spec.disableNetworkDiagnostics "+
			"turns it off)", Namespace, daemonSet)
	}
	if err != nil {
		return nil, fmt.Errorf("read DaemonSet %s/%s, whose image the pod has: %w", Namespace, daemonSet, err)
	}
	list, _ := evidence.Field(d, "spec", "template", "spec", "containers").([]any)
	for _, x := range list {
		if m, ok := x.(map[string]any); ok && evidence.String(m, "image") != "" {
			return map[string]any{"image": m["image"], "command": m["command"]}, nil
		}
	}
	return nil, fmt.Errorf("DaemonSet %s/%s names no image", Namespace, daemonSet)
}

// try is the try of one node.
type try struct {
	c    Cluster
	o    Options
	node string
	name string
}

func (t try) result(o fault.Outcome, format string, args ...any) Result {
	return Result{Node: t.node, Outcome: o, Reason: fmt.Sprintf(format, args...)}
}

// run makes the pod, asks it and removes it.
func (t try) run(ctx context.Context, container map[string]any) (r Result) {
	if ctx.Err() != nil {
		return t.result(fault.Unknown, "it was interrupted")
	}
	if _, err := t.c.Node(ctx, t.node); err != nil {
		return t.result(fault.Unknown, "read Node %s: %v", t.node, err)
	}
	made, err := t.c.CreatePod(ctx, t.pod(container))
	if err != nil {
		return t.refused(err)
	}
	uid := evidence.String(made, "metadata", "uid")
	defer func() {
		back, end := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer end()
		if err := t.c.DeletePod(back, t.name, uid); err != nil {
			r.Left = fmt.Sprintf("%s/%s (%v)", Namespace, t.name, err)
		}
	}()
	limited, end := context.WithTimeout(ctx, t.o.Patience)
	defer end()
	state := state{text: "it was made and has no status yet"}
	for {
		now, ended := t.look(limited, uid)
		switch {
		case ended != nil:
			return *ended
		case limited.Err() == nil: // what was cut off by the end says nothing
			state = now
		}
		select {
		case <-limited.Done():
			switch {
			case ctx.Err() != nil:
				return t.result(fault.Unknown, "it was interrupted; pod %s: %s", t.name, state)
			case state.unread:
				return t.result(fault.Unknown, "pod %s: %s", t.name, state)
			}
			return t.result(fault.Absent, "within %s pod %s did not answer: %s", t.o.Patience, t.name, state)
		case <-time.After(t.o.Every):
		}
	}
}

// state is what is known of a pod that has not answered.
type state struct {
	text   string
	unread bool // it is our reading that failed
}

func (s state) String() string { return s.text }

// look reads the pod once and asks it where it runs. ended is the result where nothing
// changes it later.
func (t try) look(ctx context.Context, uid string) (now state, ended *Result) {
	p, err := t.c.Pod(ctx, t.name)
	end := func(o fault.Outcome, format string, args ...any) *Result {
		r := t.result(o, format, args...)
		return &r
	}
	switch {
	case apierrors.IsNotFound(err):
		return now, end(fault.Unknown, "pod %s was deleted by somebody else", t.name)
	case err != nil:
		return state{"it cannot be read: " + err.Error(), true}, nil
	case evidence.String(p, "metadata", "uid") != uid:
		return now, end(fault.Unknown, "pod %s is another one now", t.name)
	}
	text, over := describe(p)
	switch {
	case over:
		return now, end(fault.Absent, "pod %s: %s", t.name, text)
	case text != "":
		return state{text: text}, nil
	}
	answer, err := t.c.Ask(ctx, t.name, port)
	switch {
	case apierrors.IsForbidden(err):
		return now, end(fault.Unknown, "pod %s runs; whether it answers is not known: no right to get pods/proxy in %s", t.name, Namespace)
	case err != nil:
		return state{text: "it runs, and the API server does not reach it over the pod network: " + err.Error()}, nil
	case !strings.HasSuffix(strings.TrimSpace(answer), " on "+t.node):
		return state{text: fmt.Sprintf("it runs, and another program answers: %.80q", answer)}, nil
	}
	return now, &Result{Node: t.node, Outcome: fault.Present}
}

// refused is the result where the pod could not be made.
func (t try) refused(err error) Result {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return t.result(fault.Unknown, "no right to create pods in %s, or they are not admitted: %v", Namespace, err)
	}
	return t.result(fault.Unknown, "create pod %s/%s: %v", Namespace, t.name, err)
}

// pod is the pod for the node: as the DaemonSet's controller binds one
// (kubernetes/kubernetes:pkg/controller/daemon/util), so that the scheduler is tried as well,
// and with no label that the Service of the DaemonSet selects.
func (t try) pod(container map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": t.name, "namespace": Namespace,
			"labels": map[string]any{openshift.NameLabel: "rollcall-smoke", openshift.ManagedByLabel: "rollcall"},
		},
		"spec": map[string]any{
			"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
			"activeDeadlineSeconds": int64(selfEnd.Seconds()), "terminationGracePeriodSeconds": int64(1),
			"securityContext": map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
			"tolerations":     []any{map[string]any{"operator": "Exists"}},
			"affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
				"nodeSelectorTerms": []any{map[string]any{"matchFields": []any{
					map[string]any{"key": "metadata.name", "operator": "In", "values": []any{t.node}},
				}}},
			}}},
			"containers": []any{map[string]any{
				"name": "target", "image": container["image"], "command": container["command"], "imagePullPolicy": "IfNotPresent",
				"securityContext": map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}},
				"resources":       map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "15Mi"}},
				"env": []any{map[string]any{"name": "K8S_NODE_NAME", "valueFrom": map[string]any{
					"fieldRef": map[string]any{"fieldPath": "spec.nodeName"},
				}}},
			}},
		},
	}
}

// describe says what keeps a pod from running; empty where it runs. ended: it will not.
func describe(p map[string]any) (state string, ended bool) {
	phase := evidence.String(p, "status", "phase")
	if reason := evidence.String(p, "status", "reason"); phase == "Failed" || phase == "Succeeded" {
		return strings.TrimSpace(fmt.Sprintf("phase %s %s %s", phase, reason, evidence.String(p, "status", "message"))), true
	}
	list, _ := evidence.Field(p, "status", "containerStatuses").([]any)
	for _, x := range list {
		m, _ := x.(map[string]any)
		if evidence.Field(m, "state", "running") != nil {
			return "", false
		}
		if reason := evidence.String(m, "state", "waiting", "reason"); reason != "" {
			return strings.TrimSpace(reason + " " + evidence.String(m, "state", "waiting", "message")), false
		}
	}
	list, _ = evidence.Field(p, "status", "conditions").([]any)
	for _, x := range list {
		if m, _ := x.(map[string]any); evidence.String(m, "type") == "PodScheduled" && evidence.String(m, "status") == "False" {
			return "not scheduled: " + evidence.String(m, "message"), false
		}
	}
	return "phase " + phase, false
}
