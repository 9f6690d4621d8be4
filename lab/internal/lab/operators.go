package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// SetEtcdUnhealthy makes the simulated etcd operator report that one member is
// unhealthy, or no more. The lab's etcd itself is one healthy process, so that
// the API continues even where the report says that there is no quorum, as with
// one of two members; on a cluster no one could write that report.
func (d Dir) SetEtcdUnhealthy(on bool) error {
	if !on {
		err := os.Remove(d.EtcdUnhealthy())
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}
	return os.WriteFile(d.EtcdUnhealthy(), nil, 0o600)
}

// situation is what the simulated operators look at. All of it is read from
// the cluster.
type situation struct {
	members []string // masters with a running etcd mirror pod
	apis    int      // masters with a running kube-apiserver mirror pod
	sick    bool     // SetEtcdUnhealthy
	silent  []string // members whose etcd does not answer its probe
	lost    []string // Ready masters on which etcd was installed and has no mirror pod
	pool    *unstructured.Unstructured
	wanted  int // masters of the install
}

type condition struct{ kind, status, reason, message string }

// syncOperators writes the conditions of the operators that the lab does not
// run, from what is in the cluster. Only their values are simulated, each after
// the source named at it; an operator would write some of them minutes later
// (it waits before it calls itself degraded), here they are written at once.
func (l *Lab) syncOperators(ctx context.Context) error {
	if !l.controllerWanted() {
		return nil
	}
	s := situation{wanted: len(l.values.Hosts)}
	var err error
	if s.pool, err = l.pool(ctx, "master"); err != nil {
		return err
	}
	if err := l.etcdMembers(ctx, &s); err != nil {
		return err
	}
	apis, err := l.mirrorPods(ctx, "openshift-kube-apiserver", "kube-apiserver-")
	if err != nil {
		return err
	}
	s.apis = len(apis)
	_, err = os.Stat(l.opts.Dir.EtcdUnhealthy())
	s.sick = err == nil

	versioned, err := l.hasVersion(ctx, "machine-config")
	if err != nil {
		return err
	}
	blocking, why := "", ""
	operators := []struct {
		name       string
		conditions []condition
	}{
		{"authentication", s.authentication()},
		{"etcd", s.etcdOperator()},
		{"kube-apiserver", s.kubeAPIServer()},
		{"machine-config", s.machineConfig(versioned)},
		{"machine-approver", available("AsExpected", "")},
	}
	for _, op := range operators {
		settled, extension := true, map[string]any(nil)
		if op.name == "machine-config" {
			settled, extension = versioned || s.poolSettled(), s.poolExtension()
		}
		if err := l.writeOperator(ctx, op.name, op.conditions, settled, extension); err != nil {
			return err
		}
		if blocking == "" {
			if why = blocks(op.conditions, settled); why != "" {
				blocking = op.name
			}
		}
	}
	if err := l.writeConditions(ctx, etcdResource, "cluster", s.etcdCR(), func(o *unstructured.Unstructured) error {
		return unstructured.SetNestedField(o.Object, int64(len(s.members)), "status", "readyReplicas")
	}); err != nil {
		return err
	}
	return l.syncVersion(ctx, s, blocking, why)
}

// blocks says, in the words of a cluster-version condition, how an operator
// blocks an install: it is not available, or degraded, or has not reported
// the release's version yet
// (openshift/cluster-version-operator:lib/resourcebuilder, checkOperatorHealth).
func blocks(conditions []condition, versioned bool) string {
	switch {
	case statusOf(conditions, "Available") != "True":
		return "not available"
	case statusOf(conditions, "Degraded") == "True":
		return "degraded"
	case !versioned:
		return "still updating"
	}
	return ""
}

// writeOperator writes a ClusterOperator. Its version appears once the
// operator has settled for the first time, and stays.
func (l *Lab) writeOperator(ctx context.Context, name string, conditions []condition, settled bool, extension map[string]any) error {
	return l.writeConditions(ctx, operatorResource, name, conditions, func(o *unstructured.Unstructured) error {
		if extension != nil {
			if err := unstructured.SetNestedMap(o.Object, extension, "status", "extension"); err != nil {
				return err
			}
		}
		if !settled {
			return nil
		}
		return unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "operator", "version": seed.Version}}, "status", "versions")
	})
}

// hasVersion says whether an operator has reported a version.
func (l *Lab) hasVersion(ctx context.Context, name string) (bool, error) {
	o, err := l.dyn.Resource(operatorResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read clusteroperator %s: %w", name, err)
	}
	versions, _, err := unstructured.NestedSlice(o.Object, "status", "versions")
	return len(versions) > 0, err
}

// mirrorPods returns the running mirror pods whose names begin so.
func (l *Lab) mirrorPods(ctx context.Context, namespace, prefix string) ([]corev1.Pod, error) {
	pods, err := l.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", namespace, err)
	}
	var running []corev1.Pod
	for _, pod := range pods.Items {
		if strings.HasPrefix(pod.Name, prefix) && pod.Annotations[corev1.MirrorPodAnnotationKey] != "" && pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod)
		}
	}
	return running, nil
}

// etcdMembers reads who is a member: of several real members from etcd itself, else from the
// mirror pods.
func (l *Lab) etcdMembers(ctx context.Context, s *situation) error {
	if l.plane.Grown() {
		members, err := l.plane.Members(ctx)
		if err != nil {
			return err
		}
		for _, m := range members {
			if !m.Started {
				continue
			}
			if s.members = append(s.members, m.Name); !m.Healthy {
				s.silent = append(s.silent, m.Name)
			}
		}
		return nil
	}
	members, err := l.mirrorPods(ctx, "openshift-etcd", "etcd-")
	if err != nil {
		return err
	}
	for _, pod := range members {
		s.members = append(s.members, pod.Spec.NodeName)
		// The condition of the pod would not do: of a node that is away the controller
		// manager sets it, and the operator asks the members themselves.
		if slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == "etcd" && !c.Ready }) {
			s.silent = append(s.silent, pod.Spec.NodeName)
		}
	}
	s.lost, err = l.lostOperands(ctx, s.members)
	return err
}

// lostOperands returns the Ready masters whose etcd has run and has no mirror pod
// now: what the guard controller misses
// (openshift/library-go:pkg/operator/staticpod/controller/guard/guard_controller.go sync),
// and members that do not answer.
func (l *Lab) lostOperands(ctx context.Context, running []string) ([]string, error) {
	nodes, err := l.nodes(ctx)
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, n := range nodes {
		if slices.Contains(running, n.Name) || !ready(&n) {
			continue
		}
		installed, err := os.Stat(filepath.Join(l.Disk(n.Name), "etc", "kubernetes", "static-pod-resources", "installed"))
		if err == nil && time.Since(installed.ModTime()) > 30*time.Second { // else it comes up
			lost = append(lost, n.Name)
		}
	}
	return lost, nil
}

func available(reason, message string) []condition {
	return []condition{
		{"Available", "True", reason, message},
		{"Progressing", "False", "AsExpected", ""},
		{"Degraded", "False", "AsExpected", ""},
		{"Upgradeable", "True", "AsExpected", ""},
	}
}

// authentication is not available until each master's API server is an
// endpoint (openshift/cluster-authentication-operator:pkg/controllers/readiness/wellknown_ready_controller.go).
func (s situation) authentication() []condition {
	if s.apis >= s.wanted {
		return available("AsExpected", "All is well")
	}
	return []condition{
		{"Available", "False", "WellKnown_NotReady", fmt.Sprintf("WellKnownAvailable: The well-known endpoint is not yet available: need at least %d "+
			"kube-apiservers, got %d", s.wanted, s.apis)},
		{"Progressing", "False", "AsExpected", ""},
		{"Degraded", "False", "AsExpected", ""},
		{"Upgradeable", "True", "AsExpected", "All is well"},
	}
}

func (s situation) kubeAPIServer() []condition {
	c := available("AsExpected", fmt.Sprintf("StaticPodsAvailable: %d nodes are active; 0 nodes have achieved new revision", s.apis))
	if s.apis == 0 {
		c[0].status, c[0].reason = "False", "StaticPods_ZeroNodesActive"
	}
	return c
}

// etcdCR are the conditions of the operator's own object
// (openshift/cluster-etcd-operator:pkg/operator/etcdmemberscontroller/etcdmemberscontroller.go).
func (s situation) etcdCR() []condition {
	n := len(s.members) + len(s.lost)
	unhealthy := slices.Concat(s.lost, s.silent)
	if s.sick && len(s.members) > 0 {
		unhealthy = append(unhealthy, s.members[len(s.members)-1])
	}
	c := []condition{
		{"EtcdMembersAvailable", "True", "EtcdQuorate", fmt.Sprintf("%d members are available", n)},
		{"EtcdMembersDegraded", "False", "AsExpected", "No unhealthy members found"},
		{"EtcdMembersProgressing", "False", "AsExpected", "No unstarted etcd members found"},
		{"EtcdRunningInCluster", "True", "BootstrapAlreadyRemoved", "etcd-bootstrap member is already removed"},
		{"EtcdBootstrapMemberRemoved", "True", "BootstrapMemberRemoved", "etcd bootstrap member is removed"},
		{"GuardControllerDegraded", "False", "AsExpected", ""},
	}
	if len(s.lost) > 0 {
		c[5] = condition{"GuardControllerDegraded", "True", "SyncError", missingOperand(s.lost)}
	}
	switch {
	case n == 0:
		c[0] = condition{"EtcdMembersAvailable", "False", "NoQuorum", "No quorum, none of 0 members are available"}
	case len(unhealthy) > 0:
		left := n - len(unhealthy)
		message := fmt.Sprintf("%d of %d members are available, %s", left, n, strings.Join(suffixed(unhealthy, " is unhealthy"), ", "))
		c[0].message = message
		if quorum := n/2 + 1; left < quorum {
			c[0].status, c[0].reason = "False", "NoQuorum"
		}
		c[1] = condition{"EtcdMembersDegraded", "True", "UnhealthyMembers", message}
	}
	return c
}

// missingOperand is how the guard controller lists what it misses: several errors
// as an aggregate of k8s.io/apimachinery prints them.
func missingOperand(nodes []string) string {
	list := make([]string, len(nodes))
	for i, n := range nodes {
		list[i] = "Missing operand on node " + n
	}
	if len(list) == 1 {
		return list[0]
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func suffixed(list []string, suffix string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s + suffix
	}
	return out
}

func (s situation) etcdOperator() []condition {
	cr := s.etcdCR()
	c := available("AsExpected", "EtcdMembersAvailable: "+cr[0].message)
	var reasons, messages []string
	for _, part := range cr {
		name, degraded := strings.CutSuffix(part.kind, "Degraded")
		if degraded && part.status == "True" { // as library-go's status controller joins them
			reasons = append(reasons, name+"_"+part.reason)
			messages = append(messages, part.kind+": "+part.message)
		}
	}
	if len(reasons) > 0 {
		c[2] = condition{"Degraded", "True", strings.Join(reasons, "::"), strings.Join(messages, "\n")}
	}
	if cr[0].status != "True" {
		c[0].status, c[0].reason = "False", "EtcdMembers_NoQuorum"
	}
	return c
}

// syncVersion is the cluster-version operator's view: the first operator that
// is not available or is degraded blocks the install
// (openshift/cluster-version-operator:pkg/cvo/status.go, lib/resourcebuilder ClusterOperatorNotAvailable).
func (l *Lab) syncVersion(ctx context.Context, s situation, blocking, why string) error {
	reason := map[string]string{
		"not available": "ClusterOperatorNotAvailable", "degraded": "ClusterOperatorDegraded", "still updating": "ClusterOperatorUpdating",
	}[why]
	c := []condition{
		{"Available", "False", "", ""},
		{"Progressing", "True", reason, fmt.Sprintf("Unable to apply %s: the cluster operator %s is %s", seed.Version, blocking, why)},
		{"Failing", "True", reason, fmt.Sprintf("Cluster operator %s is %s", blocking, why)},
		{"ReleaseAccepted", "True", "PayloadLoaded", fmt.Sprintf("Payload loaded version=%q image=%q", seed.Version, l.values.ReleaseImage)},
	}
	version, err := l.Get(ctx, versionResource, "", "version")
	if err != nil {
		return err
	}
	done := blocking == "" && len(s.members) == s.wanted
	switch {
	case completed(version) && (blocking == "" || why == "still updating"):
		done = true
	case completed(version): // it reconciles (pkg/cvo/status.go updateClusterVersionStatus, status.Reconciling)
		c[0] = condition{"Available", "True", "", "Done applying " + seed.Version}
		c[1].status, c[1].message = "False", fmt.Sprintf("Error while reconciling %s: the cluster operator %s is %s", seed.Version, blocking, why)
	}
	if done {
		message := "Done applying " + seed.Version
		c[0] = condition{"Available", "True", "", message}
		c[1] = condition{"Progressing", "False", "", "Cluster version is " + seed.Version}
		c[2] = condition{"Failing", "False", "", ""}
	} else if !completed(version) && (blocking == "" || why == "still updating") {
		c[1] = condition{"Progressing", "True", reason, fmt.Sprintf("Working towards %s", seed.Version)}
		c[2] = condition{"Failing", "False", "", ""}
	}
	return l.writeConditions(ctx, versionResource, "version", c, func(o *unstructured.Unstructured) error {
		history, _, err := unstructured.NestedSlice(o.Object, "status", "history")
		if err != nil || len(history) == 0 {
			return fmt.Errorf("no history: %v", err)
		}
		entry, ok := history[0].(map[string]any)
		if !ok || !done || entry["state"] == "Completed" {
			return nil // a completed install stays completed
		}
		entry["state"], entry["completionTime"] = "Completed", time.Now().UTC().Format(time.RFC3339)
		return unstructured.SetNestedSlice(o.Object, history, "status", "history")
	})
}

// completed says whether the newest version was complete once.
func completed(version *unstructured.Unstructured) bool {
	history, _, err := unstructured.NestedSlice(version.Object, "status", "history")
	if err != nil || len(history) == 0 {
		return false
	}
	entry, _ := history[0].(map[string]any)
	return entry["state"] == "Completed"
}

func statusOf(cs []condition, kind string) string {
	for _, c := range cs {
		if c.kind == kind {
			return c.status
		}
	}
	return ""
}

// writeConditions writes conditions where they differ, keeping the time of
// those that do not; more may change other parts of the status.
func (l *Lab) writeConditions(ctx context.Context, res schema.GroupVersionResource, name string, want []condition,
	more func(*unstructured.Unstructured) error) error {
	var client dynamic.ResourceInterface = l.dyn.Resource(res)
	obj, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read %s %s: %w", res.Resource, name, err)
	}
	before := obj.DeepCopy()
	old, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	times := map[string]any{}
	for _, o := range old {
		if m, ok := o.(map[string]any); ok {
			times[fmt.Sprint(m["type"], m["status"])] = m["lastTransitionTime"]
		}
	}
	now := any(time.Now().UTC().Format(time.RFC3339))
	var list []any
	for _, c := range want {
		since := now
		if t, ok := times[c.kind+c.status]; ok {
			since = t
		}
		m := map[string]any{"type": c.kind, "status": c.status, "lastTransitionTime": since}
		if c.reason != "" {
			m["reason"] = c.reason
		}
		if c.message != "" {
			m["message"] = c.message
		}
		list = append(list, m)
	}
	if err := unstructured.SetNestedSlice(obj.Object, list, "status", "conditions"); err != nil {
		return err
	}
	if more != nil {
		if err := more(obj); err != nil {
			return fmt.Errorf("change status of %s %s: %w", res.Resource, name, err)
		}
	}
	if reflect.DeepEqual(before.Object, obj.Object) {
		return nil
	}
	if _, err := client.UpdateStatus(ctx, obj, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of %s %s: %w", res.Resource, name, err)
	}
	return nil
}
