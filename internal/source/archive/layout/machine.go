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

// Some collectors have files in which one machine reports about itself. They
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

// NotInReports is why a sosreport and a log bundle do not have a file of the kubelet's identity.
const NotInReports = "neither a sosreport nor a log bundle has it"

// Identity is what is known of a machine by its name alone, and by its address where that is
// known. from says where the name was found, why is why the kubelet's files are not there.
func Identity(hostname, from, address, why string) onhost.Identity {
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
