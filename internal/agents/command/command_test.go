package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// TestKeepContext: which cluster is read is decided when the server starts.
func TestKeepContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	write := func(current string) {
		text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://192.0.2.1'}}, {name: d, cluster: {server: 'https://192.0.2.2'}}]\n" +
			"contexts: [{name: prod, context: {cluster: c}}, {name: other, context: {cluster: d}}]\ncurrent-context: " + current + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("prod")
	o := cmdutil.Options()
	o.Kube.KubeConfig = path
	keepContext(&o)
	write("other")
	o.Kube.Reload()
	if config, err := o.Kube.RESTConfig(); err != nil || config.Host != "https://192.0.2.1" {
		t.Errorf("%v, %v: the cluster has changed", config, err)
	}
	named := cmdutil.Options()
	named.Kube.KubeConfig, named.Kube.Context = path, "prod"
	if keepContext(&named); named.Kube.Context != "prod" {
		t.Errorf("%q", named.Kube.Context)
	}
}
