// Package kubeconfig is how a user names a cluster: the connection flags of kubectl, the
// kubeconfig by kubectl's rules, and what client-go makes of both.
//
// Invariants:
//   - No flag turns the verification of the API server off.
//   - Nothing is asked of the terminal, and no named file is waited for.
package kubeconfig

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Flags are the connection flags of kubectl and its plugins, but for those that
// turn the verification of the server off (k8s.io/cli-runtime/pkg/genericclioptions
// ConfigFlags, which links kustomize and the types of every API group).
type Flags struct {
	KubeConfig, Context, APIServer string

	overrides clientcmd.ConfigOverrides
	extras    []string // of the user who is impersonated: KEY=VALUE
	cacheDir  string   // accepted; nothing is cached
	pipe      *pipe
	loaded    clientcmd.ClientConfig
}

// New returns flags whose copies share a kubeconfig that comes through a pipe.
func New() Flags { return Flags{pipe: &pipe{}} }

// AddFlags registers the flags as kubectl names and explains them.
func (k *Flags) AddFlags(f *pflag.FlagSet) {
	o := &k.overrides
	f.StringVar(&k.KubeConfig, "kubeconfig", "", "Path to the kubeconfig file to use for CLI requests.")
	f.StringVar(&k.cacheDir, "cache-dir", "", "Accepted as in every plugin; nothing is cached.")
	f.StringVar(&o.AuthInfo.ClientCertificate, "client-certificate", "", "Path to a client certificate file for TLS")
	f.StringVar(&o.AuthInfo.ClientKey, "client-key", "", "Path to a client key file for TLS")
	f.StringVar(&o.AuthInfo.Token, "token", "", "Bearer token for authentication to the API server")
	f.StringVar(&o.AuthInfo.Impersonate, "as", "", "Username to impersonate for the operation.")
	f.StringVar(&o.AuthInfo.ImpersonateUID, "as-uid", "", "UID to impersonate for the operation.")
	f.StringArrayVar(&o.AuthInfo.ImpersonateGroups, "as-group", nil, "Group to impersonate for the operation; repeatable.")
	f.StringArrayVar(&k.extras, "as-user-extra", nil, "User extras to impersonate for the operation, KEY=VALUE; repeatable.")
	f.StringVar(&o.Context.Cluster, "cluster", "", "The name of the kubeconfig cluster to use")
	f.StringVar(&o.Context.AuthInfo, "user", "", "The name of the kubeconfig user to use")
	f.StringVarP(&o.Context.Namespace, "namespace", "n", "", "If present, the namespace scope for this CLI request")
	f.StringVar(&k.Context, "context", "", "The name of the kubeconfig context to use")
	f.StringVarP(&k.APIServer, "server", "s", "", "The address and port of the Kubernetes API server")
	f.StringVar(&o.ClusterInfo.TLSServerName, "tls-server-name", "", "Server name to use for server certificate validation.")
	f.StringVar(&o.ClusterInfo.CertificateAuthority, "certificate-authority", "", "Path to a cert file for the certificate authority")
	f.StringVar(&o.Timeout, "request-timeout", "0", "The length of time to wait before giving up on a single server request.")
	f.BoolVar(&o.ClusterInfo.DisableCompression, "disable-compression", false, "If true, opt-out of response compression for all requests to the server")
	f.StringVar(&o.ClusterInfo.ProxyURL, "proxy-url", "", "Proxy URL to use for requests to the API server")
}

// Loader is the kubeconfig with the flags over it, loaded once, by kubectl's rules:
// --kubeconfig, $KUBECONFIG, ~/.kube/config, and inside a pod its service account.
// Nothing is asked of the terminal.
func (k *Flags) Loader() clientcmd.ClientConfig {
	if k.loaded != nil {
		return k.loaded
	}
	o := k.overrides
	o.ClusterDefaults = clientcmd.ClusterDefaults
	o.CurrentContext, o.ClusterInfo.Server = k.Context, k.APIServer
	for _, e := range k.extras {
		if key, value, ok := strings.Cut(e, "="); ok {
			if o.AuthInfo.ImpersonateUserExtra == nil {
				o.AuthInfo.ImpersonateUserExtra = map[string][]string{}
			}
			o.AuthInfo.ImpersonateUserExtra[key] = append(o.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	k.loaded = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(k.files(&o), &o)
	return k.loaded
}

// files are what the flags name.
func (k *Flags) files(o *clientcmd.ConfigOverrides) *files {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.KubeConfig
	// The defaults are kubectl's: $KUBERNETES_MASTER, else localhost:8080.
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	return &files{ClientConfigLoadingRules: rules, overrides: o, pipe: k.pipe}
}

// HasContext reports whether the kubeconfig has a context of this name.
func (k *Flags) HasContext(context string) (bool, error) {
	config, err := k.files(&k.overrides).Load()
	return err == nil && config.Contexts[context] != nil, err
}

// Contexts are the names of the contexts of the kubeconfig, in order.
func (k *Flags) Contexts() ([]string, error) {
	config, err := k.files(&k.overrides).Load()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(config.Contexts)), nil
}

// RESTConfig is how the cluster is reached.
func (k *Flags) RESTConfig() (*rest.Config, error) {
	config, err := k.Loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) { // client-go names a variable of its own
		return nil, errors.New("it names no cluster for its current context")
	}
	return config, err
}

// RequestTimeout is --request-timeout, for a cluster of another kubeconfig than this one; 0
// where it is not set. RESTConfig says what is wrong with one that cannot be read.
func (k *Flags) RequestTimeout() time.Duration {
	timeout, err := clientcmd.ParseTimeout(k.overrides.Timeout)
	if err != nil {
		return 0
	}
	return timeout
}

// Reload makes the next use load the kubeconfig again: the file may have come, or be another one.
func (k *Flags) Reload() { k.loaded = nil }
