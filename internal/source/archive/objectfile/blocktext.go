package objectfile

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable reports whether a text has only characters that need no second look: no control characters, no line
// breaks but LF, no mark of another encoding.
func printable(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError || r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff' {
			return false
		}
		i += n
	}
	return true
}

// indicator reports whether a character at the beginning has a meaning in YAML (scannerc.go
// yaml_parser_fetch_next_token). A dash has one only before a space.
func indicator(c byte) bool { return strings.IndexByte("?:,[]{}#&*!|>'\"%@`\t", c) >= 0 }

// odd reports whether a line without its indentation may have a comment, or a tab, which YAML takes for a space.
func odd(line []byte) bool {
	return bytes.Contains(line, []byte(" #")) || bytes.IndexByte(line, '\t') >= 0
}

// once returns a text, of short ones the same one each time. It is a value already: to make one of a string is an
// allocation of its own.
func (b *blockReader) once(text []byte) any {
	if len(text) > longestKnown {
		return string(text)
	}
	if v, ok := b.known[string(text)]; ok {
		return v
	}
	s := string(text)
	var v any = s
	if len(b.known) < mostKnown {
		b.known[s] = v
	}
	return v
}

// scalar reads a value on the line of its key or dash, and the lines that continue it. They stand further right
// than column, that of the key or dash. It moves to what follows.
func (b *blockReader) scalar(column int) (any, bool) {
	switch c := b.doc[b.at]; {
	case c == '"', c == '\'':
		return b.quoted(c)
	case c == '|':
		return b.literal(column)
	case c == '{':
		return map[string]any{}, b.only("{}\n")
	case c == '[':
		return []any{}, b.only("[]\n")
	case indicator(c) || b.dash(b.at):
		return nil, false
	}
	return b.words(column)
}

// only passes over the rest of a line if it is this one.
func (b *blockReader) only(line string) bool {
	if string(b.restOfLine()) != line {
		return false
	}
	b.at += len(line)
	return b.seek()
}

// words reads a text without quotes.
func (b *blockReader) words(column int) (any, bool) {
	b.text = b.text[:0]
	for {
		line := b.restOfLine()
		if keyEnd(line) >= 0 || odd(line) {
			return nil, false
		}
		b.text = append(b.text, bytes.TrimRight(line, " \n")...)
		b.at += len(line)
		from := b.at
		if !b.seek() {
			return nil, false
		}
		if b.column() <= column {
			return b.plain(b.text)
		}
		b.text = appendBreak(b.text, bytes.Count(b.doc[from:b.line], []byte("\n")))
	}
}

// appendBreak appends what lines are joined by: a space, or as many breaks as there are empty lines between them.
func appendBreak(text []byte, empty int) []byte {
	if empty == 0 {
		return append(text, ' ')
	}
	return appendBreaks(text, empty)
}

func appendBreaks(text []byte, n int) []byte {
	for range n {
		text = append(text, '\n')
	}
	return text
}

// literal reads the lines below a "|" as they are.
func (b *blockReader) literal(column int) (any, bool) {
	var end string // "" is one break, "-" none, "+" those that there are
	switch header := b.restOfLine(); string(header) {
	case "|\n", "|-\n", "|+\n":
		end = string(header[1 : len(header)-1])
		b.at += len(header)
	default:
		return nil, false
	}
	b.text = b.text[:0]
	indent, empty := 0, 0
	for !b.end() {
		line := b.restOfLine()
		left := margin(line)
		if line[left] == '\n' && (left <= indent || indent == 0) {
			if indent == 0 && left > 0 {
				return nil, false // it may set the indentation
			}
			empty++
			b.at += len(line)
			continue
		}
		if indent == 0 {
			indent = left
			if indent <= column || line[left] == '\t' {
				return nil, false
			}
		} else if left < indent {
			if line[left] == '\t' {
				return nil, false
			}
			break
		} else {
			b.text = append(b.text, '\n')
		}
		b.text = appendBreaks(b.text, empty)
		empty = 0
		b.text = append(b.text, line[indent:len(line)-1]...)
		b.at += len(line)
	}
	if indent == 0 {
		return nil, false
	}
	if end != "-" {
		b.text = append(b.text, '\n')
	}
	if end == "+" {
		b.text = appendBreaks(b.text, empty)
	}
	return b.once(b.text), b.seek()
}

// quoted reads a text in quotes of one kind.
func (b *blockReader) quoted(quote byte) (any, bool) {
	b.at++
	line := b.restOfLine()
	i := bytes.IndexByte(line, quote)
	if i >= 0 && line[i+1] != quote && bytes.IndexByte(line[:i], '\\') < 0 {
		b.at += i + 1
		return b.once(line[:i]), b.lineEnds()
	}
	b.text = b.text[:0]
	for !b.end() {
		switch c := b.doc[b.at]; {
		case c == quote && quote == '\'' && b.doc[b.at+1] == '\'':
			b.text = append(b.text, '\'')
			b.at += 2
		case c == quote:
			b.at++
			return b.once(b.text), b.lineEnds()
		case c == '\\' && quote == '"':
			if !b.escape() {
				return nil, false
			}
		case c == ' ', c == '\t', c == '\n':
			from := b.at
			empty, ok := b.between()
			switch {
			case !ok:
				return nil, false
			case empty < 0:
				b.text = append(b.text, b.doc[from:b.at]...)
			default:
				b.text = appendBreak(b.text, empty)
			}
		default:
			b.text = append(b.text, c)
			b.at++
		}
	}
	return nil, false
}

// lineEnds passes over the end of a line, behind the quote of a value.
func (b *blockReader) lineEnds() bool {
	if !b.spaces() {
		return false
	}
	b.at++
	return b.seek()
}

// between passes over what is between two words of a quote, and returns how many empty lines that are; -1 within
// a line.
func (b *blockReader) between() (empty int, ok bool) {
	empty = -1
	for ; !b.end(); b.at++ {
		switch b.doc[b.at] {
		case '\n':
			if empty++; betweenDocuments(b.doc[b.at+1:]) {
				return 0, false
			}
		case ' ', '\t':
		default:
			return empty, true
		}
	}
	return 0, false
}

// escapes are those of one sign that programs write.
var escapes = map[byte]byte{'"': '"', '\\': '\\', 'n': '\n', 't': '\t', 'r': '\r', ' ': ' ', 'b': '\b', 'f': '\f', 'a': '\a', 'v': '\v', 'e': 0x1b, '0': 0}

// escape reads what a backslash begins.
func (b *blockReader) escape() bool {
	c := b.doc[b.at+1]
	if c == '\n' {
		b.at++
		empty, ok := b.between()
		b.text = appendBreaks(b.text, empty)
		return ok
	}
	if plain, ok := escapes[c]; ok {
		b.text = append(b.text, plain)
		b.at += 2
		return true
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	from := b.at + 2
	if digits == 0 || from+digits > len(b.doc) {
		return false
	}
	n, err := strconv.ParseUint(string(b.doc[from:from+digits]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return false
	}
	b.text = utf8.AppendRune(b.text, rune(n))
	b.at = from + digits
	return true
}

// plain returns the value of a text without quotes: a text, a whole number, true, false or nil (resolve.go). It leaves
// other numbers to the decoder.
func (b *blockReader) plain(text []byte) (any, bool) {
	switch c := text[0]; {
	case c == '.':
		_, err := strconv.ParseFloat(string(text), 64)
		if lower := strings.ToLower(string(text)); err == nil || lower == ".nan" || lower == ".inf" {
			return nil, false
		}
	case c >= '0' && c <= '9' || c == '-' || c == '+':
		if n, ok := wholeNumber(text); ok {
			return n, true
		}
		if number(text) {
			return nil, false
		}
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		switch string(text) {
		case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
			return true, true
		case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
			return false, true
		case "~", "null", "Null", "NULL":
			return nil, true
		}
	}
	return b.once(text), true
}

// wholeNumber reads a number as programs print it: without a plus and without a zero in front.
func wholeNumber(text []byte) (int64, bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

var float = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// number reports whether the decoder may read a text that begins like a number as one.
func number(text []byte) bool {
	for _, c := range text {
		if strings.IndexByte("0123456789abcdefABCDEFxXoO_+-.inINnf", c) < 0 {
			return false // an address, a time, a quantity
		}
	}
	s := strings.ReplaceAll(string(text), "_", "")
	lower := strings.ToLower(s)
	if strings.HasSuffix(lower, ".inf") || strings.HasPrefix(lower, "0b") || strings.HasPrefix(lower, "-0b") {
		return true
	}
	_, signed := strconv.ParseInt(s, 0, 64)
	_, unsigned := strconv.ParseUint(s, 0, 64)
	return signed == nil || unsigned == nil || float.MatchString(s)
}
