package sanitize

import (
	"bytes"
	"strings"
)

// Here the lines of a log are read that are one command: they end in backslashes, or each is an item of a list.

// maxArguments bounds the items of a list behind the name of a program.
const maxArguments = 64

// openedByCommand returns the block of a line that names a program and goes on in the next one.
func openedByCommand(end string) block {
	words := strings.TrimSuffix(end, `\`)
	_, c := commandSpans(command{}, words)
	if c.program == "" {
		return block{}
	}
	return block{left: 1, command: c, flag: flagAtEnd(&c, words)}
}

// flagAtEnd returns the flag that ends a line and whose value is to come.
func flagAtEnd(c *command, words string) string {
	words = strings.TrimRight(words, " \t")
	if flag := words[strings.LastIndexAny(words, " \t")+1:]; len(flag) > 1 && flag[0] == '-' && c.use(flag) != noSecret {
		return flag
	}
	return ""
}

// programItem is the name of a program in a list.
var programItem = lazily(`^[ \t]*(?:-[ \t]+["']?|")([\w./-]+)["']?,?$`)

// openedByProgram returns the block of a line that is an item of a list and names a program.
func openedByProgram(body string) block {
	m := programItem.get().FindStringSubmatch(body)
	if m == nil {
		return block{}
	}
	var c command
	if c.word(m[1]); c.program == "" {
		return block{}
	}
	return block{left: maxArguments, command: c, item: true}
}

// isProgramItem is a quick look for openedByProgram, at a line whose last word begins at i and ends at to.
func isProgramItem(end []byte, i, to int) bool {
	name := end[i:to]
	for i > 0 && (word(end[i-1]) || strings.IndexByte("./-", end[i-1]) >= 0) {
		i--
	}
	if i > 0 && strings.IndexByte(`"'`, end[i-1]) >= 0 {
		i--
	}
	return len(name) > 1 && (bytes.HasSuffix(end[:i], []byte("- ")) || len(bytes.TrimLeft(end[:i], " \t")) == 0) &&
		(programFlags[string(name)] != nil || bytes.HasPrefix(name, []byte("fence_")) || bytes.HasPrefix(name, []byte("ipmi-")))
}

// goesOnWith sanitizes a line that goes on with the words of a command.
func (b *block) goesOnWith(s *Sanitizer, v, head, body string) (string, bool) {
	if b.item {
		return b.argument(s, v, head, body)
	}
	before := ""
	if b.flag != "" {
		before, body = b.flag+" ", strings.TrimLeft(body, " \t")
		head = v[:len(v)-len(body)]
	}
	m := s.mask(before + body)
	found, c := commandSpans(b.command, strings.TrimSuffix(strings.TrimRight(m.text, " \t"), `\`))
	m.hideSpans(found)
	clean := head + strings.TrimPrefix(m.unmask(m.text), before)
	if end := strings.TrimRight(v, " \t\r"); !strings.HasSuffix(end, `\`) || c.program == "" {
		*b = block{}
	} else {
		*b = block{left: 1, command: c, flag: flagAtEnd(&c, strings.TrimSuffix(end, `\`))}
	}
	if clean == v {
		return "", false
	}
	return s.text(clean), true
}

// argument sanitizes an item of a list that is one word of a command.
func (b *block) argument(s *Sanitizer, v, head, body string) (string, bool) {
	value := strings.TrimSpace(body)
	m := listItem.get().FindStringSubmatch(value)
	if m == nil || strings.HasPrefix(value, redactedPrefix) {
		*b = block{}
		return "", false
	}
	flag := b.flag
	b.flag = ""
	switch {
	case flag != "":
		if lo, hi := b.command.use(flag).secretOf(m[2]); lo < hi && !strings.Contains(m[2], redactedPrefix) {
			return head + body[:indent(body)] + m[1] + m[2][:lo] + s.digest(m[2][lo:hi]) + m[2][hi:] + m[3], true
		}
	case len(m[2]) > 1 && m[2][0] == '-':
		if b.command.use(m[2]) != noSecret {
			b.flag = m[2]
			return v, true
		}
		clean := s.mask(m[2])
		found, _ := commandSpans(b.command, clean.text)
		if clean.hideSpans(found); len(found) > 0 {
			return head + body[:indent(body)] + m[1] + clean.unmask(clean.text) + m[3], true
		}
	default:
		b.command.word(m[2])
	}
	return "", false
}
