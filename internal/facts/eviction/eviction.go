// Package eviction decides what the API server decides when a drain evicts a pod: which
// PodDisruptionBudgets cover it, and whether they let it go.
//
// Invariants:
//   - It is about objects that were read, and reads nothing itself.
//   - A budget of which the status is not there, or not of its newest generation, is not Known. Nothing
//     may be concluded from what it allows.
//
// Sources: kubernetes/kubernetes pkg/registry/core/pod/storage/eviction.go (Create, canIgnorePDB, checkAndDecrement,
// getPodDisruptionBudgets, v1.34.2; the policy for pods that are not Ready is on by default from 1.27 on);
// kubernetes/kubectl pkg/drain/filters.go (v0.34.2).
package eviction

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Budget is a PodDisruptionBudget as the API server reads it.
type Budget struct {
	*evidence.Object
	Selector labels.Selector // nil where its form is not known
	Allowed  int64           // disruptionsAllowed
	Healthy  int64           // currentHealthy
	Desired  int64           // desiredHealthy
	Expected int64           // expectedPods
	Known    bool            // its status is there, and of its newest generation
	Always   bool            // unhealthyPodEvictionPolicy: AlwaysAllow
}

// Read reads a budget.
func Read(o *evidence.Object) Budget {
	number := func(name string) int64 { return evidence.Int(o.Content, "status", name) }
	b := Budget{Object: o, Allowed: number("disruptionsAllowed"), Healthy: number("currentHealthy"), Desired: number("desiredHealthy"),
		Expected: number("expectedPods"), Always: evidence.String(o.Content, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow"}
	b.Known = number("observedGeneration") >= evidence.Int(o.Content, "metadata", "generation")
	for _, name := range []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"} {
		b.Known = b.Known && evidence.Field(o.Content, "status", name) != nil
	}
	selector, there := evidence.Field(o.Content, "spec", "selector").(map[string]any)
	switch {
	case !there && evidence.Field(o.Content, "spec", "selector") != nil || evidence.Field(o.Content, "spec") == nil:
	case !there, len(selector) == 0 && b.Expected == 0:
		// No selector covers nothing. An empty one covers all pods of the namespace in policy/v1 and none in
		// policy/v1beta1: the pods that the status counts tell which.
		b.Selector = labels.Nothing()
	default:
		b.Selector, _ = Selector(selector)
	}
	return b
}

// Covers reports whether a budget covers a pod. known is false for a selector of a form that is not known.
func (b *Budget) Covers(p *evidence.Object) (covers, known bool) {
	if p.Namespace != b.Namespace {
		return false, true
	}
	return b.Selector != nil && b.Selector.Matches(labelsOf{p}), b.Selector != nil
}

// Frees reports whether a pod may go although the budget allows no disruption: it is not Ready, and
// either the policy always allows it, or the budget is met without it.
func (b *Budget) Frees(p *evidence.Object) bool {
	return !ready(p) && (b.Always || b.Healthy >= b.Desired && b.Desired > 0)
}

// Asks reports whether a drain evicts a pod, and its budgets are asked. DaemonSet and mirror pods stay;
// pods that are Pending, ended or going are deleted without a question.
func Asks(p *evidence.Object) bool {
	switch evidence.String(p.Content, "status", "phase") {
	case "Succeeded", "Failed", "Pending":
		return false
	}
	kind, _ := Controller(p)
	return evidence.String(p.Content, "spec", "nodeName") != "" && evidence.String(p.Content, "metadata", "deletionTimestamp") == "" &&
		p.Annotation(openshift.MirrorPodAnnotation) == "" && kind != "DaemonSet"
}

// Bare reports whether nothing creates a pod again that a drain with --force deletes.
func Bare(p *evidence.Object) bool {
	phase := evidence.String(p.Content, "status", "phase")
	kind, _ := Controller(p)
	return kind == "" && p.Annotation(openshift.MirrorPodAnnotation) == "" && phase != "Succeeded" && phase != "Failed"
}

// Controller is the kind and the name of the controller of an object, "" where it has none.
func Controller(o *evidence.Object) (kind, name string) {
	owners, _ := evidence.Field(o.Content, "metadata", "ownerReferences").([]any)
	for _, raw := range owners {
		if m, _ := raw.(map[string]any); m["controller"] == true {
			kind, _ = m["kind"].(string)
			name, _ = m["name"].(string)
			return kind, name
		}
	}
	return "", ""
}

func ready(p *evidence.Object) bool {
	list, _ := evidence.Field(p.Content, "status", "conditions").([]any)
	return slices.ContainsFunc(list, func(raw any) bool {
		m, _ := raw.(map[string]any)
		return m["type"] == "Ready" && m["status"] == "True"
	})
}

// Selector reads a selector of labels.
func Selector(content map[string]any) (labels.Selector, error) {
	var s metav1.LabelSelector
	if raw, there := content["matchLabels"]; there && raw != nil {
		want, ok := raw.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("read matchLabels: %T is no map", raw)
		}
		s.MatchLabels = make(map[string]string, len(want))
		for key, value := range want {
			if s.MatchLabels[key], ok = value.(string); !ok {
				return nil, fmt.Errorf("read matchLabels of %s: %T is no text", key, value)
			}
		}
	}
	if raw, there := content["matchExpressions"]; there && raw != nil {
		list, ok := raw.([]any)
		if !ok {
			return nil, fmt.Errorf("read matchExpressions: %T is no list", raw)
		}
		for _, e := range list {
			r, err := requirement(e)
			if err != nil {
				return nil, err
			}
			s.MatchExpressions = append(s.MatchExpressions, r)
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return nil, fmt.Errorf("read a selector: %w", err)
	}
	return selector, nil
}

func requirement(raw any) (metav1.LabelSelectorRequirement, error) {
	m, _ := raw.(map[string]any)
	key, _ := m["key"].(string)
	operator, _ := m["operator"].(string)
	r := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOperator(operator)}
	values, _ := m["values"].([]any)
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			return r, fmt.Errorf("read matchExpressions of %s: %T is no text", key, v)
		}
		r.Values = append(r.Values, text)
	}
	return r, nil
}

// Matches reports whether a selector picks an object. known is false for a form that is not known.
func Matches(selector map[string]any, o *evidence.Object) (match, known bool) {
	s, err := Selector(selector)
	return err == nil && s.Matches(labelsOf{o}), err == nil
}

// labelsOf are the labels of an object.
type labelsOf struct{ o *evidence.Object }

// Has implements labels.Labels.
func (l labelsOf) Has(key string) bool { _, there := l.o.Label(key); return there }

// Get implements labels.Labels.
func (l labelsOf) Get(key string) string { v, _ := l.o.Label(key); return v }

// Lookup implements labels.Labels.
func (l labelsOf) Lookup(key string) (string, bool) { return l.o.Label(key) }
