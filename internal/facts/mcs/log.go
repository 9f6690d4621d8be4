package mcs

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// The lines of the server that matter. 4.14 prints the pool without quotes; the
// request in an error is a Go struct whose second field is a pointer
// (openshift/machine-config-operator:pkg/server/api.go ServeHTTP, Serve).
const (
	sigRequest   = "mcs.request"
	sigError     = "mcs.error"
	sigConvert   = "mcs.convert"
	sigVersion   = "mcs.version"
	sigCacheSync = "mcs.cache-sync"
	sigCert      = "mcs.cert"
	sigExit      = "mcs.exit"
	sigRejected  = "mcs.rejected"
	sigLaunch    = "mcs.launch"
)

// class is why a request failed.
type class string

const (
	served            class = ""
	emptyName         class = "empty-name"
	configMissing     class = "config-missing"
	poolUnknown       class = "pool-unknown"
	controllerConfig  class = "controllerconfig-missing"
	unservable        class = "unservable"
	bootstrapRefusal  class = "bootstrap-refusal"
	bootstrapNotReady class = "bootstrap-not-ready"
	versionRefused    class = "version-refused"
	otherFailure      class = "other"
)

// failures tells the errors of GetConfig apart, by the parts that did not change
// from 4.14 on (pkg/server/cluster_server.go, bootstrap_server.go, server.go). The
// first one that fits counts: an empty name is also a config that is not found.
var failures = []struct {
	class class
	text  *regexp.Regexp
}{
	{emptyName, regexp.MustCompile(`(?i)could not fetch config\s+, ?err|machineconfigs?\.machineconfiguration\.openshift\.io \\?"\\?" not found`)},
	{configMissing, regexp.MustCompile(`(?i)could not fetch config (\S+), err: .*not found`)},
	{poolUnknown, regexp.MustCompile(`(?i)could not fetch pool.*not found`)},
	{controllerConfig, regexp.MustCompile(`(?i)could not get controllerconfig`)},
	{bootstrapRefusal, regexp.MustCompile(`(?i)refusing to serve bootstrap configuration`)},
	{bootstrapNotReady, regexp.MustCompile(`(?i)could not find file`)},
	{unservable, regexp.MustCompile(`(?i)parsing ignition config failed|failed to migrate kernel args|can't serve version`)},
}

// classOf returns the class of an error and, for a missing config, its name.
func classOf(text string) (class, string) {
	for _, f := range failures {
		m := f.text.FindStringSubmatch(text)
		switch {
		case m == nil:
		case f.class == configMissing:
			return f.class, m[1]
		default:
			return f.class, ""
		}
	}
	return otherFailure, ""
}

// request is one request and its outcome.
type request struct {
	pool    string
	address string // of the client, without port; behind a load balancer its own
	agent   string
	accept  string // "" also where the release does not log it
	line    evidence.Line
	class   class
	config  string        // the config that was not found
	failure evidence.Line // the line of the error
}

// ignition reports whether Ignition asked.
func (r request) ignition() bool {
	if r.accept == "" {
		return strings.HasPrefix(strings.ToLower(r.agent), "ignition")
	}
	return strings.Contains(strings.ToLower(r.accept), "vnd.coreos.ignition")
}

// requests reads all requests of all servers, oldest first. Lines without a
// request before them (the log was cut) are left out.
func requests(ctx context.Context, w *facts.World) ([]request, error) {
	return facts.Memo(ctx, w, "mcs.requests", func(ctx context.Context, w *facts.World) ([]request, error) {
		lines, err := linesOf(ctx, w, logs, sigRequest, sigError, sigConvert, sigVersion)
		if err != nil {
			return nil, err
		}
		list := pair(lines)
		slices.SortStableFunc(list, func(a, b request) int { return a.line.Time.Compare(b.line.Time) })
		return list, nil
	})
}

// hit is a match and the signature that it is of.
type hit struct {
	evidence.Match
	id string
}

// linesOf returns the matches of several signatures in the order of the texts
// and their lines.
func linesOf(ctx context.Context, w *facts.World, q evidence.TextQuery, signatures ...string) ([]hit, error) {
	var lines []hit
	for _, id := range signatures {
		list, err := w.Matches(ctx, q, id)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			lines = append(lines, hit{m, id})
		}
	}
	slices.SortStableFunc(lines, func(a, b hit) int {
		return cmp.Or(strings.Compare(a.Text.Path, b.Text.Path), a.Line.Loc.Line-b.Line.Loc.Line)
	})
	return lines, nil
}

// pair gives each request the error that follows it in the same log. The server
// answers requests side by side; an error goes to the youngest open request of
// its pool.
func pair(lines []hit) []request {
	var list []request
	from := 0 // first request of this text
	for i, l := range lines {
		if i > 0 && lines[i-1].Text.Path != l.Text.Path {
			from = len(list)
		}
		if l.id == sigRequest {
			list = append(list, request{pool: l.Groups[1], address: host(l.Groups[2]), agent: l.Groups[3], accept: l.Groups[4], line: l.Line})
			continue
		}
		pool, c, config := "", versionRefused, ""
		switch l.id {
		case sigError:
			pool = l.Groups[1]
			c, config = classOf(l.Groups[2])
		case sigConvert:
			pool, c = l.Groups[1], unservable
		}
		for j := len(list) - 1; j >= from; j-- {
			if list[j].class == served && (pool == "" || list[j].pool == pool) {
				list[j].class, list[j].config, list[j].failure = c, config, l.Line
				break
			}
		}
	}
	return list
}

// host cuts the port off an address.
func host(address string) string {
	if i := strings.LastIndexByte(address, ':'); i > 0 {
		address = address[:i]
	}
	return strings.Trim(address, "[]")
}
