package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var kcmResource = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "kubecontrollermanagers"}

const kcmNamespace = "openshift-kube-controller-manager"

// syncControllerManagerOperator stands in for cluster-kube-controller-manager-operator where
// somebody forces a rollout: the reason goes into the ConfigMap that the revisions are made of
// (openshift/cluster-kube-controller-manager-operator:pkg/operator/targetconfigcontroller),
// another content makes another revision (openshift/library-go:pkg/operator/revisioncontroller),
// and the nodes get it one after the other (pkg/operator/staticpod/controller/installer).
//
// There is one controller manager, whatever the status shows. It is started where it was
// stopped, as the kubelet starts the pod of a new manifest; one that runs is left alone.
func (l *Lab) syncControllerManagerOperator(ctx context.Context) error {
	if !l.controllerWanted() {
		return nil
	}
	pods, err := l.mirrorPods(ctx, kcmNamespace, "kube-controller-manager-")
	if err != nil {
		return err
	}
	var nodes []string
	for _, pod := range pods {
		nodes = append(nodes, pod.Spec.NodeName)
	}
	slices.Sort(nodes)
	obj, err := l.dyn.Resource(kcmResource).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read kubecontrollermanager cluster: %w", err)
	}
	reason, _, _ := unstructured.NestedString(obj.Object, "spec", "forceRedeploymentReason")
	changed, err := l.reasonChanged(ctx, reason)
	if err != nil {
		return err
	}
	r := revisionsOf(obj)
	arrived := r.next(nodes, changed)
	if arrived != "" && !l.procs.Running("kube-controller-manager") {
		if err := startControllerManager(ctx, l, ""); err != nil {
			return fmt.Errorf("start the controller manager of revision %d on %s: %w", r.latest, arrived, err)
		}
	}
	return l.writeConditions(ctx, kcmResource, "cluster", r.conditions(), r.write)
}

// reasonChanged writes the reason where the operator keeps it, and reports whether another
// one was there. The first time it is what the cluster was installed with.
func (l *Lab) reasonChanged(ctx context.Context, reason string) (bool, error) {
	configs := l.kube.CoreV1().ConfigMaps(kcmNamespace)
	const name, key = "kube-controller-manager-pod", "forceRedeploymentReason"
	cm, err := configs.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = configs.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: reason}}, metav1.CreateOptions{})
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("read ConfigMap %s: %w", name, err)
	}
	if cm.Data[key] == reason {
		return false, nil
	}
	cm.Data = map[string]string{key: reason}
	_, err = configs.Update(ctx, cm, metav1.UpdateOptions{})
	return err == nil, err
}

// revisions is the status of an operator of static pods.
type revisions struct {
	latest          int64
	current, target map[string]int64 // by node; a target of 0 is none
}

func revisionsOf(obj *unstructured.Unstructured) *revisions {
	r := &revisions{latest: 1, current: map[string]int64{}, target: map[string]int64{}}
	if n, ok, _ := unstructured.NestedInt64(obj.Object, "status", "latestAvailableRevision"); ok && n > 0 {
		r.latest = n
	}
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "nodeStatuses")
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			name, _ := m["nodeName"].(string)
			r.current[name], _ = m["currentRevision"].(int64)
			r.target[name], _ = m["targetRevision"].(int64)
		}
	}
	return r
}

// next goes one step on and returns the node at which a new revision has arrived, "" where
// none has.
func (r *revisions) next(nodes []string, another bool) string {
	added := false
	for _, n := range nodes {
		if _, ok := r.current[n]; !ok {
			r.current[n], added = 0, true
		}
	}
	if another {
		r.latest++
	}
	if added {
		return "" // the API server admits a new entry without revisions only
	}
	for _, n := range slices.Sorted(maps.Keys(r.current)) {
		if t := r.target[n]; t > r.current[n] {
			r.current[n], r.target[n] = t, 0
			return n
		}
	}
	for _, n := range nodes {
		if r.current[n] < r.latest {
			r.target[n] = r.latest
			return ""
		}
	}
	return ""
}

func (r *revisions) conditions() []condition {
	at := 0
	for _, n := range r.current {
		if n == r.latest {
			at++
		}
	}
	moving := condition{"NodeInstallerProgressing", "False", "AllNodesAtLatestRevision", fmt.Sprintf("%d nodes are at revision %d", at, r.latest)}
	if at < len(r.current) {
		moving = condition{"NodeInstallerProgressing", "True", "", fmt.Sprintf("%d nodes are at revision %d of %d", at, r.latest, len(r.current))}
	}
	return []condition{{"StaticPodsAvailable", "True", "", fmt.Sprintf("%d nodes are active", len(r.current))}, moving}
}

func (r *revisions) write(o *unstructured.Unstructured) error {
	var list []any
	for _, n := range slices.Sorted(maps.Keys(r.current)) {
		m := map[string]any{"nodeName": n}
		if r.current[n] > 0 {
			m["currentRevision"] = r.current[n]
		}
		if r.target[n] > 0 {
			m["targetRevision"] = r.target[n]
		}
		list = append(list, m)
	}
	if err := unstructured.SetNestedField(o.Object, r.latest, "status", "latestAvailableRevision"); err != nil {
		return err
	}
	return unstructured.SetNestedSlice(o.Object, list, "status", "nodeStatuses")
}
