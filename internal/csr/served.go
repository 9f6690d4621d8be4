package csr

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/outbound"
)

// Served is the certificate that a kubelet serves, verified against the CA of the
// kubelets' certificates; Why is the reason where there is none.
type Served struct {
	Certificate *x509.Certificate
	Why         string
}

// renews returns why a serving request is no renewal of what is served, "" where it is: the
// rules of the machine approver (openshift/cluster-machine-approver:pkg/controller/
// csr_check.go authorizeServingRenewal, verifyCertificateCommonName).
func (s Served) renews(r csrs.Request, now time.Time) string {
	c := s.Certificate
	switch {
	case c == nil:
		return s.Why
	case c.Subject.CommonName != r.CN || r.Requester != r.CN:
		return "it serves a certificate of " + quoted(c.Subject.CommonName)
	case now.Before(c.NotBefore) || !now.Before(c.NotAfter):
		return "its certificate is valid from " + stamp(c.NotBefore) + " until " + stamp(c.NotAfter)
	}
	var names, ips []string
	names = append(names, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		ips = append(ips, ip.String())
	}
	if !csrs.SameSet(names, r.DNSNames) || !csrs.SameSet(ips, r.IPs) || len(c.EmailAddresses)+len(c.URIs)+len(r.Emails)+len(r.URIs) > 0 {
		return fmt.Sprintf("it serves %s, the request asks for %s", list(slices.Concat(names, ips)), list(slices.Concat(r.DNSNames, r.IPs)))
	}
	return ""
}

// Dialer connects to kubelets.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// AskKubelet connects to the kubelet of an expected host at its declared addresses, and
// returns the certificate that it serves. The connection is verified against ca and the
// host's name; nothing is sent over it, no credential either. The machine approver dials the
// Node's InternalIP, which the kubelet itself writes.
func AskKubelet(ctx context.Context, dial Dialer, ca *x509.CertPool, e Expectation, n Node, now time.Time) Served {
	if ca == nil || len(e.IPs) == 0 {
		return Served{Why: "no CA of the kubelets' certificates, or no declared address"}
	}
	port := n.Port
	if port == 0 {
		port = openshift.KubeletPort
	}
	var failed []string
	for _, ip := range e.IPs {
		c, err := servedAt(ctx, dial, net.JoinHostPort(ip, strconv.Itoa(port)), &tls.Config{
			RootCAs: ca, ServerName: e.Name, MinVersion: tls.VersionTLS12, Time: func() time.Time { return now }})
		if err == nil {
			return Served{Certificate: c}
		}
		failed = append(failed, err.Error())
	}
	return Served{Why: strings.Join(failed, "; ")}
}

func servedAt(ctx context.Context, dial Dialer, address string, config *tls.Config) (_ *x509.Certificate, err error) {
	raw, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to the kubelet: %w", err)
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	conn, err := outbound.TLS(ctx, raw, config)
	if err != nil {
		return nil, fmt.Errorf("verify what the kubelet at %s serves: %w", address, err)
	}
	return conn.ConnectionState().PeerCertificates[0], nil
}
