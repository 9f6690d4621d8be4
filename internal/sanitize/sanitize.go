package sanitize

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rollcall-project/rollcall/internal/backlog"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Sanitizer replaces secrets by salted digests and sizes. Equal values of one
// run get equal digests, so contents can be compared without being known. The
// salt lives only in memory. Values that are already digests pass unchanged:
// replaying a collection sees what the first run saw.
type Sanitizer struct {
	salt   []byte
	marks  *scan.Set
	tries  []uint64 // of each mark: the formats that it is for, and behind them the patterns, a bit each
	listed uint64   // the bit of numbers
	keys   *keyKinds
	certs  *cleanTexts // of publicPEM
	clean  *cleanTexts // of patterns
	whole  *cleanTexts // of Text, which looks into more

	buffers *backlog.Pool // of Lines
	// Only for Lines.
	body     *bodyReader
	table    *tableReader
	inside   int // lines left to the end of a private key, at most
	block    block
	manifest manifestState
	waiting  backlog.Lines // see Follow
}

// New returns a sanitizer with a fresh random salt.
func New() (*Sanitizer, error) {
	salt := make([]byte, 32)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("make sanitizer's salt: %w", err)
	}
	return newSanitizer(salt)
}

func newSanitizer(salt []byte) (*Sanitizer, error) {
	marks, err := secretMarks()
	if err != nil {
		return nil, err
	}
	return &Sanitizer{salt: salt, marks: marks.set, tries: marks.tries, listed: marks.listed, keys: &keyKinds{},
		certs: newCleanTexts(), clean: newCleanTexts(), whole: newCleanTexts(),
		buffers: &backlog.Pool{}}, nil
}

// markSet is what sanitizers look for, with what is tried where it is found.
type markSet struct {
	set    *scan.Set
	tries  []uint64
	listed uint64
}

// secretMarks are the same for all sanitizers; neither part is changed.
var secretMarks = sync.OnceValues(func() (m markSet, err error) {
	var marks []scan.Signature
	at := map[string]int{}
	add := func(i int, of []string) {
		for _, text := range of {
			if _, ok := at[text]; !ok {
				at[text] = len(marks)
				marks, m.tries = append(marks, scan.Signature{ID: text, Literal: text}), append(m.tries, 0)
			}
			m.tries[at[text]] |= 1 << i
		}
	}
	for i, f := range formats {
		add(i, f.marks)
		if f.find == nil && f.decode == nil {
			m.listed = 1 << i
		}
	}
	for i, p := range secretPatterns {
		add(len(formats)+i, p.marks)
	}
	if m.set, err = scan.Compile(marks); err != nil {
		return m, fmt.Errorf("compile the marks of secrets: %w", err)
	}
	return m, nil
})

// Lines returns a sanitizer of the same salt for one stream of lines: secrets
// that span lines are tracked, so it must not be shared between streams.
func (s *Sanitizer) Lines() *Sanitizer {
	c := *s
	c.body, c.table = &bodyReader{opaque: s.opaque}, &tableReader{kind: s.keys.kind}
	c.inside, c.block, c.manifest, c.waiting = 0, block{}, manifestState{}, s.buffers.Lines()
	return &c
}

const redactedPrefix = "[redacted "

// redaction is every form that replaces a secret. What only begins like one, as
// "[redacted hunter2", is foreign text.
const redaction = `\[redacted (?:[0-9a-f]{16}, \d{1,12} bytes|(?:by the collector|unread), \d{1,12} bytes|line of a private key|private key)\]`

var (
	redactions = lazily(redaction)
	redacted   = lazily(`^` + redaction + `$`)
)

// Redacted reports whether v is a digest that a Sanitizer made, or what replaces
// a secret that was not read.
func Redacted(v string) bool {
	return strings.HasPrefix(v, redactedPrefix) && redacted.get().MatchString(v)
}

func (s *Sanitizer) digest(v string) string {
	if v == "" || Redacted(v) {
		return v
	}
	mac := hmac.New(sha256.New, s.salt)
	mac.Write([]byte(v))
	return fmt.Sprintf("%s%s, %d bytes]", redactedPrefix, hex.EncodeToString(mac.Sum(nil)[:8]), len(v))
}

// digestAll digests every string in v.
func (s *Sanitizer) digestAll(v any) any {
	switch v := v.(type) {
	case string:
		return s.digest(v)
	case map[string]any:
		for k, child := range v {
			v[k] = s.digestAll(child)
		}
	case []any:
		for i, child := range v {
			v[i] = s.digestAll(child)
		}
	}
	return v
}

// Object sanitizes the content of an object of a resource in place.
func (s *Sanitizer) Object(group, resource string, content map[string]any) {
	meta, _ := content["metadata"].(map[string]any)
	writes(group, resource, meta)
	if notes, ok := meta["annotations"].(map[string]any); ok {
		const applied = openshift.LastAppliedAnnotation
		if v, ok := notes[applied].(string); ok {
			notes[applied] = s.digest(v)
		}
	}
	switch kind := content["kind"]; { // walk does what says its kind
	case group == "" && resource == "secrets" && kind != "Secret":
		s.secret(content)
	case group == openshift.MachineConfigGroup && resource == "machineconfigs" && kind != "MachineConfig":
		s.machineConfig(content)
	}
	s.walk(content)
}

// kind sanitizes an object that says itself what it is, also one in a list or filed
// under the name of another resource. Whatever group it names: a reference to one
// has nothing that this would hide.
func (s *Sanitizer) kind(content map[string]any) {
	kind, _ := content["kind"].(string)
	objects := []any{content}
	if name, ok := strings.CutSuffix(kind, "List"); ok { // its items may leave out their kind
		kind = name
		objects, _ = content["items"].([]any)
	}
	for _, raw := range objects {
		o, _ := raw.(map[string]any)
		switch kind {
		case "Secret":
			s.secret(o)
		case "MachineConfig":
			s.machineConfig(o)
		}
	}
}

// ManagedFields reports whether the managedFields of a resource are kept, as far as
// they say who wrote when: nothing else tells since when the spec of a pool or of an
// operator's own resource is as it is.
func ManagedFields(group, resource string) bool {
	return group == openshift.MachineConfigGroup && resource == "machineconfigpools" || strings.HasSuffix(group, openshift.OperatorGroup)
}

// writes removes managedFields, which are half of an object, or what of them is not
// needed.
func writes(group, resource string, meta map[string]any) {
	list, _ := meta["managedFields"].([]any)
	var kept []any
	for _, raw := range list {
		entry, _ := raw.(map[string]any)
		lean := map[string]any{}
		for _, key := range []string{"manager", "operation", "subresource", "time"} {
			if text, ok := entry[key].(string); ok {
				lean[key] = text
			}
		}
		if len(lean) > 0 {
			kept = append(kept, lean)
		}
	}
	if delete(meta, "managedFields"); len(kept) > 0 && ManagedFields(group, resource) {
		meta["managedFields"] = kept
	}
}

// publicSecretKeys are the keys of a Secret that hold certificates only, the same
// that `oc adm inspect` keeps (openshift/oc:pkg/cli/admin/inspect/secret.go publicSecretKeys).
var publicSecretKeys = []string{"tls.crt", "ca.crt", "service-ca.crt"}

// plainAnnotations are the annotations of Secrets that say when a certificate
// expires and who owns it (openshift/library-go:pkg/operator/certrotation,
// openshift/service-ca-operator). Others may hold the secret itself:
// openshift.io/token-secret.value does, and last-applied-configuration may.
var plainAnnotations = []string{
	"auth.openshift.io/certificate-", "certificates.openshift.io/", "service.beta.openshift.io/", "service.alpha.openshift.io/",
	"openshift.io/owning-component", "openshift.io/description",
	openshift.NodePoolKey, openshift.TokenSecretAnnotation, openshift.IgnitionReachedAnnotation,
	openshift.TokenUpgradeTypeAnnotation, openshift.TokenGeneratedAnnotation,
	openshift.TokenExpiresAnnotation,
}

// PlainSecretAnnotation reports whether the value of a Secret's annotation may be
// read; of all others only the names are.
func PlainSecretAnnotation(key string) bool {
	return slices.ContainsFunc(plainAnnotations, func(p string) bool { return strings.HasPrefix(key, p) })
}

func (s *Sanitizer) secret(content map[string]any) {
	meta, _ := content["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	for k, v := range notes {
		if !PlainSecretAnnotation(k) {
			notes[k] = s.digestAll(v)
		}
	}
	for _, field := range []string{"data", "stringData"} {
		data, ok := content[field].(map[string]any)
		token := notes[openshift.TokenSecretAnnotation] == "true"
		if !ok && content[field] != nil {
			content[field] = s.digestAll(content[field])
		}
		for k, v := range data {
			text, ok := v.(string)
			if p, is := s.pointer(k, v); is {
				data[k] = p
				continue
			}
			switch {
			case !ok:
				data[k] = s.digestAll(v)
			case token && slices.Contains(tokenStatusKeys, k) && s.plainBase64(text):
			case k == userDataKey && field == "data":
				data[k] = s.userData(text)
			case !slices.Contains(publicSecretKeys, k) || !s.publicPEM(text):
				data[k] = s.secretValue(text)
			}
		}
	}
}

// onlyCertificates reports whether a text is a bundle of certificates, with comments, and
// nothing else.
func onlyCertificates(text string) bool {
	const begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
	found := false
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || trimmed[0] == '#':
			text = rest
		case strings.HasPrefix(trimmed, begin):
			body, behind, whole := strings.Cut(text[strings.Index(text, begin)+len(begin):], end)
			if !whole || !only(body, alphanumeric+"+/= \t\r\n") || strings.TrimSpace(body) == "" {
				return false
			}
			text, found = behind, true
		default:
			return false
		}
	}
	return found
}

// publicPEM reports whether a base64 value is certificates and nothing else. The bundles
// that hundreds of Secrets share are read once.
func (s *Sanitizer) publicPEM(encoded string) bool {
	if s.certs.has(encoded) {
		return true
	}
	public := s.readPublicPEM(encoded)
	if public {
		s.certs.add(encoded)
	}
	return public
}

func (s *Sanitizer) readPublicPEM(encoded string) bool {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	text := string(raw)
	return onlyCertificates(text) && (parse(raw) || s.patterns(text) == text)
}

// parse reports whether a bundle without comments and headers is certificates that can be
// parsed: no pattern has to be tried on them.
func parse(bundle []byte) bool {
	if bytes.IndexByte(bundle, '#') >= 0 {
		return false
	}
	for len(bytes.TrimSpace(bundle)) > 0 {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil || len(block.Headers) > 0 {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
	}
	return true
}

var byteCount = lazily(`^(\d{1,12}) bytes long$`)

// secretValue keeps what `oc adm inspect` left of a value ("1704 bytes long") and
// digests everything else.
func (s *Sanitizer) secretValue(encoded string) string {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return s.digest(encoded)
	}
	if m := byteCount.get().FindSubmatch(raw); m != nil {
		return redactedPrefix + "by the collector, " + string(m[1]) + " bytes]"
	}
	return s.digest(string(raw))
}

// contentKeys hold contents in an Ignition config; "value" is that of an HTTP
// header, a string under "config" that of a custom Clevis pin.
var contentKeys = []string{"source", "contents", "inline", "passwordHash", "sshAuthorizedKeys", "value", "config"}

// machineConfig digests every file content, unit text, header, password hash and
// key of the Ignition config inside a MachineConfig: it carries the global pull
// secret. A config that is no object is digested whole.
func (s *Sanitizer) machineConfig(content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	switch config := spec["config"].(type) {
	case map[string]any:
		s.digestKeys(config)
	case nil:
	default:
		spec["config"] = s.digestAll(config)
	}
	args, _ := spec["kernelArguments"].([]any)
	for i, a := range args {
		text, _ := a.(string)
		if k, v, ok := strings.Cut(text, "="); ok && kindOfKey(k) != plainKey {
			args[i] = k + "=" + s.digest(v)
		}
	}
}

func (s *Sanitizer) digestKeys(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if slices.Contains(contentKeys, k) {
				switch c := child.(type) {
				case string:
					v[k] = s.digest(c)
					continue
				case []any:
					for i, e := range c {
						if text, ok := e.(string); ok {
							c[i] = s.digest(text)
						}
					}
				}
			}
			s.digestKeys(child)
		}
	case []any:
		for _, child := range v {
			s.digestKeys(child)
		}
	}
}
