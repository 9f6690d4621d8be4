package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// keyKinds remembers kindOfKey: ten thousand pods have a few hundred names of fields.
// It is safe for concurrent use. Of names that somebody makes up it keeps some.
type keyKinds struct {
	known sync.Map // string -> keyKind
	count atomic.Int64
}

const maxKeyKinds = 4096

func (c *keyKinds) kind(k string) keyKind {
	if plainEnd(k) {
		return plainKey
	}
	if kind, ok := c.known.Load(k); ok {
		return kind.(keyKind)
	}
	kind := kindOfKey(k)
	if len(k) <= 256 && c.count.Add(1) <= maxKeyKinds {
		c.known.Store(strings.Clone(k), kind)
	}
	return kind
}

// field returns what is left of the value of a field whose name says more or less
// that it is a secret, and whether nothing more is to be looked for in it.
func (s *Sanitizer) field(kind keyKind, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		switch {
		case kind == deepKey && noFlag(v), kind == secretKey && noFlag(v) && !publicValue(v) && !lowPath.get().MatchString(v),
			kind == maybeKey && noPath(v) && !nameOfObject(v):
			return s.digest(v), true
		case kind == plainKey || Redacted(v):
		case kind < maybeKey:
			if lo, hi := secretIn(v, kind, beside, true); lo < hi && !strings.Contains(v, redactedPrefix) {
				return v[:lo] + s.digest(v[lo:hi]) + v[hi:], true
			}
		}
	case int64, float64, int:
		if kind == deepKey {
			return s.digest(fmt.Sprint(v)), true
		}
	case map[string]any, []any:
		list, ok := v.([]any)
		switch {
		case kind == deepKey, kind == secretKey && ok:
			return s.referred(v), true
		case kind == maybeKey:
			for i, e := range list {
				list[i], _ = s.field(kind, e)
			}
		}
	}
	return v, false
}

// referenceKeys name another object or a place in it.
var referenceKeys = []string{"name", "namespace", "key", "kind", "apiVersion", "apiGroup", "fieldPath", "path", "secretName", "type", "description"}

// referred digests the strings below a secret's name, but keeps references as
// {secretKeyRef: {name, key}}.
func (s *Sanitizer) referred(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if _, text := child.(string); text && slices.Contains(referenceKeys, k) {
				v[k] = s.walk(child)
				continue
			}
			v[k] = s.referred(child)
		}
	case []any:
		for i, child := range v {
			v[i] = s.referred(child)
		}
	case string:
		return s.digest(v)
	case int64, float64, int:
		return s.digest(fmt.Sprint(v))
	}
	return v
}

// walk sanitizes every string of a decoded document.
func (s *Sanitizer) walk(v any) any {
	switch v := v.(type) {
	case map[string]any:
		s.kind(v)
		s.pair(v)
		s.jwk(v)
		for k, child := range v {
			if text, ok := child.(string); ok && k == userDataKey {
				v[k] = s.userData(text)
				continue
			}
			if done, ok := s.field(s.keys.kind(k), child); ok {
				v[k] = done
				continue
			}
			if text, ok := child.(string); ok {
				if clean := s.Text(text); clean != text {
					v[k] = clean
				}
				continue
			}
			s.walk(child) // in place
		}
	case []any:
		s.arguments(v)
		for i := range v {
			v[i] = s.walk(v[i])
		}
	case string:
		return s.Text(v)
	}
	return v
}

// pair sanitizes {name: IPMI_PASSWORD, value: ...}, as in a container's environment.
func (s *Sanitizer) pair(v map[string]any) {
	for _, k := range []string{"name", "key"} {
		name, ok := v[k].(string)
		value, there := v["value"]
		if !ok || !there {
			continue
		}
		if text, is := value.(string); is && headerOf(name) != "" {
			m := s.mask(text)
			m.hideSpans(headerValue(name, m.text))
			value = m.unmask(m.text)
		}
		v["value"], _ = s.field(kindOfKey(name), value)
	}
}

// arguments sanitizes what follows a flag in a list of arguments, as
// ["--password", "..."] and ipmitool's ["-U", "root", "-P", "..."].
func (s *Sanitizer) arguments(v []any) {
	var c command
	for i := range len(v) - 1 {
		flag, _ := v[i].(string)
		value, ok := v[i+1].(string)
		if len(flag) < 2 || flag[0] != '-' {
			c.word(flag)
			continue
		}
		if !ok || strings.ContainsAny(flag, "= \t") || strings.HasPrefix(value, "--") {
			continue
		}
		if lo, hi := c.use(flag).secretOf(value); lo < hi {
			v[i+1] = value[:lo] + s.digest(value[lo:hi]) + value[hi:]
		}
	}
}

// noFlag reports whether a value is more than a yes or no, as in the daemon's
// "passwd:false" (openshift/machine-config-operator:pkg/daemon/update.go), or the
// next word of a sentence about a flag.
func noFlag(v string) bool {
	if strings.HasPrefix(v, "{{") && template(v) {
		return false
	}
	if i := strings.IndexAny(v, ",;"); i > 0 {
		v = v[:i]
	}
	if reference(v) || readElsewhere.get().MatchString(v) || strings.IndexByte("($", v0(v)) >= 0 && runCommand.get().MatchString(v) {
		return false
	}
	switch strings.ToLower(strings.Trim(v, "()[]<>")) {
	case "true", "false", "null", "none", "nil", "set to", "flag", "flags", "option", "must", "from", "argument",
		"is", "was", "not", "required", "missing", "invalid", "expired", "wrong", "incorrect", "set", "unset", "empty",
		"changed", "rotated", "updated", "reset", "locked", "enabled", "disabled", "rejected", "accepted", "failed",
		"hidden", "masked", "redacted", "unchanged", "unavailable", "done", "succeeded", "timeout", "chauthtok":
		return false
	}
	return strings.Trim(v, "*") != ""
}

// runCommand is an expression of PowerShell: what it runs has the value.
var runCommand = lazily(`^\$?\(+(?:[A-Z][A-Za-z]+-[A-Z][A-Za-z]+|convertto-securestring|New-Object)\b`)

// v0 is the first character of a value, 0 where it is empty.
func v0(v string) byte {
	if v == "" {
		return 0
	}
	return v[0]
}

// readElsewhere is a value that code reads from a variable, one that a type masks, and the word that
// begins a here-document. The end of each may have been taken for one of the text around it.
var readElsewhere = lazily(`^(?:os\.(?:Getenv|LookupEnv|getenv|environ\.get)\(\\*["'][A-Za-z_]\w*|os\.environ(?:\[\\*["'][A-Za-z_]\w*)?|` +
	`process\.env\.[A-Za-z_]\w*|System\.getenv\(\\*["'][A-Za-z_]\w*|ENV\[\\*["'][A-Za-z_]\w*|(?:get)?env\(\\*["'][A-Za-z_]\w*|` +
	`[A-Za-z]\w*\(\\*["']?\*+|<<[-~]?\\*["']?[A-Za-z_]+)\\*["']?[)\]]*;?$`)

// reference reports whether a value is the name of a variable, as $(DB_PASSWORD). Its
// end may have been taken for one of the text around it.
func reference(v string) bool {
	switch {
	case len(v) < 3:
		return false
	case v[0] == '$' && v[1] != '(' && v[1] != '{':
		return variable(strings.TrimRight(v[1:], ")}"))
	case v[0] != '$':
		return strings.IndexByte("vldme", v[0]) >= 0 && terraformed.get().MatchString(v)
	}
	return only(strings.TrimRight(v[2:], ")}"), alphanumeric+"_.")
}

// variable reports whether a text is the name of a variable of a shell: in capitals, or the name of a secret.
func variable(name string) bool {
	if !only(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") || name == "" || !letter(name[0]) && name[0] != '_' {
		return false
	}
	if digits := strings.ContainsAny(name, "0123456789"); name == strings.ToUpper(name) {
		return len(name) > 1 && (!digits || kindOfKey(name) >= maybeKey)
	} else if digits || name[0] < 'a' {
		return false
	}
	return kindOfKey(name) >= maybeKey
}

// terraformed is where Terraform finds a value. The end may have been taken for one of the text around it.
var terraformed = lazily(`^(?:var|local|data|module|each|ephemeral)\.[a-z_]+(?:_[a-z0-9]+)*(?:\.[a-z_]+[a-z0-9]?|\[(?:\\*["'])?[\w.-]*(?:\\*["'])?\]?)*$`)

// template reports whether a value is an expression of a template that has no value of its own.
func template(v string) bool {
	body, ok := strings.CutSuffix(strings.TrimRight(v[2:], " "), "}}")
	body = strings.Trim(body, " \t-")
	if !ok || body == "" || !letter(body[0]) && body[0] != '.' && body[0] != '$' || strings.Contains(body, "default") || strings.ContainsAny(body, "{}") {
		return false
	}
	parts := strings.FieldsFunc(body, func(r rune) bool { return r == '\'' || r == '"' || r == '\\' })
	for i := 1; i < len(parts); i += 2 {
		if chosen(parts[i], false) {
			return false
		}
	}
	return strings.ContainsAny(v[2:3], " -.") || strings.ContainsAny(body, ".(|") && !chosen(body, false)
}

// likelySecret reports whether a value looks like a credential rather than like a
// word, a sentence, an address or the name of an object. Such names, as
// node-bootstrapper-token-x7k2p or rendered-master-<digest>, are words joined by
// hyphens, in lower case.
func likelySecret(v string) bool {
	if strings.ContainsAny(v, " \t\r\n") || strings.Contains(v, "://") {
		return false
	}
	words, digits, other := 0, 0, 0
	for _, part := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-./:", r) }) {
		if strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") == "" {
			words++
		}
	}
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z', strings.ContainsRune("+=~!$^*", c):
			other++
		}
	}
	return (words < 2 || other > 0) && (digits > 0 || len(v) >= 20)
}
