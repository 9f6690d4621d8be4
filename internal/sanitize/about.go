package sanitize

import (
	"cmp"
	"slices"
	"strings"
)

// leastPart is the least length of a word that is looked for in what is said about a text.
const leastPart = 4

// About returns what hides the secrets in what is said about a text, as Message does, and also what is a secret in the text
// itself: a part of a command line, alone, no longer shows that it is a password. The text's own words that its
// sanitized form does not have are such secrets.
func (s *Sanitizer) About(text string) func(string) string {
	clean := s.Message(text)
	if clean == Plain(text) {
		return s.Message
	}
	var secrets []string
	for _, word := range strings.FieldsFunc(Plain(text), func(r rune) bool { return strings.ContainsRune(" \t\n\r'\"`\\", r) }) {
		if len(word) < leastPart || strings.Contains(clean, word) {
			continue
		}
		found := false
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=:@,;/&?|()<>{}[]", r) }) {
			if len(part) >= leastPart && !strings.Contains(clean, part) {
				secrets, found = append(secrets, part), true
			}
		}
		if _, value, ok := strings.Cut(word, "="); !found && ok && len(value) >= leastPart {
			secrets = append(secrets, value)
		} else if !found {
			secrets = append(secrets, word)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	secrets = slices.Compact(secrets)
	return func(v string) string {
		for _, secret := range secrets {
			v = strings.ReplaceAll(v, secret, s.digest(secret))
		}
		return s.Message(v)
	}
}
