package sanitize

import "strings"

// Here the list of users and passwords is read that cloud-init gives to chpasswd.

// userLine is a user and a password in the list of cloud-init's chpasswd.
var userLine = lazily(`^(?:- )?["']?[A-Za-z_][\w.-]*:([^\s"']{4,})["']?$`)

// user sanitizes a line of the list; head ends where the text of the line begins.
func (b *block) user(s *Sanitizer, head, body string) (string, bool) {
	value := strings.TrimSpace(body)
	if m := userLine.get().FindStringSubmatchIndex(value); m != nil && indent(body) > b.indent && value[m[2]:m[3]] != "RANDOM" {
		return head + value[:m[2]] + s.digest(value[m[2]:m[3]]) + value[m[3]:], true
	}
	if value != "" && indent(body) <= b.indent {
		b.left = 0
	}
	if list, ok := strings.CutPrefix(value, "list:"); ok && b.left > 0 {
		clean := s.loginsOf(list)
		return head + "list:" + clean, clean != list
	}
	return "", false
}

// loginOf is a user and a password in such a list, where it is a text in quotes or a list in brackets.
var loginOf = lazily(`[A-Za-z_][\w.-]*:([^\s"'\\,\]]{4,})`)

// loginsOf hides the passwords of a list of users in one line.
func (s *Sanitizer) loginsOf(list string) string {
	m := s.mask(list)
	var found []span
	for _, at := range loginOf.get().FindAllStringSubmatchIndex(m.text, -1) {
		if value := m.text[at[2]:at[3]]; value != "RANDOM" && !hasAtom(value) {
			found = append(found, span{at[2], at[3]})
		}
	}
	m.hideSpans(found)
	return m.unmask(m.text)
}
