package kubeconfig

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: a, cluster: {server: "https://a.example:6443", certificate-authority-data: Y2E=}}
- {name: b, cluster: {server: "https://b.example:6443", proxy-url: "http://proxy.example:3128"}}
users:
- {name: token, user: {token: file-token}}
- name: plugin
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: SCRIPT, interactiveMode: Never}
contexts:
- {name: one, context: {cluster: a, user: token}}
- {name: two, context: {cluster: b, user: token}}
- {name: run, context: {cluster: a, user: plugin}}
`

// kubeconfigOf parses flags over a kubeconfig as a command does.
func kubeconfigOf(t *testing.T, kubeconfig string, args ...string) (*rest.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	k := New()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	k.AddFlags(set)
	if err := set.Parse(append([]string{"--kubeconfig", path}, args...)); err != nil {
		t.Fatal(err)
	}
	return k.RESTConfig()
}

// TestKubeFlags: each flag reaches the client's configuration.
func TestKubeFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		ok   func(*rest.Config) bool
	}{
		{"", func(c *rest.Config) bool {
			return c.Host == "https://a.example:6443" && c.BearerToken == "file-token" && string(c.CAData) == "ca" && c.Timeout == 0
		}},
		{"--context two", func(c *rest.Config) bool {
			if c.Proxy == nil {
				return false
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Host, nil)
			if err != nil {
				return false
			}
			proxy, err := c.Proxy(req)
			return err == nil && c.Host == "https://b.example:6443" && proxy.String() == "http://proxy.example:3128"
		}},
		{"--cluster b", func(c *rest.Config) bool { return c.Host == "https://b.example:6443" }},
		{"--proxy-url http://other.example:1", func(c *rest.Config) bool {
			return c.Proxy != nil
		}},
		{"-s https://c.example", func(c *rest.Config) bool { return c.Host == "https://c.example" && c.BearerToken == "file-token" }},
		{"--token mine", func(c *rest.Config) bool { return c.BearerToken == "mine" }},
		{"--as jane --as-uid 7 --as-group a --as-group b,c --as-user-extra k=1 --as-user-extra k=2=3 --as-user-extra nothing", func(c *rest.Config) bool {
			i := c.Impersonate
			return i.UserName == "jane" && i.UID == "7" && slices.Equal(i.Groups, []string{"a", "b,c"}) &&
				maps.EqualFunc(i.Extra, map[string][]string{"k": {"1", "2=3"}}, slices.Equal)
		}},
		{"--request-timeout 7s", func(c *rest.Config) bool { return c.Timeout.Seconds() == 7 }},
		{"--tls-server-name t.example --disable-compression", func(c *rest.Config) bool { return c.ServerName == "t.example" && c.DisableCompression }},
		{"--certificate-authority /ca", func(c *rest.Config) bool { return c.CAFile == "/ca" && len(c.CAData) == 0 }},
		{"--client-certificate /crt --client-key /key", func(c *rest.Config) bool { return c.CertFile == "/crt" && c.KeyFile == "/key" }},
		{"--user plugin", func(c *rest.Config) bool {
			return c.ExecProvider != nil && c.ExecProvider.Command == "SCRIPT" && c.BearerToken == ""
		}},
		{"-n anything --cache-dir /none", func(c *rest.Config) bool { return c.Host == "https://a.example:6443" }},
	} {
		config, err := kubeconfigOf(t, twoContexts, strings.Fields(c.args)...)
		switch {
		case strings.Contains(c.args, "certificate") && err != nil: // that file is not there, and the error names it
			if !strings.Contains(err.Error(), "/c") {
				t.Errorf("%s: %v", c.args, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.args, err)
		case !c.ok(config):
			t.Errorf("%q has no effect: %v", c.args, config)
		}
	}
	for _, args := range []string{"--context none", "--cluster none", "--user none"} {
		if _, err := kubeconfigOf(t, twoContexts, strings.Fields(args)...); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// TestExecPlugin: a credential plugin of a kubeconfig is run, and its token is used.
func TestExecPlugin(t *testing.T) {
	got := ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	script := filepath.Join(t.TempDir(), "plugin")
	answer := `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"of-the-plugin"}}`
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho '"+answer+"'\n"), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	config, err := kubeconfigOf(t, strings.Replace(twoContexts, "SCRIPT", script, 1), "--context", "run", "--server", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	config.TLSClientConfig = rest.TLSClientConfig{Insecure: true} // the test's own server
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got != "Bearer of-the-plugin" {
		t.Errorf("Authorization: %q", got)
	}
}
