package sanitize

import (
	"regexp"
	"strings"
)

// A name and a value that stand beside each other: an environment variable of a container
// as Go prints it (k8s.io/api/core/v1 EnvVar), as JSON and as YAML on one line, in either
// order.
var (
	nameFirst  = regexp.MustCompile(`(?i)\b(?:name|key)` + quote + `[ \t]*[:=][ \t]*` + quote + `([\w.-]+)` + quote + `[ \t]*,?[ \t]*` + quote + `value` + quote + `[ \t]*[:=][ \t]*`)
	valueFirst = regexp.MustCompile(`(?i)\bvalue` + quote + `[ \t]*:[ \t]*(\\*["'])([^\r\n]*?)\\*["'][ \t]*,[ \t]*` + quote + `(?:name|key)` + quote + `[ \t]*:[ \t]*` + quote + `([\w.-]+)`)
	goStruct   = regexp.MustCompile(`,?[ \t]?ValueFrom:|,?\}`)
	nameLine   = regexp.MustCompile(`(?i)^[ \t]*(?:-[ \t]+)?["']?(?:name|key)["']?:[ \t]*["']?([\w.-]+)["']?[ \t]*$`)
	valueLine  = regexp.MustCompile(`(?i)^([ \t]*["']?value["']?:[ \t]*["']?)(.*?)(["']?[ \t]*,?\r?)$`)
)

// namedValues finds the values whose name is that of a secret.
func namedValues(v string) (spans [][2]int) {
	for _, m := range nameFirst.FindAllStringSubmatchIndex(v, -1) {
		name := v[m[2]:m[3]]
		if kindOfKey(name) == plainKey || m[1] >= len(v) {
			continue
		}
		from := m[1]
		to := valueEnd(v, from)
		if c := v[from]; c == '"' || c == '\'' || c == '\\' && from+1 < len(v) && (v[from+1] == '"' || v[from+1] == '\'') {
			from = slashRun(v, from) + 1
			to = quotedEnd(v, from)
		}
		if from < to && secretOf(name, v[from:to]) {
			spans = append(spans, [2]int{from, to})
		}
	}
	for _, m := range valueFirst.FindAllStringSubmatchIndex(v, -1) {
		if m[4] < m[5] && secretOf(v[m[6]:m[7]], v[m[4]:m[5]]) {
			spans = append(spans, [2]int{m[4], m[5]})
		}
	}
	return spans
}

// valueEnd is where a value ends that Go prints in a struct: it may hold blanks and commas.
func valueEnd(v string, from int) int {
	end := min(len(v), from+maxValue)
	if line := strings.IndexByte(v[from:end], '\n'); line >= 0 {
		end = from + line
	}
	if m := goStruct.FindStringIndex(v[from:end]); m != nil {
		return from + m[0]
	}
	return unquotedEnd(v, from, false)
}

// secretOf reports whether a value is a secret, going by its name.
func secretOf(name, value string) bool {
	kind := kindOfKey(name)
	return kind >= secretKey && noFlag(value) || kind == maybeKey && (noPath(value) || strings.Contains(value, " "))
}
