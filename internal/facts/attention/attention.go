// Package attention tells where something is wrong on a large cluster before
// anything is judged, so that what costs a request for each host is asked of few.
//
// It is generous: what it takes for troubled need not be. What it leaves out is
// unread, which is known as that.
package attention

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Texts is how many logs of one kind are read on a live cluster whatever their
// pods look like: as many nodes have most clusters. Of more only those that Logs
// chooses are read, and no more than that.
const Texts = 60

// Logs chooses the logs of control-plane nodes, of nodes that are not Ready or not
// done with their config, and of pods that are not ready or are going. Where Nodes
// or Pods cannot be read, their part chooses all.
func Logs(ctx context.Context, r *reader.Reader) func(evidence.Text) bool {
	nodes, known := map[string]bool{}, false
	if list, err := r.List(ctx, evidence.Nodes, ""); err == nil {
		known = true
		for _, o := range list {
			nodes[o.Name] = troubledNode(o)
		}
	}
	namespaces := map[string]map[string]bool{}
	return func(t evidence.Text) bool {
		pods, ok := namespaces[t.Namespace]
		if !ok {
			pods = podsOf(ctx, r, t.Namespace)
			namespaces[t.Namespace] = pods
		}
		troubled, there := nodes[t.Host]
		if !known || !there || troubled {
			return true
		}
		troubled, there = pods[t.Pod]
		return !there || troubled
	}
}

// podsOf tells of each pod of a namespace whether it is in trouble; nil where they
// cannot be read.
func podsOf(ctx context.Context, r *reader.Reader, namespace string) map[string]bool {
	list, err := r.List(ctx, evidence.Pods, namespace)
	if err != nil {
		return nil
	}
	pods := make(map[string]bool, len(list))
	for _, o := range list {
		pods[o.Name] = evidence.String(o.Content, "metadata", "deletionTimestamp") != "" || !isTrue(o, string(corev1.PodReady))
	}
	return pods
}

func troubledNode(o evidence.Object) bool {
	labels, _ := evidence.Field(o.Content, "metadata", "labels").(map[string]any)
	_, master := labels[openshift.MasterLabel]
	_, control := labels[openshift.ControlPlaneLabel]
	if master || control || !isTrue(o, string(corev1.NodeReady)) {
		return true
	}
	note := func(name string) string { return evidence.String(o.Content, "metadata", "annotations", name) }
	return note(openshift.ConfigStateAnnotation) != "Done" ||
		note(openshift.CurrentConfigAnnotation) != note(openshift.DesiredConfigAnnotation)
}

// isTrue says whether a condition is True.
func isTrue(o evidence.Object, kind string) bool {
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, c := range list {
		if cond, ok := c.(map[string]any); ok && cond["type"] == kind {
			return cond["status"] == string(corev1.ConditionTrue)
		}
	}
	return false
}
