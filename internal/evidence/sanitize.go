package evidence

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence/scan"
)

// Sanitizer replaces secrets by salted digests and sizes. Equal values of one
// run get equal digests, so contents can be compared without being known. The
// salt lives only in memory. Values that are already digests pass unchanged:
// replaying a collection sees what the first run saw.
type Sanitizer struct {
	salt   []byte
	marks  *scan.Set
	inside int // only for Lines: lines left to the end of a private key, at most
}

// NewSanitizer returns a sanitizer with a fresh random salt.
func NewSanitizer() (*Sanitizer, error) {
	salt := make([]byte, 32)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("make sanitizer's salt: %w", err)
	}
	return newSanitizer(salt)
}

func newSanitizer(salt []byte) (*Sanitizer, error) {
	var marks []scan.Signature
	for _, m := range secretMarks {
		marks = append(marks, scan.Signature{ID: m, Literal: m})
	}
	set, err := scan.Compile(marks)
	if err != nil {
		return nil, fmt.Errorf("compile the marks of secrets: %w", err)
	}
	return &Sanitizer{salt: salt, marks: set}, nil
}

// Lines returns a sanitizer of the same salt for one stream of lines: private
// keys that span lines are tracked, so it must not be shared between streams.
func (s *Sanitizer) Lines() *Sanitizer { c := *s; c.inside = 0; return &c }

const redactedPrefix = "[redacted "

// Redacted reports whether v is a digest that a Sanitizer made.
func Redacted(v string) bool { return strings.HasPrefix(v, redactedPrefix) }

func (s *Sanitizer) digest(v string) string {
	if Redacted(v) || v == "" {
		return v
	}
	mac := hmac.New(sha256.New, s.salt)
	mac.Write([]byte(v))
	return fmt.Sprintf("%s%s, %d bytes]", redactedPrefix, hex.EncodeToString(mac.Sum(nil)[:8]), len(v))
}

// publicSecretKeys are the keys of a Secret that hold certificates only, the same
// that `oc adm inspect` keeps (openshift/oc:pkg/cli/admin/inspect/secret.go publicSecretKeys).
var publicSecretKeys = []string{"tls.crt", "ca.crt", "service-ca.crt"}

// Object sanitises an object in place.
func (s *Sanitizer) Object(o *Object) {
	meta, _ := o.Content["metadata"].(map[string]any)
	delete(meta, "managedFields")
	if notes, ok := meta["annotations"].(map[string]any); ok {
		const applied = "kubectl.kubernetes.io/last-applied-configuration"
		if v, ok := notes[applied].(string); ok {
			notes[applied] = s.digest(v)
		}
	}
	switch o.Resource {
	case Secrets:
		s.secret(o.Content)
	case MachineConfigs:
		s.machineConfig(o.Content)
	}
	s.walk(o.Content)
}

func (s *Sanitizer) secret(content map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		data, _ := content[field].(map[string]any)
		for k, v := range data {
			text, _ := v.(string)
			if slices.Contains(publicSecretKeys, k) && publicPEM(text) {
				continue
			}
			data[k] = s.secretValue(text)
		}
	}
}

// publicPEM reports whether a base64 value is certificates and nothing else. A
// bundle may have comments.
func publicPEM(encoded string) bool {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	const begin = "-----BEGIN CERTIFICATE-----"
	text := strings.TrimSpace(string(raw))
	return (strings.HasPrefix(text, begin) || strings.HasPrefix(text, "#")) &&
		strings.Contains(text, begin) && strings.Count(text, begin) == strings.Count(text, "-----BEGIN ")
}

var elided = regexp.MustCompile(`^(\d+) bytes long$`)

// secretValue keeps what `oc adm inspect` left of a value ("1704 bytes long") and
// digests everything else.
func (s *Sanitizer) secretValue(encoded string) string {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return s.digest(encoded)
	}
	if m := elided.FindSubmatch(raw); m != nil {
		return redactedPrefix + "by the collector, " + string(m[1]) + " bytes]"
	}
	return s.digest(string(raw))
}

// machineConfig digests every file content, unit text, password hash and key of
// the Ignition config inside a MachineConfig: it carries the global pull secret.
func (s *Sanitizer) machineConfig(content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	config, _ := spec["config"].(map[string]any)
	s.digestKeys(config, []string{"source", "contents", "inline", "passwordHash", "sshAuthorizedKeys"})
}

func (s *Sanitizer) digestKeys(v any, keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			switch c := child.(type) {
			case string:
				if slices.Contains(keys, k) {
					v[k] = s.digest(c)
				}
			case []any:
				if slices.Contains(keys, k) {
					for i, e := range c {
						if text, ok := e.(string); ok {
							c[i] = s.digest(text)
						}
					}
				}
				s.digestKeys(c, keys)
			default:
				s.digestKeys(child, keys)
			}
		}
	case []any:
		for _, child := range v {
			s.digestKeys(child, keys)
		}
	}
}

// walk sanitises every string of a decoded document.
func (s *Sanitizer) walk(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if text, ok := child.(string); ok && secretKey(k) {
				v[k] = s.digest(text)
				continue
			}
			v[k] = s.walk(child)
		}
	case []any:
		for i := range v {
			v[i] = s.walk(v[i])
		}
	case string:
		return s.Text(v)
	}
	return v
}

// secretKey reports whether a field's name says that its string is a secret. It
// is deliberately narrow: "tokenSecret" or "pullSecret: {name}" are references.
func secretKey(k string) bool {
	switch strings.ToLower(k) {
	case "password", "passwd", "passphrase", "bindpassword", "clientsecret", "secretkey", "secretaccesskey", "apikey",
		"token", "accesstoken", "refreshtoken", "bearertoken", "bootstraptoken",
		".dockerconfigjson", ".dockercfg", "userdata", "client-key-data", "privatekey",
		"internalregistrypullsecret": // of a ControllerConfig: openshift/api:machineconfiguration/v1 ControllerConfigSpec
		return true
	}
	return false
}

// secretMarks are the literals that a text must carry before the patterns of
// secretPatterns are tried.
var secretMarks = []string{
	"private key", "eyj", "\"auth", "auth%22", "password", "passwd", "passphrase", "token", "authorization", "bearer", "basic ",
	"data:", "pullsecret", "pull_secret", "secret=", "secret:", "secret\"", "secret'", "secret\\", "client_secret", "clientsecret",
	"secret_key", "secretkey", "access_key", "accesskey", "api_key", "apikey", "client-key-data", "://", "ls0tls1crudjti", "sha256~",
	"$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$",
}

// secretPattern finds a secret as its last group.
type secretPattern struct {
	find *regexp.Regexp
	// likely tells a credential from a word; nil takes everything. It is for keys
	// that also stand in front of prose: "token: expired", "basic authentication".
	likely func(string) bool
}

// value is what may stand between a key and its secret in YAML, JSON (also inside
// a string), key=value and flags.
const value = `\\*["']?[ \t]*[:=][ \t]*(?:[|>][+-]?[ \t]*\r?\n\s*)?\\*["']?`

// secretPatterns are tried only on texts that carry a mark.
var secretPatterns = []secretPattern{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(.+?)(?:-----END|$)`), nil},
	{regexp.MustCompile(`(LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0Eg|BFQy|BPUEVOU1NI|BFTkNSWVBURUQ|BEU0Eg)[A-Za-z0-9+/=]*)`), nil}, // base64 of a private key's PEM
	{regexp.MustCompile(`(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`), nil},                            // JWT
	{regexp.MustCompile(`(eyJhdXRo[A-Za-z0-9+/=_-]{12,})`), nil},                                                           // base64 of {"auth...
	{regexp.MustCompile(`sha256~([A-Za-z0-9_-]{20,})`), nil},                                                               // OAuth token of OpenShift
	{regexp.MustCompile(`(\$(?:1|5|6|y|2[aby])\$[./A-Za-z0-9$=,]{16,})`), nil},                                             // crypt(3)
	{regexp.MustCompile(`(?i)\\*"auth\\*"\s*:\s*\\*"([^"\\]+)`), nil},
	{regexp.MustCompile(`(?i)%22(?:auth|password)%22%3A(?:%20|\+)?%22([^%]+)`), nil},
	{regexp.MustCompile(`(?i)\bauthorization["']?\s*[:=]\s*["'\[]*(?:(?:basic|bearer|digest|negotiate)\s+)?([A-Za-z0-9._~+/=-]{8,})`), nil},
	{regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+["']?([A-Za-z0-9._~+/=-]{8,})`), likelySecret},
	{regexp.MustCompile(`(?i)(?:password|passwd|passphrase|client_?secret|access_?token|refresh_?token)` + value + `([^\s"'\\,;&}]{4,})`), noFlag},
	{regexp.MustCompile(`(?i)(?:token|secret|secret_?key|secret_?access_?key|api_?key)` + value + `([^\s"'\\,;&}]{8,})`), likelySecret},
	{regexp.MustCompile(`(?i)pull_?secret\\*["']?\s*[:=]\s*(.{12,})`), nil},
	{regexp.MustCompile(`(?i)client-key-data["']?\s*[:=]\s*["']?([A-Za-z0-9+/=]{16,})`), nil},
	{regexp.MustCompile(`\bdata:[a-z0-9/.+-]*(?:;[a-z0-9=-]+)*,([^\s"']{8,})`), nil},
	{regexp.MustCompile(`://[^/\s:@]+:([^/\s@]+)@`), nil},
}

// noFlag reports whether a value is more than a yes or no, as in the daemon's
// "passwd:false" (openshift/machine-config-operator:pkg/daemon/update.go).
func noFlag(v string) bool {
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "<nil>":
		return false
	}
	return true
}

// likelySecret reports whether a value looks like a credential rather than like a
// word or the name of an object. Such names, as node-bootstrapper-token-x7k2p or
// rendered-master-<digest>, are words joined by hyphens.
func likelySecret(v string) bool {
	digits, words := 0, 0
	for _, part := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-./:", r) }) {
		if strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") == "" {
			words++
		}
	}
	for _, c := range v {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return words < 2 && (digits > 0 || len(v) >= 20)
}

// Text replaces the secrets in a text. Certificates and public keys stay.
func (s *Sanitizer) Text(v string) string {
	if len(v) < 8 || len(s.marks.Find([]byte(v))) == 0 {
		return v
	}
	for _, p := range secretPatterns {
		v = s.replaceLastGroup(p, v)
	}
	return v
}

var redaction = regexp.MustCompile(`\[redacted [^\]]*\]`)

func (s *Sanitizer) replaceLastGroup(p secretPattern, v string) string {
	all := p.find.FindAllStringSubmatchIndex(v, -1)
	if all == nil {
		return v
	}
	var done [][]int // what is a digest already stays, so that a replay sees what the run saw
	if strings.Contains(v, redactedPrefix) {
		done = redaction.FindAllStringIndex(v, -1)
	}
	var b strings.Builder
	at := 0
	for _, m := range all {
		from, to := m[len(m)-2], m[len(m)-1]
		if from < at || p.likely != nil && !p.likely(v[from:to]) || slices.ContainsFunc(done, func(d []int) bool { return from < d[1] && d[0] < to }) {
			continue
		}
		b.WriteString(v[at:from])
		b.WriteString(s.digest(v[from:to]))
		at = to
	}
	b.WriteString(v[at:])
	return b.String()
}

// maxKeyLines bounds a private key that spans lines: RSA with 16,384 bits has 200.
// Without it a log that was cut behind BEGIN would be a secret to its end.
const maxKeyLines = 256

// Line sanitises one line of a stream; see Lines.
func (s *Sanitizer) Line(v string) string {
	if s.inside > 0 {
		s.inside--
		if end := strings.LastIndex(v, "-----END "); end >= 0 && strings.LastIndex(v, "-----BEGIN ") < end {
			s.inside = 0
		}
		return redactedPrefix + "line of a private key]"
	}
	begin := strings.LastIndex(v, "-----BEGIN ")
	if begin >= 0 && strings.Contains(v[begin:], "PRIVATE KEY-----") && !strings.Contains(v[begin:], "-----END ") {
		s.inside = maxKeyLines
		return s.Text(v[:begin]) + redactedPrefix + "private key]"
	}
	return s.Text(v)
}
