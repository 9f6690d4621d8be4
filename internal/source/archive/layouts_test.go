package archive

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
)

func TestRecognize(t *testing.T) {
	for path, want := range map[string]layout.Entry{
		"cluster-scoped-resources/core/namespaces/a.yaml": {Class: layout.Object, Resource: evidence.Namespaces},
		"x/namespaces/a/a.yaml":                           {Class: layout.Object, Root: "x/", Resource: evidence.Namespaces},
		"namespaces/namespaces/core/pods.yaml":            {Class: layout.Object, List: true, Resource: evidence.Pods, Namespace: "namespaces"},
		"namespaces/a/pods/p/p.yaml":                      {Class: layout.Object, Resource: evidence.Pods, Namespace: "a"},
		"namespaces/a/core/pods/p.yaml":                   {Class: layout.Object, Resource: evidence.Pods, Namespace: "a"},
		"namespaces/mg/namespaces/a/core/pods.yaml": {Class: layout.Object, Root: "namespaces/mg/", List: true,
			Resource: evidence.Pods, Namespace: "a"},
		"namespaces/a/pods/p/c/c/logs/current.log": {Class: layout.Text, Text: evidence.Text{Namespace: "a", Pod: "p", Container: "c"}},
		"namespaces/a/pods/p/c/c/logs/previous.insecure.log": {Class: layout.Text, Text: evidence.Text{Namespace: "a", Pod: "p",
			Container: "c", Previous: true}},
		"namespaces/a/pods/p/c/c/logs/rotated/0.log.20260101-1.gz": {Class: layout.Text, Text: evidence.Text{Namespace: "a", Pod: "p", Container: "c"}},
		"namespaces/a/pods/p/c/c/healthz":                          {Class: layout.Other},
		"host_service_logs/masters/machine-config-daemon-firstboot_service.log": {Class: layout.Text, Text: evidence.Text{Kind: evidence.Journal,
			Unit: "machine-config-daemon-firstboot"}},
		"nodes/n1/n1_logs_kubelet.gz": {Class: layout.Text, Text: evidence.Text{Kind: evidence.Journal, Host: "n1",
			Unit: "kubelet"}},
		"consoles/h.log":             {Class: layout.Text, Text: evidence.Text{Kind: evidence.Console, Host: "h"}},
		"README.md":                  {Class: layout.Other},
		"namespaces":                 {Class: layout.Other},
		"namespaces//core/pods.yaml": {Class: layout.Loose, Root: "namespaces//core/"},
	} {
		var got layout.Entry
		recognize(&got, path)
		if want.Class == layout.Text {
			want.Text.Path = path
			if want.Text.Kind == "" {
				want.Text.Kind = evidence.ContainerLog
			}
		}
		if got.Class != want.Class || want.Class != layout.Other && got.Root != want.Root || got.Resource != want.Resource ||
			got.Namespace != want.Namespace && want.Class == layout.Object || got.List != want.List {
			t.Errorf("recognize(%q) = %+v, want %+v", path, got, want)
		}
		if g, w := got.Text, want.Text; g.Kind != w.Kind || g.Namespace != w.Namespace || g.Pod != w.Pod || g.Container != w.Container ||
			g.Previous != w.Previous || g.Host != w.Host || g.Unit != w.Unit || g.Path != w.Path {
			t.Errorf("recognize(%q).text = %+v, want %+v", path, g, w)
		}
	}
}

// TestNoLayoutWithoutProof holds that names alone do not make a layout.
func TestNoLayoutWithoutProof(t *testing.T) {
	s := open(t, `
-- mg/cluster-scoped-resources/core/nodes/a.yaml --
kind: Node
metadata: {name: a}
-- mg/config/node/b.json --
{"metadata": {"name": "b"}}
-- mg/serial/c-serial.log --
a line
`)
	if got := names(t, s, evidence.Nodes, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("nodes are %v, want those of the tree only", got)
	}
	if _, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Console}); err == nil {
		t.Error("a file in serial/ counts as a console")
	}
}
