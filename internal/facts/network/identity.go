package network

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Where the approver of the plugins' certificates and the webhook for node and pod
// status run: one DaemonSet on the control plane
// (openshift/cluster-network-operator:bindata/network/node-identity).
const (
	identityNamespace = "openshift-network-node-identity"
	identityApp       = "network-node-identity"
)

var kubeletJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}

// Identity is the fact node-identity.
type Identity struct {
	Running      int       `cel:"running"`
	NotRunningOn []string  `cel:"notRunningOn"` // control-plane nodes that are Ready
	Since        time.Time `cel:"since"`
	Webhook      int       `cel:"webhook"` // lines in which a kubelet says that the webhook failed
	WebhookFirst time.Time `cel:"webhookFirst"`
	WebhookLast  time.Time `cel:"webhookLast"`
}

// IdentityFact is the fact node-identity.
func IdentityFact() facts.Fact {
	return facts.DefinePlain("node-identity", fault.Cluster, "whether approver and webhook of the network's node identities run on every control-plane host",
		[]evidence.Need{evidence.Objects(evidence.NetworkConfigs, ""), evidence.Objects(evidence.Pods, identityNamespace),
			evidence.Objects(evidence.Nodes, ""), evidence.Texts(kubeletJournal)}, readIdentity)
}

func readIdentity(ctx context.Context, w *facts.World, _ fault.Subject) (Identity, facts.Proof, error) {
	var f Identity
	var p facts.Proof
	if err := pluginOVN(ctx, w); err != nil {
		return f, p, err
	}
	pods, err := w.List(ctx, evidence.Pods, identityNamespace)
	if err != nil {
		return f, p, err
	}
	if !slices.ContainsFunc(pods, func(o evidence.Object) bool { l, _ := o.Label("app"); return l == identityApp }) {
		return f, p, facts.NotApplicable("node identities are not deployed: before 4.14, or switched off")
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return f, p, err
	}
	for _, n := range nodes {
		if err := f.node(n, pods, &p); err != nil {
			return f, p, err
		}
	}
	p.Add(evidence.Locator{Path: "pods -n " + identityNamespace}, fmt.Sprintf("%d run", f.Running), time.Time{}, "running", "notRunningOn")
	lines, err := w.Matches(ctx, kubeletJournal, sigWebhook)
	if err != nil {
		err = miss(&p, err, "webhook", "webhookFirst", "webhookLast")
		return f, p, err
	}
	for _, m := range lines {
		f.Webhook++
		if f.WebhookFirst.IsZero() || m.Line.Time.Before(f.WebhookFirst) {
			f.WebhookFirst = m.Line.Time
		}
		if m.Line.Time.After(f.WebhookLast) {
			f.WebhookLast = m.Line.Time
		}
	}
	if len(lines) > 0 {
		last := lines[len(lines)-1]
		p.Add(last.Line.Loc, last.Line.Text, last.Line.Time, "webhook", "webhookFirst", "webhookLast")
	}
	silent := len(lines) == 0
	err = w.Unheard(ctx, &p, kubeletJournal, nil, map[string]bool{"webhook": silent, "webhookFirst": silent, "webhookLast": true})
	return f, p, err
}

func (f *Identity) node(n evidence.Object, pods []evidence.Object, p *facts.Proof) error {
	node, err := evidence.Decode[corev1.Node](n)
	if err != nil {
		return err
	}
	_, master := node.Labels["node-role.kubernetes.io/master"]
	_, controlPlane := node.Labels["node-role.kubernetes.io/control-plane"]
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if !ready || !master && !controlPlane {
		return nil
	}
	pod, err := on(pods, identityApp, n.Name)
	if err != nil {
		return err
	}
	if pod.Ready {
		f.Running++
		return nil
	}
	since, loc, text := pod.Since, pod.Loc, pod.Pod+": "+pod.Waiting
	if pod.Pod == "" {
		since, loc, text = n.Created(), n.Loc, "no pod of "+identityApp+" on "+n.Name
	}
	f.NotRunningOn = append(f.NotRunningOn, n.Name)
	if f.Since.IsZero() || since.Before(f.Since) {
		f.Since = since
	}
	p.Add(loc, text, since, "notRunningOn", "running", "since")
	return nil
}

// onPremise are the platforms whose installer sets up virtual addresses, and the
// short names of which the namespaces of their static pods are made
// (openshift/machine-config-operator:pkg/controller/template/render.go
// onPremPlatformShortName, templates/common/on-prem/files).
var onPremise = map[string]struct{ short, status string }{
	"BareMetal": {"kni", "baremetal"},
	"Nutanix":   {"nutanix", "nutanix"},
	"OpenStack": {"openstack", "openstack"},
	"VSphere":   {"vsphere", "vsphere"},
}

func infraNamespace(short string) string { return "openshift-" + short + "-infra" }

// Infra is the fact onprem-pods.
type Infra struct {
	Namespace string    `cel:"namespace"`
	Missing   []string  `cel:"missing"`
	NotReady  []string  `cel:"notReady"`
	Waiting   string    `cel:"waiting"`
	Since     time.Time `cel:"since"`
}

// InfraFact is the fact onprem-pods.
func InfraFact() facts.Fact {
	needs := append(hosts.Needs(), evidence.Objects(evidence.Infrastructures, ""))
	for _, short := range []string{"kni", "nutanix", "openstack", "vsphere"} {
		needs = append(needs, evidence.Objects(evidence.Pods, infraNamespace(short)))
	}
	return facts.DefinePlain("onprem-pods", fault.Host, "whether keepalived, haproxy and coredns of an on-premises platform run on the node", needs, readInfra)
}

func readInfra(ctx context.Context, w *facts.World, s fault.Subject) (Infra, facts.Proof, error) {
	var f Infra
	var p facts.Proof
	infra, _, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err != nil {
		return f, p, err
	}
	platform := evidence.String(infra.Content, "status", "platformStatus", "type")
	on, ok := onPremise[platform]
	if !ok {
		return f, p, facts.NotApplicable("platform %s has no virtual addresses of its own", platform)
	}
	status, _ := evidence.Field(infra.Content, "status", "platformStatus", on.status).(map[string]any)
	if len(texts(status["apiServerInternalIPs"])) == 0 && evidence.String(status, "apiServerInternalIP") == "" {
		return f, p, facts.NotApplicable("the cluster has no virtual addresses")
	}
	if evidence.String(status, "loadBalancer", "type") == "UserManaged" {
		return f, p, facts.NotApplicable("the load balancer is managed outside the cluster")
	}
	f.Namespace = infraNamespace(on.short)
	h, err := joined(ctx, w, s.Name)
	if err != nil {
		return f, p, err
	}
	pods, err := podsOn(ctx, w, f.Namespace, h.Node.API.Name)
	if err != nil {
		return f, p, err
	}
	wanted := []string{"keepalived", "coredns"}
	if _, master := h.Node.API.Labels["node-role.kubernetes.io/master"]; master {
		wanted = append(wanted, "haproxy")
	}
	for _, name := range wanted {
		if err := f.look(name, h, pods, &p); err != nil {
			return f, p, err
		}
	}
	return f, p, nil
}

func (f *Infra) look(name string, h hosts.Host, pods []evidence.Object, p *facts.Proof) error {
	node := h.Node.API.Name
	fields := []string{"missing", "notReady", "waiting", "since"}
	for _, o := range pods {
		if !strings.HasPrefix(o.Name, name+"-") {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
		if i >= 0 && pod.Status.Conditions[i].Status == corev1.ConditionTrue {
			p.Add(o.Loc.At("status"), name+" is Ready", time.Time{}, fields...)
			return nil
		}
		since := pod.CreationTimestamp.UTC()
		if i >= 0 {
			since = pod.Status.Conditions[i].LastTransitionTime.UTC()
		}
		f.NotReady, f.Waiting = append(f.NotReady, name), waiting(pod)
		f.began(since)
		p.Add(o.Loc.At("status"), name+": "+f.Waiting, since, fields...)
		return nil
	}
	f.Missing = append(f.Missing, name)
	f.began(h.Node.API.CreationTimestamp.UTC())
	p.Add(evidence.Locator{Path: "pods -n " + f.Namespace}, "no "+name+" on node "+node, time.Time{}, fields...)
	return nil
}

func (f *Infra) began(t time.Time) {
	if f.Since.IsZero() || t.Before(f.Since) {
		f.Since = t
	}
}
