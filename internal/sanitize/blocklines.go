package sanitize

import (
	"slices"
	"strings"
)

// next sanitizes a line if it belongs to the block, else it closes the block.
func (b *block) next(s *Sanitizer, v string) (string, bool) {
	head := v[:prefixEnd(v)]
	body := v[len(head):]
	if b.waits() && (b.sure && strings.TrimSpace(body) == "" || underline(body)) {
		return v, true // an empty line in front of the value, or one that underlines the name
	}
	b.left--
	if b.below != plainKey && b.named == "" {
		if out, hidden, is := b.field(s, head, body); is {
			return out, hidden
		}
	}
	if b.command.program != "" {
		return b.goesOnWith(s, v, head, body)
	}
	if b.leavesHere(head, body) {
		b.left = 0
		return "", false
	}
	head += body[:indent(body)]
	value := strings.TrimSpace(body)
	switch {
	case b.doc != "" && strings.HasSuffix(value, b.doc) && (value == b.doc || !word(b.doc[0])):
		b.left = 0
		return head + s.digest(strings.TrimSuffix(value, b.doc)) + b.doc, true
	case b.users:
		return b.user(s, head, body)
	case b.logins:
		if m := logins.get().FindStringSubmatchIndex(value); m != nil {
			return head + value[:m[2]] + s.digest(value[m[2]:m[3]]), true
		}
		b.left = 0
	case b.doc != "" && b.key && !isKey(value):
		return v, true
	case b.doc != "":
		return head + s.digest(value), true
	case b.colon:
		rest, ok := strings.CutPrefix(value, ":")
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			break
		}
		if opensScalar("x" + value) {
			*b = block{left: maxKeyLines, scalar: true, sure: b.sure, indent: b.indent}
			return v, true
		}
		b.colon = false
		body = strings.TrimLeft(rest, " \t")
		return b.one(s, head+value[:len(value)-len(body)], body)
	case !b.scalar && !b.blob && b.sure && indent(body) > b.indent && opensScalar(value):
		*b = block{left: maxKeyLines, scalar: true, sure: true, indent: indent(body)}
		return v, true
	case b.named != "" && value == "":
		return v, true
	case b.named != "" && b.below >= secretKey && quotedAlone.get().MatchString(value):
		b.scalar, b.sure, b.named = false, true, ""
		return b.one(s, head, value)
	case b.named != "":
		if valueOpened.get().MatchString(body) {
			b.nested = true
			return "", false
		}
		if m := fieldLine.get().FindStringSubmatch(body); b.nested && m != nil {
			if b.left = 0; namedSecret(b.named, m[2]) {
				return v[:len(v)-len(body)] + m[1] + s.digest(m[2]) + m[3], true
			}
			return "", false
		}
		if m := valueLine.get().FindStringSubmatch(body); m != nil && namedSecret(b.named, m[2]) {
			b.left = 0
			return v[:len(v)-len(body)] + m[1] + s.digest(m[2]) + m[3], true
		}
		if value != "" && indent(body) >= b.indent && value[0] != '-' {
			if f, ok := fieldBelow(body); ok && b.below != plainKey && f.secret(body, b.below) {
				return v[:len(v)-len(body)] + body[:f.from] + s.digest(body[f.from:f.to]) + body[f.to:], true
			}
			return "", false // another field of the object
		}
		b.left = 0
	case b.goesOn:
		if out, ok := b.goOn(s, v, head, value); ok {
			return out, true
		}
	case b.item:
		b.left = 0
		if m := listItem.get().FindStringSubmatch(value); m != nil && !strings.HasPrefix(m[2], "--") && b.takes(m[2]) {
			return head + m[1] + s.digest(m[2]) + m[3], true
		}
	case b.scalar && value == "":
		return v, true
	case b.loose && indent(body) <= b.indent && !isRule(body):
		b.scalar = false
		return b.one(s, head, value)
	case b.scalar && b.key && indent(body) > b.indent && isKey(value):
		b.key, b.sure = false, true // all of it is one key
		return head + s.digest(value), true
	case b.scalar && !b.key && indent(body) > b.indent && (b.sure || likelySecret(value) || Redacted(value)),
		b.blob && len(value) >= b.long && (onlyBlob.get().MatchString(value) || Redacted(value)):
		return head + s.digest(value), true
	case !b.scalar && !b.blob:
		return b.one(s, head, value)
	case b.blob && b.long == 0 && isPart(value[:tokenEnd(value, 0)]): // with other text behind it
		b.left = 0
		rest := value[tokenEnd(value, 0):]
		return head + s.digest(strings.TrimSuffix(value, rest)) + s.text(rest), true
	}
	b.left = 0
	return "", false
}

// goOn sanitizes the line behind the name of a value, or its flag, that ended in a backslash.
func (b *block) goOn(s *Sanitizer, v, head, value string) (string, bool) {
	b.left = 0
	if n := len(historyNumber.get().FindString(value)); n > 0 {
		head, value = head+value[:n], value[n:]
	}
	if b.bare && value != "" && strings.IndexByte("=:", value[0]) >= 0 {
		rest := strings.TrimLeft(value[1:], " \t")
		head, value, b.sure, b.bare = head+value[:len(value)-len(rest)], rest, b.sure || !b.key, false
	}
	word, _, _ := strings.Cut(value, " ")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		word = value[1:quotedEnd(value, 1)]
	}
	if Redacted(word) || strings.HasPrefix(value, redactedPrefix) {
		return v, true
	}
	if len(word) > 1 && word[0] != '-' && !(b.lone && word != value) && !(b.bare && slices.Contains(joints, word)) && b.takes(word) {
		return head + strings.Replace(value, word, s.digest(word), 1), true
	}
	return "", false
}

// one sanitizes the only value of a block, which may be an item of a list. Base64 may
// continue over more lines.
func (b *block) one(s *Sanitizer, head, value string) (string, bool) {
	b.left = 0
	item := ""
	if rest, ok := strings.CutPrefix(value, "- "); ok {
		item, value = "- ", strings.TrimSpace(rest)
	} else if size := len(dumpedText.get().FindString(value)); size > 0 {
		head, value = head+value[:size], value[size:]
	}
	m := oneValue.get().FindStringSubmatchIndex(strings.TrimRight(value, "\"'"))
	if strings.IndexByte("\"'", (value + " ")[0]) >= 0 {
		m = oneValue.get().FindStringSubmatchIndex(value)
	}
	if m == nil {
		return "", false
	}
	from, to := lastGroup(m)
	secret := value[from:to]
	if b.key && !isKey(secret) || !b.key && (!b.sure || len(secret) < minOpen || !noFlag(secret)) && !likelySecret(secret) {
		return "", false
	}
	if item != "" {
		b.left = 1
	} else if len(secret) >= 16 && onlyBlob.get().MatchString(secret) {
		*b = block{left: maxKeyLines, blob: true, long: 16}
	}
	return head + item + value[:from] + s.digest(secret) + value[to:], true
}

// continued hides the lines in which a secret goes on that ends its line, as openBlob does it for the lines of a stream.
func (s *Sanitizer) continued(v, clean string) string {
	if clean == v || strings.IndexByte(v, '\n') < 0 || strings.Count(clean, "\n") != strings.Count(v, "\n") {
		return clean
	}
	var b block
	was, is := strings.Split(v, "\n"), strings.Split(clean, "\n")
	for i := range is {
		if b.left > 0 {
			if hidden, ok := b.next(s, is[i]); ok {
				is[i] = hidden
				continue
			}
		}
		if endsInSecret(was[i], is[i]) {
			b = block{left: maxKeyLines, blob: true}
		}
	}
	return strings.Join(is, "\n")
}

// blocks sanitizes the blocks of a text of many lines.
func (s *Sanitizer) blocks(v string) string {
	var out strings.Builder
	var b block
	for i, line := range strings.Split(v, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if b.left > 0 {
			if clean, ok := b.next(s, line); ok {
				out.WriteString(clean)
				continue
			}
		}
		b.open(line)
		out.WriteString(line)
	}
	return out.String()
}

// quotedAlone is a value in quotes that has a line of its own, in brackets behind its name.
var quotedAlone = lazily(`^(?:"[^"]+"|'[^']+'),?$`)

// joints are words of a sentence that a backslash broke behind the name of a secret.
var joints = []string{"of", "for", "with", "from", "to", "in", "on", "and", "or", "is", "was", "that", "when", "then"}

// takes reports whether the value of a flag is a secret.
func (b *block) takes(v string) bool {
	if b.key {
		return isKey(v)
	}
	return b.sure && noFlag(v) || noPath(v)
}

// waits reports whether the value of a name is still to come.
func (b *block) waits() bool { return !b.scalar && !b.blob && b.doc == "" }
