package live

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// askPool sends one question. It makes a connection of its own, without a
// credential, a proxy, a redirect or a cookie; what the server serves as its
// certificate is recorded and not trusted.
func (s *Source) askPool(ctx context.Context, q probe.MCSAnswer) probe.MCSAnswer {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProbeTimeout)
	defer cancel()
	w := &wire.Witness{}
	client := outbound.HTTP(outbound.Options{TLS: &tls.Config{
		MinVersion:         tls.VersionTLS10, // old or odd: the wish is to see it, not to trust it
		InsecureSkipVerify: true,             //nolint:gosec // only to look at the certificate; no credential is sent
		VerifyConnection:   w.SawChain,
	}})
	defer client.CloseIdleConnections()
	address := net.JoinHostPort(q.Host, strconv.Itoa(q.Port))
	q.At = s.opts.Now()
	began := time.Now()
	req, err := http.NewRequestWithContext(w.Watch(ctx), http.MethodHead,
		(&url.URL{Scheme: "https", Host: address, Path: "/config/" + q.Pool, RawPath: pathOf(q.Pool)}).String(), nil)
	if err != nil {
		q.ErrorClass, q.Error = probe.ErrOther, wire.Clip(err.Error())
		return q
	}
	req.Header = http.Header{"Accept": {probe.MCSAccept}, "User-Agent": {"rollcall"}}
	resp, err := client.Do(req)
	q.Millis = time.Since(began).Milliseconds()
	seen := w.Seen()
	q.Stage, q.Address, q.Chain = seen.Stage, seen.Address, seen.PEM()
	if err != nil {
		var link *url.Error
		if errors.As(err, &link) {
			err = link.Err
		}
		q.ErrorClass, q.Error = wire.Classify(err, q.Stage), wire.Clip(err.Error())
		return q
	}
	_ = resp.Body.Close() // the answer to a HEAD has no body
	q.Stage, q.Status, q.Server = probe.StageAnswered, resp.StatusCode, wire.Clip(resp.Header.Get("Server"))
	return q
}
