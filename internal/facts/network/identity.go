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
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// identityApp is the DaemonSet on the control plane that approves the plugins' certificates
// and has the webhook for node and pod status
// (openshift/cluster-network-operator:bindata/network/node-identity).
const identityApp = "network-node-identity"

var kubeletJournal = evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}

// identity is the fact node-identity.
type identity struct {
	Running      facts.Field[int]       `cel:"running"`
	NotRunningOn facts.Field[[]string]  `cel:"notRunningOn"` // control-plane nodes that are Ready
	Since        facts.Field[time.Time] `cel:"since"`
	Webhook      facts.Field[int]       `cel:"webhook"` // lines in which a kubelet logs that the webhook failed
	WebhookFirst facts.Field[time.Time] `cel:"webhookFirst"`
	WebhookLast  facts.Field[time.Time] `cel:"webhookLast"`
}

// identityFact is the fact node-identity.
func identityFact() facts.Fact {
	return facts.Define("node-identity", fault.Cluster, "whether approver and webhook of the network's node identities run on every control-plane host",
		[]evidence.Need{evidence.Objects(evidence.NetworkConfigs, ""), evidence.Objects(evidence.Pods, openshift.NodeIdentityNamespace),
			evidence.Objects(evidence.Nodes, ""), evidence.Texts(kubeletJournal)}, readIdentity)
}

func readIdentity(ctx context.Context, w *facts.World, _ fault.Subject) (identity, error) {
	var f identity
	if err := pluginOVN(ctx, w); err != nil {
		return f, err
	}
	pods, err := w.List(ctx, evidence.Pods, openshift.NodeIdentityNamespace)
	if err != nil {
		return f, err
	}
	if !slices.ContainsFunc(pods, func(o evidence.Object) bool { l, _ := o.Label("app"); return l == identityApp }) {
		return f, facts.NotApplicable("node identities are not deployed: before 4.14, or switched off")
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return f, err
	}
	running := 0
	for _, n := range nodes {
		ready, err := f.node(n, pods)
		if err != nil {
			return f, err
		}
		if ready {
			running++
		}
	}
	count := evidence.Listed(evidence.Pods, openshift.NodeIdentityNamespace, fmt.Sprintf("%d run", running))
	f.Running.Set(running, count)
	f.NotRunningOn.Set(f.NotRunningOn.Value(), count)
	f.Since.Set(f.Since.Value(), count)
	if err := facts.Miss(f.webhook(ctx, w), &f.Webhook, &f.WebhookFirst, &f.WebhookLast); err != nil {
		return f, err
	}
	facts.Complete(&f)
	return f, nil
}

// webhook counts the kubelets' lines about the webhook that failed. When it failed last is
// known only where no journal breaks off.
func (f *identity) webhook(ctx context.Context, w *facts.World) error {
	lines, err := w.Matches(ctx, kubeletJournal, sigWebhook)
	if err != nil || len(lines) == 0 {
		return err
	}
	var first, last time.Time
	for _, m := range lines {
		if first.IsZero() || m.Line.Time.Before(first) {
			first = m.Line.Time
		}
		if m.Line.Time.After(last) {
			last = m.Line.Time
		}
	}
	proof := lines[len(lines)-1].Item()
	f.Webhook.Set(len(lines), proof)
	f.WebhookFirst.Set(first, proof)
	f.WebhookLast.Set(last, proof)
	return facts.Miss(w.Gap(ctx, kubeletJournal, nil), &f.WebhookLast)
}

// node looks for the pod on a control-plane node that is Ready, and reports whether it
// is ready there.
func (f *identity) node(n evidence.Object, pods []evidence.Object) (bool, error) {
	node, err := evidence.Decode[corev1.Node](n)
	if err != nil {
		return false, err
	}
	_, master := node.Labels[openshift.MasterLabel]
	_, controlPlane := node.Labels[openshift.ControlPlaneLabel]
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if !ready || !master && !controlPlane {
		return false, nil
	}
	pod, err := on(pods, identityApp, n.Name)
	if err != nil || pod.Ready {
		return pod.Ready, err
	}
	item := evidence.Item{Locator: pod.Loc, Excerpt: pod.Pod + ": " + pod.Waiting, Time: pod.Since}
	if pod.Pod == "" {
		item = evidence.Item{Locator: n.Loc, Excerpt: "no pod of " + identityApp + " on " + n.Name, Time: n.Created()}
	}
	f.NotRunningOn.Set(append(f.NotRunningOn.Value(), n.Name), item)
	if since := f.Since.Value(); since.IsZero() || item.Time.Before(since) {
		f.Since.Set(item.Time, item)
	}
	return false, nil
}

// onPremise are the platforms whose installer sets up VIPs, and the
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
	Namespace facts.Field[string]    `cel:"namespace"`
	Missing   facts.Field[[]string]  `cel:"missing"`
	NotReady  facts.Field[[]string]  `cel:"notReady"`
	Waiting   facts.Field[string]    `cel:"waiting"`
	Since     facts.Field[time.Time] `cel:"since"`
}

// InfraFact is the fact onprem-pods.
func InfraFact() facts.Fact {
	needs := append(inventory.Needs(), evidence.Objects(evidence.Infrastructures, ""))
	for _, short := range []string{"kni", "nutanix", "openstack", "vsphere"} {
		needs = append(needs, evidence.Objects(evidence.Pods, infraNamespace(short)))
	}
	return facts.Define("onprem-pods", fault.Host, "whether keepalived, haproxy and coredns of an on-premises platform run on the node", needs, readInfra)
}

func readInfra(ctx context.Context, w *facts.World, s fault.Subject) (Infra, error) {
	var f Infra
	p, err := platform.Type(ctx, w)
	if err != nil {
		return f, err
	}
	infra := p.Object
	on, ok := onPremise[p.Text]
	if !ok {
		return f, facts.Excluded(p.Item(), "platform %s has no VIPs of its own", p.Text)
	}
	status, _ := evidence.Field(infra.Content, "status", "platformStatus", on.status).(map[string]any)
	if len(texts(status["apiServerInternalIPs"])) == 0 && evidence.String(status, "apiServerInternalIP") == "" {
		return f, facts.NotApplicable("the cluster has no VIPs")
	}
	if evidence.String(status, "loadBalancer", "type") == "UserManaged" {
		return f, facts.Excluded(infra.Shows("status.platformStatus."+on.status+".loadBalancer.type", "UserManaged", time.Time{}),
			"the load balancer is managed outside the cluster")
	}
	namespace := infraNamespace(on.short)
	f.Namespace.Set(namespace, p.Item())
	h, err := joined(ctx, w, s.Name)
	if err != nil {
		return f, err
	}
	pods, err := podsOn(ctx, w, namespace, h.Node.API.Name)
	if err != nil {
		return f, err
	}
	wanted := []string{"keepalived", "coredns"}
	if _, master := h.Node.API.Labels[openshift.MasterLabel]; master {
		wanted = append(wanted, "haproxy")
	}
	for _, name := range wanted {
		if err := f.readPods(name, h, pods); err != nil {
			return f, err
		}
	}
	facts.Complete(&f)
	return f, nil
}

func (f *Infra) readPods(name string, h inventory.Host, pods []evidence.Object) error {
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
			f.prove(o.Shows("status", name+" is Ready", time.Time{}))
			return nil
		}
		since := pod.CreationTimestamp.UTC()
		if i >= 0 {
			since = pod.Status.Conditions[i].LastTransitionTime.UTC()
		}
		f.NotReady.Set(append(f.NotReady.Value(), name))
		f.Waiting.Set(waiting(pod))
		f.began(since)
		f.prove(o.Shows("status", name+": "+f.Waiting.Value(), since))
		return nil
	}
	f.Missing.Set(append(f.Missing.Value(), name))
	f.began(h.Node.API.CreationTimestamp.UTC())
	f.prove(evidence.Listed(evidence.Pods, f.Namespace.Value(), "no "+name+" on node "+h.Node.API.Name))
	return nil
}

func (f *Infra) prove(item evidence.Item) {
	facts.Prove(item, &f.Missing, &f.NotReady, &f.Waiting, &f.Since)
}

func (f *Infra) began(t time.Time) {
	if since := f.Since.Value(); since.IsZero() || t.Before(since) {
		f.Since.Set(t)
	}
}
