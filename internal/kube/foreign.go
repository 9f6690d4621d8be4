package kube

import (
	"errors"
	"fmt"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ForeignConfig makes a client's configuration of a kubeconfig that came from a
// cluster. Such a kubeconfig is foreign input: one that would run a program, read a
// file of this machine, or talk to its server unverified is refused. Errors quote
// nothing of it.
func ForeignConfig(raw []byte) (*rest.Config, error) {
	k, err := clientcmd.Load(raw)
	if err != nil {
		return nil, errors.New("it cannot be read as a kubeconfig") // the error may quote it
	}
	at := k.Contexts[k.CurrentContext]
	if at == nil {
		return nil, errors.New("it has no current context")
	}
	cluster, user := k.Clusters[at.Cluster], k.AuthInfos[at.AuthInfo]
	if cluster == nil || user == nil {
		return nil, errors.New("its current context names a cluster or a user that is not in it")
	}
	server, err := url.Parse(cluster.Server)
	switch {
	case err != nil || server.Scheme != "https" || server.Host == "":
		return nil, errors.New("its server is not an https URL")
	case server.User != nil:
		return nil, errors.New("its server's URL carries a password")
	case cluster.InsecureSkipTLSVerify:
		return nil, errors.New("it switches the verification of the server off")
	case cluster.CertificateAuthority != "" || user.ClientCertificate != "" || user.ClientKey != "" || user.TokenFile != "":
		return nil, errors.New("it names files of this machine")
	case user.Exec != nil || user.AuthProvider != nil:
		return nil, errors.New("it names a program to run")
	case cluster.ProxyURL != "":
		return nil, errors.New("it names a proxy")
	}
	cfg := &rest.Config{Host: cluster.Server, BearerToken: user.Token, Username: user.Username, Password: user.Password,
		TLSClientConfig: rest.TLSClientConfig{CAData: cluster.CertificateAuthorityData, CertData: user.ClientCertificateData,
			KeyData: user.ClientKeyData, ServerName: cluster.TLSServerName}}
	if cfg.BearerToken == "" && cfg.Password == "" && len(cfg.CertData) == 0 {
		return nil, fmt.Errorf("it holds no credential")
	}
	return cfg, nil
}
