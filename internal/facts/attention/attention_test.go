package attention

import (
	"context"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// lists is a source of objects.
type lists map[evidence.Resource][]evidence.Object

func (l lists) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{}, nil
}

func (l lists) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, ok := l[r]
	if !ok {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.Forbidden}
	}
	return list, nil
}

func (l lists) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected}
}

type object = map[string]any

func ready(name, status string, metadata object) evidence.Object {
	return evidence.Object{Name: name, Content: object{
		"metadata": metadata, "status": object{"conditions": []any{object{"type": "Ready", "status": status}}},
	}}
}

func node(name, status, state, desired string, labels object) evidence.Object {
	const mco = "machineconfiguration.openshift.io/"
	return ready(name, status, object{"labels": labels, "annotations": object{mco + "state": state, mco + "currentConfig": "a", mco + "desiredConfig": desired}})
}

func TestLogs(t *testing.T) {
	nodes := []evidence.Object{
		node("well", "True", "Done", "a", nil), node("lost", "Unknown", "Done", "a", nil), node("degraded", "True", "Degraded", "a", nil),
		node("next", "True", "Done", "b", nil), node("master", "True", "Done", "a", object{"node-role.kubernetes.io/master": ""}),
	}
	pods := []evidence.Object{
		ready("runs", "True", nil), ready("waits", "False", nil), ready("goes", "True", object{"deletionTimestamp": "2026-03-01T12:00:00Z"}),
	}
	for _, c := range []struct {
		node, pod           string
		all, noPods, noNode bool
	}{
		{"well", "runs", false, true, true}, {"well", "waits", true, true, true}, {"well", "goes", true, true, true}, {"well", "gone", true, true, true},
		{"lost", "runs", true, true, true}, {"degraded", "runs", true, true, true}, {"next", "runs", true, true, true},
		{"master", "runs", true, true, true}, {"unheard", "runs", true, true, true},
	} {
		for _, from := range []struct {
			source lists
			want   bool
		}{
			{lists{evidence.Nodes: nodes, evidence.Pods: pods}, c.all}, {lists{evidence.Nodes: nodes}, c.noPods}, {lists{evidence.Pods: pods}, c.noNode},
		} {
			set, err := scan.Compile(nil)
			if err != nil {
				t.Fatal(err)
			}
			clean, err := sanitize.New()
			if err != nil {
				t.Fatal(err)
			}
			r := reader.New(set, clean, nil, reader.Limits{}, from.source)
			if got := Logs(t.Context(), r)(evidence.Text{Namespace: "n", Host: c.node, Pod: c.pod}); got != from.want {
				t.Errorf("%s on %s, of %d resources: %v", c.pod, c.node, len(from.source), got)
			}
		}
	}
}
