package cli

import (
	"fmt"
	"net"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/install"
)

// openInstallDir opens --install-dir and makes its kubeconfig the one that is used,
// unless the user names another; nil where the flag is not given.
func (a *app) openInstallDir(r *run) (*install.Dir, error) {
	path := a.source.installDir
	if path == "" {
		return nil, nil
	}
	if len(a.source.from) > 0 {
		return nil, usagef("--install-dir asks a cluster and --from asks none; to read the directory alone: --from %s", path)
	}
	if a.source.hosted != "" {
		return nil, usagef("--install-dir is of a cluster that is installed by itself; a hosted one has no such directory: leave out --hosted or --install-dir")
	}
	d, err := install.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--install-dir: %w", err)
	}
	r.closers = append(r.closers, d.Close)
	if k := d.Kubeconfig(); k != "" && a.kube.KubeConfig == "" {
		a.kube.KubeConfig, a.source.ofDir = k, k
	}
	return d, nil
}

// asksCluster reports whether a live cluster is read: not with archives, and
// with a rendezvous host only where one is named. The cluster of a kubeconfig
// that happens to be there is another one. Text that the user has in hand is read
// alone where no kubeconfig exists.
func (a *app) asksCluster(dir *install.Dir) bool {
	named := a.kube.KubeConfig != "" || a.kube.Context != "" || a.kube.APIServer != ""
	switch {
	case len(a.source.from) > 0:
		return false
	case dir != nil || a.source.rendezvous != "":
		return named
	case len(a.source.consoles) > 0 && a.source.hosted == "" && a.source.probeFrom == "":
		return named || !a.noCluster()
	}
	return true
}

// noCluster reports whether there is no kubeconfig that names a cluster. A kubeconfig
// that cannot be read is one: it is an error where it is used.
func (a *app) noCluster() bool {
	raw, err := a.kube.Loader().RawConfig()
	return err == nil && len(raw.Clusters) == 0 && a.kube.APIServer == "" && a.io.Getenv("KUBERNETES_SERVICE_HOST") == ""
}

// addRendezvous adds the service on the rendezvous host: the one that the user
// names, or that of --install-dir. A directory's token goes only to the address
// that the same directory gives.
func (a *app) addRendezvous(list []evidence.Source, dirs []*install.Dir, dir *install.Dir) ([]evidence.Source, error) {
	value := a.source.rendezvous
	if value == "" && dir != nil {
		value = dir.Install.RendezvousIP
		if net.ParseIP(value) == nil {
			return list, nil // no agent-based install, or a config that was never filled in
		}
	}
	if value == "" {
		return list, nil
	}
	address, err := assisted.ParseAddress(value)
	if err != nil {
		return nil, usagef("--rendezvous: %v", err)
	}
	o := assisted.Options{Address: address, Now: a.io.Clock}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("--rendezvous: %v", err)
	}
	for _, d := range dirs {
		if ip := net.ParseIP(d.Install.RendezvousIP); ip != nil && ip.Equal(net.ParseIP(host)) && d.Token.Value != "" {
			o.Token = d.Token
		}
	}
	return append(list, assisted.New(o)), nil
}
