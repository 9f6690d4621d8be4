// Package chart holds the chart that `rollcall serve chart` writes to Helm's own linter and engine. It is a module of tests alone: Helm is in no
// program of Rollcall.
package chart

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/serve"
)

const (
	namespace = "watch-here"
	image     = "registry.example.com:5000/a/rollcall@sha256:0000000000000000000000000000000000000000000000000000000000000000"
)

// written is the chart in a directory.
func written(t *testing.T) string {
	t.Helper()
	files, err := serve.Chart("0.1.0-dev")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "rollcall")
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func valuesOf(m serve.Manifests) map[string]any {
	return map[string]any{"image": m.Image, "replicas": m.Replicas, "monitoring": string(m.Monitoring), "readOnly": m.ReadOnly}
}

// render is what Helm makes of the chart, by template.
func render(dir string, values map[string]any) (map[string]string, error) {
	c, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	v, err := util.ToRenderValues(c, values, common.ReleaseOptions{Name: "any", Namespace: namespace, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, v)
}

// objects are the documents of a file, in order, without the namespace, which is the user's with Helm.
func objects(t *testing.T, text string) []string {
	t.Helper()
	var list []string
	for _, doc := range strings.Split("\n"+text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v in:\n%s", err, doc)
		}
		if len(o) == 0 || o["kind"] == "Namespace" {
			continue
		}
		raw, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(raw))
	}
	return list
}

// TestSameObjects: with each combination of values Helm installs exactly what `serve manifests` writes with the flags.
func TestSameObjects(t *testing.T) {
	dir := written(t)
	for _, monitoring := range []serve.Monitoring{serve.UserWorkload, serve.Platform, serve.NoMonitoring} {
		for _, readOnly := range []bool{false, true} {
			for replicas := 1; replicas <= 3; replicas++ {
				m := serve.Manifests{Namespace: namespace, Image: image, Replicas: replicas, Monitoring: monitoring, ReadOnly: readOnly}
				var file bytes.Buffer
				if err := m.Write(&file); err != nil {
					t.Fatal(err)
				}
				rendered, err := render(dir, valuesOf(m))
				if err != nil {
					t.Fatal(err)
				}
				want, have := objects(t, file.String()), objects(t, rendered["rollcall/templates/rollcall.yaml"])
				if len(want) < 40 {
					t.Fatalf("%d objects were compared", len(want))
				}
				slices.Sort(want) // Helm orders what it installs itself
				slices.Sort(have)
				if diff := cmp.Diff(want, have); diff != "" {
					t.Errorf("%s, read-only %t, %d replicas: %s", monitoring, readOnly, replicas, diff)
				}
			}
		}
	}
}

// TestRefused: what `serve manifests` refuses, the schema of the values refuses, too.
func TestRefused(t *testing.T) {
	dir := written(t)
	for key, values := range map[string][]any{
		"image":      {"", "a b", "x\"\nhostNetwork: true", "{{ .Values }}"},
		"replicas":   {0, 4, "2", 1.5},
		"monitoring": {"", "other", nil},
		"readOnly":   {"yes", nil},
		"unknown":    {1},
	} {
		for _, value := range values {
			all := valuesOf(serve.Manifests{Image: image, Replicas: 1, Monitoring: serve.UserWorkload})
			all[key] = value
			if _, err := render(dir, all); err == nil {
				t.Errorf("%s: %#v is taken", key, value)
			}
		}
	}
	if _, err := render(dir, nil); err == nil || !strings.Contains(err.Error(), "image") {
		t.Errorf("without an image: %v", err)
	}
}

// TestLint: Helm's linter finds no error and warns of nothing but the icon that the chart has not.
func TestLint(t *testing.T) {
	found := lint.RunAll(written(t), valuesOf(serve.Manifests{Image: image, Replicas: 1, Monitoring: serve.Platform}), namespace)
	for _, m := range found.Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}
