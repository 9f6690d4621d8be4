package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Headers of HTTP, as curl -v, Go's maps, Python's dicts and JSON print them.
var headerMarks = []string{"authorization", "cookie", `:\ `}

var (
	headerName = lazily(`(?i)(?:\b|-H)(?:proxy-)?authorization` +
		quote + `[ \t]*[:=](?:\\*[ \t])*\[?(?:\\*["'])?`)
	// escapedBlank is a header of a command line without quotes: -H X-Auth-Token:\ VALUE.
	escapedBlank = lazily(`-(?:H|-header)[ \t=]*([A-Za-z][\w-]*):\\+[ \t]((?:[^\s"'\\]|\\+[ \t])+)`)
	// cookieHead begins the cookies of a header or of a flag, and cookie is one of them.
	cookieHead = lazily(`(?i)\bcookies?["']?[ \t]*[:= ][ \t]*\[?(?:\\*["'])?`)
	cookie     = lazily(`^[ \t]*[^\s=;,"'\\]+=([^\s;,"'\\]*);?`)
	// scheme is one of the IANA registry of HTTP authentication schemes, or common.
	scheme     = lazily(`(?i)^(?:basic|bearer|digest|negotiate|ntlm|token|apikey|hawk|oauth|splunk|hoba|mutual|vapid|scram-sha-\d+)(?:\\*[ \t])+`)
	parameters = lazily(`^[A-Za-z_-]+=\\*"`)
	schemeWord = lazily(`^[A-Za-z][\w-]{1,31}[ \t]+`)
	// parameterName begins a parameter behind a scheme.
	parameterName = lazily(`^[A-Za-z][\w-]{0,40}=`)
	kubeWSok      = lazily(`base64url\.bearer\.authorization\.k8s\.io\.([A-Za-z0-9_-]+)`)
)

// headerOf returns a name if it is that of a header whose value is more than one word.
func headerOf(name string) string {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "set-cookie":
		return name
	}
	return ""
}

// headerValue returns where the credentials are in the value of a header.
func headerValue(name, value string) (found []span) {
	head := name + ": "
	for _, f := range headers(head + value) {
		if f.from >= len(head) && f.from < f.to {
			found = append(found, span{f.from - len(head), f.to - len(head)})
		}
	}
	return found
}

// headerNames finds the names of headers, where one of them can be.
func headerNames(v string) [][]int {
	if indexFold(v, "authorization", 0) >= 0 {
		return headerName.get().FindAllStringIndex(v, -1)
	}
	return nil
}

// headers returns where the credentials of headers are.
func headers(v string) (found []span) {
	for _, m := range headerNames(v) {
		from := m[1]
		if known := scheme.get().FindString(v[from:min(len(v), from+40)]); known != "" {
			from += len(known)
			to := headerEnd(v, from, strings.EqualFold(strings.TrimSpace(known), "digest") || parameters.get().MatchString(v[from:min(len(v), from+40)]))
			if from < to && noFlag(v[from:to]) {
				found = append(found, span{from, to})
			}
			continue
		}
		if s := otherScheme(v, from); s.from < s.to {
			found = append(found, s)
			continue
		}
		if to := headerEnd(v, from, false); to-from >= 8 && noFlag(v[from:to]) {
			found = append(found, span{from, to})
		}
	}
	for _, m := range kubeWSok.get().FindAllStringSubmatchIndex(v, -1) {
		found = append(found, span{m[2], m[3]})
	}
	return append(append(found, escapedHeaders(v)...), cookies(v)...)
}

// escapedHeaders returns where the values are of headers whose blanks are escaped.
func escapedHeaders(v string) (found []span) {
	if !strings.Contains(v, `:\`) {
		return nil
	}
	for _, m := range escapedBlank.get().FindAllStringSubmatchIndex(v, -1) {
		if kindOfKey(v[m[2]:m[3]]) >= maybeKey && noFlag(v[m[4]:m[5]]) {
			found = append(found, span{m[4], m[5]})
		}
	}
	return found
}

// cookies returns where the values of cookies are that look like secrets: a session has names without end.
func cookies(v string) (found []span) {
	if indexFold(v, "cookie", 0) < 0 {
		return nil
	}
	for _, m := range cookieHead.get().FindAllStringIndex(v, -1) {
		for at := m[1]; at < len(v) && at < m[1]+maxValue; {
			one := cookie.get().FindStringSubmatchIndex(v[at:])
			if one == nil {
				break
			}
			if value := v[at+one[2] : at+one[3]]; len(value) >= leastCookie && longSecret(value) && !nameOfObject(value) {
				found = append(found, span{at + one[2], at + one[3]})
			}
			at += one[1]
		}
	}
	return found
}

// leastCookie is the least length of a session: 64 bits, as OWASP asks for, in base64 or hexadecimal.
const leastCookie = 11

// otherScheme returns where the credential is behind a scheme that no list has: parameters, or a word, of
// which something looks like a secret.
func otherScheme(v string, from int) span {
	head := len(schemeWord.get().FindString(v[from:min(len(v), from+40)]))
	if head == 0 {
		return span{}
	}
	from += head
	if r, size := utf8.DecodeRuneInString(v[from:]); isAtom(r) {
		return span{from, from + size}
	}
	to, secret := parametersEnd(v, from)
	if to == from {
		to = headerEnd(v, from, false)
		secret = longSecret(v[from:to]) && !nameOfObject(v[from:to])
	}
	if !secret {
		return span{}
	}
	return span{from, to}
}

// parametersEnd returns where a list of parameters ends, and whether the value of one looks like a secret.
func parametersEnd(v string, from int) (to int, secret bool) {
	to = from
	at := from
	for end := min(len(v), from+maxValue); at < end; {
		name := parameterName.get().FindString(v[at:min(end, at+maxNear)])
		if name == "" {
			break
		}
		begin := at + len(name)
		next := slashRun(v, begin)
		if next < end && v[next] == '"' {
			begin = next + 1
			to = quotedEnd(v, begin)
			at = min(len(v), slashRun(v, to)+1)
		} else {
			for to = begin; to < end && strings.IndexByte(" \t\r\n\"',]}\\", v[to]) < 0; {
				to++
			}
			at = to
		}
		if value := v[begin:to]; longSecret(value) && !nameOfObject(value) {
			secret = true
		}
		if at < end && v[at] == ',' {
			at = skip(v, at+1, " \t")
		}
	}
	return to, secret
}

// headerEnd returns where the value of a header ends; of one with parameters at the end
// of the line.
func headerEnd(v string, i int, parameters bool) int {
	for end := min(len(v), i+maxValue); i < end; i++ {
		c := v[i]
		if c == '\n' || c == '\r' || !parameters && strings.IndexByte(" \t\"'],;}`\\\x1b", c) >= 0 {
			return i
		}
	}
	return i
}
