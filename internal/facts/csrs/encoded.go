package csrs

import (
	"bytes"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"net/netip"
)

// The parts of a PKCS #10 request as they are encoded (RFC 2986, 4).
type (
	encodedRequest struct {
		Body      encodedBody
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	encodedBody struct {
		Version    int
		Subject    asn1.RawValue
		Key        asn1.RawValue
		Attributes []asn1.RawValue `asn1:"tag:0"`
	}
	encodedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	encodedAttribute struct {
		ID     asn1.ObjectIdentifier
		Values []asn1.RawValue `asn1:"set"`
	}
	encodedName struct {
		ID    asn1.ObjectIdentifier
		Value asn1.RawValue
	}
	encodedNames []encodedName // of one relative name: a SET
)

// readWhole decodes raw and refuses what the result does not hold: encoding/asn1 skips
// elements at the end of a sequence, which other parsers read or refuse.
func readWhole[T any](raw []byte, params string) (T, error) {
	var v T
	rest, err := asn1.UnmarshalWithParams(raw, &v, params)
	if err != nil {
		return v, err
	}
	if len(rest) > 0 {
		return v, fmt.Errorf("%d bytes follow", len(rest))
	}
	again, err := asn1.MarshalWithParams(v, params)
	if err == nil && !bytes.Equal(again, raw) {
		err = errors.New("not encoded in the one way that DER has for it")
	}
	return v, err
}

// checkEncoding refuses a request that two parsers can read differently.
func checkEncoding(raw []byte) error {
	r, err := readWhole[encodedRequest](raw, "")
	if err != nil {
		return err
	}
	if _, err := readWhole[encodedKey](r.Body.Key.FullBytes, ""); err != nil {
		return fmt.Errorf("its key: %w", err)
	}
	if len(r.Algorithm.Parameters.FullBytes) > 0 && ofECDSA(r.Algorithm.Algorithm) {
		return errors.New("its signature with ECDSA has parameters") // RFC 5758, 3.2: there are none
	}
	return nil
}

// ofECDSA reports whether an algorithm is of ANSI X9.62 (1.2.840.10045.4).
func ofECDSA(id asn1.ObjectIdentifier) bool {
	signatures := asn1.ObjectIdentifier{1, 2, 840, 10045, 4}
	return len(id) > len(signatures) && id[:len(signatures)].Equal(signatures)
}

// checkSubject looks at the subject as it is encoded. crypto/x509 keeps the last of
// several common names, other parsers the first; it leaves out organizations whose string
// type it does not decode, but the signer copies them into the certificate; other
// attributes reach the certificate, and the API server reads a user's UID from one
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/authentication/request/x509/x509.go).
//
// org and cn are what crypto/x509 read.
func checkSubject(raw []byte, org []string, cn string) error {
	rdns, err := readWhole[[]asn1.RawValue](raw, "")
	if err != nil {
		return fmt.Errorf("the subject cannot be read: %w", err)
	}
	var orgs, names []asn1.RawValue
	for _, rdn := range rdns {
		set, err := readWhole[encodedNames](rdn.FullBytes, "set")
		if err != nil {
			return fmt.Errorf("the subject cannot be read: %w", err)
		}
		if len(set) != 1 {
			return fmt.Errorf("a part of the subject has %d values", len(set))
		}
		switch a := set[0]; {
		case a.ID.Equal(oidCommonName):
			names = append(names, a.Value)
		case a.ID.Equal(oidOrganization):
			orgs = append(orgs, a.Value)
		default:
			return fmt.Errorf("the subject has the attribute %s", a.ID)
		}
	}
	switch {
	case len(orgs) != 1:
		return fmt.Errorf("the subject has %d organizations", len(orgs))
	case len(names) != 1:
		return fmt.Errorf("the subject has %d common names", len(names))
	case len(org) != 1 || !plainText(orgs[0], org[0]):
		return errors.New("the organization is not a plain text")
	case !plainText(names[0], cn):
		return errors.New("the common name is not a plain text")
	}
	return nil
}

// plainText reports whether a value has one of the string types that a kubelet uses, and is what
// crypto/x509 read of it. The rules for names refuse signs that no host has in its name.
func plainText(v asn1.RawValue, read string) bool {
	if v.Class != asn1.ClassUniversal || v.IsCompound || v.Tag != asn1.TagPrintableString && v.Tag != asn1.TagUTF8String {
		return false
	}
	return string(v.Bytes) == read
}

// checkAttributes admits one request for extensions and no other attribute.
// crypto/x509 leaves out attributes that it does not know, and all values of an
// attribute but the first.
func checkAttributes(raw []byte) error {
	body, err := readWhole[encodedBody](raw, "")
	if err != nil {
		return fmt.Errorf("its attributes cannot be read: %w", err)
	}
	if body.Version != 0 {
		return fmt.Errorf("version %d of PKCS #10", body.Version+1)
	}
	if len(body.Attributes) > 1 {
		return fmt.Errorf("%d attributes", len(body.Attributes))
	}
	for _, one := range body.Attributes {
		attribute, err := readWhole[encodedAttribute](one.FullBytes, "")
		if err != nil {
			return fmt.Errorf("an attribute cannot be read: %w", err)
		}
		if !attribute.ID.Equal(oidExtensionRequest) || len(attribute.Values) != 1 {
			return fmt.Errorf("attribute %s with %d values", attribute.ID, len(attribute.Values))
		}
		extensions, err := readWhole[[]pkix.Extension](attribute.Values[0].FullBytes, "")
		if err != nil {
			return fmt.Errorf("its extensions cannot be read: %w", err)
		}
		if len(extensions) != 1 {
			return fmt.Errorf("%d extensions", len(extensions))
		}
	}
	return nil
}

// checkAltNames refuses the kinds of names that the signer refuses, and those that
// crypto/x509 passes over. It also refuses names and addresses that others read in another way: OpenSSL
// reads no name at all where one has a zero in it, and an IPv4 address in 16 bytes as one of IPv6.
func checkAltNames(raw []byte) error {
	names, err := readWhole[[]asn1.RawValue](raw, "")
	if err != nil {
		return fmt.Errorf("its alternative names cannot be read: %w", err)
	}
	for _, n := range names {
		if n.Class != asn1.ClassContextSpecific || n.IsCompound || n.Tag != tagDNS && n.Tag != tagIP {
			return fmt.Errorf("an alternative name of kind %d, neither a DNS name nor an address", n.Tag)
		}
		if n.Tag == tagDNS && (len(n.Bytes) == 0 || bytes.ContainsFunc(n.Bytes, notInName)) {
			return fmt.Errorf("the DNS name %.80q", n.Bytes)
		}
		if ip, ok := netip.AddrFromSlice(n.Bytes); n.Tag == tagIP && (!ok || ip.Is4In6()) {
			return fmt.Errorf("an address of the bytes %x", n.Bytes[:min(len(n.Bytes), 32)])
		}
	}
	return nil
}

// notInName reports a character that no DNS name of a host or wildcard has.
func notInName(r rune) bool {
	return r != '-' && r != '.' && r != '_' && r != '*' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
