package session

import (
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// OpenLive returns the cluster that kubeconfig and flags name. It sends nothing yet.
func (ses *Session) OpenLive() (*live.Source, error) {
	config, err := ses.RESTConfig()
	if err != nil {
		return nil, err
	}
	s, err := live.New(config, live.Options{
		Name: ses.ContextName(live.ShownHost(config.Host)), Whole: ses.Whole, SecretNamespaces: ses.ReadSecrets,
		Journals: ses.Journals, Probes: ses.Probe, Now: ses.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", live.ShownHost(config.Host), err)
	}
	return s, nil
}

// NoClusterError says that there is no kubeconfig.
type NoClusterError struct{}

func (NoClusterError) Error() string {
	return "no cluster is named: there is no kubeconfig ($KUBECONFIG, ~/.kube/config). Name one with --kubeconfig FILE"
}

// Instead is what else the command that needed a cluster can read, as the rest of the sentence.
// has says whether the command has a flag; program is its name.
func (NoClusterError) Instead(program string, has func(flag string) bool) string {
	if !has("from") {
		return ""
	}
	instead := ", read an archive with --from PATH"
	if has("console") {
		instead += ", a console with --console HOST=FILE"
	}
	return instead + ", or look at an example: " + program + " demo"
}

// RESTConfig is how the cluster is reached. Where nothing names one that is an
// error; client-go would ask localhost:8080.
func (ses *Session) RESTConfig() (*rest.Config, error) {
	if _, err := ses.Kube.Loader().RawConfig(); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w; name another with --kubeconfig FILE", err)
	}
	if ses.NoCluster() {
		return nil, NoClusterError{}
	}
	config, err := ses.Kube.RESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w; name another with --kubeconfig FILE or --context NAME", err)
	}
	return config, nil
}

// ContextName is what the user calls the cluster.
func (ses *Session) ContextName(host string) string {
	if ses.Kube.Context != "" {
		return ses.Kube.Context
	}
	if ses.Kube.APIServer != "" {
		return host
	}
	if raw, err := ses.Kube.Loader().RawConfig(); err == nil && raw.CurrentContext != "" {
		return raw.CurrentContext
	}
	return host
}

// asksCluster reports whether a live cluster is read: not with archives, and
// with a rendezvous host only where one is named. The cluster of a kubeconfig
// that happens to be there is another one. Text that the user has in hand is read
// alone where no kubeconfig exists. Hosts over ssh are asked before there is an API, and without it.
func (ses *Session) asksCluster(dir *install.Dir) bool {
	named := ses.Kube.KubeConfig != "" || ses.Kube.Context != "" || ses.Kube.APIServer != ""
	switch {
	case len(ses.From) > 0:
		return false
	case dir != nil || ses.Rendezvous != "" || len(ses.Asked) > 0:
		return named
	case len(ses.Consoles) > 0 && ses.Hosted == "" && ses.ProbeFrom == "":
		return named || !ses.NoCluster()
	}
	return true
}

// NoCluster reports whether there is no kubeconfig that names a cluster. A kubeconfig
// that cannot be read is one: it is an error where it is used.
func (ses *Session) NoCluster() bool {
	raw, err := ses.Kube.Loader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && ses.Kube.APIServer == "" && ses.Getenv("KUBERNETES_SERVICE_HOST") == ""
}
