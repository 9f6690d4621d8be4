package wire

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Resolver returns a resolver that speaks DNS itself, and what returns the servers that it
// has asked.
func Resolver() (resolver *net.Resolver, asked func() []string) {
	var mu sync.Mutex
	var servers []string
	resolver = outbound.Resolver(func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		if !slices.Contains(servers, address) {
			servers = append(servers, address)
		}
		mu.Unlock()
		return outbound.Dial(ctx, network, address)
	})
	return resolver, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(slices.Values(servers))
	}
}

// TrustOf says what the error of a verification means for the certificate.
func TrustOf(err error, leaf *x509.Certificate, at time.Time) probe.Trust {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case err == nil:
		return probe.TrustVerified
	case errors.As(err, &unknown):
		return probe.TrustUnknownCA
	case errors.As(err, &name):
		return probe.TrustWrongName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && at.Before(leaf.NotBefore):
		return probe.TrustNotYetValid
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return probe.TrustExpired
	}
	return probe.TrustOther
}

// Clip makes one short line of a message that somebody else wrote.
func Clip(v string) string {
	v = strings.Join(strings.Fields(v), " ")
	const most = 300
	return evidence.Shorten(v, most)
}
