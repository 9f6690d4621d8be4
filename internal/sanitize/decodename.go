package sanitize

import "strings"

// Here a decoder reads what a name says.

// kindAt returns what a name says, together with the word in front of it: a name may be two words,
// as in "client secret" and "public key".
func (d *decoder) kindAt(i, end int) keyKind {
	name := d.t[max(i, end-80):end]
	kind := d.s.keys.kind(name)
	if kind == plainKey && !strings.EqualFold(name, "phrase") && !strings.EqualFold(name, "word") || kind >= deepKey || i < 3 || d.t[i-1] != ' ' {
		return kind
	}
	from := i - 1
	for from > 0 && i-from < 16 && word(d.t[from-1]) {
		from--
	}
	if from == i-1 {
		return kind
	}
	two := d.t[from:i-1] + d.t[i:end]
	switch joined := kindOfKey(two); {
	case joined > kind && (joined == deepKey || joined == secretKey && (!d.sentenceBefore(from) || d.numbered(end) || strings.HasPrefix(d.t[end:], " is "))):
		return joined
	case isPublicName(two):
		return plainKey
	}
	return kind
}

// numbered reports whether a number and a colon follow a name.
func (d *decoder) numbered(end int) bool {
	n := skip(d.t, min(end+1, len(d.t)), "0123456789")
	return end < len(d.t) && d.t[end] == ' ' && n > end+1 && n-end < 5 && n < len(d.t) && d.t[n] == ':'
}

// sentenceBefore reports whether words stand in front of a name: then it is no name of a field.
func (d *decoder) sentenceBefore(i int) bool {
	start, _ := d.lineStart(i)
	return start < 0
}

// nameEnd returns where a name ends: words that hyphens and dots join.
func (d *decoder) nameEnd(i int) int {
	for i < len(d.t) && (word(d.t[i]) || strings.IndexByte("-.", d.t[i]) >= 0 && i+1 < len(d.t) && word(d.t[i+1])) {
		i++
	}
	return i
}

// listsUsers reports whether "passwd" is the file with the users of a machine, or the users in a config of Ignition.
func (d *decoder) listsUsers(from, end int) bool {
	return strings.HasSuffix(d.t[:from], "/etc/") || usersBehind.get().MatchString(d.t[end:min(len(d.t), end+64)])
}

var usersBehind = lazily(`^\\*["']?:[ \t\r\n]*(?:map\[string\](?:any|interface ?\{\}))?\{[ \t\r\n]*\\*["']?(?:users|groups)\\*["']?:[ \t]*\[`)

// namesField reports whether what is in quotes at a place is the name of the next field.
func (d *decoder) namesField(at int) bool {
	end := d.nameEnd(at + 1)
	return end > at+1 && d.quote(end) && skip(d.t, end+1, " \t") < len(d.t) && d.t[skip(d.t, end+1, " \t")] == ':'
}
