package mcs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Workload is whether the machine config servers run: a DaemonSet on the
// masters. It has no probes, so Ready only says that the process is alive
// (openshift/machine-config-operator:manifests/machineconfigserver/daemonset.yaml).
type Workload struct {
	Exists       bool      `cel:"exists"`       // the DaemonSet
	Desired      int64     `cel:"desired"`      // servers that are to run
	Ready        int64     `cel:"ready"`        // servers that do
	NotRunningOn []string  `cel:"notRunningOn"` // masters that are Ready and have no running server
	MountFailed  string    `cel:"mountFailed"`  // the secret that a server cannot mount, "" for none
	TLSSecret    bool      `cel:"tlsSecret"`    // secret machine-config-server-tls exists
	TokenSecret  bool      `cel:"tokenSecret"`  // secret node-bootstrapper-token exists
	Since        time.Time `cel:"since"`        // since when the first of notRunningOn has no running server
	MountSince   time.Time `cel:"mountSince"`   // the first mount failure
}

var workloadFact = facts.DefinePlain("mcs-workload", fault.Cluster, "whether the machine config servers run on every master, and their secrets",
	[]evidence.Need{
		evidence.Objects(evidence.DaemonSets, Namespace), evidence.Objects(evidence.Pods, Namespace), evidence.Objects(evidence.Nodes, ""),
		evidence.Objects(evidence.Events, Namespace), evidence.Objects(evidence.Secrets, Namespace),
	}, readWorkload)

const serverName = "machine-config-server"

func readWorkload(ctx context.Context, w *facts.World, _ fault.Subject) (Workload, facts.Proof, error) {
	var l Workload
	var p facts.Proof
	for _, part := range []struct {
		read   func(context.Context, *facts.World, *facts.Proof) error
		fields []string
	}{
		{l.daemonSet, []string{"exists", "desired", "ready"}},
		{l.pods, []string{"notRunningOn", "since"}},
		{l.events, []string{"mountFailed", "mountSince"}},
		{l.secrets, []string{"tlsSecret", "tokenSecret"}},
	} {
		err := part.read(ctx, w, &p)
		if _, ok := evidence.AsUnavailable(err); ok {
			for _, f := range part.fields {
				p.Miss(f, err)
			}
		} else if err != nil {
			return l, p, err
		}
	}
	return l, p, nil
}

func (l *Workload) daemonSet(ctx context.Context, w *facts.World, p *facts.Proof) error {
	o, ok, err := w.Get(ctx, evidence.DaemonSets, Namespace, serverName)
	if err != nil || !ok {
		return err
	}
	l.Exists = true
	l.Desired = evidence.Int(o.Content, "status", "desiredNumberScheduled")
	l.Ready = evidence.Int(o.Content, "status", "numberReady")
	p.Add(o.Loc.At("status"), fmt.Sprintf("desiredNumberScheduled: %d, numberReady: %d", l.Desired, l.Ready), time.Time{}, "exists", "desired", "ready")
	return nil
}

// pods finds masters that are Ready and on which no server runs. A master that is
// not Ready has another trouble.
func (l *Workload) pods(ctx context.Context, w *facts.World, p *facts.Proof) error {
	pods, err := w.List(ctx, evidence.Pods, Namespace)
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
		if app, _ := o.Label("k8s-app"); app != serverName {
			continue
		}
		node := evidence.String(o.Content, "spec", "nodeName")
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		ready := slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == serverName && c.Ready })
		running[node] = running[node] || ready
		state[node] = evidence.Item{Locator: o.Loc.At("status"), Excerpt: podState(pod), Time: notReadySince(pod)}
	}
	for _, n := range nodes {
		if _, master := n.Label("node-role.kubernetes.io/master"); !master || running[n.Name] || !nodeReady(n) {
			continue
		}
		l.NotRunningOn = append(l.NotRunningOn, n.Name)
		item, ok := state[n.Name]
		if !ok {
			item = evidence.Item{Locator: n.Loc, Excerpt: "no pod of " + serverName + " on master " + n.Name, Time: n.Created()}
		}
		if l.Since.IsZero() || item.Time.Before(l.Since) {
			l.Since = item.Time
		}
		p.Add(item.Locator, item.Excerpt, item.Time, "notRunningOn")
	}
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
		case c.Name != serverName:
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
func (l *Workload) events(ctx context.Context, w *facts.World, p *facts.Proof) error {
	list, err := w.List(ctx, evidence.Events, Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		name := evidence.String(o.Content, "involvedObject", "name")
		if evidence.String(o.Content, "reason") != "FailedMount" || !strings.HasPrefix(name, serverName) {
			continue
		}
		message := evidence.String(o.Content, "message")
		m := notFound.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		l.MountFailed = m[1]
		if at := evidence.Time(o.Content, "firstTimestamp"); l.MountSince.IsZero() || at.Before(l.MountSince) {
			l.MountSince = at
		}
		p.Add(o.Loc.At("message"), excerpt(message), evidence.Time(o.Content, "lastTimestamp"), "mountFailed")
	}
	return nil
}

func (l *Workload) secrets(ctx context.Context, w *facts.World, p *facts.Proof) error {
	for _, s := range []struct {
		name, field string
		exists      *bool
	}{{"machine-config-server-tls", "tlsSecret", &l.TLSSecret}, {"node-bootstrapper-token", "tokenSecret", &l.TokenSecret}} {
		o, ok, err := w.Get(ctx, evidence.Secrets, Namespace, s.name)
		if err != nil {
			return err
		}
		*s.exists = ok
		if ok {
			p.Add(o.Loc, "secret "+s.name+" exists", time.Time{}, s.field)
		} else {
			p.Add(evidence.Locator{Path: "secrets -n " + Namespace}, "there is no secret "+s.name+" among those that were listed", time.Time{}, s.field)
		}
	}
	return nil
}
