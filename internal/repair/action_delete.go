package repair

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func podRef(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "pods", Namespace: namespace, Name: name}
}

func podFields() []string { return []string{"/metadata/uid"} }

// restartServer deletes one pod of the machine config server; its DaemonSet makes another
// one. Up to 4.18 a server reads its certificate only when it starts
// (openshift/machine-config-operator: pkg/server/api.go; openshift/oc does the same:
// pkg/cli/admin/ocpcertificates/regeneratemco/rotatecerts.go). A server whose Secret is
// missing would not start again, so that the Secret is read first.
func restartServer() action {
	return action{
		check: func(s Step) error { return need(map[string]string{"object": s.Args.Object}) },
		prepare: func(ctx context.Context, r *run, s Step) (*act, string, error) {
			secret, err := r.read(ctx, Ref{Version: "v1", Resource: "secrets", Namespace: MirrorNamespace, Name: mcsLeaf})
			if err != nil {
				return nil, "", err
			}
			for _, key := range []string{"tls.crt", "tls.key"} {
				if v, _ := fieldAt(secret, pointer("data", key)); v == nil || v == "" {
					return nil, "", refuse("Secret %s has no %s: a server that restarts would not start", mcsLeaf, key)
				}
			}
			ref := podRef(MirrorNamespace, s.Args.Object)
			pod, err := r.API.Get(ctx, ref)
			switch {
			case apierrors.IsNotFound(err):
				return nil, "pod " + s.Args.Object + " is gone", nil
			case err != nil:
				return nil, "", refuse("%s could not be read: %v", ref, err)
			case stringAt(pod, "metadata", "labels", "k8s-app") != "machine-config-server":
				return nil, "", refuse("%s is not a pod of the machine config server", ref)
			}
			down, err := unreadyNodes(ctx, r.API)
			if err != nil {
				return nil, "", refuse("it is not known whether the node of %s is Ready: %v", ref, err)
			}
			if node := stringAt(pod, "spec", "nodeName"); down[node] {
				return nil, fmt.Sprintf("its node %s is not Ready, so that the pod cannot end; it serves the old certificate until it restarts", node), nil
			}
			return r.deleteAct(ref, pod)
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			pods, err := r.API.List(ctx, podRef(MirrorNamespace, ""))
			if err != nil {
				return false, fmt.Sprintf("pods could not be listed: %v", err), nil
			}
			down, err := unreadyNodes(ctx, r.API)
			if err != nil {
				return false, err.Error(), nil
			}
			running := 0
			for _, p := range pods {
				if stringAt(p, "metadata", "labels", "k8s-app") != "machine-config-server" || down[stringAt(p, "spec", "nodeName")] {
					continue
				}
				if stringAt(p, "metadata", "name") == s.Args.Object && slices.Contains(uidsOf(s), stringAt(p, "metadata", "uid")) {
					return false, "pod " + s.Args.Object + " has not ended yet", nil
				}
				if c := conditionOf(p, "Ready"); c == nil || c["status"] != "True" {
					return false, "pod " + stringAt(p, "metadata", "name") + " is not ready", nil
				}
				running++
			}
			return running > 0, "no machine config server runs", nil
		},
		dependants: func(context.Context, *run, Step, Write) (string, error) {
			return "its DaemonSet has made another pod", nil
		},
	}
}

// unreadyNodes are the nodes whose pods neither end nor start: only the kubelet of a node can
// confirm that a pod has stopped (k8s.io/kubernetes: pkg/kubelet/status/status_manager.go
// canBeDeleted).
func unreadyNodes(ctx context.Context, api Reader) (map[string]bool, error) {
	nodes, err := api.List(ctx, nodeRef(""))
	if err != nil {
		return nil, fmt.Errorf("nodes could not be listed: %w", err)
	}
	down := map[string]bool{}
	for _, n := range nodes {
		if c := conditionOf(n, "Ready"); c == nil || c["status"] != "True" {
			down[stringAt(n, "metadata", "name")] = true
		}
	}
	return down, nil
}

// uidsOf are the uids that the step has read.
func uidsOf(s Step) []string {
	var list []string
	for _, rd := range s.Reads {
		list = append(list, rd.Seen["/metadata/uid"])
	}
	return list
}

// deleteAct deletes exactly the object that was read.
func (r *run) deleteAct(ref Ref, o Object) (*act, string, error) {
	before, err := digestFields(o, podFields())
	if err != nil {
		return nil, "", err
	}
	after, err := digestFields(nil, nil)
	if err != nil {
		return nil, "", err
	}
	uid, version := stringAt(o, "metadata", "uid"), stringAt(o, "metadata", "resourceVersion")
	return &act{
		Write:    Write{Target: ref, UID: uid, Fields: podFields(), Before: before, After: after, Inverse: "none: its controller makes another one"},
		preImage: []byte("a pod"),
		diff:     fmt.Sprintf("--- %s (now)\n+++ (deleted; its controller makes another one)\n", ref),
		do: func(ctx context.Context, dryRun bool) (Object, error) {
			return nil, r.API.Delete(ctx, ref, uid, version, dryRun)
		},
	}, "", nil
}

func describeRestart(s *Step) {
	s.Subject, s.Risk, s.Proof = "pods/"+s.Args.Object, fault.RiskRestart, ProvedInLab
	s.Title = "restart the machine config server " + s.Args.Object + ", so that it reads its certificate"
	s.RiskText = "a host that asks this server meanwhile asks again"
	s.OC = fmt.Sprintf("oc -n %s delete pod %s", MirrorNamespace, s.Args.Object)
	s.PreImage, s.Inverse = "none: the pod is made by its DaemonSet", "none: its DaemonSet makes another one"
	s.Expect.Text = "all pods of the machine config server on nodes that are Ready are ready"
}
