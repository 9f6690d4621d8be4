package mcs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// workload is whether the machine config servers run: a DaemonSet on the
// masters. It has no probes, so Ready only says that the process is alive
// (openshift/machine-config-operator:manifests/machineconfigserver/daemonset.yaml).
type workload struct {
	Exists       facts.Field[bool]      `cel:"exists"`       // the DaemonSet
	Desired      facts.Field[int64]     `cel:"desired"`      // servers that are to run
	Ready        facts.Field[int64]     `cel:"ready"`        // servers that do
	NotRunningOn facts.Field[[]string]  `cel:"notRunningOn"` // masters that are Ready and have no running server
	MountFailed  facts.Field[string]    `cel:"mountFailed"`  // the secret that a server cannot mount, "" for none
	TLSSecret    facts.Field[bool]      `cel:"tlsSecret"`    // secret machine-config-server-tls exists
	TokenSecret  facts.Field[bool]      `cel:"tokenSecret"`  // secret node-bootstrapper-token exists
	Since        facts.Field[time.Time] `cel:"since"`        // since when the first of notRunningOn has no running server
	MountSince   facts.Field[time.Time] `cel:"mountSince"`   // the first mount failure
}

var workloadFact = facts.Define("mcs-workload", fault.Cluster, "whether the machine config servers run on every master, and their secrets",
	[]evidence.Need{
		evidence.Objects(evidence.DaemonSets, openshift.MachineConfigNamespace), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace),
		evidence.Objects(evidence.Nodes, ""),
		evidence.Objects(evidence.Events, openshift.MachineConfigNamespace), evidence.Objects(evidence.Secrets, openshift.MachineConfigNamespace),
	}, readWorkload)

func readWorkload(ctx context.Context, w *facts.World, _ fault.Subject) (workload, error) {
	var l workload
	for _, part := range []struct {
		read   func(context.Context, *facts.World) error
		fields []facts.Setter
	}{
		{l.daemonSet, []facts.Setter{&l.Exists, &l.Desired, &l.Ready}},
		{l.pods, []facts.Setter{&l.NotRunningOn, &l.Since}},
		{l.events, []facts.Setter{&l.MountFailed, &l.MountSince}},
		{l.secrets, []facts.Setter{&l.TLSSecret, &l.TokenSecret}},
	} {
		if err := facts.Miss(part.read(ctx, w), part.fields...); err != nil {
			return l, err
		}
	}
	facts.Complete(&l)
	return l, nil
}

func (l *workload) daemonSet(ctx context.Context, w *facts.World) error {
	o, ok, err := w.Get(ctx, evidence.DaemonSets, openshift.MachineConfigNamespace, openshift.MachineConfigServer)
	if err != nil {
		return err
	}
	desired, ready := evidence.Int(o.Content, "status", "desiredNumberScheduled"), evidence.Int(o.Content, "status", "numberReady")
	item := evidence.Listed(evidence.DaemonSets, openshift.MachineConfigNamespace, "there is no DaemonSet "+openshift.MachineConfigServer)
	if ok {
		item = o.Shows("status", fmt.Sprintf("desiredNumberScheduled: %d, numberReady: %d", desired, ready), time.Time{})
	}
	l.Exists.Set(ok, item)
	l.Desired.Set(desired, item)
	l.Ready.Set(ready, item)
	return nil
}

// pods finds masters that are Ready and on which no server runs. A master that is
// not Ready has another trouble.
func (l *workload) pods(ctx context.Context, w *facts.World) error {
	pods, err := w.List(ctx, evidence.Pods, openshift.MachineConfigNamespace)
	if err != nil {
		return err
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return err
	}
	running := map[string]bool{}
	state := map[string]evidence.Item{}
	for _, o := range pods {
		if app, _ := o.Label("k8s-app"); app != openshift.MachineConfigServer {
			continue
		}
		node := evidence.String(o.Content, "spec", "nodeName")
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		ready := slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return c.Name == openshift.MachineConfigServer && c.Ready
		})
		running[node] = running[node] || ready
		state[node] = o.Shows("status", podState(pod), notReadySince(pod))
	}
	var missing []string
	var since time.Time
	for _, n := range nodes {
		if _, master := n.Label(openshift.MasterLabel); !master || running[n.Name] || !nodeReady(n) {
			continue
		}
		item, ok := state[n.Name]
		if !ok {
			item = evidence.Item{Locator: n.Loc, Excerpt: "no pod of " + openshift.MachineConfigServer + " on master " + n.Name, Time: n.Created()}
		}
		if len(missing) == 0 || item.Time.Before(since) {
			since = item.Time
		}
		missing = append(missing, n.Name)
		facts.Prove(item, &l.NotRunningOn, &l.Since)
	}
	if len(missing) == 0 {
		facts.Prove(evidence.Listed(evidence.Pods, openshift.MachineConfigNamespace, "a server runs on every master that is Ready"), &l.NotRunningOn, &l.Since)
	}
	l.NotRunningOn.Set(missing)
	l.Since.Set(since)
	return nil
}

// notReadySince is when a pod ceased to be ready, or was made.
func notReadySince(p corev1.Pod) time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && !c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.UTC()
		}
	}
	return p.CreationTimestamp.UTC()
}

func podState(p corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.Name != openshift.MachineConfigServer:
		case c.State.Waiting != nil:
			return fmt.Sprintf("phase %s, waiting: %s %s", p.Status.Phase, c.State.Waiting.Reason, c.State.Waiting.Message)
		case c.State.Terminated != nil:
			return fmt.Sprintf("phase %s, terminated: %s (exit %d)", p.Status.Phase, c.State.Terminated.Reason, c.State.Terminated.ExitCode)
		default:
			return fmt.Sprintf("phase %s, ready %t", p.Status.Phase, c.Ready)
		}
	}
	return "phase " + string(p.Status.Phase)
}

func nodeReady(o evidence.Object) bool {
	conditions, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if evidence.String(m, "type") == "Ready" {
			return evidence.String(m, "status") == "True"
		}
	}
	return false
}

// notFound is what the kubelet says of a volume whose secret is missing.
var notFound = regexp.MustCompile(`(?i)secret "([^"]+)" not found`)

// events looks for mount failures of the servers' pods. An old one counts only
// while a server does not run: events outlive their cause.
func (l *workload) events(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.Events, openshift.MachineConfigNamespace)
	if err != nil {
		return err
	}
	var secret string
	var since time.Time
	for _, o := range list {
		name := evidence.String(o.Content, "involvedObject", "name")
		if evidence.String(o.Content, "reason") != "FailedMount" || !strings.HasPrefix(name, openshift.MachineConfigServer) {
			continue
		}
		message := evidence.String(o.Content, "message")
		m := notFound.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		secret = m[1]
		if at := evidence.Time(o.Content, "firstTimestamp"); since.IsZero() || at.Before(since) {
			since = at
		}
		facts.Prove(o.Shows("message", excerpt.Of(message), evidence.Time(o.Content, "lastTimestamp")), &l.MountFailed, &l.MountSince)
	}
	l.MountFailed.Set(secret)
	l.MountSince.Set(since)
	return nil
}

func (l *workload) secrets(ctx context.Context, w *facts.World) error {
	for _, s := range []struct {
		name   string
		exists *facts.Field[bool]
	}{{openshift.MCSCertificate, &l.TLSSecret}, {"node-bootstrapper-token", &l.TokenSecret}} {
		o, ok, err := w.Get(ctx, evidence.Secrets, openshift.MachineConfigNamespace, s.name)
		if err != nil {
			return err
		}
		item := evidence.Item{Locator: o.Loc, Excerpt: "secret " + s.name + " exists"}
		if !ok {
			item = evidence.Listed(evidence.Secrets, openshift.MachineConfigNamespace, "there is no secret "+s.name+" among those that were listed")
		}
		s.exists.Set(ok, item)
	}
	return nil
}
