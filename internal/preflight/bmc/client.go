package bmc

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Bounds of one BMC. The slowest answers of the captured servers took 8 s, their largest
// resources have some ten KiB, and a machine with 12 network ports and 8 disks needs about
// a hundred requests.
const (
	maxBody      = 1 << 20
	maxBytes     = 16 << 20
	maxRequests  = 600
	maxRedirects = 3
	dialTime     = 10 * time.Second
	answerTime   = 30 * time.Second
)

// problem is why a path was not read.
type problem struct {
	failure Failure
	status  int
	detail  string
}

func (p *problem) unread() Unread { return Unread{p.failure, wire.Clip(p.detail)} }

// client asks one BMC, one request after the other.
type client struct {
	http       *http.Client
	base       *url.URL
	answerTime time.Duration
	clock      func() time.Time

	credential *Credential // nil: requests go without one
	stopped    *problem    // the BMC refused the credential, or the bounds are reached: nothing more is asked
	requests   int
	bytes      int64

	lastSent time.Time // of the last request, and how long its answer took
	lastTook time.Duration
	noBasic  bool // a 401 that offers other ways to authenticate only
}

// sight is what a connection shows before anything is sent.
type sight struct {
	at    string // the address and port that answered
	chain []*x509.Certificate
}

// look opens a connection to see the certificate, and closes it. Nothing is sent over it.
func look(ctx context.Context, a address) (sight, *problem) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := outbound.Dial(ctx, "tcp", a.dialAddress())
	if err != nil {
		return sight{}, &problem{failure: Unreachable, detail: whyNot(err, probe.StageConnected)}
	}
	defer raw.Close() //nolint:errcheck // nothing was sent
	seen := sight{at: raw.RemoteAddr().String()}
	if a.base.Scheme != "https" {
		return seen, nil
	}
	conn, err := outbound.TLS(ctx, raw, &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: a.base.Hostname(),
		InsecureSkipVerify: true, //nolint:gosec // only to look at the certificate; nothing is sent
	})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return sight{}, &problem{failure: Timeout, detail: "connected, and no TLS answer in " + dialTime.String()}
		}
		return sight{}, &problem{failure: NoTLS, detail: whyNot(err, probe.StageConnected)}
	}
	seen.chain = conn.ConnectionState().PeerCertificates
	return seen, nil
}

// whyNot is the error of a connection without the addresses that it repeats.
func whyNot(err error, stage probe.Stage) string {
	switch wire.Classify(err, stage) {
	case probe.ErrDNS:
		return "the name does not resolve"
	case probe.ErrTimeout:
		return "no answer in time"
	case probe.ErrRefused:
		return "connection refused"
	case probe.ErrNoRoute:
		return "no route"
	}
	var link *url.Error
	if errors.As(err, &link) {
		err = link.Err
	}
	return wire.Clip(err.Error())
}

// verify says what a served chain is worth for a host at a time.
func verify(chain []*x509.Certificate, host string, roots *x509.CertPool, at time.Time) (probe.Trust, error) {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	return wire.TrustOf(err, chain[0], at), err
}

// newClient returns a client that talks to the server with this very certificate only.
// Whether that is trusted was decided before.
func newClient(a address, leaf *x509.Certificate, answer time.Duration, clock func() time.Time) *client {
	connection := outbound.HTTP(outbound.Options{
		Reuse: true, Handshake: dialTime, Dial: outbound.Dialer(dialTime).DialContext, Headers: answer,
		TLS: &tls.Config{
			MinVersion: tls.VersionTLS12, ServerName: a.base.Hostname(),
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares with the certificate that was judged
			VerifyConnection: func(s tls.ConnectionState) error {
				if leaf == nil || len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, leaf.Raw) {
					return errors.New("the server shows another certificate than before")
				}
				return nil
			},
		},
	})
	return &client{base: a.base, answerTime: answer, clock: clock, http: connection}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// get reads one resource. Redirects are followed on the same server only.
func (c *client) get(ctx context.Context, path string) (map[string]any, *problem) {
	for range maxRedirects {
		if c.stopped != nil {
			return nil, c.stopped
		}
		body, next, p := c.once(ctx, path)
		if p != nil {
			if p.failure == Refused || p.failure == TooLarge {
				c.stopped = p
			}
			return nil, p
		}
		if next == "" {
			return body, nil
		}
		path = next
	}
	return nil, &problem{failure: Redirected, detail: fmt.Sprintf("more than %d redirects", maxRedirects)}
}

func (c *client) once(ctx context.Context, path string) (body map[string]any, next string, p *problem) {
	if c.requests++; c.requests > maxRequests {
		return nil, "", &problem{failure: TooLarge, detail: fmt.Sprintf("it needs more than %d requests", maxRequests)}
	}
	ctx, cancel := context.WithTimeout(ctx, c.answerTime)
	defer cancel()
	ref, err := localPath(path)
	if err != nil {
		return nil, "", &problem{failure: NotAService, detail: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.ResolveReference(ref).String(), nil)
	if err != nil {
		return nil, "", &problem{failure: NotAService, detail: "a path that cannot be asked"}
	}
	req.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"rollcall"}, "Odata-Version": {"4.0"}}
	if c.credential != nil {
		req.SetBasicAuth(c.credential.user, c.credential.pass)
	}
	c.lastSent = c.clock()
	resp, err := c.http.Do(req)
	c.lastTook = c.clock().Sub(c.lastSent)
	if err != nil {
		return nil, "", c.notAnswered(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its bound
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return c.redirect(ref, resp)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, "", c.refusedBy(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	c.bytes += int64(len(raw))
	switch {
	case len(raw) > maxBody || c.bytes > maxBytes:
		return nil, "", &problem{failure: TooLarge, status: resp.StatusCode, detail: fmt.Sprintf("more than %d MiB", maxBody>>20)}
	case err != nil && ctx.Err() != nil:
		return nil, "", &problem{failure: Timeout, status: resp.StatusCode, detail: "the answer did not end in " + waited(c.clock().Sub(c.lastSent))}
	case err != nil:
		return nil, "", &problem{failure: Damaged, status: resp.StatusCode, detail: "the answer breaks off"}
	}
	body, p = object(raw)
	return body, "", p
}

// object reads the JSON of an answer.
func object(raw []byte) (map[string]any, *problem) {
	text := bytes.TrimSpace(raw)
	if len(text) == 0 || text[0] != '{' {
		what := "something that is no JSON"
		if bytes.HasPrefix(bytes.ToLower(text), []byte("<")) {
			what = "a web page"
		}
		return nil, &problem{failure: NotAService, status: http.StatusOK, detail: "it answers with " + what}
	}
	body := map[string]any{}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, &problem{failure: Damaged, status: http.StatusOK, detail: "the JSON of the answer is not whole"}
	}
	return body, nil
}

// localPath is a path of the same server. An @odata.id that names another server, or none
// of the service, is not asked.
func localPath(path string) (*url.URL, error) {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || len(path) > 1024 || !strings.HasPrefix(u.Path, "/redfish") {
		return nil, errors.New("a link that leads out of the Redfish service")
	}
	u.Fragment = ""
	return u, nil
}

// waited is how long an answer was waited for: the time of one answer, or what was left of
// the time of the whole BMC.
func waited(took time.Duration) string { return max(took, 0).Round(100 * time.Millisecond).String() }

func (c *client) notAnswered(err error) *problem {
	switch wire.Classify(err, probe.StageTLS) {
	case probe.ErrTimeout:
		return &problem{failure: Timeout, detail: "no answer in " + waited(c.lastTook)}
	case probe.ErrClosed:
		return &problem{failure: Closed, detail: "the connection was closed before the answer"}
	case probe.ErrHTTP:
		return &problem{failure: NotAService, detail: "what answers is not HTTP"}
	}
	return &problem{failure: Unreachable, detail: whyNot(err, probe.StageTLS)}
}

// redirect returns the path to follow on the same server.
func (c *client) redirect(from *url.URL, resp *http.Response) (map[string]any, string, *problem) {
	to, err := c.base.ResolveReference(from).Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" {
		return nil, "", &problem{failure: Redirected, status: resp.StatusCode, detail: "a redirect to nowhere"}
	}
	if to.Scheme != c.base.Scheme || to.Host != c.base.Host {
		return nil, "", &problem{failure: Redirected, status: resp.StatusCode, detail: "a redirect to " + wire.Clip(to.Scheme+"://"+to.Host)}
	}
	return nil, (&url.URL{Path: to.Path, RawQuery: to.RawQuery}).String(), nil
}

// refusedBy says what a status other than 200 means.
func (c *client) refusedBy(resp *http.Response) *problem {
	p := &problem{status: resp.StatusCode, detail: fmt.Sprintf("HTTP %d", resp.StatusCode)}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		p.failure = Refused
		ways := strings.ToLower(strings.Join(resp.Header.Values("Www-Authenticate"), ","))
		c.noBasic = ways != "" && !strings.Contains(ways, "basic")
	case resp.StatusCode == http.StatusForbidden:
		p.failure = Forbidden
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed, resp.StatusCode == http.StatusGone:
		p.failure = Absent
	case resp.StatusCode >= 500:
		p.failure = Unavailable
	default:
		p.failure = NotAService
	}
	return p
}
