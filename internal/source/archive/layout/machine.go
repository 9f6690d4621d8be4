package layout

import (
	"bytes"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// A sosreport and a log bundle have files in which one machine reports about itself. They
// become the objects that rollcall-host writes, with what they do not hold marked as not
// read.

var hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9])?$`)

// Hostname returns the host name that a file holds.
func Hostname(raw []byte) (string, error) {
	name := strings.TrimSpace(string(raw))
	if !hostname.MatchString(name) {
		return "", fmt.Errorf("%.80q is not a host name", name)
	}
	return name, nil
}

// OwnName reports whether the name in a journal's line is the host's own: it is called
// localhost until it has one.
func OwnName(host []byte) bool {
	return !bytes.HasPrefix(bytes.ToLower(host), []byte("localhost")) && hostname.Match(host)
}

// MachineObject returns the object of what a machine reports about itself; path is the file
// that it is made of.
func MachineObject(r evidence.Resource, name, path string, content any) (map[string]any, error) {
	o, err := onhost.Object(r, name, path, time.Time{}, content)
	return o.Content, err
}

// Identity is what is known of a machine by its name alone, and by its address where that is
// known. from says where the name was found.
func Identity(hostname, from, address string) onhost.Identity {
	const why = "neither a sosreport nor a log bundle has it"
	absent := func(path string) onhost.File { return onhost.File{Path: path, Error: why} }
	id := onhost.Identity{
		Hostname: hostname, NameFrom: from,
		Runtime:   onhost.Kubeconfig{File: absent("/var/lib/kubelet/kubeconfig")},
		Bootstrap: onhost.Kubeconfig{File: absent("/etc/kubernetes/kubeconfig")},
		Client:    onhost.Pair{File: absent("/var/lib/kubelet/pki/kubelet-client-current.pem")},
		Serving:   onhost.Pair{File: absent("/var/lib/kubelet/pki/kubelet-server-current.pem")},
	}
	if a, err := netip.ParseAddr(address); err == nil {
		id.Addresses = []string{a.String()}
	}
	return id
}
