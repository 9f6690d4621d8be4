package sanitize

import (
	"strings"
)

// Query strings and form bodies: fields apart by "&", also where Go's JSON, HTML or
// another URL encodes that sign.
var queryMarks = append([]string{"sig=", "signature", "code=", "code%3d", "assertion", "samlresponse", "verifier", "sid=", "session", "jwt=", "ticket"}, decodeMarks...)

// querySigns begin a field; "=" ends its name.
var querySigns = []string{"?", "&amp;", "&", `\u0026`, "%3F", "%3f", "%26", "%253F", "%2526"}

// queryNames are the fields whose names tell nothing elsewhere.
var queryNames = map[string]bool{
	"sig": true, "signature": true, // Azure, CloudFront
	"xamzsignature": true, "xamzcredential": true, "xamzsecuritytoken": true, // S3
	"xgoogsignature": true, "xgoogcredential": true, // Google Cloud Storage
	"code": true, "assertion": true, "samlresponse": true, "codeverifier": true, // OAuth, SAML
	"sid": true, "session": true, "sessionid": true, "jsessionid": true, "jwt": true, "ticket": true, "key": true,
}

var (
	fieldName = lazily(`^[A-Za-z0-9_.\[\]-]{2,60}(?:=|%3D|%3d|%253D)`)
	// encodedField is a field of a form that was encoded once more, or twice.
	encodedField = lazily(`(?i)([A-Za-z0-9_.-]{2,60})%(?:25)?3D((?:[^%&\s"'<>\\]|%(?:[013-9a-f][0-9a-f]|2[0-57-9a-f]))+)`)
	// formHead is the first field of a form's body: it has another behind it.
	formHead = lazily(`(?:^|[\s"'` + "`" + `])([A-Za-z0-9_.-]{2,60})=([^\s&"'\\=]{1,400})(?:&|\\u0026)[A-Za-z0-9_.-]{1,60}=`)
)

// queries returns where the values of fields are that are named as a secret.
func queries(v string) (found []span) {
	for i := 0; i < len(v); {
		next := strings.IndexAny(v[i:], `?&\%`) // with which every sign begins
		if next < 0 {
			break
		}
		i += next
		n := 0
		for _, sign := range querySigns {
			if v[i] == sign[0] && strings.HasPrefix(v[i:], sign) {
				n = len(sign)
				break
			}
		}
		if n == 0 {
			i++
			continue
		}
		i += n
		name := fieldName.get().FindString(v[i:min(len(v), i+80)])
		if name == "" {
			continue
		}
		from := i + len(name)
		to := fieldEnd(v, from, strings.HasSuffix(name, "="))
		if querySecret(name, v[from:to]) {
			found = append(found, span{from, to})
		}
		i = to
	}
	if strings.Contains(v, "%") {
		for _, m := range encodedField.get().FindAllStringSubmatchIndex(v, -1) {
			if querySecret(v[m[2]:m[3]], v[m[4]:m[5]]) {
				found = append(found, span{m[4], m[5]})
			}
		}
	}
	if strings.Contains(v, "&") || strings.Contains(v, `\u0026`) {
		for _, m := range formHead.get().FindAllStringSubmatchIndex(v, -1) {
			if querySecret(v[m[2]:m[3]], v[m[4]:m[5]]) {
				found = append(found, span{m[4], m[5]})
			}
		}
	}
	return found
}

// fieldEnd returns where the value of a field ends.
func fieldEnd(v string, i int, plain bool) int {
	for end := min(len(v), i+maxValue); i < end; i++ {
		switch c := v[i]; {
		case strings.IndexByte(" \t\r\n\"'<>&#`", c) >= 0:
			return i
		case c == '\\':
			return i
		case c == ')' || c == ']' || c == ',' || c == ';':
			if closes(v, i+1) {
				return i
			}
		case c == '%' && !plain && (strings.HasPrefix(v[i:], "%26") || strings.HasPrefix(v[i:], "%2526") || strings.HasPrefix(v[i:], "%23")):
			return i
		}
	}
	return i
}

// querySecret reports whether a field is a secret; its name may have the sign behind it.
func querySecret(name, value string) bool {
	if value == "" || !noFlag(value) {
		return false
	}
	name, _, _ = strings.Cut(name, "=")
	name, _, _ = strings.Cut(name, "%")
	switch kind := kindOfKey(name); {
	case kind >= secretKey:
		return true
	case kind == maybeKey:
		return likelySecret(value) && !lowPath.get().MatchString(value)
	}
	return queryNames[strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))] && longSecret(value)
}

// bareForms are logins without a scheme.
var bareForms = []form{
	// user:password@host, of curl, dnf and podman.
	{"@", lazily(`(?i)proxy(?:\\*["'])?\s*[:= ]\s*(?:\\*["'])?[^\s:@/"'=\\]{1,64}:([^\s"'\\]{1,200})@[A-Za-z0-9_\[]`)},
	// The data source names of database drivers (go-sql-driver/mysql).
	{"(", lazily(`[^\s:@/"'=]{1,64}:([^\s"']{1,200})@(?:tcp|tcp6|unix)\(`)},
}

// bareLogins returns where passwords are in logins that are no URLs.
func bareLogins(v string) (found []span) {
	if strings.IndexByte(v, '@') < 0 {
		return nil
	}
	for _, f := range bareForms {
		for _, m := range f.findAll(v) {
			if !strings.HasPrefix(v[m[3]+1:], "sha256:") && !strings.HasPrefix(v[m[2]:], "//") {
				found = append(found, span{m[2], m[3]})
			}
		}
	}
	return found
}
