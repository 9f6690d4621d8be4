// Package network computes facts about what a node needs to get a network: the
// plugin's pods and their certificate, the approver and webhook of node identities,
// the VIPs, and what the network operator says, level by level.
//
// Invariants:
//   - The network operator reports the first of its levels that fails, in a fixed
//     order (openshift/cluster-network-operator:pkg/controller/statusmanager/status_manager.go
//     syncDegraded). Its message says nothing against the later levels.
//   - A VIP outside the machine networks is a contradiction in the
//     configuration. It stops no data plane, and nothing here says so.
//   - What a log says counts only while the pod that said it is not ready.
package network

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{VIPsFact(), OperatorFact(), HostFact(), identityFact(), InfraFact(), HoldersFact()}
}

// The signatures of this package.
const (
	sigKubeconfig = "network-bootstrap-kubeconfig"
	sigNotSigned  = "network-certificate-not-signed"
	sigInvalid    = "network-certificate-invalid"
	sigWebhook    = "node-identity-webhook"
	// Of keepalived.
	sigVRRP        = "keepalived-"
	sigVRRPForeign = "keepalived-foreign"
)

// joined returns the host of a name, which must be a Node.
func joined(ctx context.Context, w *facts.World, name string) (inventory.Host, error) {
	if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		return inventory.Host{}, err
	}
	h, ok, err := inventory.Find(ctx, w, name)
	if err != nil {
		return h, err
	}
	if !ok || h.Node == nil {
		return h, facts.NotApplicable("host %s is no Node yet", name)
	}
	return h, nil
}

// pluginOVN reports whether the cluster's network is OVN-Kubernetes.
func pluginOVN(ctx context.Context, w *facts.World) error {
	plugin, err := platform.Network(ctx, w)
	if err != nil {
		return err
	}
	if plugin.Text != "OVNKubernetes" {
		return facts.Excluded(plugin.Item(), "the network is %q and not OVNKubernetes", plugin.Text)
	}
	return nil
}

// daemon is the pod of a DaemonSet on one node.
type daemon struct {
	Pod     string
	Ready   bool
	Waiting string
	Since   time.Time
	Loc     evidence.Locator
}

// podsOn returns the pods of a namespace on a node. They are sorted by node once
// per run: with a pod per node, every host looks for its own.
func podsOn(ctx context.Context, w *facts.World, namespace, node string) ([]evidence.Object, error) {
	byNode, err := facts.Memo(ctx, w, "network.pods "+namespace, func(ctx context.Context, w *facts.World) (map[string][]evidence.Object, error) {
		list, err := w.List(ctx, evidence.Pods, namespace)
		if err != nil {
			return nil, err
		}
		byNode := map[string][]evidence.Object{}
		for _, o := range list {
			n := evidence.String(o.Content, "spec", "nodeName")
			byNode[n] = append(byNode[n], o)
		}
		return byNode, nil
	})
	return byNode[node], err
}

// on finds the pod with a label on a node. Where several are there (one is being
// replaced) the ready one counts.
func on(list []evidence.Object, app, node string) (daemon, error) {
	var found daemon
	for _, o := range list {
		if l, _ := o.Label("app"); l != app || evidence.String(o.Content, "spec", "nodeName") != node {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return found, err
		}
		d := daemon{Pod: o.Name, Since: pod.CreationTimestamp.UTC(), Loc: o.Loc.At("status")}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				d.Ready, d.Since = c.Status == corev1.ConditionTrue, c.LastTransitionTime.UTC()
			}
		}
		d.Waiting = waiting(pod)
		if found.Pod == "" || d.Ready {
			found = d
		}
	}
	return found, nil
}

// waiting is what the containers of a pod that are not ready say.
func waiting(pod corev1.Pod) string {
	var said []string
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "PodInitializing":
			said = append(said, c.Name+" waits: "+c.State.Waiting.Reason)
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			said = append(said, fmt.Sprintf("%s ended with %d", c.Name, c.State.Terminated.ExitCode))
		case c.State.Running != nil && !c.Ready:
			said = append(said, c.Name+" runs and is not ready")
		}
	}
	switch {
	case len(said) > 0:
	case pod.Status.Phase == corev1.PodRunning: // "does not run (phase Running)" says two things
		return "its pod is Running and not Ready"
	default:
		return "phase " + string(pod.Status.Phase)
	}
	return strings.Join(said, "; ")
}
