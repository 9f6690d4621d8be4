package badconditions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// podsOf are the namespaces of the operators on which the joining of hosts depends, by the name of
// their ClusterOperator. The control plane's static pods have faults of their own.
func podsOf(operator, network string) []string {
	switch operator {
	case "network":
		switch network {
		case "OpenShiftSDN":
			return []string{openshift.SDNNamespace, openshift.MultusNamespace}
		case "":
			return []string{openshift.SDNNamespace, openshift.OVNNamespace, openshift.MultusNamespace}
		}
		return []string{openshift.OVNNamespace, openshift.MultusNamespace}
	case "machine-config":
		return []string{openshift.MachineConfigNamespace}
	case "machine-approver":
		return []string{openshift.MachineApproverNamespace}
	}
	return nil
}

var podsFact = facts.Define("operator-pods", fault.Operator, "pods of an operator whose containers crash or cannot start",
	[]evidence.Need{
		evidence.Objects(evidence.NetworkConfigs, ""), evidence.Objects(evidence.Pods, openshift.SDNNamespace),
		evidence.Objects(evidence.Pods, openshift.OVNNamespace), evidence.Objects(evidence.Pods, openshift.MultusNamespace),
		evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace),
		evidence.Objects(evidence.Pods, openshift.MachineApproverNamespace),
	}, readPods)

// podNormal is for how long containers may crash: a pod of a node that starts does until what it
// needs is there.
const podNormal = 15 * time.Minute

func readPods(ctx context.Context, w *facts.World, s fault.Subject) (Bad, error) {
	network := ""
	var unread error
	if s.Name == "network" {
		o, _, err := w.Get(ctx, evidence.NetworkConfigs, "", "cluster")
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return Bad{}, err
		}
		unread = err
		network = evidence.String(o.Content, "status", "networkType")
	}
	namespaces := podsOf(s.Name, network)
	if len(namespaces) == 0 {
		return Bad{}, facts.NotApplicable("no pods of operator %s are checked", s.Name)
	}
	var list []condition
	var shown []evidence.Item
	for _, ns := range namespaces {
		pods, err := w.Some(ctx, evidence.Pods, ns)
		if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
			return Bad{}, err
		}
		if _, whole := w.List(ctx, evidence.Pods, ns); whole != nil {
			unread = cmp.Or(unread, whole)
		}
		found, err := failing(pods, w.Now)
		if err != nil {
			return Bad{}, err
		}
		list = append(list, found...)
		shown = append(shown, evidence.Listed(evidence.Pods, ns, fmt.Sprintf("no container of %d pods fails", len(pods))))
	}
	if len(list) == 0 && unread != nil {
		return Bad{}, unread
	}
	return bad(list, shown...), nil
}

// group is the pods of one owner.
type group struct {
	total, failing int
	condition
}

// failing lists the pods of which a container fails, by their owner.
func failing(pods []evidence.Object, now time.Time) ([]condition, error) {
	groups := map[string]*group{}
	var order []string
	for _, o := range pods {
		pod, err := evidence.Decode[corev1.Pod](o)
		if _, damaged := evidence.AsUnavailable(err); damaged {
			continue // one pod that does not fit its schema must not hide the others
		}
		if err != nil {
			return nil, err
		}
		if pod.DeletionTimestamp != nil || slices.Contains([]corev1.PodPhase{"Succeeded", "Failed"}, pod.Status.Phase) {
			continue
		}
		owner := ownerOf(o)
		g := groups[owner]
		if g == nil {
			g = &group{}
			groups[owner], order = g, append(order, owner)
		}
		g.total++
		why := failure(pod, now)
		if why == "" {
			continue
		}
		if g.failing++; g.failing == 1 {
			since := notReadySince(pod)
			g.condition = condition{why, since, podNormal, o.Shows("status.containerStatuses", o.Name+": "+why, since)}
		}
	}
	var list []condition
	for _, owner := range order {
		if g := groups[owner]; g.failing > 0 {
			g.says = fmt.Sprintf("%d of %d pods of %s: %s", g.failing, g.total, owner, g.says)
			list = append(list, g.condition)
		}
	}
	return list, nil
}

// ownerOf names what a pod belongs to: its DaemonSet, its ReplicaSet without the hash of its
// template, or the pod itself.
func ownerOf(o evidence.Object) string {
	owners, _ := evidence.Field(o.Content, "metadata", "ownerReferences").([]any)
	if len(owners) == 0 {
		return o.Name
	}
	m, _ := owners[0].(map[string]any)
	name := evidence.String(m, "name")
	if evidence.String(m, "kind") == "ReplicaSet" {
		if i := strings.LastIndex(name, "-"); i > 0 {
			name = name[:i]
		}
	}
	return name
}

// stuck are the reasons for which a container waits that are failures
// (kubernetes/kubernetes:pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go,
// pkg/kubelet/kuberuntime/kuberuntime_container.go).
var stuck = []string{"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
	"RegistryUnavailable", "SignatureValidationFailed", "CreateContainerConfigError", "CreateContainerError", "PreCreateHookError",
	"PostStartHookError", "RunContainerError"}

// A container that was started often, and whose last run was short and ended just now, crashes
// also while it runs again (internal/facts/crashloop).
const (
	often    = 3
	shortRun = 10 * time.Minute
	lately   = 15 * time.Minute
)

// failure is why a container of a pod fails, "" where none does.
func failure(pod corev1.Pod, now time.Time) string {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		last := c.State.Terminated
		if last == nil {
			last = c.LastTerminationState.Terminated
		}
		exit := ""
		if last != nil && last.ExitCode != 0 {
			exit = words(fmt.Sprintf("last run ended with %d %s", last.ExitCode, last.Reason), last.Message)
		}
		if waits := c.State.Waiting; waits != nil && slices.Contains(stuck, waits.Reason) {
			says := with(fmt.Sprintf("container %s waits: %s", c.Name, waits.Reason), exit)
			if exit == "" {
				says = with(says, words("", waits.Message))
			}
			return says
		}
		if c.RestartCount >= often && last != nil && last.ExitCode != 0 && now.Sub(last.FinishedAt.Time) < lately &&
			last.FinishedAt.Sub(last.StartedAt.Time) < shortRun {
			return with(fmt.Sprintf("container %s was restarted %d times", c.Name, c.RestartCount), exit)
		}
	}
	return ""
}

func notReadySince(pod corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			return c.LastTransitionTime.UTC()
		}
	}
	return pod.CreationTimestamp.UTC()
}
