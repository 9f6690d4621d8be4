package machine

import "crypto/tls"

// keyFits reports whether a PEM file holds the private key of its first certificate.
// The key is looked at here and nowhere else.
func keyFits(raw []byte) bool {
	_, err := tls.X509KeyPair(raw, raw)
	return err == nil
}
