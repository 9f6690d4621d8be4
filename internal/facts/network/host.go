package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Where the plugins run (openshift/cluster-network-operator:bindata/network/ovn-kubernetes,
// bindata/network/multus/multus.yaml).
const (
	ovnApp    = "ovnkube-node"
	multusApp = "multus"
)

var (
	ovnLog    = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.OVNNamespace, Container: "ovnkube-controller"}
	multusLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MultusNamespace, Container: "kube-multus"}
)

// Host is the fact host-network.
type Host struct {
	OVNPod        facts.Field[string]    `cel:"ovnPod"` // of ovnkube-node on the node; "" if there is none
	OVNReady      facts.Field[bool]      `cel:"ovnReady"`
	OVNWaiting    facts.Field[string]    `cel:"ovnWaiting"`
	OVNSince      facts.Field[time.Time] `cel:"ovnSince"`
	MultusPod     facts.Field[string]    `cel:"multusPod"`
	MultusReady   facts.Field[bool]      `cel:"multusReady"`
	MultusWaiting facts.Field[string]    `cel:"multusWaiting"`
	MultusSince   facts.Field[time.Time] `cel:"multusSince"`
	NodeCreated   facts.Field[time.Time] `cel:"nodeCreated"`
	Kubeconfig    facts.Field[bool]      `cel:"kubeconfig"` // a pod that is not ready cannot load the kubelet's kubeconfig
	NotSigned     facts.Field[bool]      `cel:"notSigned"`  // its certificate was not signed in time
	Invalid       facts.Field[bool]      `cel:"invalid"`    // its certificate is expired or not yet valid
	SaidSince     facts.Field[time.Time] `cel:"saidSince"`
}

// HostFact is the fact host-network.
func HostFact() facts.Fact {
	return facts.Define("host-network", fault.Host, "whether the network plugin's pods run on the node, and what keeps them from it",
		append(inventory.Needs(), evidence.Objects(evidence.NetworkConfigs, ""), evidence.Objects(evidence.Pods, openshift.OVNNamespace),
			evidence.Objects(evidence.Pods, openshift.MultusNamespace), evidence.Texts(ovnLog), evidence.Texts(multusLog)), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, error) {
	var f Host
	if err := pluginOVN(ctx, w); err != nil {
		return f, err
	}
	h, err := joined(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	if err := deployed(ctx, w); err != nil {
		return f, err
	}
	created := h.Node.API.CreationTimestamp.UTC()
	f.NodeCreated.Set(created, evidence.Item{Locator: h.Node.Loc, Excerpt: "Node since " + created.Format(time.RFC3339), Time: created})
	var down []string // pods that are not ready, whose logs are read
	for _, d := range f.plugins() {
		pod, err := d.read(ctx, w, h)
		if err == nil && pod.Pod != "" && !pod.Ready {
			down = append(down, pod.Pod)
			err = f.log(ctx, w, d.log, pod)
		} else if err == nil && pod.Ready && f.SaidSince.Value().IsZero() {
			f.SaidSince.Set(pod.Since)
		}
		if err := facts.Miss(err, &f.Kubeconfig, &f.NotSigned, &f.Invalid, &f.SaidSince); err != nil {
			return f, err
		}
	}
	w.Concerns(func(t evidence.Text) bool { return t.Pod == "" || slices.Contains(down, t.Pod) })
	facts.Complete(&f)
	return f, nil
}

// plugin is a DaemonSet of the network, and the fields about its pod on the node.
type plugin struct {
	namespace, app string
	log            evidence.TextQuery
	pod, waiting   *facts.Field[string]
	ready          *facts.Field[bool]
	since          *facts.Field[time.Time]
}

func (f *Host) plugins() []plugin {
	return []plugin{
		{openshift.OVNNamespace, ovnApp, ovnLog, &f.OVNPod, &f.OVNWaiting, &f.OVNReady, &f.OVNSince},
		{openshift.MultusNamespace, multusApp, multusLog, &f.MultusPod, &f.MultusWaiting, &f.MultusReady, &f.MultusSince},
	}
}

// read finds the plugin's pod on the host and sets its fields.
func (d plugin) read(ctx context.Context, w *facts.World, h inventory.Host) (daemon, error) {
	node := h.Node.API.Name
	list, err := podsOn(ctx, w, d.namespace, node)
	if err != nil {
		return daemon{}, errors.Join(err, facts.Miss(err, d.pod, d.waiting, d.ready, d.since))
	}
	pod, err := on(list, d.app, node)
	if err != nil {
		return pod, err
	}
	item := evidence.Item{Locator: pod.Loc, Excerpt: fmt.Sprintf("%s: ready %t, %s", pod.Pod, pod.Ready, pod.Waiting), Time: pod.Since}
	if pod.Pod == "" {
		item = evidence.Listed(evidence.Pods, d.namespace, fmt.Sprintf("no pod of %s on node %s", d.app, node))
		item.Time = h.Node.API.CreationTimestamp.UTC()
	}
	d.pod.Set(pod.Pod, item)
	d.waiting.Set(pod.Waiting, item)
	d.ready.Set(pod.Ready, item)
	d.since.Set(pod.Since, item)
	return pod, nil
}

// deployed reports plugins that run on no node at all as not applicable: then the
// network operator has not rolled them out, which is no trouble of one host.
func deployed(ctx context.Context, w *facts.World) error {
	for namespace, app := range map[string]string{openshift.OVNNamespace: ovnApp, openshift.MultusNamespace: multusApp} {
		list, err := w.List(ctx, evidence.Pods, namespace)
		if err != nil {
			if _, ok := evidence.AsUnavailable(err); ok {
				return nil // what was not read is noted field by field
			}
			return err
		}
		for _, o := range list {
			if l, _ := o.Label("app"); l == app {
				return nil
			}
		}
	}
	return facts.NotApplicable("neither %s nor %s runs on any node: the plugins are not rolled out", ovnApp, multusApp)
}

// log reads what a pod that is not ready logs about its certificate. Lines of a pod that
// is ready are of a trouble that has passed: they are not read, which on a large cluster
// that is well spares a request for each node and plugin.
func (f *Host) log(ctx context.Context, w *facts.World, q evidence.TextQuery, pod daemon) error {
	for _, s := range []struct {
		id string
		to *facts.Field[bool]
	}{{sigKubeconfig, &f.Kubeconfig}, {sigNotSigned, &f.NotSigned}, {sigInvalid, &f.Invalid}} {
		lines, err := w.Matches(ctx, q, s.id)
		if err != nil {
			return err
		}
		for _, m := range lines {
			if m.Text.Pod != pod.Pod {
				continue
			}
			if !s.to.Value() {
				s.to.Set(true, m.Item())
			}
			if at, since := m.Line.Time, f.SaidSince.Value(); !at.IsZero() && (since.IsZero() || at.Before(since)) {
				f.SaidSince.Set(at, m.Item())
			}
		}
	}
	if f.SaidSince.Value().IsZero() {
		f.SaidSince.Set(pod.Since)
	}
	return nil
}
