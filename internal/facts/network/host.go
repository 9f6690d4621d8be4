package network

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Where the plugins run (openshift/cluster-network-operator:bindata/network/ovn-kubernetes,
// bindata/network/multus/multus.yaml).
const (
	ovnNamespace    = "openshift-ovn-kubernetes"
	ovnApp          = "ovnkube-node"
	multusNamespace = "openshift-multus"
	multusApp       = "multus"
)

var (
	ovnLog    = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: ovnNamespace, Container: "ovnkube-controller"}
	multusLog = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: multusNamespace, Container: "kube-multus"}
)

// Host is the fact host-network.
type Host struct {
	OVNPod        string    `cel:"ovnPod"` // of ovnkube-node on the node; "" where there is none
	OVNReady      bool      `cel:"ovnReady"`
	OVNWaiting    string    `cel:"ovnWaiting"`
	OVNSince      time.Time `cel:"ovnSince"`
	MultusPod     string    `cel:"multusPod"`
	MultusReady   bool      `cel:"multusReady"`
	MultusWaiting string    `cel:"multusWaiting"`
	MultusSince   time.Time `cel:"multusSince"`
	NodeCreated   time.Time `cel:"nodeCreated"`
	Kubeconfig    bool      `cel:"kubeconfig"` // a pod that is not ready cannot load the kubelet's kubeconfig
	NotSigned     bool      `cel:"notSigned"`  // its certificate was not signed in time
	Invalid       bool      `cel:"invalid"`    // its certificate is expired or not yet valid
	SaidSince     time.Time `cel:"saidSince"`
}

// HostFact is the fact host-network.
func HostFact() facts.Fact {
	return facts.DefinePlain("host-network", fault.Host, "whether the network plugin's pods run on the node, and what keeps them from it",
		append(hosts.Needs(), evidence.Objects(evidence.NetworkConfigs, ""), evidence.Objects(evidence.Pods, ovnNamespace),
			evidence.Objects(evidence.Pods, multusNamespace), evidence.Texts(ovnLog), evidence.Texts(multusLog)), readHost)
}

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Host, facts.Proof, error) {
	var f Host
	var p facts.Proof
	if err := pluginOVN(ctx, w); err != nil {
		return f, p, err
	}
	h, err := joined(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	if err := deployed(ctx, w); err != nil {
		return f, p, err
	}
	f.NodeCreated = h.Node.API.CreationTimestamp.UTC()
	p.Add(h.Node.Loc, "Node since "+f.NodeCreated.Format(time.RFC3339), f.NodeCreated, "nodeCreated")
	for _, d := range []struct {
		namespace, app string
		log            evidence.TextQuery
		pod, waiting   *string
		ready          *bool
		since          *time.Time
		fields         []string
	}{
		{ovnNamespace, ovnApp, ovnLog, &f.OVNPod, &f.OVNWaiting, &f.OVNReady, &f.OVNSince, []string{"ovnPod", "ovnReady", "ovnWaiting", "ovnSince"}},
		{multusNamespace, multusApp, multusLog, &f.MultusPod, &f.MultusWaiting, &f.MultusReady, &f.MultusSince, []string{"multusPod", "multusReady", "multusWaiting", "multusSince"}},
	} {
		list, err := podsOn(ctx, w, d.namespace, h.Node.API.Name)
		if err != nil {
			if err := miss(&p, err, append(d.fields, said...)...); err != nil {
				return f, p, err
			}
			continue
		}
		pod, err := on(list, d.app, h.Node.API.Name)
		if err != nil {
			return f, p, err
		}
		*d.pod, *d.waiting, *d.ready, *d.since = pod.Pod, pod.Waiting, pod.Ready, pod.Since
		if pod.Pod == "" {
			p.Add(evidence.Locator{Path: "pods -n " + d.namespace}, fmt.Sprintf("no pod of %s on node %s", d.app, h.Node.API.Name), f.NodeCreated, d.fields...)
			continue
		}
		p.Add(pod.Loc, fmt.Sprintf("%s: ready %t, %s", pod.Pod, pod.Ready, pod.Waiting), pod.Since, d.fields...)
		if err := miss(&p, f.log(ctx, w, d.log, pod, &p), said...); err != nil {
			return f, p, err
		}
	}
	return f, p, nil
}

// deployed reports plugins that run on no node at all as not applicable: then the
// network operator has not rolled them out, which is no trouble of one host.
func deployed(ctx context.Context, w *facts.World) error {
	for namespace, app := range map[string]string{ovnNamespace: ovnApp, multusNamespace: multusApp} {
		list, err := w.List(ctx, evidence.Pods, namespace)
		if err != nil {
			if _, ok := evidence.AsUnavailable(err); ok {
				return nil // what could not be read is noted field by field
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

// said are the fields that the logs decide.
var said = []string{"kubeconfig", "notSigned", "invalid", "saidSince"}

// log reads what a pod says of its certificate. Lines of a pod that is ready are
// of a trouble that has passed: they are not read, which on a large cluster that
// is well spares a request for each node and plugin.
func (f *Host) log(ctx context.Context, w *facts.World, q evidence.TextQuery, pod daemon, p *facts.Proof) error {
	if pod.Ready {
		if f.SaidSince.IsZero() {
			f.SaidSince = pod.Since
		}
		return nil
	}
	unread, err := w.Unread(ctx, q)
	if err != nil {
		return err
	}
	if why, ok := unread[[2]string{q.Namespace, pod.Pod}]; ok {
		return &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.Unreachable, Detail: why,
			Supply: fmt.Sprintf("oc logs -n %s -c %s %s", q.Namespace, q.Container, pod.Pod)}
	}
	silent := true
	for _, s := range []struct {
		id, field string
		to        *bool
	}{{sigKubeconfig, "kubeconfig", &f.Kubeconfig}, {sigNotSigned, "notSigned", &f.NotSigned}, {sigInvalid, "invalid", &f.Invalid}} {
		lines, err := w.Matches(ctx, q, s.id)
		if err != nil {
			return err
		}
		for _, m := range lines {
			if m.Text.Pod != pod.Pod {
				continue
			}
			if !*s.to {
				p.Add(m.Line.Loc, m.Line.Text, m.Line.Time, s.field, "saidSince")
			}
			*s.to, silent = true, false
			if at := m.Line.Time; !at.IsZero() && (f.SaidSince.IsZero() || at.Before(f.SaidSince)) {
				f.SaidSince = at
			}
		}
	}
	if why, ok := unread[[2]string{q.Namespace, ""}]; ok && silent { // its log may be among those
		return &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.Damaged, Detail: why}
	}
	if f.SaidSince.IsZero() {
		f.SaidSince = pod.Since
	}
	return nil
}
