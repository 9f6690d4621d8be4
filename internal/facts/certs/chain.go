// Package certs computes facts about certificates: whom they are for, who signed
// them, and when they are valid. It reads certificates only, never keys.
//
// Invariants:
//   - Validity is judged against World.Now, never against the machine's clock.
//   - A certificate that could not be read leaves its fields unknown. That a
//     Secret exists is known without reading it.
package certs

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// maxCerts bounds a bundle; the largest real ones hold a few hundred.
const maxCerts = 2000

// ParseBundle reads all certificates of a PEM text. Other blocks are passed over.
// A text without any certificate is an error.
func ParseBundle(text []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for rest := text; len(list) < maxCerts; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return list, fmt.Errorf("parse certificate %d of the bundle: %w", len(list)+1, err)
		}
		list = append(list, cert)
	}
	if len(list) == 0 {
		return nil, errors.New("no PEM block CERTIFICATE")
	}
	return list, nil
}

// signedBy reports whether one of the CAs signed the certificate. Its
// validity in time is another question.
func signedBy(cert *x509.Certificate, authorities []*x509.Certificate) bool {
	return slices.ContainsFunc(authorities, func(ca *x509.Certificate) bool {
		return cert.Equal(ca) || cert.CheckSignatureFrom(ca) == nil
	})
}

// ChainSignedBy reports whether the leaf leads to one of the CAs through
// the other certificates that came with it.
func ChainSignedBy(chain, authorities []*x509.Certificate) bool {
	if len(chain) == 0 {
		return false
	}
	at := chain[0]
	for range chain {
		if signedBy(at, authorities) {
			return true
		}
		i := slices.IndexFunc(chain, func(c *x509.Certificate) bool { return !c.Equal(at) && at.CheckSignatureFrom(c) == nil })
		if i < 0 {
			return false
		}
		at = chain[i]
	}
	return false
}

// Covers reports whether the certificate is for the host name or address. known is false where
// the name was obfuscated: a certificate cannot be, so the two say nothing about one another.
func Covers(cert *x509.Certificate, host string) (covers, known bool) {
	return cert.VerifyHostname(host) == nil, !obfuscation.Found(host)
}

// Names lists what a certificate is for: DNS names, then addresses.
func Names(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		if s := ip.String(); !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names
}

// fromBase64 reads a bundle from a base64 field such as a Secret's tls.crt.
func fromBase64(o evidence.Object, text string) ([]*x509.Certificate, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, damaged(o, err)
	}
	list, err := ParseBundle(raw)
	if err != nil {
		return nil, damaged(o, err)
	}
	return list, nil
}

func damaged(o evidence.Object, err error) error {
	return &evidence.Unavailable{Need: evidence.Objects(o.Resource, o.Namespace), Why: evidence.Damaged, Detail: o.Name + ": " + err.Error()}
}

// hostOf is the host of "https://host:port".
func hostOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	rest, _, _ = strings.Cut(rest, "/")
	if host, _, err := net.SplitHostPort(rest); err == nil {
		return host
	}
	return strings.Trim(rest, "[]")
}
