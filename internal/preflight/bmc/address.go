package bmc

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
)

// redfishDrivers are the schemes of addresses behind which there is a Redfish service
// (metal3-io/baremetal-operator:pkg/hardwareutils/bmc redfish.go, redfish_virtualmedia.go,
// redfish_https.go, idrac_virtualmedia.go, ilo5.go). https is what people write in lists.
var redfishDrivers = []string{
	"redfish", "redfish-virtualmedia", "redfish-uefihttp", "idrac-redfish", "idrac-virtualmedia", "ilo5-redfish", "ilo5-virtualmedia", "https", "http",
}

// address is a BMC address that was taken apart.
type address struct {
	driver string // redfish-virtualmedia
	base   *url.URL
	system string // path of the system, "" where the address has none
}

// parse takes an address apart as metal3 does: the scheme may end in +http or +https, and
// without a scheme it is IPMI's (pkg/hardwareutils/bmc/access.go getParsedURL).
func parse(text string) (a address, failure Failure, why string) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return address{driver: "ipmi"}, NotRedfish, "an address without a scheme is one of IPMI"
	}
	driver, transport, _ := strings.Cut(strings.ToLower(scheme), "+")
	if driver == "http" {
		transport = "http"
	}
	a.driver = driver
	if !slices.Contains(redfishDrivers, driver) {
		return a, NotRedfish, driver + ":// is not an address of Redfish"
	}
	u, err := url.Parse("x://" + rest)
	if err != nil || u.Hostname() == "" {
		return a, BadAddress, "it has no host that can be read"
	}
	if transport != "http" {
		transport = "https"
	}
	a.base = &url.URL{Scheme: transport, Host: u.Host}
	if p := path.Clean("/" + u.Path); p != "/" && p != "/redfish/v1" && p != "/redfish/v1/Systems" {
		a.system = p
	}
	return a, "", ""
}

// dialAddress is the host and port that a connection goes to.
func (a address) dialAddress() string {
	port := a.base.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[a.base.Scheme]
	}
	return net.JoinHostPort(a.base.Hostname(), port)
}

// withoutUser is an address without what stands before its @.
func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "", text
	}
	host, tail, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		host += "/" + tail
	}
	if ok {
		return scheme + "://" + host
	}
	return host
}

// hostOf is the host of an address, without its port.
func hostOf(text string) string {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		rest = text
	}
	rest, _, _ = strings.Cut(rest, "/")
	if host, _, err := net.SplitHostPort(rest); err == nil {
		return host
	}
	return strings.Trim(rest, "[]")
}

// isHost reports whether a word can be a host: an IP address or a name.
func isHost(word string) bool {
	host := hostOf("x://" + word)
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}
