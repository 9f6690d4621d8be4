package sanitize

import (
	"regexp"
	"strings"
)

// The forms of XML, also with its signs written as entities, as SOAP in a log has them.
var (
	element   = regexp.MustCompile(`(?i)(?:<|&lt;)(?:[\w.-]+:)?([\w.-]+)(?:\s(?:[^<>&]|&quot;|&apos;)*)?(?:>|&gt;)`)
	property  = regexp.MustCompile(`(?i)\b(?:name|key|id)\s*=\s*(?:"|'|&quot;)([\w.-]+)(?:"|'|&quot;)\s+value\s*=\s*("|'|&quot;)`)
	xmlOpened = regexp.MustCompile(`(?i)<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>$`)
	rawText   = regexp.MustCompile(`(?i)^\s*<!\[CDATA\[`)
)

// elementMarks are in every text that elements finds something in.
var elementMarks = append([]string{"token", "credential", "secret", "apikey", "privatekey"}, passMarks...)

// elements finds the content of elements whose name is that of a secret, and the values of
// properties whose name is.
func elements(v string) (spans [][2]int) {
	if !strings.Contains(v, "<") && !strings.Contains(v, "&lt;") {
		return nil
	}
	for at := 0; at < len(v); {
		m := element.FindStringSubmatchIndex(v[at:])
		if m == nil {
			break
		}
		name, begin := v[at+m[2]:at+m[3]], at+m[1]
		kind := kindOfKey(name)
		if strings.Contains(strings.ToLower(name), "securitytoken") {
			kind = secretKey
		}
		at = begin
		if kind == plainKey || begin >= 2 && v[begin-2] == '/' {
			continue
		}
		end := closing(v, begin, name)
		from, to := begin, end
		if head := rawText.FindString(v[from:to]); head != "" {
			from += len(head)
			to = from + len(strings.TrimSuffix(strings.TrimRight(v[from:to], " \t\r\n"), "]]>"))
		} else {
			to = from + len(strings.TrimRight(v[from:to], " \t\r\n"))
			from += len(v[from:to]) - len(strings.TrimLeft(v[from:to], " \t\r\n"))
		}
		if value := v[from:to]; from < to && (kind >= secretKey && noFlag(value) || kind == maybeKey && (strings.Contains(value, "<") || noPath(value))) {
			spans = append(spans, [2]int{from, to})
			at = to
		}
	}
	for _, m := range property.FindAllStringSubmatchIndex(v, -1) {
		if kindOfKey(v[m[2]:m[3]]) == plainKey {
			continue
		}
		end := strings.Index(v[m[1]:], v[m[4]:m[5]])
		if end < 0 {
			end = len(v) - m[1]
		}
		spans = append(spans, [2]int{m[1], m[1] + end})
	}
	return spans
}

// closing returns where the content of an element ends: before its own end tag, or, where
// the text was cut, before the next tag.
func closing(v string, from int, name string) int {
	end := min(len(v), from+maxValue)
	lower := strings.ToLower(v[from:end])
	for _, open := range []string{"</", "&lt;/"} {
		for i := 0; ; {
			at := strings.Index(lower[i:], open)
			if at < 0 {
				break
			}
			rest := lower[i+at+len(open):]
			if colon := strings.IndexAny(rest, ":>&"); colon >= 0 && rest[colon] == ':' {
				rest = rest[colon+1:]
			}
			if strings.HasPrefix(rest, strings.ToLower(name)) {
				return from + i + at
			}
			i += at + len(open)
		}
	}
	if at := strings.IndexAny(lower, "<\n"); at >= 0 {
		return from + at
	}
	return end
}
