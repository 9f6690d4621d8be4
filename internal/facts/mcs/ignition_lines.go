package mcs

import (
	"regexp"
	"strconv"
	"strings"
)

// The lines of Ignition that matter
// (coreos/ignition:internal/resource/http.go, internal/resource/url.go,
// internal/exec/engine.go, internal/main.go, config/shared/errors/errors.go).
const (
	sigAttempt   = "ignition.attempt"
	sigResult    = "ignition.result"
	sigGetError  = "ignition.error"
	sigJob       = "ignition.job"
	sigCA        = "ignition.ca"
	sigCABroken  = "ignition.ca-broken"
	sigCABundle  = "ignition.ca-bundle-broken"
	sigFailed    = "ignition.failed"
	sigAcquire   = "ignition.acquire"
	sigFetchFail = "ignition.fetch-failed"
	sigEmergency = "ignition.emergency"
	sigVersionIn = "ignition.config-version"
	sigInvalid   = "ignition.config-invalid"
	sigEmpty     = "ignition.config-empty"
	sigMerge     = "ignition.merge"
	sigFinished  = "ignition.finished"
	sigFetched   = "ignition.fetched"
	sigKernel    = "ignition.kernel"
	sigKargs     = "ignition.kargs"
	sigDisks     = "ignition.disks"
	sigMount     = "ignition.mount"
	sigFiles     = "ignition.files"
)

// laterStages are the stages that come after the fetch: each begins its lines with its
// name (coreos/ignition:internal/exec/engine.go Run, PushPrefix; internal/exec/stages).
var laterStages = map[string]string{sigKargs: "kargs", sigDisks: "disks", sigMount: "mount", sigFiles: "files"}

var ignitionMessages = []string{
	sigAttempt, sigResult, sigGetError, sigJob, sigCA, sigCABroken,
	sigCABundle, sigFailed, sigAcquire, sigFetchFail, sigEmergency, sigVersionIn,
	sigInvalid, sigEmpty, sigMerge, sigFinished, sigFetched, sigKernel,
	sigKargs, sigDisks, sigMount, sigFiles,
}

// statuses are the texts that Ignition prints for HTTP statuses: the text, not
// the number (net/http StatusText).
var statuses = map[string]int64{
	"ok": 200, "bad request": 400, "unauthorized": 401, "forbidden": 403, "not found": 404, "method not allowed": 405,
	"internal server error": 500, "bad gateway": 502, "service unavailable": 503, "gateway timeout": 504,
	"network authentication required": 511, // an ignition server of a hosted cluster that does not know the token
}

// Error classes of a request that got no HTTP answer.
var errorClasses = []struct {
	class string
	text  *regexp.Regexp
}{
	// What a resolver says of itself may hold "connection refused" or "i/o timeout", so names come first.
	{"dns", regexp.MustCompile(`(?i)\blookup \S+|no such host|server misbehaving|:53: `)},
	{"tls-untrusted", regexp.MustCompile(`(?i)certificate signed by unknown authority`)},
	{"tls-early", regexp.MustCompile(`(?i)current time \S+ is before `)},
	{"tls-late", regexp.MustCompile(`(?i)current time \S+ is after `)},
	{"tls-name", regexp.MustCompile(`(?i)certificate is valid for .*, not |doesn't contain any IP SANs|not valid for any names|` +
		`cannot validate certificate for`)},
	{"tls-timeout", regexp.MustCompile(`(?i)TLS handshake timeout`)},
	{"plain-http", regexp.MustCompile(`(?i)server gave HTTP response to HTTPS client|first record does not look like a TLS handshake`)},
	{"refused", regexp.MustCompile(`(?i)connection refused`)},
	{"no-route", regexp.MustCompile(`(?i)no route to host`)},
	{"no-network", regexp.MustCompile(`(?i)network is unreachable`)},
	{"slow", regexp.MustCompile(`(?i)awaiting (response )?headers`)}, // the connection was made (net/http transport.go errTimeout)
	{"timeout", regexp.MustCompile(`(?i)i/o timeout|deadline exceeded`)},
	{"closed", regexp.MustCompile(`(?i)\bEOF\b|connection reset by peer`)},
}

func errorClass(text string) string {
	for _, c := range errorClasses {
		if c.text.MatchString(text) {
			return c.class
		}
	}
	return "other"
}

// poolInURL finds the pool that a URL of the machine config server asks for.
// hostedURL is what the user-data of a hosted cluster's machine points at
// (openshift/hypershift:hypershift-operator/controllers/nodepool/token.go ignConfig).
var hostedURL = regexp.MustCompile(`^https?://[^/]+/ignition$`)

var poolInURL = regexp.MustCompile(`^https?://[^/]+/config/([^/?]+)`)

// httpToTLS is a URL without TLS of a port that only speaks TLS: Go's server answers it
// with HTTP 400 (net/http server.go, "Client sent an HTTP request to an HTTPS server").
var httpToTLS = regexp.MustCompile(`^http://[^/]+:22623/`)

// urlInError is the URL in an error of Go's client (net/url Error.Error).
var urlInError = regexp.MustCompile(`(?i)^\\?"?Get \\?"?(https?://[^"\\\s]+?)\\?"?: `)

// uptime is the kernel's time stamp on a console line.
var uptime = regexp.MustCompile(`^\W{0,3}\[\s*(\d+\.\d+)\]`)

func seconds(line string) (float64, bool) {
	m := uptime.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v, err == nil
}

// sameKeyName is what crypto/x509 adds when a trusted CA of the same name has
// another key (x509 UnknownAuthorityError.Error).
var sameKeyName = regexp.MustCompile(`(?i)while trying to verify candidate authority certificate`)

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
