package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// keyKind is what the name of a field says of its value.
type keyKind int

const (
	plainKey  keyKind = iota
	maybeKey          // a credential or a reference: the value tells
	secretKey         // a secret
	deepKey           // a secret, also where the value is an object or a list
)

// kindOfKey is deliberately narrow: "tokenSecret" or "pullSecret: {name}" are
// references, and "passwordFile" is a path.
func kindOfKey(k string) keyKind {
	k = strings.ToLower(k)
	if strings.ContainsAny(k, "-_. ") {
		k = strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_. ", r) {
				return -1
			}
			return r
		}, k)
	}
	switch k {
	case "token", "userdata":
		return secretKey
	case "auth", "secret", "kubeadmin", "rootpw":
		return maybeKey
	}
	if strings.HasSuffix(k, "bypass") || strings.HasSuffix(k, "compass") {
		return plainKey
	}
	one := strings.TrimSuffix(k, "s")
	for _, n := range keyNames {
		if strings.HasSuffix(k, n.end) || strings.HasSuffix(one, n.end) {
			return n.kind
		}
	}
	return plainKey
}

// keyKinds remembers kindOfKey: ten thousand pods have a few hundred names of fields.
// It is safe for concurrent use. Of names that somebody makes up it keeps some.
type keyKinds struct {
	known sync.Map // string -> keyKind
	count atomic.Int64
}

const maxKeyKinds = 4096

func (c *keyKinds) kind(k string) keyKind {
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
		if kind >= secretKey && noFlag(v) || kind == maybeKey && noPath(v) {
			return s.digest(v), true
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
var referenceKeys = []string{"name", "namespace", "key", "kind", "apiVersion", "apiGroup", "fieldPath", "path", "secretName"}

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

// walk sanitises every string of a decoded document.
func (s *Sanitizer) walk(v any) any {
	switch v := v.(type) {
	case map[string]any:
		s.kind(v)
		s.pair(v)
		for k, child := range v {
			if text, ok := child.(string); ok && k == userDataKey {
				v[k] = s.userData(text)
				continue
			}
			if done, ok := s.field(s.keys.kind(k), child); ok {
				v[k] = done
				continue
			}
			v[k] = s.walk(child)
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

// pair sanitises {name: IPMI_PASSWORD, value: ...}, as in a container's environment.
func (s *Sanitizer) pair(v map[string]any) {
	for _, k := range []string{"name", "key"} {
		name, ok := v[k].(string)
		if value, there := v["value"]; ok && there {
			v["value"], _ = s.field(kindOfKey(name), value)
		}
	}
}

// arguments sanitises what follows a flag in a list of arguments, as
// ["--password", "..."] and ipmitool's ["-U", "root", "-P", "..."].
func (s *Sanitizer) arguments(v []any) {
	for i := range len(v) - 1 {
		flag, _ := v[i].(string)
		value, ok := v[i+1].(string)
		if !ok || len(flag) < 2 || flag[0] != '-' || strings.ContainsAny(flag, "= \t") {
			continue
		}
		switch {
		case strings.HasPrefix(flag, "--"):
			if done, ok := s.field(kindOfKey(flag), value); ok && !strings.HasPrefix(value, "--") {
				v[i+1] = done
			}
		case flag == "-P" && slices.Contains(v, any("-U")):
			v[i+1] = s.digest(value)
		case flag == "-u" && strings.Contains(value, ":") && slices.ContainsFunc(v, isCurl):
			user, secret, _ := strings.Cut(value, ":")
			v[i+1] = user + ":" + s.digest(secret)
		}
	}
}

func isCurl(v any) bool {
	text, _ := v.(string)
	return text == "curl" || strings.HasSuffix(text, "/curl")
}

// noFlag reports whether a value is more than a yes or no, as in the daemon's
// "passwd:false" (openshift/machine-config-operator:pkg/daemon/update.go), or the
// next word of a sentence about a flag.
func noFlag(v string) bool {
	if i := strings.IndexAny(v, ",;"); i > 0 {
		v = v[:i]
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "<nil>", "flag", "flags", "option", "must", "from", "argument",
		"is", "was", "not", "required", "missing", "invalid", "expired", "wrong", "incorrect", "set", "unset", "empty":
		return false
	}
	return true
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
