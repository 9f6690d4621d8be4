package session

import (
	"fmt"
	"net"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/install"
)

// openInstallDir opens --install-dir and makes its kubeconfig the one that is used,
// unless the user names another; nil where the flag is not given.
func (ses *Session) openInstallDir(r *Run) (*install.Dir, error) {
	path := ses.InstallDir
	if path == "" {
		return nil, nil
	}
	if len(ses.From) > 0 {
		return nil, Usagef("--install-dir asks a cluster and --from asks none; to read the directory alone: --from %s", path)
	}
	if ses.Hosted != "" {
		return nil, Usagef("--install-dir is of a cluster that is installed by itself; a hosted one has no such directory: leave out --hosted or --install-dir")
	}
	d, err := install.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--install-dir: %w", err)
	}
	r.closers = append(r.closers, d.Close)
	if k := d.Kubeconfig(); k != "" && ses.Kube.KubeConfig == "" {
		ses.Kube.KubeConfig, ses.ofDir = k, k
	}
	return d, nil
}

// addRendezvous adds the service on the rendezvous host: the one that the user
// names, or that of --install-dir. A directory's token goes only to the address
// that the same directory gives.
func (ses *Session) addRendezvous(list []evidence.Source, dirs []*install.Dir, dir *install.Dir) ([]evidence.Source, error) {
	value := ses.Rendezvous
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
		return nil, Usagef("--rendezvous: %v", err)
	}
	o := assisted.Options{Address: address, Now: ses.Clock}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, Usagef("--rendezvous: %v", err)
	}
	for _, d := range dirs {
		if ip := net.ParseIP(d.Install.RendezvousIP); ip != nil && ip.Equal(net.ParseIP(host)) && d.Token.Value != "" {
			o.Token = d.Token
		}
	}
	return append(list, assisted.New(o)), nil
}
