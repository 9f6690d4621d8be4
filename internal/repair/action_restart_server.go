package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// RestartServer deletes one pod of the machine config server.
const RestartServer ActionName = "restart-server"

// restartServer deletes one pod of the machine config server; its DaemonSet creates another
// one. Up to 4.18 a server reads its certificate only when it starts
// (openshift/machine-config-operator: pkg/server/api.go; openshift/oc does the same:
// pkg/cli/admin/ocpcertificates/regeneratemco/rotatecerts.go). A server whose Secret is
// missing would not start again, so that the Secret is read first.
func restartServer() action {
	return action{
		name:  RestartServer,
		plan:  planRestarts,
		check: func(s Step) error { return need(map[string]string{"object": s.Args.Object}) },
		fits: func(p *Plan, _ Step) error {
			if !slices.ContainsFunc(p.Steps, writesLeaf) {
				return errors.New("no step of the plan writes the certificate that the server is restarted for")
			}
			return nil
		},
		reads: func(a Args) []readRule {
			return []readRule{{object: podRef(openshift.MachineConfigNamespace, a.Object), fields: podFields()}}
		},
		describe: func(s *Step) {
			s.Subject, s.Risk, s.Proof = "pods/"+s.Args.Object, fault.RiskRestart, ProvedInLab
			s.Title = "restart the machine config server " + s.Args.Object + ", so that it reads its certificate"
			s.RiskText = "a host that asks this server meanwhile asks again"
			s.OC = fmt.Sprintf("oc -n %s delete pod %s", openshift.MachineConfigNamespace, s.Args.Object)
			s.PreImage, s.Inverse = "none: the pod is made by its DaemonSet", "none: its DaemonSet makes another one"
			s.Expect.Text = "all pods of the machine config server on nodes that are Ready are ready"
		},
		prepare: prepareRestart,
		seen:    serversReady,
		dependants: func(context.Context, env, Step, Write) (string, error) {
			return "its DaemonSet has made another pod", nil
		},
	}
}

// writesLeaf reports whether the step writes the certificate of the machine config server.
func writesLeaf(s Step) bool {
	return s.Action == PutContent && s.Args.Remedy == mcsCertificate && s.Args.Object == openshift.MCSCertificate
}

func isServer(pod Object) bool {
	return stringAt(pod, "metadata", "labels", "k8s-app") == openshift.MachineConfigServer
}

// planRestarts plans the restart of the servers after a new certificate, one after the other.
func planRestarts(ctx context.Context, d *draft) error {
	if !slices.ContainsFunc(d.plan.Steps, writesLeaf) {
		return nil
	}
	pods, err := d.API.List(ctx, podRef(openshift.MachineConfigNamespace, ""))
	if err != nil {
		return fmt.Errorf("list pods of the machine config server: %w", err)
	}
	down, err := unreadyNodes(ctx, d.API)
	if err != nil {
		return err
	}
	for _, p := range pods {
		name, node := stringAt(p, "metadata", "name"), stringAt(p, "spec", "nodeName")
		if !isServer(p) {
			continue
		}
		if down[node] {
			d.note("server %s is not restarted: its node %s is not Ready. Before 4.19 it serves the old certificate until then: oc -n %s delete pod %s",
				name, node, openshift.MachineConfigNamespace, name)
			continue
		}
		rd, err := reading(podRef(openshift.MachineConfigNamespace, name), p, podFields()...)
		if err != nil {
			return err
		}
		d.add(Step{Action: RestartServer, Args: Args{Object: name}, Reads: []Reading{rd}, Deadline: minutes(5)})
	}
	return nil
}

func prepareRestart(ctx context.Context, e env, s Step) (*act, string, error) {
	secret, err := e.read(ctx, secretRef(openshift.MachineConfigNamespace, openshift.MCSCertificate))
	if err != nil {
		return nil, "", err
	}
	for _, key := range []string{"tls.crt", "tls.key"} {
		if v, _ := fieldAt(secret, pointer("data", key)); v == nil || v == "" {
			return nil, "", refuse("Secret %s has no %s: a server that restarts would not start", openshift.MCSCertificate, key)
		}
	}
	ref := podRef(openshift.MachineConfigNamespace, s.Args.Object)
	pod, err := e.api.Get(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		return nil, "pod " + s.Args.Object + " is gone", nil
	case err != nil:
		return nil, "", refuse("%s could not be read: %v", ref, err)
	case !isServer(pod):
		return nil, "", refuse("%s is not a pod of the machine config server", ref)
	}
	down, err := unreadyNodes(ctx, e.api)
	if err != nil {
		return nil, "", refuse("it is not known whether the node of %s is Ready: %v", ref, err)
	}
	if node := stringAt(pod, "spec", "nodeName"); down[node] {
		return nil, fmt.Sprintf("its node %s is not Ready, so that the pod cannot end; it serves the old certificate until it restarts", node), nil
	}
	return e.deletion(ref, pod)
}

// serversReady waits until the pod that was deleted is gone and all servers are ready.
func serversReady(ctx context.Context, e env, s Step) (bool, string, error) {
	pods, err := e.api.List(ctx, podRef(openshift.MachineConfigNamespace, ""))
	if err != nil {
		return false, fmt.Sprintf("pods could not be listed: %v", err), nil
	}
	down, err := unreadyNodes(ctx, e.api)
	if err != nil {
		return false, err.Error(), nil
	}
	running := 0
	for _, p := range pods {
		if !isServer(p) || down[stringAt(p, "spec", "nodeName")] {
			continue
		}
		if stringAt(p, "metadata", "name") == s.Args.Object && slices.Contains(uidsOf(s), stringAt(p, "metadata", "uid")) {
			return false, "pod " + s.Args.Object + " has not ended yet", nil
		}
		if !isTrue(p, "Ready") {
			return false, "pod " + stringAt(p, "metadata", "name") + " is not ready", nil
		}
		running++
	}
	return running > 0, "no machine config server runs", nil
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
		if !isTrue(n, "Ready") {
			down[stringAt(n, "metadata", "name")] = true
		}
	}
	return down, nil
}
