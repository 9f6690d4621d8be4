// Package pullerror reads the error of a container image pull: why it failed, and at
// which host. podman, skopeo and rpm-ostree (through skopeo's proxy) print the same
// errors, those of containers/image.
//
// Invariants:
//   - A text that does not say that an image was pulled is no pull error, whatever else
//     it says.
//   - Where a registry and its mirrors failed, the cause is the mirror's if the registry
//     was not reached at all: a disconnected cluster never reaches it.
package pullerror

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Cause is why a pull failed.
type Cause string

// The causes.
const (
	policy       Cause = "policy"       // policy.json or a signature rejects the image
	proxy        Cause = "proxy"        // the HTTP proxy is not reached or refuses
	diskFull     Cause = "disk-full"    // no space for the image on the host
	DNS          Cause = "dns"          // the host's name does not resolve
	tls          Cause = "tls"          // certificate or TLS handshake
	unauthorized Cause = "unauthorized" // credentials are missing or refused
	rateLimited  Cause = "rate-limited"
	notFound     Cause = "not-found" // the registry does not have the image
	serverError  Cause = "server-error"
	refused      Cause = "refused"     // no listener at the port
	unreachable  Cause = "unreachable" // no route
	timeout      Cause = "timeout"
	interrupted  Cause = "interrupted" // the connection broke off
	other        Cause = "other"
)

// offline are causes with which a registry was not reached.
var offline = []Cause{DNS, refused, unreachable, timeout, proxy, interrupted}

// Error is the error of a pull.
type Error struct {
	Cause Cause
	Host  string // the registry, its token server or its storage, the proxy; "" where the error does not say
	Said  string // the part of the error that says the cause
}

// Lookup is how the name server failed to resolve a name.
type Lookup struct {
	Server string // its address, "" where the error does not say
	Silent bool   // the server was not reached or did not answer: that says nothing of the record
	Words  string // both in words, "" where the text is no such error
}

// lookup is the error of Go's resolver (golang/go:src/net/net.go DNSError.Error).
var lookup = regexp.MustCompile(`(?i)\blookup \S+?(?: on (\S+?))?: (.*)`)

// lookupFailures are the errors of a lookup (golang/go:src/net/net.go errNoSuchHost, errServerMisbehaving;
// the rest is what the socket to the server reported).
var lookupFailures = []struct {
	text   string
	silent bool
	words  string // %s is the server
}{
	{"no such host", false, "%s has no such host"},
	{"server misbehaving", false, "%s has no usable answer (server misbehaving)"},
	{"connection refused", true, "%s is not reached (connection refused)"},
	{"network is unreachable", true, "%s is not reached (network is unreachable)"},
	{"no route to host", true, "%s is not reached (no route to host)"},
	{"operation not permitted", true, "%s is not reached (operation not permitted)"},
	{"i/o timeout", true, "%s does not answer (i/o timeout)"},
}

// LookupOf reads the part of a pull error that says the cause dns.
func LookupOf(said string) Lookup {
	var l Lookup
	why := said
	if m := lookup.FindStringSubmatch(said); m != nil {
		l.Server, why = m[1], m[2]
		if host, _, err := net.SplitHostPort(l.Server); err == nil {
			l.Server = host
		}
	}
	server := "the name server"
	if l.Server != "" {
		server = "name server " + l.Server
	}
	for _, f := range lookupFailures {
		if strings.Contains(strings.ToLower(why), f.text) {
			l.Silent, l.Words = f.silent, fmt.Sprintf(f.words, server)
			return l
		}
	}
	l.Words = why
	return l
}

// pulls are texts that only the error of a pull has (containers/image:
// docker/{docker_client,docker_image_src}.go, copy/{copy,single,multiple}.go;
// openshift/machine-config-operator:pkg/daemon/{update,image_manager_helper}.go).
var pulls = regexp.MustCompile(`(?i)docker://|container registry|initializing source|reading manifest|reading blob|writing blob|copying system image|` +
	`mirrors also failed|skopeo|podman pull|rpm-ostree rebase|ostree-(?:unverified|remote)-(?:registry|image):|failed to update OS|source image rejected`)

// causes are tried in this order.
var causes = []struct {
	cause Cause
	text  *regexp.Regexp
}{
	{policy, regexp.MustCompile(`(?i)source image rejected|signature was required|rejected by policy`)},
	{diskFull, regexp.MustCompile(`(?i)no space left on device|min-free-space-\S+ \S+ would be exceeded|disk quota exceeded`)},
	{proxy, regexp.MustCompile(`(?i)proxyconnect|proxy authentication required`)},
	{DNS, regexp.MustCompile(`(?i)no such host|server misbehaving|\blookup \S+?(?: on \S+)?: |temporary failure in name resolution`)},
	{tls, regexp.MustCompile(`(?i)x509:|\btls: |server gave HTTP response to HTTPS client|certificate verify failed`)},
	{rateLimited, regexp.MustCompile(`(?i)toomanyrequests|too many requests|\b429\b`)},
	{unauthorized, regexp.MustCompile(`(?i)unauthorized|authentication required|access to the resource is denied|\bdenied: |` +
		`invalid username/password|no basic auth|\b40[13] \(?(?:unauthorized|forbidden)`)},
	{notFound, regexp.MustCompile(`(?i)manifest unknown|name unknown|repository not found|manifest for \S+ not found|\b404 \(?not found`)},
	{serverError, regexp.MustCompile(`(?i)unexpected HTTP status: 5\d\d|status code 5\d\d|\b50[0234] \(?(?:internal|bad|service|gateway)`)},
	{refused, regexp.MustCompile(`(?i)connection refused`)},
	{unreachable, regexp.MustCompile(`(?i)no route to host|network is unreachable|host is unreachable`)},
	{timeout, regexp.MustCompile(`(?i)i/o timeout|TLS handshake timeout|deadline exceeded|client\.timeout|connection timed out`)},
	{interrupted, regexp.MustCompile(`(?i)connection reset by peer|unexpected EOF|: EOF\b|broken pipe`)},
}

// hosts are where a pull error names the host, the surest first. The last URL is the one
// that failed: it may be a token server or a storage that the registry redirects to.
var (
	proxyHost = regexp.MustCompile(`(?i)proxyconnect tcp: dial tcp:? (?:lookup )?([^\s:]+(?::\d+)?)`)
	hosts     = []*regexp.Regexp{
		regexp.MustCompile(`(?i)(?:get|post|head) \\*"?https?://([^/"\\\s?]+)`),
		regexp.MustCompile(`(?i)pinging container registry (\S+?):? `),
		regexp.MustCompile(`(?i)reading (?:manifest|blob) \S+ in ([^/\s]+\.[^/\s]+|[^/\s]+:\d+)/`),
		regexp.MustCompile(`(?i)(?:docker://|ostree-unverified-registry:|ostree-unverified-image:docker://)([^/\s]+)/`),
		regexp.MustCompile(`(?i)failed to update OS to ([^/\s:]+(?::\d+)?)/`),
	}
)

// mirrors splits the error of several attempts (docker/docker_image_src.go newImageSource).
var mirrors = regexp.MustCompile(`(?is)\(mirrors also failed: \[(.*)\]\): (.*)$`)

// Parse reads the error of a pull. ok is false if the text is not one.
func Parse(text string) (e Error, ok bool) {
	if !pulls.MatchString(text) {
		return Error{}, false
	}
	if m := mirrors.FindStringSubmatch(text); m != nil {
		registry, mirror := one(m[2]), one(m[1])
		if slices.Contains(offline, registry.Cause) && mirror.Cause != other {
			return mirror, true
		}
		return registry, true
	}
	return one(text), true
}

// exit is how commands end their error, and what quotes and lists leave over; an IPv6 address
// with a port has a bracket, too.
var exit = regexp.MustCompile(`(?i)\s*(?:: exit status \d+.*|\\+[n"].*|".*|\](?:[^:].*)?)$`)

// firstLine is the first line of a text, short enough for a title.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = exit.ReplaceAllString(text, "")
	most := 120
	if strings.HasPrefix(strings.ToLower(text), "lookup ") {
		most = 400 // a name has up to 253 characters, and what decides is the end
	}
	return evidence.Shorten(text, most)
}

// one reads the error of one attempt.
func one(text string) Error {
	e := Error{Cause: other}
	for _, c := range causes {
		if at := c.text.FindStringIndex(text); at != nil {
			e.Cause, e.Said = c.cause, firstLine(text[at[0]:])
			break
		}
	}
	if e.Cause == proxy {
		if m := proxyHost.FindStringSubmatch(text); m != nil {
			e.Host = m[1]
			return e
		}
	}
	for _, h := range hosts {
		if all := h.FindAllStringSubmatch(text, -1); len(all) > 0 {
			e.Host = strings.TrimSuffix(all[len(all)-1][1], ":")
			break
		}
	}
	return e
}
