package sanitize

import "strings"

// line reads a line that is all of one assignment, and whose value goes on to its end: key = value
// of an INI file, a keyfile of NetworkManager, sysconfig and wpa_supplicant, export KEY=value,
// key: value of YAML and of what oc describe prints. Such a value may have blanks. What is in
// double quotes is a line, too.
func (d *decoder) line(from, end, sign int, kind keyKind) bool {
	at := skip(d.t, sign, " \t")
	if kind < secretKey || at >= len(d.t) || strings.IndexByte("\"'[{|>&!<\\\n", d.t[at]) >= 0 || d.t[sign-1] == ':' && at == sign ||
		strings.HasPrefix(d.t[at:], "# ") ||
		strings.HasPrefix(d.t[end:sign], ":=") || strings.HasPrefix(d.t[end:sign], "==") || strings.IndexByte("=:", d.t[sign-1]) < 0 {
		return false
	}
	start, inQuotes := d.lineStart(from)
	if start < 0 {
		return false
	}
	stop := "\n"
	if inQuotes {
		stop = "\n" + d.t[start-1:start]
	}
	to := at + min(maxValue, len(d.t)-at)
	if n := strings.IndexAny(d.t[at:to], stop); n >= 0 {
		to = at + n
	}
	value := strings.TrimRight(d.t[at:to], " \t\r")
	if i := strings.Index(value, " #"); i > 0 {
		value = strings.TrimRight(value[:i], " \t")
	}
	first, rest, more := strings.Cut(value, " ")
	switch {
	case !more && kind == secretKey && len(first) >= minOpen && likelySecret(first) && !lowPath.get().MatchString(first) && !isReference(first) &&
		!strings.EqualFold(d.t[from:end], "token"):
		return d.value(at, deepKey, assigned) // it may be short
	case !more || !noFlag(first) || kind != deepKey && (!longSecret(first) || lowPath.get().MatchString(first)) || prose(first, rest, kind):
		return false
	}
	return d.judge(span{d.w.place(at), d.w.place(at + len(value))}, deepKey, assigned, false)
}

// lineStart returns where the line, or what is in quotes, begins that has a name as its first
// word, behind what a log and a shell write in front; -1 if there is other text.
func (d *decoder) lineStart(from int) (start int, inQuotes bool) {
	low := max(0, from-maxBeside)
	start = low
	if n := strings.LastIndexAny(d.t[low:from], "\n\"'"); n >= 0 {
		start, inQuotes = low+n+1, d.t[low+n] != '\n'
	}
	i := start
	if from-start > 15 {
		i += prefixEnd(d.t[start:from])
	}
	i = skip(d.t, i, " \t")
	for _, head := range []string{"- ", "export ", "set ", "Environment="} {
		if strings.HasPrefix(d.t[i:], head) {
			i = skip(d.t, i+len(head), " \t")
		}
	}
	if i != from {
		return -1, false
	}
	return start, inQuotes
}

// prose reports whether a value is a sentence or the first of several fields: then not
// all of the line is one assignment.
func prose(first, rest string, kind keyKind) bool {
	for field := range strings.FieldsSeq(rest) {
		if key, _, ok := strings.Cut(field, "="); ok && key != "" && only(key, alphanumeric+"_-.") {
			return true
		}
	}
	return strings.ContainsAny(first, ",\"'") && (kind < deepKey || strings.ContainsAny(first, "\"'") || strings.Contains(rest, ":"))
}

// isVariable reports whether the name of a variable of an environment leaves no doubt, as DB_PASS.
func isVariable(name string) bool {
	return (strings.HasSuffix(name, "_PASS") || strings.HasSuffix(name, "_PWD")) && name == strings.ToUpper(name)
}

// bareVariable reads {DB_PASSWORD x nil}, a variable of a container as Go's %v prints it.
func (d *decoder) bareVariable(from, end int, kind keyKind) bool {
	if from == 0 || d.t[from-1] != '{' || kind < secretKey || end >= len(d.t) || d.t[end] != ' ' {
		return false
	}
	rest := d.t[end+1 : min(len(d.t), end+1+maxBeside)]
	to := strings.Index(rest, " nil}")
	if other := strings.Index(rest, " <nil>}"); other >= 0 && (to < 0 || other < to) {
		to = other
	}
	return to > 0 && d.besideAt(end+1, end+1+to, kind, false)
}

// namedSecret reports whether a value is a secret whose name is elsewhere. That of a
// variable of an environment may hold blanks.
func namedSecret(name, value string) bool {
	kind := kindOfKey(name)
	if kind == maybeKey && name == strings.ToUpper(name) && strings.Contains(value, " ") {
		return noFlag(value) && strings.ContainsAny(value, "0123456789")
	}
	from, to := secretIn(value, kind, beside, true)
	return from < to || headerOf(name) != "" && len(headerValue(name, value)) > 0
}

func word(b byte) bool { return letter(b) || b >= '0' && b <= '9' || b == '_' }
