package sanitize

import (
	"strings"
)

// A pair is a name in one field and its value in the next: {"name":"DB_PASSWORD",
// "value":"x"} in JSON, the same in YAML, EnvVar{Name:DB_PASSWORD,Value:x,ValueFrom:nil,}
// as the kubelet prints a container that did not start
// (k8s.io/api/core/v1 EnvVar.String), {Name:DB_PASSWORD Value:x ValueFrom:<nil>} and
// {DB_PASSWORD x nil} of Go's %+v and %v.
var pairMarks = []string{"value:", "value\"", "value'", "value\\", "value=", " nil}", "<nil>}"}

// maxPair bounds how far a value may be behind its name.
const maxPair = 512

// pairs returns where the values are whose names say that they are secrets.
func pairs(v string) (found []span) {
	for _, m := range valueFirst.get().FindAllStringSubmatchIndex(v, -1) {
		if m[2] < m[3] && namedSecret(v[m[4]:m[5]], v[m[2]:m[3]]) {
			found = append(found, span{m[2], m[3]})
		}
	}
	name, at := "", -1
	for i := 0; i < len(v); {
		if i > 0 && word(v[i-1]) || !word(v[i]) {
			if v[i] == '{' {
				name = ""
				if s, ok := bareVar(v, i+1); ok {
					found = append(found, s)
					i = s.to
					continue
				}
			}
			i++
			continue
		}
		end := i
		for end < len(v) && word(v[end]) {
			end++
		}
		key := v[i:end]
		i = end
		switch {
		case strings.EqualFold(key, "name"), strings.EqualFold(key, "key"):
			if s := fieldValue(v, end, true); s.from < s.to && s.to-s.from < 128 {
				name, at, i = v[s.from:s.to], s.from, s.to
			}
		case strings.EqualFold(key, "value") && name != "" && i-at < maxPair:
			s := fieldValue(v, end, false)
			if s.from < s.to && namedSecret(name, v[s.from:s.to]) {
				found = append(found, s)
				i = s.to
			}
			name = ""
		}
	}
	return found
}

// namedSecret reports whether a value is a secret whose name is elsewhere. That of a
// variable of an environment may hold blanks.
func namedSecret(name, value string) bool {
	switch kind := kindOfKey(name); {
	case kind >= secretKey:
		return noFlag(value) && !strings.HasPrefix(value, "<set to")
	case kind == maybeKey && name == strings.ToUpper(name) && strings.Contains(value, " "):
		return noFlag(value) && strings.ContainsAny(value, "0123456789")
	case kind == maybeKey:
		return noPath(value)
	}
	return false
}

// valueFirst is a pair in JSON whose value precedes the name.
var valueFirst = lazily(`(?i)\\*"value\\*"[ \t]*:[ \t]*\\*"((?:[^"\\]|\\[^"])*)\\*"[ \t]*,[ \t]*\\*"(?:name|key)\\*"[ \t]*:[ \t]*\\*"([\w.-]+)`)

func word(b byte) bool { return letter(b) || b >= '0' && b <= '9' || b == '_' }

// fieldValue returns the value of a field whose name ends at i. That of a name ends at
// a comma.
func fieldValue(v string, i int, short bool) span {
	j := slashRun(v, i)
	if j < len(v) && (v[j] == '"' || v[j] == '\'') {
		i = j + 1
	}
	i = skip(v, i, " \t")
	if i >= len(v) || v[i] != ':' && v[i] != '=' {
		return span{}
	}
	i = skip(v, i+1, " \t")
	if q := slashRun(v, i); q < len(v) && (v[q] == '"' || v[q] == '\'') {
		return span{q + 1, quotedEnd(v, q+1)}
	}
	if short {
		end := i
		for end < len(v) && end < i+128 && strings.IndexByte(" ,\t\r\n}]", v[end]) < 0 {
			end++
		}
		return span{i, end}
	}
	line := i
	for line < len(v) && v[line] != '\n' {
		if v[line] == 'V' && strings.HasPrefix(v[line:], "ValueFrom:") && line > i {
			return span{i, max(i, line-1)}
		}
		line++
	}
	if back := strings.TrimRight(v[i:line], " \t\r"); atLineStart(v, i) {
		return span{i, i + len(back)} // of YAML
	}
	return span{i, unquotedEnd(v, i, true)}
}

// atLineStart reports whether only one word and blanks are between the start of a line
// and i.
func atLineStart(v string, i int) bool {
	head := v[max(0, i-64):i]
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[n+1:]
	}
	return len(strings.Fields(strings.Replace(head, "- ", "", 1))) == 1
}

// bareVar reads DB_PASSWORD x nil} behind a brace.
func bareVar(v string, i int) (span, bool) {
	end := i
	for end < len(v) && end < i+128 && (word(v[end]) || v[end] == '-' || v[end] == '.') {
		end++
	}
	if end == i || end >= len(v) || v[end] != ' ' || kindOfKey(v[i:end]) < secretKey {
		return span{}, false
	}
	rest := v[end+1 : min(len(v), end+1+maxPair)]
	to := strings.Index(rest, " nil}")
	if other := strings.Index(rest, " <nil>}"); other >= 0 && (to < 0 || other < to) {
		to = other
	}
	return span{end + 1, end + 1 + to}, to > 0
}
