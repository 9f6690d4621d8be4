// Package hostscript makes shell scripts for what only somebody on a host can do. A script
// holds no secret, takes secrets only as files, looks before it acts, keeps what it replaces,
// and can undo what it did. It is made to be read before it is run.
package hostscript

import (
	_ "embed" // the script
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

//go:embed kubelet-identity.sh
var kubeletIdentity string

// KubeletIdentity is the recovery of the identity of one node's kubelet
// (kubernetes/kubernetes: pkg/kubelet/certificate/bootstrap/bootstrap.go LoadClientConfig).
type KubeletIdentity struct {
	Node string // name of the Node
	API  string // https://api-int.NAME:6443, Infrastructure's status.apiServerInternalURI
	ID   string // of this recovery; the backup on the host is named by it
}

var (
	nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	idForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,80}$`)
	apiForm  = regexp.MustCompile(`^https://[A-Za-z0-9.:\[\]-]+:[0-9]{1,5}$`)
)

// Script returns the script. Values that could be more than a name or an address are errors.
func (k KubeletIdentity) Script() (string, error) {
	u, err := url.Parse(k.API)
	switch {
	case !nodeName.MatchString(k.Node):
		return "", fmt.Errorf("%q is not the name of a node", k.Node)
	case err != nil || !apiForm.MatchString(k.API) || u.Hostname() == "":
		return "", fmt.Errorf("%q is not the address of an API server, such as https://api-int.example.com:6443", k.API)
	case !idForm.MatchString(k.ID):
		return "", fmt.Errorf("%q is not an id", k.ID)
	}
	return strings.NewReplacer("@NODE@", "'"+k.Node+"'", "@API@", "'"+k.API+"'", "@ID@", "'"+k.ID+"'").Replace(kubeletIdentity), nil
}
