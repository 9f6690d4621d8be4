package wire

import (
	"crypto/x509"
	"errors"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// TrustOf says what a served chain is worth, by the error of its verification at a time.
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
