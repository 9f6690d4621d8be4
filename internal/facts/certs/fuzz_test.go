package certs

import "testing"

// FuzzParseBundle: foreign PEM is read without a panic, and without certificates
// there is an error.
func FuzzParseBundle(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseBundle(text)
		if err == nil && len(list) == 0 {
			t.Error("no certificate and no error")
		}
		for _, c := range list {
			Covers(c, "api-int.example.com")
			Names(c)
		}
		ChainSignedBy(list, list)
	})
}
