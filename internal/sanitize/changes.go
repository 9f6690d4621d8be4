package sanitize

import (
	"slices"
	"strings"
)

// A change of a secret has two values: password: OLD -> NEW, password changed from OLD to NEW,
// password: {old: OLD, new: NEW}, and the object {"field": "password", "from": OLD, "to": NEW}.

// sides are the words in front of the values of a change.
var sides = []string{"old", "new", "from", "to", "was", "now", "want", "wanted", "got", "have", "expected", "actual", "before", "after", "with", "by",
	"oldvalue", "newvalue", "old_value", "new_value", "current", "previous", "desired", "a", "b", "changed", "rotated", "updated", "modified", "replaced"}

// changeVerbs tell that a sentence is about a change, or a comparison, of what it names.
var changeVerbs = []string{"chang", "replac", "updat", "rotat", "mismatch", "differ", "modif", "reset ", "set ", "expected", "want"}

// arrows stand between the old value and the new one.
var arrows = []string{"->", "=>", "→", "!=", "<>", "==", "| ", "to ", "with ", "by ", "replaced by ", "replaced with ", "changed to ",
	"(was ", "was ", "and now ", "now ", "is not ", "is now ", "not ", "vs ", "instead of ", "⇒"}

func isSide(v string) bool { return len(v) < 12 && slices.Contains(sides, strings.ToLower(v)) }

// opensObject reports whether a name and a sign follow a bracket, or several: what stands there is no value.
func (d *decoder) opensObject(i int) bool {
	at := i
	if strings.HasPrefix(d.t[at:], "map[") {
		at += len("map[")
	}
	if at = skip(d.t, at, "{["); at == i {
		return false
	}
	at = skip(d.t, at, " \t\r\n\"':")
	end := d.nameEnd(at)
	sign := skip(d.t, d.closed(end), " \t")
	return end > at && sign < len(d.t) && (d.t[sign] == ':' || d.t[sign] == '=')
}

// newValue reads the value behind one that ends at at, where an arrow stands between them.
func (d *decoder) newValue(at int, kind keyKind) {
	for n := 0; n < 3 && at < len(d.t) && strings.IndexByte("\"'`)", d.t[at]) >= 0; n++ {
		at++
	}
	next := skip(d.t, at, " \t-]")
	if strings.HasPrefix(d.t[next:], "{+") { // [-OLD-]{+NEW+} of a word diff
		next += 2
		if sign := d.closed(d.nameEnd(next)); sign >= len(d.t) || strings.IndexByte(":=", d.t[sign]) < 0 {
			d.value(next, kind, assigned)
		}
		return
	}
	next = skip(d.t, at, " \t")
	for _, arrow := range arrows {
		if strings.HasPrefix(d.t[next:], arrow) && (next > at || len(arrow) == 2 || arrow[0] > 'z') {
			next = skip(d.t, next+len(arrow), " \t")
			if d.quote(next) {
				d.value(next, kind, assigned)
			} else if arrow[0] < 'a' || arrow[0] > 'z' {
				d.value(next, kind, assigned)
			}
			return
		}
	}
}

// wordChange is a change of a password in a sentence, whose values may be words.
var wordChange = lazily(`^(?:(?:was |has been )?(?:changed|rotated|updated|reset|modified) from ([^\s"',;]{4,64}) to |` +
	`([^\s"',;]{4,64}) (?:->|=>|→) )([^\s"',;]{4,64})(?:[\s"',;]|$)`)

// changedWords reads "changed from X to Y" and "X -> Y" behind the name of a password, where both are words that do not tell
// how it is.
func (d *decoder) changedWords(at int) bool {
	text := d.t[at:min(len(d.t), at+3*maxNear)]
	if !strings.HasPrefix(text, "was ") && !strings.HasPrefix(text, "has ") && strings.IndexByte("crum", text[0]) < 0 && !changeArrow(text) {
		return false
	}
	m := wordChange.get().FindStringSubmatchIndex(text)
	if m == nil {
		return false
	}
	from, to := m[2], m[3]
	if from < 0 {
		from, to = m[4], m[5]
	}
	end := m[6] + len(strings.TrimRight(text[m[6]:m[7]], ".:"))
	for _, w := range []string{text[from:to], text[m[6]:end]} {
		lower := strings.ToLower(w)
		if len(w) < minOpen || hasAtom(w) || !noFlag(w) || slices.Contains(statusWords, lower) || slices.Contains(aboutPasswords, lower) ||
			lowPath.get().MatchString(w) || isTime(w) || strings.IndexByte(w, '=') >= 0 {
			return false
		}
	}
	d.note(at+from, at+to)
	d.note(at+m[6], at+end)
	return true
}

// changeArrow is a quick look for an arrow behind the first word of a text.
func changeArrow(text string) bool {
	n := strings.IndexByte(text, ' ')
	rest := text[n+1:]
	return n > 0 && (strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, "→"))
}

// aboutPasswords are words behind "password" that tell what of it changes, or how.
var aboutPasswords = []string{
	"policy", "policies", "prompt", "authentication", "auth", "hash", "hashes", "file", "field", "change", "changes", "login",
	"logins", "manager", "store", "check", "checks", "length", "strength", "expiry", "expiration", "age", "state", "status",
	"type", "format", "source", "reset", "rotation", "entry", "form", "page", "screen", "disabled", "enabled", "strict", "strong",
	"weak", "plaintext", "cleartext", "hidden", "visible", "hashed", "memory", "disk", "secret", "vault", "initial", "temporary",
	"permanent", "random", "generated", "external", "internal", "manual", "automatic", "user", "admin", "root", "error",
	"success", "failure", "pending", "stale", "current", "previous", "outdated", "custom", "standard", "unencrypted",
}

// change reads the two values of a change behind the name of a secret, up to the end of its
// sentence, or of the lines that are indented below it; first says that the first one was found.
func (d *decoder) change(from, at int, kind keyKind, first bool) {
	stop := min(len(d.t), at+2*maxNear)
	if kind < maybeKey {
		return
	}
	near := d.t[max(0, from-maxNear/2):stop]
	verb := func() bool {
		return slices.ContainsFunc(changeVerbs, func(v string) bool { return strings.Contains(near, v) })
	}
	depth := 0
	for i := at; i < stop && d.spend(1); {
		switch c := d.t[i]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth < 0 {
				return // of the object that has the name
			}
		}
		switch c := d.t[i]; {
		case c == ';' || c == '\n' && strings.IndexByte(" \t", d.t[min(i+1, len(d.t)-1)]) < 0:
			return
		case !word(c):
			i++
			continue
		}
		end := d.nameEnd(i)
		if !isSide(d.t[i:end]) {
			if i > at && d.s.keys.kind(d.t[max(i, end-80):end]) != plainKey {
				return // another name
			}
			i = end
			continue
		}
		p := skip(d.t, d.closed(end), " \t")
		sign := p < len(d.t) && (d.t[p] == ':' || d.t[p] == '=')
		if sign {
			p = skip(d.t, p+1, " \t")
		}
		found := false
		switch {
		case p >= len(d.t) || p == end:
		case sign && d.opensObject(p):
			i = p // its fields have names of their own
			continue
		case sign || d.quote(p) && verb():
			found = d.value(p, kind, assigned)
		case !d.quote(p) && (verb() || first || i-at < 3 && strings.Contains(d.t[p:stop], " to ")):
			found = d.value(p, kind, told)
		}
		i = max(end, p)
		if found {
			first = true
			d.newValue(d.done, kind)
			i, stop = max(i, d.done), max(stop, min(len(d.t), d.done+maxNear))
		}
	}
}
