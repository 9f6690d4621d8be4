package sanitize

import "strings"

// An assignment is a line that is all of one: `key = value` of an INI file, a keyfile
// of NetworkManager, sysconfig and wpa_supplicant, `export KEY=value`, `key: value` of
// YAML and of what `oc describe` prints. The value may have blanks and extends to the
// end of the line. Values in quotes are read elsewhere.

// assignMarks are parts of the names that kindOfKey calls secrets.
var assignMarks = []string{"pass", "psk", "secret", "token", "key", "authtok"}

// assignments returns where the values of lines are whose keys are those of secrets.
func assignments(v string) (found []span) {
	for at := 0; at < len(v); {
		end := strings.IndexByte(v[at:], '\n')
		if end < 0 {
			end = len(v)
		} else {
			end += at
		}
		if s, ok := assignment(v[at:end]); ok {
			found = append(found, span{at + s.from, at + s.to})
		}
		at = end + 1
	}
	return found
}

// assignment reads one line.
func assignment(line string) (span, bool) {
	from := 0
	if len(line) > 24 {
		from = prefixEnd(line)
	}
	from = skip(line, from, " \t")
	for _, head := range []string{"- ", "export ", "set ", "Environment="} {
		if strings.HasPrefix(line[from:], head) {
			from = skip(line, from+len(head), " \t")
		}
	}
	end := from
	for end < len(line) && end < from+80 && (word(line[end]) || strings.IndexByte("-.", line[end]) >= 0) {
		end++
	}
	sign := skip(line, end, " \t")
	if strings.HasPrefix(line[sign:], "..") { // Password ...... : x
		sign = skip(line, sign, ". \t")
	}
	if end == from || sign >= len(line) || line[sign] != '=' && line[sign] != ':' {
		return span{}, false
	}
	kind := kindOfKey(line[from:end])
	at := skip(line, sign+1, " \t")
	value := strings.TrimRight(line[at:], " \t\r")
	if kind < secretKey || value == "" || strings.IndexByte("\"'[{|>&<\\", value[0]) >= 0 || strings.HasPrefix(line[sign:], ":=") ||
		strings.HasPrefix(line[sign:], "==") {
		return span{}, false
	}
	if sign+1 == at && line[sign] == ':' { // no YAML
		return span{}, false
	}
	if i := strings.Index(value, " #"); i > 0 {
		value = strings.TrimRight(value[:i], " \t")
	}
	first, rest, more := strings.Cut(value, " ")
	if dots := strings.Contains(line[end:sign], ".."); dots && noFlag(value) {
		return span{at, at + len(value)}, true
	}
	if !more && kind == secretKey && len(first) >= minOpen && likelySecret(first) && !lowPath.get().MatchString(first) &&
		!strings.EqualFold(line[from:end], "token") {
		return span{at, unquotedEnd(line, at, false)}, true // it may be short
	}
	if !more || !noFlag(first) || kind != deepKey && (!longSecret(first) || lowPath.get().MatchString(first)) || prose(first, rest) {
		return span{}, false // one word is read elsewhere
	}
	return span{at, at + len(value)}, true
}

// prose reports whether a value is a sentence or the first of several fields: then not
// all of the line is one assignment.
func prose(first, rest string) bool {
	for field := range strings.FieldsSeq(rest) {
		if key, _, ok := strings.Cut(field, "="); ok && key != "" &&
			strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == "" {
			return true
		}
	}
	return strings.ContainsAny(first, ",\"'")
}
