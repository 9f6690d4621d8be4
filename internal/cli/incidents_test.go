package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// record is a ConfigMap as `serve --records` makes them.
func record(name, state, proven, ended, title, text string) map[string]any {
	notes := map[string]any{"rollcall.dev/fault": "pool-source-missing", "rollcall.dev/title": title, "rollcall.dev/proven": proven}
	if ended != "" {
		notes["rollcall.dev/ended"] = ended
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"record.md": text},
		"metadata": map[string]any{"name": name, "namespace": "rollcall", "uid": name, "annotations": notes, "labels": map[string]any{"rollcall.dev/incident": state}}}
}

// TestServeIncidents: records are listed, the newest last, and printed without what a terminal obeys and without secrets; what is no
// record is not listed; a refusal says what to ask for.
func TestServeIncidents(t *testing.T) {
	const hostile = "Proven since 2026-05-01T12:05:00Z, and open.\n\n# Incident\n\x1b]0;title\apassword=Correct7Horse9Battery\n"
	items := []any{
		record("rollcall-2", "open", "2026-05-02T12:05:00Z", "", "pool worker waits\x1b[31m", hostile),
		record("rollcall-1", "ended", "2026-05-01T12:05:00Z", "2026-05-01T13:05:00Z", "pool worker waited", "first"),
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "kube-root-ca.crt", "namespace": "rollcall"}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1/namespaces/rollcall/configmaps":
			_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": map[string]any{}, "items": items})
		case "/api/v1/namespaces/empty/configmaps":
			_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": map[string]any{}, "items": []any{}})
		default:
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403,
				"message": "configmaps is forbidden"})
		}
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, server.URL); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code cmdutil.ExitCode
		want []string
	}{
		{nil, cmdutil.ExitOK, []string{"NAME", "rollcall-1   ended   2026-05-01T12:05:00Z   2026-05-01T13:05:00Z   pool worker waited\nrollcall-2   open    2026-05-02T12:05:00Z   -"}},
		{[]string{"rollcall-2"}, cmdutil.ExitOK, []string{"and open.\n\n# Incident\n", "password=[redacted"}},
		{[]string{"-o", "json"}, cmdutil.ExitOK, []string{`"name": "rollcall-1"`, `"state": "open"`, `"ended": "2026-05-01T13:05:00Z"`}},
		{[]string{"rollcall-2", "-o", "json"}, cmdutil.ExitOK, []string{`"record": "Proven since`}},
		{[]string{"rollcall-3"}, cmdutil.ExitFailed, []string{`no record "rollcall-3" in namespace rollcall: rollcall serve incidents -n rollcall lists them`}},
		{[]string{"-n", "empty", "-o", "json"}, cmdutil.ExitOK, []string{`"items": []`}},
		{[]string{"-n", "empty"}, cmdutil.ExitOK, []string{"No incident is recorded in namespace empty. Records are made by: rollcall serve --records empty"}},
		{[]string{"-n", "other"}, cmdutil.ExitFailed, []string{"ask for permission to list the ConfigMaps of other"}},
		{[]string{"-n", "Bad_Name"}, cmdutil.ExitFailed, []string{`--namespace "Bad_Name" is not the name of a namespace`}},
	} {
		var out bytes.Buffer
		args := append([]string{"rollcall", "serve", "incidents", "--kubeconfig", kubeconfig}, c.args...)
		code := Main(t.Context(), args, cmdutil.IO{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" },
			Clock: func() time.Time { return clitest.Now }})
		if code != c.code {
			t.Errorf("%q ends with %d", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q has no %q:\n%s", c.args, want, &out)
			}
		}
		if slices.Contains(c.args, "json") {
			followsIncidentSchema(t, out.String())
		}
		for _, not := range []string{"\x1b", "Horse9", "kube-root-ca"} {
			if strings.Contains(out.String(), not) {
				t.Errorf("%q has %q:\n%s", c.args, not, &out)
			}
		}
	}
}

func followsIncidentSchema(t *testing.T, text string) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../docs/schema/incidents.v1alpha1.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}
