package sanitize

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// keyKind is what the name of a field says of its value. What is more sure is greater.
type keyKind int

const (
	plainKey  keyKind = iota
	weakKey           // one of many kinds of keys: a secret if it is as random as one
	loginKey          // an address: user:password@host has a secret
	userKey           // a user, with a password behind a colon
	maybeKey          // a credential or a reference: the value tells
	secretKey         // a secret
	deepKey           // a secret, also where the value is an object or a list
)

// keyNames are the families of names, in lower case and without separators: "bmc-password",
// "ipmiPassword" and "ADMIN_PASSWORD" all end in "password". A name of "ends" is also the end of
// a longer one; an "s", digits and what nameTails lists may stand behind it. The most sure
// family counts.
var keyNames = []struct {
	name string
	kind keyKind
	ends bool
}{
	{"password", deepKey, true},   // BareMetalHost's Secret, Ironic, every other program
	{"passwd", deepKey, true},     // wpa_supplicant, netrc, Anaconda
	{"passphrase", deepKey, true}, // ssh-keygen, gpg, LUKS
	{"passcode", deepKey, true},   // consoles of BMCs
	{"passwort", deepKey, true},   // the same in other languages
	{"kennwort", deepKey, true},
	{"contrasena", deepKey, true},
	{"motdepasse", deepKey, true},
	{"bmcpass", deepKey, true},              // scripts around ipmitool
	{"ipmipass", deepKey, true},             // the same
	{"psk", deepKey, true},                  // NetworkManager, wpa_supplicant
	{"mkacak", deepKey, true},               // NetworkManager and nmstate, MACsec
	{"wepkey", deepKey, true},               // NetworkManager wep-key0, wpa_supplicant wep_key0
	{"authtok", deepKey, true},              // sssd.conf ldap_default_authtok
	{"snmpcommunity", deepKey, true},        // settings of BMCs
	{"authenticationstring", deepKey, true}, // MySQL

	{"dockerconfigjson", secretKey, true},
	{"dockercfg", secretKey, true},
	{"clientkeydata", secretKey, true},              // kubeconfigs
	{"secretvalue", secretKey, true},                // annotations of token Secrets
	{"internalregistrypullsecret", secretKey, true}, // openshift/api:machineconfiguration/v1 ControllerConfigSpec
	{"secretid", secretKey, true},                   // Vault
	{"token", secretKey, false},
	{"userdata", secretKey, false}, // Machine API, metal3

	{"token", maybeKey, true},
	{"authorization", maybeKey, true}, // HTTP
	{"cookie", maybeKey, true},        // HTTP, OAuth proxy
	{"credential", maybeKey, true},
	{"cred", maybeKey, true},
	{"pass", maybeKey, true},
	{"pwd", maybeKey, true},
	{"auth", maybeKey, true},       // pull secrets, npm
	{"secret", maybeKey, true},     // most are names of Secrets
	{"kubeadmin", maybeKey, false}, // the installer
	{"pw", deepKey, true},          // Kickstart, LDAP

	{"proxyuser", userKey, true}, // curl
	{"userpwd", userKey, true},   // the same
	{"proxy", loginKey, true},
	{"proxyurl", loginKey, true},
	{"dsn", loginKey, true}, // database drivers

	{"key", weakKey, true},
}

// secretKinds are what stands in front of "secret", "token" and "key" in the names of those that
// are secrets and no names of others.
var secretKinds = map[string][]string{
	"secret": {"client", "webhook", "shared", "consumer", "app", "oauth", "hmac", "jwt", "session", "signing", "api", "totp", "bot", "cookie",
		"encryption", "radius", "chap"},
	"token": {"access", "refresh", "id", "bearer", "bootstrap", "identity", "registry", "session", "api", "join", "bot", "private"},
	"key": {"auth", "priv", "private", "secret", "secretaccess", "access", "account", "preshared", "shared", "api", "encryption", "decryption",
		"encrypt", "signing", "hmac", "master", "fernet", "unseal", "luks", "aes", "des", "jwt", "jwe", "session", "cookie", "storage", "recovery",
		"unlock", "wrapping", "root", "integration", "activation", "crypto", "cipher", "kek", "dek", "wireguard", "ipsec"},
}

// publicNames end like the name of a secret and are of something public, or are no such name.
var publicNames = []string{
	"bypass", "compass", "noproxy", "oauth", "chauthtok",
	"recvkey", "receivekey",
	"publickey", "pubkey", "hostkey", "knownkey", "sshkey", "authorizedkey", "verifykey", "verificationkey", "gpgkey", "rpmkey", "hotkey",
	"topologykey", "labelkey", "annotationkey", "primarykey", "foreignkey", "sortkey", "partitionkey", "cachekey", "objectkey", "mapkey", "indexkey",
	"taintkey", "fieldkey", "metrickey", "uniquekey", "idempotencykey", "turkey", "monkey",
}

// nameTails may stand behind a name.
var nameTails = []string{"in", "out", "old", "new", "value", "text", "plain", "base64", "b64", "string", "data", "base",
	"confirm", "confirmation", "again", "verify"}

// nameEnds tell by the last two letters, as endOfName gives them, whether a key may end in one of
// keyNames, or in one of nameTails.
var nameEnds = func() (ends [1 << 16]byte) {
	for _, tail := range nameTails {
		a, b := endOfName(tail)
		ends[int(a)<<8|int(b)] = endsInTail
	}
	for _, n := range keyNames {
		a, b := endOfName(n.name)
		ends[int(a)<<8|int(b)] = endsInName
	}
	return ends
}()

const (
	endsInTail = 1 + iota
	endsInName
)

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
	if a >= utf8.RuneSelf || b >= utf8.RuneSelf {
		return false
	}
	switch nameEnds[int(a)<<8|int(b)] {
	case endsInName:
		return false
	case endsInTail:
		return !hasStem(k)
	}
	return true
}

// hasStem reports whether a key has a part that most of keyNames have.
func hasStem(k string) bool {
	for i := 0; i+3 <= len(k); i++ {
		if isStem(k[i], k[i+1], k[i+2]) {
			return true
		}
	}
	return false
}

// isStem reports whether three letters begin such a part.
func isStem(a, b, c byte) bool {
	switch a | 0x20 {
	case 'a', 'c', 'k', 'p', 's', 't':
	default:
		return false // as for most
	}
	switch string([]byte{a | 0x20, b | 0x20, c | 0x20}) {
	case "pas", "pwd", "psk", "sec", "tok", "key", "cre", "aut", "cak",
		"pww", "pw ", "pw,", "pw|", "pw;", "pw)": // "pw" at the end of a head, or in front of a sign; ")" is a tab
		return true
	}
	return false
}

// kindOfKey returns what a name says.
func kindOfKey(k string) keyKind {
	if plainEnd(k) {
		return plainKey
	}
	if list := readings(k); len(list) > 0 {
		k = list[0]
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
	kind := kindOfName(k)
	for _, tail := range nameTails {
		if name, ok := strings.CutSuffix(strings.TrimRight(k, "0123456789"), tail); ok && len(name) > 4 {
			if of := kindOfName(name); of > weakKey {
				kind = max(kind, of)
			}
		}
	}
	return kind
}

// isPublicName reports whether a name without separators is of something public.
func isPublicName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(publicNames, func(public string) bool { return strings.HasSuffix(name, public) })
}

// isLoginPass reports whether a name says whose password it is: "pass" and "pwd" alone are results
// and directories, too.
func isLoginPass(name string) bool {
	who, ok := strings.CutSuffix(name, "pass")
	if !ok {
		who, ok = strings.CutSuffix(name, "pwd")
	}
	return ok && slices.ContainsFunc(passOwners, func(owner string) bool { return strings.HasSuffix(who, owner) })
}

// passOwners stand in front of "pass" and "pwd" where those are passwords.
var passOwners = []string{"db", "root", "admin", "user", "service", "sudo", "become", "ssh", "bmc", "ipmi", "ilo", "idrac",
	"login", "mysql", "pg", "ldap", "bind", "vnc",
	"chap", "iscsi", "smtp", "mail", "ftp", "snmp", "key", "store", "auth", "vault", "registry", "proxy",
	"default", "guest", "test", "lan", "wlan", "wifi", "rabbitmq", "redis", "mongo", "oracle", "postgres", "backup", "repl", "replication",
	"cluster", "app", "agent", "remote", "server", "client", "rpc", "web", "console", "grub", "operator", "deploy", "cert", "initial", "temp", "tmp"}

// kindOfName is kindOfKey of a name without separators and tails.
func kindOfName(k string) keyKind {
	const digits = "0123456789"
	singular, bare := strings.TrimSuffix(k, "s"), strings.TrimRight(k, digits)
	names := []string{k, singular, bare, strings.TrimSuffix(bare, "s"), strings.TrimRight(singular, digits)} // passwords1, password1s
	kind := plainKey
	for _, name := range names {
		if isPublicName(name) {
			return plainKey
		}
		for end, kinds := range secretKinds {
			if what, ok := strings.CutSuffix(name, end); ok && kind < secretKey &&
				slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasSuffix(what, kind) }) {
				kind = secretKey
			}
		}
	}
	if strings.HasSuffix(names[1], "clientsecret") || slices.ContainsFunc(names[1:], isLoginPass) {
		return deepKey
	}
	for _, n := range keyNames {
		if n.kind > kind && (k == n.name || n.ends && slices.ContainsFunc(names, func(v string) bool { return strings.HasSuffix(v, n.name) })) {
			kind = n.kind
		}
	}
	return kind
}
