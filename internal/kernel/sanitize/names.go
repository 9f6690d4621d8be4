package sanitize

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// keyKind is what the name of a field says of its value.
type keyKind int

const (
	plainKey  keyKind = iota
	maybeKey          // a credential or a reference: the value tells
	secretKey         // a secret
	deepKey           // a secret, also where the value is an object or a list
)

// keyNames is the list of all names of credentials, in lower case and without
// separators: "bmc-password", "ipmiPassword" and "ADMIN_PASSWORD" all end in
// "password". A name of "ends" is also the end of a longer one, and may have an "s" or
// digits behind it.
//
// It is deliberately narrow: "tokenSecret" and "pullSecret: {name}" are references,
// and "passwordFile" is a path.
var keyNames = []struct {
	name string
	kind keyKind
	ends bool
}{
	{"password", deepKey, true},      // BareMetalHost's Secret, Ironic, every other program
	{"passwd", deepKey, true},        // wpa_supplicant, netrc, Anaconda
	{"passphrase", deepKey, true},    // ssh-keygen, gpg, LUKS
	{"passcode", deepKey, true},      // consoles of BMCs
	{"clientsecret", deepKey, true},  // OAuth, of identity providers and clouds
	{"bmcpass", deepKey, true},       // scripts around ipmitool
	{"ipmipass", deepKey, true},      // the same
	{"psk", deepKey, true},           // NetworkManager, wpa_supplicant
	{"wepkey", deepKey, true},        // NetworkManager wep-key0, wpa_supplicant wep_key0
	{"authtok", deepKey, true},       // sssd.conf ldap_default_authtok
	{"snmpcommunity", deepKey, true}, // settings of BMCs
	{"authkey", secretKey, true},     // SNMPv3, Tailscale
	{"privkey", secretKey, true},     // SNMPv3

	{"secretkey", secretKey, true},       // S3, OAuth proxy
	{"secretaccesskey", secretKey, true}, // AWS
	{"privatekey", secretKey, true},      // WireGuard, kubeconfigs
	{"accountkey", secretKey, true},      // Azure Storage
	{"presharedkey", secretKey, true},    // WireGuard, Libreswan
	{"apikey", secretKey, true},          // monitoring, clouds
	{"accesstoken", secretKey, true},     // OAuth
	{"refreshtoken", secretKey, true},    // OAuth
	{"idtoken", secretKey, true},         // OIDC in kubeconfigs
	{"bearertoken", secretKey, true},     // Prometheus, client-go
	{"bootstraptoken", secretKey, true},  // kubeadm
	{"identitytoken", secretKey, true},   // container registries
	{"registrytoken", secretKey, true},   // container registries
	{"dockerconfigjson", secretKey, true},
	{"dockercfg", secretKey, true},
	{"clientkeydata", secretKey, true},              // kubeconfigs
	{"secretvalue", secretKey, true},                // annotations of token Secrets
	{"encryptionkey", secretKey, true},              // etcd encryption, OVN IPsec
	{"internalregistrypullsecret", secretKey, true}, // openshift/api:machineconfiguration/v1 ControllerConfigSpec
	{"token", secretKey, false},
	{"userdata", secretKey, false}, // Machine API, metal3

	{"token", maybeKey, true},
	{"authorization", maybeKey, true}, // HTTP
	{"cookie", maybeKey, true},        // HTTP, OAuth proxy
	{"credential", maybeKey, true},
	{"accesskey", maybeKey, true}, // AWS: its ID is none
	{"pass", maybeKey, true},
	{"pwd", maybeKey, true},
	{"auth", maybeKey, false}, // pull secrets
	{"secret", maybeKey, false},
	{"kubeadmin", maybeKey, false}, // the installer
	{"rootpw", maybeKey, false},    // Kickstart
}

// nameEnds are the last two letters of keyNames, as endOfName gives them.
var nameEnds = func() (ends [1 << 16]bool) {
	for _, n := range keyNames {
		a, b := endOfName(n.name)
		ends[int(a)<<8|int(b)] = true
	}
	return ends
}()

// endOfName returns the last two characters of a name in lower case, without separators
// and what may stand behind a name of keyNames.
func endOfName(k string) (a, b byte) {
	for i := len(k) - 1; i >= 0; i-- {
		switch c := k[i]; {
		case strings.IndexByte("-_. ", c) >= 0:
		case b == 0 && (c|0x20 == 's' || c >= '0' && c <= '9'):
		case c >= 'A' && c <= 'Z' && b == 0:
			b = c | 0x20
		case b == 0:
			b = c
		case c >= 'A' && c <= 'Z':
			return c | 0x20, b
		default:
			return c, b
		}
	}
	return 0, b
}

// plainEnd reports whether no name of keyNames ends as a key does, which is so for most.
// What is not ASCII may be a letter of one in another form.
func plainEnd(k string) bool {
	a, b := endOfName(k)
	return a < utf8.RuneSelf && b < utf8.RuneSelf && !nameEnds[int(a)<<8|int(b)]
}

// kindOfKey returns what a name says.
func kindOfKey(k string) keyKind {
	if plainEnd(k) {
		return plainKey
	}
	k = strings.ToLower(k)
	if strings.ContainsAny(k, "-_. ") {
		k = strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_. ", r) {
				return -1
			}
			return r
		}, k)
	}
	if strings.HasSuffix(k, "bypass") || strings.HasSuffix(k, "compass") {
		return plainKey
	}
	one := strings.TrimSuffix(k, "s")
	bare := strings.TrimRight(k, "0123456789")
	kind := plainKey
	for _, n := range keyNames {
		if n.kind > kind && (k == n.name || n.ends &&
			slices.ContainsFunc([]string{k, one, bare}, func(v string) bool { return strings.HasSuffix(v, n.name) })) {
			kind = n.kind
		}
	}
	return kind
}
