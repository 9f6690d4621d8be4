package sanitize

import (
	"strings"
)

// Query strings and form bodies: fields apart by "&", also where Go's JSON, HTML or
// another URL encodes that sign.
var queryMarks = append([]string{"sig=", "signature", "code=", "code%3d", "assertion", "samlresponse", "verifier", "sid=", "session", "jwt=", "ticket"},
	decodeMarks...)

// queryNames are the fields whose names tell nothing elsewhere.
var queryNames = map[string]bool{
	"sig": true, "signature": true, // Azure, CloudFront
	"xamzsignature": true, "xamzcredential": true, "xamzsecuritytoken": true, // S3
	"xgoogsignature": true, "xgoogcredential": true, // Google Cloud Storage
	"code": true, "assertion": true, "samlresponse": true, "codeverifier": true, // OAuth, SAML
	"sid": true, "session": true, "sessionid": true, "jsessionid": true, "jwt": true, "ticket": true, "key": true,
}

var (
	// plainField is a field of a query or of a form.
	plainField = lazily("(?:[?&]|&amp;|\\\\u0026|%3[Ff]|%26|%253F|%2526)([A-Za-z0-9_.\\[\\]-]{2,60})=([^\\s\"'<>&#`\\\\]+)")
)

// fieldEnds are the signs that end the value of a field.
const fieldEnds = " \t\r\n\"'<>&#`\\"

// queryFields returns where the values of fields are, in what a reader sees of a text and in the text itself, where
// they end: what is encoded in a value does not end it.
func (s *Sanitizer) queryFields(v string, w view) []span {
	found := queries(v)
	if w.at == nil {
		return found
	}
	for _, f := range w.spans(queries(w.text)) {
		end := f.to
		if n := strings.IndexAny(v[end:], fieldEnds); n >= 0 {
			end += n
		} else {
			end = len(v)
		}
		if f.from > 0 && v[f.from-1] == '=' && strings.HasPrefix(v[f.to:], "%") { // else the signs are encoded, too
			f.to = end
		}
		found = append(found, f)
	}
	return found
}

// queries returns where the values of fields are that only their place names as secrets, and of
// those that are encoded.
func queries(v string) (found []span) {
	if !hasField(v) {
		return nil
	}
	for _, m := range plainField.get().FindAllStringSubmatchIndex(v, -1) {
		if name, value := v[m[2]:m[3]], v[m[4]:m[5]]; queryNames[fieldKey(name)] && longSecret(value) || querySecret(name, value) {
			found = append(found, span{m[4], m[5]})
		}
	}
	return found
}

// hasField is a quick look for what plainField needs: a name in front of "=", and in front of that a sign
// of a query, or what may be the end of one that is encoded.
func hasField(v string) bool {
	for at := 0; ; {
		n := strings.IndexByte(v[at:], '=')
		if n < 0 {
			return false
		}
		end := at + n
		start := end
		for start > at && (word(v[start-1]) || strings.IndexByte(".[]-", v[start-1]) >= 0) {
			start--
		}
		if start > 0 && end-start >= 2 && strings.IndexByte("?&;%\\", v[start-1]) >= 0 {
			return true
		}
		at = end + 1
	}
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
	return queryNames[fieldKey(name)] && longSecret(value)
}

func fieldKey(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// bareForms are logins without a scheme.
var bareForms = []form{
	// user:password@host, of curl, dnf and podman.
	{"@", lazily(`(?i)proxy(?:\\*["'])?\s*[:= ]\s*(?:\\*["'])?[^\s:@/"'=\\]{1,64}:([^\s"'\\]{1,200})@[A-Za-z0-9_\[]`)},
	// netroot=iscsi:user:password@host of dracut.cmdline(7).
	{"iscsi:", lazily(`\biscsi:[^\s:@/"']{1,64}:([^\s"'@]{1,200})@`)},
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
