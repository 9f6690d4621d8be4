package sanitize

import (
	"slices"
	"strings"
)

// A line may name a credential in a form that no reader knows: a cell of a table, an
// arrow, a sentence. What follows the name and looks like a credential is hidden
// then; its digest still tells equal values.

// maxBehind is how far behind the name a value is looked for.
const maxBehind = 96

// wordEnds are the signs between words.
const wordEnds = " \t\r\n|'\"`(),;<>"

var (
	mention = lazily(`(?i)(?:pass(?:word|wd|phrase|code)|client[_-]?secret|(?:access|refresh|bearer|bootstrap|api)[ _-]?(?:token|key)|credential|` +
		`(?:\b|_)(?:token|secret))s?\b`)
	field   = lazily(`^[A-Za-z][A-Za-z0-9_.-]*[=:].`)
	token64 = lazily(`^[A-Za-z0-9._~+/=-]{16,}$`)
)

// mentioned returns where values are that follow the name of a credential.
func mentioned(v string) (found []span) {
	hidden := 0
	for _, m := range mentions(v) {
		if m[0] < hidden {
			continue
		}
		soft := strings.EqualFold(strings.Trim(v[m[0]:m[1]], "sS_"), "token") || strings.Contains(strings.ToLower(v[m[0]:m[1]]), "secret") ||
			strings.Contains(strings.ToLower(v[m[0]:m[1]]), "credential")
		end := min(len(v), m[1]+maxBehind)
		if m[1] < end && strings.IndexByte("-_./", v[m[1]]) >= 0 {
			continue // a part of a longer name
		}
		first := true
		for i := m[1]; i < end; {
			i = skip(v, i, " \t|>'\"`(),:=-")
			to := i
			for to < len(v) && to < i+128 && strings.IndexByte(wordEnds, v[to]) < 0 {
				to++
			}
			if to == i || strings.IndexFunc(v[i:to], isAtom) >= 0 || field.get().MatchString(v[i:to]) {
				break // the value is hidden, or another field begins
			}
			if credential(strings.TrimRight(v[i:to], ".:"), first && !soft, soft) {
				for to < len(v) && strings.IndexByte(wordEnds, v[to]) < 0 {
					to++ // all of a long one
				}
				found = append(found, span{i, i + len(strings.TrimRight(v[i:to], ".:"))})
				hidden = to
				break
			}
			i, first = to, false
		}
	}
	return found
}

// mentions returns where names of credentials are. The expression is slow on a long
// line: it looks only at what is around a part that all names have.
func mentions(v string) (found [][2]int) {
	for _, part := range []string{"pass", "secret", "token", "key", "credential"} {
		last := 0
		for i := indexFold(v, part, 0); i >= 0; i = indexFold(v, part, last) {
			from := max(last, i-16)
			to := min(len(v), i+32)
			last = i + len(part)
			for _, m := range mention.get().FindAllStringIndex(v[from:to], -1) {
				if from+m[0] <= i && from+m[1] > i {
					found = append(found, [2]int{from + m[0], from + m[1]})
					last = from + m[1]
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	return found
}

// credential reports whether a word is no word, name, number, path or address. What
// stands next to the name of a password may be as plain as one.
func credential(w string, next, long bool) bool {
	if len(w) < 6 || len(w) > 512 || strings.ContainsAny(w, "/\\[]{}@&%") || strings.HasPrefix(w, "sha256:") || reference(w) {
		return false
	}
	lower, upper, digits, other := false, false, 0, false
	for _, c := range w {
		switch {
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("!#$^*+=?", c):
			other = true
		}
	}
	switch {
	case digits == 0 && !other, !lower && !upper:
		return false
	case long:
		return token64.get().MatchString(w) && upper && lower && digits > 1 && !codeName.get().MatchString(w)
	case other || upper && lower:
		return !codeName.get().MatchString(w)
	}
	return next && likelySecret(w) && !strings.ContainsAny(w, "-:.") && digits < len(w)-2
}

// codeName is a name of code or of a kind, as v1beta1 or IPv4Address, or a time.
var codeName = lazily(`^(?:[A-Za-z][a-z]*(?:[A-Z]+[a-z]*|\d{1,2})*|\d{4}-\d\d-\d\dT.*|v?\d[\d.]*[A-Za-z]?|[A-Za-z.-]+\d{0,2})$`)
